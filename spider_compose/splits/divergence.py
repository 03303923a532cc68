"""How far apart two sets of rows are: compounds, atoms, templates, lengths, clauses (tables 5 to 8)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from spider_compose.errors import SourceError
from spider_compose.splits.compounds import Analysis, analyse
from spider_compose.splits.overlap import row_clause_keys
from spider_compose.splits.parts import Row, check_rows, make_signature, queries_of, text_of
from spider_compose.splits.template import template_of_tokens
from spider_compose.splits.text import normalize_query, query_tokens, question_words
from spider_compose.splits.tmcd import REST_POWER, TRAIN_POWER, grammar_settings

_BUCKET = 10  # lengths per line of the printed table


@dataclass(frozen=True)
class Lengths:
    """A distribution of lengths.

    Attributes:
        counts: pairs of (length, rows), ascending.
        mean: 0 where there are no rows.
    """

    counts: tuple[tuple[int, int], ...]
    mean: float

    @classmethod
    def of(cls, lengths: Iterable[int]) -> Lengths:
        """The distribution of some lengths."""
        counts = Counter(lengths)
        rows = sum(counts.values())
        total = sum(length * count for length, count in counts.items())
        return cls(tuple(sorted(counts.items())), round(total / rows, 4) if rows else 0.0)

    def quantile(self, share: float) -> int:
        """The smallest length that at least `share` of the rows do not exceed; 0 where there are none."""
        rows = sum(count for _, count in self.counts)
        seen = 0
        for length, count in self.counts:
            seen += count
            if seen >= share * rows:
                return length
        return 0

    def buckets(self, size: int = _BUCKET) -> dict[int, int]:
        """Rows by the smallest length of their bucket: 1 to `size`, and so on."""
        found: dict[int, int] = {}
        for length, count in self.counts:
            start = (max(length, 1) - 1) // size * size + 1
            found[start] = found.get(start, 0) + count
        return found


@dataclass(frozen=True)
class ClauseOverlap:
    """Clauses that two sets share, by canonical text (see `overlap`).

    Attributes:
        train_clauses: distinct clauses in train; test_clauses: in test; shared: in both.
        train_rows: rows of train with a clause of test.
        test_rows: rows of test with a clause of train.
        test_rows_all: rows of test all of whose clauses are in train.
        left_out: rows of either set that cannot be cut into clauses.
    """

    train_clauses: int
    test_clauses: int
    shared: int
    train_rows: int
    test_rows: int
    test_rows_all: int
    left_out: int


@dataclass(frozen=True)
class DivergenceReport:
    """Two sets of rows compared.

    Attributes:
        train_rows: rows of train; test_rows: of test.
        compound_divergence: D = 1 - sum of p^0.1 q^0.9 over compounds, 0 (same frequencies) to 1 (none
            shared); p in train, q in test; over the rows the grammar reads.
        unseen_atom_rows: rows of test with a token that no row of train has.
        train_templates: distinct templates in train; test_templates: in test; shared_templates: in both.
        sql_lengths: tokens of the query by set ("train", "test").
        text_lengths: words and punctuation marks of the question by set.
        clauses: clause overlap, or None where it was not asked for.
        train_left_out: rows of train that the grammar does not read, and test_left_out of test.
        signature: grammar and versions.
    """

    train_rows: int
    test_rows: int
    compound_divergence: float
    unseen_atom_rows: int
    train_templates: int
    test_templates: int
    shared_templates: int
    sql_lengths: Mapping[str, Lengths]
    text_lengths: Mapping[str, Lengths]
    clauses: ClauseOverlap | None
    train_left_out: tuple[int, ...]
    test_left_out: tuple[int, ...]
    signature: str

    def to_json(self) -> str:
        """All fields as JSON, the same bytes for the same report."""
        return json.dumps(asdict(self), indent=2)

    @classmethod
    def from_json(cls, text: str) -> DivergenceReport:
        """Read what `to_json` wrote.

        Raises:
            SourceError: the text is no such report.
        """
        try:
            fields: dict[str, Any] = json.loads(text)
            for name in ("sql_lengths", "text_lengths"):
                fields[name] = {
                    part: Lengths(
                        tuple((int(length), int(rows)) for length, rows in entry["counts"]), entry["mean"]
                    )
                    for part, entry in fields[name].items()
                }
            if fields["clauses"] is not None:
                fields["clauses"] = ClauseOverlap(**fields["clauses"])
            for name in ("train_left_out", "test_left_out"):
                fields[name] = tuple(fields[name])
            return cls(**fields)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise SourceError(f"expected the JSON of a divergence report, but got {error!r}") from error

    def __str__(self) -> str:
        lines = [
            ("rows", f"{self.train_rows:,} / {self.test_rows:,}"),
            ("compound divergence", f"{self.compound_divergence:.4f}"),
            ("test rows with an unseen atom", f"{self.unseen_atom_rows:,}"),
            (
                "templates",
                f"{self.train_templates:,} / {self.test_templates:,}, shared {self.shared_templates:,}",
            ),
        ]
        if self.clauses:
            own = self.clauses
            lines += [
                ("clauses", f"{own.train_clauses:,} / {own.test_clauses:,}, shared {own.shared:,}"),
                ("rows with a clause of the other set", f"{own.train_rows:,} / {own.test_rows:,}"),
                ("test rows with every clause in train", f"{own.test_rows_all:,}"),
            ]
        if self.train_left_out or self.test_left_out:
            left = f"{len(self.train_left_out):,} / {len(self.test_left_out):,}"
            lines.append(("rows outside the grammar", left))
        width = max(len(name) for name, _ in lines)
        text = [f"{name:<{width}}  {value}" for name, value in lines]
        text += _table("tokens of the query", self.sql_lengths)
        text += _table("words of the question", self.text_lengths)
        return "\n".join([*text, "", self.signature])


def _table(title: str, lengths: Mapping[str, Lengths]) -> list[str]:
    """A distribution as text: a line per ten lengths, rows and share of each set."""
    parts = list(lengths)
    lines = ["", f"{title:<24}" + "".join(f"{part:>18}" for part in parts)]
    lines.append(f"{'mean':<24}" + "".join(f"{lengths[part].mean:>18.1f}" for part in parts))
    median = {part: lengths[part].quantile(0.5) for part in parts}
    lines.append(f"{'median':<24}" + "".join(f"{median[part]:>18}" for part in parts))
    buckets = {part: lengths[part].buckets() for part in parts}
    totals = {part: sum(buckets[part].values()) or 1 for part in parts}
    for start in sorted({start for part in parts for start in buckets[part]}):
        rows = [buckets[part].get(start, 0) for part in parts]
        shares = [
            f"{count:>9,} ({100 * count / totals[part]:5.1f}%)"
            for part, count in zip(parts, rows, strict=True)
        ]
        lines.append(
            f"{f'{start} to {start + _BUCKET - 1}':<24}" + "".join(f"{share:>18}" for share in shares)
        )
    return lines


def divergence_report(
    train_rows: Sequence[Row],
    test_rows: Sequence[Row],
    grammar: str = "auto",
    dialect: str = "sqlite",
    clauses: bool = True,
) -> DivergenceReport:
    """Compare any two sets of rows.

    Args:
        train_rows: with text in `query` and `question`.
        test_rows: likewise.
        grammar: of the compounds, for both sets together (see `compounds.analyse`).
        dialect: of sqlglot, for clauses and for its grammar.
        clauses: whether to compare clauses, which costs most of the time.

    Raises:
        SourceError: a set is empty, a row has no query or no question, or no row of a set is read by the
            grammar.
        OptionError: an option is unknown.
    """
    sets = {"train": train_rows, "test": test_rows}
    for name, rows in sets.items():
        check_rows(rows)
        if not rows:
            raise SourceError(f"expected rows to compare, but the {name} set is empty")
    analysis = analyse([*train_rows, *test_rows], grammar, dialect)
    tokens = _once_per_query(query_tokens)
    token_lists = {name: [tokens(query) for query in queries_of(rows)] for name, rows in sets.items()}
    seen = {token for row in token_lists["train"] for token in row}
    templates = {name: {template_of_tokens(row) for row in set(rows)} for name, rows in token_lists.items()}
    left_out = {entry.row for entry in analysis.left_out}
    return DivergenceReport(
        train_rows=len(train_rows),
        test_rows=len(test_rows),
        compound_divergence=_divergence(analysis, len(train_rows)),
        unseen_atom_rows=sum(not seen.issuperset(row) for row in token_lists["test"]),
        train_templates=len(templates["train"]),
        test_templates=len(templates["test"]),
        shared_templates=len(templates["train"] & templates["test"]),
        sql_lengths={name: Lengths.of(map(len, rows)) for name, rows in token_lists.items()},
        text_lengths={
            name: Lengths.of(
                len(question_words(text_of(row, number, "question"))) for number, row in enumerate(rows)
            )
            for name, rows in sets.items()
        },
        clauses=clause_overlap(train_rows, test_rows, dialect) if clauses else None,
        train_left_out=tuple(sorted(row for row in left_out if row < len(train_rows))),
        test_left_out=tuple(sorted(row - len(train_rows) for row in left_out if row >= len(train_rows))),
        signature=make_signature(
            report="divergence",
            train=len(train_rows),
            test=len(test_rows),
            **grammar_settings(analysis, dialect),
        ),
    )


def _once_per_query(read: Callable[[str], tuple[str, ...]]) -> Callable[[str], tuple[str, ...]]:
    known: dict[str, tuple[str, ...]] = {}

    def look_up(query: str) -> tuple[str, ...]:
        text = normalize_query(query)
        if text not in known:
            known[text] = read(query)
        return known[text]

    return look_up


def _divergence(analysis: Analysis, train: int) -> float:
    """D between the rows numbered below `train` and the others."""
    counts: tuple[Counter[int], Counter[int]] = (Counter(), Counter())
    for row, query in zip(analysis.rows, analysis.query_ids, strict=True):
        features = analysis.features[query]
        side = counts[row >= train]
        for compound, count in zip(features.compounds, features.counts, strict=True):
            side[compound] += count
    return compound_divergence(*counts)


def compound_divergence(train: Mapping[int, int], test: Mapping[int, int]) -> float:
    """D = 1 - sum over compounds of p^0.1 q^0.9 (Shaw et al. 2021, section 4).

    Args:
        train: occurrences by compound, giving p; test: giving q.

    Returns:
        0 where both have the same frequencies, 1 where they share no compound.

    Raises:
        SourceError: one of them is empty.
    """
    train_total, test_total = sum(train.values()), sum(test.values())
    if not train_total or not test_total:
        name = "test" if train_total else "train"
        raise SourceError(f"the {name} set has no compounds: the grammar reads none of its rows")
    shared = sum(
        (train[compound] / train_total) ** TRAIN_POWER * (count / test_total) ** REST_POWER
        for compound, count in sorted(test.items())
        if train.get(compound)
    )
    return float(1 - shared)


def clause_overlap(
    train_rows: Sequence[Row], test_rows: Sequence[Row], dialect: str = "sqlite"
) -> ClauseOverlap:
    """Compare the clauses of two sets of rows by their canonical text."""
    train = row_clause_keys(train_rows, dialect=dialect)
    test = row_clause_keys(test_rows, dialect=dialect)
    train_keys = frozenset().union(*train.values())
    test_keys = frozenset().union(*test.values())
    return ClauseOverlap(
        train_clauses=len(train_keys),
        test_clauses=len(test_keys),
        shared=len(train_keys & test_keys),
        train_rows=sum(not keys.isdisjoint(test_keys) for keys in train.values()),
        test_rows=sum(not keys.isdisjoint(train_keys) for keys in test.values()),
        test_rows_all=sum(keys <= train_keys for keys in test.values()),
        left_out=len(train_rows) + len(test_rows) - len(train) - len(test),
    )
