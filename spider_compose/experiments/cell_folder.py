"""The folder of a cell: what is known of it, and whose it is at the moment.

```text
RUNS/<model>-<experiment>-seed<k>/
    cell.json         what was asked for: model, experiment, seed, source, settings
    settings.yaml     the settings, for the training program
    lock              held by whoever trains it
    output.txt        what the training program printed
    failed.json       why the last try ended, where it failed
    log.jsonl, checkpoints/, model/, predictions.jsonl, report.json     by the training program
```
"""

from __future__ import annotations

import fcntl
import json
import os
import socket
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from spider_compose.errors import ReportError
from spider_compose.experiments.cells import Cell
from spider_compose.experiments.reports import Report, naming, number, read_report, write_whole

_MOVE_NOTHING = {"settings.processes", "settings.report_to"}
"""Settings that no result depends on."""


@dataclass(frozen=True)
class Failure:
    """Why a try ended.

    Attributes:
        reason: in words.
        tail: the last lines that the program printed.
    """

    reason: str
    tail: tuple[str, ...] = ()


@dataclass(frozen=True)
class Progress:
    """The latest figures of a log; None where it has none yet."""

    epoch: float | None = None
    validation_bleu: float | None = None
    cpu_seconds: float | None = None


class CellFolder:
    """The folder of a cell, there or not.

    Args:
        runs: the folder of all cells.
        cell: the cell.
        source: what it is trained on.
    """

    def __init__(self, runs: Path, cell: Cell, source: str) -> None:
        self.cell = cell
        self.path = runs / cell.name
        self._asked: dict[str, Any] = {
            "model": cell.identity.model,
            "experiment": cell.identity.experiment,
            "seed": cell.identity.seed,
            "source": source,
            "settings": dict(cell.settings),
        }

    @property
    def settings_path(self) -> Path:
        """Settings for the training program."""
        return self.path / "settings.yaml"

    @property
    def output_path(self) -> Path:
        """What the training program printed."""
        return self.path / "output.txt"

    @property
    def report_path(self) -> Path:
        """The report the training program writes at its end."""
        return self.path / "report.json"

    def report(self) -> Report | None:
        """The report, or None where the cell is not done.

        Raises:
            ReportError: there is a file, but it is no report of this cell.
        """
        if not self.report_path.exists():
            return None
        report = read_report(self.report_path)
        if report.identity != self.cell.identity:
            raise ReportError(f"{self.report_path} is the report of {report.name}, not of {self.cell.name}.")
        return report

    def begun(self) -> bool:
        """Whether there is something that another training would go on from, or stand in the way of."""
        checkpoints = self.path / "checkpoints"
        return self.report_path.exists() or (checkpoints.is_dir() and any(checkpoints.iterdir()))

    def asked_otherwise(self) -> str:
        """What was asked for when the cell was begun and is not now, or the other way round; else nothing.

        A cell must not go on from a checkpoint of other settings, nor pass for done because of them.
        """
        before = _read(self.path / "cell.json")
        if before is None or not self.begun():
            return ""
        flat_now = _flat(self._asked)
        try:
            flat_before = _flat(before)
        except RecursionError:  # no settings are nested like that
            flat_before = {}
        return "; ".join(
            f"{name}: {flat_before.get(name, 'not given')} before, {flat_now.get(name, 'not given')} now"
            for name in sorted({*flat_before, *flat_now} - _MOVE_NOTHING)
            if flat_before.get(name) != flat_now.get(name)
        )

    def prepare(self) -> None:
        """Write down what is asked for, and forget the failure of an earlier try."""
        import yaml

        settings = yaml.safe_dump(self._asked["settings"], sort_keys=False, allow_unicode=True)
        write_whole(self.settings_path, settings.encode())
        write_whole(self.path / "cell.json", _json(self._asked))
        (self.path / "failed.json").unlink(missing_ok=True)

    def fail(self, failure: Failure) -> None:
        """Write down why the cell failed."""
        write_whole(self.path / "failed.json", _json({"reason": failure.reason, "tail": list(failure.tail)}))

    def failure(self) -> Failure | None:
        """Why the last try failed, if it did."""
        found = _read(self.path / "failed.json")
        if found is None:
            return None
        reason, tail = found.get("reason"), found.get("tail")
        return Failure(
            reason if isinstance(reason, str) else "failed.json does not say why",
            tuple(map(str, tail)) if isinstance(tail, list) else (),
        )

    def progress(self) -> Progress:
        """The latest figures of its log."""
        latest: dict[str, float] = {}
        try:
            lines = (self.path / "log.jsonl").read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            lines = []
        for line in lines:
            entry = _parsed(line) or {}  # nothing: the last line of a program that was killed
            latest |= {name: found for name in entry if (found := number(entry[name])) is not None}
        return Progress(latest.get("epoch"), latest.get("validation_bleu"), latest.get("cpu_seconds"))

    def tail(self, start: int = 0, lines: int = 8) -> tuple[str, ...]:
        """The last lines that the training program printed.

        Args:
            start: byte of the output from which on they count.
            lines: how many at most.
        """
        try:
            with self.output_path.open("rb") as file:
                size = file.seek(0, os.SEEK_END)
                file.seek(max(start, size - 16_384))
                text = file.read().decode("utf-8", errors="replace")
        except OSError:
            return ()
        # A progress bar writes its states over each other; the last one is what was to be seen.
        shown = [line.rstrip().rsplit("\r", 1)[-1] for line in text.split("\n")]
        return tuple(line for line in shown if line.strip())[-lines:]

    def lock(self) -> CellLock | None:
        """Take the cell, or None where someone has it.

        Raises:
            OSError: the folder cannot be written.
        """
        self.path.mkdir(parents=True, exist_ok=True)
        path = self.path / "lock"
        file = path.open("a+", encoding="utf-8")
        try:
            with naming(path):
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            return None
        return CellLock(file, path)

    def holder(self) -> str | None:
        """Who has the cell: `process 12 on host`; None where it is free."""
        path = self.path / "lock"
        try:
            with path.open("r", encoding="utf-8", errors="replace") as file:
                try:
                    fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
                except BlockingIOError:
                    told = _parsed(file.read()) or {}
                    process = told.get("process") or told.get("runner") or "unknown"
                    return f"process {process} on {told.get('host', 'an unknown host')}"
        except OSError:
            pass
        return None


