"""The runner, against a stand-in of the training program: order, failure, stop, kill, locks."""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from spider_compose.errors import OptionError
from spider_compose.experiments import runner
from spider_compose.experiments.cell_folder import CellFolder, CellLock
from spider_compose.experiments.grid import Grid
from spider_compose.experiments.reports import read_reports
from spider_compose.experiments.runner import Outcome, RunOptions, run_cells
from spider_compose.experiments.status import statuses

Run = Callable[..., tuple[Outcome, list[str]]]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run a grid; what was said comes back too."""

    def run_grid(grid: Grid, **options: Any) -> tuple[Outcome, list[str]]:
        said: list[str] = []
        options = {"runs": tmp_path / "runs", "reports": tmp_path / "reports", "poll": 0.01, **options}
        return run_cells(grid.cells, grid.command, RunOptions(**options), said.append), said

    return run_grid


def until(condition: Callable[[], object], seconds: float = 30) -> None:
    """Wait for something another process does."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)


def test_cells_are_run_in_order_and_reported(grid: Callable[..., Grid], run: Run, tmp_path: Path) -> None:
    found = grid((["compose", "spider"], {"epochs": 2}))
    outcome, said = run(found, source="bundled")
    assert outcome == Outcome(done=["bilstm-compose-seed1", "bilstm-spider-seed1"])
    assert [line.split()[0] for line in said] == ["started", "done", "started", "done"]
    assert said[1].removeprefix("done").strip().split("  ") == [
        "bilstm-compose-seed1: 2 epochs, BLEU 28.50, exact 1.50, 2.0 CPU minutes, 200 items",
        "[1 of 2]",
    ]
    assert [report.name for report in read_reports(tmp_path / "reports")] == outcome.done
    folder = tmp_path / "runs" / "bilstm-compose-seed1"
    assert (tmp_path / "reports" / "bilstm-compose-seed1.json").read_bytes() == (
        folder / "report.json"
    ).read_bytes()
    nice = os.nice(0) + 5
    assert f"threads 1 nice {nice} from epoch 1" in (folder / "output.txt").read_text("utf-8")
    assert not list(folder.parent.rglob("*.tmp"))


def test_a_finished_cell_is_passed_over(
    grid: Callable[..., Grid], run: Run, tmp_path: Path, log_of: Any
) -> None:
    found = grid((["compose"], {"epochs": 2}))
    run(found)
    copy = tmp_path / "reports" / "bilstm-compose-seed1.json"
    copy.unlink()
    outcome, said = run(found)
    assert outcome.done == ["bilstm-compose-seed1"]
    assert said[0].startswith("was done")
    assert log_of(tmp_path / "runs" / "bilstm-compose-seed1") == [1, 2]
    assert copy.exists()


def test_a_report_from_elsewhere_is_not_written_over(
    grid: Callable[..., Grid], run: Run, tmp_path: Path
) -> None:
    """A clone has the published reports, and none of their runs."""
    found = grid((["compose"], {"epochs": 2}))
    run(found)
    shutil.rmtree(tmp_path / "runs")
    report = tmp_path / "reports" / "bilstm-compose-seed1.json"
    before = report.read_bytes()
    outcome, said = run(found)
    assert outcome.done == ["bilstm-compose-seed1"] and not outcome.failed
    assert said[0].startswith("reported   bilstm-compose-seed1: 2 epochs")
    outcome, _ = run(grid((["compose"], {"epochs": 3})))
    assert "the report of another training (epochs differ)" in outcome.failed["bilstm-compose-seed1"].reason
    assert report.read_bytes() == before and not list((tmp_path / "runs").rglob("log.jsonl"))
    outcome, said = run(found, reports=tmp_path / "others")
    assert outcome.done == ["bilstm-compose-seed1"] and said[-1].startswith("done")


