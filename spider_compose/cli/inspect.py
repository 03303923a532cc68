"""`spider-compose inspect`: look at pairs and their fragments, in the terminal or on a page."""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
    from spider_compose.cli.built_folder import BuiltFolder
    from spider_compose.cli.selection import Filters, Selection

TERMINAL_LIMIT, PAGE_LIMIT = 3, 200


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "inspect",
        help="look at pairs: which words say which clause",
        description="Show source pairs with the words of each clause and all their recombinations, in the "
        "terminal or, with --html, on one self-contained page. A source is aligned only as far as needed.",
    )
    parser.add_argument(
        "source",
        nargs="?",
        default="bundled",
        help=f"a folder written by build; or {SOURCE_HELP} (default: %(default)s)",
    )
    _add_filter_flags(parser)
    output = parser.add_argument_group("output").add_mutually_exclusive_group()
    output.add_argument("--html", metavar="FILE", help="write a page instead")
    output.add_argument("--json", action="store_true", help="print the rows and their recombinations as JSON")
    output.add_argument(
        "--color",
        choices=("auto", "always", "never"),
        default="auto",
        help="colours in the terminal (default: auto: where it is one, and NO_COLOR is not set)",
    )
    add_source_flags(parser)
    add_build_flags(parser, deduplicate=False)
    parser.add_argument(
        "--compare",
        nargs=2,
        metavar="ALIGNER",
        default=(),
        help="align a source by both aligners and show them side by side",
    )
    parser.add_argument(
        "--quality",
        action="store_true",
        help="count the faults in the texts of all pairs instead (all aligners side by side, or those named)",
    )
    parser.set_defaults(run=run)


def _add_filter_flags(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("which pairs")
    group.add_argument("--split", metavar="PART", help="part of the source: train or validation")
    group.add_argument(
        "--row",
        metavar="N",
        type=_count,
        action="append",
        default=[],
        help="row of that part, from 0; may be repeated (default part: train)",
    )
    group.add_argument("--db-id", metavar="NAME", help="one database")
    group.add_argument("--text", metavar="TEXT", help="stands in the question or the query")
    group.add_argument("--clauses", metavar="TYPES", help="exactly these clauses, as in 'select, group by'")
    group.add_argument("--num-clauses", metavar="N", type=_positive, help="so many clauses")
    group.add_argument("--min-confidence", metavar="X", type=_fraction, help="at least so sure, 0 to 1")
    group.add_argument("--max-confidence", metavar="X", type=_fraction, help="at most so sure")
    group.add_argument("--least-sure", metavar="N", type=_positive, help="the N least sure, least first")
    group.add_argument(
        "--limit",
        metavar="N",
        type=_positive,
        help=f"at most N, evenly spread over all that pass (default: {TERMINAL_LIMIT}, with --html "
        f"{PAGE_LIMIT}; with --row and --least-sure all)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Choose, align, show."""
    from spider_compose.cli.built_folder import built_folder

    folder = built_folder(arguments.source)
    _check_flags(arguments, folder)
    if arguments.quality:
        from spider_compose.cli import quality

        return quality.run(arguments, folder)
    filters = _filters(arguments)
    counts = None
    if folder is None:
        selection = _from_source(arguments, filters)
    else:
        from spider_compose.cli.selection import select_from_folder

        selection = select_from_folder(folder, filters)
        counts = {split: split_counts["pairs"] for split, split_counts in folder.content["counts"].items()}
    if arguments.html:
        _write_page(selection, counts, Path(arguments.html))
    elif arguments.json:
        print(json.dumps(_json(selection), indent=2, ensure_ascii=False))
    else:
        _print_pairs(selection, _colours(arguments.color))
    return 0


def _check_flags(arguments: argparse.Namespace, folder: BuiltFolder | None) -> None:
    if arguments.compare and "aligner" in arguments:
        raise OptionError("--compare names both aligners: leave --aligner out.")
    fixed = given_flags(arguments) + ["--compare"] * bool(arguments.compare)
    if folder is not None and fixed:
        raise OptionError(
            f"{folder.path} is a built folder, where {', '.join(fixed)} cannot change anything. "
            "Name a source."
        )


def _filters(arguments: argparse.Namespace) -> Filters:
    from spider_compose.cli.selection import PARTS, Filters, clause_pattern
    from spider_compose.errors import choose

    split = arguments.split or ("train" if arguments.row else None)
    if split is not None:
        choose("split", split, PARTS)
    limit = arguments.limit
    if limit is None and not arguments.row and arguments.least_sure is None:
        limit = PAGE_LIMIT if arguments.html else TERMINAL_LIMIT
    return Filters(
        split=split,
        rows=tuple(arguments.row),
        db_id=arguments.db_id,
        text=arguments.text,
        clauses=None if arguments.clauses is None else clause_pattern(arguments.clauses),
        num_clauses=arguments.num_clauses,
        min_confidence=arguments.min_confidence,
        max_confidence=arguments.max_confidence,
        limit=limit,
        least_sure=arguments.least_sure,
    )


def _from_source(arguments: argparse.Namespace, filters: Filters) -> Selection:
    from spider_compose.cli.selection import select_from_source

    options = build_options_of(arguments)
    return select_from_source(source_of(arguments), options, filters, arguments.compare)


def _write_page(selection: Selection, counts: dict[str, int] | None, path: Path) -> None:
    from spider_compose.cli.page import render_page

    text = render_page(selection, counts)
    try:
        path.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise OutputError(
            f"cannot write {path}: {error.strerror}. Name a file in a folder that exists."
        ) from error
    shown = len(selection.alignments)
    print(f"{shown:,} of {selection.total:,} pairs on {path} ({path.stat().st_size / 1e6:.1f} MB)")


def _print_pairs(selection: Selection, colour: bool) -> None:
    from spider_compose.cli.terminal_view import legend, render_pair

    if colour:
        print(legend(colour), end="\n\n")
    for rows in selection.alignments:
        print(render_pair(selection, rows, colour), end="\n\n")
    shown = len(selection.alignments)
    told = f"{shown:,} shown of {selection.matching:,} pairs that match, {selection.total:,} in all"
    print(told, file=sys.stderr)


def _json(selection: Selection) -> dict[str, Any]:
    rows = [
        {"aligner": aligner, **row, "pairs": pairs}
        for alignments in selection.alignments
        for aligner, row, pairs in zip(
            selection.aligners, alignments, selection.pairs(alignments), strict=True
        )
    ]
    return {
        "source": selection.title,
        "signature": selection.signature.splitlines(),
        "matching": selection.matching,
        "total": selection.total,
        "rows": rows,
    }


def _colours(wanted: str) -> bool:
    if wanted == "auto":  # https://no-color.org: set and not empty
        return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return wanted == "always"


def _count(text: str) -> int:
    return _number(text, int(text) if text.isdecimal() else None, "a whole number, 0 or more")


def _positive(text: str) -> int:
    return _number(text, int(text) or None if text.isdecimal() else None, "a whole number, 1 or more")


def _number(text: str, value: int | None, expected: str) -> int:
    if value is None:
        raise argparse.ArgumentTypeError(f"expected {expected}, but got {text!r}")
    return value


def _fraction(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"expected a number from 0 to 1, but got {text!r}")
    return value
