"""Watching over time: windows, late rows, small windows, many streams, and a state between runs."""

from __future__ import annotations

import copy
import functools
import json
import math
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta, timezone
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from spider_compose.errors import OptionError, SpiderComposeError
from spider_compose.stef.cli import monitor
from spider_compose.stef.monitoring import drift, watch_state
from spider_compose.stef.monitoring.drift import Alarm, Settings, Stream, Watch, advance
from spider_compose.stef.monitoring.notify import prometheus_text
from spider_compose.stef.monitoring.scored import SCHEMA
from spider_compose.stef.monitoring.watched_rows import read_rows

FIRST = datetime(2026, 7, 1, tzinfo=timezone.utc)
Rows = list[dict[str, Any]]


def log(
    days: int = 40, falls: int | None = None, agent: str = "B", per_day: int = 25, seed: int = 1, **more: Any
) -> Rows:
    """Rows of one agent; from day `falls` on its scores are about 25 points lower."""
    generator = np.random.default_rng(seed)
    rows = []
    for day in range(days):
        for number in range(per_day):
            low = falls is not None and day >= falls
            score = float(
                generator.choice([20, 60, 80, 100], p=[0.5, 0.2, 0.2, 0.1] if low else [0.1, 0.2, 0.3, 0.4])
            )
            rows.append(
                {
                    "key": f"{agent}{day}-{number}",
                    "time": FIRST + timedelta(days=day, seconds=int(generator.integers(86_400))),
                    "agent": agent,
                    "question": f"question {day} {number}",
                    "score": score,
                    **more,
                }
            )
    return rows


def table(rows: Sequence[dict[str, Any]]) -> pa.Table:
    empty = {field.name: None if field.nullable else "" for field in SCHEMA}
    return pa.Table.from_pylist([{**empty, **row} for row in rows], schema=SCHEMA)


def day(number: float) -> datetime:
    return FIRST + timedelta(days=number, hours=4)


def watched(watch: Watch, rows: Rows, now: datetime, settings: Settings | None = None) -> list[Alarm]:
    settings = settings or Settings()
    return advance(watch, read_rows(table(rows), settings.by), now, settings)


def told(alarms: Sequence[Alarm]) -> list[tuple[str, str, str]]:
    return [(alarm.stream.get("agent", ""), alarm.measure, alarm.direction) for alarm in alarms]


def test_a_fall_is_found_once() -> None:
    watch, rows = Watch(), log(falls=25)
    (alarm,) = watched(watch, rows, day(40))
    assert told([alarm]) == [("B", "score", "worse")]
    assert "2026-07-25" <= alarm.since <= "2026-07-27" and alarm.since <= alarm.detected <= "2026-07-30"
    assert alarm.size == pytest.approx(-29, abs=8) and alarm.after == pytest.approx(alarm.before + alarm.size)
    assert watched(watch, rows, day(40)) == [] and watched(watch, rows, day(41)) == []


@pytest.mark.parametrize("step", [1, 3, 7])
def test_runs_from_cron_find_what_one_run_finds(step: float, tmp_path: Path) -> None:
    """Day by day, with the state written and read between, and only the rows there are by then."""
    rows = log(falls=25) + log(agent="A", seed=2, enrichment_quality=1.0)
    at_once = Watch()
    expected = watched(at_once, rows, day(40))
    path, settings, found = tmp_path / "state.json", Settings(), []
    now = 1.0
    while now <= 40:
        watch = watch_state.load(path, settings)
        since = drift.earliest_needed(watch, settings)
        there = [row for row in rows if row["time"] < day(now) and (since is None or row["time"] >= since)]
        if there:
            found += watched(watch, there, day(now), settings)
        watch_state.save(path, watch, settings)
        now += step
    watch = watch_state.load(path, settings)
    if step == 7:  # the last run sees day 36
        assert told(found) == told(expected)
        return
    # Measures that come up only later move the limit, and so the height that is told.
    assert [(a.id, a.since, a.size) for a in found] == [(a.id, a.since, a.size) for a in expected]
    assert watch.streams == at_once.streams


def test_order_of_rows_does_not_matter() -> None:
    rows = log(falls=25)
    one, two = Watch(), Watch()
    watched(one, rows, day(40))
    watched(two, [rows[n] for n in np.random.default_rng(0).permutation(len(rows))], day(40))
    assert one == two


