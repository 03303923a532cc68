"""`spider-compose evaluate`: flags, what is printed, and one true run that is killed and goes on."""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from spider_compose.cli import evaluate as command

Cli = Callable[..., Any]

REPOSITORY = Path(__file__).resolve().parents[2]


def parse(*arguments: str) -> Any:
    parser = argparse.ArgumentParser()
    command.add_parser(parser.add_subparsers())
    return command.settings_of(parser.parse_args(["evaluate", *arguments]))


def test_defaults_are_those_of_the_settings() -> None:
    from spider_compose.inference.settings import EvaluationSettings

    assert parse("t5") == EvaluationSettings("t5")


def test_every_flag_reaches_its_setting(tmp_path: Path) -> None:
    prompt = tmp_path / "prompt.txt"
    prompt.write_text("Say {query}")
    found = parse(
        "owner/llm", "--config", "spider", "--split", "validation", "--source", "xlangai/spider",
        "--limit", "9", "--model-revision", "v1", "--gguf-file", "a.gguf", "--device", "cpu",
        "--dtype", "bfloat16",
        "--source-prefix", "say: ", "--prompt", str(prompt), "--no-chat", "--sql", "written",
        "--batch-size", "3", "--num-beams", "2", "--max-new-tokens", "50",
        "--revision", "main", "--dialect", "tsql",
    )  # fmt: skip
    assert found.to_dict() == {
        "revision": "v1", "gguf_file": "a.gguf", "config": "spider", "split": "validation",
        "source_options": {"revision": "main", "dialect": "tsql"}, "limit": 9, "batch_size": 3,
        "num_beams": 2, "max_new_tokens": 50, "source_prefix": "say: ", "prompt": "Say {query}",
        "chat": False, "sql": "written", "device": "cpu", "dtype": "bfloat16",
    }  # fmt: skip
    assert (found.model, found.source) == ("owner/llm", "xlangai/spider")


def test_help_says_the_defaults(capsys: pytest.CaptureFixture[str]) -> None:
    """Each default stands once, in the settings; the help repeats it."""
    from spider_compose.inference.settings import DEFAULT_BEAMS, EvaluationSettings

    with pytest.raises(SystemExit):
        parse("--help")
    told = " ".join(capsys.readouterr().out.split())
    held = EvaluationSettings("t5")
    for flag, value in (
        ("--config", held.config), ("--split", held.split), ("--dtype", held.dtype),
        ("--source", held.source), ("--batch-size", held.batch_size),
        ("--max-new-tokens", held.max_new_tokens),
        ("--num-beams", f"{DEFAULT_BEAMS};"),
    ):  # fmt: skip
        part = told[told.rindex(f"{flag} ") :]
        assert part.split("(default: ")[1].startswith(str(value)), flag


@pytest.mark.parametrize(
    ("given", "name"),
    [
        (["owner/name"], "owner_name-compose-test"),
        (["owner/name", "--config", "spider", "--split", "train"], "owner_name-spider-train"),
        (["owner/name", "--gguf-file", "m.Q4.gguf"], "m.Q4.gguf-compose-test"),
        (["../../etc"], "etc-compose-test"),
    ],
)
def test_default_place(given: list[str], name: str) -> None:
    assert command._default_out(parse(*given)) == Path("evaluations") / name / "report.json"


def test_default_place_of_the_model_of_a_run(tmp_path: Path) -> None:
    (tmp_path / "demo" / "run" / "model").mkdir(parents=True)
    for given in (tmp_path / "demo" / "run" / "model", tmp_path / "demo" / "run"):
        assert command._default_out(parse(str(given))).parent.name == "demo-run-compose-test"


def test_a_missing_extra_is_named(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "find_spec", lambda name: None)
    result = cli("evaluate", "t5")
    assert result.code == 2
    assert "needs torch" in result.err and "spider-compose[data,models,evaluation]" in result.err


REPORT: dict[str, Any] = {
    "model": "evil\x1b[31m",
    "dataset": {"config": "compose", "split": "test"},
    "num_items": 1234,
    "metrics": {
        **{name: {"score": 12.34, "low": 1.0, "high": 100.0} for name in command._METRICS},
        "by_clause_pattern": {"SELECT+WHERE": {"num_items": 1200, "bleu": 31.5, "exact_match": 6.25}},
    },
    "problems": {"the SQL does not parse": {"items": 2, "ids": ["a-1", "a-2"]}},
    "signature": "model:t5||beams:4",
}


