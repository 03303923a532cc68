"""Krippendorff's alpha against the published examples, and what it must do on any ratings."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spider_compose.errors import OptionError
from spider_compose.evaluation.ratings.agreement import LEVELS, krippendorff_alpha


def units(*raters: str) -> list[list[int]]:
    """Values per unit, from a line per rater with `.` for none."""
    columns = zip(*(rater.split() for rater in raters), strict=True)
    return [[int(value) for value in column if value != "."] for column in columns]


# Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011), example C: 4 observers, 12 units.
KRIPPENDORFF_2011 = units(
    "1 2 3 3 2 1 4 1 2 . . .",
    "1 2 3 3 2 2 4 1 2 5 . 3",
    ". 3 3 3 2 3 4 2 2 5 1 .",
    "1 2 3 3 2 4 4 1 2 5 1 .",
)
# "Krippendorff's alpha" in Wikipedia, the computational example: 3 coders, 15 units.
WIKIPEDIA = units(
    ". . . . . 3 4 1 2 1 1 3 3 . 3",
    "1 . 2 1 3 3 4 3 . . . . . . .",
    ". . 2 1 3 4 4 . 2 1 1 3 3 . 4",
)
# Krippendorff (2011), example A: 2 observers, 10 units, binary.
BINARY = units("0 1 0 0 0 0 0 0 1 0", "1 1 1 0 0 1 0 0 0 0")


@pytest.mark.parametrize(
    ("data", "level", "published"),
    [
        (KRIPPENDORFF_2011, "nominal", 0.743),
        (KRIPPENDORFF_2011, "ordinal", 0.815),
        (KRIPPENDORFF_2011, "interval", 0.849),
        (WIKIPEDIA, "nominal", 0.691),
        (WIKIPEDIA, "interval", 0.811),
        (WIKIPEDIA, "ordinal", 0.807),  # as the package krippendorff 0.8 has it
        (BINARY, "nominal", 0.095),
        (BINARY, "interval", 0.095),  # two values: all levels are one
        (BINARY, "ordinal", 0.095),
    ],
)
def test_published_examples(data: list[list[int]], level: str, published: float) -> None:
    assert krippendorff_alpha(data, level) == pytest.approx(published, abs=5e-4)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ([[1, 1], [5, 5], [3, 3, 3]], 1.0),
        ([[1, 2], [1, 2]], -0.5),  # worse than chance: 1 - (4 - 1) * 4 / 8
        ([], None),
        ([[1], [2], []], None),  # nothing to compare
        ([[4, 4], [4, 4]], None),  # no value differs: chance would agree as well
        ([[1, 1], [5, 5], [3]], 1.0),  # a lone value says nothing
    ],
    ids=["full", "opposed", "empty", "one rater", "one value", "a lone value"],
)
def test_ends(data: list[list[int]], expected: float | None) -> None:
    assert krippendorff_alpha(data, "interval") == expected


def test_by_hand() -> None:
    """Ratings 1 1, 1 3: o = 2 * 4 / 1, all pairs 2 * 3 * 1 * 4 = 24, so 1 - 3 * 8 / 24."""
    assert krippendorff_alpha([[1, 1], [1, 3]], "interval") == 0.0


def test_unknown_level() -> None:
    with pytest.raises(OptionError, match="Did you mean 'ordinal'"):
        krippendorff_alpha(KRIPPENDORFF_2011, "ordinary")


RATED = st.lists(st.lists(st.integers(1, 5), max_size=4), max_size=12)


@given(RATED, st.sampled_from(sorted(LEVELS)))
def test_order_of_raters_and_units_is_nothing(data: list[list[int]], level: str) -> None:
    rng = random.Random(0)
    shuffled = [rng.sample(unit, len(unit)) for unit in rng.sample(data, len(data))]
    alpha = krippendorff_alpha(data, level)
    assert alpha is None or alpha <= 1
    assert krippendorff_alpha(shuffled, level) == (None if alpha is None else pytest.approx(alpha))


@given(RATED)
def test_ordinal_looks_at_ranks_alone(data: list[list[int]]) -> None:
    stretched = [[value**3 for value in unit] for unit in data]
    assert krippendorff_alpha(stretched, "ordinal") == krippendorff_alpha(data, "ordinal")