@pytest.mark.parametrize(
    ("changes", "differs"),
    [
        ({"training": {"epochs": 3}}, "settings differ"),
        ({"dataset": {"signature": "other@1"}}, "data differ"),
    ],
)
def test_a_report_that_came_while_it_was_trained(
    grid: Callable[..., Grid], run: Run, tmp_path: Path, changes: dict[str, Any], differs: str
) -> None:
    """With a pull, say; nothing of the run is lost."""
    found = grid((["compose"], {"epochs": 2}))
    run(found)
    report = tmp_path / "reports" / "bilstm-compose-seed1.json"
    report.write_text(json.dumps(json.loads(report.read_bytes()) | changes), encoding="utf-8")
    before = report.read_bytes()
    outcome, _ = run(found)
    assert differs in outcome.failed["bilstm-compose-seed1"].reason and report.read_bytes() == before
    outcome, said = run(found, reports=tmp_path / "others")
    assert outcome.done == ["bilstm-compose-seed1"] and said[-1].startswith("was done")


def test_workers_work_at_the_same_time(grid: Callable[..., Grid], run: Run) -> None:
    outcome, said = run(grid((["compose", "spider"], {"epochs": 1, "seconds": 0.5})), workers=2)
    assert [line.split()[0] for line in said] == ["started", "started", "done", "done"]
    assert len(outcome.done) == 2


@pytest.mark.parametrize(
    ("settings", "reason", "last"),
    [
        ({"fail_at": 1}, "ended with exit code 1", "at epoch 1"),
        ({"die": 1}, "killed by SIGKILL (out of memory?)", "threads 1"),
        ({"mute": True}, "ended without a report.json", "threads 1"),
        ({"broken": True}, "is no report: it is no JSON", "threads 1"),
    ],
    ids=["raises", "killed", "no report", "half a report"],
)
def test_a_failed_cell_is_named_and_the_others_go_on(
    grid: Callable[..., Grid], run: Run, tmp_path: Path, settings: dict[str, Any], reason: str, last: str
) -> None:
    found = grid((["compose"], settings), (["spider"], {}))
    outcome, said = run(found)
    assert outcome.done == ["bilstm-spider-seed1"]
    (failure,) = outcome.failed.values()
    assert reason in failure.reason
    assert failure.tail[-1].startswith(last)
    assert not any(line.startswith("$ ") for line in failure.tail)
    assert any(reason in line for line in said if line.startswith("failed "))
    failed, done = statuses(found.cells, tmp_path / "runs", tmp_path / "reports")
    assert (failed.state, done.state) == ("failed", "done")
    assert reason in failed.note


def test_a_failed_cell_goes_on_at_the_next_run(
    grid: Callable[..., Grid], run: Run, tmp_path: Path, log_of: Any
) -> None:
    found = grid((["compose"], {"fail_at": 2, "epochs": 3}))
    run(found)
    outcome, said = run(found)  # the stand-in fails at the end of an epoch alone, and begins with the third
    assert outcome.done
    assert said[0] == "started    bilstm-compose-seed1 (goes on after epoch 2)"
    assert log_of(tmp_path / "runs" / "bilstm-compose-seed1") == [1, 2, 3]
    assert statuses(found.cells, tmp_path / "runs", tmp_path / "reports")[0].state == "done"


def test_half_a_report_of_a_killed_program_is_set_aside(
    grid: Callable[..., Grid], run: Run, tmp_path: Path
) -> None:
    found = grid((["compose"], {}))
    run(found)
    report = tmp_path / "runs" / "bilstm-compose-seed1" / "report.json"
    report.write_bytes(report.read_bytes()[:20])
    assert statuses(found.cells, tmp_path / "runs", tmp_path / "none")[0].state == "failed"
    outcome, said = run(found)
    assert outcome.done
    assert said[0].startswith("again ")
    assert report.with_name("report.broken.json").exists()


