"""What is scored: one prediction per row of a dataset, checked before anything is counted."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from spider_compose.errors import EvaluationError
from spider_compose.sql.clauses import CLAUSE_TYPES

COLUMNS = ("id", "db_id", "query", "question", "clause_types", "num_clauses")
"""Columns of a row that evaluation reads."""


@dataclass(frozen=True)
class Item:
    """One row with its prediction.

    Attributes:
        prediction: the question that a model wrote; may be empty.
        question: the reference.
    """

    id: str
    db_id: str
    query: str
    question: str
    clause_types: tuple[str, ...]
    num_clauses: int
    prediction: str

    @property
    def clause_pattern(self) -> str:
        """Types of the clauses in the query's order: `SELECT+WHERE+ORDER BY`."""
        return "+".join(self.clause_types)


def read_items(predictions: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> tuple[Item, ...]:
    """Join predictions with their rows.

    Raises:
        EvaluationError: there are none, not as many of both, a column is missing or of another type, an id
            comes twice, or a reference is empty.
    """
    if isinstance(predictions, str) or isinstance(rows, (str, Mapping)):
        raise EvaluationError(
            "expected a sequence of predictions and a sequence of rows, but got one of them."
        )
    if len(predictions) != len(rows):
        raise EvaluationError(
            f"expected one prediction per row, but got {len(predictions)} predictions for {len(rows)} rows."
        )
    if not len(rows):
        raise EvaluationError("there is nothing to score: got no predictions and no rows.")
    items = tuple(
        _item(number, prediction, row)
        for number, (prediction, row) in enumerate(zip(predictions, rows, strict=True))
    )
    first: dict[str, int] = {}
    for number, item in enumerate(items):
        if first.setdefault(item.id, number) != number:
            raise EvaluationError(
                f"ids must be unique, but rows {first[item.id]} and {number} are {item.id!r}."
            )
    return items


def positions_by_length(items: Sequence[Item]) -> dict[int, list[int]]:
    """Positions of the items of each number of clauses, rising."""
    return dict(sorted(_grouped(items, lambda item: item.num_clauses).items()))


def positions_by_pattern(items: Sequence[Item]) -> dict[str, list[int]]:
    """Positions of the items of each clause pattern, most frequent pattern first, then by name."""
    found = _grouped(items, lambda item: item.clause_pattern)
    return dict(sorted(found.items(), key=lambda entry: (-len(entry[1]), entry[0])))


def _grouped(items: Sequence[Item], key: Callable[[Item], Any]) -> dict[Any, list[int]]:
    found: dict[Any, list[int]] = {}
    for position, item in enumerate(items):
        found.setdefault(key(item), []).append(position)
    return found


def _item(number: int, prediction: object, row: object) -> Item:
    if not isinstance(row, Mapping):
        raise EvaluationError(f"row {number} must be a mapping of columns, but got {type(row).__name__}.")
    if missing := [name for name in COLUMNS if row.get(name) is None]:
        raise EvaluationError(f"row {number} lacks {', '.join(missing)}; it must have {', '.join(COLUMNS)}.")
    where = f"row {number} (id {row['id']!r})"
    texts = {name: row[name] for name in ("id", "db_id", "query", "question")} | {"prediction": prediction}
    for name, value in texts.items():
        if not isinstance(value, str):
            raise EvaluationError(f"{where}: {name} must be a text, but got {type(value).__name__}.")
    if not texts["question"].strip():
        raise EvaluationError(f"{where}: the question is empty; there is nothing to compare with.")
    types = row["clause_types"]
    if isinstance(types, str) or not isinstance(types, Sequence) or not set(types) <= set(CLAUSE_TYPES):
        raise EvaluationError(f"{where}: clause_types must be a list of {CLAUSE_TYPES}, but got {types!r}.")
    try:
        num_clauses = int(row["num_clauses"])
    except (TypeError, ValueError):
        raise EvaluationError(
            f"{where}: num_clauses must be a number, but got {row['num_clauses']!r}."
        ) from None
    return Item(clause_types=tuple(types), num_clauses=num_clauses, **texts)
