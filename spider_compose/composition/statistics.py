"""How long queries and texts are, per part and by number of clauses (tables 5 and 6)."""

from __future__ import annotations

import itertools
import math
import re
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

# A word or number, or one sign: "count(*)" is 4 long however it is spaced. One rule for SQL and text, and no
# tokenizer whose version could move it.
_UNIT = re.compile(r"\w+|[^\w\s]")

# Lowest lengths of the bins; the last is open upwards. Spider's medians lie in the second or third.
SQL_BINS = (1, 10, 20, 30, 40, 50, 60)
TEXT_BINS = (1, 5, 10, 15, 20, 25, 30)


@dataclass(frozen=True)
class LengthDistribution:
    """Lengths of one kind of text, in words and signs.

    Attributes:
        count: number of texts.
        mean: arithmetic mean; None without texts, as are the three below.
        median: of an even number of texts the mean of the middle two.
        p90: the smallest length that at least 90 % of the texts do not exceed (nearest rank).
        maximum: the longest.
        bins: texts per bin, as many as the bins' lowest lengths.
    """

    count: int
    mean: float | None
    median: float | None
    p90: int | None
    maximum: int | None
    bins: tuple[int, ...]


@dataclass(frozen=True)
class PairLengths:
    """Both sides of some pairs."""

    sql: LengthDistribution
    text: LengthDistribution


@dataclass(frozen=True)
class SplitLengths:
    """The lengths of one part: all of it, and by number of clauses, ascending."""

    all: PairLengths
    by_clauses: Mapping[int, PairLengths]


@dataclass(frozen=True)
class LengthStatistics:
    """Tables 5 (SQL) and 6 (text).

    Attributes:
        splits: by name, in the order given.
        sql_bins: lowest length of each bin of SQL; the last bin is open.
        text_bins: the same for text.
    """

    splits: Mapping[str, SplitLengths]
    sql_bins: tuple[int, ...] = SQL_BINS
    text_bins: tuple[int, ...] = TEXT_BINS

    def to_dict(self) -> dict[str, Any]:
        """For `json.dumps`."""
        return asdict(self)


def length(text: str) -> int:
    """Length of a query or a text in words and signs.

    >>> length("SELECT count(*) FROM singer"), length("How many singers are there?")
    (7, 6)
    """
    return len(_UNIT.findall(text))


def length_statistics(pairs: Mapping[str, Iterable[Mapping[str, Any]]]) -> LengthStatistics:
    """Measure the pairs of each part.

    Args:
        pairs: by part, rows with `query`, `question` and `num_clauses`.
    """
    return LengthStatistics({split: _split_lengths(rows) for split, rows in pairs.items()})


def _split_lengths(rows: Iterable[Mapping[str, Any]]) -> SplitLengths:
    by_clauses: dict[int, list[tuple[int, int]]] = {}
    for row in rows:
        measured = (length(row["query"]), length(row["question"]))
        by_clauses.setdefault(row["num_clauses"], []).append(measured)
    everything = [measured for group in by_clauses.values() for measured in group]
    return SplitLengths(
        _pair_lengths(everything),
        {number: _pair_lengths(by_clauses[number]) for number in sorted(by_clauses)},
    )


def _pair_lengths(measured: Sequence[tuple[int, int]]) -> PairLengths:
    return PairLengths(
        distribution([sql for sql, _ in measured], SQL_BINS),
        distribution([text for _, text in measured], TEXT_BINS),
    )


def distribution(lengths: Sequence[int], bins: Sequence[int]) -> LengthDistribution:
    """Describe some lengths.

    Args:
        bins: lowest length of each bin, ascending; what is shorter than the first counts there.
    """
    if not lengths:
        return LengthDistribution(0, None, None, None, None, (0,) * len(bins))
    counts = [0] * len(bins)
    for value in lengths:
        counts[max(0, sum(lowest <= value for lowest in bins) - 1)] += 1
    ordered = sorted(lengths)
    return LengthDistribution(
        count=len(ordered),
        mean=statistics.fmean(ordered),
        median=float(statistics.median(ordered)),
        p90=ordered[math.ceil(0.9 * len(ordered)) - 1],
        maximum=ordered[-1],
        bins=tuple(counts),
    )


def bin_labels(bins: Sequence[int]) -> list[str]:
    """Names of bins.

    >>> bin_labels((1, 5, 10))
    ['1-4', '5-9', '10+']
    """
    return [f"{low}-{above - 1}" for low, above in itertools.pairwise(bins)] + [f"{bins[-1]}+"]


def render_tables(measured: LengthStatistics) -> str:
    """Both tables as text: one line per part, indented lines by number of clauses."""
    sides = (
        ("Table 5: length of SQL (words and signs)", "sql", measured.sql_bins),
        ("Table 6: length of text (words and signs)", "text", measured.text_bins),
    )
    return "\n\n".join(f"{title}\n{_table(measured, side, bins)}" for title, side, bins in sides)


def _table(measured: LengthStatistics, side: str, bins: Sequence[int]) -> str:
    lines = [["", "pairs", "mean", "median", "P90", "max", *bin_labels(bins)]]
    for split, lengths in measured.splits.items():
        lines.append([split, *cells(getattr(lengths.all, side))])
        for number, group in lengths.by_clauses.items():
            name = f"  {number} clause{'s' * (number != 1)}"
            lines.append([name, *cells(getattr(group, side))])
    return text_table(lines)


def cells(lengths: LengthDistribution) -> list[str]:
    """A distribution as cells of a table: count, mean, median, P90, maximum, and each bin."""
    return [
        f"{lengths.count:,}",
        *("-" if value is None else f"{value:.1f}" for value in (lengths.mean, lengths.median)),
        *("-" if value is None else str(value) for value in (lengths.p90, lengths.maximum)),
        *(f"{count:,}" for count in lengths.bins),
    ]


def text_table(lines: Sequence[Sequence[str]]) -> str:
    """Cells in columns of one width each: the first column to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if place else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )
