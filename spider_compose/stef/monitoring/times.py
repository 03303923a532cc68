"""Times of a log, as they are written, in UTC."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta, timezone, tzinfo
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

from spider_compose.errors import OptionError

# ISO 8601 as logs write it. `datetime.fromisoformat` reads neither "Z" nor every fraction before Python 3.11.
_ISO = re.compile(
    r"(\d{4})-?(\d\d)-?(\d\d)"
    r"(?:[T ]\s*(\d\d):?(\d\d)(?::?(\d\d)(?:[.,](\d+))?)?)?"
    r"\s*(?:(Z|UTC)|([+-])(\d\d):?(\d\d)?)?",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\d{9,20}(?:\.\d+)?|\d\.\d+e\+?\d+", re.IGNORECASE)
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)

# Smaller numbers are no time but a mistake (0, a year, a day as 20260701): they would lie before March 1973.
_LEAST = 10**8


def read_zone(name: str) -> tzinfo:
    """The time zone of a name such as "Europe/Berlin" or "UTC".

    Raises:
        OptionError: the machine knows no such zone.
    """
    if name.upper() == "UTC":
        return timezone.utc
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError) as error:
        raise OptionError(
            f"`timezone` must be a name such as 'UTC' or 'Europe/Berlin', but got {name!r}"
        ) from error


def read_time(value: Any, zone: tzinfo) -> datetime | None:
    """A time in UTC, to the microsecond.

    Args:
        value: ISO 8601 with or without a zone, a day, seconds since 1970 (from nine digits on; milliseconds,
            microseconds or nanoseconds by their size), a `datetime` or a `date`; None and "" are no time.
        zone: of times that name none. In the hour that a clock goes through twice, its first turn is meant.

    Raises:
        ValueError: it is no time.
    """
    if value is None or (isinstance(value, str) and not value.strip()) or value != value:
        return None
    try:
        found = _read(value, zone)
        return found.astimezone(timezone.utc)
    except (ValueError, ArithmeticError) as error:
        shown = repr(value)[:60]
        raise ValueError(
            f"expected a time (ISO 8601, or seconds or milliseconds since 1970), but got {shown}"
        ) from error


def _read(value: Any, zone: tzinfo) -> datetime:
    if isinstance(value, datetime):
        return value.replace(tzinfo=zone) if value.tzinfo is None else value
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day, tzinfo=zone)
    if isinstance(value, bool):
        raise ValueError
    if isinstance(value, (int, float, Decimal)):
        return _since_1970(value)
    text = str(value).strip() if isinstance(value, str) else ""
    if _NUMBER.fullmatch(text):
        return _since_1970(int(text) if text.isdigit() else float(text))
    match = _ISO.fullmatch(text)
    if match is None:
        raise ValueError
    year, month, day, hour, minute, second, fraction, utc, sign, ahead, ahead_minutes = match.groups()
    if utc:
        zone = timezone.utc
    elif sign:
        offset = timedelta(hours=int(ahead), minutes=int(ahead_minutes or 0))
        zone = timezone(-offset if sign == "-" else offset)
    micro = int((fraction or "").ljust(6, "0")[:6])
    return datetime(
        int(year),
        int(month),
        int(day),
        int(hour or 0),
        int(minute or 0),
        int(second or 0),
        micro,
        tzinfo=zone,
    )


def _since_1970(value: int | float | Decimal) -> datetime:
    """A count since 1970 in the unit its size tells: seconds to the year 5138, and so on by thousands."""
    if value < _LEAST:
        raise ValueError
    unit = next((unit for unit in range(3) if value < 10 ** (11 + 3 * unit)), 3)
    # In whole microseconds where it can be: a float of seconds holds them to about the last one.
    scale = 10 ** (6 - 3 * unit) if unit < 3 else 0
    micro = value // 1000 if not scale else value * scale
    return _EPOCH + timedelta(microseconds=round(micro))
