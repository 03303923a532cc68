"""Length split: the longest queries are held out (Finegan-Dollak et al. 2018; Shaw et al. 2021)."""

from __future__ import annotations

from collections.abc import Sequence

from spider_compose.splits.parts import Row, SplitRows, check_train_size, make_signature, queries_to_split
from spider_compose.splits.text import query_tokens, sqlparse_version


def length_split(rows: Sequence[Row], train_size: int) -> SplitRows:
    """Take the `train_size` rows with the shortest queries into train; equal lengths in the rows' order.

    Args:
        rows: with text in `query`, whose length is counted in `query_tokens`.
        train_size: from 1 to `len(rows)` - 1.

    Raises:
        SourceError: the corpus is empty, has one row, or all its queries are equal.
        OptionError: `train_size` is out of range.
    """
    lengths = query_lengths(queries_to_split(rows))
    check_train_size(train_size, len(rows))
    order = sorted(range(len(rows)), key=lengths.__getitem__)
    return SplitRows(
        train=tuple(order[:train_size]),
        rest=tuple(sorted(order[train_size:])),
        signature=make_signature(
            split="length", rows=len(rows), train_size=train_size, sqlparse=sqlparse_version()
        ),
    )


def query_lengths(queries: Sequence[str]) -> list[int]:
    """Tokens of each query."""
    known = {query: len(query_tokens(query)) for query in dict.fromkeys(queries)}
    return [known[query] for query in queries]
