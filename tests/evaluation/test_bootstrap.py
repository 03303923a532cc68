"""Intervals and p-values against exhaustive enumeration on small data, and against known distributions."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from spider_compose.errors import OptionError
from spider_compose.evaluation import bootstrap
from spider_compose.evaluation.bootstrap import (
    bootstrap_p_value,
    check_sampling,
    interval,
    randomization_p_value,
    resampled_sums,
)
from spider_compose.evaluation.scoring import proportion, trials


def test_resamples_draw_as_many_items_as_there_are() -> None:
    statistics = np.stack([np.ones(50, dtype=np.int64), 1 << np.arange(50, dtype=np.int64)], axis=1)
    sums = resampled_sums(statistics, samples=200, seed=3)
    assert sums.shape == (200, 2)
    assert (sums[:, 0] == 50).all()
    assert len(set(sums[:, 1])) == 200, "resamples differ"
    assert (sums == resampled_sums(statistics, samples=200, seed=3)).all()
    assert (sums != resampled_sums(statistics, samples=200, seed=4)).any()


def test_blocks_are_not_seen_in_the_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    right = trials([1, 0, 0, 1, 1])
    other = trials([0, 0, 1, 0, 1])
    whole = resampled_sums(right, 100, 1), randomization_p_value(proportion, right, other, 100, 1)
    monkeypatch.setattr(bootstrap, "_BLOCK", 40)  # 8 samples at a time; even, as numpy halves its words
    parts = resampled_sums(right, 100, 1), randomization_p_value(proportion, right, other, 100, 1)
    assert (whole[0] == parts[0]).all()
    assert whole[1] == parts[1]


def test_interval_of_a_proportion() -> None:
    """30 of 100 right: the normal approximation gives 30 -+ 1.96 * sqrt(.3 * .7 / 100) = 21.0 to 39.0."""
    scores = proportion(resampled_sums(trials([1] * 30 + [0] * 70), samples=4000, seed=1))
    low, high = interval(scores)
    assert low == pytest.approx(21.0, abs=1.1)
    assert high == pytest.approx(39.0, abs=1.1)
    assert scores.mean() == pytest.approx(30, abs=0.3)


def test_interval_holds_95_percent() -> None:
    assert interval(np.arange(1001, dtype=np.float64)) == (25.0, 975.0)


FIRST, SECOND = [1, 1, 1, 0, 1, 1, 0, 1], [0, 1, 0, 0, 0, 1, 1, 0]


def test_randomization_against_all_exchanges() -> None:
    ours, theirs = np.array(FIRST), np.array(SECOND)
    real = abs(ours.sum() - theirs.sum())
    extreme = [
        abs(np.where(swap, theirs, ours).sum() - np.where(swap, ours, theirs).sum()) >= real
        for swap in product([False, True], repeat=len(FIRST))
    ]
    estimate = randomization_p_value(proportion, trials(FIRST), trials(SECOND), samples=20000, seed=7)
    assert estimate == pytest.approx(np.mean(extreme), abs=0.015)


def test_randomization_is_symmetric_and_bounded() -> None:
    one, other = trials(FIRST), trials(SECOND)
    assert randomization_p_value(proportion, one, one, 50, 1) == 1
    assert randomization_p_value(proportion, one, other, 500, 1) == randomization_p_value(
        proportion, other, one, 500, 1
    )
    # 40 items that all differ: no exchange of 99 is as extreme
    assert randomization_p_value(proportion, trials([1] * 40), trials([0] * 40), 99, 1) == 1 / 100


@pytest.mark.parametrize(
    ("differences", "expected"),
    [
        pytest.param([1.0] * 99, 2 / 100, id="always better"),
        pytest.param([-1.0] * 99, 2 / 100, id="always worse"),
        pytest.param([1.0] * 89 + [-1.0] * 10, 2 * 11 / 100, id="worse in 10 of 99"),
        pytest.param([0.0] * 99, 1, id="always equal"),
        pytest.param([1.0, -1.0] * 50, 1, id="even"),
    ],
)
def test_bootstrap_p_value(differences: list[float], expected: float) -> None:
    assert bootstrap_p_value(np.array(differences)) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("samples", "seed", "says"),
    [
        (0, 1, "`samples` must be an integer of at least 1, but got 0"),
        (True, 1, "but got True"),
        (10.0, 1, "but got 10.0"),
        (10, -1, "`seed` must be an integer of at least 0, but got -1"),
        (10, None, "but got None"),
    ],
)
def test_bad_sampling(samples: int, seed: int, says: str) -> None:
    with pytest.raises(OptionError, match=says):
        check_sampling(samples, seed)
