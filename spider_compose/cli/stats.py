"""`spider-compose stats`: lengths of queries and texts (tables 5 to 8), and training against test."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spider_compose.cli.options import (
    SOURCE_HELP,
    add_build_flags,
    add_grammar_flag,
    add_source_flags,
    build_options_of,
    given_flags,
    given_options,
    source_of,
)
from spider_compose.errors import OptionError, OutputError

if TYPE_CHECKING:
    from spider_compose.cli.built_folder import BuiltFolder
    from spider_compose.cli.comparison import Measured, Rows
    from spider_compose.composition.statistics import LengthStatistics

PICTURES = (".png", ".svg")


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "stats",
        help="length distributions, and training against test",
        description="Lengths of SQL and of text per part of the dataset and by number of clauses; a length "
        "counts words and signs. With --config, --all or --html also how far training and test are apart: "
        "compound divergence, unseen atoms, shared templates and clauses.",
    )
    parser.add_argument(
        "source",
        nargs="?",
        default="bundled",
        help=f"a folder written by build or split, or, built for this, {SOURCE_HELP} (default: %(default)s)",
    )
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--config", metavar="NAMES", help="measure and compare these configs, such as compose,spider_tmcd"
    )
    which.add_argument("--all", action="store_true", help="measure and compare every config that has pairs")
    parser.add_argument("--json", action="store_true", help="print the tables as JSON")
    parser.add_argument("--plot", metavar="FILE", help="draw the lengths too, to a .png or .svg")
    parser.add_argument("--html", metavar="FILE", help="write a page with all of it too")
    add_grammar_flag(parser)
    add_source_flags(parser)
    add_build_flags(parser)
    parser.set_defaults(run=run)


@dataclass(frozen=True)
class _Chosen:
    """The configs to measure.

    Attributes:
        title: what they come from.
        dialect: of their queries.
        rows: rows by split, by config.
        signatures: by config.
        without: why a config is not among them.
    """

    title: str
    dialect: str
    rows: Mapping[str, Mapping[str, Rows]]
    signatures: Mapping[str, str]
    without: Mapping[str, str] = field(default_factory=dict)


def run(arguments: argparse.Namespace) -> int:
    """Measure, print, draw."""
    plot, page = (Path(name) if name else None for name in (arguments.plot, arguments.html))
    if plot and plot.suffix.lower() not in PICTURES:
        raise OptionError(f"`plot` must end in {' or '.join(PICTURES)}, but got {arguments.plot!r}.")
    compare = bool(arguments.all or arguments.config or page)
    if arguments.grammar != "auto" and not compare:
        raise OptionError("--grammar is for comparisons: add --config, --all or --html.")
    chosen = _choose(arguments)
    if not compare:
        ((name, rows),) = chosen.rows.items()
        return _lengths_alone(arguments, chosen.signatures[name], rows, plot)
    measured = _measure(chosen, arguments.grammar)
    if plot:
        from spider_compose.cli.length_plot import draw_configs

        _write(plot, lambda path: draw_configs({one.name: one.lengths for one in measured}, path))
    if page:
        from spider_compose.cli.comparison_page import render_page

        text = render_page(chosen.title, measured, chosen.without)
        _write(page, lambda path: path.write_text(text, encoding="utf-8", newline="\n"))
    if arguments.json:
        configs = [one.to_dict() for one in measured]
        content = {"source": chosen.title, "configs": configs, "not_made": dict(chosen.without)}
        print(json.dumps(content, indent=2, ensure_ascii=False))
    else:
        print(_told(measured, chosen.without))
    return 0


def _told(measured: Sequence[Measured], without: Mapping[str, str]) -> str:
    from spider_compose.cli.comparison import render

    parts = [render(measured)]
    parts += ["\n".join(f"not made: {name}: {reason}" for name, reason in without.items())] if without else []
    parts.append("\n".join(f"{one.name}: {one.signature}" for one in measured))
    return "\n\n".join(parts)


def _write(path: Path, write: Callable[[Path], object]) -> None:
    try:
        write(path)
    except OSError as error:
        raise OutputError(
            f"cannot write {path}: {error.strerror}. Name a file in a folder that exists."
        ) from error


def _lengths_alone(
    arguments: argparse.Namespace, signature: str, rows: Mapping[str, Rows], plot: Path | None
) -> int:
    """Tables 5 and 6 of one config, by number of clauses too."""
    from spider_compose.composition.statistics import length_statistics, render_tables

    measured: LengthStatistics = length_statistics(rows)
    if plot:
        from spider_compose.cli.length_plot import draw

        _write(plot, lambda path: draw(measured, path))
    if arguments.json:
        print(json.dumps({"signature": signature, **measured.to_dict()}, indent=2))
    else:
        print(f"{render_tables(measured)}\n\nsignature  {signature}")
    return 0


def _choose(arguments: argparse.Namespace) -> _Chosen:
    from spider_compose.cli.built_folder import built_folder

    folder = built_folder(arguments.source)
    return _from_source(arguments) if folder is None else _from_folder(arguments, folder)


def _from_folder(arguments: argparse.Namespace, folder: BuiltFolder) -> _Chosen:
    from spider_compose.cli.comparison import COLUMNS

    if fixed := given_flags(arguments):
        raise OptionError(
            f"{folder.path} is a built folder, where {', '.join(fixed)} cannot change anything. "
            "Name a source."
        )
    names = _names(arguments, folder.pair_configs, folder.default_config)
    return _Chosen(
        folder.source_name,
        folder.options.dialect,
        {name: folder.pairs(COLUMNS, name) for name in names},
        {name: folder.config_signature(name) for name in names},
    )


def _from_source(arguments: argparse.Namespace) -> _Chosen:
    from spider_compose.dataset.configs import CONFIGS, composed_config
    from spider_compose.dataset.tables import Tables

    options = build_options_of(arguments)
    given = given_options(arguments)
    spec, _ = composed_config(given)
    # Where the aligner is chosen by hand, the configs that stand for another would be what `spec` is.
    alone = bool({"aligner", "resolve_aliases"} & given.keys())
    specs = {spec.name: spec}
    for other in CONFIGS.values():
        if other.kind == "pairs" and not (alone and other.recipe == "compose"):
            specs.setdefault(other.name, other)
    names = _names(arguments, list(specs), spec.name)
    source = source_of(arguments)
    made, without = Tables(source, given, progress=True).further(
        [specs[name] for name in names], "all" if arguments.all else "named"
    )
    return _Chosen(
        source.release or source.name,
        options.dialect,
        {table.spec.name: table.rows for table in made},
        {table.spec.name: table.signature for table in made},
        without,
    )


def _names(arguments: argparse.Namespace, known: Sequence[str], default: str) -> list[str]:
    from spider_compose.dataset.configs import CONFIGS
    from spider_compose.errors import choose

    if arguments.all:
        order = list(CONFIGS)
        return sorted(known, key=lambda name: order.index(name) if name in order else -1)
    asked = (arguments.config or default).split(",")
    return list(dict.fromkeys(choose("config", name.strip(), known) for name in asked))


def _measure(chosen: _Chosen, grammar: str) -> list[Measured]:
    from tqdm import tqdm

    from spider_compose.cli.comparison import best_held_out, common_grammar, measure
    from spider_compose.dataset.configs import CONFIGS

    if grammar == "auto":
        grammar = common_grammar(chosen.rows.values(), chosen.dialect)
    # disable=None: no bar where standard error is no terminal
    bar: Any = tqdm(chosen.rows.items(), desc="comparing", unit="config", disable=None, leave=False)
    return [
        measure(
            name,
            rows,
            chosen.signatures[name],
            description=CONFIGS[name].description if name in CONFIGS else "",
            held_out=best_held_out(rows),
            grammar=grammar,
            dialect=chosen.dialect,
        )
        for name, rows in bar
    ]
