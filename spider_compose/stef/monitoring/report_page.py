"""A report as one HTML page that asks for nothing outside itself.

Without its script the page shows everything; the script filters it: it writes the figures of the chosen counts
in the places of those that are there. Texts are untrusted: `markup.element` escapes them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from spider_compose.page.document import document, facts, signature, text_of
from spider_compose.page.markup import Markup, element, join
from spider_compose.stef.alignment import FILTER_POINTS
from spider_compose.stef.judges.protocol import VERDICT_POINTS
from spider_compose.stef.monitoring.cube import OTHERS, Cube, Figures, figures
from spider_compose.stef.monitoring.report import Report
from spider_compose.stef.monitoring.report_plots import GEOMETRY, Frame, bar, score_plot, strip
from spider_compose.stef.monitoring.report_queries import name_of, query
from spider_compose.stef.score import BANDS, UNSCORED

_EN_DASH, _MINUS = "\N{EN DASH}", "\N{MINUS SIGN}"
_EPOCH = date(1970, 1, 1)
RECENT = 14  # days
_RULES_SHOWN = 16
_REASONS_SHOWN = 5

# Columns of the table of agents: figure, heading.
_COLUMNS = (
    ("rows", "queries"),
    ("mean", "mean"),
    ("p50", "P50"),
    ("p90", "P90"),
    ("coverage", "coverage"),
    ("mean_unscored_as_0", "mean, unscored as 0"),
    ("recent", f"last {RECENT} days"),
    ("change", "against before"),
    ("p_correct", "p correct"),
    ("quality", "enrichment"),
)


@dataclass(frozen=True)
class _Shares:
    """A picture of shares: parts of a whole, each with its count's name and its heading."""

    title: str
    meaning: str
    whole: str
    parts: tuple[tuple[str, str], ...]


def render_report(report: Report, title: str = "Text-to-SQL agents") -> str:
    """The page.

    Args:
        title: of the page and its heading.
    """
    cube, frame = report.cube, Frame.of(report.cube)
    by_agent = _by_agent(cube)
    sections = [
        _agents(by_agent, cube),
        _over_time(cube, frame, by_agent) if frame else Markup(""),
        _all_shares(by_agent, cube),
        _rules(by_agent, cube),
        _queries(report.worst, cube, "Worst queries", "worst", _WORST_MEANING),
        _queries(
            report.unscored,
            cube,
            "Not scored",
            "unscored",
            "Some of each agent and reason, the newest first.",
        ),
    ]
    data = {**cube.as_json(), "frame": frame and vars(frame), "geometry": GEOMETRY, "recent": RECENT}
    return document(
        f"{title}: report",
        element("a", "Skip to the figures", class_="skip", href="#figures"),
        element("header", _summary(report, title), class_="top"),
        _filters(cube),
        element(
            "main", *(join("\n", section) for section in sections if section), id="figures", tabindex="-1"
        ),
        element("footer", _sources(report)),
        element("script", _data(data), type="application/json", id="counts"),
        styles=(text_of("charts.css"), text_of("report.css", __package__)),
        script=text_of("report.js", __package__),
        class_="charts report",
    )


_WORST_MEANING = (
    "The lowest scores below excellent, of every agent, database and week; at one score the least likely to be right "
    "comes first. Marked is what points were lost for."
)


def _data(values: dict[str, Any]) -> Markup:
    """JSON as the content of a script element: nothing in it can end the element."""
    text = json.dumps(values, separators=(",", ":"), ensure_ascii=False)
    return Markup(text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029"))


def _by_agent(cube: Cube) -> dict[str, Figures]:
    """Figures by the agent's number, and of "all"."""
    found = {
        str(number): figures(cube, (cell for cell in cube.cells if cell.agent == number))
        for number in range(len(cube.agents))
    }
    return {**found, "all": figures(cube, cube.cells)} if len(cube.agents) > 1 else found


# -- numbers ---------------------------------------------------------------------------------------------------


def fixed(value: float | None, digits: int = 1) -> str:
    """A number as the script's `toFixed` writes it: halves go away from zero."""
    if value is None:
        return _EN_DASH
    return str(Decimal(value).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP)).replace("-", _MINUS)


