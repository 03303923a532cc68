"""Bootstrap intervals, and paired significance between two models, over sufficient statistics.

An item's statistics are a row of integers, a metric a function of the rows' sum: BLEU of its n-gram counts,
exact match of [matches, 1]. A resample is then a vector of how often each item is drawn, and all resamples
of all metrics are one matrix product, exact in double precision.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from spider_compose.errors import OptionError

Metric = Callable[[npt.NDArray[Any]], npt.NDArray[np.float64]]
"""Sums of statistics of shape `(..., width)` -> scores of shape `(...)`, in percent."""

LEVEL = 95
"""Confidence of every interval, in percent."""

# Entries of one block of draws: bounds memory, and never changes a number.
_BLOCK = 1 << 22

# Two differences this near, in percent, are the same: they come from sums in another order.
_EQUAL = 1e-9


def check_sampling(samples: int, seed: int) -> None:
    """Refuse a number of samples or a seed that numpy would refuse less clearly.

    Raises:
        OptionError: `samples` is no integer of at least 1, or `seed` no integer of at least 0.
    """
    for name, value, least in (("samples", samples, 1), ("seed", seed, 0)):
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise OptionError(f"`{name}` must be an integer of at least {least}, but got {value!r}.")


def resampled_sums(statistics: npt.NDArray[Any], samples: int, seed: int) -> npt.NDArray[np.float64]:
    """Sums over items drawn with replacement, as many as there are.

    Args:
        statistics: of shape `(num_items, width)`.

    Returns:
        Of shape `(samples, width)`. The draws depend on the number of items, `samples` and `seed` alone, so
        that two models are resampled alike.
    """
    num_items = len(statistics)
    generator = np.random.Generator(np.random.PCG64(seed))
    values = np.asarray(statistics, dtype=np.float64)
    sums = []
    for rows in _blocks(samples, num_items):
        drawn = generator.integers(num_items, size=(rows, num_items))
        drawn += np.arange(rows)[:, None] * num_items
        times = np.bincount(drawn.ravel(), minlength=rows * num_items).reshape(rows, num_items)
        sums.append(times.astype(np.float64) @ values)
    return np.concatenate(sums)


def interval(scores: npt.NDArray[np.float64]) -> tuple[float, float]:
    """The percentile interval of bootstrap scores: `LEVEL` percent of them lie inside."""
    outside = (100 - LEVEL) / 2
    low, high = np.percentile(scores, [outside, 100 - outside])
    return float(low), float(high)


def bootstrap_p_value(differences: npt.NDArray[np.float64]) -> float:
    """Two-sided p-value of a paired bootstrap (Koehn 2004).

    Twice the share of resamples in which the better model is not better, itself counted as one of them;
    at most 1, and never 0.
    """
    samples = len(differences)
    not_above = int((differences <= _EQUAL).sum())
    not_below = int((differences >= -_EQUAL).sum())
    return min(1.0, 2 * (min(not_above, not_below) + 1) / (samples + 1))


def randomization_p_value(
    metric: Metric,
    first: npt.NDArray[Any],
    second: npt.NDArray[Any],
    samples: int,
    seed: int,
) -> float:
    """Two-sided p-value of paired approximate randomization (Noreen 1989; Riezler and Maxwell 2005).

    In each sample the two outputs of every item are exchanged or not, with even odds. The p-value is the
    share of samples whose difference is at least as large as the real one, the real one itself counted
    (sacrebleu asks for a strictly larger difference, and so finds a model significantly different from
    itself).

    Args:
        first: statistics of one model, of shape `(num_items, width)`.
        second: those of the other, items in the same order.
    """
    real = abs(float(metric(first.sum(axis=0)) - metric(second.sum(axis=0))))
    generator = np.random.Generator(np.random.PCG64(seed))
    gap = np.asarray(second - first, dtype=np.float64)
    extreme = 0
    for rows in _blocks(samples, len(first)):
        moved = generator.integers(2, size=(rows, len(first)), dtype=np.uint8).astype(np.float64) @ gap
        differences = metric(first.sum(axis=0) + moved) - metric(second.sum(axis=0) - moved)
        extreme += int((np.abs(differences) >= real - _EQUAL).sum())
    return (extreme + 1) / (samples + 1)


def _blocks(samples: int, num_items: int) -> Iterator[int]:
    """Sizes of blocks of samples that together are `samples`."""
    size = max(1, _BLOCK // num_items)
    while samples > 0:
        yield min(size, samples)
        samples -= size
