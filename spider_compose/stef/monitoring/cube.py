"""Counts of scored rows by agent, database and time, small enough for a page to filter by itself.

Phi takes few values, so the counts of a cell are whole: means, percentiles and shares of any choice of cells
are those of the rows. What grows with the log is bounded by `MOST_CELLS`: where there would be more cells,
time is counted in longer steps, and small databases and agents are counted together.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from spider_compose.stef.monitoring.aggregate import Groups, group_rows, lost_by_rule

MOST_CELLS = 6000
MOST_AGENTS = 12
MOST_RULES = 40
OTHERS = "(others)"
# Steps of time and how many databases stand by themselves, from fine to coarse.
LADDER = (
    ("day", 40), ("week", 40), ("day", 10), ("month", 40), ("week", 10), ("month", 10), ("year", 10),
    ("year", 0),
)  # fmt: skip


@dataclass(frozen=True)
class Outcome:
    """What became of a row.

    Attributes:
        score: Phi, or None where the row is unscored.
        unscored: the reason of an unscored row.
    """

    score: float | None
    band: str | None
    filter_status: str | None
    verdict: str | None
    unscored: str | None


@dataclass
class Cell:
    """The rows of an agent, a database and a step of time.

    Attributes:
        day: when the step begins, in days since 1970; None without a time.
        outcomes: rows by outcome, a place in `Cube.outcomes`.
        enriched: rows with an enriched question.
        quality: sum of their enrichment quality.
        lost: rows whose enriched question lost or changed something.
        with_p: rows with `p_correct`.
        p_correct: sum of it.
        rules: the points that each rule cost.
    """

    agent: int
    database: int
    day: int | None
    outcomes: Counter[int] = field(default_factory=Counter)
    enriched: int = 0
    quality: float = 0.0
    lost: int = 0
    with_p: int = 0
    p_correct: float = 0.0
    rules: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Cube:
    """All cells.

    Attributes:
        agents, databases: names by number; the last may be `OTHERS`, for `folded` names together.
        every: the step of time.
    """

    agents: tuple[str, ...]
    databases: tuple[str, ...]
    every: str
    outcomes: tuple[Outcome, ...]
    cells: tuple[Cell, ...]
    folded: dict[str, int]

    @classmethod
    def count(cls, table: pa.Table, most_cells: int = MOST_CELLS) -> Cube:
        """Count the rows, without what rules cost; see `add_rules`.

        Args:
            table: `SUMMARY_COLUMNS`, agent and database.
            most_cells: bound of the number of cells, wherever the ladder's last step keeps to it.
        """
        agents = _names(table["agent"], MOST_AGENTS)
        for every, most in LADDER:
            databases = _names(table["database"], most)
            groups = group_rows(table, ("agent", "database"), every)
            places = [_place(key, agents, databases) for key in groups.keys]
            if len(set(places)) <= most_cells:
                break
        numbers = {place: number for number, place in enumerate(sorted(set(places), key=_order))}
        cells = tuple(Cell(*place) for place in numbers)
        where = np.array([numbers[place] for place in places], dtype=np.int64)
        rows = Groups(tuple({} for _ in cells), where[groups.codes] if len(where) else groups.codes)
        outcomes = _count_outcomes(table, rows, cells)
        _add_sums(table, rows, cells)
        folded = {
            name: len(table[column].unique()) - len(names) + 1
            for name, column, names in (("agents", "agent", agents), ("databases", "database", databases))
            if set(names) != set(table[column].unique().to_pylist())  # someone may be called so
        }
        return cls(agents, databases, every, outcomes, cells, folded)

    def add_rules(self, table: pa.Table) -> None:
        """Add what rules cost, of some of the rows that were counted.

        Args:
            table: the columns reasons, score, time, agent and database.
        """
        groups = group_rows(table, ("agent", "database"), self.every)
        names, _, points = lost_by_rule(table, groups)
        cells = {(cell.agent, cell.database, cell.day): cell for cell in self.cells}
        for group, rule in np.argwhere(points):
            rules = cells[_place(groups.keys[group], self.agents, self.databases)].rules
            rules[names[rule]] = rules.get(names[rule], 0.0) + float(points[group, rule])

    def rules(self) -> list[str]:
        """The rules by the points they cost, dearest first; what is beyond `MOST_RULES` is `OTHERS`."""
        total: defaultdict[str, float] = defaultdict(float)
        for cell in self.cells:
            for name, points in cell.rules.items():
                total[name] += points
        names = sorted(total, key=lambda name: (-total[name], name))
        return names if len(names) <= MOST_RULES else [*names[: MOST_RULES - 1], OTHERS]

    def days(self) -> tuple[int, int] | None:
        """The first and the last step of time, in days since 1970."""
        days = [cell.day for cell in self.cells if cell.day is not None]
        return (min(days), max(days)) if days else None

    def as_json(self) -> dict[str, Any]:
        """For the page's script: cells as lists of numbers."""
        rules = self.rules()
        place = {name: number for number, name in enumerate(rules)}
        return {
            "agents": self.agents,
            "databases": self.databases,
            "every": self.every,
            "outcomes": [[o.score, o.band, o.filter_status, o.verdict, o.unscored] for o in self.outcomes],
            "rules": rules,
            "cells": [
                [
                    *(cell.agent, cell.database, cell.day),
                    *(cell.enriched, round(cell.quality, 3), cell.lost),
                    *(cell.with_p, round(cell.p_correct, 3)),
                    [number for pair in sorted(cell.outcomes.items()) for number in pair],
                    [number for numbers in _by_place(cell, place) for number in numbers],
                ]
                for cell in self.cells
            ],
        }


