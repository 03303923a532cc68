from __future__ import annotations

import json
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spider_compose.composition.statistics import (
    SQL_BINS,
    TEXT_BINS,
    bin_labels,
    distribution,
    length,
    length_statistics,
    render_tables,
    text_table,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 0),
        ("   \n", 0),
        ("SELECT count(*) FROM singer", 7),
        ("SELECT count ( * ) FROM singer", 7),  # spacing does not count
        ("T1.name >= 'New York'", 9),
        ("What is Mary's age?", 7),
        ("größer als 3,5 €", 6),
    ],
)
def test_length(text: str, expected: int) -> None:
    assert length(text) == expected


@pytest.mark.parametrize(
    ("lengths", "median", "p90", "maximum", "bins"),
    [
        ([1], 1.0, 1, 1, (1, 0, 0)),
        ([4, 5, 9, 10, 400], 9.0, 400, 400, (1, 2, 2)),
        (list(range(1, 11)), 5.5, 9, 10, (4, 5, 1)),  # the ninth of ten
        ([0, 7], 3.5, 7, 7, (1, 1, 0)),  # shorter than the first bin
    ],
)
def test_distribution(
    lengths: list[int], median: float, p90: int, maximum: int, bins: tuple[int, ...]
) -> None:
    found = distribution(lengths, (1, 5, 10))
    assert (found.count, found.mean) == (len(lengths), pytest.approx(statistics.mean(lengths)))
    assert (found.median, found.p90, found.maximum, found.bins) == (median, p90, maximum, bins)


def test_nothing_to_measure_is_none_not_zero() -> None:
    found = distribution([], SQL_BINS)
    assert (found.count, found.mean, found.median, found.p90, found.maximum) == (0, None, None, None, None)
    assert found.bins == (0,) * len(SQL_BINS)


@given(st.lists(st.integers(1, 500), min_size=1))
def test_every_length_is_in_one_bin_and_p90_covers_nine_tenths(lengths: list[int]) -> None:
    found = distribution(lengths, TEXT_BINS)
    assert sum(found.bins) == len(lengths)
    assert found.p90 is not None
    assert sum(value <= found.p90 for value in lengths) >= 0.9 * len(lengths)
    assert sum(value < found.p90 for value in lengths) < 0.9 * len(lengths)


PAIRS = {
    "train": [
        {"query": "SELECT a FROM b", "question": "the a of b", "num_clauses": 1},
        {"query": "WHERE x > 2", "question": "with x above 2", "num_clauses": 1},
        {"query": "SELECT a FROM b WHERE x > 2", "question": "the a of b with x above 2", "num_clauses": 2},
    ],
    "validation": [],
}


def test_parts_and_numbers_of_clauses() -> None:
    measured = length_statistics(PAIRS)
    train = measured.splits["train"]
    assert list(train.by_clauses) == [1, 2]
    assert (train.all.sql.count, train.by_clauses[1].sql.count, train.by_clauses[2].text.maximum) == (3, 2, 8)
    assert measured.splits["validation"].all.text.mean is None
    assert json.loads(json.dumps(measured.to_dict()))["splits"]["train"]["by_clauses"]["2"]["sql"]["p90"] == 8


def test_tables() -> None:
    tables = render_tables(length_statistics(PAIRS)).split("\n\n")
    assert [table.splitlines()[0] for table in tables] == [
        "Table 5: length of SQL (words and signs)",
        "Table 6: length of text (words and signs)",
    ]
    assert [line.split() for line in tables[0].splitlines()[1:]] == [
        "pairs mean median P90 max 1-9 10-19 20-29 30-39 40-49 50-59 60+".split(),
        "train 3 5.3 4.0 8 8 3 0 0 0 0 0 0".split(),
        "1 clause 2 4.0 4.0 4 4 2 0 0 0 0 0 0".split(),
        "2 clauses 1 8.0 8.0 8 8 1 0 0 0 0 0 0".split(),
        "validation 0 - - - - 0 0 0 0 0 0 0".split(),
    ]


def test_text_table() -> None:
    lines = [["", "pairs"], ["train", "7"], ["  1 clause", "1,000"]]
    assert text_table(lines) == "            pairs\ntrain           7\n  1 clause  1,000"


def test_bin_labels() -> None:
    assert bin_labels((1, 10, 20)) == ["1-9", "10-19", "20+"]
