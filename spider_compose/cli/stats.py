"""`spider-compose stats`: how long queries and texts are (tables 5 and 6)."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from spider_compose.cli.options import (
    SOURCE_HELP,
    add_build_flags,
    add_source_flags,
    build_options_of,
    given_flags,
    source_of,
)
from spider_compose.errors import OptionError, OutputError

if TYPE_CHECKING:
    from spider_compose.composition.statistics import LengthStatistics

PICTURES = (".png", ".svg")


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "stats",
        help="length distributions of SQL and text",
        description="Tables 5 and 6: lengths of SQL and of text per part of the dataset, and by number of "
        "clauses. A length counts words and signs.",
    )
    parser.add_argument(
        "source",
        nargs="?",
        default="bundled",
        help=f"a folder written by build, or, built for this, {SOURCE_HELP} (default: %(default)s)",
    )
    parser.add_argument("--json", action="store_true", help="print the tables as JSON")
    parser.add_argument("--plot", metavar="FILE", help="draw them too, to a .png or .svg")
    add_source_flags(parser)
    add_build_flags(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Measure, print, draw."""
    from spider_compose.composition.statistics import render_tables

    plot = Path(arguments.plot) if arguments.plot else None
    if plot and plot.suffix.lower() not in PICTURES:
        raise OptionError(f"`plot` must end in {' or '.join(PICTURES)}, but got {arguments.plot!r}.")
    signature, measured = _measure(arguments)
    if plot:
        from spider_compose.cli.length_plot import draw

        try:
            draw(measured, plot)
        except OSError as error:
            raise OutputError(
                f"cannot write {plot}: {error.strerror}. Name a file in a folder that exists."
            ) from error
    if arguments.json:
        print(json.dumps({"signature": signature, **measured.to_dict()}, indent=2))
    else:
        print(f"{render_tables(measured)}\n\nsignature  {signature}")
    return 0


def _measure(arguments: argparse.Namespace) -> tuple[str, LengthStatistics]:
    from spider_compose.cli.built_folder import built_folder
    from spider_compose.composition.statistics import length_statistics

    folder = built_folder(arguments.source)
    if folder is not None:
        fixed = given_flags(arguments)
        if fixed:
            raise OptionError(
                f"{folder.path} is a built folder, where {', '.join(fixed)} cannot change anything. "
                "Name a source."
            )
        return folder.signature, length_statistics(folder.pairs(["query", "question", "num_clauses"]))
    from spider_compose.composition.build import build

    options = build_options_of(arguments)
    built = build(source_of(arguments), options, progress=True)
    return built.signature, length_statistics(built.pairs)
