"""The rating page: whole, closed to the outside, blind, and with every text escaped."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable
from typing import Any

import pytest

from spider_compose.cli.rating_page import render_sheet
from spider_compose.evaluation.ratings.predictions import Prediction, System
from spider_compose.evaluation.ratings.scale import EXAMPLES, GUIDELINES, LABELS
from spider_compose.evaluation.ratings.study import Study, StudyOptions, make_study

HOSTILE = "<script>alert('x')</script> & \"q\" \x1b[31m \u202eevil <img src=x onerror=y>"


@pytest.fixture(scope="module")
def study() -> Study:
    rows = {
        "secret-id": Prediction("secret-id", "</h2><b>", "SELECT '</code></pre>'", "the reference", HOSTILE),
        "r2": Prediction("r2", "harbour", "SELECT 1\nFROM t", "the reference", ""),
    }
    return make_study([System("secret-system", rows)], StudyOptions(raters=2))


@pytest.fixture(scope="module")
def text(study: Study) -> str:
    return render_sheet(study, 1)


@pytest.fixture(scope="module")
def page(text: str, read_page: Callable[[str], Any]) -> Any:
    return read_page(text)


def test_golden(golden: Callable[[str, object], None], text: str) -> None:
    golden("cli/rating.html", text)


def test_blind(text: str) -> None:
    assert not re.search("secret|the reference", text)


def test_items_in_the_order_of_the_rater(study: Study, read_page: Callable[[str], Any]) -> None:
    for rater in (1, 2):
        page = read_page(render_sheet(study, rater))
        assert [attrs["data-item"] for attrs in page.all("article")] == [
            item.code for item in study.key.order(rater)
        ]
        assert page.all("main")[0]["data-sheet"] == study.key.sheet(rater)


def test_hostile_texts_make_no_element_and_no_attribute(page: Any) -> None:
    assert len(page.all("script")) == len(page.all("style")) == 1
    assert not page.all("img")
    names = {name for _, attrs in page.tags for name in attrs}
    assert "style" not in names and not [name for name in names if name.startswith("on")]
    assert len(page.all("b")) == 2 * len(LABELS), "of the scale alone"
    assert len(page.all("pre")) == len(page.all("article")) == 2


def test_nothing_points_outside(text: str, page: Any) -> None:
    assert not re.search(r"https?:|//[a-z]|url\(|@import|@font-face|fetch\(|XMLHttp", text)
    assert not [attrs for _, attrs in page.tags if {"src", "href", "action"} & set(attrs)]


def test_policy_allows_exactly_this_style_and_this_script(text: str, page: Any) -> None:
    policy = next(attrs["content"] for attrs in page.all("meta") if "http-equiv" in attrs)
    assert policy.startswith("default-src 'none'; ")
    for name in ("style", "script"):
        content = re.search(f"<{name}>(.*?)</{name}>", text, re.DOTALL)
        assert content is not None
        digest = base64.b64encode(hashlib.sha256(content[1].encode()).digest()).decode()
        assert f"{name}-src 'sha256-{digest}'" in policy


def test_guidelines_scale_and_examples_stand_on_the_page(page: Any) -> None:
    said = "".join(part for parts in page.texts.values() for part in parts)
    assert all(line in said for line in GUIDELINES)
    assert all(name in said and meaning in said for name, meaning in LABELS.values())
    assert all(example.sentence in said for example in EXAMPLES)


def test_controls_wait_for_the_script(page: Any) -> None:
    hidden = {attrs["id"] for _, attrs in page.tags if "hidden" in attrs}
    assert hidden == {"notice", "begin", "bar", "finish", "scale"}
    assert [attrs["data-rating"] for attrs in page.all("button") if "data-rating" in attrs] == list("12345")


def test_script_finds_what_it_asks_for(text: str, page: Any) -> None:
    ids = [attrs["id"] for _, attrs in page.tags if "id" in attrs]
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'byId\("(\w+)"\)', text)) <= set(ids)
