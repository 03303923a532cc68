"""Agreement with execution labels of real agents, by the given scorer: what the weights are worth."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("spacy")

from spider_compose.stef import score_rows

# Least values, below what docs/stef.md reports, above the best trivial score.
LEAST = {
    "bird": {"within": 0.67, "agent": 0.74, "cover": 0.985},
    "spider": {"within": 0.69, "agent": 0.75, "cover": 0.985, "rank": 0.6},
}


@pytest.mark.slow
def test_scores_agree_with_labels(shared_path: Callable[[str], Path]) -> None:
    path = shared_path("stef/score_stef.py")
    spec = importlib.util.spec_from_file_location("score_stef", path)
    assert spec is not None and spec.loader is not None
    scorer = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(scorer)
    rows = [
        json.loads(line) for line in shared_path("stef/labelled_agents.jsonl").read_text("utf-8").splitlines()
    ]
    results = list(score_rows(rows, rules={"dialect": "sqlite"}))
    assert not [r.message for r in results if r.unscored == "internal_error"]
    for corpus, least in LEAST.items():
        part = [row for row in rows if row["agent"].startswith(corpus)]
        for name in ("score", "p_correct"):
            scale = 1 if name == "score" else 100
            given = {
                row["row"]: getattr(result, name) and getattr(result, name) * scale
                for row, result in zip(rows, results, strict=True)
            }
            found = scorer.measure(part, given)
            assert all(found[measure] >= value for measure, value in least.items()), (corpus, name, found)
            if name == "p_correct":
                assert found["ece"] <= 0.08
