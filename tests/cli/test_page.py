"""The HTML page: whole, closed to the outside, and with every text escaped."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable
from typing import Any

import pytest

from spider_compose.cli.page import render_page
from spider_compose.cli.selection import Row, Selection
from spider_compose.page.markup import Markup, element, escape
from spider_compose.sql.clauses import CLAUSE_TYPES

Select = Callable[..., Selection]
Page = Any  # of `read_page`


@pytest.fixture(scope="module")
def text(selection: Select, piers: Row, hostile: Row) -> str:
    return render_page(selection(piers, hostile), {"train": 12, "test": 3})


@pytest.fixture(scope="module")
def page(text: str, read_page: Callable[[str], Page]) -> Page:
    return read_page(text)


def test_golden(golden: Callable[[str, object], None], text: str) -> None:
    golden("cli/page.html", text)


def test_the_text_is_the_question_character_for_character(page: Page, piers: Row, hostile: Row) -> None:
    assert page.questions == [
        piers["question"],
        hostile["question"].replace("\x1b", "\N{REPLACEMENT CHARACTER}"),
    ]


def test_hostile_texts_make_no_element_and_no_attribute(page: Page, hostile: Row) -> None:
    assert len(page.all("script")) == len(page.all("style")) == 1
    assert not page.all("img")
    assert not page.all("b")
    names = {name for _, attrs in page.tags for name in attrs}
    assert not [name for name in names if name.startswith("on")]
    assert "style" not in names, "the policy would block it"
    assert hostile["db_id"] in [attrs.get("data-db") for attrs in page.all("article")]
    assert hostile["db_id"] in [attrs.get("value") for attrs in page.all("option")]


def test_nothing_points_outside(text: str, page: Page) -> None:
    assert not re.search(r"https?:|//[a-z]|url\(|@import|@font-face", text)
    targets = [attrs[name] for _, attrs in page.tags for name in ("src", "href", "action") if name in attrs]
    assert targets
    assert all(target is not None and target.startswith("#") for target in targets)


def test_policy_allows_exactly_this_style_and_this_script(text: str, page: Page) -> None:
    policy = next(
        attrs["content"] for attrs in page.all("meta") if attrs.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy is not None
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    for name in ("style", "script"):
        content = re.search(f"<{name}>(.*?)</{name}>", text, re.DOTALL)
        assert content is not None
        digest = base64.b64encode(hashlib.sha256(content[1].encode()).digest()).decode()
        assert rules[f"{name}-src"] == f"'sha256-{digest}'"


def test_links_lead_to_ids_and_labels_hold_their_controls(page: Page) -> None:
    ids = [attrs["id"] for _, attrs in page.tags if "id" in attrs]
    assert len(ids) == len(set(ids))
    assert {str(attrs["href"])[1:] for attrs in page.all("a")} <= set(ids)
    assert len(page.all("label")) == len(page.all("select")) + len(page.all("input"))


def test_every_clause_type_has_its_colours(text: str) -> None:
    for kind in CLAUSE_TYPES:
        name = kind.lower().replace(" ", "-")
        assert f".a-{name} {{" in text
        assert f".b-{name} {{" in text
        assert text.count(f"  --{name}: ") + text.count(f"; --{name}: ") == 2, "one for light, one for dark"


def test_summary(text: str) -> None:
    for fact in (
        "harbours &lt;1&gt;",
        "2 of 10",
        "train 12, test 3",
        "no schemas &amp; &lt;none&gt;",
        "source:harbours\naligner:keyword",
        "2: 1, 3: 1",
    ):
        assert fact in text


def test_filters_have_what_is_there(page: Page, hostile: Row) -> None:
    values = [attrs["value"] for attrs in page.all("option") if attrs["value"]]
    assert values == [hostile["db_id"], "harbour", "SELECT + WHERE", "SELECT + WHERE + ORDER BY", "2", "3"]
    assert [attrs.get("data-confidence") for attrs in page.all("article")] == [None, "0.2500"]
    assert "confidence" in [attrs.get("id") for attrs in page.all("input")]
    assert "differs" not in [attrs.get("id") for attrs in page.all("input")]


def test_recombinations_are_folded_away(page: Page) -> None:
    assert len(page.all("details")) == 3  # one of them the signature
    assert all("open" not in attrs for attrs in page.all("details"))


def test_two_aligners_stand_side_by_side(
    selection: Select, piers: Row, hostile: Row, read_page: Callable[[str], Page]
) -> None:
    other = {**piers, "clause_token_ids": [[0, 1], [2, 3, 4, 5], [6, 7, 8]]}
    shown = selection(piers, hostile, aligners=("keyword", "segment"))
    first, second = shown.alignments
    page = read_page(render_page(type(shown)(**{**vars(shown), "alignments": ((first[0], other), second)})))
    assert len(page.all("section")) == 4
    assert ["data-differs" in attrs for attrs in page.all("article")] == [True, False]
    assert "differs" in [attrs.get("id") for attrs in page.all("input")]
    assert {"class": "compared"} in page.all("body")


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (element("p", "<b>", class_='a"b'), '<p class="a&quot;b">&lt;b&gt;</p>'),
        (element("p", element("b", "x"), "&"), "<p><b>x</b>&amp;</p>"),
        (element("input", id="a", hidden=True, title=None, checked=False), '<input id="a" hidden>'),
        (element("p", "\x00\x1b\n\ttext"), "<p>\ufffd\ufffd\n\ttext</p>"),
        (escape(Markup("<hr>")), "<hr>"),
    ],
)
def test_element(made: Markup, expected: str) -> None:
    assert made == expected
