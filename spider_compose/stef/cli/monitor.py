"""`stef monitor DIR`: watches scored rows over time and tells when an agent changes.

Made for cron: what is known stands in a state file, every change is told once, and a change whose telling
failed is told again. Exit code 1 where one got worse and `--fail-on-alarm` is given, 2 on bad input or where
an alarm could not be delivered.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spider_compose.errors import OptionError
from spider_compose.terminal import visible

if TYPE_CHECKING:
    from datetime import datetime

    from spider_compose.stef.monitoring.drift import Alarm, Settings, Stream, Watch
    from spider_compose.stef.monitoring.watched_rows import Rows

ADDRESS = "STEF_WEBHOOK"
TOKEN = "STEF_WEBHOOK_TOKEN"


def register(commands: Any) -> None:
    """Add the command."""
    command = commands.add_parser("monitor", help="tell when an agent changes", description=__doc__)
    command.add_argument("source", metavar="DIR", help="a scored folder, or a file with scores and times")
    command.add_argument(
        "--by",
        nargs="*",
        default=["agent"],
        metavar="COLUMN",
        help="what to watch apart: agent (default), database, both, or nothing",
    )
    command.add_argument("--every", default="day", help="windows of an hour, day (default) or week, in UTC")
    command.add_argument(
        "--false-alarms",
        type=float,
        default=1.0,
        metavar="N",
        help="a year at most, on average, over everything watched together (default: 1)",
    )
    command.add_argument(
        "--smallest",
        type=float,
        default=1.0,
        metavar="POINTS",
        help="the least change to raise an alarm for (default: 1)",
    )
    _add_windows(command)
    command.add_argument("--signature", help="only rows scored under this signature, or the part of one")
    command.add_argument("--mixed", action="store_true", help="take rows of all signatures together")
    command.add_argument("--state", metavar="PATH", help="(default: DIR/monitor.json)")
    command.add_argument("--now", metavar="TIME", help="the time to go by (default: the clock's)")
    command.add_argument("--show", type=int, default=7, help="last windows to show (default: 7)")
    command.add_argument("--format", choices=("text", "json"), default="text", help="on stdout")
    command.add_argument("--prometheus", metavar="PATH", help="write the state there in Prometheus's format")
    command.add_argument(
        "--webhook",
        metavar="URL",
        help="send alarms there as JSON (better, for it may hold a secret: the environment variable "
        f"{ADDRESS}; {TOKEN} is sent as bearer token)",
    )
    command.add_argument(
        "--timeout", type=float, default=10.0, help="of the webhook, in seconds (default: 10)"
    )
    command.add_argument("--tries", type=int, default=3, help="of the webhook (default: 3)")
    command.add_argument("--fail-on-alarm", action="store_true", help="exit with 1 where something got worse")
    command.set_defaults(run=run)


def _add_windows(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--learn", type=int, default=7, metavar="N", help="windows to learn from before testing (default: 7)"
    )
    command.add_argument(
        "--least-questions",
        type=int,
        default=10,
        metavar="N",
        help="a window with fewer questions waits for the next (default: 10)",
    )
    command.add_argument(
        "--grace-hours", type=float, default=3.0, help="how long after its end a window closes (default: 3)"
    )
    command.add_argument(
        "--late-days",
        type=float,
        default=14.0,
        help="how late a row may come; it counts in the window that closes next (default: 14)",
    )


def settings(options: argparse.Namespace) -> Settings:
    """How to watch, as the options say."""
    from spider_compose.stef.monitoring.drift import Settings

    return Settings(
        by=tuple(dict.fromkeys(options.by)),
        every=options.every,
        learn=options.learn,
        least_questions=options.least_questions,
        late_days=options.late_days,
        grace_hours=options.grace_hours,
        false_alarms=options.false_alarms,
        smallest=options.smallest,
    )


def run(options: argparse.Namespace) -> int:
    """Close windows, keep the state, tell what changed."""
    from spider_compose.stef.cli.score import check_outputs
    from spider_compose.stef.monitoring import drift, watch_state
    from spider_compose.stef.monitoring.notify import prometheus_text, shown_address
    from spider_compose.stef.monitoring.scored import snapshot

    used, now = settings(options), _now(options.now)
    address = options.webhook or os.environ.get(ADDRESS)
    if address:
        shown_address(address)
    if options.tries < 1 or not 0 < options.timeout <= 3600:
        raise OptionError("`--tries` must be at least 1, and `--timeout` above 0 and at most 3600 seconds")
    check_outputs(options, options.source, "prometheus")
    snapshot(options.source)  # before a state is made for what is not there
    path = Path(options.state) if options.state else _state_path(Path(options.source))
    with watch_state.locked(path):
        watch = watch_state.load(path, used)
        drift.check_clock(watch, now, used)
        notes = _advance(options, watch, used, now)
        watch_state.save(path, watch, used)  # a change that is found is kept before anyone is told
        told = [alarm for alarm in watch.alarms if not alarm.told]
        _print(options, watch, used, told, notes)
        try:
            if address and told:
                _deliver(options, address, told)
            for alarm in told:
                alarm.told = True
            watch_state.save(path, watch, used)
        finally:  # neither way of telling waits for the other to work
            if options.prometheus:
                watch_state.write_whole(Path(options.prometheus), prometheus_text(watch, used, now))
    return int(options.fail_on_alarm and any(alarm.direction == "worse" for alarm in told))


def _now(value: str | None) -> datetime:
    from datetime import datetime, timezone

    from spider_compose.stef.monitoring.times import read_time

    try:
        found = read_time(value, timezone.utc) if value is not None else datetime.now(timezone.utc)
    except ValueError as error:
        raise OptionError(f"`--now`: {error}") from error
    if found is None:
        raise OptionError("`--now` must be a time, but got nothing")
    return found


def _state_path(source: Path) -> Path:
    return source / "monitor.json" if source.is_dir() else source.with_name(source.name + ".monitor.json")


def _advance(options: argparse.Namespace, watch: Watch, used: Settings, now: datetime) -> list[str]:
    """Read the rows that may be new and give them to the charts; what else there is to say."""
    from spider_compose.stef.monitoring import drift, watch_state, watched_rows
    from spider_compose.stef.monitoring.scored import of_one_signature, read_scores

    since = drift.earliest_needed(watch, used)
    columns = [*watched_rows.COLUMNS, "signature"]
    table = of_one_signature(
        read_scores(options.source, columns, since=since), options.signature, options.mixed
    )
    signature = "; ".join(sorted(filter(None, table["signature"].unique().to_pylist())))
    notes = []
    changed = watch.scored_under and signature and signature != watch.scored_under
    if changed and not options.mixed:
        notes.append("the scores have another signature than before: every chart starts anew")
        closed = [stream.closed for stream in watch.streams.values() if stream.closed is not None]
        watch.quiet_until, watch.streams = max(closed, default=0), {}
        everything = read_scores(options.source, columns)
        table = of_one_signature(everything, options.signature, options.mixed)
    elif options.state:  # one in the folder goes where the folder goes
        watch_state.check_source(watch, Path(options.state), Path(options.source))
    watch.source = str(Path(options.source).resolve())
    watch.scored_under = signature or watch.scored_under
    rows = watched_rows.read_rows(table, used.by)
    notes += _odd_rows(rows, now)
    drift.advance(watch, rows, now, used)
    return notes


def _odd_rows(rows: Rows, now: datetime) -> Iterator[str]:
    if rows.without_time:
        yield f"{rows.without_time:,} rows have no time and are left out"
    ahead = int((rows.time > int(now.timestamp() * 1e6)).sum())
    if ahead:
        yield f"{ahead:,} rows lie in the future and wait; look at the clock, or the time zone of the log"


def _deliver(options: argparse.Namespace, address: str, told: list[Alarm]) -> None:
    from spider_compose.stef.monitoring.notify import send, webhook_document

    document = webhook_document([_as_json(alarm) for alarm in told], [sentence(alarm) for alarm in told])
    send(address, document, os.environ.get(TOKEN), options.timeout, options.tries)


def _as_json(alarm: Alarm) -> dict[str, Any]:
    return {name: value for name, value in asdict(alarm).items() if name != "told"}


# --- for people --------------------------------------------------------------------------------------------


def sentence(alarm: Alarm) -> str:
    """An alarm in a line."""
    of = ", ".join(f"{name} {visible(value, 80) or '-'}" for name, value in alarm.stream.items())
    return (
        f"{alarm.direction}: {alarm.measure} of {of or 'all rows'}: {alarm.before:.2f} -> {alarm.after:.2f} "
        f"({alarm.size:+.2f} points) since {alarm.since}, found in the window of {alarm.detected}"
    )


def _print(
    options: argparse.Namespace, watch: Watch, used: Settings, told: list[Alarm], notes: list[str]
) -> None:
    for note in notes:
        print(f"stef: {note}", file=sys.stderr)
    if options.format == "json":
        print(json.dumps(_document(options, watch, used, told, notes), indent=2))
    else:
        print("\n".join(_text(options, watch, used, told)))
    sys.stdout.flush()


def _document(
    options: argparse.Namespace, watch: Watch, used: Settings, told: list[Alarm], notes: list[str]
) -> dict[str, Any]:
    from spider_compose.stef.monitoring.drift import charts_of, limit_of

    return {
        "format": "stef monitor report 1",
        "new_alarms": [_as_json(alarm) for alarm in told],
        "alarms": [_as_json(alarm) for alarm in watch.alarms],
        "streams": [
            {
                **dict(zip(used.by, key, strict=True)),
                "state": {name: _state(stream, name, used) for name in stream.waiting},
                "cusum": {
                    name: {"worse": chart.worse.height, "better": chart.better.height}
                    for name, chart in stream.charts.items()
                },
                "windows": [asdict(window) for window in stream.windows],
            }
            for key, stream in sorted(watch.streams.items())
        ],
        "limit": limit_of(watch, used),
        "charts": charts_of(watch),
        "settings": asdict(used),
        "scored_under": watch.scored_under,
        "notes": notes,
    }


def _text(options: argparse.Namespace, watch: Watch, used: Settings, told: list[Alarm]) -> Iterator[str]:
    from spider_compose.stef.monitoring.drift import charts_of, limit_of
    from spider_compose.stef.monitoring.watched_rows import WATCHED

    yield f"{len(told)} new, {len(watch.alarms)} in all" if watch.alarms else "no change found"
    for alarm in watch.alarms:
        yield f"  {'NEW ' if alarm in told else ''}{sentence(alarm)}"
    for key, stream in sorted(watch.streams.items()):
        named = ", ".join(f"{n} {visible(v, 80) or '-'}" for n, v in zip(used.by, key, strict=True))
        yield ""
        states = "; ".join(
            f"{name} {_last_change(watch, used, key, name)}{_state(stream, name, used)}"
            for name in stream.waiting
        )
        yield f"{named or 'all rows'}: {states}"
        yield f"  {'window':<18}{'rows':>8}{'questions':>11}" + "".join(f"{name:>20}" for name in WATCHED)
        for window in stream.windows[-options.show :] if options.show > 0 else []:
            means = "".join(
                f"{'-' if value is None else format(value, '.2f'):>20}" for value in window.values.values()
            )
            late = f"  ({window.late} late)" if window.late else ""
            yield f"  {window.start:<18}{window.rows:>8,}{window.questions:>11,}{means}{late}"
    yield ""
    yield (
        f"at most {used.false_alarms:g} false alarms a year over all {charts_of(watch)} CUSUMs together "
        f"(limit {limit_of(watch, used):.2f}); scores: {visible(watch.scored_under, 500) or 'unknown'}"
    )


def _last_change(watch: Watch, used: Settings, key: tuple[str, ...], measure: str) -> str:
    """When a chart last began anew, and nothing where it never did."""
    own = dict(zip(used.by, key, strict=True))
    changes = [alarm for alarm in watch.alarms if (alarm.stream, alarm.measure) == (own, measure)]
    return f"changed on {changes[-1].since} (told above), since then " if changes else ""


def _state(stream: Stream, measure: str, used: Settings) -> str:
    """Whether a chart is steady, or how far it has learnt."""
    chart, waiting = stream.charts[measure], stream.waiting[measure].n
    if chart.windows < used.learn:
        return f"learning ({chart.windows} of {used.learn} windows)"
    return f"steady ({waiting} questions wait for more)" if waiting else "steady"