def test_a_late_row_counts_once_in_the_window_that_closes_next() -> None:
    rows, watch = log(days=12), Watch()
    late = [row for row in rows if row["time"].day == 8][:9]
    on_time = [row for row in rows if row not in late]
    watched(watch, [row for row in on_time if row["time"] < day(10)], day(10))
    watched(watch, rows, day(11))
    watched(watch, rows, day(12))
    (stream,) = watch.streams.values()
    assert [(w.start[-2:], w.rows, w.late) for w in stream.windows][7:] == [
        ("08", 16, 0),
        ("09", 25, 0),
        ("10", 25, 0),
        ("11", 34, 9),
        ("12", 25, 0),
    ]
    assert sum(window.rows for window in stream.windows) == len(rows)


def test_a_whole_day_that_comes_late_is_not_forgotten() -> None:
    rows, watch = log(falls=25, per_day=60), Watch()
    held_back = [row for row in rows if day(25 - 0.2) <= row["time"] < day(28 - 0.2)]
    watched(watch, [row for row in rows if row not in held_back and row["time"] < day(28)], day(28))
    assert watch.alarms == []
    (alarm,) = watched(watch, [row for row in rows if row["time"] < day(29)], day(29))
    assert alarm.direction == "worse" and alarm.detected == "2026-07-29"


def test_rows_later_than_the_limit_are_left_to_the_report() -> None:
    rows, watch, settings = log(days=30), Watch(), Settings(late_days=5)
    late = [row for row in rows if row["time"] < day(9)]
    watched(watch, [row for row in rows if row not in late and row["time"] < day(20)], day(20), settings)
    since = drift.earliest_needed(watch, settings)
    assert since is not None and day(14) < since < day(16)
    watched(watch, rows, day(30), settings)
    (stream,) = watch.streams.values()
    assert sum(window.rows for window in stream.windows) == len(rows) - len(late)


def test_a_question_that_is_repeated_is_one_witness() -> None:
    rows = log(days=20)
    again = [{**rows[-1], "key": f"again{n}", "score": 0.0} for n in range(500)]
    watch = Watch()
    assert watched(watch, rows + again, day(21)) == []
    (stream,) = watch.streams.values()
    assert (stream.windows[-1].rows, stream.windows[-1].questions) == (525, 25)


def test_a_question_that_failed_once_that_day_has_failed() -> None:
    """Coverage is of whole questions, so that their number can be tested exactly."""
    rows = log(days=2, per_day=20)
    again = [{**row, "key": row["key"] + "again", "score": None} for row in rows[:5]]
    watch = Watch()
    watched(watch, rows + again, day(3))
    (stream,) = watch.streams.values()
    assert stream.charts["coverage"].seen[:4] == (40, 5, 500, 50_000)
    assert stream.charts["score"].seen.n == 40


def test_days_with_few_questions_wait_for_more() -> None:
    watch = Watch()
    alarms = watched(watch, log(days=120, falls=80, per_day=3), day(121), Settings(learn=3))
    assert told(alarms) == [("B", "score", "worse")] and "2026-09-19" <= alarms[0].detected <= "2026-10-05"
    (stream,) = watch.streams.values()
    assert stream.charts["score"].windows < 15 and len(stream.windows) == 120


def test_coverage_and_enrichment_are_watched_apart() -> None:
    rows = log(days=30, enrichment_quality=1.0)
    for number, row in enumerate(rows):
        if row["time"] >= day(20 - 0.2) and number % 3 == 0:
            row["score"] = None
        if row["time"] >= day(22 - 0.2) and number % 2 == 0:
            row["enrichment_quality"] = 0.6
    alarms = watched(Watch(), rows, day(31))
    assert told(alarms) == [("B", "coverage", "worse"), ("B", "enrichment_quality", "worse")]
    assert alarms[0].since == "2026-07-21" and alarms[1].since == "2026-07-23"


def test_more_streams_raise_the_limit() -> None:
    """The rate holds for everything together, so that each chart gets its share of it."""
    watch, one = Watch(), Watch()
    watched(one, log(days=10), day(10))
    watched(watch, [row for name in "ABCDEF" for row in log(days=10, agent=name)], day(10))
    assert (drift.charts_of(one), drift.charts_of(watch)) == (4, 24)  # score and coverage, two sides each
    lower, higher = (drift.limit_of(each, Settings()) for each in (one, watch))
    assert lower < higher < lower + 2
    assert drift.limit_of(watch, Settings(false_alarms=6)) == pytest.approx(lower)


