"""`stef score LOG --out DIR`: the rows of a log that a folder has not yet get their scores there."""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spider_compose.errors import OptionError

if TYPE_CHECKING:
    from spider_compose.stef.monitoring.log import Log
    from spider_compose.stef.monitoring.store import ScoreStore

# Seconds between two lines of progress.
EVERY = 5.0

# Options that mean something with `--out` only, by their defaults.
_ONLY_WITH_OUT: dict[str, Any] = {
    "id_column": "id", "agent_column": "agent", "database_column": "database", "time_column": "time",
    "agent": "", "database": "", "timezone": "UTC", "workers": 1, "retry": [], "part_rows": None,
    "config": None, "split": "train", "ray": False, "actors": None, "actor_cpus": 0.9, "actor_gpus": 0.0,
    "address": None, "autoscaling": False, "stall_seconds": 600.0,
}  # fmt: skip


def add_arguments(command: argparse.ArgumentParser) -> None:
    """The options of a log, and of the folder its scores go to."""
    group = command.add_argument_group(
        "a log", "scored into a folder: only what is not there yet, so that a run may be killed and repeated"
    )
    group.add_argument("--out", metavar="DIR", help="put the scores into this folder, as Parquet by day")
    defaults = _ONLY_WITH_OUT
    for name, what in (
        ("id", "id; without one, rows that say the same are one"),
        ("agent", "agent"),
        ("database", "database"),
        ("time", "time: ISO 8601, or seconds or milliseconds since 1970"),
    ):
        group.add_argument(
            f"--{name}-column",
            default=defaults[f"{name}_column"],
            metavar="NAME",
            help=f"column of the {what} (default: {name})",
        )
    group.add_argument("--agent", default="", metavar="NAME", help="agent of rows that name none")
    group.add_argument("--database", default="", metavar="NAME", help="database of rows that name none")
    group.add_argument(
        "--timezone", default="UTC", metavar="ZONE", help="of times without one (default: UTC)"
    )
    group.add_argument("--workers", type=int, default=1, metavar="N", help="processes (default: 1)")
    group.add_argument(
        "--retry",
        action="append",
        default=[],
        metavar="REASON",
        help="score again what is unscored for this reason, such as no_verdict; may be repeated",
    )
    group.add_argument(
        "--part-rows",
        type=int,
        metavar="N",
        help="write after so many rows (default: 16384), and after a minute at the latest",
    )
    group.add_argument("--config", metavar="NAME", help="configuration of a dataset, for datasets:NAME")
    group.add_argument("--split", default="train", metavar="NAME", help="split of a dataset (default: train)")


def add_ray_arguments(command: argparse.ArgumentParser) -> None:
    """The options of a cluster."""
    group = command.add_argument_group("a cluster", "the same on Ray, where one machine is not enough")
    group.add_argument("--ray", action="store_true", help="score on Ray; needs spider-compose[ray]")
    group.add_argument(
        "--address", metavar="URL", help="of the cluster (default: the job's, or this machine)"
    )
    group.add_argument("--actors", type=int, metavar="N", help="scoring actors (default: one per CPU)")
    group.add_argument(
        "--actor-cpus", type=float, default=0.9, metavar="X", help="CPUs of an actor (default: 0.9)"
    )
    group.add_argument("--actor-gpus", type=float, default=0.0, metavar="X", help="GPUs of an actor")
    group.add_argument("--autoscaling", action="store_true", help="the cluster grows when asked for more")
    group.add_argument(
        "--stall-seconds",
        type=float,
        default=600.0,
        metavar="S",
        help="end in an error when nothing is scored for so long (default: 600)",
    )


def check_options(options: argparse.Namespace) -> None:
    """Refuse options that would be ignored.

    Raises:
        OptionError: an option goes with `--out` and there is none, or the other way round.
    """
    if options.out is None:
        for name, default in _ONLY_WITH_OUT.items():
            if getattr(options, name) != default:
                raise OptionError(f"`--{name.replace('_', '-')}` goes with `--out DIR`")
        return
    only_with_ray = ("actors", "actor_cpus", "actor_gpus", "address", "autoscaling", "stall_seconds")
    for name in () if options.ray else only_with_ray:
        if getattr(options, name) != _ONLY_WITH_OUT[name]:
            raise OptionError(f"`--{name.replace('_', '-')}` goes with `--ray`")
    for name in ("workers", "judge_cache", "max_requests", "max_tokens") if options.ray else ():
        if getattr(options, name) not in (None, 1):
            raise OptionError(
                f"`--{name.replace('_', '-')}` is of one machine; it does not go with `--ray`, whose actors "
                "have a judge each"
            )
    for name in ("output", "brief"):
        if getattr(options, name):
            raise OptionError(f"`--{name}` goes with lines, not with `--out DIR`; leave one of them out")


