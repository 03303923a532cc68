"""What `stef monitor` hands on: a Prometheus text file, and a JSON document sent to an address."""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from http.client import HTTPException
from typing import Any
from urllib.parse import urlsplit

from spider_compose.errors import OptionError, SpiderComposeError
from spider_compose.stef.monitoring.drift import Alarm, Settings, Watch, limit_of
from spider_compose.stef.monitoring.watched_rows import WATCHED

# Answers worth another try: too many requests, and whatever is wrong over there.
_TRY_AGAIN = {408, 425, 429}

# The longest wait that a server's Retry-After is followed for, in seconds.
_LONGEST_WAIT = 60.0


def prometheus_text(watch: Watch, settings: Settings, now: datetime) -> str:
    """The state in Prometheus's text format, for the textfile collector of its node exporter."""
    limit = limit_of(watch, settings)
    families: dict[str, tuple[str, str, list[tuple[dict[str, str], float]]]] = {}

    def add(name: str, kind: str, text: str, labels: Mapping[str, str], value: float | None) -> None:
        if value is not None:
            families.setdefault(name, (kind, text, []))[2].append((dict(labels), float(value)))

    for key, stream in sorted(watch.streams.items()):
        labels = dict(zip(settings.by, key, strict=True))
        last = stream.windows[-1] if stream.windows else None
        rows, means = (last.rows, last.values) if last else (None, {})
        add("stef_window_rows", "gauge", "Rows of the last closed window.", labels, rows)
        if stream.closed is not None:
            until = stream.closed / 1e6
            text = "Windows are closed up to this time."
            add("stef_closed_until_timestamp_seconds", "gauge", text, labels, until)
        for measure in WATCHED:
            own = {**labels, "measure": measure}
            text = "Mean of the last closed window, 0 to 100."
            add("stef_window_mean", "gauge", text, own, means.get(measure))
            for direction in ("worse", "better"):
                height = getattr(stream.charts[measure], direction).height / limit
                text = "CUSUM by its limit; an alarm is raised above 1."
                add("stef_cusum_ratio", "gauge", text, {**own, "direction": direction}, height)
                alarms = [a for a in watch.alarms if _is_of(a, labels, measure, direction)]
                text = "Changes found."
                add("stef_alarms_total", "counter", text, {**own, "direction": direction}, len(alarms))
    add("stef_last_run_timestamp_seconds", "gauge", "When the monitor last ran.", {}, now.timestamp())
    return "".join(_family(name, *family) for name, family in families.items())


def _is_of(alarm: Alarm, stream: Mapping[str, str], measure: str, direction: str) -> bool:
    return (alarm.stream, alarm.measure, alarm.direction) == (dict(stream), measure, direction)


def _family(name: str, kind: str, text: str, samples: Iterable[tuple[dict[str, str], float]]) -> str:
    lines = [f"# HELP {name} {text}", f"# TYPE {name} {kind}"]
    for labels, value in samples:
        shown = ",".join(f'{label}="{_escaped(of)}"' for label, of in labels.items())
        lines.append(f"{name}{{{shown}}} {value!r}" if shown else f"{name} {value!r}")
    return "\n".join(lines) + "\n"


def _escaped(text: str) -> str:
    """A label's value: agents and databases are named by whoever wrote the log."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    # Where a server's parser would end. Nothing else is replaced: two names must not become one.
    return escaped.replace("\0", "\N{SYMBOL FOR NULL}")


def webhook_document(alarms: Sequence[Mapping[str, Any]], said: Sequence[str]) -> dict[str, Any]:
    """What is sent: figures alone, no question and no SQL; `text` is what chat programs show."""
    return {"format": "stef alarms 1", "text": "\n".join(said), "alarms": list(alarms)}


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirected POST would arrive as a GET, or somewhere nobody named."""

    def redirect_request(self, *_: Any) -> None:
        return None


def send(
    address: str,
    document: Mapping[str, Any],
    token: str | None = None,
    timeout: float = 10.0,
    tries: int = 3,
    wait: Callable[[float], None] = time.sleep,
) -> None:
    """POST a document as JSON, with further tries where the fault may pass.

    Args:
        address: http or https. It may hold a secret, and is never shown but for its host.
        document: JSON values.
        token: sent as `Authorization: Bearer`.
        timeout: seconds for each try.
        tries: at most so many, with waits of 1, 2, 4 ... seconds, or as long as the server asks.
        wait: sleeps.

    Raises:
        OptionError: it is no address.
        SpiderComposeError: it was not taken; the message names the host alone.
    """
    place = shown_address(address)
    headers = {"Content-Type": "application/json", "User-Agent": "stef-monitor"}
    if token and token.strip():  # files of secrets end with a line
        headers["Authorization"] = f"Bearer {token.strip()}"
    body = json.dumps(document).encode("utf-8")
    request = urllib.request.Request(address, data=body, headers=headers, method="POST")
    opener = urllib.request.build_opener(_NoRedirect)
    for pause in _pauses(tries):
        asked = 0.0
        try:
            opener.open(request, timeout=timeout).close()  # what it says beside its status may never end
            return
        except urllib.error.HTTPError as error:
            fault = f"HTTP status {error.code}"
            if error.code < 500 and error.code not in _TRY_AGAIN:
                break
            asked = _retry_after(error.headers.get("Retry-After"))
        except ValueError as error:  # a host or a token that cannot be sent, with the secret in its message
            fault = type(error).__name__
            break
        except (OSError, HTTPException) as error:
            # The message of the error may repeat the address.
            reason = getattr(error, "reason", error)
            fault = type(reason if isinstance(reason, BaseException) else error).__name__
        if pause is not None:
            wait(max(pause, asked))
    raise SpiderComposeError(f"the alarm was not taken by {place} ({fault}); the next run sends it again")


def _pauses(tries: int) -> Iterator[float | None]:
    """The wait after each try, None after the last."""
    yield from (min(2.0 ** min(number, 10), _LONGEST_WAIT) for number in range(tries - 1))
    yield None


def _retry_after(value: str | None) -> float:
    try:
        return min(max(float(value or 0), 0.0), _LONGEST_WAIT)
    except ValueError:  # a date
        return 0.0


def shown_address(address: str) -> str:
    """Scheme and host of an address: the rest may be a secret.

    Raises:
        OptionError: it is no http or https address.
    """
    try:
        parts = urlsplit(address)
        scheme, host, port = parts.scheme, parts.hostname, parts.port
    except ValueError:
        scheme, host, port = "", None, None
    if (
        scheme not in ("http", "https")
        or not host
        or any(c.isspace() for c in address)
        or not address.isascii()
    ):
        raise OptionError("the webhook must be an address that begins with http:// or https://")
    return f"{scheme}://{host}" + (f":{port}" if port else "")
