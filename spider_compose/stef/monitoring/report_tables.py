"""Tables of the report page, each figure in a place of its own where the page's script finds it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from math import sqrt

from spider_compose.page.markup import Markup, element
from spider_compose.stef.alignment import FILTER_POINTS
from spider_compose.stef.judges.protocol import VERDICT_POINTS
from spider_compose.stef.monitoring.cube import OTHERS, Cube, Figures, figures
from spider_compose.stef.monitoring.report_numbers import EN_DASH, fixed, percent, share
from spider_compose.stef.monitoring.report_plots import bar
from spider_compose.stef.monitoring.report_queries import name_of
from spider_compose.stef.score import BANDS, UNSCORED

_EPOCH = date(1970, 1, 1)
RECENT = 14  # days
CLEAR = 3.0  # standard errors
_RULES_SHOWN = 16
_REASONS_SHOWN = 4

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
    """A picture of shares: parts of a whole, each with its count's name, its heading and its colour."""

    title: str
    meaning: str
    whole: str
    parts: tuple[tuple[str, str], ...]
    colours: tuple[int, ...] = (0, 1, 2, 3)


def figures_by_agent(cube: Cube) -> dict[str, Figures]:
    """Figures by the agent's number, and of "all"."""
    found = {
        str(number): figures(cube, (cell for cell in cube.cells if cell.agent == number))
        for number in range(len(cube.agents))
    }
    return {**found, "all": figures(cube, cube.cells)} if len(cube.agents) > 1 else found


def _texts(found: Figures) -> dict[str, str]:
    """What the table of agents says, but for recent days."""
    return {
        "rows": f"{found.rows:,}",
        "mean": fixed(share(found.total, found.scored)),
        "p50": fixed(found.percentile(50)),
        "p90": fixed(found.percentile(90)),
        "coverage": percent(found.scored, found.rows),
        "mean_unscored_as_0": fixed(share(found.total, found.rows)),
        "p_correct": fixed(share(found.p_correct, found.with_p), 2),
        "quality": fixed(share(found.quality, found.enriched), 3),
    }


def _recent(cube: Cube, agent: str) -> tuple[dict[str, str], bool]:
    """The mean of the last days, how far it is from the mean before, and whether it is clearly below."""
    days = cube.days()
    if days is None:
        return {"recent": EN_DASH, "change": EN_DASH}, False
    cells = [c for c in cube.cells if agent in ("all", str(c.agent)) and c.day is not None]
    cut = days[1] - RECENT + 1
    late = figures(cube, (c for c in cells if c.day is not None and c.day >= cut))
    early = figures(cube, (c for c in cells if c.day is not None and c.day < cut))
    mean, before = share(late.total, late.scored), share(early.total, early.scored)
    change = None if mean is None or before is None else mean - before
    sign = "+" if change is not None and change > 0 else ""
    error = sqrt(late.squared_error + early.squared_error)
    falls = change is not None and 0 < CLEAR * error < -change
    return {"recent": fixed(mean), "change": sign + fixed(change)}, falls


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


def _agent_rows(by_agent: dict[str, Figures], cube: Cube) -> list[tuple[str, Figures, Markup]]:
    """Number, figures and heading of each line of a table by agent."""
    return [
        (number, found, element("th", _heading(number, cube), scope="row"))
        for number, found in by_agent.items()
    ]


def _heading(number: str, cube: Cube) -> str:
    return "All" if number == "all" else name_of(cube.agents[int(number)])


def agents_section(by_agent: dict[str, Figures], cube: Cube) -> Markup:
    """The paper's table, a line per agent."""
    lines = [
        element(
            "tr",
            heading,
            *(
                element(
                    "td",
                    texts[name],
                    class_="number falls" if name == "change" and falls else "number",
                    data_agent=number,
                    data_figure=name,
                )
                for name, _ in _COLUMNS
            ),
            data_row=number,
        )
        for number, found, heading in _agent_rows(by_agent, cube)
        for recent, falls in [_recent(cube, number)]
        for texts in [{**_texts(found), **recent}]
    ]
    return element(
        "section",
        element("h2", "Agents"),
        element(
            "p",
            "Mean and percentiles of the scored queries; coverage is the share that could be scored. Marked "
            "is a mean of the last days more than three standard errors below the mean before. Enrichment is "
            "the mean quality of the enriched questions, 1 where nothing that was asked is lost or changed. ",
            element("cite", "Arif and Singh 2026, table of production agents"),
            class_="meaning",
        ),
        _table(["agent", *(heading for _, heading in _COLUMNS)], lines, "figures"),
    )