def percent(part: float, whole: float) -> str:
    """A share in percent."""
    return f"{fixed(100 * part / whole)} %" if whole else _EN_DASH


def _share(part: float, whole: float) -> float | None:
    return part / whole if whole else None


def _texts(found: Figures) -> dict[str, str]:
    """What the table of agents says, but for recent days."""
    return {
        "rows": f"{found.rows:,}",
        "mean": fixed(_share(found.total, found.scored)),
        "p50": fixed(found.percentile(50)),
        "p90": fixed(found.percentile(90)),
        "coverage": percent(found.scored, found.rows),
        "mean_unscored_as_0": fixed(_share(found.total, found.rows)),
        "p_correct": fixed(_share(found.p_correct, found.with_p), 2),
        "quality": fixed(_share(found.quality, found.enriched), 3),
    }


def _recent(cube: Cube, agent: str) -> dict[str, str]:
    """The mean of the last days, and how far it is from the mean before."""
    days = cube.days()
    if days is None:
        return {"recent": _EN_DASH, "change": _EN_DASH}
    cells = [c for c in cube.cells if agent in ("all", str(c.agent)) and c.day is not None]
    cut = days[1] - RECENT + 1
    late = figures(cube, (c for c in cells if c.day is not None and c.day >= cut))
    early = figures(cube, (c for c in cells if c.day is not None and c.day < cut))
    mean, before = _share(late.total, late.scored), _share(early.total, early.scored)
    change = None if mean is None or before is None else mean - before
    sign = "+" if change is not None and change > 0 else ""
    return {"recent": fixed(mean), "change": sign + fixed(change)}


def count_of(found: Figures, name: str) -> int:
    """The rows of a part: "scored", "kept", "lost", "plain", or a column and its value."""
    special: dict[str, Callable[[], int]] = {
        "scored": lambda: found.scored,
        "kept": lambda: found.enriched - found.lost,
        "lost": lambda: found.lost,
        "plain": lambda: found.rows - found.enriched,
    }
    if name in special:
        return special[name]()
    column, value = name.split(":", 1)
    return found.counts[column, value]


# -- sections --------------------------------------------------------------------------------------------------


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
            "Every query scored from question and SQL alone, 0 to 100 (STEF). A score is no proof: it says where to "
            "look, and when an agent changes.",
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


def _agent_rows(by_agent: dict[str, Figures], cube: Cube) -> list[tuple[str, Figures, Markup]]:
    """Number, figures and heading of each line of a table by agent."""
    return [
        (
            number,
            found,
            element("th", "All" if number == "all" else name_of(cube.agents[int(number)]), scope="row"),
        )
        for number, found in by_agent.items()
    ]


def _agents(by_agent: dict[str, Figures], cube: Cube) -> Markup:
    lines = [
        element(
            "tr",
            heading,
            *(
                element("td", text, class_="number", data_agent=number, data_figure=name)
                for name, text in _ordered({**_texts(found), **_recent(cube, number)})
            ),
            data_row=number,
        )
        for number, found, heading in _agent_rows(by_agent, cube)
    ]
    return element(
        "section",
        element("h2", "Agents"),
        element(
            "p",
            "Mean and percentiles of the scored queries; coverage is the share that could be scored. Enrichment is "
            "the mean quality of the enriched questions, 1 where nothing that was asked is lost or changed. ",
            element("cite", "Arif and Singh 2026, table of production agents"),
            class_="meaning",
        ),
        _table(["agent", *(heading for _, heading in _COLUMNS)], lines, "figures"),
    )


