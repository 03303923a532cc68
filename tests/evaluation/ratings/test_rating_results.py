"""What ratings add up to, by hand."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from spider_compose.errors import RatingError
from spider_compose.evaluation.ratings.predictions import System
from spider_compose.evaluation.ratings.results import summarize
from spider_compose.evaluation.ratings.scale import (
    EXAMPLES,
    LABELS,
    average_of_metrics,
    guidelines_text,
    percent,
)
from spider_compose.evaluation.ratings.sheet_csv import ReturnedSheet
from spider_compose.evaluation.ratings.study import Key, StudyOptions, make_study


@pytest.fixture(scope="module")
def key(system: Callable[..., System]) -> Key:
    """Three rows: both say the same of r0; the reference is rated, and one item comes twice."""
    systems = [system("rgt", ["same", "a1", "a2"]), system("abs", ["same", "b1", "b2"])]
    return make_study(systems, StudyOptions(reference=True, repeats=1)).key


def sheet(key: Key, rater: int, **ratings: int) -> ReturnedSheet:
    """Ratings by system and row, as in `rgt_r1=4`; `again` is the repeat."""
    given = {}
    for name, value in ratings.items():
        system, _, row = name.partition("_")
        found = [
            item.code
            for item in key.items
            if (item.repeats if name == "again" else system in item.systems and item.id == row)
        ]
        given[found[0]] = value
    return ReturnedSheet(f"rater{rater}.csv", rater, given)


def test_by_hand(key: Key) -> None:
    result = summarize(
        key,
        [
            sheet(key, 2, rgt_r0=5, rgt_r1=4, rgt_r2=1, abs_r1=2),
            sheet(key, 1, rgt_r0=4, rgt_r1=2, reference_r1=5),
        ],
    )
    rgt, other = result["systems"]["rgt"], result["systems"]["abs"]
    assert list(result["systems"]) == ["rgt", "abs"]
    # rows: (5 + 4) / 2, (4 + 2) / 2, 1
    assert rgt["items"] == {"ids": ["r0", "r1", "r2"], "mean": [4.5, 3.0, 1.0]}
    assert (rgt["num_items"], rgt["num_ratings"]) == (3, 5)
    assert rgt["mean"] == pytest.approx(8.5 / 3)
    assert rgt["percent"] == pytest.approx(100 * (8.5 / 3 - 1) / 4)
    # the sentence that both say counts for both
    assert (other["num_items"], other["num_ratings"], other["mean"]) == (2, 3, 3.25)
    assert 0 <= rgt["low"] <= rgt["percent"] <= rgt["high"] <= 100
    assert result["raters"] == 2
    assert result["sheets"] == [
        {"rater": 1, "rated": 3, "items": 9, "mean": pytest.approx(11 / 3)},
        {"rater": 2, "rated": 4, "items": 9, "mean": 3.0},
    ]
    # two raters on r0 and on rgt's r1: values 5 4 and 4 2
    assert result["alpha_interval"] == pytest.approx(1 - 3 * (2 * 1 + 2 * 4) / (2 * (1 + 1 + 9 + 0 + 4 + 4)))
    assert result["controls"]["reference"]["percent"] == 100


def test_the_form_is_the_contract(key: Key) -> None:
    result = summarize(key, [sheet(key, 1, rgt_r0=5)])
    assert {"format": 1, "scale": [1, 5], "raters": 1}.items() <= result.items()
    fields = {"num_items", "num_ratings", "mean", "percent", "low", "high"}
    assert all(fields <= set(system) for system in result["systems"].values())
    assert json.loads(json.dumps(result)) == result


def test_without_ratings_nothing_is_invented(key: Key) -> None:
    result = summarize(key, [sheet(key, 1, abs_r1=5), sheet(key, 2)])
    rgt = result["systems"]["rgt"]
    assert (rgt["num_items"], rgt["num_ratings"]) == (0, 0)
    assert [rgt[name] for name in ("mean", "percent", "low", "high")] == [None] * 4
    assert result["alpha"] is result["alpha_interval"] is None
    assert (result["raters"], [one["rated"] for one in result["sheets"]]) == (1, [1, 0])
    assert result["controls"]["reference"]["mean"] is None
    assert result["controls"]["repeats"] == {"num_pairs": 0, "same": None, "mean_difference": None}
    with pytest.raises(RatingError, match=r"no rating in rater1\.csv, rater2\.csv"):
        summarize(key, [sheet(key, 1), sheet(key, 2)])


def test_two_sheets_of_one_rater(key: Key) -> None:
    with pytest.raises(RatingError, match=r"rater1\.csv and rater1\.csv are both the sheet of rater 1"):
        summarize(key, [sheet(key, 1, rgt_r0=5), sheet(key, 1, rgt_r1=5)])


def test_repeats_say_how_steady_a_rater_is(key: Key) -> None:
    repeat = next(item for item in key.items if item.repeats)
    first = ReturnedSheet("a", 1, {repeat.code: 3, str(repeat.repeats): 3})
    second = ReturnedSheet("b", 2, {repeat.code: 2, str(repeat.repeats): 5})
    result = summarize(key, [first, second])
    assert result["controls"]["repeats"] == {"num_pairs": 2, "same": 50.0, "mean_difference": 1.5}
    counted = [system["num_ratings"] for system in result["systems"].values()]
    assert max(counted) <= 2, "a repeat is no second rating of the system"


def test_controls_do_not_raise_agreement(key: Key) -> None:
    """References, which everybody finds good, would make raters seem to agree."""
    rated: dict[str, int] = {"rgt_r1": 2, "abs_r1": 3}
    without = summarize(key, [sheet(key, 1, **rated), sheet(key, 2, rgt_r1=3, abs_r1=2)])
    more = {"reference_r1": 5, "reference_r2": 5}
    with_them = summarize(key, [sheet(key, 1, **rated, **more), sheet(key, 2, rgt_r1=3, abs_r1=2, **more)])
    assert without["alpha"] == with_them["alpha"] is not None


def test_interval_is_of_rows(system: Callable[..., System]) -> None:
    """20 rows at 1 and 20 at 5: the mean of 40 has a standard error of 2 / sqrt(40), in percent 7.9."""
    rows = [f"s{row}" for row in range(40)]
    key = make_study([system("rgt", rows)]).key
    ratings = {item.code: 1 if int(item.id[1:]) < 20 else 5 for item in key.items}
    found = summarize(key, [ReturnedSheet("a", 1, ratings)])["systems"]["rgt"]
    assert found["percent"] == 50
    assert found["low"] == pytest.approx(50 - 1.96 * 7.9, abs=2.6)
    assert found["high"] == pytest.approx(50 + 1.96 * 7.9, abs=2.6)
    constant = summarize(key, [ReturnedSheet("a", 1, dict.fromkeys(ratings, 4))])["systems"]["rgt"]
    assert (constant["percent"], constant["low"], constant["high"]) == (75, 75, 75)


def test_same_ratings_same_result_and_the_signature_tells(key: Key) -> None:
    first, second = sheet(key, 1, rgt_r0=5, rgt_r1=2), sheet(key, 2, rgt_r0=4)

    def signature(*sheets: ReturnedSheet, **options: Any) -> str:
        return str(summarize(key, sheets, **options)["signature"])

    assert summarize(key, [first, second]) == summarize(key, [second, first])
    different = [
        signature(first, second),
        signature(first),
        signature(first, second, seed=1),
        signature(first, second, samples=10),
        signature(first, sheet(key, 2, rgt_r0=3)),
    ]
    assert len(set(different)) == 5
    assert all(key.study in text for text in different)


def test_scale() -> None:
    assert [percent(value) for value in (1, 2, 3, 4, 5)] == [0, 25, 50, 75, 100]
    assert average_of_metrics(20.0, 50.0, 5.0) == 25.0
    assert average_of_metrics(20.0, None, 5.0) is None
    assert set(LABELS) == {example.rating for example in EXAMPLES} == {1, 2, 3, 4, 5}
    assert all(f"{rating}  {name}" in guidelines_text() for rating, (name, _) in LABELS.items())
