"""The page of the experiments: whole, closed to the outside, every text escaped, a number for every bar."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable
from typing import Any

import pytest

from spider_compose.cli.experiment_page import _nice_step, _Scale, render_page
from spider_compose.experiments.cells import Identity
from spider_compose.experiments.figures import Results
from spider_compose.experiments.report import ExperimentReport
from spider_compose.experiments.reports import Report, in_order

pytest.importorskip("numpy")

HOSTILE = "<script>alert('x')</script> & \"q\""


def content(model: str, experiment: str, seed: int, bleu: float, **changes: Any) -> dict[str, Any]:
    return {
        "model": model,
        "experiment": experiment,
        "seed": seed,
        "num_items": 2,
        "metrics": {
            "bleu": {"score": bleu, "low": bleu - 1, "high": bleu + 1},
            "exact_match": {"score": 0.0, "low": 0.0, "high": 0.0},
            "by_num_clauses": {"3": {"num_items": 2, "bleu": bleu, "exact_match": 0.0}},
            "by_clause_pattern": {HOSTILE: {"num_items": 2, "bleu": bleu, "exact_match": 0.0}},
        },
        "curve": [
            {"epoch": 1.0, "train_loss": 4.0, "validation_bleu": 10.0},
            {"epoch": 2.0, "train_loss": 3.0, "validation_bleu": 12.5},
        ],
        "epochs": 2.0,
        "best_epoch": 2.0,
        "cpu_seconds": 60.0,
        "signature": f"seed:{seed}|{HOSTILE}",
        **changes,
    }


@pytest.fixture(scope="module")
def text() -> str:
    contents = [
        content("rgt", "compose", 1, 30),
        content("rgt", "compose", 2, 34),
        content("bilstm", "compose_no_overlap", 1, 18.4),
        content(HOSTILE, "compose", 1, 20, curve=None),
    ]
    reports = [Report(one, Identity(one["model"], one["experiment"], one["seed"])) for one in contents]
    return render_page(ExperimentReport(Results(reports, samples=10)))


@pytest.fixture(scope="module")
def page(text: str, read_page: Callable[[str], Any]) -> Any:
    return read_page(text)


def test_every_text_is_escaped(text: str, page: Any) -> None:
    assert "<script" not in text
    assert not page.all("script")
    assert "&lt;script&gt;" in text


def test_it_asks_for_nothing_outside_itself(text: str, page: Any) -> None:
    (policy,) = [meta["content"] for meta in page.all("meta") if "Content-Security-Policy" in meta.values()]
    (style,) = re.findall(r"<style>(.*?)</style>", text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert policy.startswith(f"default-src 'none'; style-src 'sha256-{digest}'")
    assert not re.search(r"(src|href)=\"(?!#)", text)
    assert not re.search(r"url\(|@import|style=", text)


def test_bars_are_those_of_the_reports(page: Any) -> None:
    titles = [title for title in page.texts["title"] if ":" in title]
    assert "RGT, exp. 1: 32.0 (30.0 to 34.0)" in titles
    assert "BiLSTM, exp. 2: 18.4 (17.4 to 19.4)" in titles
    assert not any("ABS" in title for title in titles), "what has no report has no bar"
    (first, *_) = [svg for svg in page.all("svg") if svg.get("role") == "img"]
    assert "ABS: exp. 1 no report" in str(first["aria-label"])
    heights = [float(str(rect["height"])) for rect in page.all("rect")]
    assert min(heights) == 1, "zero is to be seen, unlike what is missing"


def test_curves(page: Any) -> None:
    lines = page.all("polyline")
    assert len(lines) == 2 * 3, "BLEU and loss of each training that has a curve"
    assert len(page.all("circle")) == len(lines)
    assert page.texts["title"].count("RGT, seed 2: best epoch 2, 12.50") == 1


def test_tables_and_links(text: str, page: Any) -> None:
    ids = {attributes["id"] for _, attributes in page.tags if "id" in attributes}
    assert {"findings", "table_9", "table_10", "table_11", "training"} <= ids
    assert len(ids) == len([1 for _, attributes in page.tags if "id" in attributes])
    for link in page.all("a"):
        assert str(link["href"]).removeprefix("#") in ids
    assert "not enough data" in text


@pytest.mark.parametrize(
    ("top", "parts", "step"), [(80, 4, 20), (81, 4, 25), (40, 4, 10), (3, 4, 1), (0.9, 4, 0.25), (30, 6, 5)]
)
def test_steps_are_round(top: float, parts: int, step: float) -> None:
    assert _nice_step(top, parts) == pytest.approx(step)


@pytest.mark.parametrize(("top", "reaches"), [(0.0, 1.0), (0.3, 0.3), (1e-12, 1e-12), (7.0, 8.0)])
def test_an_axis_reaches_the_highest_value(top: float, reaches: float) -> None:
    """One of zeros alone, as of exact match, goes to 1."""
    assert _Scale(top).top == pytest.approx(reaches)


def test_same_reports_same_bytes(text: str) -> None:
    contents = [
        content(HOSTILE, "compose", 1, 20, curve=None),
        content("bilstm", "compose_no_overlap", 1, 18.4),
        content("rgt", "compose", 1, 30),
        content("rgt", "compose", 2, 34),
    ]
    reports = [Report(one, Identity(one["model"], one["experiment"], one["seed"])) for one in contents]
    ordered = render_page(ExperimentReport(Results(in_order(reports), samples=10)))
    again = render_page(ExperimentReport(Results(in_order(reversed(reports)), samples=10)))
    assert ordered == again
