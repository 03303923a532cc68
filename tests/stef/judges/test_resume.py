"""`stef score` with a model, killed half-way: the second run loses no row and pays for nothing twice."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("huggingface_hub")
pytest.importorskip("spacy")

from spider_compose.stef.judges.cache import AnswerCache

ROWS = 300
AT_ONCE = 8


def rows_asked(server: Any) -> Counter[str]:
    texts = (body["messages"][1]["content"] for body in list(server.asked))
    return Counter(re.findall(r"older than (\d+)", text)[0] for text in texts)


@pytest.mark.slow
def test_a_killed_run_goes_on(server: Any, tmp_path: Path) -> None:
    server.script = lambda body, number: server.Reply(server.verdict().text, delay=0.02)
    rows = [
        {"question": f"Who is older than {n}?", "sql": f"SELECT name FROM singer WHERE age > {n}"}
        for n in range(ROWS)
    ]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    output, cache = tmp_path / "scores.jsonl", tmp_path / "answers.sqlite"
    options = {
        "dialect": "sqlite",
        "judge": "hub",
        "judge-url": server.url,
        "judge-model": "m",
        "judge-cache": str(cache),
        "concurrency": str(AT_ONCE),
        "output": str(output),
    }
    command = [sys.executable, "-m", "spider_compose.stef", "score", str(tmp_path / "rows.jsonl")]
    command += [part for name, value in options.items() for part in (f"--{name}", value)]
    environment = {**os.environ, "HF_HUB_OFFLINE": "0"}
    with subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL) as process:
        while len(server.asked) < ROWS // 2 and process.poll() is None:
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
    while server.at_once:
        time.sleep(0.01)
    stored, before = len(AnswerCache(cache)), rows_asked(server)
    assert 0 < stored < ROWS and not output.exists()
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    results = [json.loads(line) for line in output.read_text("utf-8").splitlines()]
    assert [r["row"] for r in results] == list(range(ROWS))
    assert all(r["judge_reason"] == "it fits" for r in results)
    after = rows_asked(server)
    # asked twice: what was in work at the kill, whose answers never arrived
    assert len(after) == ROWS and sum(after.values()) - ROWS == len(before) - stored <= AT_ONCE
    assert json.loads(done.stderr[done.stderr.index("{") :])["judge"]["from_cache"] == stored
