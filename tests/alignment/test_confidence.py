"""How sure an alignment is."""

from __future__ import annotations

from itertools import pairwise

import pytest

from spider_compose.alignment import ALIGNERS
from spider_compose.alignment.confidence import CALIBRATION, agreement, between, confidence, sign
from spider_compose.alignment.records import Alignment


def alignment(*ids: tuple[int, ...]) -> Alignment:
    return Alignment((), ids)


AGREEMENTS = [
    ("the same", alignment((0, 1), (2, 3)), 1.0),
    ("nothing in common", alignment((2, 3), (0, 1)), 0.0),
    ("a boundary one word further", alignment((0,), (1, 2, 3)), (2 / 3 + 4 / 5) / 2),
    ("shared words", alignment((0, 1, 2, 3), (2, 3)), (2 / 3 + 1) / 2),
]


@pytest.mark.parametrize(("other", "expected"), [c[1:] for c in AGREEMENTS], ids=[c[0] for c in AGREEMENTS])
def test_agreement(other: Alignment, expected: float) -> None:
    assert agreement(alignment((0, 1), (2, 3)), other) == pytest.approx(expected)
    assert agreement(other, alignment((0, 1), (2, 3))) == pytest.approx(expected)


def test_sign_adds_up() -> None:
    two, three = alignment((0,), (1,)), alignment((0,), (1,), (2,))
    assert sign(two, two, 1.0) == pytest.approx(1.0)
    assert sign(two, two, 0.4) == pytest.approx(0.8)
    assert sign(three, three, 1.0) == pytest.approx(0.9)
    one = alignment((0, 1))
    assert sign(one, one, 1.0) == pytest.approx(1.0)


def test_each_aligner_has_a_rising_map() -> None:
    assert CALIBRATION.keys() == ALIGNERS.keys()
    for points in CALIBRATION.values():
        assert all(a[0] < b[0] and a[1] <= b[1] for a, b in pairwise(points))
        assert all(0.0 <= height <= 1.0 for _, height in points)
        assert points[-1] == (1.0, 1.0)


@pytest.mark.parametrize(
    ("value", "expected"),
    [(-1.0, 0.2), (0.0, 0.2), (0.25, 0.4), (0.5, 0.6), (0.75, 0.8), (1.0, 1.0), (2.0, 1.0)],
)
def test_between(value: float, expected: float) -> None:
    assert between(((0.0, 0.2), (0.5, 0.6), (1.0, 1.0)), value) == pytest.approx(expected)


@pytest.mark.parametrize("aligner", ALIGNERS)
def test_agreement_raises_confidence(aligner: str) -> None:
    found, other = alignment((0, 1), (2, 3)), alignment((0,), (1, 2, 3))
    assert confidence(aligner, found, found, 0.5) > confidence(aligner, found, other, 0.5) > 0.0
    assert confidence(aligner, found, other, 0.9) >= confidence(aligner, found, other, 0.1)
    assert confidence(aligner, found, found, 1.0) == 1.0


def test_confidence_is_rounded_so_that_all_versions_of_python_agree() -> None:
    found = alignment((0, 1, 2), (3, 4, 5))
    for split in range(1, 6):
        sure = confidence("segment", found, alignment(tuple(range(split)), tuple(range(split, 6))), 0.3)
        assert sure == round(sure, 4)
