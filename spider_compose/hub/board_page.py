"""The leaderboard as markup: the table, pictures of scores and of the difference, what is left out.

It goes into a page of Gradio, whose colours `board.css` takes, so that it is light or dark as the page is.
Names of models are text that anyone may have written.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from importlib import resources
from string import Template

from spider_compose.experiments.figures import Figure
from spider_compose.experiments.paper_tables import FIRST, SECOND, experiment_title
from spider_compose.experiments.tables import SINGLE, Entry, code, figure_entry, p_entry, told_number
from spider_compose.hub.board import (
    DIFFERENCE,
    KINDS,
    METRICS,
    NAME,
    NOT_SAID,
    Board,
    Choice,
    Entrant,
    LeftOut,
    Standing,
    standings,
)
from spider_compose.page.markup import Markup, element

MINUS = "\N{MINUS SIGN}"
_LONGEST_NAME = 80
_RISE = f"exp. 1 {MINUS} exp. 2"


def order_title(order: str) -> str:
    """How the page calls an order."""
    others = {DIFFERENCE: f"least {_RISE}", NAME: "name"}
    return others.get(order) or f"{experiment_title(order)}, best first"


def render_board(board: Board, choice: Choice) -> Markup:
    """The table and the pictures."""
    rows = standings(board, choice)
    if not rows:
        return element("p", "No model has these scores.", class_="board-empty")
    return element(
        "div",
        _table(rows, choice),
        *(element("p", note, class_="board-note") for note in _notes(rows, choice)),
        element("div", _scores(rows, choice), *_differences(rows, choice), class_="board-pictures"),
        class_="board",
    )


def _table(rows: Sequence[Standing], choice: Choice) -> Markup:
    heads = [experiment_title(config) for config in choice.configs]
    if choice.both:
        at = choice.configs.index(SECOND) + 1
        heads[at:at] = [_RISE, *(["p"] if choice.tested else [])]
    head = element(
        "tr",
        element("th", "rank", scope="col", class_="rank"),
        element("th", "model", scope="col"),
        *(element("th", name, scope="col", class_="number") for name in heads),
    )
    body = []
    for row in rows:
        entries = [figure_entry(row.figures[config]) for config in choice.configs]
        if choice.both:
            entries[at:at] = [
                figure_entry(row.difference, signed=True),
                *([p_entry(row.difference)] if choice.tested else []),
            ]
        body.append(
            element(
                "tr",
                element("td", "" if row.rank is None else str(row.rank), class_="rank"),
                element("th", _name(row.entrant), element("small", _told(row.entrant)), scope="row"),
                *(_cell(name, entry) for name, entry in zip(heads, entries, strict=True)),
            )
        )
    title = f"{METRICS[choice.metric]}, in percent"
    return element(
        "div",
        element("table", element("caption", title), element("thead", head), element("tbody", *body)),
        class_="board-wide",
        tabindex="0",
        role="region",
        aria_label=title,
    )


def _cell(name: str, entry: Entry) -> Markup:
    if not entry.main:  # nothing was measured; read aloud as such
        return element(
            "td", element("span", "\N{EN DASH}", aria_label="none"), class_="number", data_name=name
        )
    detail = element("small", entry.detail) if entry.detail else Markup()
    return element("td", element("span", entry.main), detail, class_="number", data_name=name)


def _name(entrant: Entrant) -> Markup:
    title = entrant.title
    return element("bdi", _short(title, _LONGEST_NAME), title=", ".join(entrant.wheres)[:1000])


def _who(entrant: Entrant) -> Markup:
    """Above the bars, with the size where there is one."""
    size = element("small", _short(entrant.size, 20)) if entrant.size != NOT_SAID else Markup()
    return element("span", _name(entrant), " ", size, class_="who")


def _told(entrant: Entrant) -> str:
    told = [KINDS[entrant.kind], _short(entrant.size, 20)]
    if entrant.parameters is not None and 0 < entrant.parameters < 1e15:
        told.append(f"{entrant.parameters / 1e6:,.1f} M parameters")
    if entrant.results.reports and not entrant.trained:
        told.append("as it is")
    return ", ".join(part for part in dict.fromkeys(told) if part != NOT_SAID) or NOT_SAID


def _short(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[:longest]}\N{HORIZONTAL ELLIPSIS}"


def _notes(rows: Sequence[Standing], choice: Choice) -> list[str]:
    notes = [
        f"Higher is better. {SINGLE}: one seed, with a 95 % interval over test items in square brackets; "
        "else the mean over n seeds, with their range in round brackets."
    ]
    if choice.both:
        told = f"{_RISE}: what a model makes of clauses it has seen in training; the less, the better it "
        told += "composes. It is formed over the seeds that both have, of models trained for each experiment"
        if choice.tested:
            told += "; p by paired approximate randomization over test items, of several seeds the largest, "
            told += "not corrected for the number of models"
        notes.append(f"{told}.")
    counts = []
    for config in choice.configs:
        reports = [one for row in rows for one in row.entrant.results.of(row.entrant.name, config).values()]
        found = sorted({report.num_items for report in reports})
        if found:
            counts.append(f"{experiment_title(config)}: {' or '.join(f'{count:,}' for count in found)}")
    if counts:
        notes.append(f"Test items: {'; '.join(counts)}.")
    faults = dict.fromkeys(row.difference.fault for row in rows if row.difference.fault)
    return notes + [f"Not compared: {fault[:300]}" for fault in faults]


def _scores(rows: Sequence[Standing], choice: Choice) -> Markup:
    """A bar for each score, from 0 to a round number above the highest."""
    figures = [row.figures[config] for row in rows for config in choice.configs]
    axis = _Axis(0, max(_high(figure) for figure in figures))
    key = element(
        "ul",
        *(
            element("li", experiment_title(config), class_=_colour(place))
            for place, config in enumerate(choice.configs)
        ),
        class_="board-key",
    )
    lines = []
    for row in rows:
        bars = []
        for place, config in enumerate(choice.configs):
            figure = row.figures[config]
            if figure.mean is not None:
                told = f"{experiment_title(config)}: {_spoken(figure)}"
                bars.append(_picture(axis, figure, told, _colour(place), bar=True))
        lines.append(element("li", _who(row.entrant), *bars))
    return element(
        "section",
        element("h3", METRICS[choice.metric]),
        key,
        element("ol", *lines, class_="board-lines"),
        axis.labels(),
    )


def _differences(rows: Sequence[Standing], choice: Choice) -> list[Markup]:
    """A dot with its interval for each difference; nothing where there is none."""
    there = [row for row in rows if row.difference.mean is not None]
    if not there:
        return []
    lows = [_low(row.difference) for row in there]
    axis = _Axis(min(0.0, *lows), max(0.0, *(_high(row.difference) for row in there)))
    lines = [
        element(
            "li",
            _who(row.entrant),
            _picture(
                axis, row.difference, f"{_RISE}: {_spoken(row.difference, signed=True)}", "s0", bar=False
            ),
        )
        for row in there
    ]
    return [
        element(
            "section",
            element("h3", f"{METRICS[choice.metric]}, {_RISE}"),
            element("p", "Left of the line at 0: better without the clauses.", class_="board-note"),
            element("ol", *lines, class_="board-lines"),
            axis.labels(),
        )
    ]


def _picture(axis: _Axis, figure: Figure, told: str, class_: str, *, bar: bool) -> Markup:
    """A figure on its axis, and in words."""
    mean = figure.mean or 0.0
    zero, at = axis.place(0), axis.place(mean)
    drawn = [element("line", class_="zero", x1=f"{zero:.2f}", x2=f"{zero:.2f}", y1="0", y2="10")]
    if bar:
        drawn.append(element("rect", x=f"{zero:.2f}", y="1", width=f"{at - zero:.2f}", height="8"))
    if figure.bounds:
        low, high = (f"{axis.place(bound):.2f}" for bound in figure.bounds)
        drawn.append(element("line", class_="bounds", x1=low, x2=high, y1="5", y2="5"))
    if not bar:  # a line of no length with round ends is a dot in any width
        drawn.append(element("line", class_="dot", x1=f"{at:.2f}", x2=f"{at:.2f}", y1="5", y2="5"))
    svg = element(
        "svg", *drawn, viewBox="0 0 100 10", preserveAspectRatio="none", role="img", aria_label=told
    )
    return element(
        "span", svg, element("b", told_number(mean, signed=not bar, digits=1)), class_=f"line {class_}"
    )


def _spoken(figure: Figure, signed: bool = False) -> str:
    told = told_number(figure.mean or 0.0, signed, 1)
    if figure.bounds:
        told += f", {told_number(figure.bounds[0], digits=1)} to {told_number(figure.bounds[1], digits=1)}"
    return told


def _colour(place: int) -> str:
    return f"s{place % 6}"


def _high(figure: Figure) -> float:
    return max(figure.mean or 0.0, *(figure.bounds or (0.0,)))


def _low(figure: Figure) -> float:
    return min(figure.mean or 0.0, *(figure.bounds or (0.0,)))


class _Axis:
    """From a round number at or below the least to one at or above the highest."""

    def __init__(self, low: float, high: float) -> None:
        rough = max(high - low, 1.0) / 4
        power = 10.0 ** math.floor(math.log10(rough))
        self._step = next(step * power for step in (1, 2, 5, 10) if step * power >= rough - 1e-9)
        self._low = math.floor(low / self._step + 1e-9) * self._step
        self._high = max(math.ceil(high / self._step - 1e-9) * self._step, self._low + self._step)

    def place(self, value: float) -> float:
        """Where a value lies, 0 to 100."""
        return min(100.0, max(0.0, 100 * (value - self._low) / (self._high - self._low)))

    def labels(self) -> Markup:
        count = round((self._high - self._low) / self._step)
        values = [self._low + step * self._step for step in range(count + 1)]
        marks = (
            element("span", f"{value:g}".replace("-", MINUS), style=f"left:{self.place(value):.2f}%")
            for value in values
        )
        return element("div", element("div", *marks), class_="board-axis", aria_hidden="true")


def render_left_out(left_out: Sequence[LeftOut]) -> Markup:
    """What is not on the board, and why."""
    if not left_out:
        return element("p", "Every report is on the board.", class_="board-empty")
    items = (
        element("li", element("bdi", one.where[:200]), element("p", one.reason[:500])) for one in left_out
    )
    return element("ul", *items, class_="board-left-out")


def render_head(board: Board, benchmark: str | None = None) -> Markup:
    """What the page is about, and what is on it."""
    reports = sum(len(one.results.reports) for one in board.entrants)
    told = f"{len(board.entrants):,} models, {reports:,} reports"
    if board.left_out:
        told += f"; {len(board.left_out):,} left out"
    if benchmark:
        told += f". With results on the Hub for {benchmark}"
    return element(
        "div",
        element("h1", "SpiderCompose leaderboard"),
        element(
            "p",
            "Models that write English questions for SQL, tested on queries of three clauses and more. In ",
            element("b", "exp. 1"),
            " training has every clause of the test, in other company; in ",
            element("b", "exp. 2"),
            " it has none. The difference tells how much of a translation is composed of known parts "
            "(Chen et al. 2024).",
        ),
        element("p", f"{told}.", class_="board-note"),
        class_="board-head",
    )


def submission(repository: str | None = None, benchmark: str | None = None) -> str:
    """How a model gets on the board, as Markdown.

    Args:
        repository: owner/name of this Space; None where it runs locally.
        benchmark: owner/name of the dataset on the Hub; None where its results are not read.
    """
    text = resources.files(__package__).joinpath("submission.md").read_text(encoding="utf-8")
    space = repository or "OWNER/LEADERBOARD"
    return Template(text).substitute(
        space=code(space).strip("`"),
        where=(
            f"of [this Space](https://huggingface.co/spaces/{repository})" if repository else "of the Space"
        ),
        first=code(FIRST),
        second=code(SECOND),
        benchmark=code(benchmark or "OWNER/spider-compose").strip("`"),
        read="" if benchmark else " This board reads none: it was started without a benchmark.",
    )


def style() -> str:
    """The style sheet of the board."""
    return resources.files(__package__).joinpath("board.css").read_text(encoding="utf-8")
