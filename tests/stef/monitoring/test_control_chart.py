"""The CUSUM: its scores against all draws, its limit against simulation, and what it finds."""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Callable
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

from spider_compose.stef.monitoring.control_chart import (
    NOTHING,
    Chart,
    Moments,
    limit_for,
    permutation_score,
    run_length,
)

LEVELS = np.array([0, 15, 25, 40, 50, 64, 80, 90, 100.0])
SHARES = np.array([0.05, 0.03, 0.05, 0.07, 0.05, 0.05, 0.1, 0.1, 0.5])


def test_two_values_are_a_draw_too() -> None:
    """The least that `--learn 1 --least-questions 1` gives a chart."""
    assert permutation_score(moments([40.0]), moments([90.0])) == pytest.approx(-1)
    assert permutation_score(moments([90.0]), moments([40.0])) == pytest.approx(1)


def moments(values: Any) -> Moments:
    loss = 100 - np.asarray(values, float)
    return Moments(len(loss), int((loss > 0).sum()), *(float((loss**k).sum()) for k in (1, 2, 3)))


def middle_share(window: list[float], before: list[float]) -> float:
    """Of all draws from both, how many have a lower mean; those that are equal count half."""
    drawn = [sum(draw) for draw in itertools.combinations([*window, *before], len(window))]
    low = sum(total < sum(window) - 1e-9 for total in drawn)
    same = sum(abs(total - sum(window)) <= 1e-9 for total in drawn)
    return (low + same / 2) / len(drawn)


WINDOWS = [
    ([10, 40, 90, 35.5, 60], [100, 80.2, 95, 71, 99, 64, 50, 88, 25, 100, 91, 77]),
    ([100, 80.2, 95, 71, 99, 64], [50, 88, 25, 100, 91, 77, 31, 47, 66, 12]),
    ([25, 90, 80, 95.5], [100, 80, 95, 71, 99, 64, 50, 88, 25, 100, 91, 77, 42, 93]),
]


@pytest.mark.parametrize(("window", "before"), WINDOWS, ids=range(len(WINDOWS)))
def test_score_is_the_place_among_all_draws(window: list[float], before: list[float]) -> None:
    exact = NormalDist().inv_cdf(middle_share(window, before))
    assert permutation_score(moments(window), moments(before)) == pytest.approx(exact, abs=0.12)


@pytest.mark.parametrize(
    ("window", "before"),
    [
        ([0, 0, 100, 100], [100] * 11 + [0]),
        ([100] * 5, [100] * 6 + [0] * 4),
        ([0, 0, 0], [100] * 14),
        ([100, 100, 30], [100] * 13),  # so rare that only the number of losses is told
    ],
    ids=["more failures", "none of four", "all", "one lost something"],
)
def test_rare_losses_are_counted_exactly(window: list[float], before: list[float]) -> None:
    exact = NormalDist().inv_cdf(middle_share(window, before))
    assert permutation_score(moments(window), moments(before)) == pytest.approx(exact, abs=1e-6)


def test_a_total_outage_is_far_out_and_finite() -> None:
    score = permutation_score(moments([0.0] * 20_000), moments([100.0] * 200_000))
    assert score < -8 and math.isfinite(score)


@pytest.mark.parametrize("values", [[100.0] * 5, [50.0] * 5], ids=str)
def test_no_spread_is_no_evidence(values: list[float]) -> None:
    assert permutation_score(moments(values), moments(values * 3)) == 0


def test_moments_add_and_take_away() -> None:
    one, two = moments([100, 60, 30]), moments([80.0])
    assert one.plus(two) == moments([100, 60, 30, 80]) and one.plus(two).less(two) == one
    assert one.mean == pytest.approx(190 / 3) and math.isnan(NOTHING.mean)


# Exact mean run lengths of a one-sided CUSUM with allowance 0.5, by Markov chain (Brook and Evans 1972).
@pytest.mark.parametrize(("limit", "windows"), [(3.0, 118), (4.0, 336), (5.0, 931)], ids=str)
def test_run_length_is_near_the_exact_one(limit: float, windows: float) -> None:
    assert run_length(limit) == pytest.approx(windows, rel=0.02)
    assert limit_for(windows) == pytest.approx(limit, abs=0.03)


