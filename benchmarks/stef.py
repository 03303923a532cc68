"""What the STEF score is worth, and what it costs: every figure of docs/stef.md.

    python benchmarks/stef.py agreement [--alone] [--dialect sqlite]
    python benchmarks/stef.py rules          what each rule is worth (drop one)
    python benchmarks/stef.py speed          rows a second on one core, and where the time goes
    python benchmarks/stef.py memory         peak memory from 1,000 to 100,000 streamed rows

The labelled queries and their scorer are in the folder `stef` of SPIDER_COMPOSE_SHARED (default: ../shared).
Run with OMP_NUM_THREADS=1 for one core.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import resource
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from spider_compose.stef.alignment import Pair
from spider_compose.stef.fit import Example, balanced, cross_validated, fit, table, weights
from spider_compose.stef.judges.protocol import VERDICT_POINTS
from spider_compose.stef.judges.rules import FILTER_RULES, Weights, amounts, context, findings
from spider_compose.stef.rules import ApplicationRules
from spider_compose.stef.score import Scorer, phi
from spider_compose.stef.specification.question import RULES
from spider_compose.stef.tolerance import TOLERANCE_RULES

SHARED = Path(os.environ.get("SPIDER_COMPOSE_SHARED", Path(__file__).parents[2] / "shared")) / "stef"
LABELLED = SHARED / "labelled_agents.jsonl"
MEASURES = ("within", "agent", "pooled", "rank", "ece", "cover")


@dataclass(frozen=True)
class Row:
    """What a labelled row needs to be judged again under other weights; None where unscored."""

    found: Mapping[str, float]
    context: Mapping[str, float]
    filter_points: int
    bonus: int


def scorer_module() -> Any:
    """The given scorer, as it is."""
    spec = importlib.util.spec_from_file_location("score_stef", SHARED / "score_stef.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def labelled() -> list[dict[str, Any]]:
    with LABELLED.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def read(rows: Sequence[Mapping[str, Any]], rules: ApplicationRules, alone: bool = False) -> list[Row | None]:
    """Every row aligned once."""
    given = ({**row, "enriched_question": None} if alone else row for row in rows)
    return [None if e.pair is None else _row(e.pair) for e in Scorer(rules).explain_rows(given)]


def _row(pair: Pair) -> Row:
    return Row(amounts(findings(pair)), context(pair), pair.filters.points, pair.filters.bonus)


def judged(row: Row, used: Weights) -> tuple[float, float]:
    """(Phi, 100 p_correct)."""
    p, p_correct, _ = used.weigh(row.found, row.context)
    verdict, confidence = used.verdict(p)
    return phi(row.filter_points, VERDICT_POINTS[verdict], row.bonus, confidence), 100 * p_correct


def examples(rows: Sequence[Mapping[str, Any]], read_rows: Sequence[Sequence[Row | None]]) -> list[Example]:
    """Examples of rows read in several dialects, as `spider_compose.stef.fit.examples` makes them."""
    found = []
    for side in read_rows:
        for number, (label, row) in enumerate(zip(rows, side, strict=True)):
            if row is not None:
                groups = {key: label[key] for key in ("db_id", "agent")}
                correct, weight = bool(label["correct"]), 1 / len(read_rows)
                found.append(Example(row.found, row.context, correct, groups, number, weight))
    return balanced(found)


def measure(
    module: Any,
    labels: Sequence[Mapping[str, Any]],
    rows: Sequence[Row | None],
    used: Mapping[int, Weights] | Weights,
) -> dict[str, dict[str, dict[str, float]]]:
    """corpus -> "phi" or "p_correct" -> measures."""
    scores: dict[str, dict[int, float]] = {"phi": {}, "p_correct": {}}
    for number, (label, row) in enumerate(zip(labels, rows, strict=True)):
        if row is not None:
            own = used if isinstance(used, Weights) else used[number]
            scores["phi"][label["row"]], scores["p_correct"][label["row"]] = judged(row, own)
    found: dict[str, dict[str, dict[str, float]]] = {}
    for corpus in ("bird", "spider"):
        part = [label for label in labels if label["agent"].startswith(corpus)]
        found[corpus] = {name: module.measure(part, values) for name, values in scores.items()}
    return found


def line(name: str, values: Mapping[str, float]) -> str:
    return f"| {name} | " + " | ".join(f"{values[m]:.3f}" for m in MEASURES) + " |"


def agreement(options: argparse.Namespace) -> None:
    """Phi and p_correct beside trivial scores: in sample, and cross-validated by database and by agent."""
    module, labels = scorer_module(), labelled()
    sides = {
        name: read(labels, ApplicationRules(dialect=name), options.alone)
        for name in (options.dialect, "auto")
    }
    found, priors = examples(labels, list(sides.values())), table()
    fitted = {
        "in sample": weights(fit(found, priors)),
        "cross-validated by database": by_row(cross_validated(found, priors, "db_id")),
        "cross-validated by agent": by_row(cross_validated(found, priors, "agent")),
    }
    if options.alone:
        fitted = {"package weights": weights(table()), **fitted}
    for corpus in ("bird", "spider"):
        part = [label for label in labels if label["agent"].startswith(corpus)]
        print(f"\n{corpus}, {len(part)} rows\n\n| score | {' | '.join(MEASURES)} |")
        print(f"|{'---|' * (len(MEASURES) + 1)}")
        for name, values in module.trivial(part).items():
            print(line(name, module.measure(part, values)))
        for dialect, rows in sides.items():
            for how, used in fitted.items():
                for score, values in measure(module, labels, rows, used)[corpus].items():
                    print(line(f"{score}, {how}, dialect {dialect}", values))


def by_row(documents: Mapping[int, Any]) -> dict[int, Weights]:
    """Row -> weights, each document read once."""
    known: dict[int, Weights] = {}
    return {row: known.setdefault(id(d), weights(d)) for row, d in documents.items()}


def rules(options: argparse.Namespace) -> None:
    """Loss of every measure when one rule is dropped, with weights fitted on the other databases."""
    module, labels = scorer_module(), labelled()[:: options.step]
    sides = [read(labels, ApplicationRules(dialect=name)) for name in (options.dialect, "auto")]
    used = by_row(cross_validated(examples(labels, sides), table(), "db_id"))
    whole = measure(module, labels, sides[0], used)
    print(
        "| dropped | rows | BIRD within | BIRD agent | Spider within | Spider agent | BIRD phi | Spider phi |"
    )
    print(f"|{'---|' * 8}")
    print(drop_line("nothing", len(labels), whole))
    for rule in sorted({rule for row in sides[0] if row for rule in row.found}):
        rows = [_without(row, rule) for row in sides[0]]
        count = sum(row is not None and rule in row.found for row in sides[0])
        print(drop_line(rule, count, measure(module, labels, rows, used), whole))
    for name in (*(rule.__name__ for rule in TOLERANCE_RULES), *(name for name, _ in RULES)):
        rows = read(labels, ApplicationRules(dialect=options.dialect, disabled_rules=frozenset({name})))
        changed = sum(a != b for a, b in zip(rows, sides[0], strict=True))
        print(drop_line(name, changed, measure(module, labels, rows, used), whole))


def _without(row: Row | None, rule: str) -> Row | None:
    if row is None or rule not in row.found:
        return row
    found = {name: amount for name, amount in row.found.items() if name != rule}
    # With its last filter finding gone, a filter state is whole again.
    points = 5 if rule in FILTER_RULES and not FILTER_RULES & set(found) else row.filter_points
    return replace(row, found=found, filter_points=points)


def drop_line(name: str, count: int, values: Any, whole: Any = None) -> str:
    cells = [(c, "p_correct", m) for c in ("bird", "spider") for m in ("within", "agent")]
    cells += [(c, "phi", "within") for c in ("bird", "spider")]
    shown = [
        f"{values[c][s][m]:.3f}" if whole is None else f"{values[c][s][m] - whole[c][s][m]:+.4f}"
        for c, s, m in cells
    ]
    return f"| {name} | {count} | {' | '.join(shown)} |"


def speed(options: argparse.Namespace) -> None:
    """CPU seconds of each part, questions all different, so that none is read twice."""
    from spider_compose.language import load_model
    from spider_compose.stef.judges.protocol import Request
    from spider_compose.stef.judges.rules import RulesJudge
    from spider_compose.stef.specification.question import read_question
    from spider_compose.stef.specification.sql import UnscoredError, read_sql

    labels = labelled()
    rows = [labels[n % len(labels)] for n in range(0, options.rows * 7, 7)]
    rows = [{**row, "question": f"{row['question'].rstrip()} {n}?"} for n, row in enumerate(rows)]
    rows = [
        {**row, "enriched_question": row["enriched_question"] and row["question"] + " x refers to y = 'z'"}
        for row in rows
    ]
    model = load_model()
    list(Scorer().score_rows(rows[:300]))  # caches warm
    start = time.process_time()
    for _ in Scorer(ApplicationRules(dialect="sqlite")).score_rows(rows):
        pass
    total = time.process_time() - start
    print(f"{len(rows) / total:.0f} rows a second of CPU time, {1000 * total / len(rows):.2f} ms a row")

    clock, spent = time.process_time, {}
    start = clock()
    docs = list(model.pipe([row["question"] for row in rows], batch_size=256))
    spent["spaCy"] = clock() - start
    start = clock()
    rest = [(row["enriched_question"] or row["question"])[len(row["question"]) :] for row in rows]
    questions = [read_question(doc, definitions) for doc, definitions in zip(docs, rest, strict=True)]
    spent["question rules"] = clock() - start
    start = clock()
    sqls = []
    for row in rows:
        try:
            sqls.append(read_sql(row["sql"], "sqlite"))
        except UnscoredError:
            sqls.append(None)
    spent["SQL (sqlglot and reading)"] = clock() - start
    start = clock()
    pairs = [Pair(q, s) for q, s in zip(questions, sqls, strict=True) if s is not None]
    for pair in pairs:
        _ = pair.filters, pair.tolerances
    spent["alignment"] = clock() - start
    start = clock()
    RulesJudge().judge([Request("", None, "", pair) for pair in pairs])
    spent["judge"] = clock() - start
    spent["reasons, enrichment, rest"] = max(0.0, total - sum(spent.values()))
    for name, seconds in spent.items():
        print(f"  {name:26s} {1000 * seconds / len(rows):6.2f} ms a row")


def memory(options: argparse.Namespace) -> None:
    """Peak memory of streaming more and more rows, in one process."""
    labels = labelled()

    def rows(count: int) -> Iterator[dict[str, Any]]:
        for n in range(count):
            row = labels[n % len(labels)]
            yield {"question": f"{row['question'].rstrip()} {n}", "sql": f"{row['sql'].rstrip('; ')} -- {n}"}

    done = 0
    for count in sorted({1_000, min(10_000, options.rows), options.rows}):
        start = time.process_time()
        done += sum(result.score is not None for result in Scorer().score_rows(rows(count)))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(
            f"{count:7,} rows: peak {peak:.0f} MiB, {count / (time.process_time() - start):.0f} rows a second"
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True)
    for run, defaults in (
        (agreement, {}),
        (rules, {"step": 1}),
        (speed, {"rows": 2000}),
        (memory, {"rows": 100_000}),
    ):
        command = commands.add_parser(run.__name__, help=run.__doc__)
        command.add_argument("--dialect", default="sqlite")
        command.add_argument("--alone", action="store_true", help="leave the enriched questions out")
        for name, default in defaults.items():
            command.add_argument(f"--{name}", type=int, default=default)
        command.set_defaults(run=run)
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    main()
