"""What `stef compare` and `stef monitor` are worth: every figure of their sections in docs/monitoring.md.

    python benchmarks/monitoring_order.py order             labelled agents: is the better one told?
    python benchmarks/monitoring_order.py shuffled DIR      false alarms where nothing changes
    python benchmarks/monitoring_order.py delay DIR         falls put into a log: when they are found
    python benchmarks/monitoring_order.py rows OUT_DIR      writes a scored folder of a million rows

DIR is a scored folder; the labelled queries are in `stef` of SPIDER_COMPOSE_SHARED (default: ../shared).
"""

from __future__ import annotations

import argparse
import itertools
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from spider_compose.stef.monitoring.compare import COLUMNS, compare
from spider_compose.stef.monitoring.drift import Settings, Watch, advance, charts_of
from spider_compose.stef.monitoring.scored import FORMAT, SCHEMA, read_scores
from spider_compose.stef.monitoring.watched_rows import COLUMNS as WATCHED_COLUMNS
from spider_compose.stef.monitoring.watched_rows import WATCHED, Rows, read_rows

BINS = ((0, 2), (2, 5), (5, 10), (10, 100))


def order(options: argparse.Namespace) -> None:
    """Every pair of agents of one corpus on the questions both answered."""
    from stef import by_row, examples, judged, labelled, read

    from spider_compose.stef.fit import cross_validated, table, weights
    from spider_compose.stef.rules import ApplicationRules

    labels = labelled()
    sides = [read(labels, ApplicationRules(dialect=name)) for name in ("sqlite", "auto")]
    found = cross_validated(examples(labels, sides), table(), "db_id")
    for how, used in (
        ("weights of the package (fitted on these agents)", weights(table())),
        ("weights fitted on the other databases", by_row(found)),
    ):
        scores = [
            None if row is None else judged(row, used[n] if isinstance(used, dict) else used)
            for n, row in enumerate(sides[0])
        ]
        print(f"\n{how}\n")
        _print_order(_pairs(labels, scores, options.samples))


def _pairs(
    labels: Sequence[Mapping[str, Any]], scores: Sequence[tuple[float, float] | None], samples: int
) -> list[dict[str, Any]]:
    """True and found differences of every pair; one that is told the wrong way round has another sign."""
    rows: dict[str, list[dict[str, Any]]] = {}
    for label, score in zip(labels, scores, strict=True):
        empty = dict.fromkeys(COLUMNS, "") | {"enrichment_quality": None}
        phi, p_correct = score or (None, None)
        known = {"key": str(label["row"]), "database": label["db_id"], "question": label["question"]}
        known |= {"score": phi, "p_correct": None if p_correct is None else p_correct / 100}
        known |= {"unscored": None if score else "unscored", "correct": bool(label["correct"])}
        rows.setdefault(label["agent"], []).append({**empty, **known})
    schema = pa.schema([*(SCHEMA.field(name) for name in COLUMNS), pa.field("correct", pa.bool_())])
    tables = {agent: pa.Table.from_pylist(own, schema) for agent, own in rows.items()}
    accuracy = {agent: 100 * float(np.mean(own["correct"].to_numpy())) for agent, own in tables.items()}
    pairs = []
    for a, b in itertools.combinations(sorted(tables), 2):
        if a.split("_")[0] == b.split("_")[0]:
            told = compare(tables[a], tables[b], "paired", samples).measures
            pairs.append({"a": a, "b": b, "true": accuracy[b] - accuracy[a], "told": told})
    return pairs


def _print_order(pairs: Sequence[Mapping[str, Any]]) -> None:
    print("| truly apart | pairs | measure | right order | shown, right | shown, wrong | interval holds |")
    print(f"|{'---|' * 7}")
    for low, high in (*BINS, (0, 5), (5, 100)):
        part = [pair for pair in pairs if low < abs(pair["true"]) <= high]
        for measure in ("score_unscored_as_0", "p_correct"):
            told = [(pair["true"], pair["told"][measure]) for pair in part]
            right = [true * found.difference > 0 for true, found in told]
            shown = [found.p_value <= 0.05 for _, found in told]
            both = sum(r and s for r, s in zip(right, shown, strict=True))
            covers = sum(found.low <= true <= found.high for true, found in told)
            cells = [f"{low} to {high}", len(part), measure, sum(right), both, sum(shown) - both, covers]
            print("| " + " | ".join(map(str, cells)) + " |")


