"""What a run goes on from, and what it refuses to: after any kill, move, clock or second program."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("torch", reason="the extra `models` is not installed")
pytest.importorskip("transformers", reason="the extra `models` is not installed")
pytest.importorskip("sacrebleu", reason="the extra `models` is not installed")

from spider_compose.errors import OutputError
from spider_compose.training.checkpoints import STATE, KeepBestAndLast, last_checkpoint, trained_epochs
from spider_compose.training.run import run
from spider_compose.training.run_folder import held
from spider_compose.training.settings import TrainingSettings

Make = Callable[..., TrainingSettings]


def told(report: dict[str, Any] | None) -> dict[str, Any]:
    """A report without how long things took."""
    assert report is not None
    kept = {name: value for name, value in report.items() if name not in ("cpu_seconds", "wall_seconds")}
    return kept | {"curve": [{**entry, "cpu_seconds": 0} for entry in report["curve"]]}


@pytest.fixture(scope="module")
def stopped_early(
    tmp_path_factory: pytest.TempPathFactory, tiny: Make
) -> tuple[Path, TrainingSettings, dict[str, Any]]:
    """A finished run that stopped early, its best epoch not the last; as if it was killed while tested."""
    settings = tiny(epochs=30, batch_size=4, patience=1, warmup_steps=0, learning_rate=0.05)
    folder = tmp_path_factory.mktemp("early") / "run"
    report = run(settings, folder)
    assert report is not None and report["stopped"] == "early", "let it stop early: change the rate"
    assert report["best_epoch"] < report["epochs"]
    shutil.rmtree(folder / "model")
    (folder / "report.json").unlink()
    (folder / "predictions.jsonl").unlink()
    return folder, settings, report


@pytest.fixture
def killed(
    stopped_early: tuple[Path, TrainingSettings, dict[str, Any]], tmp_path: Path
) -> tuple[Path, TrainingSettings, dict[str, Any]]:
    """The same in a folder of its own: copied runs go on as well."""
    folder, settings, report = stopped_early
    shutil.copytree(folder, tmp_path / "run")
    return tmp_path / "run", settings, report


def test_killed_while_tested_does_not_train_on(
    killed: tuple[Path, TrainingSettings, dict[str, Any]],
) -> None:
    """Early stopping has ended it: another epoch would be one more than an undisturbed run has."""
    folder, settings, report = killed
    assert told(run(settings, folder)) == told(report)


def test_the_best_epoch_is_found_where_the_folder_was_moved_to(
    stopped_early: tuple[Path, TrainingSettings, dict[str, Any]], tmp_path: Path
) -> None:
    folder, settings, report = stopped_early
    aside = tmp_path / "elsewhere"
    shutil.copytree(folder, tmp_path / "run")
    folder.rename(aside)  # the path in the trainer's state leads nowhere
    try:
        assert told(run(settings, tmp_path / "run")) == told(report)
    finally:
        aside.rename(folder)


def test_a_lost_best_epoch_is_said(killed: tuple[Path, TrainingSettings, dict[str, Any]]) -> None:
    """Else the last epoch would be tested in its place."""
    folder, settings, report = killed
    best = next(entry["step"] for entry in report["curve"] if entry["epoch"] == report["best_epoch"])
    shutil.rmtree(folder / "checkpoints" / f"checkpoint-{best}")
    with pytest.raises(OutputError, match=f"checkpoint-{best}, the best checkpoint so far, is not there"):
        run(settings, folder)


@pytest.mark.parametrize(
    ("file", "content", "says"),
    [
        pytest.param("settings.json", "{", "cannot be read", id="settings cut"),
        pytest.param("settings.json", '{"epochs": 7}', r"other settings \(batch_size", id="other settings"),
        pytest.param("report.json", '{"format": 2}', "expected a report of format 1, but got 2", id="newer"),
        pytest.param("report.json", "{}", "format 1, but got None", id="foreign"),
        pytest.param("begun.json", '{"data": "x@1"}', "other data: x@1 then, ", id="other pairs"),
        pytest.param("begun.json", '{"processes": 4}', "other processes: 4 then, 1 now", id="processes"),
    ],
)
def test_refused(
    file: str, content: str, says: str, killed: tuple[Path, TrainingSettings, dict[str, Any]]
) -> None:
    folder, settings, _ = killed
    (folder / file).write_text(content, encoding="utf-8")
    before = {path: path.stat().st_mtime_ns for path in (folder / "checkpoints").iterdir()}
    with pytest.raises(OutputError, match=says):
        run(settings, folder)
    assert {path: path.stat().st_mtime_ns for path in (folder / "checkpoints").iterdir()} == before


@pytest.mark.parametrize("content", ["", '{"format": 1, "mod', "[]"])
def test_a_report_that_was_cut_is_written_anew(
    content: str, killed: tuple[Path, TrainingSettings, dict[str, Any]]
) -> None:
    folder, settings, report = killed
    (folder / "report.json").write_text(content, encoding="utf-8")
    assert told(run(settings, folder)) == told(report)


def test_pairs_that_changed_under_the_same_name_are_refused(
    own_corpus: Path, tiny: Make, tmp_path: Path
) -> None:
    source = tmp_path / "corpus"
    shutil.copytree(own_corpus, source)
    settings = tiny(epochs=1, source=str(source))
    assert run(settings, tmp_path / "run") is not None
    (tmp_path / "run" / "report.json").unlink()
    train = source / "train.jsonl"
    train.write_text(train.read_text(encoding="utf-8").replace("singer", "dancer"), encoding="utf-8")
    with pytest.raises(OutputError, match=r"other data: .* then, .* now"):
        run(settings, tmp_path / "run")


def test_two_programs_in_one_folder(tiny: Make, tmp_path: Path) -> None:
    with held(tmp_path / "run", True):
        with pytest.raises(OutputError, match="another program is training"):
            run(tiny(epochs=1), tmp_path / "run")
        with held(tmp_path / "run", False):  # the other processes of the same run
            pass
    assert run(tiny(epochs=1), tmp_path / "run") is not None


def test_a_folder_that_cannot_be_made(tiny: Make, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for folder in (tmp_path / "file", tmp_path / "file" / "run"):
        with pytest.raises(OutputError, match="cannot be written"):
            run(tiny(epochs=1), folder)


@pytest.mark.parametrize(
    "fault", [OSError(28, "No space left on device"), RuntimeError("unexpected pos 5 vs 3\nmore")], ids=repr
)
def test_a_full_disk_is_one_error_and_goes_on(
    fault: Exception, tiny: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from transformers import Seq2SeqTrainer

    folder, settings = tmp_path / "run", tiny(epochs=2)
    whole = Seq2SeqTrainer._save_rng_state

    def full(self: Any, output_dir: str) -> None:
        if self.state.epoch > 1:
            raise fault
        whole(self, output_dir)

    monkeypatch.setattr(Seq2SeqTrainer, "_save_rng_state", full)
    with pytest.raises(OutputError, match=r"cannot be saved, with .* MB free: .*(device|pos 5 vs 3)\. Make"):
        run(settings, folder)
    assert len(list((folder / "checkpoints").iterdir())) == 1, "half a checkpoint takes room"
    monkeypatch.undo()
    report = run(settings, folder)
    assert report is not None and [entry["epoch"] for entry in report["curve"]] == [1, 2]


def checkpoint(folder: Path, step: str, state: str | None = '{"epoch": 1}') -> Path:
    path = folder / f"checkpoint-{step}"
    path.mkdir()
    (path / "model.safetensors").touch()
    if state is not None:
        (path / STATE).write_text(state, encoding="utf-8")
    return path


def test_the_newest_whole_checkpoint(tmp_path: Path) -> None:
    assert last_checkpoint(tmp_path / "absent") is None
    expected = checkpoint(tmp_path, "30")
    checkpoint(tmp_path, "4")
    checkpoint(tmp_path, "200", None)
    checkpoint(tmp_path, "201", '{"epoch"')
    checkpoint(tmp_path, "202", "[]")
    for name in ("300 (copy)", "300-old", "x", ""):
        checkpoint(tmp_path, name)
    (tmp_path / "checkpoint-400").touch()
    assert last_checkpoint(tmp_path) == expected


@pytest.mark.parametrize("clock", [-86_400, 0, 86_400])
def test_best_and_last_stay_whatever_the_clock_says(clock: int, tmp_path: Path) -> None:
    """The clock was set between the checkpoints: by the time of change, the newest would be the oldest."""
    for step in ("5", "10", "15", "20", "99"):
        path = checkpoint(tmp_path, step, None if step == "99" else '{"epoch": 1}')
        if step != "20":
            os.utime(path, (time.time() + clock, time.time() + clock))
    (tmp_path / "checkpoint-5 (copy)").mkdir()
    state = SimpleNamespace(global_step=20, best_global_step=10)
    for saves in (False, True):
        KeepBestAndLast().on_save(SimpleNamespace(output_dir=tmp_path, should_save=saves), state, None)
        left = sorted(path.name for path in tmp_path.iterdir())
        assert len(left) == (3 if saves else 6)
    assert left == ["checkpoint-10", "checkpoint-20", "checkpoint-5 (copy)"]


def test_trained_epochs(tmp_path: Path) -> None:
    def state(waited: int) -> str:
        early = {"EarlyStoppingCallback": {"attributes": {"early_stopping_patience_counter": waited}}}
        return json.dumps({"epoch": 7.0, "stateful_callbacks": early})

    assert trained_epochs(checkpoint(tmp_path, "1", state(4)), 4) == 7
    assert trained_epochs(checkpoint(tmp_path, "2", state(3)), 4) is None
    assert trained_epochs(checkpoint(tmp_path, "3"), 4) is None
    assert trained_epochs(checkpoint(tmp_path, "4", state(9)), 0) is None


def test_accumulated_batches_equal_a_larger_one(tiny: Make, tmp_path: Path) -> None:
    """The same pairs in each step of the weights, each piece of them with the same weight."""
    sizes = {"embedding_size": 16, "hidden_size": 16, "decoder_hidden_size": 16, "dropout": 0.0}
    reports = [
        run(tiny(model_options=sizes, batch_size=size, gradient_accumulation=steps), tmp_path / str(size))
        for size, steps in ((12, 1), (4, 3))
    ]
    one, other = (told(report) for report in reports)
    assert one["steps"] == other["steps"] > 3
    for entry, same in zip(one["curve"], other["curve"], strict=True):
        assert entry["train_loss"] == pytest.approx(same["train_loss"], abs=2e-4)
