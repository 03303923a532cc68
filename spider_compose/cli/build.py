"""`spider-compose build`: source -> a folder that `load_dataset(FOLDER)` reads."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from spider_compose.cli.options import (
    SOURCE_HELP,
    add_build_flags,
    add_source_flags,
    given_options,
    source_of,
)
from spider_compose.terminal import visible

if TYPE_CHECKING:
    from pathlib import Path

    from spider_compose.composition.build import Build
    from spider_compose.dataset.tables import ConfigTable
    from spider_compose.source.records import LeftOut, Source

_Result = TypeVar("_Result")

# Exit code of --strict, told apart from 2 (nothing could be read at all).
ROWS_LEFT_OUT = 1

# Rows left out that are named for each reason; --json and the folder's signature.json name all.
NAMED_PER_REASON = 3


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "build",
        help="build the dataset and write it as a folder",
        description="Build SpiderCompose from a source and write it as a folder (Parquet, card, signature) "
        "that load_dataset(FOLDER) reads, here or from the Hub.",
    )
    parser.add_argument("--source", default="bundled", help=f"{SOURCE_HELP} (default: %(default)s)")
    parser.add_argument("--out", "--output", metavar="FOLDER", required=True, help="where to write")
    parser.add_argument(
        "--force",
        action="store_true",
        help="replace FOLDER whatever is in it (an unchanged former build always is)",
    )
    parser.add_argument(
        "--strict",
        action="store_true",
        help="if any row cannot be used, name all of them, write nothing and exit with 1",
    )
    parser.add_argument(
        "--configs",
        metavar="NAMES",
        help="configs to write beside the pairs, their alignments and the source: 'all', 'none', or names "
        "such as spider_tmcd,compose_paper (default: all, or none if the aligner or its aliases are chosen)",
    )
    parser.add_argument(
        "--workers",
        type=int,
        metavar="N",
        default=os.cpu_count() or 1,
        help="processes that share the work, with the same result (default: one per core, here %(default)s)",
    )
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    add_source_flags(parser)
    add_build_flags(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Build, write, report."""
    from spider_compose.dataset.configs import composed_config, further_configs
    from spider_compose.dataset.hub_folder import check_target, write_hub_folder
    from spider_compose.dataset.tables import Tables

    given = given_options(arguments)
    spec, _ = composed_config(given)
    further = further_configs(arguments.configs, spec, given)
    target = check_target(arguments.out, force=arguments.force)
    seconds: dict[str, float] = {}
    source = timed(seconds, "read", lambda: source_of(arguments))
    tables = Tables(source, given, progress=True, workers=arguments.workers)
    built = timed(seconds, "align and recombine", lambda: tables.build(spec))
    if arguments.strict and built.left_out:
        return _refuse(built.left_out)
    also, without = timed(seconds, "further configs", lambda: tables.further(further, arguments.configs))
    folder = timed(
        seconds, "write", lambda: write_hub_folder(built, target, also=also, force=arguments.force)
    )
    if arguments.json:
        print(json.dumps(report(built, also, without, folder, seconds), indent=2, ensure_ascii=False))
    else:
        print(render(built, also, without, folder, seconds))
    return 0


def report(
    built: Build,
    also: Sequence[ConfigTable],
    without: dict[str, str],
    folder: Path,
    seconds: dict[str, float],
) -> dict[str, Any]:
    """Everything that the command says, for `--json`.

    Args:
        also: tables of the configs beside the build's own.
        without: why other configs are not written, by name.
    """
    from dataclasses import asdict

    return {
        "folder": str(folder),
        "source": built.source.release or built.source.name,
        "notes": list(built.source.notes),
        "signature": built.signature,
        "counts": {split: asdict(counts) for split, counts in built.counts.items()},
        "paper": _paper_counts(built.source),
        "further_configs": {
            table.spec.name: {split: len(rows) for split, rows in table.rows.items()} for table in also
        },
        "not_written": without,
        "left_out": [asdict(row) for row in built.left_out],
        "seconds": {stage: round(taken, 3) for stage, taken in seconds.items()},
    }


