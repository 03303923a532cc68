from __future__ import annotations

import copy
import json
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("sacrebleu", reason="the extra `evaluation` is not installed")

from spider_compose.errors import EvaluationError, OptionError
from spider_compose.evaluation import compare, score
from spider_compose.sql.schema import Column, Schema, Table

MakeRows = Callable[..., list[dict[str, Any]]]

QUESTIONS = [
    "What is the name of each pet?",
    "Which pets are older than 3 years?",
    "How many dogs live in Paris?",
    "List the weight of the heaviest cat.",
]
SCORES = ("bleu", "bleu_multi_reference", "exact_match", "normalized_exact_match", "chrf")


def test_perfect_prediction_scores_100(make_rows: MakeRows) -> None:
    result = score(QUESTIONS, make_rows(QUESTIONS))
    assert result["num_items"] == 4
    for name in SCORES:
        assert [result[name][key] for key in ("score", "low", "high")] == [100, 100, 100], name
    assert result["by_num_clauses"] == {
        "2": {"num_items": 4, "bleu": 100, "exact_match": 100, "normalized_exact_match": 100}
    }


def test_constant_prediction_scores_what_it_deserves(make_rows: MakeRows) -> None:
    """One of two right; BLEU 7/10, 5/8, 3/6, 2/4 by hand."""
    result = score(["a b c d e"] * 2, make_rows(["a b c d e", "a b x y z"]))
    assert result["exact_match"]["score"] == result["normalized_exact_match"]["score"] == 50
    assert result["bleu"]["score"] == round(100 * (0.7 * 0.625 * 0.5 * 0.5) ** 0.25, 4)
    assert (result["exact_match"]["low"], result["exact_match"]["high"]) == (0, 100)


def test_wrong_and_empty_predictions_score_0(make_rows: MakeRows) -> None:
    result = score(["", "zzz", "", "qqq"], make_rows(QUESTIONS))
    assert [result[name]["score"] for name in SCORES] == [0] * 5
    assert [result[name]["high"] for name in SCORES] == [0] * 5


def test_normalized_match_is_counted_apart(make_rows: MakeRows) -> None:
    result = score([text.lower() for text in QUESTIONS], make_rows(QUESTIONS))
    assert (result["exact_match"]["score"], result["normalized_exact_match"]["score"]) == (0, 100)
    assert result["items"]["exact"] == [0] * 4
    assert result["items"]["normalized"] == [1] * 4


def test_parts_by_length_and_pattern(make_rows: MakeRows) -> None:
    rows = make_rows(
        QUESTIONS, ["SELECT a FROM t", "SELECT b FROM t WHERE c = 1", "SELECT d FROM t", "SELECT e FROM t"]
    )
    rows[1]["num_clauses"] = 12
    rows[0]["num_clauses"] = 3
    result = score([*QUESTIONS[:3], "?"], rows)
    assert list(result["by_num_clauses"]) == ["1", "3", "12"], "in the order of numbers, not of texts"
    assert list(result["by_clause_pattern"]) == ["SELECT", "SELECT+WHERE"], "most frequent first"
    assert result["by_clause_pattern"]["SELECT"]["num_items"] == 3
    assert result["by_clause_pattern"]["SELECT"]["exact_match"] == 66.6667
    assert result["by_clause_pattern"]["SELECT+WHERE"]["bleu"] == 100


SAME = [
    "SELECT T1.name FROM pet AS T1",
    "select name from pet",
    "SELECT name FROM pet WHERE age > 3",
    "SELECT weight FROM pet",
]


def test_references_are_shared_by_canonical_query(make_rows: MakeRows) -> None:
    rows = make_rows(QUESTIONS, SAME)
    result = score([QUESTIONS[1], QUESTIONS[0], QUESTIONS[2], QUESTIONS[3]], rows)
    assert result["bleu"]["score"] < 100
    multiple = result["bleu_multi_reference"]
    assert multiple["score"] == 100
    assert multiple["num_references"] == 1.5  # 2, 2, 1, 1
    assert multiple["signature"].startswith("nrefs:var|")
    assert result["bleu"]["signature"].startswith("nrefs:1|")


def test_references_are_not_shared_between_databases(make_rows: MakeRows) -> None:
    rows = make_rows(QUESTIONS, SAME)
    rows[1]["db_id"] = "zoo"
    assert score(QUESTIONS, rows)["bleu_multi_reference"]["num_references"] == 1


def test_schemas_tell_which_table_a_column_is_of(make_rows: MakeRows) -> None:
    rows = make_rows(
        QUESTIONS[:2],
        ["SELECT city FROM a JOIN b ON a.id = b.id", "SELECT b.city FROM a JOIN b ON a.id = b.id"],
    )
    schema = Schema(
        "pets",
        (
            Table("a", "a", (Column("id", "id"),)),
            Table("b", "b", (Column("id", "id"), Column("city", "city"))),
        ),
    )
    assert score(QUESTIONS[:2], rows)["bleu_multi_reference"]["num_references"] == 1
    with_schema = score(QUESTIONS[:2], rows, schemas={"pets": schema})
    assert with_schema["bleu_multi_reference"]["num_references"] == 2


