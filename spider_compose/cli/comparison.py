"""Configs measured: sizes, lengths (tables 5 to 8), and how far training and held-out parts are apart."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from spider_compose.composition.statistics import (
    LengthStatistics,
    bin_labels,
    cells,
    length_statistics,
    text_table,
)
from spider_compose.errors import SourceError

if TYPE_CHECKING:
    from spider_compose.splits import DivergenceReport

Rows = Sequence[Mapping[str, Any]]

TRAIN, HELD_OUT = "train", ("validation", "test")

COLUMNS = ["query", "question", "num_clauses", "clause_types", "source_split", "source_row"]
"""Those of a row that are read."""

KEY = """\
D               compound divergence, 0 (the same compounds as often) to 1 (none shared): Shaw et al. 2021
unseen atoms    held-out rows with a token that no training row has: Shaw et al. 2021
templates       held-out templates (queries without values) that training has: Finegan-Dollak et al. 2018
clauses         held-out clauses that training has, by canonical text: Chen et al. 2024, experiment 2
known rows      held-out rows all of whose clauses training has
outside         rows that are no whole query of the grammar, training / held-out: D leaves them out"""


@dataclass(frozen=True)
class Measured:
    """One config, measured.

    Attributes:
        name: of the config.
        description: what its rows are, in one line.
        signature: everything that moves its rows.
        lengths: of SQL and text by split; says how many rows each has.
        reports: training compared with each held-out split that was asked for.
        not_compared: why a held-out split is not among them.
        grammar: of the compounds.
    """

    name: str
    description: str
    signature: str
    lengths: LengthStatistics
    reports: Mapping[str, DivergenceReport] = field(default_factory=dict)
    not_compared: Mapping[str, str] = field(default_factory=dict)
    grammar: str = ""

    @property
    def sizes(self) -> dict[str, int]:
        """Rows by split."""
        return {split: lengths.all.sql.count for split, lengths in self.lengths.splits.items()}

    def to_dict(self) -> dict[str, Any]:
        """For `json.dumps`."""
        return {
            "config": self.name,
            "signature": self.signature,
            "sizes": self.sizes,
            "grammar": self.grammar,
            "comparisons": {split: _figures(report) for split, report in self.reports.items()},
            "not_compared": dict(self.not_compared),
            "lengths": self.lengths.to_dict(),
        }


def _figures(report: DivergenceReport) -> dict[str, Any]:
    """A report without what `lengths` has, and its long lists as numbers."""
    figures = {
        name: value
        for name, value in asdict(report).items()
        if name not in ("sql_lengths", "text_lengths", "train_left_out", "test_left_out")
    }
    return {
        **figures,
        "train_outside_grammar": len(report.train_left_out),
        "test_outside_grammar": len(report.test_left_out),
    }


def measure(
    name: str,
    rows: Mapping[str, Rows],
    signature: str = "",
    *,
    description: str = "",
    held_out: Sequence[str] = HELD_OUT,
    grammar: str = "auto",
    dialect: str = "sqlite",
) -> Measured:
    """Measure a config.

    Args:
        rows: by split, with the columns `COLUMNS`.
        held_out: splits that training is compared with, where they have rows.
        grammar: of the compounds; "auto" as in `common_grammar`.
        dialect: of sqlglot.

    Raises:
        OptionError: `grammar` or `dialect` is unknown.
    """
    from spider_compose.splits import divergence_report

    if grammar == "auto" and held_out:
        grammar = common_grammar([rows], dialect)
    reports: dict[str, DivergenceReport] = {}
    not_compared = {}
    for split in held_out:
        if not rows.get(split):
            if split in rows:
                not_compared[split] = "it has no rows"
            continue
        try:
            reports[split] = divergence_report(rows.get(TRAIN, []), rows[split], grammar, dialect)
        except SourceError as error:  # so small a part that the grammar reads none of it
            not_compared[split] = str(error)
    return Measured(name, description, signature, length_statistics(rows), reports, not_compared, grammar)


def common_grammar(configs: Iterable[Mapping[str, Rows]], dialect: str = "sqlite") -> str:
    """The grammar whose compounds all these configs are measured by: figures of two grammars do not compare.

    It is Spider's where that reads nearly all whole queries of each (see `compounds.AUTO_SHARE`), else
    sqlglot's. Clauses without SELECT have no say: no grammar reads them.
    """
    from spider_compose.splits.compounds import AUTO_SHARE, analyse

    whole = [_whole_queries(rows) for rows in configs]
    queries = sorted(set().union(*whole))
    try:
        found = analyse([{"query": query} for query in queries], "spider", dialect)
    except SourceError:
        return "sqlglot"
    read = {queries[number] for number in found.rows}
    return "spider" if all(_share(own, read) >= AUTO_SHARE for own in whole if own) else "sqlglot"


def _whole_queries(rows: Mapping[str, Rows]) -> list[str]:
    return [row["query"] for part in rows.values() for row in part if "SELECT" in row["clause_types"]]


def _share(queries: Sequence[str], among: Container[str]) -> float:
    return sum(query in among for query in queries) / len(queries)


def best_held_out(rows: Mapping[str, Rows]) -> tuple[str, ...]:
    """The split that a comparison of configs looks at: test, or validation where there is no test."""
    return next(((split,) for split in reversed(HELD_OUT) if rows.get(split)), ())


def render(measured: Sequence[Measured]) -> str:
    """All configs as text: sizes, comparison with its key, lengths."""
    parts = [sizes_table(measured)]
    if any(config.reports for config in measured):
        parts.append(f"{comparison_table(measured)}\n\n{KEY}")
    parts += not_compared_lines(measured)
    parts += [f"Length of {title} (words and signs)\n{length_table(measured, side)}" for side, title in SIDES]
    return "\n\n".join(parts)


SIDES = (("sql", "SQL"), ("text", "text"))


def sizes_table(measured: Sequence[Measured]) -> str:
    """Rows by config and split."""
    splits = list(dict.fromkeys(split for config in measured for split in config.sizes))
    lines = [
        [config.name, *(f"{config.sizes[split]:,}" if split in config.sizes else "-" for split in splits)]
        for config in measured
    ]
    return text_table([["rows", *splits], *lines])


def comparison_table(measured: Sequence[Measured]) -> str:
    """One line per comparison."""
    head = ["train against", "D", "unseen atoms", "templates", "clauses", "known rows", "outside"]
    lines = [
        [f"{config.name} {split}", *(figure.told for figure in figures(report))]
        for config in measured
        for split, report in config.reports.items()
    ]
    grammars = " and ".join(dict.fromkeys(config.grammar for config in measured if config.reports))
    return f"{text_table([head, *lines])}\ngrammar: {grammars}"


@dataclass(frozen=True)
class Figure:
    """One figure of a comparison.

    Attributes:
        share: 0 to 1, for a picture; None where there is nothing to count.
        told: as it is written.
    """

    share: float | None
    told: str


def figures(report: DivergenceReport) -> list[Figure]:
    """The figures of a comparison, in the order of `KEY`."""
    clauses = report.clauses
    outside = len(report.train_left_out) + len(report.test_left_out)
    return [
        Figure(report.compound_divergence, f"{report.compound_divergence:.4f}"),
        _part(report.unseen_atom_rows, report.test_rows),
        _part(report.shared_templates, report.test_templates),
        _part(clauses.shared, clauses.test_clauses) if clauses else Figure(None, "-"),
        _part(clauses.test_rows_all, report.test_rows) if clauses else Figure(None, "-"),
        Figure(
            outside / (report.train_rows + report.test_rows),
            f"{len(report.train_left_out):,} / {len(report.test_left_out):,}",
        ),
    ]


def _part(count: int, total: int) -> Figure:
    if not total:
        return Figure(None, "-")
    return Figure(count / total, f"{count:,} of {total:,} ({100 * count / total:.1f} %)")


def not_compared_lines(measured: Iterable[Measured]) -> list[str]:
    """What could not be compared, and why."""
    return [
        f"not compared: {config.name} {split}: {reason}"
        for config in measured
        for split, reason in config.not_compared.items()
    ]


def length_table(measured: Sequence[Measured], side: str) -> str:
    """Lengths of one side ("sql" or "text"): a line per config and split."""
    lines: list[list[str]] = []
    for config in measured:
        bins: tuple[int, ...] = getattr(config.lengths, f"{side}_bins")
        lines = lines or [["", "rows", "mean", "median", "P90", "max", *bin_labels(bins)]]
        lines.append([config.name, *[""] * (len(lines[0]) - 1)])
        for split, lengths in config.lengths.splits.items():
            lines.append([f"  {split}", *cells(getattr(lengths.all, side))])
    return text_table(lines)
