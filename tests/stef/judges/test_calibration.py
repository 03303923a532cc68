"""Calibration and agreement: known answers, maps that rise, and a judge that is too sure of itself."""

from __future__ import annotations

import json
import random
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spider_compose.errors import SpiderComposeError
from spider_compose.stef.agreement import Rating, agreement, as_table, auroc, calibrated, model_rating, rating
from spider_compose.stef.judges.calibration import LEAST_ROWS, METHODS, Calibration, fit
from spider_compose.stef.judges.protocol import Judgement

ROWS = st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=LEAST_ROWS, max_size=60).filter(
    lambda rows: len({label for _, label in rows}) == 2
)


@pytest.mark.parametrize("method", METHODS)
@given(rows=ROWS, asked=st.lists(st.floats(0, 1), min_size=2))
def test_maps_rise_within_bounds(method: str, rows: list[tuple[float, bool]], asked: list[float]) -> None:
    found = fit([b for b, _ in rows], [y for _, y in rows], method)
    values = [found(belief) for belief in sorted(asked)]
    assert all(0 < value < 1 for value in values)
    assert all(low <= high + 1e-9 for low, high in pairwise(values))


def overconfident(count: int = 4000) -> tuple[list[float], list[bool]]:
    """Beliefs of 0.05 or 0.95; the query is right in 30 % and 70 % of the cases."""
    draw = random.Random(1)
    beliefs = [draw.choice([0.05, 0.95]) for _ in range(count)]
    return beliefs, [draw.random() < (0.7 if belief > 0.5 else 0.3) for belief in beliefs]


@pytest.mark.parametrize("method", METHODS)
def test_a_judge_that_is_too_sure_is_corrected(method: str) -> None:
    found = fit(*overconfident(), method)
    assert found(0.95) == pytest.approx(0.7, abs=0.03) and found(0.05) == pytest.approx(0.3, abs=0.03)


def test_isotonic_pools_what_falls() -> None:
    found = fit(
        [0.1] * 4 + [0.4] * 4 + [0.8] * 4, [False] * 4 + [True] * 3 + [False] + [True] * 2 + [False] * 2
    )
    assert found(0.4) == found(0.8) == found(0.6) == pytest.approx(5.5 / 9, abs=1e-6)
    assert found(0.1) == pytest.approx(0.1) and found(0.0) == found(0.1) and found(1.0) == found(0.8)


def test_a_judge_that_is_wrong_the_surer_it_is_gets_one_probability() -> None:
    found = fit([0.1] * 50 + [0.9] * 50, [True] * 50 + [False] * 50, "temperature")
    assert found(0.1) == found(0.9) == pytest.approx(0.5)


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    found = fit(*overconfident(100), judge="hub-m")
    found.write(path)
    assert Calibration.read(path) == found and found.judge == "hub-m" and found.rows == 100
    document = json.loads(path.read_text())
    document["points"][0][1] = 0.5
    path.write_text(json.dumps(document))
    for text in (None, "{}", "[1]", "no"):
        if text:
            path.write_text(text)
        with pytest.raises(SpiderComposeError, match=r"c\.json"):
            Calibration.read(path)


BAD_ROWS = [
    ([0.1] * 20, [True] * 20, "one kind"),
    ([0.1, 0.9], [False, True], "10 rows"),
    ([float("nan")] * 20, [True, False] * 10, "from 0 to 1"),
    ([1.5] * 20, [True, False] * 10, "from 0 to 1"),
    ([], [], "one kind"),
]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("beliefs", "labels", "says"), BAD_ROWS, ids=[f"{s}{len(b)}" for b, _, s in BAD_ROWS]
)
def test_rows_that_say_nothing_are_refused(
    method: str, beliefs: list[float], labels: list[bool], says: str
) -> None:
    with pytest.raises(SpiderComposeError, match=says):
        fit(beliefs, labels, method)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "beliefs", [[0.0, 1.0] * 10, [1.0, 0.0] * 10, [0.5] * 20], ids=["sure", "wrong", "flat"]
)
def test_maps_at_the_edges_are_probabilities(method: str, beliefs: list[float]) -> None:
    found = fit(beliefs, [False, True] * 10, method)
    assert all(0.0 < found(belief) < 1.0 for belief in (0.0, 0.5, 1.0))
    assert found(0.0) <= found(0.5) <= found(1.0)


BAD_MAPS = [
    ("isotonic", [[0.1, 0.9], [0.9, 0.1]]), ("isotonic", [[0.9, 0.1], [0.1, 0.9]]), ("isotonic", [[0.1, 7]]),
    ("isotonic", [[0.1, float("nan")]]), ("isotonic", [[0.1, float("inf")]]), ("isotonic", []),
    ("temperature", [[-1, 0]]), ("temperature", [[1, 0], [1, 0]]), ("temperature", [[float("nan"), 0]]),
]  # fmt: skip


@pytest.mark.parametrize(("method", "points"), BAD_MAPS, ids=[f"{m} {p}" for m, p in BAD_MAPS])
def test_a_file_with_a_proper_signature_may_still_be_no_map(method: str, points: Any, tmp_path: Path) -> None:
    Calibration(method, tuple(map(tuple, points)), "hub-m").write(tmp_path / "c.json")
    with pytest.raises(SpiderComposeError, match=r"c\.json"):
        Calibration.read(tmp_path / "c.json")


def test_a_calibration_is_not_lent_to_another_judge(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    fit(*overconfident(100), judge="hub-m").write(path)
    path.write_text(path.read_text().replace("hub-m", "hub-n"))
    with pytest.raises(SpiderComposeError, match="signature"):
        Calibration.read(path)


def test_agreement_of_known_judges() -> None:
    labels = [True] * 60 + [False] * 40
    perfect = [Rating(float(label), label, 1.0) for label in labels]
    coin = [Rating(0.5, True, 0.6)] * 100
    measured = {name: agreement(ratings, labels) for name, ratings in (("perfect", perfect), ("coin", coin))}
    assert measured["perfect"] == {
        "auroc": 1.0, "kappa": 1.0, "balanced": 1.0, "ece": 0.0, "said": 0.0, "coverage": 1.0,
    }  # fmt: skip
    assert (measured["coin"]["auroc"], measured["coin"]["kappa"], measured["coin"]["balanced"]) == (
        0.5,
        0.0,
        0.5,
    )
    assert as_table(measured).count("\n") == 3
    none = agreement([None] * 100, labels)
    assert none["coverage"] == 0 and none["auroc"] is None and "-" in as_table({"none": none})


# kappa by hand: accuracy 0.7, chance 0.5 * 0.6 + 0.5 * 0.4
def test_kappa_by_hand() -> None:
    labels = [True] * 6 + [False] * 4
    good = [True] * 4 + [False] * 2 + [True] + [False] * 3
    found = agreement([Rating(float(g), g, 0.5) for g in good], labels)
    assert found["kappa"] == pytest.approx((0.7 - 0.5) / 0.5)
    assert found["balanced"] == pytest.approx((4 / 6 + 3 / 4) / 2)
    assert found["said"] == pytest.approx(-0.2)


@given(ROWS)
def test_auroc_by_pairs(rows: list[tuple[float, bool]]) -> None:
    right = [s for s, y in rows if y]
    wrong = [s for s, y in rows if not y]
    pairs = [(r > w) + (r == w) / 2 for r in right for w in wrong]
    assert auroc([s for s, _ in rows], [y for _, y in rows]) == pytest.approx(sum(pairs) / len(pairs))


def test_calibration_is_measured_on_rows_it_has_not_seen() -> None:
    beliefs, labels = overconfident()
    judged = [Judgement("correct" if b > 0.5 else "incorrect", max(b, 1 - b), belief=b) for b in beliefs]
    groups = [n % 5 for n in range(len(judged))]
    before = agreement([model_rating(j) for j in judged], labels)
    after = agreement(calibrated(judged, labels, groups, "isotonic"), labels)
    assert before["ece"] > 0.2 > 0.05 > after["ece"] and before["said"] > 0.2
    # the only group of its kind has nothing to be calibrated by
    assert calibrated(judged[:2], [True, False], ["a", "b"], "isotonic") == [None, None]


def test_a_conflict_bounds_the_calibrated_probability() -> None:
    without = Judgement("incorrect", 0.8, p_correct=0.1)
    judged = [Judgement("correct", 0.9, belief=0.95) for _ in range(11)]
    judged.append(Judgement("potentially_incorrect", 0.5, belief=0.95, conflict="x", without=without))
    found = calibrated(judged, [True] * 10 + [False, False], list(range(12)), "temperature")
    assert found[0] is not None and found[0].belief > 0.5
    assert found[11] == Rating(0.1, False, 0.9)


def test_ratings_of_judgements() -> None:
    assert rating(None) is None and rating(Judgement(None, 0.0)) is None
    assert rating(Judgement("correct", 0.8)) == Rating(0.9, True, 0.8)
    assert rating(Judgement("incorrect", 0.8, p_correct=0.3)) == Rating(0.3, False, 0.8)