def test_queries_that_do_not_parse_are_counted(make_rows: MakeRows) -> None:
    rows = make_rows(QUESTIONS, ["SELECT (", "SELECT (", "SELECT a FROM t", "SELECT b FROM t"])
    multiple = score(QUESTIONS, rows)["bleu_multi_reference"]
    assert (multiple["num_unparsed"], multiple["num_references"]) == (2, 1.5)


def test_result_holds_no_texts_and_round_trips(make_rows: MakeRows) -> None:
    result = score(["What is the weight?", *QUESTIONS[1:]], make_rows(QUESTIONS))
    assert json.loads(json.dumps(result)) == result
    assert "weight" not in json.dumps(result)
    assert list(result) == [
        "num_items", "bleu", "bleu_multi_reference", "exact_match", "normalized_exact_match", "chrf",
        "interval", "by_num_clauses", "by_clause_pattern", "items",
    ]  # fmt: skip
    assert result["interval"] == {
        "method": "percentile bootstrap by item", "level": 95, "samples": 1000, "seed": 12345,
    }  # fmt: skip


def test_interval_moves_with_the_seed_and_the_score_does_not(make_rows: MakeRows) -> None:
    rows = make_rows(QUESTIONS * 5)
    said = [*QUESTIONS[:2], "What?", "List the weight of a cat."] * 5
    one, other = (score(said, rows, seed=seed, samples=50) for seed in (1, 2))
    assert one["bleu"]["score"] == other["bleu"]["score"]
    assert one["bleu"]["low"] != other["bleu"]["low"]
    assert one["bleu"]["low"] < one["bleu"]["score"] < one["bleu"]["high"]


PROGRAM = """
import json
from spider_compose.evaluation import compare, error_analysis, score
words = ["a", "b", "c", "d", "e", "f", "cat", "dog"]
texts = [" ".join(words[(at * k) % 8] for k in range(1, 7 + at % 3)) for at in range(40)]
rows = [{"id": str(at), "db_id": "d", "query": f"SELECT a FROM t WHERE b = {at % 9}", "question": text,
         "clause_types": ["SELECT", "WHERE"], "num_clauses": 2} for at, text in enumerate(texts)]
said = [texts[at] if at % 3 else texts[at - 1] for at in range(40)]
one, other = score(said, rows), score(texts[1:] + texts[:1], rows)
print(json.dumps([one, compare(one, other), error_analysis(said, rows)]))
"""


def test_same_bytes_under_any_hash_seed() -> None:
    outputs = {
        subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "2")
    }
    assert len(outputs) == 1


# --- Comparison -------------------------------------------------------------------------------------------


@pytest.fixture
def two_results(make_rows: MakeRows) -> tuple[dict[str, Any], dict[str, Any]]:
    rows = make_rows(QUESTIONS * 10)
    good = QUESTIONS * 10
    poor = [text if at % 4 else "What is this about, please?" for at, text in enumerate(good)]
    return score(good, rows), score(poor, rows)


def test_compare_finds_the_better_model(two_results: tuple[dict[str, Any], dict[str, Any]]) -> None:
    found = compare(*two_results)
    assert (found["num_items"], found["samples"], found["seed"]) == (40, 1000, 12345)
    exact = found["exact_match"]
    assert (exact["first"], exact["second"], exact["difference"]) == (100, 75, 25)
    assert 0 < exact["low"] < 25 < exact["high"] < 50
    assert exact["p_value"] == round(compare(*two_results)["exact_match"]["p_value"], 6) < 0.01
    assert found["bleu"]["difference"] == pytest.approx(100 - two_results[1]["bleu"]["score"], abs=1e-3)
    assert found["bleu"]["p_value"] < 0.01
    assert found["bleu"]["p_value_bootstrap"] == round(2 / 1001, 6)


def test_compare_reads_reports_from_json(two_results: tuple[dict[str, Any], dict[str, Any]]) -> None:
    read = [json.loads(json.dumps(result)) for result in two_results]
    assert compare(*read) == compare(*two_results)


def test_compare_turns_round(two_results: tuple[dict[str, Any], dict[str, Any]]) -> None:
    there, back = compare(*two_results), compare(*reversed(two_results))
    for name in ("bleu", "exact_match", "normalized_exact_match"):
        assert back[name]["difference"] == -there[name]["difference"]
        assert back[name]["low"] == pytest.approx(-there[name]["high"], abs=2e-4)
        assert back[name]["p_value"] == there[name]["p_value"]