def run(options: argparse.Namespace, scorer: Any, budget: Any) -> int:
    """Score what is new; 0, or 2 where a file could not be read."""
    from spider_compose.stef.monitoring.store import open_store

    log, folder = read_options(options), Path(options.out)
    progress = None if options.no_progress else Progress()
    with open_store(
        folder,
        scorer.signature,
        scorer.rules.digest,
        log.reading.columns,
        retry=options.retry,
        **({} if options.part_rows is None else {"part_rows": options.part_rows}),
    ) as store:
        _score(options, log, scorer, store, progress)
    told = report(log, store)
    if budget.answered or budget.failed:
        told["judge"] = budget.as_dict()
    text = json.dumps(told, indent=2)
    if options.summary:
        Path(options.summary).write_text(text + "\n", encoding="utf-8")
    print(text)
    return 2 if log.failed else 0


def _score(options: argparse.Namespace, log: Log, scorer: Any, store: ScoreStore, progress: Any) -> None:
    if not options.ray:
        from spider_compose.stef.monitoring.run import score_log

        score_log(log, scorer, store, options.workers, progress)
        return
    from dataclasses import replace

    from spider_compose.stef import ray as on_ray
    from spider_compose.stef.cli.judge_options import document
    from spider_compose.stef.judges.rules import Weights

    cluster = on_ray.Cluster(
        options.actors,
        options.actor_cpus,
        options.actor_gpus,
        autoscaling=options.autoscaling,
        stall_seconds=options.stall_seconds,
    )
    on_ray.connect(options.address)
    # A judge has locks and connections; each actor makes its own from the document.
    weights = Weights.read(options.weights) if options.weights else None
    scorer = replace(scorer, judge=document(options), weights=weights)
    on_ray.score_log(log, scorer, store, cluster, progress)


def read_options(options: argparse.Namespace) -> Log:
    """The log that the options describe.

    Raises:
        OptionError: an option has a value outside its range.
    """
    from dataclasses import fields

    from spider_compose.errors import choose
    from spider_compose.stef.monitoring.log import Columns, Log, Reading
    from spider_compose.stef.monitoring.times import read_zone
    from spider_compose.stef.score import UNSCORED

    for reason in options.retry:
        choose("--retry", reason, sorted(UNSCORED))
    if options.part_rows is not None and options.part_rows < 1:
        raise OptionError(f"`--part-rows` must be at least 1, but got {options.part_rows}")
    columns = Columns(**{f.name: getattr(options, f"{f.name}_column") for f in fields(Columns)})
    reading = Reading(
        columns,
        options.agent,
        options.database,
        read_zone(options.timezone),
        options.format,
        options.config,
        options.split,
    )
    return Log(options.file, reading)


def report(log: Log, store: ScoreStore) -> dict[str, Any]:
    """What this run did, and what the folder holds of its signature."""
    from spider_compose.stef.monitoring.aggregate import SUMMARY_COLUMNS, summarize
    from spider_compose.stef.monitoring.scored import of_one_signature, read_scores

    for origin in store.conflicting[:10]:
        print(f"stef: {origin}: its id is there with another content; the first stays", file=sys.stderr)
    table = read_scores(store.folder, [*SUMMARY_COLUMNS, "signature"])
    there = summarize(of_one_signature(table, store.signature), by=()) if table.num_rows else []
    return {
        "folder": str(store.folder),
        "signature": store.signature,
        "this_run": {
            "scored_or_counted": store.written,
            "already_there": store.passed_over,
            "conflicting_duplicates": len(store.conflicting),
            **dict(sorted(log.problems.items())),
            "failed_files": dict(sorted(log.failed.items())),
        },
        "all": there[0] if there else {"rows": 0},
    }


class Progress:
    """Says now and then, on stderr, how far a run is."""

    def __init__(self) -> None:
        self._start = time.monotonic()
        self._next = self._start + EVERY

    def __call__(self, store: ScoreStore) -> None:
        """After each batch."""
        now = time.monotonic()
        if now >= self._next:
            self._next = now + EVERY
            done = store.taken
            print(
                f"stef: {done:,} rows scored, {done / (now - self._start):,.0f} a second, "
                f"{store.written:,} written; {store.passed_over:,} were there",
                file=sys.stderr,
                flush=True,
            )
