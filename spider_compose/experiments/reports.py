"""Reports: what the training of a cell leaves, one JSON file each."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spider_compose.errors import ReportError
from spider_compose.experiments.cells import Identity, card_name, experiment_order, model_order

FORMAT = 1
"""Of the reports this version reads."""

_KINDS: dict[str, tuple[type, ...]] = {
    "model": (str,),
    "experiment": (str,),
    "seed": (int,),
    "num_items": (int,),
    "metrics": (dict,),
}

_MOST_ITEMS = 10**9

_ORDERS = 4
"""Of the word groups that BLEU counts. An item holds two lengths, then the right groups, then all groups."""


@dataclass(frozen=True)
class Report:
    """A report as it stands in its file; what it lacks is None, never zero.

    Attributes:
        content: the JSON.
        identity: of which cell.
    """

    content: Mapping[str, Any]
    identity: Identity

    @property
    def name(self) -> str:
        """Of its cell."""
        return self.identity.name

    @property
    def num_items(self) -> int:
        """How many test pairs were scored."""
        return int(self.content["num_items"])

    def metric(self, name: str) -> Mapping[str, Any]:
        """A metric with its `score`, `low` and `high` in percent; empty where it was not measured."""
        found = self.content["metrics"].get(name)
        return found if isinstance(found, Mapping) else {}

    def score(self, name: str) -> float | None:
        """A metric's score in percent."""
        return number(self.metric(name).get("score"))

    def text(self, name: str) -> str:
        """A text of the report, or nothing."""
        found = self.content.get(name)
        return "" if found is None else str(found)

    def amount(self, name: str) -> float | None:
        """A number of the report."""
        return number(self.content.get(name))

    def part(self, name: str) -> Mapping[str, Any]:
        """A mapping of the report, empty where there is none."""
        found = self.content.get(name)
        return found if isinstance(found, Mapping) else {}


def number(value: Any) -> float | None:
    """A finite number, or None."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        found = float(value)
    except OverflowError:  # JSON knows no largest whole number
        return None
    return found if math.isfinite(found) else None


def read_report(path: Path) -> Report:
    """Read one report.

    Raises:
        ReportError: the file is missing, no JSON, of another format, or lacks what a report must say.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ReportError(f"cannot read the report {path}: {error.strerror}.") from error
    except (ValueError, RecursionError) as error:
        raise ReportError(f"{path} is no report: it is no JSON ({error}). Train its cell again.") from error
    if not isinstance(content, dict):
        raise ReportError(f"{path} is no report: a JSON object was expected.")
    if not is_text(content):
        raise ReportError(f"{path} is no report: it holds half a character, which no file in UTF-8 can hold.")
    if content.get("format") != FORMAT:
        raise ReportError(f"{path}: expected a report of format {FORMAT}, got {content.get('format')!r}.")
    for name, kinds in _KINDS.items():
        value = content.get(name)
        if not isinstance(value, kinds) or isinstance(value, bool):
            raise ReportError(f"{path}: `{name}` must be {kinds[0].__name__}, but got {value!r:.80}.")
    if not 1 <= content["num_items"] <= _MOST_ITEMS:
        raise ReportError(
            f"{path}: `num_items` must be 1 to {_MOST_ITEMS:,}, but got {content['num_items']!r:.20}."
        )
    _check_items(path, content.get("items"))
    return Report(content, Identity(content["model"], content["experiment"], content["seed"]))


def _check_items(path: Path, items: Any) -> None:
    """Refuse statistics that no scoring gives; where they are missing or too few, the comparison says so."""
    if not isinstance(items, Mapping):
        return
    for name, right, expected in (
        ("exact", _is_answer, "0 or 1"),
        ("normalized", _is_answer, "0 or 1"),
        ("bleu", _is_bleu, f"{2 + 2 * _ORDERS} counts, no more groups of words right than there are"),
    ):
        entries = items.get(name)
        for place, entry in enumerate(entries if isinstance(entries, list) else ()):
            if not right(entry):
                raise ReportError(
                    f"{path}: items, {name}, entry {place + 1}: expected {expected}, but got {entry!r:.80}. "
                    "Take the report as it was written, or train its cell again."
                )


