"""Figures of scored queries, by agent, by day or by any other column: mean, percentiles, coverage, shares.

Everything here is columns in, figures out, on tables of `scored.SCHEMA`; a group without scored rows has None
where a figure has no value. Percentiles are numpy's, linear between neighbours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timezone
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from spider_compose.errors import choose
from spider_compose.stef.alignment import FILTER_POINTS
from spider_compose.stef.judges.protocol import VERDICT_POINTS
from spider_compose.stef.score import BANDS

# What `summarize` and `series` read, beside the columns they group by.
SUMMARY_COLUMNS = (
    "time", "score", "p_correct", "band", "filter_status", "verdict", "unscored", "enrichment_quality",
    "enrichment_lost", "judge_conflict",
)  # fmt: skip
EVERY = ("hour", "day", "week", "month")  # weeks begin on Monday; all in UTC

# Columns that are counted by their values, in this order, and the name of the counts.
_COUNTED = {
    "bands": ("band", tuple(name for name, _ in BANDS)),
    "filter_states": ("filter_status", tuple(FILTER_POINTS)),
    "verdicts": ("verdict", tuple(VERDICT_POINTS)),
}

Codes = NDArray[np.int64]
Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Groups:
    """Rows by the values of some columns.

    Attributes:
        keys: the values of each group, by column, sorted; None comes last.
        codes: the group of every row, a place in `keys`.
    """

    keys: tuple[dict[str, Any], ...]
    codes: Codes

    def count(self, rows: NDArray[np.bool_] | None = None) -> Codes:
        """Rows per group; only those that are marked, where `rows` is given."""
        codes = self.codes if rows is None else self.codes[rows]
        return np.bincount(codes, minlength=len(self.keys))

    def total(self, values: Numbers) -> Numbers:
        """Sum per group; NaN counts as 0."""
        totals = np.bincount(self.codes, weights=np.nan_to_num(values), minlength=len(self.keys))
        return totals.astype(np.float64)


def summarize(table: pa.Table, by: Sequence[str] = ("agent",)) -> list[dict[str, Any]]:
    """The figures of each group of rows.

    Args:
        table: `SUMMARY_COLUMNS` and those of `by`; others don't matter.
        by: columns to group by; none makes one group of all rows.

    Returns:
        Per group its values of `by` and: `rows`, `scored`; `coverage` (0 to 1); `mean`, `p50`, `p90` and
        `deviation` (of the sample) of the scores, `mean_unscored_as_0`, mean `p_correct`; counts by value in
        `bands`, `filter_states`, `verdicts`, and `unscored` (by reason); `enriched` (rows with an enriched
        question), `enrichment_quality` (their mean, 0 to 1), `enrichment_lost` (rows that lost or changed
        something); `judge_conflicts`.
    """
    groups = group_rows(table, by)
    figures = _figures(table, groups)
    for name, (column, values) in _COUNTED.items():
        for figure, counts in zip(figures, _counts(table[column], groups, values), strict=True):
            figure[name] = counts
    for figure, counts in zip(figures, _counts(table["unscored"], groups), strict=True):
        figure["unscored"] = {reason: count for reason, count in counts.items() if count}
    conflicts = groups.count(_marked(pc.not_equal(table["judge_conflict"], "")))
    for figure, count in zip(figures, conflicts, strict=True):
        figure["judge_conflicts"] = int(count)
    return [{**key, **figure} for key, figure in zip(groups.keys, figures, strict=True)]


def series(table: pa.Table, by: Sequence[str] = ("agent",), every: str = "day") -> list[dict[str, Any]]:
    """The figures of each group over time, without the counts by value.

    Args:
        table: as in `summarize`.
        by: columns to group by.
        every: one of `EVERY`.

    Returns:
        As `summarize`, with `start`, when the hour, day, week or month begins: a datetime in UTC, None for
        rows without a time, which come last in their group. Times without rows are left out.
    """
    groups = group_rows(table, by, choose("every", every, EVERY))
    return [{**key, **figure} for key, figure in zip(groups.keys, _figures(table, groups), strict=True)]


def lost_points(table: pa.Table, by: Sequence[str] = ("agent",)) -> list[dict[str, Any]]:
    """What each rule cost each group.

    Args:
        table: the columns `reasons` and `score` and those of `by`.
        by: columns to group by.

    Returns:
        Per group and rule: rule, rows (that lost points for it), points (all together), and `points_per_row`
        over the scored rows of the group: over all rules these add up to 100 less the mean.
    """
    groups = group_rows(table, by)
    scored = groups.count(_marked(pc.is_valid(table["score"])))
    names, rows, points = lost_by_rule(table, groups)
    return [
        {
            **groups.keys[group],
            "rule": names[rule],
            "rows": int(rows[group, rule]),
            "points": round(float(points[group, rule]), 4),
            "points_per_row": _ratio(points[group, rule], scored[group], 6),
        }
        for group, rule in np.argwhere(rows)
    ]


def lost_by_rule(table: pa.Table, groups: Groups) -> tuple[list[str], Codes, Numbers]:
    """What each rule cost each group, as arrays.

    Returns:
        The rules, and by group and rule the rows that lost points for it, and the points.
    """
    reasons = table["reasons"].combine_chunks()
    row = pc.list_parent_indices(reasons).to_numpy(zero_copy_only=False)
    flat = reasons.flatten()
    rules, names = _encoded(flat.field("rule"))
    shape = (len(groups.keys), len(names))
    lost = np.asarray(flat.field("points").to_numpy(zero_copy_only=False), dtype=np.float64)
    cell = groups.codes[row] * len(names) + rules
    points = np.bincount(cell, weights=lost, minlength=shape[0] * shape[1]).astype(np.float64)
    once = _first(row * max(1, len(names)) + rules)  # a rule may hold several things against a row
    rows = np.bincount(cell[once], minlength=shape[0] * shape[1]).reshape(shape)
    return names, rows, points.reshape(shape)


def group_rows(table: pa.Table, by: Sequence[str], every: str | None = None) -> Groups:
    """Rows by the columns `by`, and within these by time, as `start`."""
    columns = {name: table[name] for name in by}
    if every:
        columns["start"] = pc.floor_temporal(table["time"].cast(pa.timestamp("us")), unit=every)
    codes: Codes = np.zeros(table.num_rows, dtype=np.int64)
    values: list[list[Any]] = []
    for column in columns.values():
        own, found = _encoded(column)
        codes = codes * len(found) + own
        values.append(found)
    present, codes = np.unique(codes, return_inverse=True)
    keys = []
    for code in present.tolist():
        key: dict[str, Any] = {}
        for name, found in reversed(list(zip(columns, values, strict=True))):
            code, place = divmod(code, len(found))
            key[name] = found[place]
        if key.get("start") is not None:
            key["start"] = key["start"].replace(tzinfo=timezone.utc)
        keys.append(dict(reversed(key.items())))
    if not columns and not keys:
        keys = [{}]  # no row at all is a group too, where all rows are one
    return Groups(tuple(keys), codes.reshape(-1))


def _encoded(column: pa.ChunkedArray | pa.Array) -> tuple[Codes, list[Any]]:
    """A code per row, and the values in the order of their codes: sorted, None last."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    found = column.dictionary_encode(null_encoding="encode")
    values = found.dictionary.to_pylist()
    known = [place for place, value in enumerate(values) if value is not None]
    order = sorted(known, key=lambda place: values[place])
    order += [place for place, value in enumerate(values) if value is None]
    rank = np.empty(len(values), dtype=np.int64)
    rank[order] = np.arange(len(values))
    return rank[found.indices.to_numpy(zero_copy_only=False)], [values[place] for place in order]