def test_compare_with_itself_is_no_difference(two_results: tuple[dict[str, Any], dict[str, Any]]) -> None:
    found = compare(two_results[1], two_results[1])
    for name in ("bleu", "exact_match", "normalized_exact_match"):
        assert {found[name][key] for key in ("difference", "low", "high")} == {0}
        assert found[name]["p_value"] == found[name]["p_value_bootstrap"] == 1


def test_compare_pairs_items_by_id(make_rows: MakeRows) -> None:
    """The same outputs in another order of rows are no difference, item by item."""
    rows, said = make_rows(QUESTIONS), [*QUESTIONS[:2], "What?", "?"]
    turned = score(said[::-1], rows[::-1])
    found = compare(score(said, rows), turned)
    assert found["bleu"]["p_value"] == 1
    assert (found["bleu"]["low"], found["bleu"]["high"]) == (0, 0)


def _without(key: str) -> Callable[[dict[str, Any]], None]:
    return lambda result: result["items"].pop(key)


def _set(path: str, value: Any) -> Callable[[dict[str, Any]], None]:
    def change(result: dict[str, Any]) -> None:
        *parents, last = path.split(".")
        for name in parents:
            result = result[name]
        result[last] = value

    return change


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda result: result.pop("items"), "the second result must hold `items`"),
        (_without("bleu"), "must hold `items` with ids, bleu, exact and normalized"),
        (_set("items.ids", ["x"] * 40), "40 and 40 ids, 0 of them shared; 'row-0' is in one alone"),
        (_set("items.ids", ["row-0"]), "10 counts of bleu, exact and normalized for each of its 1 ids"),
        (_set("items.bleu", [[1, 2]] * 40), "10 counts of bleu"),
        (_set("items.bleu", [["a"] * 10] * 40), "are no counts"),
        (_set("items.bleu", [[1, 77, *[0] * 8]] * 40), "other references for item 'row-0': 8 and 77 words"),
        (_set("bleu.signature", "tok:zh"), "BLEU was counted differently: nrefs:1.* and tok:zh"),
    ],
)
def test_compare_refuses_what_does_not_fit(
    two_results: tuple[dict[str, Any], dict[str, Any]], change: Callable[[dict[str, Any]], None], says: str
) -> None:
    other = copy.deepcopy(two_results[1])
    change(other)
    with pytest.raises(EvaluationError, match=says):
        compare(two_results[0], other)


# --- Bad input --------------------------------------------------------------------------------------------


def _row(**changes: Any) -> dict[str, Any]:
    row = {
        "id": "x", "db_id": "d", "query": "SELECT a FROM t", "question": "a?", "clause_types": ["SELECT"],
        "num_clauses": 1,
    }  # fmt: skip
    return {key: value for key, value in {**row, **changes}.items() if value is not ...}


@pytest.mark.parametrize(
    ("predictions", "rows", "says"),
    [
        pytest.param([], [], "nothing to score", id="empty"),
        pytest.param(["a"], [], "1 predictions for 0 rows", id="lengths"),
        pytest.param(["a"] * 2, [_row()], "2 predictions for 1 rows", id="lengths the other way"),
        pytest.param("a", [_row()], "expected a sequence of predictions", id="one text"),
        pytest.param(["a"], _row(), "expected a sequence of predictions", id="one row"),
        pytest.param(["a"], ["x"], "row 0 must be a mapping", id="row of another type"),
        pytest.param(
            [None], [_row()], r"row 0 \(id 'x'\): prediction must be a text, but got NoneType", id="None"
        ),
        pytest.param(
            ["a"], [_row(question=...)], "row 0 lacks question; it must have id, db_id", id="column"
        ),
        pytest.param(["a"], [_row(db_id=None, query=...)], "lacks db_id, query", id="two columns"),
        pytest.param(["a"], [_row(question=3)], "question must be a text, but got int", id="type"),
        pytest.param(["a"], [_row(question=" ")], "the question is empty", id="empty reference"),
        pytest.param(["a"], [_row(clause_types="SELECT")], "clause_types must be a list of", id="no list"),
        pytest.param(["a"], [_row(clause_types=["FROM"])], r"but got \['FROM'\]", id="no clause type"),
        pytest.param(["a"], [_row(num_clauses="two")], "num_clauses must be a number", id="no number"),
        pytest.param(["a"] * 2, [_row(), _row()], "rows 0 and 1 are 'x'", id="same id"),
    ],
)
def test_bad_input_is_one_clear_error(predictions: Any, rows: Any, says: str) -> None:
    with pytest.raises(EvaluationError, match=says):
        score(predictions, rows)


def test_bad_options(make_rows: MakeRows) -> None:
    with pytest.raises(OptionError, match="`samples` must be an integer"):
        score(QUESTIONS, make_rows(QUESTIONS), samples=0)
    with pytest.raises(OptionError, match="dialect"):
        score(QUESTIONS, make_rows(QUESTIONS), dialect="klingon")
