"""Two sides held against each other: designs, rules, questions, the gate."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from spider_compose.errors import OptionError, SpiderComposeError
from spider_compose.stef.monitoring.compare import Comparison, compare, gate
from spider_compose.stef.monitoring.measures import MEASURES, question_codes, values
from spider_compose.stef.monitoring.scored import SCHEMA

ScoredTable = Callable[..., pa.Table]


def table(rows: Sequence[dict[str, Any]]) -> pa.Table:
    """Rows of which only what matters is given."""
    empty = {field.name: None if field.nullable else "" for field in SCHEMA}
    return pa.Table.from_pylist(
        [{**empty, "key": str(n), **row} for n, row in enumerate(rows)], schema=SCHEMA
    )


def asked(question: str, score: float | None, lost: str = "joins", **more: Any) -> dict[str, Any]:
    reason = dict.fromkeys(("question_start", "question_end", "sql_start", "sql_end"), 0)
    points = 0 if score is None else 100 - score
    reasons = [{"rule": lost, "message": "m", "points": points, **reason}] if points else []
    unscored = "no_sql" if score is None else None
    return {"question": question, "score": score, "reasons": reasons, "unscored": unscored, **more}


def held(a: pa.Table, b: pa.Table, **options: Any) -> Comparison:
    return compare(a, b, reasons=(a["reasons"], b["reasons"]), samples=400, **options)


def test_measures_are_points() -> None:
    rows = table([asked("a", 40.0, p_correct=0.5, enrichment_quality=0.25), asked("b", None)])
    expected = {
        "score": [40, math.nan],
        "score_unscored_as_0": [40, 0],
        "coverage": [100, 0],
        "enrichment_quality": [25, math.nan],
        "p_correct": [50, math.nan],
    }
    assert set(expected) == set(MEASURES)
    for name, points in expected.items():
        np.testing.assert_array_equal(values(rows, name), points)
    with pytest.raises(OptionError, match="Did you mean 'coverage'"):
        values(rows, "coverge")


def test_questions_are_known_without_case_and_spacing() -> None:
    one = table([asked("How many  ships?", 1.0, database="x"), asked("", 1.0, enriched_question="Ships")])
    two = table([asked(" how MANY ships?", 1.0, database="x"), asked("How many ships?", 1.0, database="y")])
    (first, second), names = question_codes([one, two])
    assert first[0] == second[0] and len({*first, *second}) == 3
    assert names[int(first[1])].as_py() == "\x1fships"


def test_paired_counts_each_shared_question_once() -> None:
    a = table([asked("q1", 100.0)] * 9 + [asked("q2", 50.0), asked("q3", 0.0)])
    b = table([asked("q1", 80.0), asked("q2", 60.0), asked("q2", 40.0), asked("q4", 100.0)])
    found = held(a, b)
    assert (found.design, found.shared, found.only_a, found.only_b) == ("paired", 2, 1, 1)
    score = found.measures["score"]
    assert (score.a, score.b, score.difference) == (75, 65, -10)
    assert score.rows == (10, 3)


def test_separate_counts_rows() -> None:
    a = table([asked("q1", 100.0)] * 3 + [asked("q2", 50.0), asked("q3", 0.0)])
    b = table([asked("q1", 80.0), asked("q5", 60.0), asked("q6", None), asked("q7", 100.0)])
    found = held(a, b)
    assert found.design == "separate" and found.questions == ()
    assert found.measures["score"].difference == pytest.approx(80 - 70)
    assert found.measures["score_unscored_as_0"].difference == pytest.approx(60 - 70)
    assert found.measures["coverage"].difference == pytest.approx(-25)
    assert found.measures["p_correct"].difference is None


@pytest.mark.parametrize("design", ["paired", "separate"])
def test_rules_add_up_to_the_difference(scored_table: ScoredTable, design: str) -> None:
    rows = scored_table(count=800, question="")
    rows = rows.set_column(
        rows.schema.get_field_index("enriched_question"),
        "enriched_question",
        pa.array([f"q{n * 7919 % 150}" for n in range(rows.num_rows)]),
    )
    a, b = rows.slice(0, 500), rows.slice(500)
    found = held(a, b, design=design)
    difference = found.measures["score_unscored_as_0"].difference
    assert difference is not None and abs(difference) > 0.5
    assert sum(rule.change for rule in found.rules) == pytest.approx(-difference, abs=1e-9)
    assert {rule.rule.split(":")[0] for rule in found.rules} > {"unscored", "joins"}
    assert [abs(rule.change) for rule in found.rules] == sorted(
        (abs(rule.change) for rule in found.rules), reverse=True
    )


@pytest.mark.parametrize("design", ["paired", "separate"])
def test_a_rule_alone_has_the_error_of_the_score(design: str) -> None:
    """With one rule and no unscored row, the rule's interval must be that of the difference."""
    generator = np.random.default_rng(4)
    a = table([asked(f"q{n % 60}", float(s)) for n, s in enumerate(generator.choice([20, 60, 100], 150))])
    b = table([asked(f"q{n % 50}", float(s)) for n, s in enumerate(generator.choice([20, 60, 100], 110))])
    found = held(a, b, design=design)
    (rule,) = found.rules
    error = found.measures["score"].standard_error
    assert error is not None
    # The correction for few questions counts those of the side with fewer in both.
    assert (rule.high - rule.low) / 2 / 1.959964 == pytest.approx(error, rel=1e-6)


