"""Flags that commands share, named like the fields they fill: `read_source` and `BuildOptions`.

A flag that is not given leaves nothing in the namespace, so each default stands once, where it is used; the
help repeats it (a test compares the two), because importing it would make `--help` slow.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from spider_compose.composition.build import BuildOptions
    from spider_compose.source.records import Source

SOURCE_HELP = (
    "'bundled' (the corpus in the package); a folder with Spider's release, the Hub's Parquet files, a "
    "corpus of text2sql-data, WikiSQL, BIRD, or one of your own with the columns db_id, query, question; or "
    "a dataset on the Hub as owner/name"
)

_SOURCE_FIELDS = (
    "revision",
    "schemas",
    "dialect",
    "format",
    "own_split",
    "held_out",
    "columns",
    "database",
)


def add_source_flags(parser: argparse.ArgumentParser) -> None:
    """Flags of `read_source`, but for the source itself."""
    group = parser.add_argument_group("source")
    group.add_argument(
        "--revision",
        metavar="REF",
        default=argparse.SUPPRESS,
        help="commit, branch or tag, for the Hub alone",
    )
    group.add_argument(
        "--schemas",
        metavar="FILE",
        default=argparse.SUPPRESS,
        help="schemas in the format of Spider's tables.json, or a CSV of text2sql-data, a SQLite file or a "
        "DDL script of one database (default: those beside the source)",
    )
    group.add_argument(
        "--dialect",
        default=argparse.SUPPRESS,
        help="SQL dialect of the queries, any that sqlglot knows (default: sqlite)",
    )
    group.add_argument(
        "--format",
        metavar="NAME",
        default=argparse.SUPPRESS,
        help="spider, text2sql, wikisql, bird or columns (default: told from the files)",
    )
    group.add_argument(
        "--own-split",
        metavar="KIND",
        default=argparse.SUPPRESS,
        help="of text2sql-data, its question or its query split (default: question)",
    )
    group.add_argument(
        "--held-out",
        metavar="PARTS",
        default=argparse.SUPPRESS,
        help="the corpus's own parts that the test split is made from (default: test, else dev, else the "
        "last fold)",
    )
    group.add_argument(
        "--columns",
        metavar="NAMES",
        default=argparse.SUPPRESS,
        help="what your corpus calls the columns, as query=SQL,question=utterance",
    )
    group.add_argument(
        "--database",
        metavar="NAME",
        default=argparse.SUPPRESS,
        help="the one database of a corpus without a column db_id",
    )


def add_build_flags(parser: argparse.ArgumentParser, deduplicate: bool = True) -> None:
    """Flags of `BuildOptions`."""
    group = parser.add_argument_group("building")
    group.add_argument(
        "--aligner",
        metavar="NAME",
        default=argparse.SUPPRESS,
        help="which aligner says what words speak for a clause (default: segment; the paper's is keyword)",
    )
    if deduplicate:
        group.add_argument(
            "--deduplicate",
            metavar="PARTS",
            default=argparse.SUPPRESS,
            help="drop exact (SQL, text) duplicates in 'train', 'all' or 'none' (default: train)",
        )
    group.add_argument(
        "--resolve-aliases",
        action=argparse.BooleanOptionalAction,
        default=argparse.SUPPRESS,
        help="name tables instead of T1, T2 in clauses that stand without their FROM (default: yes; with the "
        "aligner keyword no, as in the paper)",
    )
    group.add_argument(
        "--spacy-model",
        metavar="NAME",
        default=argparse.SUPPRESS,
        help="spaCy pipeline for lemmas and tags (default: en_core_web_sm)",
    )


def add_grammar_flag(parser: argparse.ArgumentParser) -> None:
    """The flag for the grammar of a comparison."""
    parser.add_argument(
        "--grammar",
        choices=("auto", "spider", "sqlglot"),
        default="auto",
        help="whose compounds are compared: Spider's, sqlglot's, or auto: Spider's where it reads nearly all "
        "queries (default: %(default)s)",
    )


def given_flags(arguments: argparse.Namespace) -> list[str]:
    """The flags of source and build on the command line, as they are typed."""
    return _typed(arguments, _SOURCE_FIELDS) + given_build_flags(arguments)


def given_build_flags(arguments: argparse.Namespace) -> list[str]:
    """Those of the build alone."""
    return _typed(arguments, ("aligner", "deduplicate", "resolve_aliases", "spacy_model"))


def _typed(arguments: argparse.Namespace, names: Iterable[str]) -> list[str]:
    return [f"--{name.replace('_', '-')}" for name in names if name in arguments]


def source_of(arguments: argparse.Namespace) -> Source:
    """Read the source that the arguments name; rows that cannot be used are left out.

    Raises:
        SpiderComposeError: as `read_source`.
    """
    from spider_compose.source import read_source

    chosen = {name: getattr(arguments, name) for name in _SOURCE_FIELDS if name in arguments}
    return read_source(arguments.source, **chosen)


def build_options_of(arguments: argparse.Namespace) -> BuildOptions:
    """The build options that the arguments name; what they leave open is that of the aligner's config.

    Raises:
        OptionError: a value outside its range.
    """
    from spider_compose.dataset.configs import composed_config

    return composed_config(given_options(arguments))[1]


def given_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """The build options on the command line."""
    from dataclasses import fields

    from spider_compose.composition.build import BuildOptions

    # `strict` is the command's business: it names all faulty rows before it stops, not the first alone.
    names = [field.name for field in fields(BuildOptions) if field.name != "strict"]
    return {name: getattr(arguments, name) for name in names if name in arguments}