def _table(headings: Sequence[str | Markup], lines: Sequence[Markup], class_: str) -> Markup:
    head = [name if isinstance(name, Markup) else element("th", name, scope="col") for name in headings]
    table = element("table", element("thead", element("tr", *head)), element("tbody", *lines), class_=class_)
    # It scrolls sideways where it does not fit, so the keyboard must reach it.
    return element("div", table, class_="wide", tabindex="0", role="region", aria_label="Table")


def weeks(cube: Cube) -> Markup:
    """The plots as a table: what a reader aloud has of them."""
    starts = sorted({week_of(cell.day, cube.every) for cell in cube.cells if cell.day is not None})
    lines = []
    for start in starts:
        cells = [c for c in cube.cells if c.day is not None and week_of(c.day, cube.every) == start]
        values = []
        for agent in range(len(cube.agents)):
            found = figures(cube, (cell for cell in cells if cell.agent == agent))
            text = fixed(share(found.total, found.scored))
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


def shares_section(by_agent: dict[str, Figures], cube: Cube) -> Markup:
    """Bands, filter states, verdicts, coverage and enriched questions, as bars and numbers."""
    whole = by_agent.get("all") or by_agent["0"]
    reasons = sorted(
        (name for (column, name) in whole.counts if column == "unscored"),
        key=lambda name: (-whole.counts["unscored", name], name),
    )[:_REASONS_SHOWN]
    pictures = [
        _Shares(
            "Bands",
            "From 90 on excellent (use as it is), from 75 on good, from 50 on marginal (have someone look), "
            "below poor.",
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
            _why(reasons),
            "rows",
            (("scored", "scored"), *((f"unscored:{name}", name.replace("_", " ")) for name in reasons)),
            (0, 3, 2, 4, 5),
        ),
        _Shares(
            "Enriched questions",
            "Whether what the user asked is still in the question the agent made of it.",
            "rows",
            (("kept", "all kept"), ("lost", "lost or changed"), ("plain", "no enriched question")),
            (0, 3, 5),
        ),
    ]
    articles = [_shares(picture, by_agent, cube) for picture in pictures]
    return element("section", element("h2", "Shares"), element("div", *articles, class_="stack"))


def _why(reasons: Sequence[str]) -> str:
    if not reasons:
        return "Every query has a score."
    named = [
        f"{name.replace('_', ' ')}: {UNSCORED.get(name, 'the row could not be read')}" for name in reasons
    ]
    return f"Why queries have no score. {'; '.join(named)}."


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
        drawing = bar(counts, picture.colours, number, whole, picture.whole)
        drawn = element("td", drawing, class_="picture")
        lines.append(element("tr", heading, drawn, *cells, data_row=number))
    keys = [
        element("th", element("i", class_=f"p{colour}"), label, scope="col")
        for colour, (_, label) in zip(picture.colours, picture.parts, strict=False)
    ]
    return element(
        "article",
        element("h3", picture.title),
        element("p", picture.meaning, class_="meaning"),
        _table(["agent", element("th", ""), *keys], lines, "shares"),
    )


def rules_section(by_agent: dict[str, Figures], cube: Cube) -> Markup:
    """What each rule costs each agent."""
    names = cube.rules()
    own = {name for name in names if name != OTHERS}

    def cost(found: Figures, rule: str) -> float | None:
        others = rule not in own
        points = sum(p for name, p in found.points.items() if (name not in own if others else name == rule))
        return share(points, found.scored)

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
        element("th", _heading(number, cube), scope="col", colspan="2", data_column=number)
        for number, _, _ in rows
    ]
    return element(
        "section",
        element("h2", "What points are lost for"),
        element(
            "p",
            "Points per scored query, by the rule that found it; over all rules they add up to 100 less the "
            "mean. Rules are in the order of what they cost over all queries.",
            class_="meaning",
        ),
        _table(["rule", *heads], lines, "shares rules"),
    )


def _cost_bar(value: float | None, top: float, agent: str, rule: str) -> Markup:
    return element(
        "svg",
        element("rect", class_="track", width="100", height="10"),
        element("rect", class_="bar", width=fixed(100 * (value or 0.0) / top, 2), height="10"),
        data_agent=agent,
        data_cost=rule,
        data_top=f"{top:.6f}",
        viewBox="0 0 100 10",
        preserveAspectRatio="none",
        aria_hidden="true",
    )
