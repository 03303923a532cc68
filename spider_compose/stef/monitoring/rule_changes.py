"""What two sides lost by rule, and how sure the changes are."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from spider_compose.stef.monitoring.measures import Codes, Floats, values
from spider_compose.stef.monitoring.resampling import LEVEL

UNSCORED_RULE = "unscored: "
"""Before the reason of an unscored row where it stands among the rules: such a row lost all 100 points."""


@dataclass(frozen=True)
class RuleChange:
    """What a rule took from A and B, in points a query (paired: a question), unscored rows as 0.

    The changes of all rules add up to the difference in `score_unscored_as_0`, with its sign turned.

    Attributes:
        rule: its name, or "unscored: " and the reason.
        a: points lost in A.
        b: points lost in B.
        change: b - a; above 0, B is worse.
        low: lower end of the interval of `LEVEL`, normal, by question.
        high: its upper end.
        p_value: two-sided, times the number of rules left (Holm): the level holds for all rules together.
    """

    rule: str
    a: float
    b: float
    change: float
    low: float
    high: float
    p_value: float


@dataclass(frozen=True)
class Sides:
    """Both tables with the question of every row, and rows by question."""

    tables: tuple[pa.Table, pa.Table]
    codes: tuple[Codes, Codes]
    counts: tuple[Codes, Codes]
    matched_by: str

    @property
    def shared(self) -> Any:
        """Which questions both have."""
        return (self.counts[0] > 0) & (self.counts[1] > 0)


def rule_changes(
    sides: Sides, reasons: tuple[pa.ChunkedArray, pa.ChunkedArray] | None, design: str
) -> list[RuleChange]:
    """Points lost by rule, with the standard error of a difference of ratios, by question.

    As in `resampling._standard_error`, but most questions lose nothing by most rules, so that sums run over
    what was lost alone.
    """
    lost = [_lost(sides, place, reasons and reasons[place]) for place in range(2)]
    names = sorted({name for _, _, own in lost for name in own.unique().to_pylist()})
    if not names:
        return []
    shares = _shares(sides, design)  # of each row in the mean of its side, by question
    cells, weights = [], []
    means = np.zeros((2, len(names)))
    for place, (rows, points, own) in enumerate(lost):
        rule = np.asarray(pc.index_in(own, pa.array(names)), dtype=np.int64)
        question = sides.codes[place][rows]
        weight = points * (shares[place] / np.maximum(sides.counts[place], 1))[question]
        means[place] = np.bincount(rule, weights=weight, minlength=len(names))
        cells.append(question * len(names) + rule)
        weights.append(weight if place else -weight)
    errors = _rule_errors(np.concatenate(cells), np.concatenate(weights), means, shares)
    return _with_holm(names, means, errors)


def _lost(sides: Sides, place: int, reasons: pa.ChunkedArray | None) -> tuple[Codes, Floats, pa.Array]:
    """(row, points, rule) of everything lost on one side."""
    unscored = sides.tables[place]["unscored"].cast(pa.string())
    without = np.isnan(values(sides.tables[place], "score"))
    rows: Codes = np.flatnonzero(without).astype(np.int64)
    why = pc.fill_null(unscored.filter(pa.array(without)), "?")
    rules = pc.binary_join_element_wise(UNSCORED_RULE, why, "").combine_chunks()
    points = np.full(len(rows), 100.0)
    if reasons is None:
        return rows, points, rules
    flat, start = [(rows, points, rules)], 0
    for chunk in reasons.chunks:
        of = np.asarray(pc.list_parent_indices(chunk), dtype=np.int64) + start
        items = chunk.flatten()
        scored = ~without[of]
        own = np.asarray(items.field("points"), dtype=np.float64)
        flat.append((of[scored], own[scored], items.field("rule").filter(pa.array(scored))))
        start += len(chunk)
    return (
        np.concatenate([part[0] for part in flat]),
        np.concatenate([part[1] for part in flat]),
        pa.concat_arrays([part[2].cast(pa.string()) for part in flat]),
    )


def _shares(sides: Sides, design: str) -> tuple[Floats, Floats]:
    """How much each question counts in the mean of A and of B; each adds up to 1."""
    if design == "paired":
        alike = sides.shared / max(sides.shared.sum(), 1)
        return alike, alike
    return sides.counts[0] / sides.counts[0].sum(), sides.counts[1] / sides.counts[1].sum()


def _rule_errors(cells: Codes, weights: Floats, means: Floats, shares: tuple[Floats, Floats]) -> Floats:
    """Standard error of each rule's change.

    A question's residual is x - y: x what it adds to the change, y its share of both means; the sum of its
    square is taken apart, so that questions with x = 0 need no row of their own.
    """
    rules = means.shape[1]
    cells, places = np.unique(cells, return_inverse=True)
    x = np.bincount(places.reshape(-1), weights=weights, minlength=len(cells))
    question, rule = cells // rules, cells % rules
    of_a, of_b = shares
    with_a = np.bincount(rule, weights=x * of_a[question], minlength=rules)
    with_b = np.bincount(rule, weights=x * of_b[question], minlength=rules)
    squares = np.bincount(rule, weights=x**2, minlength=rules)
    squares -= 2 * (means[1] * with_b - means[0] * with_a)
    squares += means[1] ** 2 * (of_b @ of_b) - 2 * means[0] * means[1] * (of_a @ of_b)
    squares += means[0] ** 2 * (of_a @ of_a)
    fewer = min(int((of_a > 0).sum()), int((of_b > 0).sum()))
    return np.asarray(np.sqrt(np.maximum(squares, 0) * fewer / max(fewer - 1, 1)))


def _with_holm(names: list[str], means: Floats, errors: Floats) -> list[RuleChange]:
    """The rules with intervals, p-values corrected for their number, the greatest change first."""
    normal = NormalDist()
    wide = normal.inv_cdf((1 + LEVEL) / 2) * errors
    changes = means[1] - means[0]
    # Where there is no spread nothing can be said; where nothing changed, nothing need be.
    z = np.divide(np.abs(changes), errors, out=np.zeros_like(errors), where=errors > 1e-12)
    single = np.array([2 * normal.cdf(-float(value)) for value in z])
    order = np.argsort(single, kind="stable")
    corrected = np.empty_like(single)
    corrected[order] = np.minimum(1, np.maximum.accumulate(single[order] * np.arange(len(names), 0, -1)))
    found = [
        RuleChange(name, *map(float, (means[0, i], means[1, i], c, c - wide[i], c + wide[i], corrected[i])))
        for i, (name, c) in enumerate(zip(names, changes, strict=True))
    ]
    return sorted(found, key=lambda rule: (-abs(rule.change), rule.rule))