def _figures(table: pa.Table, groups: Groups) -> list[dict[str, Any]]:
    """What `summarize` and `series` share, one dict per group."""
    score, quality = _numbers(table["score"]), _numbers(table["enrichment_quality"])
    p_correct = _numbers(table["p_correct"])
    rows, scored = groups.count(), groups.count(~np.isnan(score))
    enriched = groups.count(~np.isnan(quality))
    with_p = groups.count(~np.isnan(p_correct))
    lost = groups.count(_marked(pc.greater(pc.list_value_length(table["enrichment_lost"]), 0)))
    totals = groups.total(score)
    qualities, p_corrects = groups.total(quality), groups.total(p_correct)
    # Sorted within each group, NaN at its end: every group is one run.
    ordered = score[np.lexsort((score, groups.codes))]
    starts = np.concatenate(([0], np.cumsum(rows)))
    figures = []
    for place in range(len(groups.keys)):
        own = ordered[starts[place] : starts[place] + scored[place]]
        figures.append(
            {
                "rows": int(rows[place]),
                "scored": int(scored[place]),
                "coverage": _ratio(scored[place], rows[place], 6),
                "mean": _ratio(totals[place], scored[place]),
                "mean_unscored_as_0": _ratio(totals[place], rows[place]),
                "p50": round(float(np.percentile(own, 50)), 4) if len(own) else None,
                "p90": round(float(np.percentile(own, 90)), 4) if len(own) else None,
                "deviation": round(float(np.std(own, ddof=1)), 4) if len(own) > 1 else None,
                "p_correct": _ratio(p_corrects[place], with_p[place], 6),
                "enriched": int(enriched[place]),
                "enrichment_quality": _ratio(qualities[place], enriched[place], 6),
                "enrichment_lost": int(lost[place]),
            }
        )
    return figures


def _counts(column: pa.ChunkedArray, groups: Groups, order: Sequence[str] = ()) -> list[dict[str, int]]:
    """Rows per value, per group: first the values of `order`, then any others there are."""
    codes, values = _encoded(column)
    table = np.bincount(groups.codes * len(values) + codes, minlength=len(groups.keys) * len(values))
    table = table.reshape(len(groups.keys), len(values))
    place = {value: number for number, value in enumerate(values) if value is not None}
    names = [*order, *(value for value in place if value not in order)]
    return [{name: int(row[place[name]]) if name in place else 0 for name in names} for row in table]


def _numbers(column: pa.ChunkedArray) -> Numbers:
    """A column of numbers; NaN where there is none."""
    return np.asarray(column.to_numpy(), dtype=np.float64)


def _marked(column: pa.ChunkedArray) -> NDArray[np.bool_]:
    """A column of truth values; null is false."""
    return np.asarray(pc.fill_null(column, False).to_numpy(), dtype=np.bool_)


def _first(values: Codes) -> Codes:
    """The places where each value comes first."""
    return np.unique(values, return_index=True)[1]


def _ratio(total: float, count: float, digits: int = 4) -> float | None:
    return round(float(total) / float(count), digits) if count else None
