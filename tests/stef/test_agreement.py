"""Agreement with execution labels of real agents, by the given scorer: what the weights are worth."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("spacy")

from spider_compose.stef import score_rows

# Least values, just below what docs/stef.md reports for the package's weights, above the best trivial score.
LEAST = {
    ("bird", "score"): {"within": 0.715, "agent": 0.765, "cover": 0.99},
    ("bird", "p_correct"): {"within": 0.75, "agent": 0.775, "cover": 0.99},
    ("spider", "score"): {"within": 0.715, "agent": 0.755, "cover": 0.985, "rank": 0.83},
    ("spider", "p_correct"): {"within": 0.745, "agent": 0.80, "cover": 0.985, "rank": 0.84},
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
    for (corpus, name), least in LEAST.items():
        part = [row for row in rows if row["agent"].startswith(corpus)]
        scale = 1 if name == "score" else 100
        given = {
            row["row"]: getattr(result, name) and getattr(result, name) * scale
            for row, result in zip(rows, results, strict=True)
        }
        found = scorer.measure(part, given)
        assert all(found[measure] >= value for measure, value in least.items()), (corpus, name, found)
        if name == "p_correct":
            assert found["ece"] <= 0.08
