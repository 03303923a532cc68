from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from spider_compose.errors import SourceError
from spider_compose.splits import DivergenceReport, divergence_report
from spider_compose.splits.divergence import Lengths, compound_divergence


def rows(*queries: str, question: str = "what is a ?") -> list[dict[str, Any]]:
    return [{"db_id": "d", "query": query, "question": question} for query in queries]


TRAIN = rows("SELECT a FROM t WHERE b = 1", "SELECT a FROM t", "SELECT c FROM t ORDER BY a", "SELECT FROM")
TEST = rows("SELECT a FROM t WHERE b = 2", "SELECT d FROM u", question="Who's there?")


@pytest.mark.parametrize(
    ("train", "test", "expected"),
    [
        pytest.param({1: 2, 2: 2}, {1: 5, 2: 5}, 0.0, id="same"),
        pytest.param({1: 2}, {2: 3}, 1.0, id="nothing-shared"),
        pytest.param({1: 1, 2: 1}, {1: 1}, 1 - 0.5**0.1, id="half"),
        pytest.param({1: 1}, {1: 1, 2: 1}, 1 - 0.5**0.9, id="other-half"),
        pytest.param({1: 0, 2: 1}, {1: 1, 2: 0}, 1.0, id="zeros"),
    ],
)
def test_compound_divergence(train: dict[int, int], test: dict[int, int], expected: float) -> None:
    assert compound_divergence(train, test) == pytest.approx(expected)


def test_compound_divergence_of_nothing() -> None:
    with pytest.raises(SourceError, match="the test set has no compounds"):
        compound_divergence({1: 1}, {})


def test_report_by_hand() -> None:
    report = divergence_report(TRAIN, TEST, grammar="spider")
    assert (report.train_rows, report.test_rows) == (4, 2)
    assert report.unseen_atom_rows == 2  # "2", and "d" and "u"
    assert (report.train_templates, report.test_templates, report.shared_templates) == (4, 2, 1)
    assert report.train_left_out == (3,)
    assert report.test_left_out == ()
    assert report.sql_lengths["test"] == Lengths(((4, 1), (8, 1)), 6.0)
    assert report.text_lengths["test"] == Lengths(((5, 2),), 5.0)
    assert report.clauses is not None
    assert (report.clauses.train_clauses, report.clauses.test_clauses, report.clauses.shared) == (4, 3, 1)
    assert (report.clauses.train_rows, report.clauses.test_rows, report.clauses.test_rows_all) == (2, 1, 0)
    assert report.clauses.left_out == 1
    assert report.signature.startswith("report:divergence|train:4|test:2|grammar:spider|sqlparse:")


@pytest.mark.parametrize("clauses", [True, False])
def test_json_round_trip(clauses: bool) -> None:
    report = divergence_report(TRAIN, TEST, "spider", clauses=clauses)
    assert DivergenceReport.from_json(report.to_json()) == report
    assert DivergenceReport.from_json(report.to_json()).to_json() == report.to_json()


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"sql_lengths": 3}', "null"])
def test_json_that_is_no_report(text: str) -> None:
    with pytest.raises(SourceError, match="expected the JSON of a divergence report"):
        DivergenceReport.from_json(text)


def test_text(golden: Callable[[str, Any], None]) -> None:
    text = str(divergence_report(TRAIN, TEST, "spider"))
    *lines, signature = text.splitlines()
    assert signature.startswith("report:divergence|")
    golden("splits/divergence_report.txt", "\n".join(lines) + "\n")


def test_lengths() -> None:
    lengths = Lengths.of([3, 1, 3, 10, 11, 25])
    assert lengths.counts == ((1, 1), (3, 2), (10, 1), (11, 1), (25, 1))
    assert lengths.mean == 8.8333
    assert lengths.buckets() == {1: 4, 11: 1, 21: 1}
    assert [lengths.quantile(share) for share in (0.1, 0.5, 1.0)] == [1, 3, 25]
    assert (Lengths.of([]).mean, Lengths.of([]).quantile(0.5)) == (0.0, 0)


@pytest.mark.parametrize(
    ("train", "test", "message"),
    [
        pytest.param([], TEST, "the train set is empty", id="no-train"),
        pytest.param(TRAIN, iter(TEST), "give list", id="iterator"),
        pytest.param(TRAIN, [], "the test set is empty", id="no-test"),
        pytest.param(TRAIN[:1], TRAIN[3:], "the test set has no compounds", id="nothing-parses"),
        pytest.param(
            TRAIN, [{"query": "select a from t"}], "row 0: expected text in column 'question'", id="column"
        ),
    ],
)
def test_bad_input(train: Any, test: Any, message: str) -> None:
    with pytest.raises(SourceError, match=message):
        divergence_report(train, test, grammar="spider")
