"""What a scored log says of its agents: figures, what points were lost for, and queries to look at."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from spider_compose.errors import OptionError, SpiderComposeError
from spider_compose.stef.monitoring import worst as looks
from spider_compose.stef.monitoring.aggregate import SUMMARY_COLUMNS, lost_points, series, summarize
from spider_compose.stef.monitoring.cube import Cube
from spider_compose.stef.monitoring.scored import (
    IDENTITY,
    Snapshot,
    duplicates,
    of_one_signature,
    read_scores,
    snapshot,
)

FORMAT = "stef report 1"
WORST = 250
# Rows whose texts are in memory at once, as far as days allow.
_SLICE = 100_000


@dataclass(frozen=True)
class Report:
    """A report.

    Attributes:
        source: the scored folder or file.
        signatures: of the scores; more than one only where they were to be mixed.
        duplicates: rows that stood there twice and count once.
        first, last: times of the first and the last row; None without times.
        total: the figures of all rows.
        agents: the figures by agent.
        databases: the figures by agent and database.
        days: the figures by agent and day.
        rules: what each rule cost each agent.
        worst: queries to look at, worst first.
        unscored: rows without a score, some of each agent and reason.
        cube: counts for the page.
    """

    source: str
    signatures: tuple[str, ...]
    duplicates: int
    first: datetime | None
    last: datetime | None
    total: dict[str, Any]
    agents: tuple[dict[str, Any], ...]
    databases: tuple[dict[str, Any], ...]
    days: tuple[dict[str, Any], ...]
    rules: tuple[dict[str, Any], ...]
    worst: tuple[dict[str, Any], ...]
    unscored: tuple[dict[str, Any], ...]
    cube: Cube

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON values; times as ISO 8601."""
        days = [{**day, "start": day["start"] and day["start"].date().isoformat()} for day in self.days]
        return {
            "format": FORMAT,
            "source": self.source,
            "signatures": list(self.signatures),
            "duplicates": self.duplicates,
            "first": self.first and self.first.isoformat().replace("+00:00", "Z"),
            "last": self.last and self.last.isoformat().replace("+00:00", "Z"),
            "total": self.total,
            "agents": list(self.agents),
            "databases": list(self.databases),
            "days": days,
            "rules": list(self.rules),
            "worst": list(self.worst),
            "unscored": list(self.unscored),
        }


def build_report(
    source: str | Path,
    agents: Sequence[str] | None = None,
    databases: Sequence[str] | None = None,
    since: str | date | None = None,
    until: str | date | None = None,
    signature: str | None = None,
    mixed: bool = False,
    worst: int = WORST,
) -> Report:
    """Read the scores and add them up.

    Texts are read in slices of some days, so that memory does not grow with them.

    Args:
        source, agents, databases, since, until: as in `read_scores`.
        signature, mixed: as in `of_one_signature`.
        worst: how many queries to show.

    Raises:
        OptionError: an option is outside its range.
        SpiderComposeError: there is nothing to read.
    """
    if worst < 0:
        raise OptionError(f"`worst` must be at least 0, but got {worst}")
    where: dict[str, Any] = {"agents": agents, "databases": databases}
    columns = [*SUMMARY_COLUMNS, *IDENTITY, "database"]
    found = snapshot(source)
    read = read_scores(found, columns, since=since, until=until, **where)
    twice = duplicates(read)
    table = of_one_signature(read, signature, mixed)
    if not table.num_rows:
        raise SpiderComposeError(f"expected scored rows in {source}, but none is left by what was asked for")
    there = sorted(pc.unique(table["signature"]).to_pylist())  # "" in files that do not say
    cube = Cube.count(table)
    chosen = looks.identities(table, looks.choose_worst(table, worst))
    unscored = looks.identities(table, looks.choose_unscored(table))
    lost = _Lost()
    texts: dict[tuple[str, ...], dict[str, Any]] = {}
    for part in _slices(found, table, since, until, where):
        part = part.filter(pc.is_in(part["signature"].cast(pa.string()), value_set=pa.array(there)))
        cube.add_rules(part)
        lost.add(part)
        texts |= looks.read_chosen(part, [*chosen, *unscored])
    times = table["time"].drop_null()
    by_agent = summarize(table)
    return Report(
        source=str(source),
        signatures=tuple(filter(None, there)),
        duplicates=twice,
        first=pc.min(times).as_py(),
        last=pc.max(times).as_py(),
        total=summarize(table, by=())[0],
        agents=tuple(by_agent),
        databases=tuple(summarize(table, by=("agent", "database"))),
        days=tuple(series(table)),
        rules=tuple(lost.by_agent({one["agent"]: one["scored"] for one in by_agent})),
        worst=tuple(looks.distinct([texts[one] for one in chosen], worst)),
        unscored=tuple(looks.distinct([texts[one] for one in unscored], len(unscored))),
        cube=cube,
    )


class _Lost:
    """What rules cost, added up over slices."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str], tuple[int, float]] = {}

    def add(self, table: pa.Table) -> None:
        for one in lost_points(table):
            rows, points = self._found.get((one["agent"], one["rule"]), (0, 0.0))
            self._found[one["agent"], one["rule"]] = rows + one["rows"], points + one["points"]

    def by_agent(self, scored: dict[str, int]) -> Iterator[dict[str, Any]]:
        """As `lost_points`, dearest first within an agent."""
        order = sorted(self._found.items(), key=lambda item: (item[0][0], -item[1][1], item[0][1]))
        for (agent, rule), (rows, points) in order:
            yield {
                "agent": agent,
                "rule": rule,
                "rows": rows,
                "points": round(points, 4),
                "points_per_row": round(points / scored[agent], 6) if scored[agent] else None,
            }


def _slices(
    source: Path | Snapshot,
    table: pa.Table,
    since: str | date | None,
    until: str | date | None,
    where: dict[str, Any],
) -> Iterator[pa.Table]:
    """The rows with their texts, some days at a time."""
    columns = list(looks.COLUMNS)
    if isinstance(source, Path):  # read whole whatever is asked of it
        yield read_scores(source, columns, since=since, until=until, **where)
        return
    times = table["time"]
    if times.null_count:
        whole = read_scores(source, columns, **where)
        yield whole.filter(pc.is_null(whole["time"]))
    days = times.drop_null().cast(pa.int64()).to_numpy() // 86_400_000_000
    for first, last in _runs(*np.unique(days, return_counts=True)):
        whole = read_scores(source, columns, since=_day(first), until=_day(last + 1), **where)
        # The first and the last day may have rows outside the times asked for: only known rows count.
        yield _between(whole, times)


def _between(table: pa.Table, times: pa.ChunkedArray) -> pa.Table:
    least, most = pc.min(times), pc.max(times)
    return table.filter(pc.and_(pc.greater_equal(table["time"], least), pc.less_equal(table["time"], most)))


def _runs(days: Iterable[int], counts: Iterable[int]) -> Iterator[tuple[int, int]]:
    """First and last day of runs of days with about `_SLICE` rows."""
    run: list[int] = []
    rows = 0
    for day, count in zip(days, counts, strict=True):
        run.append(int(day))
        rows += int(count)
        if rows >= _SLICE:
            yield run[0], run[-1]
            run, rows = [], 0
    if run:
        yield run[0], run[-1]


def _day(number: int) -> datetime | None:
    """When a day begins; None after the last that there is."""
    try:
        return datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(days=number)
    except OverflowError:
        return None
