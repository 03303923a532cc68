"""`stef calibrate FILE`: how far a judge agrees with your labels; its calibration."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from spider_compose.errors import OptionError, SpiderComposeError
from spider_compose.stef.cli import rows as row_files
from spider_compose.stef.cli.fit import labelled_rows
from spider_compose.stef.cli.judge_options import add_judge_arguments


def register(commands: Any) -> None:
    """Add the command."""
    command = commands.add_parser(
        "calibrate", help="measure a judge on labelled queries, and calibrate it", description=__doc__
    )
    command.add_argument(
        "file", metavar="FILE", help="as for `stef score`, with a column `correct` (true or false)"
    )
    row_files.add_arguments(command)
    command.add_argument("--rules", metavar="PATH", help="application rules (R_app), a JSON file")
    command.add_argument("--dialect", help="SQL dialect of rows that name none")
    add_judge_arguments(command)
    command.add_argument(
        "--method", choices=["isotonic", "temperature"], default="isotonic", help="kind of calibration"
    )
    command.add_argument(
        "--group-column",
        default="db_id",
        metavar="NAME",
        help="rows with one value of it are calibrated by the others (default: db_id; without it, by tenths)",
    )
    command.add_argument("--output", metavar="PATH", help="where to write the calibration")
    command.add_argument("--json", action="store_true", help="print JSON instead of a table")
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Ask the judge about every row, print the table, write the calibration."""
    from dataclasses import replace

    from spider_compose.stef.agreement import agreement, as_table, calibrated, model_rating, rating
    from spider_compose.stef.cli.judge_options import judge
    from spider_compose.stef.judges.calibration import fit
    from spider_compose.stef.judges.rules import RulesJudge
    from spider_compose.stef.rules import ApplicationRules
    from spider_compose.stef.score import Scorer

    if options.calibration:
        raise OptionError("`--calibration` is what this command writes: name it with `--output`")
    rows = labelled_rows(options)
    rules = ApplicationRules.read(options.rules)
    if options.dialect:
        rules = replace(rules, dialect=options.dialect)
    used, budget = judge(options, RulesJudge())
    identity = str(getattr(used, "identity", ""))
    if options.output and not identity:
        raise OptionError(
            "`--output` needs one model as the judge, hub or transformers; the rules are fitted by `stef fit`"
        )
    judgements = [explained.judgement for explained in Scorer(rules, used).explain_rows(rows)]
    labels = [bool(row["correct"]) for row in rows]
    groups = [row.get(options.group_column, f"tenth {n % 10}") for n, row in enumerate(rows)]
    given = [
        (j.belief, label)
        for j, label in zip(judgements, labels, strict=True)
        if j is not None and j.belief is not None
    ]
    measured = {}
    if any(j is not None and j.without is not None for j in judgements):
        alone = [rating(j.without) if j is not None else None for j in judgements]
        measured["rules"] = agreement(alone, labels)
    if given:
        measured["model alone"] = agreement([model_rating(j) for j in judgements], labels)
    measured["judge"] = agreement([rating(j) for j in judgements], labels)
    if given:
        found = calibrated(judgements, labels, groups, options.method)
        measured[f"judge, {options.method}"] = agreement(found, labels)
    if options.output:
        if not given:
            raise SpiderComposeError(f"the judge gave no verdict on any row: {_why(judgements)}")
        fit([b for b, _ in given], [y for _, y in given], options.method, identity).write(options.output)
    report = {"signature": used.signature, "rows": len(rows), "right": sum(labels), "judge": budget.as_dict()}
    if options.json:
        print(json.dumps({"agreement": measured, **report}, indent=2))
    else:
        print(as_table(measured))
        print(f"\n{len(rows)} rows, {sum(labels)} of them right; {budget.line()}\n{used.signature}")
    if failed := sum(j is None or j.verdict is None for j in judgements):
        print(f"stef: {failed} rows without a verdict: {_why(judgements)}", file=sys.stderr)
    return 0


def _why(judgements: list[Any]) -> str:
    """The most frequent reason for a missing verdict."""
    from collections import Counter

    reasons = Counter(
        "not scored" if j is None else j.reason for j in judgements if j is None or j.verdict is None
    )
    return next((f"{reason} ({count} times)" for reason, count in reasons.most_common(1)), "")