class CellLock:
    """A taken cell.

    The system frees the lock when the last process that has the file open ends: runner and training
    program. So a runner that is killed leaves no stale lock, and as long as its training program lives on,
    no second one starts in the same folder. The numbers in the file are for people.
    """

    def __init__(self, file: IO[str], path: Path) -> None:
        self._file = file
        self._path = path
        try:
            self.name_holder(None)
        except OSError:
            self.free()
            raise

    def fileno(self) -> int:
        """For the training program to inherit."""
        return self._file.fileno()

    def name_holder(self, process: int | None) -> None:
        """Write down who has the cell.

        Raises:
            OSError: it cannot be written; names the file.
        """
        told = {"runner": os.getpid(), "process": process, "host": socket.gethostname()}
        with naming(self._path):
            self._file.truncate(0)
            self._file.write(json.dumps(told))
            self._file.flush()

    def free(self) -> None:
        """Let go of it."""
        with suppress(OSError):  # on a full disk it tries to write again, and is closed all the same
            self._file.close()


def _read(path: Path) -> dict[str, Any] | None:
    try:
        return _parsed(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        return None


def _parsed(text: str) -> dict[str, Any] | None:
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) else None


def _json(content: Mapping[str, Any]) -> bytes:
    return (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode()


def _flat(content: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    """Names and values of all levels; values as JSON, so that 1 and "1" differ."""
    flat: dict[str, str] = {}
    for name, value in content.items():
        if isinstance(value, Mapping):
            flat |= _flat(value, f"{prefix}{name}.")
        else:
            flat[f"{prefix}{name}"] = json.dumps(value, ensure_ascii=False, sort_keys=True)
    return flat
