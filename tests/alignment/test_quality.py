"""Counts of faults that need no annotation."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest

from spider_compose.alignment.quality import quality_report, quality_table


@dataclass(frozen=True)
class Rows:
    alignments: dict[str, list[dict[str, Any]]]
    pairs: dict[str, list[dict[str, Any]]]


def rows(question: str, text: str, clauses: int = 1) -> Rows:
    """One pair of `clauses` clauses, from a question whose query has two."""
    origin = {
        "source_split": "train",
        "source_row": 3,
        "question": question,
        "clause_types": ["SELECT", "WHERE"],
    }
    pair = {"source_split": "train", "source_row": 3, "question": text, "num_clauses": clauses}
    return Rows({"train": [origin], "validation": []}, {"train": [pair], "test": []})


QUESTION = 'Show the "A B" and names of the singers they have?'
FAULTS: list[tuple[str, str, str, int, set[str]]] = [
    ("none", QUESTION, "Show the singers?", 1, set()),
    ("stops at a function word", QUESTION, "Show the names of", 1, {"ends_in_function_word"}),
    ("marks do not count", QUESTION, "Show the names of?", 1, {"ends_in_function_word"}),
    (
        "as the question does",
        QUESTION,
        "the singers they have?",
        1,
        {"ends_in_function_word", "of_which_as_the_question_does"},
    ),
    ("half a pair of quotes", QUESTION, 'Show the "A singers', 1, {"unbalanced_quotes"}),
    ("half a pair of single quotes", "in 'A B' now", "in 'A now", 1, {"unbalanced_quotes"}),
    ("an apostrophe is none", "in 'A B' of Sam's", "of Sam's", 1, {"starts_dangling"}),
    ("quotes that the question lacks too", 'Show "Sky Radio', 'Show "Sky', 1, set()),
    ("starts with and", QUESTION, "and names", 1, {"starts_dangling"}),
    ("as the question does, too", "Of all singers, who sings?", "Of all singers", 1, set()),
    (
        "all words of the question",
        QUESTION,
        'Show the "A B", and names of the singers they have',
        1,
        {"subset_equals_question", "ends_in_function_word", "of_which_as_the_question_does"},
    ),
    ("a full set gives the question", QUESTION, QUESTION, 2, {"full_set_equals_question"}),
    ("a full set that does not", QUESTION, "Show the names", 2, set()),
]


@pytest.mark.parametrize(
    ("question", "text", "clauses", "faults"), [c[1:] for c in FAULTS], ids=[c[0] for c in FAULTS]
)
def test_faults(question: str, text: str, clauses: int, faults: set[str]) -> None:
    report = quality_report(rows(question, text, clauses))
    shares = {
        name: value for name, value in report.to_json().items() if name not in ("pairs", "proper_subsets")
    }
    assert {name for name, value in shares.items() if value} == faults
    assert report.pairs == 1 and report.proper_subsets == (clauses == 1)


def test_a_report_of_nothing() -> None:
    report = quality_report(Rows({}, {}))
    assert report.pairs == 0 and report.ends_in_function_word == 0.0


def test_text_and_json() -> None:
    report = quality_report(rows(QUESTION, "Show the names of"))
    assert json.loads(json.dumps(report.to_json()))["ends_in_function_word"] == 1.0
    table = quality_table({"keyword": report, "segment": report}).splitlines()
    assert table[0].split() == ["keyword", "segment"]
    assert "ends in function word" in str(report)
    assert any(line.split()[-2:] == ["100.00", "%"] for line in table)
