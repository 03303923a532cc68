"""The HTML page: whole, closed to the outside, and with every text escaped."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable
from html.parser import HTMLParser

import pytest

from spider_compose.cli.markup import Markup, element, escape
from spider_compose.cli.page import render_page
from spider_compose.cli.selection import Row, Selection
from spider_compose.sql.clauses import CLAUSE_TYPES

Select = Callable[..., Selection]

VOID = {"meta", "input", "link", "br"}


class Page(HTMLParser):
    """Reads a page; fails where a tag is not closed in its place."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}  # by class or name of the innermost element that is asked for
        self.questions: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)
        if tag == "p" and dict(attrs).get("class") == "question":
            self.questions.append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.setdefault(self.open[-1] if self.open else "", []).append(data)
        if self.questions and "p" in self.open and self.tags_are_in_a_question():
            self.questions[-1] += data

    def tags_are_in_a_question(self) -> bool:
        return next(attrs for tag, attrs in reversed(self.tags) if tag == "p").get("class") == "question"

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attrs for name, attrs in self.tags if name == tag]


@pytest.fixture(scope="module")
def text(selection: Select, piers: Row, hostile: Row) -> str:
    return render_page(selection(piers, hostile), {"train": 12, "test": 3})


@pytest.fixture(scope="module")
def page(text: str) -> Page:
    return Page(text)


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


def test_two_aligners_stand_side_by_side(selection: Select, piers: Row, hostile: Row) -> None:
    other = {**piers, "clause_token_ids": [[0, 1], [2, 3, 4, 5], [6, 7, 8]]}
    shown = selection(piers, hostile, aligners=("keyword", "segment"))
    first, second = shown.alignments
    page = Page(render_page(type(shown)(**{**vars(shown), "alignments": ((first[0], other), second)})))
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
