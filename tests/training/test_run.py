"""A run from end to end on a corpus of one's own: report, resume after a stop and after a kill, refusals."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="the extra `models` is not installed")
pytest.importorskip("transformers", reason="the extra `models` is not installed")
pytest.importorskip("sacrebleu", reason="the extra `models` is not installed")

from spider_compose.errors import OptionError, OutputError, SourceError
from spider_compose.training.run import run
from spider_compose.training.settings import TrainingSettings

Make = Callable[..., TrainingSettings]

REPOSITORY = Path(__file__).resolve().parents[2]
PROGRAM = [sys.executable, str(REPOSITORY / "trainers" / "train.py")]
# What a run may not repeat to the bit: how long it took.
TIMES = {"cpu_seconds", "wall_seconds"}


def without_times(report: Any) -> Any:
    if isinstance(report, dict):
        return {name: without_times(value) for name, value in report.items() if name not in TIMES}
    return [without_times(entry) for entry in report] if isinstance(report, list) else report


def write_settings(path: Path, settings: TrainingSettings) -> Path:
    path.write_text(json.dumps(settings.to_dict()), encoding="utf-8")  # JSON is YAML
    return path


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory, tiny: Make) -> tuple[Path, TrainingSettings]:
    """A finished run of six epochs."""
    settings = tiny(epochs=6, batch_size=4)
    folder = tmp_path_factory.mktemp("run") / "whole"
    assert run(settings, folder) is not None
    return folder, settings


def test_report(undisturbed: tuple[Path, TrainingSettings]) -> None:
    folder, settings = undisturbed
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    lines = (folder / "predictions.jsonl").read_text(encoding="utf-8").splitlines()
    predictions = [json.loads(line) for line in lines]
    assert report["num_items"] == len(predictions) == report["dataset"]["test_pairs"] > 0
    assert set(predictions[0]) == {"id", "db_id", "query", "question", "prediction"}
    assert [entry["epoch"] for entry in report["curve"]] == [1, 2, 3, 4, 5, 6][: len(report["curve"])]
    log = (folder / "log.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line) for line in log] == report["curve"]
    best = max(report["curve"], key=lambda entry: entry["validation_bleu"])
    assert report["best_epoch"] == best["epoch"]
    assert report["training"] == settings.to_dict(source=False)
    for part in ("model:bilstm/small", "seed:1", "data:", settings.digest(), "torch:", "bleu:nrefs:1"):
        assert part in report["signature"]
    assert 0 <= report["metrics"]["bleu"]["score"] <= 100
    assert report["cpu_seconds"] > 0 and report["configuration"]["hidden_size"] == 16
    assert report["items"]["ids"] == [row["id"] for row in predictions]


def test_the_best_epoch_is_what_is_tested(undisturbed: tuple[Path, TrainingSettings]) -> None:
    """The saved model gives the predictions again: row for row, so that none stands beside another's SQL."""
    from spider_compose.models import Translator

    folder, _ = undisturbed
    translator = Translator.from_pretrained(str(folder / "model"))
    rows = [json.loads(line) for line in (folder / "predictions.jsonl").read_text().splitlines()]
    texts = translator([row["query"] for row in rows])
    assert [text.strip() for text in texts] == [row["prediction"] for row in rows]


def test_a_finished_run_is_not_repeated(undisturbed: tuple[Path, TrainingSettings]) -> None:
    folder, settings = undisturbed
    before = {path: path.stat().st_mtime_ns for path in (folder / "model").iterdir()}
    said: list[str] = []
    assert run(settings, folder, say=said.append) == json.loads((folder / "report.json").read_text())
    assert said == [f"{folder}: already finished"]
    assert {path: path.stat().st_mtime_ns for path in (folder / "model").iterdir()} == before


def test_a_folder_with_another_run_is_refused(undisturbed: tuple[Path, TrainingSettings], tiny: Make) -> None:
    folder, _ = undisturbed
    with pytest.raises(OutputError, match=r"other settings \(.*seed"):
        run(tiny(seed=9), folder)


