"""From the parts that a corpus has of its own to the two that a source has.

What is held out (its test part) makes the test split of the dataset; all else is its training part. A
development part goes with training, as the dataset's validation split is made from there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from spider_compose.errors import OptionError, choose
from spider_compose.source.records import SourceSplit
from spider_compose.source.rows import RawRow

EXCLUDED = "exclude"
"""Rows that text2sql-data leaves out of one of its splits, such as questions that stand twice."""


OWN_PARTS = "train: the corpus's "
"""How the notes of a corpus with parts of its own begin."""


@dataclass(frozen=True)
class OwnParts:
    """A corpus divided as it says itself.

    Attributes:
        notes: which of its own parts went where.
    """

    parts: dict[SourceSplit, list[RawRow]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def divide(rows: Sequence[tuple[str | None, RawRow]], held_out: Sequence[str] = ()) -> OwnParts:
    """Divide the rows of a corpus.

    Args:
        rows: each with the name of its own part; None where it has none, which makes it training.
        held_out: names of parts to hold out; empty for `test`, else `dev`, else the last fold.

    Raises:
        OptionError: the corpus has no part of that name, or nothing else.
    """
    sizes = Counter(name for name, _ in rows if name is not None and name != EXCLUDED)
    names = sorted(sizes)
    chosen = [choose("held_out", name, names) for name in held_out] or _usual(names)
    if chosen and len(chosen) == len(names):
        raise OptionError(f"`held_out` must leave some of {names} for training, but got {list(held_out)}.")
    parts: dict[SourceSplit, list[RawRow]] = {"train": [], "validation": []}
    for name, row in rows:
        if name != EXCLUDED:
            parts["validation" if name in chosen else "train"].append(row)
    excluded = sum(name == EXCLUDED for name, _ in rows)
    notes = [_told("train", [name for name in names if name not in chosen], sizes)] if names else []
    notes += [_told("validation", chosen, sizes)] if chosen else ["no validation part"]
    if excluded:
        notes.append(f"{excluded:,} rows are not read: the corpus excludes them from this split")
    return OwnParts(parts, tuple(notes))


def _usual(names: Sequence[str]) -> list[str]:
    for name in ("test", "dev", "validation"):
        if name in names and len(names) > 1:
            return [name]
    folds = sorted((name for name in names if name.isdigit()), key=int)
    return folds[-1:] if len(folds) > 1 and len(folds) == len(names) else []


def _told(part: SourceSplit, names: Sequence[str], sizes: Counter[str]) -> str:
    return f"{part}: the corpus's {', '.join(f'{name} ({sizes[name]:,})' for name in names)}"