def _ordered(texts: dict[str, str]) -> list[tuple[str, str]]:
    return [(name, texts[name]) for name, _ in _COLUMNS]


def _table(headings: Sequence[str | Markup], lines: Sequence[Markup], class_: str) -> Markup:
    head = [name if isinstance(name, Markup) else element("th", name, scope="col") for name in headings]
    table = element("table", element("thead", element("tr", *head)), element("tbody", *lines), class_=class_)
    # It scrolls sideways where it does not fit, so the keyboard must reach it.
    return element(
        "div", table, class_="wide", tabindex="0", role="region", aria_label=f"Table: {headings[0]}"
    )


def _over_time(cube: Cube, frame: Frame, by_agent: dict[str, Figures]) -> Markup:
    pooled = "the 7 days that end there" if frame.window > 1 else f"each {cube.every}"
    panels = [
        element(
            "article",
            element("h3", name_of(name)),
            score_plot(cube, frame, agent, _share(by_agent[str(agent)].total, by_agent[str(agent)].scored)),
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
            f"A dot is the mean of a {cube.every}, the line pools {pooled}, the dashed line is the mean of all. Below, "
            "pooled alike, shares of queries. All panels have one scale.",
            class_="meaning",
        ),
        element("div", *panels, class_="panels three"),
        _weeks(cube, frame),
    )


def _weeks(cube: Cube, frame: Frame) -> Markup:
    """The plots as a table: what a reader aloud has of them."""
    starts = sorted({week_of(cell.day, cube.every) for cell in cube.cells if cell.day is not None})
    lines = []
    for start in starts:
        cells = [c for c in cube.cells if c.day is not None and week_of(c.day, cube.every) == start]
        values = []
        for agent in range(len(cube.agents)):
            found = figures(cube, (cell for cell in cells if cell.agent == agent))
            text = fixed(_share(found.total, found.scored))
            values.append(element("td", text, class_="number", data_agent=str(agent), data_week=str(start)))
        day = (_EPOCH + timedelta(days=start)).isoformat()
        lines.append(element("tr", element("th", day, scope="row"), *values))
    step = "week" if cube.every == "day" else cube.every
    return element(
        "details",
        element("summary", f"Means by {step}, as a table"),
        _table([f"{step} from", *(name_of(name) for name in cube.agents)], lines, "figures"),
    )


def week_of(day: int, every: str) -> int:
    """The Monday of a day, in days since 1970; longer steps stay as they are."""
    return day - (day + 3) % 7 if every == "day" else day


def _all_shares(by_agent: dict[str, Figures], cube: Cube) -> Markup:
    whole = by_agent.get("all") or by_agent["0"]
    reasons = sorted(
        (name for (column, name) in whole.counts if column == "unscored"),
        key=lambda name: (-whole.counts["unscored", name], name),
    )
    pictures = [
        _Shares(
            "Bands",
            "From 90 on excellent (use as it is), from 75 on good, from 50 on marginal (have someone look), below poor.",
            "scored",
            tuple((f"band:{name}", name) for name, _ in BANDS),
        ),
        _Shares(
            "Filter states",
            "Whether the conditions that were asked for are in the query.",
            "scored",
            tuple((f"filter_status:{name}", name.replace("_", " ")) for name in FILTER_POINTS),
        ),
        _Shares(
            "Verdicts",
            "What the judge says of the query as a whole.",
            "scored",
            tuple((f"verdict:{name}", name.replace("_", " ")) for name in VERDICT_POINTS),
        ),
        _Shares(
            "Coverage",
            "Why queries have no score: "
            + "; ".join(
                f"{name.replace('_', ' ')}: {UNSCORED.get(name, 'the row could not be read')}"
                for name in reasons[:_REASONS_SHOWN]
            )
            + "."
            if reasons
            else "Every query has a score.",
            "rows",
            (
                ("scored", "scored"),
                *((f"unscored:{name}", name.replace("_", " ")) for name in reasons[:_REASONS_SHOWN]),
            ),
        ),
        _Shares(
            "Enriched questions",
            "Whether what the user asked is still in the question the agent made of it.",
            "rows",
            (("kept", "all kept"), ("lost", "lost or changed"), ("plain", "no enriched question")),
        ),
    ]
    articles = [_shares(picture, by_agent, cube) for picture in pictures]
    return element("section", element("h2", "Shares"), element("div", *articles, class_="stack"))


