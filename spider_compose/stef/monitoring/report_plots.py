"""Plots of the report page, as SVG: the score over time, and shares below it.

The page's script draws the same under filters; what both must agree on is in `GEOMETRY` and `as_json`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from math import ceil

from spider_compose.page.markup import Markup, element
from spider_compose.stef.monitoring.cube import Cell, Cube, figures
from spider_compose.stef.monitoring.report_numbers import fixed

# The pictures' own units; they are scaled to the width of their place.
GEOMETRY = {"width": 340, "left": 26, "right": 6, "above": 8, "below": 18, "height": 170, "strip": 44}
_EPOCH = date(1970, 1, 1)


@dataclass(frozen=True)
class Step:
    """An agent's rows of one step of time, and of the window that ends with it."""

    day: int
    rows: int
    scored: int
    mean: float | None
    window_mean: float | None
    window_unscored: float
    window_lost: float


@dataclass(frozen=True)
class Frame:
    """The axes all plots of a page share.

    Attributes:
        first, last: days since 1970.
        window: days that a line pools, the day itself with those before it.
        unscored, lost: the highest share that the strips show.
    """

    first: int
    last: int
    window: int
    unscored: float
    lost: float

    @classmethod
    def of(cls, cube: Cube) -> Frame | None:
        """The frame of all agents; None without times."""
        days = cube.days()
        if days is None:
            return None
        window = 7 if cube.every == "day" else 1
        all_steps = [step for agent in range(len(cube.agents)) for step in steps(cube, agent, window)]
        return cls(
            *days,
            window,
            _top(step.window_unscored for step in all_steps),
            _top(step.window_lost for step in all_steps),
        )

    def x(self, day: int) -> float:
        """Where a day stands."""
        width = GEOMETRY["width"] - GEOMETRY["left"] - GEOMETRY["right"]
        return GEOMETRY["left"] + width * (day - self.first) / max(1, self.last - self.first)


def steps(cube: Cube, agent: int, window: int) -> list[Step]:
    """An agent's rows over time; steps without rows are left out."""
    by_day: dict[int, list[Cell]] = {}
    for cell in cube.cells:
        if cell.agent == agent and cell.day is not None:
            by_day.setdefault(cell.day, []).append(cell)
    found = []
    for day in sorted(by_day):
        own = figures(cube, by_day[day])
        pooled = figures(
            cube, (cell for back in range(window) for cell in by_day.get(day - window + 1 + back, ()))
        )
        found.append(
            Step(
                day,
                own.rows,
                own.scored,
                own.total / own.scored if own.scored else None,
                pooled.total / pooled.scored if pooled.scored else None,
                (pooled.rows - pooled.scored) / pooled.rows,
                pooled.lost / pooled.enriched if pooled.enriched else 0.0,
            )
        )
    return found


def score_plot(cube: Cube, frame: Frame, agent: int, mean: float | None) -> Markup:
    """A dot per step, a line of the window's mean, and the mean of all."""
    found = steps(cube, agent, frame.window)
    known = [(step.day, step.window_mean) for step in found if step.window_mean is not None]
    line = " ".join(f"{fixed(frame.x(day))},{fixed(_y(value))}" for day, value in known)
    dots = [
        element(
            "circle",
            element("title", told(step)),
            cx=fixed(frame.x(step.day)),
            cy=fixed(_y(step.mean)),
            r="1.8",
        )
        for step in found
        if step.mean is not None
    ]
    level = [] if mean is None else [_line("mean", _y(mean), data_agent=str(agent))]
    grid = [part for value in (0, 25, 50, 75, 100) for part in _level(f"{value}", _y(value))]
    return element(
        "svg",
        *grid,
        *_ticks(frame, GEOMETRY["height"] - 5),
        *level,
        element("g", *dots, class_="dots", data_agent=str(agent)),
        element("polyline", points=line, class_="line", data_agent=str(agent)),
        class_="plot",
        viewBox=f"0 0 {GEOMETRY['width']} {GEOMETRY['height']}",
        role="img",
        aria_label=_said(cube.agents[agent], known),
    )


