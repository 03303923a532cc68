"""The rows of each config, made from a source; what configs have in common is made once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import metadata
from typing import TYPE_CHECKING, Any

import spider_compose
from spider_compose.composition.build import (
    Analysis,
    Build,
    BuildOptions,
    analyse,
    build,
    signature,
    source_pair_row,
)
from spider_compose.composition.processes import in_order
from spider_compose.dataset.configs import CONFIGS, DEFAULT_CONFIG, PARTS, ConfigSpec
from spider_compose.errors import ClauseError, OptionError, SourceError, choose
from spider_compose.source.own_parts import OWN_PARTS
from spider_compose.source.records import LeftOut, Source
from spider_compose.sql.clauses import split_clauses

if TYPE_CHECKING:
    from spider_compose.splits import Fractions

Rows = list[dict[str, Any]]

# What to take where queries are too short for recombination to leave some to test on.
_OF_WHOLE_QUERIES = ("spider_template", "spider_tmcd")


@dataclass(frozen=True)
class SplitOptions:
    """What moves the baseline splits and the no-overlap experiment, besides source and build.

    Attributes:
        seed: of the shuffles.
        fractions: shares of train, validation and test, as "75/12.5/12.5" (percent, together 100).
        method: of `spider_tmcd`: "published" or "max" (see `spider_compose.splits.tmcd`).
        split_source: which part of the source is split: "train", or "all" for both.
        overlap: of `compose_no_overlap`, what makes two clauses the same: "canonical", "strict" or
            "value_blind" (see `spider_compose.splits.overlap`).

    Raises:
        OptionError: a value outside its range.
    """

    seed: int = 1
    fractions: str = "75/12.5/12.5"
    method: str = "published"
    split_source: str = "train"
    overlap: str = "canonical"

    def __post_init__(self) -> None:
        choose("method", self.method, ("published", "max"))
        choose("split_source", self.split_source, ("train", "all"))
        choose("overlap", self.overlap, ("canonical", "strict", "value_blind"))
        self.shares()

    def shares(self) -> Fractions:
        """`fractions` as numbers from 0 to 1."""
        from spider_compose.splits import Fractions

        try:
            train, validation, test = (float(part) / 100 for part in self.fractions.split("/"))
        except (ValueError, AttributeError):
            raise OptionError(
                f"`fractions` must be three percentages such as '75/12.5/12.5', but got {self.fractions!r}"
            ) from None
        return Fractions(train, validation, test)


@dataclass(frozen=True)
class ConfigTable:
    """One config's rows.

    Attributes:
        rows: by split, in the order of `spec.splits`.
        signature: everything that moves them.
        left_out: rows of the source that are not among them, with the reason.
    """

    spec: ConfigSpec
    rows: Mapping[str, Rows]
    signature: str
    left_out: tuple[LeftOut, ...] = ()


def why_empty(spec: ConfigSpec, split: str, source: Source) -> str:
    """Why a split of a config has no rows, and what gives some: the end of a sentence, after a colon."""
    composed = spec.recipe in ("compose", "no_overlap")
    part = "validation" if split == "test" or (split == "validation" and not composed) else "train"
    named = "held-out" if part == "validation" else "training"
    count = len(source.pairs.get(part, ()))
    if not count:
        reason = f"the source has no {named} part"
    elif composed and split != "train":
        reason = f"none of the {count:,} queries of the {named} part has three clauses and words for them"
    else:
        return f"the {named} part has no row for it"
    if spec.name != DEFAULT_CONFIG:  # the advice once is enough
        return reason
    own_parts = any(note.startswith(OWN_PARTS) for note in source.notes)
    take = "Hold out others of its own parts (`held_out`), or take" if own_parts else "Take"
    return f"{reason}. {take} {' or '.join(_OF_WHOLE_QUERIES)}, which split whole queries of any size"


@dataclass
class Tables:
    """The tables of one source.

    Attributes:
        given: build options given by hand, in place of the configs' own.
        progress: show progress bars where standard error is a terminal.
        workers: processes that share the work; they move no row.
    """

    source: Source
    given: Mapping[str, Any] = field(default_factory=dict)
    splits: SplitOptions = field(default_factory=SplitOptions)
    progress: bool = False
    workers: int = 1
    _builds: dict[BuildOptions, Build] = field(default_factory=dict, init=False, repr=False)
    _analysis: Analysis | None = field(default=None, init=False, repr=False)

    def table(self, spec: ConfigSpec) -> ConfigTable:
        """Make a config's rows.

        Raises:
            SourceError: no row of the source can be used, or, if strict, one cannot; the source is too small
                for the split.
            OptionError: an option is outside its range.
            MissingExtraError: something the config needs is not installed.
        """
        if spec.recipe in ("compose", "alignment"):
            made = self.build(spec)
            rows = made.pairs if spec.recipe == "compose" else made.alignments
            return ConfigTable(spec, rows, made.signature, made.left_out)
        if spec.recipe == "no_overlap":
            return self._without_overlap(spec)
        if spec.recipe == "source":
            parts, left_out = self._source_rows
            return ConfigTable(spec, parts, self._source_signature(), left_out)
        return self._split(spec)

    def further(
        self, specs: Sequence[ConfigSpec], asked: str | None = None
    ) -> tuple[list[ConfigTable], dict[str, str]]:
        """The tables of several configs, and why some that nobody asked for by name are not among them.

        Args:
            specs: the configs.
            asked: as in `configs.further_configs`.

        Raises:
            SourceError: a config that was asked for by name cannot be made.
        """

        def make(position: int) -> ConfigTable | SourceError:
            try:
                return self.table(specs[position])
            except SourceError as error:  # a corpus may be too small for a split
                return error

        made, without = [], {}
        found = in_order(make, range(len(specs)), self.workers, lambda: self._source_rows)
        for spec, table in zip(specs, found, strict=True):
            if isinstance(table, ConfigTable):
                made.append(table)
            elif asked not in (None, "all"):
                raise table
            else:
                without[spec.name] = str(table)
        return made, without

    def build(self, spec: ConfigSpec) -> Build:
        """The build behind a config of recombined pairs or alignments."""
        options = spec.build_options(self.given)
        if options not in self._builds:
            # Configs differ in aligner and aliases, never in what the analysis depends on.
            self._analysis = self._analysis or analyse(self.source, options, self.progress, self.workers)
            self._builds[options] = build(self.source, options, self.progress, self._analysis)
        return self._builds[options]

    @cached_property
    def _source_rows(self) -> tuple[dict[str, Rows], tuple[LeftOut, ...]]:
        """The source's own pairs as rows with the columns of recombined ones, all clauses in the subset."""
        options = CONFIGS[DEFAULT_CONFIG].build_options(self.given)
        left_out = list(self.source.left_out)
        parts: dict[str, Rows] = {part: [] for part in PARTS}
        for part, pairs in self.source.pairs.items():
            for pair in pairs:
                try:
                    clauses = split_clauses(pair.query, options.dialect)
                    parts[part].append(source_pair_row(pair, clauses, self.source.extra))
                except ClauseError as error:
                    detail = f"{pair.split} row {pair.row} ({pair.db_id}): {error}"
                    if options.strict:
                        raise SourceError(detail) from error
                    left_out.append(LeftOut(part, pair.row, "the query cannot be cut into clauses", detail))
        return parts, tuple(left_out)

    def _source_signature(self) -> str:
        source = self.source
        name, print_ = source.release or source.name, source.fingerprint[:16]
        dialect = CONFIGS[DEFAULT_CONFIG].build_options(self.given).dialect
        return (
            f"source:{name}|fingerprint:{print_}|dialect:{dialect}|sqlglot:{metadata.version('sqlglot')}"
            f"|version:{spider_compose.__version__}"
        )

    def _split(self, spec: ConfigSpec) -> ConfigTable:
        from spider_compose.splits import three_parts

        options = self.splits
        parts, left_out = self._source_rows
        rows = [row for part in PARTS for row in parts[part] if options.split_source in ("all", part)]
        if not rows:
            raise SourceError(
                f"config {spec.name!r} splits the part {options.split_source!r}, which has no rows"
            )
        dialect = CONFIGS[DEFAULT_CONFIG].build_options(self.given).dialect
        method = options.method if spec.recipe == "tmcd" else "published"
        found = three_parts(rows, spec.recipe, options.shares(), options.seed, method, dialect=dialect)
        made = {split: [rows[number] for number in sorted(getattr(found, split))] for split in spec.splits}
        signature = f"{self._source_signature()}|of:{options.split_source}|{found.signature}"
        return ConfigTable(spec, made, signature, (*left_out, *_named(found.left_out, rows)))

    def _without_overlap(self, spec: ConfigSpec) -> ConfigTable:
        from spider_compose.splits import remove_overlap

        made = self.build(spec)
        train, test = made.pairs["train"], made.pairs["test"]
        if not test:
            return ConfigTable(spec, made.pairs, f"{made.signature}|no test pairs", made.left_out)
        origins = {
            (row["source_split"], row["source_row"]): row for part in made.alignments.values() for row in part
        }
        known = {}
        for row in (*train, *test):
            clauses = origins[row["source_split"], row["source_row"]]["clause_sql"]
            pieces = [clauses[clause] for clause in row["clause_subset"]]
            if " ".join(pieces) == row["query"]:  # but for those whose aliases are resolved
                known[row["query"]] = pieces
        found = remove_overlap(
            train,
            test,
            self.splits.overlap,
            {place: row["query"] for place, row in origins.items()},
            made.options.dialect,
            known,
        )
        rows = {**made.pairs, "train": [train[number] for number in found.kept]}
        return ConfigTable(spec, rows, f"{made.signature}|{found.signature}", made.left_out)


def table_settings(
    spec: ConfigSpec, source: Source, given: Mapping[str, Any], splits: SplitOptions
) -> dict[str, Any]:
    """Everything that moves a config's rows besides the code, without making them."""
    options = spec.build_options(given)
    cutting = {"dialect": options.dialect, "sqlglot": metadata.version("sqlglot")}  # queries into clauses
    if spec.recipe == "source":
        return cutting
    if spec.recipe in ("compose", "alignment"):
        return {"build": signature(source, options)}
    moved = {**vars(splits), **cutting}
    return {**moved, "build": signature(source, options)} if spec.recipe == "no_overlap" else moved


def _named(left_out: Sequence[LeftOut], rows: Sequence[Mapping[str, Any]]) -> list[LeftOut]:
    """Rows that a split left out, by their place in the source rather than among the rows it was given."""
    return [
        LeftOut(rows[one.row]["source_split"], rows[one.row]["source_row"], one.reason, one.detail)
        for one in left_out
    ]
