"""How far raters agree: Krippendorff's alpha.

K. Krippendorff, "Computing Krippendorff's Alpha-Reliability", 2011: any number of raters, missing ratings,
and a difference between values that suits the scale.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from spider_compose.errors import choose

Difference = Callable[[int, int], float]  # squared, of two values


def _nominal(totals: Counter[int]) -> Difference:
    return lambda first, second: float(first != second)


def _ordinal(totals: Counter[int]) -> Difference:
    """By rank: how many of all values lie from the one to the other, both ends counted half."""

    def difference(first: int, second: int) -> float:
        low, high = sorted((first, second))
        between = sum(count for value, count in totals.items() if low <= value <= high)
        return (between - (totals[low] + totals[high]) / 2) ** 2

    return difference


def _interval(totals: Counter[int]) -> Difference:
    return lambda first, second: float((first - second) ** 2)


LEVELS: dict[str, Callable[[Counter[int]], Difference]] = {
    "nominal": _nominal,
    "ordinal": _ordinal,
    "interval": _interval,
}


def krippendorff_alpha(units: Iterable[Sequence[int]], level: str = "ordinal") -> float | None:
    """Krippendorff's alpha.

    Args:
        units: the values that each unit was given, by whomever, in any order; units with fewer than two
            values say nothing about agreement.
        level: of measurement, 'nominal', 'ordinal' or 'interval'.

    Returns:
        1 for full agreement, 0 for what chance would give, less for agreement below chance; None where it is
        not defined: no unit has two values, or all values are the same.

    Raises:
        OptionError: an unknown level.

    >>> round(krippendorff_alpha([[1, 1], [2, 3], [3, 3], [4, 4]]), 3)
    0.91
    """
    paired = [unit for unit in units if len(unit) > 1]
    totals = Counter(value for unit in paired for value in unit)
    difference = LEVELS[choose("level", level, LEVELS)](totals)
    size = totals.total()
    observed = sum(_pairs(Counter(unit), difference) / (len(unit) - 1) for unit in paired)
    expected = _pairs(totals, difference)
    if not expected:
        return None
    return 1 - (size - 1) * observed / expected


def _pairs(counts: Counter[int], difference: Difference) -> float:
    """The sum of differences over all ordered pairs of values."""
    return sum(
        counts[first] * counts[second] * difference(first, second) for first in counts for second in counts
    )
