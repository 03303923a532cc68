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

from spider_compose.errors import OutputError, SpiderComposeError
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


def copy_of(
    made: tuple[Path, TrainingSettings, dict[str, Any]], parent: Path
) -> tuple[Path, TrainingSettings, dict[str, Any]]:
    folder, settings, report = made
    return shutil.copytree(folder, parent / "run"), settings, report


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
    return copy_of(stopped_early, tmp_path)


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
        pytest.param("begun.json", "", "cannot be read", id="pairs not known"),
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


@pytest.fixture(scope="module")
def done(
    tmp_path_factory: pytest.TempPathFactory, tiny: Make
) -> tuple[Path, TrainingSettings, dict[str, Any]]:
    """A finished run of two epochs."""
    settings, folder = tiny(epochs=2), tmp_path_factory.mktemp("done") / "run"
    report = run(settings, folder)
    assert report is not None
    return folder, settings, report


@pytest.fixture
def copied(
    done: tuple[Path, TrainingSettings, dict[str, Any]], tmp_path: Path
) -> tuple[Path, TrainingSettings, dict[str, Any]]:
    """The same in a folder of its own."""
    return copy_of(done, tmp_path)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"model": "rgt", "seed": 7}, "another run: model, seed differ"),
        ({"experiment": "spider"}, "another run: experiment differ"),
        ({"training": {}}, "another run: training differ"),
        ({"dataset": {"signature": "other@1"}}, "another run: data differ"),
        ({"dataset": 5, "kind": "evaluation"}, "another run: data differ"),
    ],
)
@pytest.mark.parametrize("begun", [True, False])
def test_the_report_of_another_run_is_not_taken_for_its_own(
    changes: dict[str, Any],
    says: str,
    begun: bool,
    copied: tuple[Path, TrainingSettings, dict[str, Any]],
) -> None:
    """Whether it was laid into the folder of a run, or into one that was never a run's."""
    folder, settings, report = copied
    if not begun:
        shutil.rmtree(folder)
        folder.mkdir()
    (folder / "report.json").write_text(json.dumps(report | changes), encoding="utf-8")
    with pytest.raises(OutputError, match=says):
        run(settings, folder)
    assert begun == (folder / "settings.json").exists(), "what is not ours is not marked as ours"


def test_a_finished_run_is_held_against_its_pairs(own_corpus: Path, tiny: Make, tmp_path: Path) -> None:
    source = tmp_path / "corpus"
    shutil.copytree(own_corpus, source)
    settings = tiny(epochs=1, source=str(source))
    lines: list[str] = []
    assert run(settings, tmp_path / "run", lines.append) == run(settings, tmp_path / "run", lines.append)
    assert lines[-1].endswith("already finished")
    train = source / "train.jsonl"
    train.write_text(train.read_text(encoding="utf-8").replace("singer", "dancer"), encoding="utf-8")
    with pytest.raises(OutputError, match="another run: data differ"):
        run(settings, tmp_path / "run")


@pytest.mark.parametrize("gone", [("model",), ("predictions.jsonl",), ("model", "predictions.jsonl")])
def test_what_is_gone_is_written_anew(
    gone: tuple[str, ...], copied: tuple[Path, TrainingSettings, dict[str, Any]]
) -> None:
    folder, settings, report = copied
    before = (folder / "predictions.jsonl").read_bytes()
    for name in gone:
        shutil.rmtree(folder / name) if name == "model" else (folder / name).unlink()
    assert told(run(settings, folder)) == told(report)
    assert (folder / "predictions.jsonl").read_bytes() == before and (folder / "model").is_dir()
    shutil.rmtree(folder / "checkpoints")
    assert run(settings, folder) == json.loads((folder / "report.json").read_text(encoding="utf-8"))
    shutil.rmtree(folder / "model")
    with pytest.raises(OutputError, match="holds a report, but not model, nor a checkpoint"):
        run(settings, folder)


@pytest.mark.parametrize("cut", [False, True])
@pytest.mark.parametrize("name", ["model.safetensors", "optimizer.pt", "scheduler.pt", "rng_state.pth"])
def test_half_a_checkpoint_is_not_gone_on_from(
    name: str, cut: bool, copied: tuple[Path, TrainingSettings, dict[str, Any]]
) -> None:
    """Without its optimizer, say, a run would go on in silence and come to other losses."""
    folder, settings, report = copied
    for path in (folder / "report.json", folder / "predictions.jsonl"):
        path.unlink()
    last = last_checkpoint(folder / "checkpoints")
    assert last is not None
    content = (last / name).read_bytes()
    (last / name).unlink()
    if cut:
        (last / name).write_bytes(content[:-100])
    with pytest.raises(OutputError, match=rf"{last.name} cannot be gone on from: .* (is missing|was cut)"):
        run(settings, folder)
    (last / name).write_bytes(content)
    assert told(run(settings, folder)) == told(report)


def test_the_best_checkpoint_is_seen_to_be_whole_before_training_goes_on(
    killed: tuple[Path, TrainingSettings, dict[str, Any]],
) -> None:
    folder, settings, report = killed
    best = next(entry["step"] for entry in report["curve"] if entry["epoch"] == report["best_epoch"])
    weights = folder / "checkpoints" / f"checkpoint-{best}" / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-100])
    with pytest.raises(OutputError, match=rf"checkpoint-{best} cannot be gone on from: .* was cut"):
        run(settings, folder)


def test_a_run_that_failed_at_once_holds_no_place(tiny: Make, tmp_path: Path) -> None:
    """A slip in the source or the model is put right, and the same folder serves."""
    with pytest.raises(SpiderComposeError):
        run(tiny(epochs=1, source=str(tmp_path / "absent")), tmp_path / "run")
    assert run(tiny(epochs=1), tmp_path / "run") is not None


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


STATE_OF_ONE_EPOCH = '{"epoch": 1, "global_step": 5, "log_history": []}'


def checkpoint(folder: Path, step: str, state: str | None = STATE_OF_ONE_EPOCH) -> Path:
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
    for number, state in enumerate(
        (
            "[]", "{}", '{"epoch": 1}', '{"epoch": "1", "global_step": 5, "log_history": []}',
            '{"epoch": 1, "global_step": 5, "log_history": 5}', "[" * 100_000,
        )
    ):  # fmt: skip
        checkpoint(tmp_path, str(202 + number), state)
    for name in ("300 (copy)", "300-old", "x", ""):
        checkpoint(tmp_path, name)
    (tmp_path / "checkpoint-400").touch()
    assert last_checkpoint(tmp_path) == expected


@pytest.mark.parametrize("clock", [-86_400, 0, 86_400])
def test_best_and_last_stay_whatever_the_clock_says(clock: int, tmp_path: Path) -> None:
    """The clock was set between the checkpoints: by the time of change, the newest would be the oldest."""
    for step in ("5", "10", "15", "20", "99"):
        path = checkpoint(tmp_path, step, None if step == "99" else STATE_OF_ONE_EPOCH)
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
        own = {"epoch": 7.0, "global_step": 35, "log_history": [], "stateful_callbacks": early}
        return json.dumps(own)

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
