"""`spider-compose split`: one baseline split, or experiment 2, as a folder that `load_dataset` reads."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spider_compose.cli.build import left_out_lines, timed
from spider_compose.cli.options import (
    SOURCE_HELP,
    add_build_flags,
    add_grammar_flag,
    add_source_flags,
    given_build_flags,
    given_options,
    source_of,
)
from spider_compose.errors import OptionError

if TYPE_CHECKING:
    from spider_compose.cli.comparison import Measured
    from spider_compose.dataset.tables import ConfigTable, SplitOptions
    from spider_compose.source.records import Source

SPLITS = ("template", "tmcd", "length", "random", "no_overlap")

# Which splits an option moves; elsewhere it is refused rather than passed over.
MOVES = {
    "seed": ("template", "tmcd", "random"),
    "fractions": ("template", "tmcd", "length", "random"),
    "method": ("tmcd",),
    "split_source": ("template", "tmcd", "length", "random"),
    "overlap": ("no_overlap",),
}


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "split",
        help="write a baseline split, or the pairs without overlap",
        description="Split the source's training pairs by template, for compound divergence (tmcd), by "
        "length or at random, or recombine them without any clause of the test pairs (no_overlap), write the "
        "config as a folder that load_dataset(FOLDER) reads, and say how far its parts are apart.",
    )
    parser.add_argument("split", choices=SPLITS, help="which split")
    parser.add_argument("--source", default="bundled", help=f"{SOURCE_HELP} (default: %(default)s)")
    parser.add_argument("--out", "--output", metavar="FOLDER", required=True, help="where to write")
    parser.add_argument(
        "--force",
        action="store_true",
        help="replace FOLDER whatever is in it (an unchanged former folder always is)",
    )
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    _add_split_flags(parser)
    add_grammar_flag(parser)
    add_source_flags(parser)
    add_build_flags(parser)
    parser.set_defaults(run=run)


def _add_split_flags(parser: argparse.ArgumentParser) -> None:
    """Flags of `SplitOptions`."""
    group = parser.add_argument_group("splitting")
    group.add_argument(
        "--seed",
        metavar="N",
        type=int,
        default=argparse.SUPPRESS,
        help="of the shuffles of template, tmcd and random (default: 1)",
    )
    group.add_argument(
        "--fractions",
        metavar="A/B/C",
        default=argparse.SUPPRESS,
        help="percent of the rows for train, validation and test (default: 75/12.5/12.5)",
    )
    group.add_argument(
        "--method",
        metavar="NAME",
        default=argparse.SUPPRESS,
        help="of tmcd: 'published', row for row the published tool, or 'max', the most divergence (default: "
        "published)",
    )
    group.add_argument(
        "--split-source",
        metavar="PART",
        default=argparse.SUPPRESS,
        help="part of the source that is split: 'train', or 'all' for both (default: train)",
    )
    group.add_argument(
        "--overlap",
        metavar="MODE",
        default=argparse.SUPPRESS,
        help="of no_overlap, what makes two clauses the same: 'canonical', 'strict' or 'value_blind' "
        "(default: canonical)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Split, write, compare, report."""
    from spider_compose.cli.comparison import measure
    from spider_compose.dataset.configs import CONFIGS
    from spider_compose.dataset.hub_folder import check_target, write_tables
    from spider_compose.dataset.tables import Tables

    options = split_options_of(arguments)
    given = given_options(arguments)
    spec = next(spec for spec in CONFIGS.values() if spec.recipe == arguments.split)
    dialect = spec.build_options(given).dialect
    target = check_target(arguments.out, force=arguments.force)
    seconds: dict[str, float] = {}
    source = timed(seconds, "read", lambda: source_of(arguments))
    table = timed(seconds, "split", lambda: Tables(source, given, splits=options, progress=True).table(spec))
    folder = timed(
        seconds, "write", lambda: write_tables([table], source, target, given=given, force=arguments.force)
    )
    measured = timed(
        seconds,
        "compare",
        lambda: measure(
            spec.name,
            table.rows,
            table.signature,
            description=spec.description,
            grammar=arguments.grammar,
            dialect=dialect,
        ),
    )
    if arguments.json:
        print(json.dumps(report(source, table, measured, folder, seconds), indent=2, ensure_ascii=False))
    else:
        print(render(source, table, measured, folder, seconds))
    return 0


def split_options_of(arguments: argparse.Namespace) -> SplitOptions:
    """The split options on the command line.

    Raises:
        OptionError: a value outside its range, or an option that cannot move the split that was asked for.
    """
    from spider_compose.dataset.tables import SplitOptions

    given = {name: getattr(arguments, name) for name in MOVES if name in arguments}
    idle = [f"--{name.replace('_', '-')}" for name in given if arguments.split not in MOVES[name]]
    if arguments.split != "no_overlap":
        idle += given_build_flags(arguments)
    if idle:
        raise OptionError(f"{', '.join(idle)} cannot change anything in the split {arguments.split!r}.")
    return SplitOptions(**given)


def report(
    source: Source, table: ConfigTable, measured: Measured, folder: Path, seconds: dict[str, float]
) -> dict[str, Any]:
    """Everything that the command says, for `--json`."""
    from dataclasses import asdict

    return {
        "folder": str(folder),
        "source": source.release or source.name,
        "notes": list(source.notes),
        **measured.to_dict(),
        "left_out": [asdict(row) for row in table.left_out],
        "seconds": {stage: round(taken, 3) for stage, taken in seconds.items()},
    }


def render(
    source: Source, table: ConfigTable, measured: Measured, folder: Path, seconds: dict[str, float]
) -> str:
    """The same for people."""
    from spider_compose.cli.comparison import render as render_measured

    times = ", ".join(f"{stage} {taken:.1f} s" for stage, taken in seconds.items())
    heading = [
        f"source     {source.release or source.name}",
        *(f"           {note}" for note in source.notes),
        f"config     {measured.name}: {measured.description}",
    ]
    return "\n\n".join(
        [
            "\n".join(heading),
            "\n".join(left_out_lines(table.left_out)),
            render_measured([measured]),
            f"signature  {table.signature}\ntime       {times}\nwritten    {folder}",
        ]
    )
