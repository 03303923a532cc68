"""Watching scored rows over time: windows, the charts of every stream, and the alarms they raise.

A stream is one agent (or agent and database) in one measure. Its values are those of distinct questions in a
window: a question that is asked again on the same day is no second witness.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from typing import Any

import numpy as np
import pyarrow as pa

from spider_compose.errors import OptionError, SpiderComposeError, choose
from spider_compose.stef.monitoring.control_chart import Change, Chart, Moments, limit_for
from spider_compose.stef.monitoring.measures import Codes
from spider_compose.stef.monitoring.watched_rows import GROUPINGS, WATCHED, Rows

# Length of a window, and what moves the first Monday after 1970-01-01 to a multiple of it; UTC.
_HOUR = 3_600_000_000
WINDOWS = {"hour": (_HOUR, 0), "day": (24 * _HOUR, 0), "week": (7 * 24 * _HOUR, 3 * 24 * _HOUR)}
_YEAR = 365.25 * 24 * _HOUR

# Windows of a stream that the state keeps for display.
MOST_WINDOWS = 400


@dataclass(frozen=True)
class Settings:
    """How to watch. What changes windows or scores must stay as it is while a state lives.

    Attributes:
        by: what makes a stream: "agent", "database" or both; none for all rows together.
        every: "hour", "day" or "week".
        learn: windows that a chart takes in before it tests any.
        least_questions: a window with fewer waits for the next.
        late_days: how long after its window closed a row is still taken, into the next window.
        grace_hours: how long after its end a window closes.
        false_alarms: a year at most, on average, over all charts together.
        smallest: the least change, in points, to raise an alarm for.
    """

    by: tuple[str, ...] = ("agent",)
    every: str = "day"
    learn: int = 7
    least_questions: int = 10
    late_days: float = 14.0
    grace_hours: float = 3.0
    false_alarms: float = 1.0
    smallest: float = 1.0

    def __post_init__(self) -> None:
        choose("every", self.every, WINDOWS)
        for name in self.by:
            choose("by", name, GROUPINGS)
        for name, least in (("learn", 1), ("least_questions", 1), ("late_days", 0), ("grace_hours", 0)):
            if not getattr(self, name) >= least:
                raise OptionError(f"`{name}` must be at least {least}, but got {getattr(self, name)}")
        for name, most in (("late_days", 36_500), ("grace_hours", 876_000)):  # a hundred years
            if getattr(self, name) > most:
                raise OptionError(f"`{name}` must be at most {most:,}, but got {getattr(self, name)}")
        if not 0 < self.false_alarms <= 1000:
            raise OptionError(
                f"`false_alarms` must be above 0 and at most 1000 a year, but got {self.false_alarms}"
            )
        if not self.smallest >= 0:
            raise OptionError(f"`smallest` must be points of at least 0, but got {self.smallest}")

    @property
    def fixed(self) -> dict[str, Any]:
        """What a state depends on."""
        return {name: getattr(self, name) for name in ("by", "every", "learn", "least_questions")}


@dataclass
class Window:
    """A closed window of a stream, for display.

    Attributes:
        start: its first moment, as ISO 8601 (the day alone for days and weeks).
        rows: rows in it, with late ones from before.
        questions: distinct questions among them.
        late: rows that came after their own window had closed.
        values: mean of each measure over the rows; None where none has a value.
    """

    start: str
    rows: int
    questions: int
    late: int
    values: dict[str, float | None]


@dataclass
class Alarm:
    """A change that was found.

    Attributes:
        id: the same for the same change, whenever it is told.
        stream: agent and database, as far as they are watched apart.
        measure: one of `WATCHED`.
        direction: "worse" or "better".
        since: window in which it began, as far as the chart can tell.
        detected: window in which it was found.
        before: mean before, by distinct question, in points.
        after: mean since.
        size: after - before.
        questions: distinct questions by window: before, and since.
        height: of the CUSUM, and `limit` what it passed.
        limit: see `height`.
        told: whether it was printed and delivered.
    """

    id: str
    stream: dict[str, str]
    measure: str
    direction: str
    since: str
    detected: str
    before: float
    after: float
    size: float
    questions: tuple[int, int]
    height: float
    limit: float
    told: bool = False


@dataclass
class Stream:
    """What is known of one agent (or agent and database).

    Attributes:
        closed: microseconds since 1970 up to which windows are closed; None before the first.
        charts: per measure.
        waiting: per measure the values of windows too small to test, and `waiting_since` their first window.
        seen: per closed window that late rows may still belong to, the questions counted in it.
        windows: the last ones.
    """

    closed: int | None = None
    charts: dict[str, Chart] = field(default_factory=lambda: {name: Chart() for name in WATCHED})
    waiting: dict[str, Moments] = field(default_factory=dict)
    waiting_since: dict[str, str] = field(default_factory=dict)
    seen: dict[int, list[int]] = field(default_factory=dict)
    windows: list[Window] = field(default_factory=list)


@dataclass
class Watch:
    """Everything that is watched: what a state file holds.

    Attributes:
        streams: by the values of `Settings.by`.
        alarms: all, oldest first.
        scored_under: signature of the scores.
        quiet_until: microseconds; changes found before are history, known from an earlier state.
        source: the folder or file of the scores.
    """

    streams: dict[tuple[str, ...], Stream] = field(default_factory=dict)
    alarms: list[Alarm] = field(default_factory=list)
    scored_under: str = ""
    quiet_until: int = 0
    source: str = ""


def advance(watch: Watch, rows: Rows, now: datetime, settings: Settings) -> list[Alarm]:
    """Close every window that is over, and raise the alarms that are due.

    Args:
        watch: what is known; changed in place.
        rows: all rows from the earliest that may be new on (older ones don't matter).
        now: windows that ended `grace_hours` before it are closed.
        settings: as in every earlier call with this watch.

    Returns:
        The new alarms. Running again with the same rows finds none.
    """
    length, offset = WINDOWS[settings.every]
    boundary = _microseconds(now) - int(settings.grace_hours * _HOUR)
    boundary = (boundary + offset) // length * length - offset
    order = np.argsort(rows.stream, kind="stable")
    ends = np.searchsorted(rows.stream[order], np.arange(len(rows.keys) + 1))
    tested = []
    for place, key in sorted(enumerate(rows.keys), key=lambda item: item[1]):
        own = order[ends[place] : ends[place + 1]]
        stream = watch.streams.setdefault(key, Stream())
        tested += [(key, *window) for window in _close(stream, rows, own, boundary, settings)]
    # Charts share the rate: they must be known before any is tested. Windows in their order in time.
    for key, _, measured in tested:
        for measure in measured:
            watch.streams[key].waiting.setdefault(measure, Moments())
    limit = limit_of(watch, settings)
    found = []
    for key, start, measured in sorted(tested, key=lambda item: (item[1], item[0])):
        found += list(_test(watch, key, start, measured, limit, settings))
    watch.alarms += found
    return [alarm for alarm in found if not alarm.told]


def check_clock(watch: Watch, now: datetime, settings: Settings) -> None:
    """Refuse a time long before windows that are closed: nothing would be watched until it comes.

    Raises:
        SpiderComposeError: by more than a window, which no clock that is set right goes back.
    """
    every = [stream.closed for stream in watch.streams.values() if stream.closed is not None]
    if every and (closed := max(every)) > _microseconds(now) + WINDOWS[settings.every][0]:
        raise SpiderComposeError(
            f"the state has closed windows up to {_name(closed, settings.every)}, but it is {now.date()}: "
            "the clock is wrong, or was at an earlier run. Set it right, or delete the state to begin anew"
        )


def charts_of(watch: Watch) -> int:
    """CUSUMs that share the rate of false alarms: two for each measure that a stream has values of."""
    return 2 * sum(len(stream.waiting) for stream in watch.streams.values())


def limit_of(watch: Watch, settings: Settings) -> float:
    """What each CUSUM must pass, so that all together give `false_alarms` a year at most."""
    windows = _YEAR / WINDOWS[settings.every][0]
    return limit_for(max(charts_of(watch), 2) * windows / settings.false_alarms)


def earliest_needed(watch: Watch, settings: Settings) -> datetime | None:
    """The time from which on `advance` must be given the rows; None for all."""
    closed = [stream.closed for stream in watch.streams.values()]
    if not closed or None in closed:
        return None
    first = min(value for value in closed if value is not None)
    try:
        return _EPOCH + timedelta(microseconds=first - int(settings.late_days * 24 * _HOUR))
    except OverflowError:  # before the year 1
        return None


def _close(
    stream: Stream, rows: Rows, own: Codes, boundary: int, settings: Settings
) -> Iterator[tuple[int, dict[str, Moments]]]:
    """(start, values by measure) of every window of one stream that has just closed."""
    length, offset = WINDOWS[settings.every]
    start = (rows.time[own] + offset) // length * length - offset
    own, start = own[start < boundary], start[start < boundary]
    if stream.closed is not None:
        horizon = stream.closed - int(settings.late_days * 24 * _HOUR)
        new = (start >= stream.closed) | _unseen(stream, rows, own, start, horizon)
        own, start = own[new], start[new]
    late = start < (stream.closed if stream.closed is not None else start.min(initial=0))
    if stream.closed is not None and boundary <= stream.closed:
        return
    counted_in = np.where(late, stream.closed or 0, start)
    if stream.closed is None and not len(own):
        return
    stream.closed = boundary
    _remember(stream, rows, own, start, boundary - int(settings.late_days * 24 * _HOUR))
    for first in np.unique(counted_in).tolist():
        here = counted_in == first
        which = own[here]
        stream.windows.append(_shown(rows, which, int(late[here].sum()), _name(first, settings.every)))
        yield first, _moments(rows, which)
    del stream.windows[:-MOST_WINDOWS]


def _unseen(stream: Stream, rows: Rows, own: Codes, start: Codes, horizon: int) -> Any:
    """Rows of closed windows whose question was not counted there."""
    unseen = np.zeros(len(own), bool)
    assert stream.closed is not None
    for window in np.unique(start[(start < stream.closed) & (start >= horizon)]).tolist():
        here = np.flatnonzero(start == window)
        counted = np.array(stream.seen.get(window, []), np.uint64)
        unseen[here] = ~np.isin(_hashes(rows, rows.question[own[here]]), counted)
    return unseen


def _remember(stream: Stream, rows: Rows, own: Codes, start: Codes, horizon: int) -> None:
    """Note the questions of windows that late rows may still come for."""
    for window in np.unique(start[start >= horizon]).tolist():
        hashes = _hashes(rows, rows.question[own[start == window]]).tolist()
        stream.seen[window] = sorted({*stream.seen.get(window, []), *hashes})
    for window in [window for window in stream.seen if window < horizon]:
        del stream.seen[window]


def _hashes(rows: Rows, questions: Codes) -> Any:
    """64 bits of every question's text, the same in every run."""
    present, places = np.unique(questions, return_inverse=True)
    texts = rows.questions.take(pa.array(present)).to_pylist()
    digests = [hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).digest() for text in texts]
    return np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64)[places.reshape(-1)]


