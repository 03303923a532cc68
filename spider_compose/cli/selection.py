"""Which pairs `inspect` shows: of a built folder, or of a source, which is aligned as far as needed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, TypeVar

from spider_compose.errors import OptionError, SourceError, choose

if TYPE_CHECKING:
    from spider_compose.cli.built_folder import BuiltFolder
    from spider_compose.composition.build import BuildOptions
    from spider_compose.source.records import Source, SourcePair

_Row = TypeVar("_Row")

Row = Mapping[str, Any]
"""A row of the config `alignment`."""

PARTS = ("train", "validation")


@dataclass(frozen=True)
class Filters:
    """What is asked for; None asks nothing.

    Attributes:
        split: part of the source.
        rows: numbers in that part.
        db_id: name of the database.
        text: stands in the question or the query, in any case.
        clauses: the types of all clauses of the query, in order.
        num_clauses: their number.
        min_confidence: lowest confidence of the alignment, 0 to 1; a row without one does not pass.
        max_confidence: highest.
        limit: at most so many, evenly spread over all that pass.
        least_sure: only so many, those of least confidence, the least sure first.
    """

    split: str | None = None
    rows: tuple[int, ...] = ()
    db_id: str | None = None
    text: str | None = None
    clauses: tuple[str, ...] | None = None
    num_clauses: int | None = None
    min_confidence: float | None = None
    max_confidence: float | None = None
    limit: int | None = None
    least_sure: int | None = None

    @property
    def asks_confidence(self) -> bool:
        """Whether every row that passes the rest has to be aligned."""
        asked = (self.min_confidence, self.max_confidence, self.least_sure)
        return any(value is not None for value in asked)

    def passes_text(self, split: str, row: int, db_id: str, query: str, question: str) -> bool:
        """What can be told without reading the query."""
        return (
            (self.split is None or split == self.split)
            and (not self.rows or row in self.rows)
            and (self.db_id is None or db_id == self.db_id)
            and (self.text is None or self.text.lower() in f"{question}\n{query}".lower())
        )

    def passes_clauses(self, types: Sequence[str]) -> bool:
        """What can be told from the clauses."""
        return (self.clauses is None or tuple(types) == self.clauses) and (
            self.num_clauses is None or len(types) == self.num_clauses
        )

    def chosen(self, rows: Sequence[Row]) -> list[Row]:
        """The rows within the bounds of confidence and number.

        Raises:
            OptionError: confidence is asked for and the aligner gives none.
        """
        if self.asks_confidence:
            rows = self._sure_enough(rows)
        return spread(rows, self.limit) if self.limit is not None else list(rows)

    def _sure_enough(self, rows: Sequence[Row]) -> list[Row]:
        if rows and confidence(rows) is None:
            raise OptionError("this aligner gives no confidence to choose by. Choose another with --aligner.")
        low = 0.0 if self.min_confidence is None else self.min_confidence
        high = 1.0 if self.max_confidence is None else self.max_confidence
        known = [row for row in rows if row["alignment_confidence"] is not None]
        within = [row for row in known if low <= row["alignment_confidence"] <= high]
        if self.least_sure is None:
            return within
        return sorted(within, key=lambda row: row["alignment_confidence"])[: self.least_sure]


@dataclass(frozen=True)
class Selection:
    """The rows to show.

    Attributes:
        title: what they come from.
        signature: everything that moved them.
        options: one for each aligner shown, two where they are compared.
        alignments: per pair one row per aligner.
        matching: pairs that passed the filters, but for those on confidence, before the limit.
        total: pairs there.
        notes: what the reader of the source has to say.
    """

    title: str
    signature: str
    options: tuple[BuildOptions, ...]
    alignments: tuple[tuple[Row, ...], ...]
    matching: int
    total: int
    notes: tuple[str, ...] = ()

    @property
    def aligners(self) -> tuple[str, ...]:
        """Their names."""
        return tuple(options.aligner for options in self.options)

    def pairs(self, alignments: Sequence[Row]) -> list[list[dict[str, Any]]]:
        """The recombined pairs of one source pair, per aligner."""
        from spider_compose.composition.build import compose_row

        return [
            list(compose_row(row, options)) for row, options in zip(alignments, self.options, strict=True)
        ]


def confidence(rows: Iterable[Row]) -> float | None:
    """The first confidence that any of the rows has."""
    return next((found for row in rows if (found := row["alignment_confidence"]) is not None), None)


def spread(rows: Sequence[_Row], most: int) -> list[_Row]:
    """At most so many of the rows, in their order, evenly spread over all of them."""
    if most >= len(rows):
        return list(rows)
    return [rows[(2 * place + 1) * len(rows) // (2 * most)] for place in range(most)]


def clause_pattern(text: str) -> tuple[str, ...]:
    """Clause types as a person writes them: "select, group by", "SELECT+WHERE".

    Raises:
        OptionError: something in it is no clause type.
    """
    from spider_compose.sql.clauses import CLAUSE_TYPES

    words = text.upper().replace("+", " ").replace(",", " ").replace("_", " ").split()
    found = []
    while words:
        size = 2 if words[1:2] == ["BY"] else 1
        found.append(choose("clauses", " ".join(words[:size]), CLAUSE_TYPES))
        del words[:size]
    if not found:
        raise OptionError(f"`clauses` must name some of {list(CLAUSE_TYPES)}, but got {text!r}.")
    return tuple(found)


def select_from_folder(folder: BuiltFolder, filters: Filters) -> Selection:
    """Choose from the rows of a built folder.

    Raises:
        SpiderComposeError: the folder is damaged, or no row passes.
    """
    alignments = folder.alignments()
    rows = [row for part in alignments.values() for row in part]
    _check_db_id(filters, (row["db_id"] for row in rows))
    passing = [
        row
        for row in rows
        if filters.passes_text(
            row["source_split"], row["source_row"], row["db_id"], row["query"], row["question"]
        )
        and filters.passes_clauses(row["clause_types"])
    ]
    chosen = filters.chosen(passing)
    if not chosen:
        left_out = folder.content["left_out"]
        raise _no_row(filters, {(left["split"], left["row"]): left["detail"] for left in left_out})
    return Selection(
        folder.source_name,
        folder.signature,
        (folder.options,),
        tuple((row,) for row in chosen),
        len(passing),
        len(rows),
    )


def select_from_source(
    source: Source, options: BuildOptions, filters: Filters, aligners: Sequence[str] = ()
) -> Selection:
    """Choose from a source, and align no more than is needed.

    Args:
        aligners: two to compare, in place of that of the options.

    Raises:
        SpiderComposeError: no row passes, or an option is outside its range.
    """
    chosen_options = tuple(replace(options, aligner=name) for name in aligners) or (options,)
    pairs = [pair for part in source.pairs.values() for pair in part]
    _check_db_id(filters, (pair.db_id for pair in pairs))
    passing = _passing_pairs(pairs, options, filters)
    wanted = passing
    if not filters.asks_confidence and filters.limit is not None:
        wanted = spread(passing, filters.limit)
    if not wanted:
        raise _no_row(filters, {(left.split, left.row): left.detail for left in source.left_out})
    tables = [_aligned(source, one, wanted) for one in chosen_options]
    # Of two aligners, the one that knows how sure it is decides.
    deciding = next((rows for rows, _ in tables if confidence(list(rows.values())) is not None), tables[0][0])
    deciders = filters.chosen(list(deciding.values()))
    if not deciders:
        raise _no_row(filters, {})
    keys = [(row["source_split"], row["source_row"]) for row in deciders]
    return Selection(
        source.release or source.name,
        "\n".join(signature for _, signature in tables),
        chosen_options,
        tuple(tuple(rows[key] for rows, _ in tables) for key in keys),
        len(passing),
        len(pairs),
        source.notes,
    )


def _passing_pairs(pairs: Iterable[SourcePair], options: BuildOptions, filters: Filters) -> list[SourcePair]:
    passing = [
        pair
        for pair in pairs
        if filters.passes_text(pair.split, pair.row, pair.db_id, pair.query, pair.question)
    ]
    if filters.clauses is None and filters.num_clauses is None:
        return passing
    from spider_compose.errors import ClauseError
    from spider_compose.sql.clauses import split_clauses

    def passes(pair: SourcePair) -> bool:
        try:
            return filters.passes_clauses(
                [clause.type for clause in split_clauses(pair.query, options.dialect)]
            )
        except ClauseError:
            return False

    return [pair for pair in passing if passes(pair)]


def _aligned(
    source: Source, options: BuildOptions, pairs: Sequence[SourcePair]
) -> tuple[dict[tuple[str, int], Row], str]:
    from spider_compose.composition.build import build

    parts = {part: tuple(pair for pair in pairs if pair.split == part) for part in source.pairs}
    built = build(replace(source, pairs=parts, left_out=()), options, progress=True)
    rows: dict[tuple[str, int], Row] = {
        (row["source_split"], row["source_row"]): row for part in built.alignments.values() for row in part
    }
    return rows, built.signature


def _check_db_id(filters: Filters, known: Iterable[str]) -> None:
    if filters.db_id is not None:
        databases = sorted(set(known))
        if filters.db_id not in databases:
            near = get_close_matches(filters.db_id, databases, n=1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise OptionError(
                f"`db_id` must be one of the {len(databases)} databases, but got {filters.db_id!r}.{hint}"
            )


def _no_row(filters: Filters, left_out: Mapping[tuple[str, int], str]) -> SourceError:
    asked = []
    for name, value in vars(filters).items():
        if value not in (None, ()) and name not in ("limit", "least_sure"):
            told = " ".join(map(str, value)) if isinstance(value, tuple) else str(value)
            asked.append(f"{name.replace('_', ' ')} {told}")
    details = [
        detail for (split, row), detail in left_out.items() if split == filters.split and row in filters.rows
    ]
    advice = f"It was left out: {details[0]}" if details else "Loosen or check the filters."
    return SourceError(f"no pair passes ({', '.join(asked) or 'no filter'}). {advice}")
