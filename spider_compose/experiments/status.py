"""How far the cells of a grid are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from spider_compose.errors import ReportError
from spider_compose.experiments.cell_folder import CellFolder
from spider_compose.experiments.cells import Cell
from spider_compose.experiments.reports import Report, read_report

STATES = ("done", "running", "stopped", "failed", "waiting")
"""Stopped: it has begun, nobody trains it, and it goes on from its checkpoint."""


@dataclass(frozen=True)
class CellStatus:
    """How far a cell is; what is not known is None.

    Attributes:
        name: of the cell.
        state: one of `STATES`.
        epoch: trained so far.
        validation_bleu: the latest, while it is not done.
        test_bleu: of a cell that is done, in percent.
        exact_match: of a cell that is done, in percent.
        cpu_seconds: so far.
        note: why it failed, or who trains it.
    """

    name: str
    state: str
    epoch: float | None = None
    validation_bleu: float | None = None
    test_bleu: float | None = None
    exact_match: float | None = None
    cpu_seconds: float | None = None
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def statuses(cells: Iterable[Cell], runs: Path, reports: Path) -> list[CellStatus]:
    """How far each cell is.

    Args:
        cells: the cells.
        runs: folder of their folders.
        reports: folder of the reports, which may be there where the runs are not.
    """
    return [_status(CellFolder(runs, cell, ""), reports / f"{cell.name}.json") for cell in cells]


def render(found: Sequence[CellStatus]) -> str:
    """The table, and how many cells are in which state."""
    width = max([len(status.name) for status in found], default=4)
    lines = [
        f"{'cell':<{width}}  state    {'epoch':>6}  {'valid. BLEU':>11}  {'test BLEU':>9}  {'exact':>6}  "
        f"{'CPU min':>7}"
    ]
    for status in found:
        minutes = None if status.cpu_seconds is None else status.cpu_seconds / 60
        line = (
            f"{status.name:<{width}}  {status.state:<7}  {_figure(status.epoch, '6.1f')}  "
            f"{_figure(status.validation_bleu, '11.2f')}  {_figure(status.test_bleu, '9.2f')}  "
            f"{_figure(status.exact_match, '6.2f')}  {_figure(minutes, '7.1f')}"
        )
        lines.append(f"{line}  {status.note}".rstrip())
    counts = Counter(status.state for status in found)
    told = ", ".join(f"{counts[state]} {state}" for state in STATES if counts[state])
    return "\n".join([*lines, "", f"{len(found)} cells: {told}"])


def _figure(value: float | None, form: str) -> str:
    return " " * int(form.split(".")[0]) if value is None else format(value, form)


def _status(folder: CellFolder, copy: Path) -> CellStatus:
    name = folder.cell.name
    try:
        report = folder.report()
    except ReportError as error:
        return CellStatus(name, "failed", note=str(error))
    if report is not None:
        return _done(report)
    progress = folder.progress()
    figures: dict[str, Any] = {
        "epoch": progress.epoch,
        "validation_bleu": progress.validation_bleu,
        "cpu_seconds": progress.cpu_seconds,
    }
    if holder := folder.holder():
        return CellStatus(name, "running", note=holder, **figures)
    if failure := folder.failure():
        return CellStatus(name, "failed", note=failure.reason, **figures)
    if folder.begun():
        return CellStatus(name, "stopped", **figures)
    if not copy.exists():
        return CellStatus(name, "waiting")
    try:
        report = read_report(copy)
    except ReportError as error:
        return CellStatus(name, "waiting", note=str(error))
    if report.identity != folder.cell.identity:
        return CellStatus(name, "waiting", note=f"{copy} is the report of {report.name}.")
    return _done(report, note=f"report in {copy.parent}, no run here")


def _done(report: Report, note: str = "") -> CellStatus:
    return CellStatus(
        report.name,
        "done",
        epoch=report.amount("epochs"),
        test_bleu=report.score("bleu"),
        exact_match=report.score("exact_match"),
        cpu_seconds=report.amount("cpu_seconds"),
        note=note,
    )
