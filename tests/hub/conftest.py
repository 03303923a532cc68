"""The Hub of these tests: a server on this machine, to which the real client is pointed."""

from __future__ import annotations

import importlib.util
import json
import os
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]

OWNER, READER = "a-token-that-may-write", "a-token-that-may-read"


def _load(name: str) -> Any:
    """A module of this folder; tests are no package."""
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


_load("hub_store")
HubServer = _load("hub_server").HubServer


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A Hub with two users, and a client that goes there: online, over plain HTTP, with OWNER's token."""
    pytest.importorskip("huggingface_hub", reason="the extra `hub` is not installed")
    from huggingface_hub import constants
    from huggingface_hub.utils import close_session, disable_progress_bars

    with HubServer() as server:
        server.store.users = {
            OWNER: ("owner", frozenset({"owner"})),
            READER: ("reader", frozenset({"reader"})),
        }
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
        monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)
        monkeypatch.setattr(constants, "ENDPOINT", server.endpoint)
        template = server.endpoint + "/{repo_id}/resolve/{revision}/{filename}"
        monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
        monkeypatch.setenv("HF_TOKEN", OWNER)
        monkeypatch.setattr("time.sleep", lambda seconds: None)  # between the client's retries
        disable_progress_bars()
        close_session()  # one that an earlier test has made offline
        yield server
    close_session()


