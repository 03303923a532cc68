"""Train, validation and test from any of the splits, by one stated recipe.

The papers split in two. Here the held-out rows become validation and test, so that one training script takes
every split:

    template      whole templates fill train, then validation; the rest is test. No template is in two parts.
    tmcd, length  the held-out part is divided by distinct query: along SQL length (tokens, then text), the
                  next query with all its rows goes to the part that is further behind its share of rows,
                  validation first. The two are alike and share no query; in `tmcd` every atom of both occurs
                  in train.
    random        by row, shuffled again; a query may be in all parts.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass

from spider_compose.errors import OptionError, SourceError, choose
from spider_compose.splits.at_random import random_split
from spider_compose.splits.compounds import analyse
from spider_compose.splits.length import length_split
from spider_compose.splits.parts import Row, SplitRows, ThreeParts, check_seed, queries_to_split
from spider_compose.splits.template import take_templates, template_split
from spider_compose.splits.text import normalize_query, query_tokens
from spider_compose.splits.tmcd import METHODS, split_analysis

SPLITS = ("template", "tmcd", "length", "random")


@dataclass(frozen=True)
class Fractions:
    """Shares of the rows; they add up to 1.

    Raises:
        OptionError: one is not between 0 and 1, or they do not add up.
    """

    train: float = 0.75
    validation: float = 0.125
    test: float = 0.125

    def __str__(self) -> str:
        return " / ".join(f"{100 * share:g}" for share in (self.train, self.validation, self.test))

    def __post_init__(self) -> None:
        shares = {"train": self.train, "validation": self.validation, "test": self.test}
        for name, share in shares.items():
            if isinstance(share, bool) or not isinstance(share, int | float) or not 0 < share < 1:
                raise OptionError(f"fraction `{name}` must be a number between 0 and 1, but got {share!r}")
        if not math.isclose(total := math.fsum(shares.values()), 1, abs_tol=1e-9):
            raise OptionError(f"the fractions must add up to 1, but {shares} add up to {total:.6g}")


def three_parts(
    rows: Sequence[Row],
    split: str,
    fractions: Fractions = Fractions(),
    seed: int = 1,
    method: str = "published",
    grammar: str = "auto",
    dialect: str = "sqlite",
) -> ThreeParts:
    """Split a corpus in train, validation and test (recipe at the top of this module).

    Args:
        rows: with text in `query`.
        split: one of `SPLITS`.
        fractions: of the rows (in `tmcd`, of those that parse); train has its share, rounded to a row, the
            template split at most that.
        seed: not used by `length`.
        method: of `tmcd`; the others have but one.
        grammar: of `tmcd`.
        dialect: of `tmcd` with the grammar "sqlglot".

    Raises:
        SourceError: the corpus is empty, has one row, all its queries are equal, or it is too small for three
            parts.
        OptionError: an option is out of range.
    """
    choose("split", split, SPLITS)
    choose("method", method, METHODS)
    check_seed(seed)
    if not isinstance(fractions, Fractions):
        raise OptionError(f"`fractions` must be `Fractions(...)`, but got {fractions!r}")
    queries_to_split(rows)
    analysis = analyse(rows, grammar, dialect) if split == "tmcd" else None
    total = len(analysis.rows) if analysis else len(rows)
    train_size = round(total * fractions.train)
    validation_size = round(total * fractions.validation)
    if min(train_size, validation_size, total - train_size - validation_size) < 1:
        raise SourceError(f"{total} rows are too few for three parts of {fractions} %")
    two: SplitRows
    parts: tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]
    if split == "template":
        two = template_split(rows, train_size, seed, method)
        train, validation, test = take_templates(rows, [train_size, validation_size], seed)
        parts = (tuple(train), tuple(sorted(validation)), tuple(sorted(test)))
    elif split == "random":
        two = random_split(rows, train_size, seed)
        held_out = list(two.rest)
        random.Random(seed).shuffle(held_out)
        parts = (
            two.train,
            tuple(sorted(held_out[:validation_size])),
            tuple(sorted(held_out[validation_size:])),
        )
    else:
        two = (
            split_analysis(rows, analysis, train_size, seed, method, dialect)
            if analysis
            else length_split(rows, train_size)
        )
        parts = (
            two.train,
            *divide(rows, two.rest, fractions.validation / (fractions.validation + fractions.test)),
        )
    shares = f"{fractions.train:g}/{fractions.validation:g}/{fractions.test:g}"
    return ThreeParts(*parts, two.left_out, f"{two.signature}|fractions:{shares}")


def divide(
    rows: Sequence[Row], numbers: Sequence[int], share: float = 0.5
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Divide rows by distinct query, so that both parts have about the same lengths and no query in common.

    Args:
        rows: the corpus.
        numbers: of the rows to divide.
        share: of the rows that go to the first part, between 0 and 1.

    Returns:
        Row numbers of both parts, ascending.

    Raises:
        SourceError: all the rows have one query.
    """
    groups: dict[str, list[int]] = {}
    for number in numbers:
        groups.setdefault(normalize_query(rows[number]["query"]), []).append(number)
    if len(groups) < 2:
        raise SourceError(
            f"the {len(numbers)} held-out rows have one query, which validation and test would share. "
            "Hold out more."
        )
    parts: tuple[list[int], list[int]] = ([], [])
    for query in sorted(groups, key=lambda query: (len(query_tokens(query)), query)):
        behind = len(parts[0]) * (1 - share) <= len(parts[1]) * share + 1e-9  # equal, whatever the last bit
        parts[0 if behind else 1].extend(groups[query])
    return tuple(sorted(parts[0])), tuple(sorted(parts[1]))