def render(
    built: Build,
    also: Sequence[ConfigTable],
    without: dict[str, str],
    folder: Path,
    seconds: dict[str, float],
) -> str:
    """The same for people."""
    times = ", ".join(f"{stage} {taken:.1f} s" for stage, taken in seconds.items())
    parts = [
        "\n".join(
            [
                f"source     {built.source.release or built.source.name}",
                *(f"           {note}" for note in built.source.notes),
            ]
        ),
        _counts_table(built),
        _further_table(also, without),
        "\n".join(left_out_lines(built.left_out)),
        f"signature  {built.signature}\ntime       {times}\nwritten    {folder}",
    ]
    return "\n\n".join(part for part in parts if part)


def _counts_table(built: Build) -> str:
    from spider_compose.composition.statistics import text_table

    paper = _paper_counts(built.source)
    numbers = sorted({number for counts in built.counts.values() for number in counts.by_clauses})
    head = ["", "pairs", "with duplicates", *(["paper"] if paper else []), *map(_clauses, numbers)]
    lines = [head]
    for split, counts in built.counts.items():
        lines.append(
            [
                split,
                f"{counts.pairs:,}",
                f"{counts.before_deduplication:,}",
                *([f"{paper[split]:,}"] if paper else []),
                *(f"{counts.by_clauses.get(number, 0):,}" for number in numbers),
            ]
        )
    table = text_table(lines)
    without = {split: counts.without_words for split, counts in built.counts.items() if counts.without_words}
    if without:
        told = ", ".join(f"{count:,} in {split}" for split, count in without.items())
        table += f"\nleft out because their clauses have no words: {told}"
    return table


def _further_table(also: Sequence[ConfigTable], without: dict[str, str]) -> str:
    from spider_compose.composition.statistics import text_table

    lines = [f"not written: {name}: {reason}" for name, reason in without.items()]
    if also:
        rows = [
            [table.spec.name, *(f"{len(table.rows.get(split, [])):,}" for split in built_splits(also))]
            for table in also
        ]
        lines.insert(0, text_table([["config", *built_splits(also)], *rows]))
    return "\n".join(lines)


def built_splits(tables: Sequence[ConfigTable]) -> list[str]:
    """The splits of any of the tables, in their order."""
    return list(dict.fromkeys(split for table in tables for split in table.spec.splits))


def _paper_counts(source: Source) -> dict[str, int] | None:
    """The published counts, where the source is the published Spider."""
    from spider_compose.composition.build import PAPER_COUNTS
    from spider_compose.source.releases import SPIDER

    return dict(PAPER_COUNTS) if source.name == SPIDER.name else None


def _clauses(number: int) -> str:
    return f"{number} clause{'s' * (number != 1)}"


def left_out_lines(left_out: Iterable[LeftOut], most: int = NAMED_PER_REASON) -> list[str]:
    """Rows left out by reason, the commonest first, with the first of each named."""
    by_reason: dict[str, list[LeftOut]] = {}
    for row in left_out:
        by_reason.setdefault(row.reason, []).append(row)
    if not by_reason:
        return ["rows left out: none"]
    lines = [f"rows left out: {sum(map(len, by_reason.values())):,}"]
    for reason, rows in sorted(by_reason.items(), key=lambda item: (-len(item[1]), item[0])):
        lines.append(f"  {len(rows):,} x {reason}")
        lines += [f"      {visible(row.detail)}" for row in rows[:most]]
        if len(rows) > most:
            lines.append(f"      and {len(rows) - most:,} more (--json names all)")
    return lines


def _refuse(left_out: Sequence[LeftOut]) -> int:
    print("\n".join(left_out_lines(left_out, most=len(left_out))), file=sys.stderr)
    print("spider-compose: nothing was written: rows cannot be used, and --strict was given", file=sys.stderr)
    return ROWS_LEFT_OUT


def timed(seconds: dict[str, float], stage: str, work: Callable[[], _Result]) -> _Result:
    """Do something and note how long it took."""
    start = time.perf_counter()
    result = work()
    seconds[stage] = time.perf_counter() - start
    return result
