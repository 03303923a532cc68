"""Means over seeds, differences with their tests, and the human score."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from spider_compose.errors import ReportError
from spider_compose.experiments.figures import Figure, Results, holm, read_ratings

Make = Callable[..., Results]
Report = Callable[..., dict[str, Any]]


def test_one_seed_has_its_interval(results: Make, report: Report) -> None:
    figure = results(report("rgt", "compose", 3, 50)).figure("rgt", "compose", "bleu")
    assert (figure.mean, figure.single, figure.bounds) == (50, True, (47, 53))


def test_seeds_have_their_mean_and_range(results: Make, report: Report) -> None:
    found = results(*(report("rgt", "compose", seed, bleu) for seed, bleu in [(1, 50), (2, 53), (3, 47)]))
    figure = found.figure("rgt", "compose", "bleu")
    assert (figure.mean, figure.single, figure.bounds) == (50, False, (47, 53))
    assert found.figure("rgt", "spider", "bleu") == Figure()
    assert Figure().mean is None


def test_difference_is_over_common_seeds_and_tested(results: Make, report: Report) -> None:
    pytest.importorskip("numpy")
    found = results(
        report("rgt", "compose", 1, 60),
        report("rgt", "compose", 2, 62),
        report("rgt", "compose_no_overlap", 1, 30),
        report("rgt", "compose_no_overlap", 3, 90),
    )
    drop = found.difference(("rgt", "compose"), ("rgt", "compose_no_overlap"), "bleu")
    assert drop.by_seed == {1: 30}
    low, high = drop.intervals[1]
    assert 10 < low < high < 60
    assert drop.p_value == pytest.approx(1 / 201, abs=1e-6)
    assert drop.significant()
    back = found.difference(("rgt", "compose_no_overlap"), ("rgt", "compose"), "bleu")
    assert back.by_seed == {1: -30}
    same = found.difference(("rgt", "compose"), ("rgt", "compose"), "exact_match")
    assert same.p_value == 1
    assert not same.significant()


def test_what_cannot_be_compared_says_why(results: Make, report: Report) -> None:
    pytest.importorskip("numpy")
    other = report("rgt", "spider", 1, 30)
    other["items"]["ids"][0] = "another"
    found = results(report("rgt", "compose", 1, 60), other, report("abs", "compose", 1, 60, items=None))
    figure = found.difference(("rgt", "compose"), ("rgt", "spider"), "bleu")
    assert (figure.by_seed, figure.p_value) == ({1: 30}, None)
    assert "rgt-compose and rgt-spider, seed 1" in figure.fault
    assert "items" in found.difference(("rgt", "compose"), ("abs", "compose"), "bleu").fault


def test_p_of_several_seeds_is_the_largest() -> None:
    figure = Figure({1: 5.0, 2: 1.0}, {}, {1: 0.001, 2: 0.2})
    assert figure.p_value == 0.2
    assert not figure.significant()


def test_the_human_score_and_the_average_are_empty_without_ratings(results: Make, report: Report) -> None:
    content = report("rgt", "compose", 1, 30, exact=12.0)
    found = results(content)
    assert found.figure("rgt", "compose", "human").mean is None
    assert found.figure("rgt", "compose", "average").mean is None
    system = {"percent": 60.0, "low": 55.0, "high": 66.0, "mean": 3.4}
    rated = results(content, ratings={"systems": {"rgt-compose-seed1": system}})
    human = rated.figure("rgt", "compose", "human")
    assert (human.mean, human.bounds) == (60, (55, 66))
    assert rated.figure("rgt", "compose", "average").mean == pytest.approx(34)
    unrated = results(content, ratings={"systems": {"rgt-compose-seed1": {"percent": None}}})
    assert unrated.figure("rgt", "compose", "average").mean is None


@pytest.mark.parametrize(
    ("p_values", "kept"),
    [
        ({"a": 0.01, "b": 0.02, "c": 0.04}, {"a", "b", "c"}),
        ({"a": 0.01, "b": 0.03, "c": 0.04}, {"a"}),
        ({"a": 0.02, "b": 0.02, "c": 0.02}, set()),
        ({}, set()),
    ],
)
def test_holm(p_values: dict[str, float], kept: set[str]) -> None:
    assert holm(p_values) == kept


@pytest.mark.parametrize(
    ("text", "says"),
    [("{", "it is no JSON"), ("[]", "holds no ratings"), ('{"systems": {"a": 1}}', "holds no ratings")],
)
def test_bad_ratings(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "ratings.json"
    with pytest.raises(ReportError, match="cannot read the ratings"):
        read_ratings(path)
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ReportError, match=says):
        read_ratings(path)
