"""The state of `stef monitor` between two runs: one JSON file, replaced as a whole."""

from __future__ import annotations

import base64
import json
import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np

from spider_compose.errors import OptionError, SpiderComposeError, choose
from spider_compose.stef.monitoring.control_chart import Chart, Excursion, Moments, Step
from spider_compose.stef.monitoring.drift import Alarm, Settings, Stream, Watch, Window
from spider_compose.stef.monitoring.watched_rows import WATCHED

FORMAT = "stef monitor 1"

# What a file raises that is no state.
_NO_STATE = (
    OSError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError,
)  # fmt: skip
_LAST = 253_402_300_800_000_000  # microseconds from 1970 to the year 10000


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the state alone; the lock goes with the process, however it ends.

    Raises:
        SpiderComposeError: another run holds it.
    """
    try:
        import fcntl
    except ImportError:  # Windows: one run at a time is the scheduler's to see to
        yield
        return
    with open(path.with_name(path.name + ".lock"), "w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise SpiderComposeError(f"another `stef monitor` is at work on {path}; let it end") from error
        yield


def write_whole(path: Path, text: str) -> None:
    """Write a file that nobody ever sees in part.

    Raises:
        SpiderComposeError: it cannot be written.
    """
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        with part.open("w", encoding="utf-8") as out:
            out.write(text)
            out.flush()
            os.fsync(out.fileno())
        part.replace(path)
    except OSError as error:
        raise SpiderComposeError(f"cannot write {path}: {error.strerror or error}") from error
    finally:
        part.unlink(missing_ok=True)


def save(path: Path, watch: Watch, settings: Settings) -> None:
    """Write the state."""
    document = {
        "format": FORMAT,
        "settings": settings.fixed,
        "scored_under": watch.scored_under,
        "quiet_until": watch.quiet_until,
        "source": watch.source,
        "streams": [
            {"key": list(key), **_stream_as_json(stream)} for key, stream in sorted(watch.streams.items())
        ],
        "alarms": [asdict(alarm) for alarm in watch.alarms],
    }
    write_whole(path, json.dumps(document, indent=1) + "\n")


def load(path: Path, settings: Settings) -> Watch:
    """Read the state, or begin anew where there is none.

    Raises:
        OptionError: it was made with other settings.
        SpiderComposeError: it is no state, or of another version.
    """
    if not path.exists():
        return Watch()
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        if document["format"] != FORMAT:
            raise ValueError(f"expected the format {FORMAT!r}, but got {document['format']!r}")
        made_with = document["settings"]
        watch = Watch(
            {_key(stream["key"], settings): _stream(stream) for stream in document["streams"]},
            [_alarm(alarm) for alarm in document["alarms"]],
            str(document["scored_under"]),
            int(document["quiet_until"]),
            str(document.get("source", "")),
        )
    except _NO_STATE as error:
        why = getattr(error, "strerror", None) or f"{type(error).__name__}: {error}"
        raise SpiderComposeError(
            f"cannot read the state {path} ({why}); name another with `--state`, or delete it to begin anew"
        ) from error
    wanted = json.loads(json.dumps(settings.fixed))
    if made_with != wanted:
        raise OptionError(
            f"the state {path} was made with {made_with}, but the options ask for {wanted}; use those, name "
            "another `--state`, or delete it to begin anew"
        )
    return watch


def check_source(watch: Watch, path: Path, source: Path) -> None:
    """Hold a state that stands elsewhere against the scores it is of.

    Raises:
        OptionError: it is of other scores of the same signature: their rows would look like a change.
    """
    real = str(source.resolve())
    if watch.source and watch.source != real:
        raise OptionError(
            f"the state {path} is of {watch.source}, not of {real}; name another `--state`, or, if the "
            "scores were moved, write so into its `source`"
        )


def _stream_as_json(stream: Stream) -> dict[str, Any]:
    found = asdict(stream)
    found["seen"] = {
        str(window): base64.b64encode(np.array(questions, "<u8").tobytes()).decode("ascii")
        for window, questions in stream.seen.items()
    }
    return found


def _stream(found: dict[str, Any]) -> Stream:
    seen = {
        int(window): np.frombuffer(base64.b64decode(text, validate=True), "<u8").tolist()
        for window, text in found["seen"].items()
    }
    return Stream(
        closed=None if found["closed"] is None else _moment(found["closed"]),
        charts={name: _chart(found["charts"][name]) for name in WATCHED},
        waiting={choose("waiting", name, WATCHED): _moments(own) for name, own in found["waiting"].items()},
        waiting_since={name: str(since) for name, since in found["waiting_since"].items()},
        seen=seen,
        windows=[_window(window) for window in found["windows"]],
    )


def _key(values: list[Any], settings: Settings) -> tuple[str, ...]:
    if len(values) != len(settings.fixed["by"]):
        raise ValueError(f"{values} is no stream")
    return tuple(map(str, values))


def _moment(value: Any) -> int:
    moment = int(value)
    if abs(moment) >= _LAST:
        raise ValueError(f"{value} is no time")
    return moment


def _number(value: Any) -> float:
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(f"{value} is no number")
    return number


def _moments(values: list[Any]) -> Moments:
    return Moments(*map(_number, values))


def _window(found: dict[str, Any]) -> Window:
    rows, questions, late = (int(found[name]) for name in ("rows", "questions", "late"))
    means = {name: None if mean is None else _number(mean) for name, mean in found["values"].items()}
    return Window(str(found["start"]), rows, questions, late, means)


def _chart(found: dict[str, Any]) -> Chart:
    return Chart(
        seen=_moments(found["seen"]),
        windows=int(found["windows"]),
        scores=[_number(score) for score in found["scores"]],
        worse=_excursion(found["worse"]),
        better=_excursion(found["better"]),
    )


def _excursion(found: dict[str, Any]) -> Excursion:
    steps = [Step(str(name), _moments(before), _number(score)) for name, before, score in found["steps"]]
    return Excursion(_number(found["height"]), steps, int(found["scores"]))


def _alarm(found: dict[str, Any]) -> Alarm:
    values = {field.name: found[field.name] for field in fields(Alarm)}
    values |= {name: _number(values[name]) for name in ("before", "after", "size", "height", "limit")}
    values |= {name: str(values[name]) for name in ("id", "measure", "direction", "since", "detected")}
    values["stream"] = {name: str(value) for name, value in values["stream"].items()}
    values["questions"] = (int(found["questions"][0]), int(found["questions"][1]))
    values["told"] = bool(values["told"])
    return Alarm(**values)