def strip(cube: Cube, frame: Frame, agent: int, name: str) -> Markup:
    """The window's share of rows `unscored`, or of enriched questions that `lost` something."""
    top: float = getattr(frame, name)
    found = [(step.day, getattr(step, f"window_{name}")) for step in steps(cube, agent, frame.window)]
    floor = GEOMETRY["strip"] - 2
    points = [(frame.x(day), floor - (floor - 6) * min(1.0, share / top)) for day, share in found]
    closed = [(points[0][0], floor), *points, (points[-1][0], floor)] if points else []
    return element(
        "svg",
        *_level("0", floor),
        *_level(f"{100 * top:.0f} %", 6),
        element(
            "polygon",
            points=" ".join(f"{fixed(x)},{fixed(y)}" for x, y in closed),
            class_=f"area {name}",
            data_agent=str(agent),
        ),
        class_="plot",
        viewBox=f"0 0 {GEOMETRY['width']} {GEOMETRY['strip']}",
        aria_hidden="true",
    )


def bar(
    counts: Sequence[tuple[str, int]], colours: Sequence[int], agent: str, total: int, whole: str
) -> Markup:
    """Shares side by side; the numbers stand beside it, so it is no picture of its own to a reader aloud.

    Args:
        counts: the parts, each with its name for the script.
        colours: of the parts.
        agent: its number, or "all".
        total: what the parts are shares of, and `whole`, its name for the script.
    """
    at = 0.0
    drawn = []
    for colour, (name, count) in zip(colours, counts, strict=False):
        width = 100 * count / total if total else 0.0
        place = {"x": fixed(at, 2), "width": fixed(width, 2), "height": "10"}
        drawn.append(element("rect", class_=f"p{colour}", data_part=name, **place))
        at += width
    return element(
        "svg",
        *drawn,
        class_="bar",
        data_agent=agent,
        data_whole=whole,
        viewBox="0 0 100 10",
        preserveAspectRatio="none",
        aria_hidden="true",
    )


def told(step: Step) -> str:
    """A step in words, for its dot."""
    day = (_EPOCH + timedelta(days=step.day)).isoformat()
    return f"{day}: mean {fixed(step.mean)}, {step.scored} of {step.rows} scored"


def _said(agent: str, known: Sequence[tuple[int, float]]) -> str:
    if not known:
        return f"Score of {agent}: none"
    least = min(known, key=lambda item: item[1])
    at = (_EPOCH + timedelta(days=least[0])).isoformat()
    ends = f"from {known[0][1]:.1f} to {known[-1][1]:.1f}"
    return f"Score of {agent} over time: {ends}, lowest {least[1]:.1f} on {at}"


def _top(shares: Iterable[float]) -> float:
    """A round share that holds all of these."""
    return max(0.05, ceil(max(shares, default=0.0) * 20 - 1e-9) / 20)


def _y(score: float) -> float:
    height = GEOMETRY["height"] - GEOMETRY["above"] - GEOMETRY["below"]
    return GEOMETRY["above"] + height * (1 - score / 100)


def _line(class_: str, y: float, data_agent: str | None = None) -> Markup:
    ends = {"x1": str(GEOMETRY["left"]), "x2": str(GEOMETRY["width"] - GEOMETRY["right"])}
    return element("line", class_=class_, y1=fixed(y), y2=fixed(y), data_agent=data_agent, **ends)


def _level(label: str, y: float) -> tuple[Markup, Markup]:
    text = element("text", label, class_="y", x=f"{GEOMETRY['left'] - 4}", y=fixed(y))
    return _line("grid", y), text


def _ticks(frame: Frame, y: float) -> list[Markup]:
    """Up to five days, evenly."""
    count = min(4, max(1, frame.last - frame.first))
    days = sorted({frame.first + round(n * (frame.last - frame.first) / count) for n in range(count + 1)})
    long = frame.last - frame.first > 300
    labels = []
    for day in days:
        when = _EPOCH + timedelta(days=day)
        text = when.strftime("%Y-%m") if long else f"{when.day} {when:%b}"
        anchor = "end" if day == frame.last and len(days) > 1 else "start" if day == frame.first else None
        labels.append(element("text", text, class_="x", x=fixed(frame.x(day)), y=f"{y}", text_anchor=anchor))
    return labels
