"""How sure an alignment is: `alignment_confidence`, an estimate of the share of words in the right clause.

Three signs speak for an alignment: that the other aligner, with its other method, finds the same words; that
segmentation finds no rival (the probability of its best path among all paths); that the clauses are few.
Their sum is mapped to the mean clause F1 that questions with such a sum had against human annotations.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import fsum

from spider_compose.alignment.records import Alignment

# Points of the maps, (sign, mean clause F1) with straight lines between: isotonic regression on half of the
# databases of Spider's validation part, annotated in Spider-SS (Gan et al. 2022), rounded; written by
# `benchmarks/alignment.py reliability`.
CALIBRATION: Mapping[str, tuple[tuple[float, float], ...]] = {
    "keyword": (
        (-0.2, 0.4), (0.5, 0.71), (0.63, 0.85), (0.7, 0.92), (0.77, 0.93), (0.82, 0.93), (0.88, 0.97),
        (0.95, 0.99), (1.0, 1.0),
    ),
    "segment": (
        (-0.2, 0.4), (0.48, 0.87), (0.62, 0.9), (0.68, 0.95), (0.75, 0.97), (0.84, 0.99), (0.95, 0.99),
        (1.0, 1.0),
    ),
}  # fmt: skip


def confidence(aligner: str, found: Alignment, other: Alignment, probability: float) -> float:
    """The calibrated confidence of an alignment, 0 to 1, in steps of 0.0001.

    Args:
        aligner: the name of the aligner that found it, a key of `CALIBRATION`.
        other: what the other aligner found.
        probability: of the best segmentation, 0 to 1.
    """
    return round(between(CALIBRATION[aligner], sign(found, other, probability)), 4)


def sign(found: Alignment, other: Alignment, probability: float) -> float:
    """The uncalibrated confidence, at most 1: agreement counts twice as much as the lack of a rival."""
    more_clauses = max(0, len(found.clause_token_ids) - 2)
    return (2.0 * agreement(found, other) + probability) / 3.0 - 0.1 * more_clauses


def agreement(first: Alignment, second: Alignment) -> float:
    """Mean F1 of two alignments' words per clause, 0 to 1; 1 where both give a clause the same words."""
    shares = []
    for one, two in zip(first.clause_token_ids, second.clause_token_ids, strict=True):
        shared = len(set(one) & set(two))
        shares.append(2 * shared / (len(one) + len(two)) if one or two else 1.0)
    return fsum(shares) / len(shares)  # `sum` rounds differently since Python 3.12


def between(points: Sequence[tuple[float, float]], value: float) -> float:
    """The value of a piecewise linear map, its first and last value outside its points."""
    place = min(max(bisect_right([x for x, _ in points], value), 1), len(points) - 1)
    (left, low), (right, high) = list(pairwise(points))[place - 1]
    share = min(max((value - left) / (right - left), 0.0), 1.0)
    return low + share * (high - low)
