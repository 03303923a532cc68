"""Random split: what the others are compared with."""

from __future__ import annotations

import random
from collections.abc import Sequence

from spider_compose.splits.parts import (
    Row,
    SplitRows,
    check_seed,
    check_train_size,
    make_signature,
    queries_to_split,
)


def random_split(rows: Sequence[Row], train_size: int, seed: int = 1) -> SplitRows:
    """Shuffle the rows and take the first `train_size` into train; a query may be in both parts.

    Args:
        rows: with text in `query`.
        train_size: from 1 to `len(rows)` - 1.
        seed: of the shuffle, the one `tmcd_split` starts from.

    Raises:
        SourceError: the corpus is empty, has one row, or all its queries are equal.
        OptionError: an option is out of range.
    """
    check_seed(seed)
    queries_to_split(rows)
    check_train_size(train_size, len(rows))
    order = list(range(len(rows)))
    random.Random(seed).shuffle(order)
    return SplitRows(
        train=tuple(order[:train_size]),
        rest=tuple(sorted(order[train_size:])),
        signature=make_signature(split="random", seed=seed, rows=len(rows), train_size=train_size),
    )