def shuffled(options: argparse.Namespace) -> None:
    """Each agent's rows dealt anew over its times: no agent changes, and every alarm is false."""
    settings = Settings(false_alarms=options.false_alarms)
    rows = read_rows(read_scores(options.source, WATCHED_COLUMNS), settings.by)
    end = datetime.fromtimestamp(int(rows.time.max()) / 1e6, timezone.utc) + timedelta(days=2)
    days = (int(rows.time.max()) - int(rows.time.min())) / 86_400e6
    counted: Counter[str] = Counter()
    logs = 0
    for seed in range(options.logs):
        watch = Watch()
        found = advance(watch, _shuffled(rows, seed), end, settings)
        logs += bool(found)
        counted.update(f"{alarm.measure} {alarm.direction}" for alarm in found)
    stated = settings.false_alarms * days / 365.25
    print(f"{options.logs} shuffled logs of {days:.0f} days, {charts_of(watch)} CUSUMs")
    print(f"stated: at most {stated:.4f} false alarms a log, {stated * options.logs:.1f} in all")
    print(f"found: {counted.total()} in {logs} logs: {dict(counted)}")


def _shuffled(rows: Rows, seed: int) -> Rows:
    generator = np.random.default_rng(seed)
    time = rows.time.copy()
    for place in range(len(rows.keys)):
        own = np.flatnonzero(rows.stream == place)
        time[own] = generator.permutation(time[own])
    return replace(rows, time=time)


def delay(options: argparse.Namespace) -> None:
    """The same shuffled logs, with a share of one agent's answers going wrong from a day on."""
    settings = Settings(false_alarms=options.false_alarms)
    rows = read_rows(read_scores(options.source, WATCHED_COLUMNS), settings.by)
    end = datetime.fromtimestamp(int(rows.time.max()) / 1e6, timezone.utc) + timedelta(days=2)
    score, victim = WATCHED.index("score"), 0
    start = int(np.quantile(rows.time, 0.6)) // 86_400_000_000 * 86_400_000_000
    print(
        "| share that goes wrong | fall, points | found | median delay, days | dated within 2 | size told |"
    )
    print(f"|{'---|' * 6}")
    for share in (0.05, 0.1, 0.2, 0.3, 0.5):
        falls, delays, dated, sizes = [], [], 0, []
        for seed in range(options.logs):
            changed = _shuffled(rows, seed)
            after = (changed.stream == victim) & (changed.time >= start) & ~np.isnan(changed.values[:, score])
            which = np.flatnonzero(after)
            hit = which[np.random.default_rng([seed, 1]).random(len(which)) < share]
            values = changed.values.copy()
            values[hit, score] *= 0.5
            falls.append(float((changed.values[which, score] - values[which, score]).mean()))
            found = advance(Watch(), replace(changed, values=values), end, settings)
            first = next((a for a in found if _is_fall(a, rows.keys[victim][0], start)), None)
            if first:
                days = [
                    datetime.fromisoformat(x + "T00:00:00+00:00").timestamp()
                    for x in (first.detected, first.since)
                ]
                delays.append((days[0] - start / 1e6) / 86_400 + 1)
                dated += abs(days[1] - start / 1e6) <= 2 * 86_400
                sizes.append(first.size)
        cells = [f"{share:.0%}", f"{np.mean(falls):.1f}", f"{len(delays)} of {options.logs}"]
        cells += (
            [f"{np.median(delays):.0f}", f"{dated} of {len(delays)}", f"{np.mean(sizes):.1f}"]
            if delays
            else ["-"] * 3
        )
        print("| " + " | ".join(cells) + " |")


def _is_fall(alarm: Any, agent: str, start: int) -> bool:
    begun = datetime.fromtimestamp(start / 1e6, timezone.utc).strftime("%Y-%m-%d")
    of = (alarm.stream["agent"], alarm.measure, alarm.direction)
    return of == (agent, "score", "worse") and alarm.detected >= begun


