"""What every split gives (row numbers per part, rows left out, a signature), and checks they share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from spider_compose.errors import OptionError, SourceError
from spider_compose.source.records import LeftOut
from spider_compose.splits.text import normalize_query

Row = Mapping[str, Any]
"""One row of a corpus: at least `query`, and `db_id` and `question` where a split or a report needs them."""


@dataclass(frozen=True)
class SplitRows:
    """A split in two.

    Attributes:
        train: 0-based numbers of the rows given, in the method's order.
        rest: the held-out rows, in ascending order.
        left_out: rows in neither part, with the reason.
        signature: everything that moves the rows: method, seed, sizes, grammar, version of the tokenizer.
    """

    train: tuple[int, ...]
    rest: tuple[int, ...]
    left_out: tuple[LeftOut, ...] = ()
    signature: str = ""


@dataclass(frozen=True)
class ThreeParts:
    """A split in train, validation and test; attributes as in `SplitRows`."""

    train: tuple[int, ...]
    validation: tuple[int, ...]
    test: tuple[int, ...]
    left_out: tuple[LeftOut, ...] = ()
    signature: str = ""


def queries_of(rows: Sequence[Row]) -> list[str]:
    """The queries of a corpus.

    Raises:
        SourceError: there are no rows, they come without a length, or a row has no query.
    """
    check_rows(rows)
    if not rows:
        raise SourceError("expected rows with a query, but the corpus is empty")
    return [text_of(row, number, "query") for number, row in enumerate(rows)]


def check_rows(rows: object) -> None:
    """Refuse what can be gone through only once: rows are read several times, by number.

    Raises:
        SourceError: the rows are a generator or another iterator.
    """
    if isinstance(rows, Iterator):
        raise SourceError(f"expected a list of rows, but got a {type(rows).__name__}; give list(rows)")


def queries_to_split(rows: Sequence[Row]) -> list[str]:
    """The queries of a corpus that can be split.

    Raises:
        SourceError: as in `queries_of`, or there is one row, or all rows have the same query.
    """
    queries = queries_of(rows)
    if len(rows) == 1:
        raise SourceError("expected at least 2 rows to split, but the corpus has 1")
    if len({normalize_query(query) for query in queries}) == 1:
        raise SourceError(
            f"all {len(rows)} rows have the same query ({queries[0]!r}): there is nothing to split by"
        )
    return queries


def text_of(row: Row, number: int, column: str) -> str:
    """`row[column]`, checked to be text with something in it."""
    if not isinstance(row, Mapping):
        raise SourceError(f"row {number}: expected a dict with the column {column!r}, but got {row!r}")
    value = row.get(column)
    if not isinstance(value, str) or not value.strip():
        raise SourceError(f"row {number}: expected text in column {column!r}, but got {value!r}")
    return value


def check_train_size(train_size: int, total: int) -> None:
    """Refuse sizes that leave a part empty.

    Raises:
        OptionError: `train_size` is no integer from 1 to `total` - 1.
    """
    if isinstance(train_size, bool) or not isinstance(train_size, int) or not 1 <= train_size < total:
        raise OptionError(
            f"`train_size` must be an integer from 1 to {total - 1} (of {total} rows that can be split), "
            f"but got {train_size!r}"
        )


def check_seed(seed: int) -> None:
    """Refuse seeds that are no whole number.

    Raises:
        OptionError: so it is.
    """
    if isinstance(seed, bool) or not isinstance(seed, int):
        raise OptionError(f"`seed` must be an integer, but got {seed!r}")


def make_signature(**settings: object) -> str:
    """`method:tmcd|seed:1|...`, in the order given."""
    return "|".join(f"{name}:{value}" for name, value in settings.items())