def test_other_settings_do_not_go_on_from_a_checkpoint(
    grid: Callable[..., Grid], run: Run, tmp_path: Path
) -> None:
    run(grid((["compose"], {"epochs": 2})))
    outcome, _ = run(grid((["compose"], {"epochs": 3, "batch_size": 8})))
    reason = outcome.failed["bilstm-compose-seed1"].reason
    assert "settings.batch_size: not given before, 8 now; settings.epochs: 2 before, 3 now" in reason
    assert str(tmp_path / "runs" / "bilstm-compose-seed1") in reason
    shutil.rmtree(tmp_path / "runs" / "bilstm-compose-seed1" / "checkpoints")  # a report alone counts too
    outcome, _ = run(grid((["compose"], {"epochs": 2})), source="other/dataset")
    assert "source: " in outcome.failed["bilstm-compose-seed1"].reason
    outcome, _ = run(grid((["compose"], {"epochs": 2, "report_to": "tensorboard"})))
    assert outcome.done, "where a run is watched moves no result"


def test_a_mended_setting_trains_a_cell_that_never_began(grid: Callable[..., Grid], run: Run) -> None:
    outcome, _ = run(grid((["compose"], {"epochs": "two"})))
    assert outcome.failed
    outcome, _ = run(grid((["compose"], {"epochs": 2})))
    assert outcome.done


@pytest.fixture
def limit_waits_for(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path, str], None]:
    """Let the runner's clock stand until a file holds a text: a busy machine starts programs slowly."""

    def wait(path: Path, text: str) -> None:
        def monotonic() -> float:
            ready = path.exists() and text in path.read_text("utf-8")
            return time.monotonic() if ready else 0.0

        monkeypatch.setattr(runner, "time", SimpleNamespace(monotonic=monotonic, sleep=time.sleep))

    return wait


def test_the_time_limit_stops_cells_with_a_checkpoint(
    grid: Callable[..., Grid], run: Run, tmp_path: Path, log_of: Any, limit_waits_for: Any
) -> None:
    found = grid((["compose", "spider"], {"epochs": 500, "seconds": 0.05}))
    limit_waits_for(tmp_path / "runs" / "bilstm-compose-seed1" / "log.jsonl", '"epoch": 2.0')
    outcome, said = run(found, time_limit=0.5)
    assert (outcome.stopped, outcome.left) == ("time limit", ["bilstm-compose-seed1", "bilstm-spider-seed1"])
    assert not outcome.failed
    folder = tmp_path / "runs" / "bilstm-compose-seed1"
    assert "stopped when asked" in (folder / "output.txt").read_text("utf-8")
    assert said[-1].startswith("stopped    bilstm-compose-seed1 after epoch")
    first, second = statuses(found.cells, tmp_path / "runs", tmp_path / "reports")
    assert (first.state, second.state) == ("stopped", "waiting")
    epochs = len(log_of(folder))
    assert first.epoch == epochs
    assert first.validation_bleu == 10 * epochs


def test_a_cell_that_does_not_stop_is_killed(
    grid: Callable[..., Grid], run: Run, tmp_path: Path, limit_waits_for: Any
) -> None:
    found = grid((["compose"], {"epochs": 1, "seconds": 60, "stubborn": True}))
    limit_waits_for(tmp_path / "runs" / "bilstm-compose-seed1" / "output.txt", "threads 1")
    outcome, said = run(found, time_limit=1.0, grace=0.2)
    assert outcome.left == ["bilstm-compose-seed1"]
    assert "killed     bilstm-compose-seed1: it did not stop" in said


def test_a_program_that_cannot_be_started(grid: Callable[..., Grid], run: Run) -> None:
    with pytest.raises(OptionError, match="cannot start the training program '/no/such/program'"):
        run(grid((["compose"], {}), command=["/no/such/program"]))