def rows(options: argparse.Namespace) -> None:
    """A scored folder of made-up rows: three agents, sixty days, repeated questions, reasons as they are."""
    generator = np.random.default_rng(options.seed)
    folder = Path(options.out)
    levels = np.array([0, 15, 25, 40, 50, 64, 80, 90, 100.0])
    share = np.array([0.05, 0.03, 0.05, 0.07, 0.05, 0.05, 0.1, 0.1, 0.5])
    per_day = options.count // options.days
    for day in range(options.days):
        moment = datetime(2026, 7, 1, tzinfo=timezone.utc) + timedelta(days=day)
        table = _made_up(generator, per_day, moment, levels, share, f"d{day:03d}-")
        path = folder / "scores" / f"day={moment:%Y-%m-%d}" / f"part-{day:016x}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(table, path)
    (folder / "stef.json").write_text(json.dumps({"format": FORMAT, "signatures": ["made-up"]}))
    print(f"{per_day * options.days:,} rows in {folder}")


def _made_up(
    generator: np.random.Generator, count: int, day: datetime, levels: Any, share: Any, prefix: str
) -> pa.Table:
    score = generator.choice(levels, count, p=share)
    unscored = generator.random(count) < 0.02
    question = generator.integers(200_000, size=count)
    agent = generator.integers(3, size=count)
    lost = np.where(unscored, 0, 100 - score)
    offsets = np.concatenate([[0], np.cumsum((lost > 0) * 2)]).astype(np.int32)
    half = np.repeat(lost[lost > 0] / 2, 2)
    rule = generator.integers(40, size=len(half))
    message = [f"a message about what is wrong, as long as they usually are, number {r}" for r in rule]
    reason = SCHEMA.field("reasons").type.value_type
    spans = [pa.array(np.zeros(len(half), np.int32))] * 4
    items = pa.StructArray.from_arrays(
        [pa.array([f"rule_{r}" for r in rule]), pa.array(message), pa.array(half), *spans],
        fields=list(reason),
    )
    start = int(day.timestamp() * 1e6)
    columns: dict[str, Any] = {
        "key": [f"{prefix}{n}" for n in range(count)],
        "time": pa.array(start + generator.integers(86_400_000_000, size=count)).cast(
            SCHEMA.field("time").type
        ),
        "agent": [f"agent-{a}" for a in agent],
        "database": [f"db{q % 20}" for q in question],
        "question": [f"How many things of kind {q} are there in the table of all things?" for q in question],
        "sql": [f"SELECT COUNT(*) FROM things WHERE kind = {q}" for q in question],
        "score": pa.array(score, mask=unscored),
        "p_correct": pa.array(np.round(score / 125 + 0.1 + generator.random(count) / 10, 6), mask=unscored),
        "unscored": pa.array(np.where(unscored, "no_sql", None).tolist(), pa.string()),
        "enrichment_quality": pa.array(np.where(generator.random(count) < 0.05, 0.8, 1.0)),
        "reasons": pa.ListArray.from_arrays(pa.array(offsets), items),
        "signature": ["made-up"] * count,
    }
    arrays = []
    for field in SCHEMA:
        if field.name in columns:
            given = columns[field.name]
            array = given if isinstance(given, pa.Array) else pa.array(given, field.type)
            arrays.append(array.cast(field.type))
        else:
            arrays.append(pa.nulls(count, field.type) if field.nullable else pa.array([""] * count))
    return pa.Table.from_arrays(arrays, schema=SCHEMA)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True)
    command = commands.add_parser("order")
    command.add_argument("--samples", type=int, default=2000)
    command.set_defaults(run=order)
    for name, function in (("shuffled", shuffled), ("delay", delay)):
        command = commands.add_parser(name)
        command.add_argument("source", metavar="DIR")
        command.add_argument("--logs", type=int, default=200)
        command.add_argument("--false-alarms", type=float, default=1.0)
        command.set_defaults(run=function)
    command = commands.add_parser("rows")
    command.add_argument("out", metavar="OUT_DIR")
    command.add_argument("--count", type=int, default=1_000_020)
    command.add_argument("--days", type=int, default=60)
    command.add_argument("--seed", type=int, default=1)
    command.set_defaults(run=rows)
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    main()
