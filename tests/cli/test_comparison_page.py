"""The page of configs: whole, closed to the outside, every text escaped, a number beside every picture."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable
from typing import Any

import pytest

from spider_compose.cli.comparison import Measured, figures, measure
from spider_compose.cli.comparison_page import render_page

HOSTILE = "<script>alert('x')</script> & \"q\""


def rows(*queries: str) -> list[dict[str, Any]]:
    return [
        {
            "query": query,
            "question": "what is a ?",
            "num_clauses": 1,
            "clause_types": ["SELECT"],
            "source_split": "train",
            "source_row": row,
        }
        for row, query in enumerate(queries)
    ]


@pytest.fixture(scope="module")
def measured() -> list[Measured]:
    train = rows("select a from t where b = 1", "select a from t", "select c from t", "select a from t")
    return [
        measure(
            "three",
            {"train": train, "validation": rows("select c from t"), "test": rows("select d from t limit 1")},
            "source:x|split:three",
            description="`three` parts",
            held_out=("test",),
        ),
        measure(HOSTILE, {"train": train, "validation": rows("select e from t")}, f"source:{HOSTILE}"),
        measure("alone", {"train": train}, "source:alone", held_out=()),
    ]


@pytest.fixture(scope="module")
def text(measured: list[Measured]) -> str:
    return render_page(f"harbours {HOSTILE}", measured, {"spider_tmcd": f"too small {HOSTILE}"})


@pytest.fixture(scope="module")
def page(text: str, read_page: Callable[[str], Any]) -> Any:
    return read_page(text)


def test_golden(golden: Callable[[str, object], None], text: str) -> None:
    golden("cli/comparison_page.html", text)


def test_hostile_texts_make_no_element_and_no_attribute(page: Any) -> None:
    assert not page.all("script")
    names = {name for _, attrs in page.tags for name in attrs}
    assert not [name for name in names if name.startswith("on")]
    assert "style" not in names, "the policy would block it"
    assert HOSTILE in page.texts["h3"]


def test_nothing_points_outside(text: str, page: Any) -> None:
    assert not re.search(r"https?:|//[a-z]|url\(|@import|@font-face", text)
    targets = [attrs[name] for _, attrs in page.tags for name in ("src", "href", "action") if name in attrs]
    assert targets == ["#figures"]
    assert [attrs["id"] for _, attrs in page.tags if "id" in attrs] == ["figures"]


def test_policy_allows_exactly_this_style_and_no_script(text: str, page: Any) -> None:
    policy = next(
        attrs["content"] for attrs in page.all("meta") if attrs.get("http-equiv") == "Content-Security-Policy"
    )
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'" and "script-src" not in rules
    content = re.search("<style>(.*?)</style>", text, re.DOTALL)
    assert content is not None
    digest = base64.b64encode(hashlib.sha256(content[1].encode()).digest()).decode()
    assert rules["style-src"] == f"'sha256-{digest}'"


def test_every_figure_stands_beside_its_picture(text: str, measured: list[Measured]) -> None:
    lines = re.findall(
        r'<tr><th scope="row">([^<]*) <span class="part">(\w+)</span></th>'
        r'<td class="picture"><svg.*?class="bar" width="([\d.]+)".*?</td>'
        r'<td class="number">([^<]*)</td></tr>',
        text,
    )
    expected = [
        (split, f"{100 * (figure.share or 0):.2f}", figure.told)
        for place in range(6)
        for one in measured
        for split, report in one.reports.items()
        for figure in [figures(report)[place]]
    ]
    assert [line[1:] for line in lines] == expected
    assert len(expected) == 12


def test_bars_of_a_histogram_are_as_high_as_their_shares(text: str) -> None:
    picture = re.search(r'<h3>three</h3>(<svg class="histogram".*?</svg>)', text, re.DOTALL)
    assert picture is not None
    bars = re.findall(
        r'<rect class="part-(\w+)"[^>]*y="([\d.]+)"[^>]*height="([\d.]+)"><title>([^<]*)</title>', picture[1]
    )
    heights = {(part, told.split(": ")[0]): float(height) for part, _, height, told in bars}
    # Of SQL: three training queries of 4, one of 8; all bins of 1-9.
    assert heights["train", "train, 1-9"] == heights["test", "test, 1-9"] > 100
    assert heights["train", "train, 10-19"] == 0
    assert {round(float(y) + float(height), 1) for _, y, height, _ in bars} == {150.0}, "one ground line"
    assert len(bars) == 3 * 7


def test_notes_and_sources(text: str) -> None:
    for told in (
        "not made: spider_tmcd: too small &lt;script&gt;",
        "Shaw et al. 2021",
        "Finegan-Dollak et al. 2018",
    ):
        assert told in text
    assert "<code>three</code> parts" in text
    assert "source:x\nsplit:three" in text


def test_light_and_dark_have_the_same_colours_named(text: str) -> None:
    for name in ("train", "validation", "test", "bar", "track"):
        assert len(re.findall(f"[ {{]--{name}: #", text)) == 2, name
    assert '<meta name="color-scheme" content="light dark">' in text


def test_of_nothing_compared(measured: list[Measured], read_page: Callable[[str], Any]) -> None:
    page = read_page(render_page("alone", measured[2:]))
    assert [attrs.get("class") for attrs in page.all("svg")] == ["histogram", "histogram"]
