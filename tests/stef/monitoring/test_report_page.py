"""The report's page: whole, closed to the outside, with every text escaped."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from spider_compose.stef.monitoring.report import build_report
from spider_compose.stef.monitoring.report_numbers import fixed
from spider_compose.stef.monitoring.report_page import render_report
from spider_compose.stef.monitoring.report_queries import marked

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)> \x1b\u2028 <!--"
VOID = {"meta", "input", "link", "br"}


class Page(HTMLParser):
    """Reads a page; fails where a tag is not closed in its place."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.cells: dict[tuple[str, str], str] = {}
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        tag, attrs = self.tags[-1] if self.tags else ("", {})
        if tag == "td" and "data-figure" in attrs:
            self.cells[str(attrs["data-agent"]), str(attrs["data-figure"])] = data


@pytest.fixture(scope="module")
def rows(scored_rows: Callable[..., list[dict[str, Any]]]) -> list[dict[str, Any]]:
    rows = scored_rows()
    hostile = next(row for row in rows if row["score"] is not None and row["score"] < 20)
    for name in (
        "agent",
        "database",
        "question",
        "enriched_question",
        "sql",
        "message",
        "judge_reason",
        "origin",
    ):
        hostile[name] = HOSTILE
    hostile["reasons"][0] |= {"rule": HOSTILE, "message": HOSTILE}
    return rows


@pytest.fixture(scope="module")
def report(rows: Any, tmp_path_factory: pytest.TempPathFactory, write_scores: Callable[..., Path]) -> Any:
    return build_report(write_scores(tmp_path_factory.mktemp("scores") / "scored", rows))


@pytest.fixture(scope="module")
def text(report: Any) -> str:
    return render_report(report, title="Agents & <b>friends</b>")


@pytest.fixture(scope="module")
def page(text: str) -> Page:
    return Page(text)


def test_hostile_texts_make_no_element_and_no_attribute(text: str, page: Page) -> None:
    names = [tag for tag, _ in page.tags]
    assert names.count("script") == 2 and "img" not in names
    assert names.count("b") == text.count("<b>") + text.count('<b class="score')
    attributes = {name for _, attrs in page.tags for name in attrs}
    assert not [name for name in attributes if name.startswith("on") or name == "style"]
    assert "<!--" not in text and "\x1b" not in text


def test_data_of_the_script_is_whole(text: str, report: Any) -> None:
    found = re.search(r'<script type="application/json" id="counts">(.*?)</script>', text, re.S)
    assert found is not None
    data = json.loads(found[1])
    assert data["agents"] == list(report.cube.agents)
    assert HOSTILE in data["databases"]
    assert sum(count for cell in data["cells"] for count in cell[8][1::2]) == 600


def test_nothing_points_outside(text: str, page: Page) -> None:
    assert not re.search(r"https?:(?!//www\.w3\.org/2000/svg)|url\(|@import|@font-face", text)
    targets = [attrs[name] for _, attrs in page.tags for name in ("src", "href", "action") if name in attrs]
    assert targets and all(str(target).startswith("#") for target in targets)


def test_only_its_own_style_and_script_may_run(text: str, page: Page) -> None:
    policy = next(
        a["content"] for t, a in page.tags if t == "meta" and "Content-Security-Policy" in a.values()
    )
    assert policy is not None and policy.startswith("default-src 'none'; ")
    for tag in ("style", "script"):
        inside = re.search(rf"<{tag}>(.*?)</{tag}>", text, re.S)
        assert inside is not None
        digest = base64.b64encode(hashlib.sha256(inside[1].encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy


def test_figures_stand_where_the_script_finds_them(page: Page, report: Any) -> None:
    for place, agent in enumerate(report.cube.agents):
        one = next(found for found in report.agents if found["agent"] == agent)
        own = {name: value for (number, name), value in page.cells.items() if number == str(place)}
        assert own["rows"] == f"{one['rows']:,}"
        if one["scored"] > 1:
            assert float(own["mean"]) == pytest.approx(one["mean"], abs=0.051)
            assert float(own["p90"]) == pytest.approx(one["p90"], abs=0.051)
            assert own["coverage"] == f"{fixed(100 * one['scored'] / one['rows'])} %"


def test_the_agent_that_gets_worse_is_marked(text: str, page: Page, report: Any) -> None:
    falls = [a for t, a in page.tags if t == "td" and "falls" in str(a.get("class"))]
    marked_agents = {report.cube.agents[int(str(a["data-agent"]))] for a in falls if a["data-agent"] != "all"}
    assert marked_agents == {"B"}


def test_keyboard_and_reader_aloud(page: Page) -> None:
    for tag, attrs in page.tags:
        if attrs.get("class") == "wide":
            assert attrs.get("tabindex") == "0", "what scrolls must be reached"
        if tag == "svg":
            assert attrs.get("aria-hidden") == "true" or (
                attrs.get("role") == "img" and attrs.get("aria-label")
            )
    assert next(attrs for tag, attrs in page.tags if tag == "a")["href"] == "#figures"
    assert {attrs.get("id") for tag, attrs in page.tags if tag in ("select", "input")} == {
        "agent", "database", "from", "to"
    }  # fmt: skip


def test_log_without_times_has_no_plots_over_time(
    scored_rows: Any, write_scores: Any, tmp_path: Path
) -> None:
    report = build_report(write_scores(tmp_path / "timeless", scored_rows(count=60, time=None)))
    tags = Page(render_report(report)).tags
    assert not [tag for tag, _ in tags if tag == "polyline"]
    assert not [attrs for _, attrs in tags if attrs.get("type") == "date"]


@pytest.mark.parametrize(
    ("spans", "expected"),
    [
        ([(0, 4)], "<mark>abcd</mark> efgh"),
        ([(5, 9), (0, 1)], "<mark>a</mark>bcd <mark>efgh</mark>"),
        ([(0, 3), (2, 6)], "<mark>abcd e</mark>fgh"),
        ([(0, 9)], "abcd efgh"),  # everything marks nothing
        ([(3, 3)], "abcd efgh"),
        ([], "abcd efgh"),
    ],
    ids=str,
)
def test_marks(spans: list[tuple[int, int]], expected: str) -> None:
    assert "".join(marked("abcd efgh", spans)) == expected


@pytest.mark.parametrize(
    ("value", "digits", "expected"),
    [
        (62.25, 1, "62.3"),
        (0.05, 1, "0.1"),
        (-13.66, 1, "\N{MINUS SIGN}13.7"),
        (None, 1, "\N{EN DASH}"),
        (100, 0, "100"),
    ],
    ids=str,
)
def test_numbers_are_written_as_the_script_writes_them(value: Any, digits: int, expected: str) -> None:
    assert fixed(value, digits) == expected
