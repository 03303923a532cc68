"""Run the cells of a grid, each as a program of its own, some at a time."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from spider_compose.errors import OptionError, ReportError
from spider_compose.experiments.cell_folder import CellFolder, CellLock, Failure
from spider_compose.experiments.cells import Cell
from spider_compose.experiments.reports import Report, naming, read_report, write_whole


@dataclass(frozen=True)
class RunOptions:
    """How cells are run; none of it moves a result.

    Attributes:
        runs: folder for the folders of the cells.
        reports: folder for copies of the reports.
        source: what all cells are trained on; a folder, `bundled` or a dataset of the Hub.
        workers: cells at a time.
        threads: of each cell, as `OMP_NUM_THREADS`.
        nice: how much each cell stands back, 0 to 19.
        time_limit: seconds after which all is stopped, or None.
        grace: seconds that a stopped cell has for its checkpoint before it is killed.
        poll: seconds between looks at the cells.
    """

    runs: Path
    reports: Path
    source: str = "bundled"
    workers: int = 1
    threads: int = 1
    nice: int = 5
    time_limit: float | None = None
    grace: float = 120.0
    poll: float = 0.2


@dataclass
class Outcome:
    """How a run ended.

    Attributes:
        done: names of the cells with a report, those of earlier runs among them.
        failed: why, by name of the cell.
        left: names of the cells that are not done and did not fail.
        stopped: what stopped the run: `time limit`, `interrupted`, or nothing.
    """

    done: list[str] = field(default_factory=list)
    failed: dict[str, Failure] = field(default_factory=dict)
    left: list[str] = field(default_factory=list)
    stopped: str = ""


def run_cells(
    cells: Sequence[Cell],
    command: Sequence[str],
    options: RunOptions,
    say: Callable[[str], None] = lambda line: None,
) -> Outcome:
    """Run cells in order.

    A cell with a report is passed over, one with checkpoints goes on from them, one that fails is named and
    the others go on. Cells that another runner has are waited for at the end.

    Args:
        cells: in the order they are to be run.
        command: the training program; see `command_of`.
        options: how.
        say: is told every line that a person watching wants to see.

    Raises:
        OptionError: the training program cannot be started.
        OSError: a folder cannot be written.
    """
    return _Runner(cells, command, options, say).run()


def command_of(folder: CellFolder, command: Sequence[str], source: str) -> list[str]:
    """The command line that trains a cell, and that goes on where it was stopped."""
    identity = folder.cell.identity
    return [
        *(sys.executable if word == "python" else word for word in command),
        "--model",
        identity.model,
        "--experiment",
        identity.experiment,
        "--seed",
        str(identity.seed),
        "--output",
        str(folder.path),
        "--source",
        source,
        "--config",
        str(folder.settings_path),
    ]


def _report_at(path: Path) -> Report | None:
    """The report there, or None where there is none or half of one."""
    try:
        return read_report(path) if path.exists() else None
    except ReportError:
        return None


def _other_training(one: Report, other: Report) -> list[str]:
    """What tells two trainings of a cell's name apart: releases of libraries do not."""
    found = [
        (report.identity, report.part("training"), report.part("dataset").get("signature"))
        for report in (one, other)
    ]
    names = ("model", "settings", "data")
    return [name for name, own, others in zip(names, *found, strict=True) if own != others]


def told_done(report: Report) -> str:
    """What a finished cell came to, in a line.

    Figures that the report lacks are left out.
    """
    epochs, seconds = report.amount("epochs"), report.amount("cpu_seconds")
    told = []
    if epochs is not None:
        told.append(f"{told_epoch(epochs)} epochs")
    for name, title in (("bleu", "BLEU"), ("exact_match", "exact")):
        if (score := report.score(name)) is not None:
            told.append(f"{title} {score:.2f}")
    if seconds is not None:
        told.append(f"{seconds / 60:.1f} CPU minutes")
    return ", ".join([*told, f"{report.num_items} items"])


def told_epoch(epoch: float) -> str:
    """Epochs with at most one place: a cell that was stopped has part of one.

    >>> told_epoch(12.0), told_epoch(2.7188)
    ('12', '2.7')
    """
    return f"{round(epoch, 1):g}"


@dataclass
class _Child:
    """A training program at work."""

    folder: CellFolder
    lock: CellLock
    process: subprocess.Popen[bytes]
    output_start: int


