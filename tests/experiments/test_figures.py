"""Means over seeds, differences with their tests, and the human score."""

from __future__ import annotations

import json
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


def test_models_of_one_name_have_tests_of_their_own(results: Make, report: Report) -> None:
    """`org/model` and `org_model` have cells of one name."""
    pytest.importorskip("numpy")
    cells = [("org/model", 60.0), ("org_model", 30.0), ("rgt", 30.0)]
    found = results(*(report(model, "compose", 1, bleu) for model, bleu in cells))
    better, same = (
        found.difference((model, "compose"), ("rgt", "compose"), "bleu")
        for model in ("org/model", "org_model")
    )
    assert (better.significant(), same.significant()) == (True, False)


RATINGS = {
    "format": 1,
    "systems": {"rgt-compose-seed1": {"percent": 60.0, "low": 55.0, "high": 66.0}, "abs": {"percent": None}},
    "alpha": None,
    "raters": 2,
}


def test_ratings(tmp_path: Path) -> None:
    path = tmp_path / "ratings.json"
    path.write_text(json.dumps(RATINGS), encoding="utf-8")
    assert read_ratings(path) == RATINGS


def rated(**system: Any) -> dict[str, Any]:
    return {"systems": {"rgt": system}}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"format": 2}, "expected ratings of format 1, got 2"),
        ({"format": None}, "expected ratings of format 1, got None"),
        *(({"raters": wrong}, "`raters` must be a whole number, 0 or more, but got")
          for wrong in (None, {"a": 1}, -1, 2.5, "2", True)),
        *(({"alpha": wrong}, "`alpha` must be a number, 1 at most, or null")
          for wrong in (7, float("nan"), float("inf"), -float("inf"), "1", {}, True)),
        *((rated(**{name: wrong}), f"`{name}` of the system `rgt` must be a number, 0 to 100")
          for name in ("percent", "low", "high") for wrong in (9999, -1, float("nan"), "60", [60], 10**400)),
        (rated(percent=60, low=66, high=55), "`high` of the system `rgt` must be `low`, 66, or more"),
        ({"systems": []}, "holds no ratings"),
        ({"systems": {"\ud800": {}}}, "holds no ratings"),
    ],
)  # fmt: skip
def test_ratings_that_nobody_gave(tmp_path: Path, change: dict[str, Any], says: str) -> None:
    path = tmp_path / "ratings.json"
    path.write_text(json.dumps(RATINGS | change), encoding="utf-8")
    with pytest.raises(ReportError, match=says) as raised:
        read_ratings(path)
    assert str(path) in str(raised.value)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "it is no JSON"),
        ("[]", "holds no ratings"),
        ('{"systems": {"a": 1}}', "holds no ratings"),
        ("[" * 100_000, "holds no ratings"),
    ],
    ids=["cut short", "list", "number", "deep"],
)
def test_bad_ratings(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "ratings.json"
    with pytest.raises(ReportError, match="cannot read the ratings"):
        read_ratings(path)
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ReportError, match=says):
        read_ratings(path)
