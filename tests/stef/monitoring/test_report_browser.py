"""The report's page in a real browser: what its script writes is what the report says of the same rows."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from spider_compose.stef.monitoring.report import build_report
from spider_compose.stef.monitoring.report_page import render_report

pytestmark = pytest.mark.slow
Browser = Any  # of `browser_with`

# All that the script writes: texts of cells, bars, lines and areas.
WRITTEN = """JSON.stringify([
  ...Array.from(document.querySelectorAll("td.number"), (cell) => [cell.textContent, cell.className]),
  ...Array.from(document.querySelectorAll("polyline, polygon"), (line) => line.getAttribute("points")),
  ...Array.from(document.querySelectorAll("rect"),
    (bar) => [bar.getAttribute("x"), bar.getAttribute("width")]),
  ...Array.from(document.querySelectorAll("circle"),
    (dot) => [dot.getAttribute("cx"), dot.getAttribute("cy"), dot.textContent]),
])"""
FIGURES = """JSON.stringify(Object.fromEntries(Array.from(
  document.querySelectorAll('tr:not([hidden]) > td[data-figure]'),
  (cell) => [cell.dataset.figure, cell.textContent])))"""
PANELS = (
    "Array.from(document.querySelectorAll('.panels article:not([hidden]) h3'), (e) => e.textContent).join()"
)
AGENTS = (
    "Array.from(document.querySelectorAll('#worst article:not([hidden])'), (e) => e.dataset.agent).join('')"
)
ACTIVE = "document.activeElement.id || document.activeElement.className || document.activeElement.tagName"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, scored_rows: Any, write_scores: Any) -> Path:
    place: Path = write_scores(tmp_path_factory.mktemp("scores") / "scored", scored_rows())
    return place


@pytest.fixture(scope="module")
def page(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(render_report(build_report(folder)), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def browser(browser_with: Callable[..., Browser]) -> Browser:
    return browser_with()


def choose(browser: Browser, **values: str) -> None:
    for name, value in values.items():
        browser.run(f"document.getElementById({json.dumps(name)}).value = {json.dumps(value)}")
    browser.run("document.getElementById('filters').dispatchEvent(new Event('input'))")


def test_without_filters_the_script_changes_nothing(browser: Browser, page: Path) -> None:
    browser.call("Emulation.setScriptExecutionDisabled", value=True)
    browser.call("Page.navigate", url=page.as_uri())
    browser.until("document.readyState === 'complete' && document.querySelectorAll('td.number').length > 0")
    assert browser.run("document.getElementById('filters').hidden") is True
    written = browser.run(WRITTEN)
    browser.call("Emulation.setScriptExecutionDisabled", value=False)
    browser.open(page)
    assert browser.run("document.getElementById('filters').hidden") is False
    assert json.loads(browser.run(WRITTEN)) == json.loads(written)
    assert browser.run("document.getElementById('count').value") == "600 of 600 queries"


@pytest.mark.parametrize(
    ("chosen", "options"),
    [
        ({"agent": "1"}, {"agents": ["B"]}),
        ({"agent": "0", "database": "1"}, {"agents": ["A"], "databases": ["orchard"]}),
        ({"agent": "2", "from": "2026-07-11", "to": "2026-07-30"},
         {"agents": ["C"], "since": "2026-07-11", "until": "2026-07-31"}),
    ],
    ids=["agent", "database", "time"],
)  # fmt: skip
def test_filtered_figures_are_those_of_a_report_on_these_rows(
    browser: Browser, page: Path, folder: Path, chosen: dict[str, str], options: dict[str, Any]
) -> None:
    browser.open(page)
    choose(browser, **chosen)
    found = json.loads(browser.run(FIGURES))
    one = build_report(folder, **options).agents[0]
    assert found["rows"] == str(one["rows"])
    for name, expected in (("mean", "mean"), ("p50", "p50"), ("p90", "p90"),
                           ("mean_unscored_as_0", "mean_unscored_as_0")):  # fmt: skip
        assert float(found[name]) == pytest.approx(one[expected], abs=0.0501)
    assert float(found["coverage"].split()[0]) == pytest.approx(100 * one["coverage"], abs=0.0501)
    assert float(found["quality"]) == pytest.approx(one["enrichment_quality"], abs=0.00051)
    assert browser.run(PANELS) == "ABC"[int(chosen["agent"])]
    agents = browser.run(AGENTS)
    assert agents and set(agents) == {chosen["agent"]}


def test_clear_brings_everything_back(browser: Browser, page: Path) -> None:
    browser.open(page)
    before = browser.run(WRITTEN)
    choose(browser, agent="1", **{"from": "2026-08-01"})
    assert browser.run(WRITTEN) != before
    browser.click("button[type=reset]")
    browser.until("document.getElementById('count').value === '600 of 600 queries'")
    assert browser.run(WRITTEN) == before


def test_keys_alone_reach_filters_and_queries(browser: Browser, page: Path) -> None:
    browser.open(page)
    reached = []
    for _ in range(9):
        browser.press("Tab")
        reached.append(browser.run(ACTIVE))
    assert reached[:4] == ["skip", "agent", "database", "from"]
    browser.run("document.getElementById('worst-more').focus()")
    assert browser.run("document.querySelectorAll('#worst article:not([hidden])').length") == 20
    browser.press("Enter")
    browser.until("document.querySelectorAll('#worst article:not([hidden])').length === 40")
    assert browser.run("document.activeElement.tagName") == "ARTICLE", "reading goes on where it stopped"


def test_no_request_leaves_the_page(browser: Browser, page: Path) -> None:
    browser.open(page)
    choose(browser, agent="1")
    sent = [event for event in browser.events if event["method"] == "Network.requestWillBeSent"]
    asked = {event["params"]["request"]["url"] for event in sent}
    # Chromium draws the calendar of a date box by a picture of its own, from within.
    assert page.as_uri() in asked
    assert all(url == page.as_uri() or url.startswith("data:") for url in asked), asked
    assert not [e for e in browser.events if e["method"] in ("Log.entryAdded", "Runtime.exceptionThrown")]


@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_sticks_out(browser: Browser, page: Path, width: int) -> None:
    browser.open(page)
    browser.call(
        "Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False
    )
    assert browser.run("document.documentElement.scrollWidth") <= width