def test_what_got_worse_by_rule_and_question() -> None:
    a = table([asked(f"q{n}", 100.0, database="d") for n in range(40)])
    b = table([asked(f"q{n}", 40.0 if n < 20 else 100.0, "literal_missing") for n in range(40)])
    found = held(a, table([{**row, "database": "d"} for row in b.to_pylist()]))
    (rule,) = found.rules
    assert (rule.rule, rule.a, rule.b, rule.change) == ("literal_missing", 0, 30, 30)
    assert rule.low > 0 and rule.p_value < 0.001
    assert [(q.question, q.database, q.a, q.b) for q in found.questions][:2] == [
        ("q0", "d", 100, 40),
        ("q1", "d", 100, 40),
    ]


def test_holm_corrects_for_the_number_of_rules() -> None:
    generator = np.random.default_rng(9)

    def side() -> pa.Table:
        losing = generator.integers(40, size=200)
        return table([asked(f"q{n}", 60.0, f"rule_{rule}") for n, rule in enumerate(losing)])

    told = [sum(rule.p_value < 0.05 for rule in held(side(), side()).rules) for _ in range(15)]
    assert sum(bool(count) for count in told) <= 3, "of 15 comparisons without a difference"


def test_files_with_scores_alone_are_matched_by_key() -> None:
    a = table([asked("", 100.0), asked("", 50.0)])
    found = held(a, a)
    assert (found.matched_by, found.design, found.shared) == ("key", "paired", 2)


def test_same_input_same_result_and_everything_in_the_signature(scored_table: ScoredTable) -> None:
    rows = scored_table()
    one, two = (held(rows.slice(0, 300), rows.slice(300)).as_dict() for _ in range(2))
    assert one == two
    assert one["signature"] == "compare:separate|by:question|samples:400|seed:1"
    mixed = rows.take(np.random.default_rng(0).permutation(300))
    shuffled = held(mixed, rows.slice(300)).as_dict()
    assert shuffled["measures"] == one["measures"]


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"design": "pared"}, OptionError, "Did you mean 'paired'"),
        ({"samples": 3}, OptionError, "at least 100"),
        ({"design": "paired"}, OptionError, "share no question"),
    ],
    ids=["design", "samples", "nothing shared"],
)
def test_options_are_checked(options: dict[str, Any], error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        compare(table([asked("a", 1.0)]), table([asked("b", 1.0)]), **options)


def test_a_side_without_rows() -> None:
    with pytest.raises(SpiderComposeError, match="B has no scored rows"):
        compare(table([asked("a", 1.0)]), table([]))


def fallen(points: float, questions: int = 200, spread: float = 20.0) -> Comparison:
    generator = np.random.default_rng(1)
    scores = np.clip(generator.normal(70, 10, questions), 0, 100)
    changed = scores - points + generator.normal(0, spread, questions)
    changed += (scores - changed).mean() - points
    a = table([asked(f"q{n}", float(s)) for n, s in enumerate(scores)])
    return held(a, table([asked(f"q{n}", float(s)) for n, s in enumerate(changed)]))


GATES = [
    # fall, questions, rule, passes
    (6, 200, "shown", False),
    (6, 200, "estimate", False),
    (6, 200, "ruled-out", False),
    (-1, 200, "shown", True),
    (3, 20, "shown", True),  # worse than 2, but no more than chance
    (3, 20, "estimate", False),
    (1, 20, "ruled-out", False),  # not worse than 2, but nobody knows
    (1.5, 200, "shown", True),
    (-3, 200, "ruled-out", True),
]


@pytest.mark.parametrize(("points", "questions", "rule", "passes"), GATES, ids=str)
def test_gate(points: float, questions: int, rule: str, passes: bool) -> None:
    decided = gate(fallen(points, questions), "score", 2, rule)
    assert decided.passed is passes, decided.why
    assert decided.questions_needed is not None and decided.questions_needed > 0


def test_questions_needed_make_the_limit_detectable() -> None:
    needed = gate(fallen(0, 100), "score", 2).questions_needed
    assert needed is not None
    assert fallen(0, needed).measures["score"].detectable == pytest.approx(2, rel=0.1)


@pytest.mark.parametrize(
    ("measure", "worse_than", "rule", "says"),
    [
        ("scores", 2, "shown", "Did you mean 'score'"),
        ("score", -1, "shown", "from 0 to 100"),
        ("score", math.nan, "shown", "from 0 to 100"),
        ("score", 2, "show", "Did you mean 'shown'"),
        ("enrichment_quality", 2, "shown", "needs two questions"),
    ],
)
def test_gate_is_checked(measure: str, worse_than: float, rule: str, says: str) -> None:
    with pytest.raises(SpiderComposeError, match=says):
        gate(fallen(1, 20), measure, worse_than, rule)


@pytest.mark.parametrize("rule", ["shown", "estimate", "ruled-out"])
def test_the_last_digits_decide_nothing(rule: str) -> None:
    """One set of scores on other questions: their sums are added up in another order."""
    found = fallen(0, 20)
    score = dataclasses.replace(found.measures["score"], difference=-1e-13, low=-1e-13, p_value=0.0005)
    found = dataclasses.replace(found, measures={**found.measures, "score": score})
    assert gate(found, "score", 0, rule).passed
    assert not gate(
        dataclasses.replace(
            found, measures={"score": dataclasses.replace(score, difference=-1e-6, low=-1e-6)}
        ),
        "score",
        0,
        rule,
    ).passed


@pytest.mark.parametrize("worse_than", [5e-324, 1e-200, 1e-9])
def test_next_to_nothing_takes_too_many_questions(worse_than: float) -> None:
    assert gate(fallen(0, 20), "score", worse_than).questions_needed is None


def test_a_side_that_is_the_other_is_ruled_out_to_be_worse() -> None:
    same = table([asked(f"q{n}", 50.0 + n) for n in range(20)])
    assert gate(held(same, same), "score", 0, "ruled-out").passed