def _shown(rows: Rows, which: Codes, late: int, name: str) -> Window:
    means: dict[str, float | None] = {}
    for place, measure in enumerate(WATCHED):
        own = rows.values[which, place]
        own = own[~np.isnan(own)]
        means[measure] = round(float(own.mean()), 4) if len(own) else None
    return Window(name, len(which), len(np.unique(rows.question[which])), late, means)


def _moments(rows: Rows, which: Codes) -> dict[str, Moments]:
    """Per measure the values of distinct questions; measures without any are left out."""
    found = {}
    for place, measure in enumerate(WATCHED):
        own = rows.values[which, place]
        there = ~np.isnan(own)
        if not there.any():
            continue
        _, questions = np.unique(rows.question[which][there], return_inverse=True)
        total = np.bincount(questions.reshape(-1), weights=100.0 - own[there])
        loss = np.round(total / np.bincount(questions.reshape(-1)), 2)
        if measure == "coverage":
            loss = np.where(loss > 0, 100.0, 0.0)  # a question that failed once has failed
        powers = (float((loss**power).sum()) for power in (1, 2, 3))
        found[measure] = Moments(len(loss), int((loss > 0).sum()), *powers)
    return found


def _test(
    watch: Watch,
    key: tuple[str, ...],
    start: int,
    measured: dict[str, Moments],
    limit: float,
    settings: Settings,
) -> Iterator[Alarm]:
    """Give a window to the charts, with those that were too small to be tested alone."""
    stream, name = watch.streams[key], _name(start, settings.every)
    for measure, window in measured.items():
        waiting = stream.waiting[measure].plus(window)
        since = stream.waiting_since.pop(measure, name)
        if waiting.n < settings.least_questions:
            stream.waiting[measure], stream.waiting_since[measure] = waiting, since
            continue
        stream.waiting[measure] = Moments()
        change = stream.charts[measure].add(since, waiting, limit, settings.learn, settings.smallest)
        if change:
            alarm = _alarm(change, dict(zip(settings.by, key, strict=True)), measure, name, limit)
            alarm.told = start < watch.quiet_until
            yield alarm


def _alarm(change: Change, stream: dict[str, str], measure: str, detected: str, limit: float) -> Alarm:
    what = "\x1f".join([*(f"{k}={v}" for k, v in stream.items()), measure, change.direction, detected])
    return Alarm(
        id=hashlib.blake2b(what.encode("utf-8", "replace"), digest_size=8).hexdigest(),
        stream=stream,
        measure=measure,
        direction=change.direction,
        since=change.since,
        detected=detected,
        before=round(change.before.mean, 4),
        after=round(change.after.mean, 4),
        size=round(change.size, 4),
        questions=(int(change.before.n), int(change.after.n)),
        height=round(change.height, 4),
        limit=round(limit, 4),
    )


_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def _microseconds(moment: datetime) -> int:
    return (moment - _EPOCH) // timedelta(microseconds=1)


def _name(start: int, every: str) -> str:
    """A window as people call it."""
    moment = _EPOCH + timedelta(microseconds=start)
    # Not by `strftime`, which leaves out the zeros of the year 0001: many a logger's zero time.
    return f"{moment.date()}T{moment.hour:02}:00Z" if every == "hour" else str(moment.date())
