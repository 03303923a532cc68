from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from spider_compose.errors import EvaluationError, OptionError
from spider_compose.evaluation import error_analysis
from spider_compose.evaluation.error_kinds import KINDS
from spider_compose.sql.schema import Column, Schema, Table

MakeRows = Callable[..., list[dict[str, Any]]]

SCHEMAS = {
    "pets": Schema(
        "pets",
        (Table("pet", "pet", (Column("name", "name"), Column("age", "age"), Column("weight", "weight"))),),
    )
}
QUERIES = [
    "SELECT name FROM pet WHERE age > 3",
    "SELECT name FROM pet WHERE age > 5",
    "SELECT name FROM pet",
    "SELECT weight FROM pet",
]
QUESTIONS = [
    "What are the names of pets older than 3?",
    "Which names have pets above age 5?",
    "List the names of pets.",
    "List the weights of pets.",
]
SAID = [
    "what are the names of pets older than 3",  # right but for case and the question mark
    "Which names have pets?",  # WHERE is missing
    "List the weights of pets.",  # another column
    "Weights of all pets, please",  # a good paraphrase
]


def test_report(make_rows: MakeRows) -> None:
    report = error_analysis(SAID, make_rows(QUESTIONS, QUERIES), SCHEMAS)
    assert (report["num_items"], report["num_exact"], report["num_unparsed"]) == (4, 1, 0)
    assert list(report["kinds"]) == list(KINDS)
    assert report["kinds"]["missing_clause"] == {"items": 1, "share": 25, "ids": ["row-1"]}
    assert report["kinds"]["wrong_column"] == {"items": 1, "share": 25, "ids": ["row-2"]}
    assert report["kinds"]["repeated_words"] == {"items": 0, "share": 0, "ids": []}
    assert report["unexplained"] == {"items": 1, "share": 25, "ids": ["row-3"]}
    assert report["missing_clause_types"] == {
        "SELECT": {"clauses": 4, "judged": 4, "missing": 0},
        "WHERE": {"clauses": 2, "judged": 2, "missing": 1},
    }
    assert list(report["by_clause_pattern"]) == ["SELECT", "SELECT+WHERE"]
    both = report["by_clause_pattern"]["SELECT+WHERE"]
    assert (both["num_items"], both["num_exact"], both["unexplained"]) == (2, 1, 0)
    assert {kind: count for kind, count in both["kinds"].items() if count} == {"missing_clause": 1}
    assert report["by_num_clauses"]["2"] == both
    assert report["signature"] == "rules:1|schemas:yes|dialect:sqlite"


def test_report_holds_no_texts_and_round_trips(make_rows: MakeRows) -> None:
    report = error_analysis(SAID, make_rows(QUESTIONS, QUERIES), SCHEMAS)
    assert json.loads(json.dumps(report)) == report
    assert "pets" not in json.dumps(report)


def test_right_answers_have_no_errors(make_rows: MakeRows) -> None:
    """Even where the reference repeats words or breaks off, or a negation is spelled otherwise."""
    odd = ["the the names of pets", "names of pets and", "x", "pets that aren't 3"]
    queries = [*QUERIES[:3], "SELECT name FROM pet WHERE age != 3"]
    report = error_analysis([*odd[:3], "pets that arent 3"], make_rows(odd, queries), SCHEMAS)
    assert report["num_exact"] == 4
    assert not any(kind["items"] for kind in report["kinds"].values())
    assert report["unexplained"]["items"] == 0


def test_wrong_column_is_undefined_without_schemas(make_rows: MakeRows) -> None:
    report = error_analysis(SAID, make_rows(QUESTIONS, QUERIES))
    assert report["kinds"]["wrong_column"] == {"items": None, "share": None, "ids": []}
    assert report["by_num_clauses"]["1"]["kinds"]["wrong_column"] is None
    assert report["signature"] == "rules:1|schemas:no|dialect:sqlite"


def test_queries_that_cannot_be_cut_are_counted(make_rows: MakeRows) -> None:
    report = error_analysis(["pets pets", "a"], make_rows(["pets", "b"], ["SELECT (", "SELECT ("]))
    assert report["num_unparsed"] == 2
    assert report["kinds"]["repeated_words"]["ids"] == ["row-0"]
    assert report["missing_clause_types"] == {}


def test_only_some_ids_are_given(make_rows: MakeRows) -> None:
    report = error_analysis([""] * 15, make_rows(["What is it?"] * 15))
    assert report["kinds"]["empty_output"]["items"] == 15
    assert report["kinds"]["empty_output"]["ids"] == [f"row-{at}" for at in range(10)]


def test_bad_input_is_one_clear_error(make_rows: MakeRows) -> None:
    rows = make_rows(QUESTIONS, QUERIES)
    with pytest.raises(EvaluationError, match="nothing to score"):
        error_analysis([], [])
    with pytest.raises(EvaluationError, match="1 predictions for 4 rows"):
        error_analysis(["a"], rows)
    with pytest.raises(EvaluationError, match="lacks 1, the first of them 'pets'"):
        error_analysis(SAID, rows, {})
    with pytest.raises(OptionError, match="dialect"):
        error_analysis(SAID, rows, dialect="klingon")
