"""A report as one HTML page that asks for nothing outside itself.

Without its script the page shows everything; the script filters it: it writes the figures of the chosen
counts in the places of those that are there. Texts are untrusted: `markup.element` escapes them.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import date, datetime, timedelta
from typing import Any

from spider_compose.page.document import document, facts, signature, text_of
from spider_compose.page.markup import Markup, element, join
from spider_compose.stef.monitoring.cube import OTHERS, Cube, Figures
from spider_compose.stef.monitoring.report import Report
from spider_compose.stef.monitoring.report_numbers import share
from spider_compose.stef.monitoring.report_plots import GEOMETRY, Frame, score_plot, strip
from spider_compose.stef.monitoring.report_queries import name_of, query
from spider_compose.stef.monitoring.report_tables import (
    CLEAR,
    RECENT,
    agents_section,
    figures_by_agent,
    rules_section,
    shares_section,
    weeks,
)

_EPOCH = date(1970, 1, 1)


def render_report(report: Report, title: str = "Text-to-SQL agents") -> str:
    """The page.

    Args:
        title: of the page and its heading.
    """
    cube, frame = report.cube, Frame.of(report.cube)
    by_agent = figures_by_agent(cube)
    sections = [
        agents_section(by_agent, cube),
        _over_time(cube, frame, by_agent) if frame else Markup(""),
        shares_section(by_agent, cube),
        rules_section(by_agent, cube),
        _queries(report.worst, cube, "Worst queries", "worst", _WORST_MEANING),
        _queries(report.unscored, cube, "Not scored", "unscored", _UNSCORED_MEANING),
    ]
    data = {
        **cube.as_json(),
        "frame": frame and vars(frame),
        "geometry": GEOMETRY,
        "recent": RECENT,
        "clear": CLEAR,
    }
    return document(
        f"{title}: report",
        element("a", "Skip to the figures", class_="skip", href="#figures"),
        element("header", _summary(report, title), class_="top"),
        _filters(cube),
        element("main", *(join("\n", section) for section in sections), id="figures", tabindex="-1"),
        element("footer", _sources(report)),
        element("script", _data(data), type="application/json", id="counts"),
        styles=(text_of("charts.css"), text_of("report.css", __package__)),
        script=text_of("report.js", __package__),
        class_="charts report",
    )


_WORST_MEANING = (
    "The lowest scores below excellent, of every agent, database and week; at one score the least likely to "
    "be right comes first. Marked is what points were lost for."
)
_UNSCORED_MEANING = "Some of each agent and reason, the newest first."


def _data(values: dict[str, Any]) -> Markup:
    """JSON as the content of a script element: nothing in it can end the element."""
    text = json.dumps(values, separators=(",", ":"), ensure_ascii=False)
    return Markup(text.replace("<", "\\u003c"))


def _summary(report: Report, title: str) -> Markup:
    told = [
        ("Queries", f"{report.total['rows']:,}"),
        ("From", _day(report.first)),
        ("To", _day(report.last)),
        ("Agents", f"{len(report.agents):,}"),
        ("Databases", f"{len({one['database'] for one in report.databases}):,}"),
        ("Scores", report.source),
    ]
    return join(
        element("h1", title),
        element(
            "p",
            "Every query scored from question and SQL alone, 0 to 100 (STEF). A score is no proof: it says "
            "where to look, and when an agent changes.",
            class_="lead",
        ),
        facts(*told),
        *(element("p", note, class_="note") for note in _notes(report)),
    )


def _notes(report: Report) -> list[str]:
    cube, notes = report.cube, []
    if report.duplicates:
        notes.append(f"{report.duplicates:,} rows stood there twice; each counts once.")
    if len(report.signatures) > 1:
        notes.append(f"Mixed: {len(report.signatures)} signatures, whose scores do not compare.")
    for name, count in cube.folded.items():
        notes.append(
            f"{count:,} {name} with the fewest queries are counted together as {OTHERS} on this page."
        )
    if cube.every != "day" and cube.days() is not None:
        notes.append(f"This page counts by {cube.every}; the report as JSON has every day.")
    without = sum(count for cell in cube.cells if cell.day is None for count in cell.outcomes.values())
    if without:
        notes.append(f"{without:,} rows have no time: they count everywhere but over time.")
    return notes


def _day(moment: datetime | None) -> str:
    return "no times" if moment is None else moment.date().isoformat()


def _filters(cube: Cube) -> Markup:
    def choice(name: str, label: str, names: Sequence[str]) -> Markup:
        options = [element("option", name_of(one) if name == "agent" else one or "(none)", value=str(place))
                   for place, one in enumerate(names)]  # fmt: skip
        select = element("select", element("option", "all", value=""), *options, id=name)
        return element("label", element("span", label), select)

    def limit(name: str, label: str, days: tuple[int, int]) -> Markup:
        ends = [(_EPOCH + timedelta(days=day)).isoformat() for day in days]
        return element(
            "label", element("span", label), element("input", type="date", id=name, min=ends[0], max=ends[1])
        )

    days = cube.days()
    return element(
        "form",
        choice("agent", "Agent", cube.agents),
        choice("database", "Database", cube.databases),
        *([limit("from", "From", days), limit("to", "To", days)] if days else []),
        element("div", element("button", "Clear", type="reset"), class_="buttons"),
        element("p", element("output", id="count"), class_="status"),
        id="filters",
        hidden=True,
        autocomplete="off",
        aria_label="Filters",
    )


def _over_time(cube: Cube, frame: Frame, by_agent: dict[str, Figures]) -> Markup:
    pooled = "the 7 days that end there" if frame.window > 1 else f"each {cube.every}"
    panels = [
        element(
            "article",
            element("h3", name_of(name)),
            score_plot(cube, frame, agent, share(by_agent[str(agent)].total, by_agent[str(agent)].scored)),
            element("p", "Not scored", class_="what"),
            strip(cube, frame, agent, "unscored"),
            element("p", "Enriched questions that lost or changed something", class_="what"),
            strip(cube, frame, agent, "lost"),
            data_row=str(agent),
        )
        for agent, name in enumerate(cube.agents)
    ]
    return element(
        "section",
        element("h2", f"Score by {cube.every}"),
        element(
            "p",
            f"A dot is the mean of a {cube.every}, the line pools {pooled}, the dashed line is the mean of "
            "all. Below, pooled alike, shares of queries. All panels have one scale.",
            class_="meaning",
        ),
        element("div", *panels, class_="panels three"),
        weeks(cube),
    )


def _queries(rows: Sequence[dict[str, Any]], cube: Cube, title: str, name: str, meaning: str) -> Markup:
    if not rows:
        return Markup("")
    return element(
        "section",
        element("h2", title),
        element("p", meaning, " ", element("output", id=f"{name}-count"), class_="meaning"),
        element(
            "div", *(join("\n", query(row, cube, _day_of(row))) for row in rows), id=name, class_="queries"
        ),
        element("button", "Show more", type="button", id=f"{name}-more", hidden=True),
    )


def _day_of(row: dict[str, Any]) -> int | None:
    return None if row["time"] is None else (date.fromisoformat(row["time"][:10]) - _EPOCH).days


def _sources(report: Report) -> Markup:
    return join(
        element("h2", "Sources"),
        element(
            "ul",
            element(
                "li",
                "Arif and Singh 2026. Agent-Agnostic Evaluation of SQL Accuracy in Production Text-to-SQL "
                "Systems. arXiv:2604.28049",
            ),
            class_="references",
        ),
        element("h2", "Signatures"),
        *(signature(text, f"Signature {place}") for place, text in enumerate(report.signatures, start=1)),
    )
