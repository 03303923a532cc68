"""Figures of groups against plain Python over the same rows."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from spider_compose.errors import OptionError
from spider_compose.stef.monitoring.aggregate import lost_points, series, summarize
from spider_compose.stef.monitoring.scored import SCHEMA

Rows = list[dict[str, Any]]


def by_hand(rows: Rows) -> dict[str, Any]:
    scores = [row["score"] for row in rows if row["score"] is not None]
    qualities = [row["enrichment_quality"] for row in rows if row["enrichment_quality"] is not None]
    return {
        "rows": len(rows),
        "scored": len(scores),
        "coverage": len(scores) / len(rows),
        "mean": statistics.mean(scores),
        "mean_unscored_as_0": sum(scores) / len(rows),
        "p50": np.percentile(scores, 50),
        "p90": np.percentile(scores, 90),
        "deviation": statistics.stdev(scores),
        "p_correct": statistics.mean(row["p_correct"] for row in rows if row["p_correct"] is not None),
        "enriched": len(qualities),
        "enrichment_quality": statistics.mean(qualities),
        "enrichment_lost": sum(bool(row["enrichment_lost"]) for row in rows),
    }


@pytest.mark.parametrize("by", [(), ("agent",), ("agent", "database")], ids=str)
def test_summaries_are_those_of_the_rows(
    scored_rows: Callable[..., Rows], scored_table: Callable[..., pa.Table], by: tuple[str, ...]
) -> None:
    groups: dict[tuple[str, ...], Rows] = {}
    for row in scored_rows():
        groups.setdefault(tuple(row[name] for name in by), []).append(row)
    found = summarize(scored_table(), by=by)
    assert [tuple(one[name] for name in by) for one in found] == sorted(groups)
    for one in found:
        rows = groups[tuple(one[name] for name in by)]
        expected = by_hand(rows)
        assert {name: one[name] for name in expected} == pytest.approx(expected, abs=1e-4)
        for name, column in (("bands", "band"), ("filter_states", "filter_status"), ("verdicts", "verdict")):
            assert one[name] == {value: Counter(row[column] for row in rows)[value] for value in one[name]}
            assert sum(one[name].values()) == one["scored"]
        assert one["unscored"] == dict(Counter(row["unscored"] for row in rows if row["unscored"]))


def test_shares_are_in_the_order_of_their_worth(scored_table: Callable[..., pa.Table]) -> None:
    one = summarize(scored_table(), by=())[0]
    assert list(one["bands"]) == ["excellent", "good", "marginal", "poor"]
    assert next(iter(one["verdicts"])) == "correct"


def _at(*times: datetime | None) -> pa.Table:
    empty: dict[str, Any] = {field.name: [] if pa.types.is_list(field.type) else None for field in SCHEMA}
    texts = {field.name: "" for field in SCHEMA if not field.nullable}
    rows = [{**empty, **texts, "time": time, "score": 50.0 + place} for place, time in enumerate(times)]
    return pa.Table.from_pylist(rows, schema=SCHEMA)


SUNDAY = datetime(2026, 8, 2, 23, 59, 59, tzinfo=timezone.utc)


@pytest.mark.parametrize(
    ("every", "starts"),
    [
        ("hour", ["2026-08-02T23", "2026-08-03T00"]),
        ("day", ["2026-08-02T00", "2026-08-03T00"]),
        ("week", ["2026-07-27T00", "2026-08-03T00"]),  # weeks begin on Monday
        ("month", ["2026-08-01T00"]),
    ],
)
def test_steps_of_time_begin_in_utc(every: str, starts: list[str]) -> None:
    found = series(_at(SUNDAY, SUNDAY + timedelta(seconds=2), None), every=every)
    assert [one["start"] and one["start"].isoformat()[:13] for one in found] == [*starts, None]
    assert found[0]["start"].tzinfo == timezone.utc
    assert sum(one["rows"] for one in found) == 3, "a row without a time is not lost"
    assert found[-1]["mean"] == 52.0


def test_unknown_steps_are_refused() -> None:
    with pytest.raises(OptionError, match="Did you mean 'day'"):
        series(_at(SUNDAY), every="days")


@pytest.mark.parametrize(("by", "groups"), [((), 1), (("agent",), 0)], ids=["all rows", "by agent"])
def test_no_rows(by: tuple[str, ...], groups: int) -> None:
    found = summarize(_at(), by=by)
    assert len(found) == groups
    assert all(one["rows"] == 0 and one["mean"] is one["coverage"] is one["p90"] is None for one in found)
    assert lost_points(_at(), by=by) == []


def test_one_row_has_no_deviation() -> None:
    assert summarize(_at(SUNDAY))[0]["deviation"] is None


def test_lost_points_add_up_to_what_the_mean_lacks(scored_table: Callable[..., pa.Table]) -> None:
    table = scored_table()
    lost = lost_points(table)
    for one in summarize(table):
        own = [rule for rule in lost if rule["agent"] == one["agent"]]
        assert sum(rule["points_per_row"] for rule in own) == pytest.approx(100 - one["mean"], abs=1e-3)


def test_a_rule_counts_a_row_once(
    scored_rows: Callable[..., Rows], scored_table: Callable[..., pa.Table]
) -> None:
    rows = scored_rows()
    for one in lost_points(scored_table(), by=("agent", "database")):
        own = [
            [reason["points"] for reason in row["reasons"] if reason["rule"] == one["rule"]]
            for row in rows
            if (row["agent"], row["database"]) == (one["agent"], one["database"])
        ]
        assert one["rows"] == sum(bool(points) for points in own)
        assert one["points"] == pytest.approx(sum(map(sum, own)), abs=1e-3)