@pytest.fixture
def as_user(hub: Any, tmp_path: Path) -> Callable[..., str]:
    """Run a program of a user, who has this Hub, an empty cache, and the package; what it prints."""

    def run(program: str, *arguments: str, packages: bool = True) -> str:
        environment = {
            **os.environ,
            "HF_ENDPOINT": hub.endpoint,
            "HF_HOME": str(tmp_path / "user"),
            "HF_HUB_DISABLE_XET": "1",
            "HF_HUB_OFFLINE": "0",
            "HF_DATASETS_OFFLINE": "0",
            "HF_EVALUATE_OFFLINE": "0",
            "HF_HUB_DISABLE_PROGRESS_BARS": "1",
            "HF_UPDATE_DOWNLOAD_COUNTS": "0",  # evaluate and datasets would count with another server
            "OMP_NUM_THREADS": "1",
            **({"PYTHONPATH": str(REPOSITORY)} if packages else {}),
        }
        environment.pop("HF_TOKEN")
        done = subprocess.run(
            [sys.executable, "-c", program, *arguments],
            capture_output=True, text=True, check=False, cwd=tmp_path, env=environment, timeout=900,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def safetensors(values: int = 4, **metadata: str) -> bytes:
    """A file of one tensor of float32."""
    header: dict[str, Any] = {"weight": {"dtype": "F32", "shape": [values], "data_offsets": [0, 4 * values]}}
    text = json.dumps({"__metadata__": metadata, **header}).encode()
    return struct.pack("<Q", len(text)) + text + bytes(4 * values)


CARD = """---
license: apache-2.0
library_name: transformers
tags:
- sql-to-text
---

# A model
"""


@pytest.fixture
def model_folder(tmp_path: Path) -> Path:
    """The smallest folder that passes as a model's, with two large files and a folder in it."""
    folder = tmp_path / "model"
    folder.mkdir()
    for name in ("config", "generation_config", "tokenizer_config", "report"):
        (folder / f"{name}.json").write_text(json.dumps({"name": name}) + "\n")
    (folder / "README.md").write_text(CARD)
    (folder / "modeling_abs.py").write_text("# code\n")
    (folder / "model-00001-of-00002.safetensors").write_bytes(safetensors(1000))
    (folder / "model-00002-of-00002.safetensors").write_bytes(safetensors(3000))
    (folder / ".eval_results").mkdir()
    (folder / ".eval_results" / "compose.yaml").write_text("- value: 1.0\n")
    return folder


SPACE_CARD = """---
title: A Space
emoji: 🕷️
colorFrom: blue
colorTo: gray
sdk: gradio
sdk_version: 6.0.0
app_file: app.py
---

# A Space
"""


@pytest.fixture
def space_folder(tmp_path: Path) -> Path:
    """The smallest folder that passes as a Space's."""
    folder = tmp_path / "space"
    folder.mkdir()
    (folder / "README.md").write_text(SPACE_CARD)
    (folder / "app.py").write_text("import gradio\n")
    (folder / "requirements.txt").write_text("gradio\n")
    (folder / "spider_compose" / "hub").mkdir(parents=True)
    (folder / "spider_compose" / "hub" / "board.py").write_text("# code\n")
    return folder


def report(
    experiment: str = "compose", bleu: float = 31.25, model: str = "rgt", **changes: Any
) -> dict[str, Any]:
    """The report of a training, of 20 items that are scored alike, made by hand."""
    right = round(10 * bleu / 100)
    statistics = [[10, 10, *(max(0, right - order) for order in range(4)), 10, 9, 8, 7]] * 20
    return {
        "format": 1,
        "model": model,
        "size": "small",
        "experiment": experiment,
        "seed": 1,
        "dataset": {
            "config": experiment, "signature": "spider_compose:0.1.0|source:Spider 1.0", "train_pairs": 25442,
            "validation_pairs": 800, "test_pairs": 20,
        },
        "num_parameters": 3412345,
        "configuration": {"hidden_size": 16},
        "training": {"learning_rate": 0.002},
        "epochs": 12.0,
        "best_epoch": 7.0,
        "stopped": "early",
        "cpu_seconds": 1800.0,
        "curve": [{"epoch": 7.0, "validation_bleu": 21.0}],
        "metrics": {
            "num_items": 20,
            "bleu": {"score": bleu, "low": bleu - 3, "high": bleu + 3, "signature": "nrefs:1|case:mixed"},
            "exact_match": {"score": 6.5, "low": 2.0, "high": 9.0},
            "chrf": {"score": 52.75, "low": 50.0, "high": 54.0, "signature": "nc:6|nw:0"},
            "by_num_clauses": {"3": {"num_items": 20, "bleu": bleu, "exact_match": 6.5}},
        },
        "items": {
            "ids": [f"row-{row}" for row in range(20)], "bleu": statistics, "exact": [0] * 20,
            "normalized": [0] * 20,
        },
        "num_items": 20,
        "signature": f"model:{model}|experiment:{experiment}|seed:1",
        **changes,
    }  # fmt: skip


@pytest.fixture
def run_folder(tmp_path: Path) -> Path:
    """The folder of a run: a model of the paper, tiny and untrained, with its code, and a report."""
    pytest.importorskip("torch", reason="the extra `models` is not installed")
    import torch

    from spider_compose.models import MODELS, save_with_code
    from spider_compose.tokenization.tokenizer import SQLTokenizer

    pairs = [
        {"query": "SELECT name FROM singer WHERE age > 20", "question": "Which singers are older than 20?"},
        {"query": "SELECT count(*) FROM concert", "question": "How many concerts are there?"},
    ]
    tokenizer = SQLTokenizer.train(pairs, vocab_size=400)
    torch.manual_seed(1)
    sizes = {"embedding_size": 16, "hidden_size": 16, "decoder_hidden_size": 16}
    config, model = MODELS["bilstm"]
    folder = tmp_path / "bilstm-compose-seed1"
    save_with_code(model(config(**sizes, vocab_size=len(tokenizer))), tokenizer, folder / "model")
    (folder / "report.json").write_text(json.dumps(report(model="bilstm")))
    (folder / "model" / "training_args.bin").write_bytes(b"a pickle")
    (folder / "checkpoints").mkdir()
    return folder


@pytest.fixture
def make_report() -> Callable[..., dict[str, Any]]:
    """Make the content of a report by hand."""
    return report


@pytest.fixture
def spaces(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, space_folder: Path) -> None:
    """Apps that stand in for those of the Spaces."""
    import shutil

    from spider_compose.hub import space

    for name in ("stef", "leaderboard"):
        shutil.copytree(space_folder, tmp_path / "spaces" / name)
    monkeypatch.setattr(space, "SPACES", tmp_path / "spaces")