def runner_process(path: Path, tmp_path: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "spider_compose", "experiment", "run", str(path), "--runs"]
    places = [str(tmp_path / "runs"), "--reports", str(tmp_path / "reports")]
    return subprocess.Popen(
        [*command, *places],
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # A shell's background job ignores Ctrl-C, and so would all that it starts.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def test_ctrl_c_stops_the_cells(write_grid: Callable[..., Path], tmp_path: Path) -> None:
    process = runner_process(write_grid((["compose"], {"epochs": 500, "seconds": 0.05})), tmp_path)
    folder = tmp_path / "runs" / "bilstm-compose-seed1"
    until(lambda: (folder / "log.jsonl").exists())
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "Traceback" not in err
    assert "stopped    bilstm-compose-seed1 after epoch" in out
    assert "1 left (interrupted)" in out
    assert "stopped when asked" in (folder / "output.txt").read_text("utf-8")


def test_a_killed_runner_leaves_cells_that_go_on(
    write_grid: Callable[..., Path], grid: Callable[..., Grid], run: Run, tmp_path: Path, log_of: Any
) -> None:
    block = (["compose"], {"epochs": 60, "seconds": 0.05})
    process = runner_process(write_grid(block), tmp_path)
    folder = tmp_path / "runs" / "bilstm-compose-seed1"
    until(lambda: (folder / "log.jsonl").exists())
    process.kill()
    process.communicate()
    found = grid(block)
    # Its cell trains on, so nobody else may train in that folder.
    assert statuses(found.cells, tmp_path / "runs", tmp_path / "reports")[0].state == "running"
    outcome, said = run(found, time_limit=0.3)
    assert outcome.left == ["bilstm-compose-seed1"]
    holder = CellFolder(tmp_path / "runs", found.cells[0], "").holder()
    assert said == [f"waiting    bilstm-compose-seed1: {holder} has it"]
    trainer = json.loads((folder / "lock").read_text("utf-8"))["process"]
    os.kill(trainer, signal.SIGKILL)
    until(lambda: statuses(found.cells, tmp_path / "runs", tmp_path / "reports")[0].state == "stopped")
    before = len(log_of(folder))
    outcome, said = run(found)  # takes over what the dead left
    assert said[0] == f"started    bilstm-compose-seed1 (goes on after epoch {before})"
    assert outcome.done
    assert before < 60
    assert log_of(folder) == list(range(1, 61)), "no epoch is lost or trained twice"


def test_a_cell_of_another_runner_is_waited_for(
    write_grid: Callable[..., Path], grid: Callable[..., Grid], run: Run, tmp_path: Path
) -> None:
    block = (["compose"], {"epochs": 5, "seconds": 0.2})
    process = runner_process(write_grid(block), tmp_path)
    until(lambda: (tmp_path / "runs" / "bilstm-compose-seed1" / "log.jsonl").exists())
    outcome, said = run(grid(block))
    process.communicate(timeout=30)
    assert process.returncode == 0
    assert outcome.done
    assert [line.split()[0] for line in said] == ["waiting", "was"]


def test_a_lock_is_held_once(grid: Callable[..., Grid], tmp_path: Path) -> None:
    (cell,) = grid((["compose"], {})).cells
    first = CellFolder(tmp_path, cell, "").lock()
    assert first is not None
    assert CellFolder(tmp_path, cell, "").lock() is None
    assert "process" in (CellFolder(tmp_path, cell, "").holder() or "")
    first.free()
    assert CellFolder(tmp_path, cell, "").holder() is None
    again = CellFolder(tmp_path, cell, "").lock()
    assert again is not None
    again.free()


def test_a_full_disk_leaves_no_cell_at_work(
    grid: Callable[..., Grid], run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What cannot be written down is told, and the program that was just started is stopped with it."""
    name_holder, started = CellLock.name_holder, []

    def fail(lock: CellLock, process: int | None) -> None:
        if process is None:
            return name_holder(lock, None)
        started.append(process)
        raise OSError(errno.ENOSPC, "No space left on device", "lock")

    monkeypatch.setattr(CellLock, "name_holder", fail)
    with pytest.raises(OSError, match="No space left"):
        run(grid((["compose"], {"epochs": 500, "seconds": 0.05})))
    (process,) = started
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)
