"""`stef score FILE`: one JSON line per row on stdout, a summary on stderr.

`stef score LOG --out DIR`: the same for a log, into a folder that report, compare and monitor read.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from spider_compose.errors import OptionError
from spider_compose.stef.cli import rows as row_files
from spider_compose.stef.cli import score_log
from spider_compose.stef.cli.judge_options import add_judge_arguments, judge


def register(commands: Any) -> None:
    """Add the command."""
    command = commands.add_parser("score", help="score a file of queries", description=__doc__)
    command.add_argument(
        "file",
        metavar="FILE",
        help="JSON Lines, CSV or Parquet with a question and the SQL in each row; with `--out` also a folder "
        "of them, '-' for standard input, or datasets:NAME",
    )
    row_files.add_arguments(command)
    add_scorer_arguments(command)
    command.add_argument("--output", metavar="PATH", help="write the lines there (default: stdout)")
    command.add_argument("--summary", metavar="PATH", help="write the summary there as JSON as well")
    command.add_argument("--brief", action="store_true", help="leave reasons and enrichment out of the lines")
    score_log.add_arguments(command)
    score_log.add_ray_arguments(command)
    command.set_defaults(run=run)


def add_scorer_arguments(command: argparse.ArgumentParser) -> None:
    """The options that move a score."""
    command.add_argument("--rules", metavar="PATH", help="application rules (R_app), a JSON file")
    command.add_argument(
        "--dialect", help="SQL dialect of rows that name none (default: that of the rules, or auto)"
    )
    command.add_argument("--weights", metavar="PATH", help="weights of the rules, written by `stef fit`")
    add_judge_arguments(command)


def scorer(options: argparse.Namespace) -> Any:
    """The scorer the options describe."""
    return scorer_and_budget(options)[0]


def scorer_and_budget(options: argparse.Namespace) -> tuple[Any, Any]:
    """The scorer the options describe, and what its judge spends."""
    from dataclasses import replace

    from spider_compose.stef.judges.rules import RulesJudge, Weights, default_weights
    from spider_compose.stef.rules import ApplicationRules
    from spider_compose.stef.score import Scorer

    rules = ApplicationRules.read(options.rules)
    if options.dialect:
        rules = replace(rules, dialect=options.dialect)
    weights = Weights.read(options.weights) if options.weights else default_weights()
    used, budget = judge(options, RulesJudge(weights))
    return Scorer(rules, used), budget


def check_outputs(options: argparse.Namespace, source: str, *flags: str) -> None:
    """Refuse to write over what is read, or into a log, whose next reading would find it.

    Args:
        options: with the paths to write.
        source: a file or folder to read.
        flags: names of those options.

    Raises:
        OptionError: one of them would.
    """
    read = Path(source)
    for flag in flags:
        if getattr(options, flag) is None:
            continue
        target = Path(getattr(options, flag))
        if target.exists() and read.exists() and target.samefile(read):
            raise OptionError(f"`--{flag}` would write over the queries in {read}; name another file")
        is_log = flag == "summary" and read.is_dir() and target.suffix.lower() in row_files.FORMATS
        if is_log and read.resolve() in target.resolve().parents:
            raise OptionError(
                f"`--{flag}` would lie in the log {read} and be read with it; name another place"
            )


@contextmanager
def output(path: str | None) -> Iterator[TextIO]:
    """Where the lines go: a file that takes the place of an earlier one only when all lines are written."""
    if path is None:
        yield sys.stdout
        return
    target = Path(path).resolve()
    if target.exists() and not target.is_file():  # a pipe, a device
        with target.open("w", encoding="utf-8") as out:
            yield out
        return
    if not target.parent.is_dir():
        raise OptionError(f"cannot write {path}: there is no folder {target.parent}")
    part = target.with_name(f"{target.name}.{os.getpid()}.part")
    try:
        with part.open("w", encoding="utf-8") as out:
            yield out
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


def run(options: argparse.Namespace) -> int:
    """Score the file, or the log."""
    from itertools import tee

    from spider_compose.stef.score import Summary

    score_log.check_options(options)
    check_outputs(options, options.file, "output", "summary")
    if options.out is not None:
        return score_log.run(options, *scorer_and_budget(options))
    (used, budget), summary = scorer_and_budget(options), Summary()
    # `tee` holds back what the scorer reads ahead, no more: results come in the order of the rows.
    first, second = tee(row_files.read_rows(options, Path(options.file)))
    with output(options.output) as out:
        escaped = (out.encoding or "").lower().replace("-", "") != "utf8"
        for number, (row, result) in enumerate(zip(first, used.score_rows(second), strict=True)):
            summary.add(result)
            values = result.as_dict()
            if options.brief:
                values = {k: v for k, v in values.items() if k not in ("reasons", "enrichment", "tolerances")}
            # Rows that carry their own number keep it.
            numbered = {"row": row.get("row", number), **values}
            line = json.dumps(numbered, ensure_ascii=escaped, default=str)
            # Halves of UTF-16 pairs have no UTF-8; JSON has an escape for them.
            print(line.encode("utf-8", "backslashreplace").decode("utf-8"), file=out)
    report = {**summary.as_dict(), "signature": used.signature}
    if budget.answered or budget.failed:
        report["judge"] = budget.as_dict()
    if options.summary:
        Path(options.summary).write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(report, indent=2), file=sys.stderr)
    return 0