@pytest.mark.parametrize(
    "how", ["SIGTERM", "SIGKILL", "killed while saving", "killed while writing the state"]
)
def test_resumed_equals_undisturbed(
    undisturbed: tuple[Path, TrainingSettings], how: str, tmp_path: Path
) -> None:
    """Stopped in the middle and gone on: the same losses, scores, predictions and report."""
    whole, settings = undisturbed
    folder = tmp_path / "run"
    command = [
        *PROGRAM,
        "--config",
        str(write_settings(tmp_path / "s.yaml", settings)),
        "--output",
        str(folder),
    ]
    from torch import get_num_threads

    threads = str(get_num_threads())  # those of the undisturbed run: they move sums, and the signature
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY), "OMP_NUM_THREADS": threads}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith("epoch 3"):
                break
        process.send_signal(signal.SIGTERM if how == "SIGTERM" else signal.SIGKILL)
        process.stdout.read()
    assert not (folder / "report.json").exists(), "it ended before the signal: give it more epochs"
    assert process.returncode == (143 if how == "SIGTERM" else -9)
    if how.startswith("killed while"):
        # As if the kill had come then; it may really have come there, and left a state missing.
        last = max((folder / "checkpoints").glob("checkpoint-*"), key=lambda path: int(path.name[11:]))
        half = last.with_name("checkpoint-9999")
        shutil.copytree(last, half)
        state = half / "trainer_state.json"
        text = state.read_text(encoding="utf-8") if state.exists() else "{}"
        state.unlink(missing_ok=True)
        if how == "killed while writing the state":
            state.write_text(text[: len(text) // 2], encoding="utf-8")
    again = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert again.returncode == 0, again.stderr
    found, expected = (json.loads((place / "report.json").read_text()) for place in (folder, whole))
    for entry, other in zip(found["curve"], expected["curve"], strict=True):
        assert entry["train_loss"] == pytest.approx(
            other["train_loss"], abs=1e-6 if how != "SIGTERM" else 1e-4
        )
        entry["train_loss"] = other["train_loss"]
    assert without_times(found) == without_times(expected)
    assert (folder / "predictions.jsonl").read_bytes() == (whole / "predictions.jsonl").read_bytes()


def test_seconds_add_up_over_a_stop(tmp_path: Path, tiny: Make) -> None:
    from spider_compose.training.trainer import _seconds_at

    folder = tmp_path / "run"
    settings = tiny(epochs=2)
    report = run(settings, folder)
    assert report is not None
    shutil.rmtree(folder / "model")
    (folder / "report.json").unlink()
    last = max((folder / "checkpoints").glob("checkpoint-*"), key=lambda path: int(path.name[11:]))
    clocks = {"cpu_seconds": time.process_time, "wall_seconds": time.monotonic}
    started = {name: clock() for name, clock in clocks.items()}
    again = run(settings, folder)
    assert again is not None
    for name, clock in clocks.items():
        before = _seconds_at(str(last), name)
        assert 0 < before <= again[name] + 0.1 <= before + clock() - started[name] + 0.2


@pytest.mark.parametrize("experiment", ["compose_control", "compose_no_overlap", "spider"])
def test_experiments(experiment: str, tiny: Make, tmp_path: Path) -> None:
    report = run(tiny(experiment=experiment, epochs=1, model="rgt"), tmp_path / "run")
    assert report is not None and report["num_items"] > 0
    assert report["experiment"] == experiment


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        pytest.param({"mixed_precision": "bf16"}, OptionError, "needs a CUDA device", id="no half precision"),
        pytest.param({"processes": 2}, OptionError, "expects 2 processes, but 1 take part", id="processes"),
        pytest.param({"source": "nowhere"}, SourceError, "nowhere", id="source"),
        pytest.param({"model_options": {"hidden": 3}}, OptionError, "model_options", id="option name"),
        pytest.param({"model_options": {"dropout": 2.0}}, OptionError, "dropout", id="option value"),
        pytest.param(
            {"model": "no-such/model", "model_options": {}}, OptionError, "cannot be loaded", id="model"
        ),
    ],
)
def test_refused(
    given: dict[str, Any], error: type[Exception], message: str, tiny: Make, tmp_path: Path
) -> None:
    import torch

    if "mixed_precision" in given and torch.cuda.is_available():
        pytest.skip("this machine has a CUDA device")
    with pytest.raises(error, match=message):
        run(tiny(**given), tmp_path / "run")


def test_a_model_of_the_hub(tiny: Make, tmp_path: Path) -> None:
    """T5 from a local folder, trained and measured by the same program."""
    from transformers import AutoModelForSeq2SeqLM, T5Config, T5ForConditionalGeneration

    from spider_compose.tokenization.tokenizer import SQLTokenizer
    from spider_compose.training.data import read_data

    data = read_data(tiny())
    own = SQLTokenizer.train(data.train, data.schemas, vocab_size=400)
    from transformers import PreTrainedTokenizerFast

    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=own._tokenizer, pad_token="<pad>", bos_token="<s>", eos_token="</s>"
    )
    base = tmp_path / "t5-tiny"
    tokenizer.save_pretrained(base)
    T5ForConditionalGeneration(
        T5Config(
            vocab_size=len(tokenizer),
            d_model=16,
            d_ff=32,
            d_kv=8,
            num_layers=1,
            num_heads=2,
            pad_token_id=0,
            eos_token_id=2,
            decoder_start_token_id=0,
        )
    ).save_pretrained(base)
    settings = tiny(
        model=str(base),
        model_options={},
        source_prefix="say: ",
        label_smoothing=0.1,
        epochs=1,
        learning_rate=1e-3,
    )
    report = run(settings, tmp_path / "run")
    assert report is not None and report["size"] is None and report["configuration"]["d_model"] == 16
    assert AutoModelForSeq2SeqLM.from_pretrained(tmp_path / "run" / "model").num_parameters() > 0
    assert f"model:{base}" in report["signature"]