def test_summary() -> None:
    lines = command.summary(REPORT).splitlines()
    assert lines[0].startswith(r"evil\x1b[31m, compose test, 1,234 items")
    assert "BLEU-4                       12.34    1.00 to 100.00" in lines
    assert "SELECT+WHERE                 1,200   31.50    6.25" in lines
    assert "2 rows: the SQL does not parse (the first: a-1)" in lines
    assert lines[-1] == "model:t5||beams:4"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory, tiny: Path) -> Path:
    """A BiLSTM that has learnt nothing."""
    pytest.importorskip("torch", reason="the extra `models` is not installed")
    pytest.importorskip("sacrebleu", reason="the extra `evaluation` is not installed")
    import torch

    from spider_compose.models import MODELS, save_with_code
    from spider_compose.tokenization.tokenizer import SQLTokenizer

    pairs = json.loads((tiny / "train_spider.json").read_text(encoding="utf-8"))
    tokenizer = SQLTokenizer.train(pairs, vocab_size=400)
    sizes = {"embedding_size": 16, "hidden_size": 16, "decoder_hidden_size": 16}
    config, kind = MODELS["bilstm"]
    torch.manual_seed(1)
    folder = tmp_path_factory.mktemp("model") / "untrained"
    save_with_code(kind(config(**sizes, vocab_size=len(tokenizer))), tokenizer, folder)
    return folder


@pytest.mark.slow
def test_killed_and_gone_on(model: Path, tiny: Path, tmp_path: Path, cli: Cli) -> None:
    """A program that is killed after some rows; the same command then gives what an undisturbed one gives."""
    common = [str(model), "--source", str(tiny), "--config", "spider", "--split", "train", "--device", "cpu"]
    arguments = ["evaluate", *common, "--batch-size", "1", "--max-new-tokens", "40"]
    out = tmp_path / "killed" / "report.json"
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY), "OMP_NUM_THREADS": "1"}
    held = tmp_path / "killed" / "predictions.jsonl.partial"
    with subprocess.Popen(
        [sys.executable, "-m", "spider_compose", *arguments, "--out", str(out)], env=environment
    ) as process:
        while process.poll() is None and not (held.exists() and held.read_bytes().count(b"\n") > 3):
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
    assert not out.exists(), "it ended before the kill: give it more rows"
    done = held.read_bytes().count(b"\n") - 1
    result = cli(*arguments, "--out", out)
    assert result.code == 0, result.err
    assert "rows are done already" in result.err and done >= 3
    other = tmp_path / "whole" / "report.json"
    assert cli(*arguments, "--out", other, "--json").code == 0
    assert (
        out.with_name("predictions.jsonl").read_bytes() == other.with_name("predictions.jsonl").read_bytes()
    )
    found, expected = (json.loads(path.read_text(encoding="utf-8")) for path in (out, other))
    assert found["metrics"] == expected["metrics"] and found["num_items"] == 12
    assert "BLEU-4" in result.out and found["signature"] in result.out and str(out) in result.out


def test_refused(model: Path, cli: Cli, tmp_path: Path) -> None:
    result = cli("evaluate", model, "--config", "composed", "--out", tmp_path / "report.json")
    assert result.code == 2 and "Did you mean 'compose'" in result.err


def test_result_for_the_hub(
    cli: Cli, tmp_path: Path, make_result: Callable[..., dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """`--benchmark` writes the score where the Hub reads it; a config without a leaderboard is refused."""
    yaml = pytest.importorskip("yaml")
    pytest.importorskip("huggingface_hub")
    from spider_compose.inference import run

    out = tmp_path / "report.json"
    monkeypatch.setattr(command, "find_spec", lambda name: name)
    monkeypatch.setattr(command, "import_module", lambda name: pytest.importorskip(name))
    monkeypatch.setattr(run, "evaluate", lambda settings, report, say, progress: make_result(settings.config))
    result = cli("evaluate", "t5", "--out", out, "--benchmark", "owner/spider-compose", "--source", "spider")
    assert result.code == 0, result.err
    (found,) = yaml.safe_load((tmp_path / ".eval_results/spider-compose_compose.yaml").read_text())
    assert found["dataset"] == {"id": "owner/spider-compose", "task_id": "compose"}
    assert found["value"] == 12.34


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["--config", "spider"], "no leaderboard of the config 'spider'"),
        (["--split", "validation"], "is the test split, whole"),
        (["--limit", "9"], "is the test split, whole"),
        (["--benchmark", "spider-compose"], "as owner/name"),
        ([], "--benchmark needs --source"),
    ],
)
def test_no_result_for_the_hub(given: list[str], message: str, cli: Cli) -> None:
    """Said before a model is loaded, not after it has run."""
    result = cli("evaluate", "owner/no-such-model", "--benchmark", "owner/name", *given)
    assert result.code == 2 and message in result.err


@pytest.fixture
def make_result() -> Callable[..., dict[str, Any]]:
    def make(config: str) -> dict[str, Any]:
        return {
            **REPORT,
            "experiment": config,
            "dataset": {"config": config, "split": "test", "signature": "s"},
        }

    return make