class _Runner:
    def __init__(
        self, cells: Sequence[Cell], command: Sequence[str], options: RunOptions, say: Callable[[str], None]
    ) -> None:
        self.command, self.options, self.say = command, options, say
        # A folder is the same folder from wherever the grid is run; the program is told what was said, so
        # that no report holds where a folder lies unless somebody said it.
        path = Path(options.source)
        self.source = options.source
        asked = str(path.resolve()) if path.is_dir() else options.source
        self.waiting = [CellFolder(options.runs, cell, asked) for cell in cells]
        self.order = [cell.name for cell in cells]
        self.running: list[_Child] = []
        self.outcome = Outcome()
        self.told_of_others = False
        self.signals = 0

    def run(self) -> Outcome:
        started = time.monotonic()
        limit = self.options.time_limit
        with self._signals_counted():
            try:
                while self.waiting or self.running:
                    self._collect()
                    if self.signals:
                        self.outcome.stopped = "interrupted"
                        break
                    if limit is not None and time.monotonic() - started >= limit:
                        self.outcome.stopped = "time limit"
                        break
                    self._fill()
                    if self.waiting or self.running:
                        time.sleep(self.options.poll)
            finally:
                self._stop()
        left = {folder.cell.name for folder in self.waiting}
        self.outcome.left = [name for name in self.order if name in left]
        return self.outcome

    def _fill(self) -> None:
        """Start cells while there is a free place."""
        for folder in list(self.waiting):
            if len(self.running) >= self.options.workers:
                return
            lock = folder.lock()
            if lock is None:
                continue
            self.waiting.remove(folder)
            if not self._settled(folder):
                self._start(folder, lock)
            else:
                lock.free()
        if self.waiting and not self.running and not self.told_of_others:
            self.told_of_others = True
            for folder in self.waiting:
                self.say(f"waiting    {folder.cell.name}: {folder.holder() or 'another runner'} has it")

    def _settled(self, folder: CellFolder) -> bool:
        """Whether the cell needs no training, because it is done or cannot be trained as it lies there."""
        if differs := folder.asked_otherwise():
            reason = (
                f"begun with other settings ({differs}). Name another folder for the runs, or remove "
                f"{folder.path} to train it anew."
            )
            self._failed(folder, Failure(reason), write=False)
            return True
        try:
            report = folder.report()
        except ReportError as error:  # cut short, say: the training program writes it anew
            self.say(f"again      {folder.cell.name}: {error}")
            folder.report_path.replace(folder.report_path.with_name("report.broken.json"))
            return False
        if report is not None:
            self._done(folder, report, "was done")
        return report is not None or (not folder.begun() and self._reported(folder))

    def _reported(self, folder: CellFolder) -> bool:
        """Whether there is a report of the cell, trained elsewhere: a training here would write over it."""
        path = self.options.reports / f"{folder.cell.name}.json"
        report = _report_at(path)
        if report is None or report.identity != folder.cell.identity:
            return False
        trained = report.part("training")
        asked = folder.cell.settings
        if differs := [name for name, value in asked.items() if trained.get(name, value) != value]:
            self._stands_in_the_way(folder, path, differs)
        else:
            self.outcome.done.append(report.name)
            self.say(f"reported   {report.name}: {told_done(report)}; in {path.parent}, not run here")
        return True

    def _stands_in_the_way(self, folder: CellFolder, path: Path, differs: Sequence[str]) -> None:
        reason = (
            f"{path} is the report of another training ({', '.join(differs)} differ), which is not written "
            "over. Name another folder with --reports."
        )
        self._failed(folder, Failure(reason), write=False)

    def _start(self, folder: CellFolder, lock: CellLock) -> None:
        going_on = folder.begun()
        folder.prepare()
        threads = str(self.options.threads)
        command = command_of(folder, self.command, self.source)
        with naming(folder.output_path), folder.output_path.open("ab") as output:
            output.write(f"$ {shlex.join(command)}\n".encode())
            output.flush()
            start = output.tell()
            try:
                # A session of its own: Ctrl-C reaches this program alone, which then stops its cells.
                process = subprocess.Popen(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    env={**os.environ, "OMP_NUM_THREADS": threads, "MKL_NUM_THREADS": threads},
                    pass_fds=[lock.fileno()],
                    start_new_session=True,
                )
            except OSError as error:
                lock.free()
                self.waiting.insert(0, folder)
                raise OptionError(
                    f"cannot start the training program {command[0]!r}: {error.strerror}. `command` of the "
                    "grid names it."
                ) from error
        with suppress(OSError):
            standing = os.getpriority(os.PRIO_PROCESS, 0)
            os.setpriority(os.PRIO_PROCESS, process.pid, min(19, standing + self.options.nice))
        # Before anything else can fail: what runs is stopped, whatever ends this program.
        self.running.append(_Child(folder, lock, process, start))
        lock.name_holder(process.pid)
        epoch = folder.progress().epoch
        after = f" (goes on after epoch {told_epoch(epoch)})" if going_on and epoch is not None else ""
        self.say(f"started    {folder.cell.name}{after}")

    def _collect(self) -> None:
        """Take in what has ended."""
        for child in list(self.running):
            code = child.process.poll()
            if code is not None:
                self._ended(child, code)

    def _ended(self, child: _Child, code: int, stopped: bool = False) -> None:
        self.running.remove(child)
        folder = child.folder
        try:
            report, fault = folder.report(), "ended without a report.json"
        except ReportError as error:
            report, fault = None, str(error)
        if report is not None and code == 0:
            self._done(folder, report, "done")
        elif stopped:
            self.waiting.append(folder)
            epoch = folder.progress().epoch
            after = "" if epoch is None else f" after epoch {told_epoch(epoch)}"
            self.say(f"stopped    {folder.cell.name}{after}")
        else:
            reason = _told_code(code) if code else fault
            self._failed(folder, Failure(reason, folder.tail(child.output_start)))
        child.lock.free()

    def _done(self, folder: CellFolder, report: Report, how: str) -> None:
        path = self.options.reports / f"{report.name}.json"
        if (before := _report_at(path)) is not None and (differs := _other_training(before, report)):
            self._stands_in_the_way(folder, path, differs)
            return
        write_whole(path, folder.report_path.read_bytes())
        self.outcome.done.append(report.name)
        self.say(f"{how:<11}{report.name}: {told_done(report)}{self._count()}")

    def _failed(self, folder: CellFolder, failure: Failure, write: bool = True) -> None:
        if write:
            folder.fail(failure)
        self.outcome.failed[folder.cell.name] = failure
        self.say(f"failed     {folder.cell.name}: {failure.reason}{self._count()}")
        for line in failure.tail:
            self.say(f"           | {line}")

    def _count(self) -> str:
        return f"  [{len(self.outcome.done) + len(self.outcome.failed)} of {len(self.order)}]"

    def _stop(self) -> None:
        """Ask what is still running to stop, give it time for a checkpoint, and kill what does not."""
        for child in self.running:
            with suppress(ProcessLookupError):
                child.process.terminate()
        if self.running:
            self.say(f"stopping   {len(self.running)} cells; they save what they have")
        deadline = time.monotonic() + self.options.grace
        asked = self.signals
        while self.running:
            for child in list(self.running):
                code = child.process.poll()
                if code is not None:
                    self._ended(child, code, stopped=True)
            if self.running and (time.monotonic() >= deadline or self.signals > asked):
                for child in self.running:
                    self.say(f"killed     {child.folder.cell.name}: it did not stop")
                    with suppress(ProcessLookupError):
                        os.killpg(child.process.pid, signal.SIGKILL)
                    child.process.wait()
            elif self.running:
                time.sleep(self.options.poll)

    @contextmanager
    def _signals_counted(self) -> Iterator[None]:
        """Ctrl-C and the like are counted, not raised: no cell is lost between its start and our note."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return

        def count(number: int, frame: object) -> None:
            self.signals += 1

        names = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
        # Where a signal is ignored (nohup), it stays so.
        before = {name: signal.getsignal(name) for name in names}
        for name, handler in before.items():
            if handler is not signal.SIG_IGN:
                signal.signal(name, count)
        try:
            yield
        finally:
            for name, handler in before.items():
                signal.signal(name, handler)


def _told_code(code: int) -> str:
    if code > 0:
        return f"ended with exit code {code}"
    name = signal.Signals(-code).name if -code in set(signal.Signals) else f"signal {-code}"
    return f"killed by {name}" + (" (out of memory?)" if -code == signal.SIGKILL else "")