DISTRIBUTIONS: dict[str, tuple[Callable[[Any, Any], Any], int]] = {
    "scores, 10 a window": (lambda g, size: g.choice(LEVELS, size, p=SHARES), 10),
    "scores, 100 a window": (lambda g, size: g.choice(LEVELS, size, p=SHARES), 100),
    "coverage of 98 %, 20 a window": (lambda g, size: 100.0 * (g.random(size) < 0.98), 20),
    "rare losses, 10 a window": (
        lambda g, size: np.where(g.random(size) < 0.01, g.choice([30.0, 60, 80], size), 100.0),
        10,
    ),
    "losses of 5 %, 20 a window": (
        lambda g, size: np.where(g.random(size) < 0.05, g.choice([30.0, 60, 80], size), 100.0),
        20,
    ),
}


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_false_alarms_come_no_more_often_than_stated(name: str) -> None:
    draw, questions = DISTRIBUTIONS[name]
    generator = np.random.default_rng(11)
    stated, charts, windows = 300.0, 40, 300
    limit, found = limit_for(stated), 0
    for _ in range(charts):
        chart = Chart()
        for number, values in enumerate(draw(generator, (windows, questions))):
            found += chart.add(str(number), moments(values), limit, learn=7) is not None
    expected = 2 * charts * windows / stated  # two sides: 80 at most
    assert found <= expected + 3 * expected**0.5
    if name.startswith("scores"):
        assert found >= expected / 4, "a chart that never alarms keeps every rate"


def test_days_that_differ_are_no_change() -> None:
    """Questions vary by day, so that windows vary 1.5 times as much as their questions do."""
    generator = np.random.default_rng(5)
    limit, found = limit_for(1000), 0
    for _ in range(20):
        chart = Chart()
        for number in range(200):
            values = np.clip(generator.normal(70 + generator.normal(0, 3.5), 20, 40), 0, 100)
            found += chart.add(str(number), moments(values), limit, learn=7) is not None
    assert found <= 2 * 20 * 200 / 1000 * 2.5, (
        "dispersion learnt from few windows is not exact: 2.5 times at most"
    )


def windows(generator: np.random.Generator, means: list[float], questions: int = 20) -> list[Moments]:
    """Of a normal shape, which may leave 0 to 100, so that the mean is what it says."""
    return [moments(generator.normal(mean, 20, questions)) for mean in means]


@pytest.mark.parametrize(("to", "direction"), [(45, "worse"), (82, "better")], ids=["worse", "better"])
def test_a_change_is_found_dated_and_sized(to: float, direction: str) -> None:
    limit, dates, sizes = limit_for(6570), [], []
    for seed in range(30):
        chart = Chart()
        for number, window in enumerate(windows(np.random.default_rng(seed), [65.0] * 30 + [to] * 20)):
            change = chart.add(f"{number:02d}", window, limit, learn=7)
            if change and number >= 30:
                assert change.direction == direction
                dates.append(int(change.since))
                sizes.append(change.size)
                break
    assert len(dates) >= 28
    assert abs(statistics.median(dates) - 30) <= 1 and sum(abs(date - 30) <= 2 for date in dates) >= 24
    assert statistics.mean(sizes) == pytest.approx(to - 65, rel=0.2)


def test_after_a_change_a_chart_starts_anew() -> None:
    """One change is one alarm, and the way back is another."""
    chart, limit = Chart(), limit_for(6570)
    told = []
    for number, window in enumerate(windows(np.random.default_rng(3), [70.0] * 20 + [40] * 30 + [70] * 20)):
        change = chart.add(f"{number:02d}", window, limit, learn=7)
        told += [(change.direction, number)] if change else []
    assert [direction for direction, _ in told] == ["worse", "better"]
    assert 20 <= told[0][1] <= 24 and 50 <= told[1][1] <= 54


def test_a_change_too_small_to_matter_is_none() -> None:
    generator = np.random.default_rng(1)
    steps = windows(generator, [65.0] * 30 + [62] * 60, questions=2000)
    found = {}
    for smallest in (1.0, 5.0):
        chart = Chart()
        changes = (chart.add(str(n), window, 7.0, 7, smallest) for n, window in enumerate(steps))
        found[smallest] = next((change for change in changes if change), None)
    assert found[1.0] is not None and found[5.0] is None
