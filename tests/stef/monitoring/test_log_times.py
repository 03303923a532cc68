"""Times as logs write them."""

from __future__ import annotations

from datetime import date, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spider_compose.errors import OptionError
from spider_compose.stef.monitoring.times import read_time, read_zone

BERLIN = "Europe/Berlin"

# (written, zone of times without one, in UTC)
READ: list[tuple[Any, str, str | None]] = [
    ("2026-07-01T10:00:00Z", BERLIN, "2026-07-01T10:00:00"),
    ("2026-07-01T10:00:00.5+02:00", "UTC", "2026-07-01T08:00:00.500000"),
    ("2026-07-01 10:00:00,1234567 -0530", "UTC", "2026-07-01T15:30:00.123456"),
    ("20260701T100000Z", "UTC", "2026-07-01T10:00:00"),
    ("2026-07-01T10:00+02", "UTC", "2026-07-01T08:00:00"),
    ("2026-07-01T10:00:00", BERLIN, "2026-07-01T08:00:00"),  # summer
    ("2026-01-01T10:00:00", BERLIN, "2026-01-01T09:00:00"),  # winter
    ("2026-10-25T02:30:00", BERLIN, "2026-10-25T00:30:00"),  # the clock goes through it twice: the first turn
    ("2026-07-01", BERLIN, "2026-06-30T22:00:00"),
    ("20260701", "UTC", "2026-07-01T00:00:00"),
    (1782864000, BERLIN, "2026-07-01T00:00:00"),
    (1782864000.25, "UTC", "2026-07-01T00:00:00.250000"),
    ("1782864000", "UTC", "2026-07-01T00:00:00"),
    ("1782864000123", "UTC", "2026-07-01T00:00:00.123000"),
    (1782864000123456, "UTC", "2026-07-01T00:00:00.123456"),
    (1782864000123456789, "UTC", "2026-07-01T00:00:00.123456"),
    (datetime(2026, 7, 1, 10), BERLIN, "2026-07-01T08:00:00"),
    (datetime(2026, 7, 1, 10, tzinfo=timezone(timedelta(hours=-3))), BERLIN, "2026-07-01T13:00:00"),
    (date(2026, 7, 1), BERLIN, "2026-06-30T22:00:00"),
    (None, "UTC", None),
    ("  ", "UTC", None),
    (float("nan"), "UTC", None),
]

REFUSED = [
    "yesterday", "2026-13-01", "2026-02-30", "2026-07-01T25:00", "10:00", 0, -5, 20260701, True, 1e300, [1],
    "0001-01-01T00:00+05:00",
]  # fmt: skip


@pytest.mark.parametrize(("written", "zone", "expected"), READ, ids=lambda value: str(value)[:40])
def test_times_that_are_read(written: Any, zone: str, expected: str | None) -> None:
    found = read_time(written, read_zone(zone))
    assert (found and found.isoformat()) == (expected and expected + "+00:00")


@pytest.mark.parametrize("written", REFUSED, ids=str)
def test_times_that_are_none(written: Any) -> None:
    with pytest.raises(ValueError, match="expected a time"):
        read_time(written, timezone.utc)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.datetimes(min_value=datetime(1980, 1, 1), max_value=datetime(2100, 1, 1)))
def test_what_python_writes_is_read(moment: datetime) -> None:
    utc = moment.replace(tzinfo=timezone.utc)
    assert read_time(utc.isoformat(), timezone.utc) == utc
    seconds = (utc - datetime(1970, 1, 1, tzinfo=timezone.utc)) // timedelta(seconds=1)
    assert read_time(seconds, timezone.utc) == utc.replace(microsecond=0)
    assert read_time(seconds * 1000, timezone.utc) == utc.replace(microsecond=0)


def test_an_unknown_zone_is_named() -> None:
    with pytest.raises(OptionError, match="Mars/Olympus"):
        read_zone("Mars/Olympus")