@pytest.mark.parametrize(
    ("by", "keys"),
    [
        ((), [()]),
        (("database",), [("x",), ("y",)]),
        (("agent", "database"), [("A", "x"), ("A", "y"), ("B", "x")]),
    ],
    ids=["all", "database", "both"],
)
def test_streams(by: tuple[str, ...], keys: list[tuple[str, ...]]) -> None:
    rows = (
        log(days=2, agent="A", database="x")
        + log(days=2, agent="A", database="y")
        + log(days=2, database="x")
    )
    watch = Watch()
    watched(watch, rows, day(3), Settings(by=by))
    assert sorted(watch.streams) == keys


def test_a_new_agent_is_learnt_from_its_first_day() -> None:
    rows, watch = log(days=30), Watch()
    watched(watch, rows, day(20))
    watched(watch, rows + log(days=30, agent="new"), day(30))
    assert watch.streams[("new",)].charts["score"].windows == 30


@pytest.mark.parametrize(
    ("every", "starts"),
    [
        ("hour", ["2026-07-01T00:00Z", "2026-07-01T01:00Z"]),
        ("day", ["2026-07-01", "2026-07-02"]),
        ("week", ["2026-06-29", "2026-07-06"]),
    ],
    ids=["hour", "day", "week"],
)
def test_windows(every: str, starts: list[str]) -> None:
    watch = Watch()
    watched(watch, log(days=14, per_day=400), day(15), Settings(every=every))
    (stream,) = watch.streams.values()
    assert [window.start for window in stream.windows[:2]] == starts


def test_a_window_closes_after_its_grace() -> None:
    rows = log(days=2)
    for hours, closed in ((2.9, 1), (3.1, 2)):
        watch = Watch()
        watched(watch, rows, FIRST + timedelta(days=2, hours=hours))
        assert len(watch.streams[("B",)].windows) == closed


def test_rows_without_time_or_question() -> None:
    rows = log(days=3)
    rows[0]["time"] = None
    for row in rows:
        row["question"] = ""
    found = read_rows(table(rows), ("agent",))
    assert found.without_time == 1 and len(found.time) == 74
    assert len(np.unique(found.question)) == 74, "told apart by their keys"


def test_no_rows_are_no_fault() -> None:
    watch = Watch()
    assert watched(watch, [], day(3)) == [] and watch.streams == {}


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"every": "dya"}, "Did you mean 'day'"),
        ({"by": ("agents",)}, "Did you mean 'agent'"),
        ({"learn": 0}, "at least 1"),
        ({"false_alarms": 0}, "above 0"),
        ({"false_alarms": float("nan")}, "above 0"),
        ({"smallest": -1}, "at least 0"),
        ({"late_days": float("inf")}, "at most 36,500"),
        ({"late_days": float("nan")}, "at least 0"),
        ({"grace_hours": 1e300}, "at most 876,000"),
    ],
    ids=str,
)
def test_settings_are_checked(options: dict[str, Any], says: str) -> None:
    with pytest.raises(OptionError, match=says):
        Settings(**options)


# --- the state ---------------------------------------------------------------------------------------------


def test_state_comes_back_as_it_was(tmp_path: Path) -> None:
    watch, settings, path = Watch(scored_under="x"), Settings(), tmp_path / "state.json"
    watched(watch, log(falls=25, enrichment_quality=0.9) + log(agent='A"\n'), day(40))
    watch_state.save(path, watch, settings)
    assert watch_state.load(path, settings) == watch
    first = path.read_bytes()
    watch_state.save(path, watch, settings)
    assert path.read_bytes() == first and [p.name for p in tmp_path.iterdir()] == ["state.json"]