@dataclass
class Figures:
    """The figures of some cells, as the page shows them."""

    rows: int = 0
    scores: Counter[float] = field(default_factory=Counter)
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    enriched: int = 0
    quality: float = 0.0
    lost: int = 0
    with_p: int = 0
    p_correct: float = 0.0
    points: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))

    @property
    def scored(self) -> int:
        """Rows with a score."""
        return sum(self.scores.values())

    @property
    def total(self) -> float:
        """All scores together."""
        return sum(score * count for score, count in self.scores.items())

    @property
    def squared_error(self) -> float:
        """The squared standard error of the mean; 0 of fewer than two scores."""
        if self.scored < 2:
            return 0.0
        mean = self.total / self.scored
        spread = sum(count * (score - mean) ** 2 for score, count in self.scores.items())
        return spread / (self.scored - 1) / self.scored

    def percentile(self, percent: float) -> float | None:
        """A percentile of the scores, linear between neighbours as numpy has it."""
        if not self.scored:
            return None
        at = (self.scored - 1) * percent / 100
        below, passed = int(at), 0
        low: float | None = None
        for score in sorted(self.scores):
            passed += self.scores[score]
            if low is None and passed > below:
                low = score
            if low is not None and passed > min(below + 1, self.scored - 1):
                return low + (score - low) * (at - below)
        return low


def figures(cube: Cube, cells: Iterable[Cell]) -> Figures:
    """Add cells up."""
    found = Figures()
    for cell in cells:
        for place, count in cell.outcomes.items():
            outcome = cube.outcomes[place]
            found.rows += count
            if outcome.score is not None:
                found.scores[outcome.score] += count
            for name in ("band", "filter_status", "verdict", "unscored"):
                if (value := getattr(outcome, name)) is not None:
                    found.counts[name, value] += count
        found.enriched += cell.enriched
        found.quality += cell.quality
        found.lost += cell.lost
        found.with_p += cell.with_p
        found.p_correct += cell.p_correct
        for rule, points in cell.rules.items():
            found.points[rule] += points
    return found


Place = tuple[int, int, "int | None"]


def _names(column: pa.ChunkedArray, most: int) -> tuple[str, ...]:
    """The values by name; the rarer ones as `OTHERS` where there are more than `most`."""
    counts = {item["values"]: item["counts"] for item in pc.value_counts(column).to_pylist()}
    if len(counts) <= most:
        return tuple(sorted(counts))
    known = sorted(counts.keys() - {OTHERS}, key=lambda name: (-counts[name], name))
    kept = known[: max(0, most - 1)]
    return (*sorted(kept), OTHERS)


def _place(key: dict[str, Any], agents: Sequence[str], databases: Sequence[str]) -> Place:
    start = key["start"]
    return (
        agents.index(key["agent"]) if key["agent"] in agents else len(agents) - 1,
        databases.index(key["database"]) if key["database"] in databases else len(databases) - 1,
        None if start is None else (start.date() - date(1970, 1, 1)).days,
    )


def _order(place: Place) -> tuple[int, int, bool, int]:
    return place[0], place[1], place[2] is None, place[2] or 0


def _count_outcomes(table: pa.Table, rows: Groups, cells: Sequence[Cell]) -> tuple[Outcome, ...]:
    columns = ("score", "band", "filter_status", "verdict", "unscored")
    # Scores of other files may have more digits than Phi; a hundredth is enough to look at.
    rounded = table.set_column(table.column_names.index("score"), "score", pc.round(table["score"], 2))
    found = group_rows(rounded, columns)
    pairs, counts = np.unique(rows.codes * max(1, len(found.keys)) + found.codes, return_counts=True)
    for pair, count in zip(pairs.tolist(), counts.tolist(), strict=True):
        cell, outcome = divmod(pair, len(found.keys))
        cells[cell].outcomes[outcome] = count
    return tuple(Outcome(**key) for key in found.keys)


def _add_sums(table: pa.Table, rows: Groups, cells: Sequence[Cell]) -> None:
    """Enrichment and `p_correct` of each cell."""
    lost = pc.fill_null(pc.greater(pc.list_value_length(table["enrichment_lost"]), 0), False)
    columns = {
        name: table[name].to_numpy().astype(np.float64) for name in ("enrichment_quality", "p_correct")
    }
    sums = zip(
        cells,
        rows.count(~np.isnan(columns["enrichment_quality"])).tolist(),
        rows.total(columns["enrichment_quality"]).tolist(),
        rows.count(np.asarray(lost.to_numpy(), dtype=np.bool_)).tolist(),
        rows.count(~np.isnan(columns["p_correct"])).tolist(),
        rows.total(columns["p_correct"]).tolist(),
        strict=True,
    )
    for cell, *values in sums:
        cell.enriched, cell.quality, cell.lost, cell.with_p, cell.p_correct = values


def _by_place(cell: Cell, place: dict[str, int]) -> Iterator[tuple[int, float]]:
    """Place of the rule and points; rules that have no place of their own together."""
    found: defaultdict[int, float] = defaultdict(float)
    for name, points in cell.rules.items():
        found[place.get(name, len(place) - 1)] += points
    for at, points in sorted(found.items()):
        yield at, round(points, 2)