@pytest.mark.parametrize("damage", ["weights cut", "no weights", "tokenizer cut", "config cut", "encoder"])
def test_a_damaged_model_of_the_hub_is_one_error(damage: str, tiny: Make, tmp_path: Path) -> None:
    from transformers import BertConfig, PreTrainedTokenizerFast, T5Config, T5ForConditionalGeneration

    from spider_compose.tokenization.tokenizer import SQLTokenizer
    from spider_compose.training.data import read_data
    from spider_compose.training.encoding import make_learner

    data = read_data(tiny())
    own = SQLTokenizer.train(data.train, data.schemas, vocab_size=400)
    PreTrainedTokenizerFast(
        tokenizer_object=own._tokenizer, pad_token="<pad>", eos_token="</s>"
    ).save_pretrained(tmp_path)
    sizes = {"vocab_size": 400, "d_model": 8, "d_ff": 8, "d_kv": 4, "num_layers": 1, "num_heads": 2}
    T5ForConditionalGeneration(T5Config(**sizes)).save_pretrained(tmp_path)
    if damage == "encoder":
        BertConfig().save_pretrained(tmp_path)
    elif damage == "no weights":
        (tmp_path / "model.safetensors").unlink()
    else:
        name = {"weights": "model.safetensors", "tokenizer": "tokenizer.json", "config": "config.json"}
        file = tmp_path / name[damage.split()[0]]
        file.write_bytes(file.read_bytes()[:100])
    with pytest.raises(OptionError, match=r"^`model` must be .* cannot be loaded: \S"):
        make_learner(tiny(model=str(tmp_path), model_options={}), data)


def test_command(tiny: Make, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A line per epoch, pairs to look at, the scores and their signature; the same again says it is done."""
    from spider_compose.training.__main__ import main

    settings = write_settings(tmp_path / "s.yaml", tiny(epochs=2))
    command = ["--config", str(settings), "--output", str(tmp_path / "run"), "--show", "2"]
    assert main(command) == 0
    printed = capsys.readouterr().out
    assert "epoch 1 of 2: loss" in printed and "epoch 2 of 2: loss" in printed
    assert printed.count("\nthe model ") == 2
    report = json.loads((tmp_path / "run" / "report.json").read_text(encoding="utf-8"))
    assert printed.rstrip().endswith(report["signature"])
    assert main(command) == 0 and "already finished" in capsys.readouterr().out
    assert main([*command, "--seed", "5"]) == 2
    assert "other settings (seed)" in capsys.readouterr().err
    for name, content in (
        ("predictions.jsonl", '{"query": "SEL'),
        ("predictions.jsonl", "[]\n"),
        ("report.json", json.dumps(report | {"metrics": {"bleu": 5}})),
        ("report.json", json.dumps({name: report[name] for name in report if name != "signature"})),
    ):
        file = tmp_path / "run" / name
        before = file.read_bytes()
        file.write_text(content + "\n", encoding="utf-8")
        assert main(command) == 2
        assert "was cut or changed by hand" in capsys.readouterr().err
        file.write_bytes(before)
    assert main(command) == 0


def test_tensorboard(tiny: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("tensorboard", reason="the extra `tracking` is not installed")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    monkeypatch.setenv("TENSORBOARD_LOGGING_DIR", str(tmp_path / "events"))
    report = run(tiny(epochs=2, report_to=("tensorboard",)), tmp_path / "run")
    assert report is not None
    events = EventAccumulator(str(next((tmp_path / "events").rglob("events*")).parent))
    events.Reload()
    found = [event.value for event in events.Scalars("eval/bleu")]
    assert found == pytest.approx([entry["validation_bleu"] for entry in report["curve"]], abs=1e-3)


def test_a_missing_tracker_is_named(tiny: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib.util

    from spider_compose.errors import MissingExtraError

    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"trackio.*spider-compose\[tracking\]"):
        run(tiny(report_to=("trackio",)), tmp_path / "run")


def test_the_signal_is_given_back(tiny: Make, tmp_path: Path) -> None:
    """After a run, a process and its children end at SIGTERM as they did before."""
    before = signal.getsignal(signal.SIGTERM)
    assert run(tiny(epochs=1), tmp_path / "run") is not None
    assert signal.getsignal(signal.SIGTERM) is before


@pytest.mark.parametrize("experiment", ["compose", "compose_no_overlap", "compose_control", "spider"])
@pytest.mark.parametrize("absent", ["train", "validation"])
def test_a_source_without_a_part_is_one_error(
    experiment: str, absent: str, own_corpus: Path, tiny: Make, tmp_path: Path
) -> None:
    folder = tmp_path / "corpus"
    shutil.copytree(own_corpus, folder)
    (folder / f"{absent}.jsonl").write_text("", encoding="utf-8")
    with pytest.raises(SourceError):
        run(tiny(experiment=experiment, source=str(folder)), tmp_path / "run")