BROKEN: list[tuple[Callable[[str], str], str]] = [
    (lambda text: text[:100], "cannot read the state"),
    (lambda text: text.replace("stef monitor 1", "stef monitor 9"), "stef monitor 9"),
    (lambda _: "[]", "delete it to begin anew"),
    (lambda text: text.replace('"every": "day"', '"every": "week"'), "was made with"),
    (lambda _: "[" * 100_000, "delete it to begin anew"),
    (lambda text: text.replace('"quiet_until": 0', '"quiet_until": "later"'), "delete it to begin anew"),
    (lambda text: text.replace('"quiet_until": 0', '"quiet_until": 1e999'), "delete it to begin anew"),
    (lambda text: text.replace('"closed": 1', f'"closed": {10**19}'), "is no time"),
    (lambda text: text.replace('"streams": [', '"streams": [[],'), "delete it to begin anew"),
]


@pytest.mark.parametrize(
    ("broken", "says"),
    BROKEN,
    ids=["cut", "version", "no state", "settings", "deep", "type", "infinite", "far", "list"],
)
def test_a_state_that_does_not_fit(broken: Callable[[str], str], says: str, tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    watch_state.save(path, Watch({("A",): Stream(closed=10**15)}), Settings())
    path.write_text(broken(path.read_text()))
    with pytest.raises(SpiderComposeError, match=says):
        watch_state.load(path, Settings())


def _places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a JSON document."""
    yield at
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, part in inner:
        yield from _places(part, (*at, name))


def test_a_state_is_whole_or_refused(tmp_path: Path) -> None:
    """Whatever stands in place of a value: it is said at once, or does no harm later."""
    path, used, now = tmp_path / "state.json", Settings(), day(40)
    watch = Watch(scored_under="x")
    watched(watch, log(falls=25, enrichment_quality=0.9), now)
    (stream,) = watch.streams.values()
    stream.windows, stream.seen = stream.windows[-1:], dict(list(stream.seen.items())[:1])
    for chart in stream.charts.values():
        chart.scores = chart.scores[:1]
        chart.better.steps, chart.worse.steps = chart.better.steps[:1], chart.worse.steps[:1]
    watch.alarms = watch.alarms[:1]
    assert watch.alarms
    watch_state.save(path, watch, used)
    document, refused, harmless = json.loads(path.read_text()), 0, 0
    shown: Any = SimpleNamespace(show=7)
    for at in list(_places(document))[1:]:
        for other in (None, "x", -1, math.nan, 10**30, [], {}):
            changed = copy.deepcopy(document)
            place = functools.reduce(lambda inside, name: inside[name], at[:-1], changed)
            place[at[-1]] = other
            path.write_text(json.dumps(changed))
            try:
                found = watch_state.load(path, used)
            except SpiderComposeError:
                refused += 1
                continue
            drift.check_clock(found, datetime(9999, 1, 1, tzinfo=timezone.utc), used)
            drift.earliest_needed(found, used)
            told = json.dumps(monitor._document(shown, found, used, found.alarms, []), allow_nan=False)
            assert told and prometheus_text(found, used, now) and list(monitor._text(shown, found, used, []))
            watch_state.save(tmp_path / "again.json", found, used)
            harmless += 1
    assert refused > harmless > 0


def test_what_only_moves_the_limit_may_change(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    watch_state.save(path, Watch(), Settings())
    assert watch_state.load(path, Settings(false_alarms=5, smallest=3, grace_hours=1)) == Watch()


def test_a_write_that_fails_leaves_the_old_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "state.json"
    watch_state.save(path, Watch(), Settings())
    before = path.read_bytes()

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(SpiderComposeError, match="No space left"):
        watch_state.save(path, Watch(scored_under="other"), Settings())
    assert path.read_bytes() == before and len(list(tmp_path.iterdir())) == 1
    assert json.loads(before)["format"] == watch_state.FORMAT


def test_one_run_at_a_time(tmp_path: Path) -> None:
    pytest.importorskip("fcntl")
    path = tmp_path / "state.json"
    with (
        watch_state.locked(path),
        pytest.raises(SpiderComposeError, match="another `stef monitor`"),
        watch_state.locked(path),
    ):
        pass
    with watch_state.locked(path):
        pass


@pytest.mark.parametrize(("every", "start"), [("day", "0001-01-01"), ("hour", "0001-01-01T00:00Z")])
def test_the_zero_time_has_its_window(every: str, start: str) -> None:
    rows = log(days=1)
    rows[0]["time"] = datetime(1, 1, 1, tzinfo=timezone.utc)
    watch = Watch()
    watched(watch, rows, day(2), Settings(every=every))
    assert watch.streams[("B",)].windows[0].start == start