def _is_answer(entry: Any) -> bool:
    return type(entry) is int and entry in (0, 1)


def _is_bleu(entry: Any) -> bool:
    if not (
        isinstance(entry, list) and all(type(count) is int and 0 <= count < _MOST_ITEMS for count in entry)
    ):
        return False
    correct, total = entry[2 : 2 + _ORDERS], entry[2 + _ORDERS :]
    return len(correct) == len(total) == _ORDERS and all(map(int.__le__, correct, total))


def is_text(content: Any) -> bool:
    """Whether what JSON holds can be written; its escapes know halves of characters, surrogates."""
    try:
        json.dumps(content, ensure_ascii=False).encode()
    except (UnicodeEncodeError, RecursionError):
        return False
    return True


def report_paths(folder: Path) -> Mapping[str, Path]:
    """Where the reports of a folder are, by the name that tells them apart.

    They lie side by side, as `experiment run` writes them, or each as the `report.json` of a folder, as a run
    and `evaluate` do.
    """
    found = {path.name: path for path in sorted(folder.glob("*.json"))}
    for path in sorted(folder.glob("*/report.json")):
        name = f"{path.parent.name}.json"
        while name in found:
            name = f"folder-{name}"
        found[name] = path
    return found


def no_report(folder: Path) -> ReportError:
    """The error of a folder without one."""
    return ReportError(
        f"no report in {folder}: expected NAME.json, as `spider-compose experiment run` writes them, or "
        "NAME/report.json, as `spider-compose evaluate` does."
    )


def read_reports(folder: Path) -> tuple[Report, ...]:
    """All reports of a folder, by model, experiment and seed.

    Raises:
        ReportError: the folder is missing, or a file in it is no report, or two are of the same cell, or of
            cells that share the name of their card.
    """
    if not folder.is_dir():
        raise ReportError(f"no folder with reports at {folder}: `spider-compose experiment run` writes it.")
    found: dict[Identity, tuple[Path, Report]] = {}
    cards: dict[str, Identity] = {}
    for path in report_paths(folder).values():
        report = read_report(path)
        if report.identity in found:
            raise ReportError(f"{found[report.identity][0]} and {path} are reports of the same cell.")
        # Files have fewer signs in their names than models: `a/b` and `a_b` would share ratings and a card.
        own, card = report.identity, card_name(report.identity.model, report.identity.experiment)
        other = cards.setdefault(card, own)
        if (other.model, other.experiment) != (own.model, own.experiment):
            raise ReportError(
                f"{found[other][0]} and {path} are reports of two models, {other.model!r} in "
                f"{other.experiment!r} and {own.model!r} in {own.experiment!r}, and {card} would be the card "
                "of both. Keep them in folders of their own."
            )
        found[report.identity] = (path, report)
    return in_order(report for _, report in found.values())


def in_order(reports: Iterable[Report]) -> tuple[Report, ...]:
    """Reports by model (as the paper lists them), experiment and seed."""
    return tuple(
        sorted(
            reports,
            key=lambda report: (
                model_order(report.identity.model),
                experiment_order(report.identity.experiment),
                report.identity.seed,
            ),
        )
    )


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that it is there whole or not at all, whatever stops the program.

    Raises:
        OSError: it cannot be written; names the file.
    """
    with naming(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        beside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
        try:
            beside.write_bytes(content)
            os.replace(beside, path)
        finally:
            beside.unlink(missing_ok=True)


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Let every failure name the file: the system forgets the name once a file is open, on a full disk say.

    Raises:
        OSError: whatever was raised inside, of this file.
    """
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error
