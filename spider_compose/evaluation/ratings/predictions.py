"""What systems said: predictions as training writes them, one object per test row."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from spider_compose.errors import SourceError

FIELDS = ("id", "db_id", "query", "question", "prediction")


@dataclass(frozen=True)
class Prediction:
    """One translation.

    Attributes:
        id: of the test row.
        question: the reference.
    """

    id: str
    db_id: str
    query: str
    question: str
    prediction: str


@dataclass(frozen=True)
class System:
    """All translations of one system, by the row's id."""

    name: str
    predictions: dict[str, Prediction]


def system_name(path: Path) -> str:
    """What a file's system is called.

    A run's `predictions.jsonl` is called like its folder, `<model>-<experiment>-seed<k>`, any other file
    like itself.
    """
    return path.resolve().parent.name if path.name == "predictions.jsonl" else path.stem


def read_system(name: str, file: str, rows: Iterable[tuple[int, object]]) -> System:
    """Check and collect the rows of a predictions file.

    Args:
        name: of the system.
        file: for messages.
        rows: line numbers and parsed values.

    Raises:
        SourceError: a row lacks a field, has one that is no text, or repeats an id.
    """
    predictions: dict[str, Prediction] = {}
    for line, row in rows:
        where = f"{file}, line {line}"
        if not isinstance(row, dict):
            raise SourceError(f"{where}: expected an object with {list(FIELDS)}, but got {row!r:.80}.")
        for field in FIELDS:
            if not isinstance(row.get(field), str):
                got = f"{row[field]!r:.80}" if field in row else f"the fields {list(row)!r:.200}"
                raise SourceError(f"{where}: `{field}` must be a text, but got {got}.")
        found = Prediction(**{field: row[field] for field in FIELDS})
        if found.id in predictions:
            raise SourceError(f"{where}: the id {found.id!r} stands twice. Keep one row.")
        predictions[found.id] = found
    return System(name, predictions)
