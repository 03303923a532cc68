"""The difference of two means with its bootstrap interval, permutation p-value and detectable size.

Questions are what is drawn: rows of one question stand or fall together, so it is they that chance deals out
(a bootstrap of clusters). Both designs are one here. Each question adds a sum and a count to the mean of A
and to that of B:

    paired     its mean of A and its mean of B, each counted once
    separate   its rows of A and its rows of B, either of which may be none

and the difference is sum(b) / sum(nb) - sum(a) / sum(na).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from spider_compose.errors import OptionError
from spider_compose.stef.monitoring.measures import Floats

LEVEL = 0.95
"""Confidence of every interval; its complement is the level of every test."""

POWER = 0.8
"""With what probability the minimum detectable difference is found."""

# Beyond so many questions of a kind, they are dealt at random into so many groups, and groups are drawn: the
# standard error is then known to 1 % of itself, and time and memory stay bounded.
MOST_UNITS = 10_000

# A group must not leave the smaller side with less to deal than this.
_LEAST_UNITS = 50

# Entries of a block of draws: bounds memory, and never changes a number.
_BLOCK = 1 << 22

# Sums come from additions in another order; what is this near is the same.
EQUAL = 1e-9

A, NA, B, NB = range(4)


@dataclass(frozen=True)
class Difference:
    """B less A in one measure, in points.

    Attributes:
        a: mean of A; None without a value.
        b: mean of B.
        difference: b - a.
        low: lower end of the interval of `LEVEL`; None with fewer than two questions on a side.
        high: its upper end.
        p_value: of the two-sided permutation test.
        standard_error: of the difference, by question.
        detectable: the least true difference that a sample like this finds with probability `POWER`; None
            where nothing varies.
        questions: questions that bear on it; of A, of B where these differ.
        rows: rows of A and of B.
    """

    a: float | None
    b: float | None
    difference: float | None
    low: float | None
    high: float | None
    p_value: float | None
    standard_error: float | None
    detectable: float | None
    questions: tuple[int, int]
    rows: tuple[int, int]


def check_sampling(samples: int, seed: int) -> None:
    """Refuse what numpy would refuse less clearly.

    Raises:
        OptionError: `samples` is below 100 or above a million, or `seed` below 0.
    """
    if samples < 100:
        raise OptionError(f"`samples` must be at least 100, or intervals mean nothing, but got {samples}")
    if samples > 1_000_000:
        raise OptionError(f"`samples` must be at most 1,000,000, or memory runs out, but got {samples:,}")
    if seed < 0:
        raise OptionError(f"`seed` must be an integer of at least 0, but got {seed}")


def compare_sums(sums: Floats, rows: tuple[int, int], samples: int = 2000, seed: int = 1) -> Difference:
    """The difference of two means and what can be said of it.

    Args:
        sums: of shape `(num_questions, 4)`: sum of A, count of A, sum of B, count of B of each question.
        rows: rows of A and of B behind them, to be repeated in the result.
        samples: resamples of the bootstrap, and of the permutation test.
        seed: of the resamples. Nothing depends on the order of the questions.
    """
    sums = sums[(sums[:, NA] > 0) | (sums[:, NB] > 0)]
    questions = int((sums[:, NA] > 0).sum()), int((sums[:, NB] > 0).sum())
    if not min(questions):
        means = [
            sums[:, x].sum() / sums[:, n].sum() if sums[:, n].sum() else None for x, n in ((A, NA), (B, NB))
        ]
        return Difference(means[0], means[1], None, None, None, None, None, None, questions, rows)
    total = sums.sum(axis=0)
    difference = float(_difference(total))
    mean_a, mean_b = float(total[A] / total[NA]), float(total[B] / total[NB])
    if min(questions) < 2:
        return Difference(mean_a, mean_b, difference, None, None, None, None, None, questions, rows)
    sums = sums[np.lexsort(sums.T)]
    error = float(_standard_error(_products(sums).sum(axis=0), min(questions)))
    low, high = _interval(_bootstrap(sums, samples, seed), min(questions))
    p_value = _permutation_p_value(sums, samples, seed)
    wide = t_quantile((1 + LEVEL) / 2, min(questions) - 1) + NormalDist().inv_cdf(POWER)
    detectable = (
        wide * error if error > EQUAL else None
    )  # without any spread a sample tells nothing of others
    return Difference(mean_a, mean_b, difference, low, high, p_value, error, detectable, questions, rows)


def _difference(total: Floats) -> Floats:
    """B less A of sums of shape `(..., 4)`."""
    return np.asarray(total[..., B] / total[..., NB] - total[..., A] / total[..., NA])


def t_quantile(probability: float, freedom: int) -> float:
    """Quantile of Student's distribution by Hill's expansion (1970); within 0.5 % from 4 degrees on.

    >>> round(t_quantile(0.975, 10), 2), round(t_quantile(0.975, 1000), 2)
    (2.23, 1.96)
    """
    z, v = NormalDist().inv_cdf(probability), float(max(freedom, 1))
    terms = (
        z,
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return sum(term / v**power for power, term in enumerate(terms))


# --- bootstrap ---------------------------------------------------------------------------------------------


def _bootstrap(sums: Floats, samples: int, seed: int) -> Floats:
    """Differences of resamples, of shape `(samples,)`.

    Questions of both, of A alone and of B alone are drawn each among themselves, so that no resample lacks a
    side.
    """
    generator = np.random.default_rng([seed, 0])
    drawn = np.zeros((samples, 4))
    for stratum in _strata(sums):
        units = _dealt(stratum, _group_size(len(stratum), len(stratum)), generator)
        for start, count in _blocks(samples, len(units)):
            which = generator.integers(len(units), size=(count, len(units)))
            which += np.arange(count)[:, None] * len(units)
            times = np.bincount(which.ravel(), minlength=count * len(units)).reshape(count, len(units))
            drawn[start : start + count] += times.astype(np.float64) @ units
    return _difference(drawn)


def _interval(differences: Floats, questions: int) -> tuple[float, float]:
    """The percentile interval, widened as Student's distribution is (Hesterberg 2015, section 5.1.1).

    Without it, twenty questions cover 92 % instead of 95 %.
    """
    wide = (questions / (questions - 1)) ** 0.5 * t_quantile((1 + LEVEL) / 2, questions - 1)
    outside = 100 * NormalDist().cdf(-wide)
    low, high = np.percentile(differences, [outside, 100 - outside])
    return float(low), float(high)


def _strata(sums: Floats) -> list[Floats]:
    """Questions of both, of A alone, and of B alone, those that there are."""
    in_a, in_b = sums[:, NA] > 0, sums[:, NB] > 0
    return [part for part in (sums[in_a & in_b], sums[in_a & ~in_b], sums[~in_a & in_b]) if len(part)]


def _group_size(units: int, smaller: int) -> int:
    return max(1, min(-(-units // MOST_UNITS), smaller // _LEAST_UNITS))


def _dealt(sums: Floats, size: int, generator: np.random.Generator) -> Floats:
    """Questions dealt at random into groups of `size`, the last perhaps smaller; their sums."""
    if size == 1:
        return sums
    shuffled = sums[generator.permutation(len(sums))]
    return np.asarray(np.add.reduceat(shuffled, np.arange(0, len(sums), size), axis=0))


def _blocks(samples: int, width: int) -> Iterator[tuple[int, int]]:
    """(first, count) of the samples to draw at once."""
    step = max(1, _BLOCK // max(width, 1))
    for start in range(0, samples, step):
        yield start, min(step, samples - start)


# --- permutation test --------------------------------------------------------------------------------------

# Products of two of (a, na, b, nb) that the standard error is made of.
_FIRST = (A, A, NA, B, B, NB, A, A, NA, NA)
_SECOND = (A, NA, NA, B, NB, NB, B, NB, B, NB)


def _products(sums: Floats) -> Floats:
    """The sums of every question and their products, of shape `(num_questions, 14)`."""
    return np.concatenate([sums, sums[:, _FIRST] * sums[:, _SECOND]], axis=1)


def _standard_error(total: Floats, questions: int) -> Floats:
    """Standard error of the difference of two ratios by linearisation, by question.

    Args:
        total: sums of `_products`, of shape `(..., 14)`.
        questions: of the side with fewer, for the correction of small samples.
    """
    a, na, b, nb, aa, a_na, na_na, bb, b_nb, nb_nb, ab, a_nb, na_b, na_nb = np.moveaxis(total, -1, 0)
    mean_a, mean_b = a / na, b / nb
    of_a = (aa - 2 * mean_a * a_na + mean_a**2 * na_na) / na**2
    of_b = (bb - 2 * mean_b * b_nb + mean_b**2 * nb_nb) / nb**2
    of_both = (ab - mean_b * a_nb - mean_a * na_b + mean_a * mean_b * na_nb) / (na * nb)
    variance = (of_a + of_b - 2 * of_both) * questions / (questions - 1)
    return np.asarray(np.sqrt(np.maximum(variance, 0.0)))


def _permutation_p_value(sums: Floats, samples: int, seed: int) -> float:
    """Two-sided p-value: how often chance alone puts A and B as far apart, by the difference over its error.

    Were A and B alike, they could change places in every question of both, and questions of one could as well
    have been the other's. The division by the error keeps the level also where spreads and numbers of rows
    differ (Janssen 1997).
    """
    generator = np.random.default_rng([seed, 1])
    in_a, in_b = sums[:, NA] > 0, sums[:, NB] > 0
    both, only_a, only_b = sums[in_a & in_b], sums[in_a & ~in_b], sums[~in_a & in_b]
    both = _dealt(both, _group_size(len(both), len(both)), generator)
    size = _group_size(len(only_a) + len(only_b), min(len(only_a), len(only_b)))
    only_a, only_b = _dealt(only_a, size, generator), _dealt(only_b, size, generator)
    units = np.concatenate([both, only_a, only_b])
    questions = min(int((units[:, NA] > 0).sum()), int((units[:, NB] > 0).sum()))
    kept, changed = _products(units), _products(units[:, [B, NB, A, NA]])
    whole = kept.sum(axis=0)
    found = _studentized(whole, questions)
    far = 0
    for _, count in _blocks(samples, len(units)):
        moved = np.zeros((count, len(units)))
        moved[:, : len(both)] = generator.integers(2, size=(count, len(both)), dtype=np.int8)
        labels = np.zeros((count, len(only_a) + len(only_b)), np.int8)
        labels[:, len(only_a) :] = 1
        was = labels[0].copy() if len(labels) else labels
        moved[:, len(both) :] = generator.permuted(labels, axis=1) != was
        drawn = _studentized(whole + moved @ (changed - kept), questions)
        far += int((np.abs(drawn) >= np.abs(found) - EQUAL).sum())
    return (far + 1) / (samples + 1)


def _studentized(total: Floats, questions: int) -> Floats:
    """Difference over its standard error; infinite where there is no spread."""
    difference, error = _difference(total), _standard_error(total, max(questions, 2))
    sure = np.where(np.abs(difference) < EQUAL, 0.0, np.copysign(np.inf, difference))
    return np.asarray(np.where(error > EQUAL, difference / np.maximum(error, EQUAL), sure))