def _shares(picture: _Shares, by_agent: dict[str, Figures], cube: Cube) -> Markup:
    lines = []
    for number, found, heading in _agent_rows(by_agent, cube):
        counts = [(name, count_of(found, name)) for name, _ in picture.parts]
        whole = found.scored if picture.whole == "scored" else found.rows
        cells = [
            element("td", percent(count, whole), class_="number", data_agent=number, data_share=name,
                    data_whole=picture.whole)
            for name, count in counts
        ]  # fmt: skip
        drawn = element("td", bar(counts, number, whole, picture.whole), class_="picture")
        lines.append(element("tr", heading, drawn, *cells, data_row=number))
    keys = [
        element("th", element("i", class_=f"p{place}"), label, scope="col")
        for place, (_, label) in enumerate(picture.parts)
    ]
    return element(
        "article",
        element("h3", picture.title),
        element("p", picture.meaning, class_="meaning"),
        _table(["agent", element("th", ""), *keys], lines, "shares"),
    )


def _rules(by_agent: dict[str, Figures], cube: Cube) -> Markup:
    names = cube.rules()
    own = {name for name in names if name != OTHERS}

    def cost(found: Figures, rule: str) -> float | None:
        points = (
            found.points[rule] if rule in own else sum(p for r, p in found.points.items() if r not in own)
        )
        return _share(points, found.scored)

    shown = names[:_RULES_SHOWN]
    top = max((cost(found, rule) or 0.0 for found in by_agent.values() for rule in shown), default=0.0) or 1.0
    rows = _agent_rows(by_agent, cube)
    lines = []
    for rule in shown:
        cells: list[Markup] = []
        for number, found, _ in rows:
            value = cost(found, rule)
            cells += [
                element("td", _cost_bar(value, top, number, rule), class_="picture", data_column=number),
                element("td", fixed(value, 2), class_="number", data_agent=number, data_rule=rule,
                        data_column=number),
            ]  # fmt: skip
        lines.append(element("tr", element("th", element("code", rule), scope="row"), *cells))
    heads = [
        element(
            "th",
            "All" if n == "all" else name_of(cube.agents[int(n)]),
            scope="col",
            colspan="2",
            data_column=n,
        )
        for n, _, _ in rows
    ]
    return element(
        "section",
        element("h2", "What points are lost for"),
        element(
            "p",
            "Points per scored query, by the rule that found it; over all rules they add up to 100 less the mean. Rules "
            "are in the order of what they cost over all queries. The names are explained in the documentation of STEF.",
            class_="meaning",
        ),
        _table(["rule", *heads], lines, "shares rules"),
    )


def _cost_bar(value: float | None, top: float, agent: str, rule: str) -> Markup:
    return element(
        "svg",
        element("rect", class_="track", width="100", height="10"),
        element("rect", class_="bar", width=f"{100 * (value or 0.0) / top:.2f}", height="10"),
        data_agent=agent,
        data_cost=rule,
        data_top=f"{top:.6f}",
        viewBox="0 0 100 10",
        preserveAspectRatio="none",
        aria_hidden="true",
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
                "Arif and Singh 2026. Agent-Agnostic Evaluation of SQL Accuracy in Production Text-to-SQL Systems. "
                "arXiv:2604.28049",
            ),
            class_="references",
        ),
        element("h2", "Signatures"),
        *(signature(text, f"Signature {place}") for place, text in enumerate(report.signatures, start=1)),
    )
