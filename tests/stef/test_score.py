"""The score: Phi, bands, states, tolerance, reasons, streaming, and rows that cannot be scored."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

pytest.importorskip("spacy")

from spider_compose.errors import OptionError
from spider_compose.stef import ApplicationRules, Judgement, Result, Scorer, Summary, score_rows
from spider_compose.stef.alignment import FILTER_POINTS
from spider_compose.stef.judges import VERDICT_POINTS
from spider_compose.stef.score import UNSCORED, band, penalty, phi, rule_names
from spider_compose.stef.tolerance import TOLERANCE_RULES

ROW = {
    "question": "How many singers are from 'France'?",
    "sql": "SELECT COUNT(*) FROM singer WHERE country = 'France'",
}


def score(question: str, sql: str, rules: Any = None, **more: Any) -> Result:
    (result,) = score_rows([{"question": question, "sql": sql, **more}], rules)
    return result


def test_constants_of_the_paper() -> None:
    assert FILTER_POINTS == {
        "fully_applied": 5, "fully_applied_with_extras": 4, "partially_applied": 3, "not_applied": 0,
    }  # fmt: skip
    assert VERDICT_POINTS == {"correct": 5, "probably_correct": 3, "potentially_incorrect": 2, "incorrect": 0}
    assert ApplicationRules().lambda_min == 1000


@pytest.mark.parametrize("filters", FILTER_POINTS.values())
@pytest.mark.parametrize("verdict", VERDICT_POINTS.values())
@pytest.mark.parametrize("bonus", [0, 1])
@pytest.mark.parametrize(
    ("gamma", "factor"), [(1.0, 1.0), (0.85, 1.0), (0.84, 0.8), (0.65, 0.8), (0.64, 0.5), (0.0, 0.5)]
)
def test_phi(filters: int, verdict: int, bonus: int, gamma: float, factor: float) -> None:
    assert penalty(gamma) == factor
    assert phi(filters, verdict, bonus, gamma) == pytest.approx(
        min(10, filters + verdict + bonus) / 10 * 100 * factor
    )


BAND_EDGES = [
    (100, "excellent"),
    (90, "excellent"),
    (89.9, "good"),
    (75, "good"),
    (74, "marginal"),
    (50, "marginal"),
    (49, "poor"),
    (0, "poor"),
]


@pytest.mark.parametrize(("value", "name"), BAND_EDGES)
def test_bands(value: float, name: str) -> None:
    assert band(value) == name


STATES = [
    ("fully_applied", "SELECT COUNT(*) FROM singer WHERE country = 'France' AND age > 30"),
    (
        "fully_applied_with_extras",
        "SELECT COUNT(*) FROM singer WHERE country = 'France' AND age > 30 AND genre = 'jazz'",
    ),
    ("partially_applied", "SELECT COUNT(*) FROM singer WHERE country = 'France'"),
    ("not_applied", "SELECT COUNT(*) FROM singer"),
]


@pytest.mark.parametrize(("state", "sql"), STATES, ids=[s for s, _ in STATES])
def test_filter_states(state: str, sql: str) -> None:
    assert score("How many singers from 'France' are older than 30?", sql).filter_status == state


def test_benign_extras_gain_a_point() -> None:
    question, sql = (
        "How many users are there?",
        "SELECT COUNT(*) FROM users WHERE is_deleted = 0 AND plan = 'free'",
    )
    benign = [{"column": "is_deleted", "value": 0}, {"column": "pl*", "operator": "="}]
    part = score(question, sql, {"benign_filters": benign[:1]})
    whole = score(question, sql, {"benign_filters": benign})
    assert part.filter_status == whole.filter_status == "fully_applied_with_extras"
    assert whole.score > part.score


def test_dropped_negation_is_critical() -> None:
    result = score(
        "List singers who are not from 'France'.", "SELECT name FROM singer WHERE country = 'France'"
    )
    assert result.filter_status == "not_applied"
    assert "negation_missing" in {reason.rule for reason in result.reasons}


def test_reasons_make_up_what_is_lost() -> None:
    rows = [
        ROW,
        {**ROW, "sql": "SELECT * FROM singer WHERE country = 'Spain' LIMIT 3"},
        {**ROW, "sql": "SELECT name, COUNT(*) FROM singer JOIN song ON singer.id = song.sid WHERE x.y = 2"},
        {
            "question": "Show the average age of each team, sorted by name",
            "sql": "SELECT team FROM t ORDER BY z DESC",
        },
    ]
    for row, result in zip(rows, score_rows(rows), strict=True):
        assert result.score + sum(reason.points for reason in result.reasons) == pytest.approx(100, abs=0.01)
        for reason in result.reasons:
            assert reason.rule and reason.message
            for span, text in ((reason.question, row["question"]), (reason.sql, row["sql"])):
                assert 0 <= span.start < span.end <= len(text)


@pytest.mark.parametrize("rule", [rule.__name__ for rule in TOLERANCE_RULES])
def test_every_tolerance_rule_has_a_switch(rule: str) -> None:
    question, sql = {
        "required_group_by": (
            "List country and their names.",
            "SELECT country, MAX(name) FROM t GROUP BY country",
        ),
        "benign_group_by": ("List names in 'Oslo'.", "SELECT name FROM t WHERE city = 'Oslo' GROUP BY city"),
        "default_order": ("List names.", "SELECT name FROM t ORDER BY name"),
        "safety_limit": ("List names.", "SELECT name FROM t LIMIT 1000"),
    }[rule]
    with_it, without = score(question, sql), score(question, sql, {"disabled_rules": [rule]})
    assert any(t.startswith(rule) for t in with_it.tolerances)
    assert not any(t.startswith(rule) for t in without.tolerances)
    assert without.p_correct < with_it.p_correct


def test_same_patterns() -> None:
    """ILIKE, LIKE and = are the same where the pattern has no wildcard; case and white space are folded."""
    texts = (
        "country = 'France'",
        "country LIKE 'france'",
        "country ILIKE ' France '",
        "LOWER(country) = 'france'",
    )
    states = {score(ROW["question"], f"SELECT COUNT(*) FROM singer WHERE {t}").filter_status for t in texts}
    assert states == {"fully_applied"}


UNSCORED_ROWS: list[tuple[str, Any]] = [
    ("no_sql", {"question": "q"}),
    ("no_sql", {"question": "q", "sql": "  "}),
    ("no_question", {"sql": "SELECT 1"}),
    ("bad_row", {"question": 5, "sql": "SELECT 1"}),
    ("bad_row", ["SELECT 1"]),
    ("not_a_query", {"question": "q", "sql": "DELETE FROM t"}),
    ("no_dialect_parses", {"question": "q", "sql": "no idea"}),
    ("not_a_query", {"question": "q", "sql": "WITH x AS (DELETE FROM t RETURNING *) SELECT * FROM x"}),
    ("not_a_query", {"question": "q", "sql": "SELECT a INTO b FROM t", "dialect": "postgres"}),
    ("too_long", {"question": "q", "sql": "SELECT 1 -- " + "x" * 10_000_000}),
    ("too_deep", {"question": "q", "sql": "SELECT " + "(" * 5000 + "1" + ")" * 5000}),
    ("question_too_long", {"question": "q " * 100_000, "sql": "SELECT 1"}),
    ("unknown_dialect", {"question": "q", "sql": "SELECT 1", "dialect": "sqlitee"}),
]


def test_unscored_rows_are_null_with_a_reason_and_counted() -> None:
    summary = Summary()
    for (reason, _), result in zip(UNSCORED_ROWS, score_rows([row for _, row in UNSCORED_ROWS]), strict=True):
        assert (result.score, result.p_correct, result.unscored) == (None, None, reason)
        assert result.message and reason in UNSCORED
        summary.add(result)
    summary.add(score(**ROW))
    report = summary.as_dict()
    assert report["rows"] == len(UNSCORED_ROWS) + 1
    assert sum(report["unscored"].values()) == len(UNSCORED_ROWS)
    assert report["coverage"] == pytest.approx(1 / report["rows"], abs=1e-6)
    assert report["score_unscored_as_0"] == pytest.approx(report["score"] / report["rows"], abs=1e-3)


def test_empty_summary_has_no_means() -> None:
    report = Summary().as_dict()
    assert (report["score"], report["coverage"], report["p_correct"]) == (None, None, None)


HOSTILE = [
    "SELECT " + "NOT " * 3000 + "1 FROM t",
    "SELECT " + "- " * 3000 + "1 FROM t",
    "SELECT a FROM t WHERE " + " OR ".join(f"a = {i}" for i in range(800)),
    "SELECT a FROM t WHERE a IN (" + ", ".join(map(str, range(5000))) + ")",
    "SELECT " + "CASE WHEN 1 THEN " * 500 + "1" + " END" * 500 + " FROM t",
    "SELECT 'x FROM t",
    'SELECT "x FROM t',
    "SELECT a\x00 FROM t\x00",
    "ВЫБРАТЬ имя ИЗ певцы",
    "SELECT 名前 FROM 歌手 WHERE 国 = '日本'",
    "أعطني كل الأسماء",
    "SELECT 1; DROP TABLE t; SELECT 2",
    "CREATE TABLE t (a INT)",
    "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r) SELECT n FROM r",
    "WITH a AS (SELECT * FROM a) SELECT * FROM a",
    "SELECT * FROM (SELECT * FROM (SELECT * FROM t))",
    "/* open comment",
    "}{)(][",
    "SELECT a FROM t UNION " * 300 + "SELECT a FROM t",
    "\ud800 SELECT 1",
    "SELECT a FROM t WHERE b = " + "9" * 5000,
]


@pytest.mark.parametrize("sql", HOSTILE, ids=[str(n) for n in range(len(HOSTILE))])
def test_hostile_sql_gets_a_score_or_a_reason_and_the_batch_goes_on(sql: str) -> None:
    first, second = score_rows([{"question": "How many?", "sql": sql}, ROW])
    assert (first.score is None) == (first.unscored is not None)
    assert first.unscored != "internal_error"
    assert second.score == 100.0


QUESTIONS = ["?", "'", "'" * 4000, "\x00", "¿Cuántos cantantes hay?", "歌手は何人いますか", "a" * 4000]
QUESTIONS += ["1 " * 2000, "\ud800", "(" * 3000, "More than " + "9" * 1400 + "?"]


@pytest.mark.parametrize("question", QUESTIONS)
def test_hostile_questions(question: str) -> None:
    first, second = score_rows(
        [{"question": question, "sql": ROW["sql"], "enriched_question": question + " x = 'y'"}, ROW]
    )
    assert (first.score is None) == (first.unscored is not None)
    assert first.unscored != "internal_error"
    assert second.score == 100.0


def test_rows_are_read_lazily_and_in_order() -> None:
    taken = 0

    def rows() -> Iterator[dict[str, str]]:
        nonlocal taken
        for number in range(2000):
            taken += 1
            yield {
                "question": f"List the names of {number} dogs",
                "sql": "SELECT name FROM dog" if number % 2 else "",
            }

    results = score_rows(rows())
    first = [next(results) for _ in range(4)]
    assert taken < 2000
    assert [result.score is None for result in first] == [True, False, True, False]


def test_same_rows_same_results() -> None:
    rows = [
        ROW,
        {**ROW, "sql": "SELECT COUNT(name) FROM singer"},
        {**ROW, "enriched_question": ROW["question"] + " x refers to y"},
    ]
    one, two = ([json.dumps(r.as_dict()) for r in score_rows(rows)] for _ in range(2))
    assert one == two


class Always:
    """A judge of one verdict."""

    signature = "always"

    def __init__(self, verdict: str | None) -> None:
        self.verdict = verdict

    def judge(self, requests: Sequence[Any]) -> list[Judgement]:
        return [Judgement(self.verdict, 0.9) for _ in requests]


def test_any_judge_can_be_plugged_in() -> None:
    (result,) = score_rows([ROW], judge=Always("probably_correct"))
    assert (result.score, result.verdict, result.p_correct) == (80.0, "probably_correct", None)
    (result,) = score_rows([ROW], judge=Always(None))
    assert (result.score, result.unscored) == (None, "no_verdict")


def test_signature_names_what_moves_scores() -> None:
    plain = Scorer().signature
    assert all(
        part in plain for part in ("stef:", "judge:rules-", "rules:", "dialect:auto", "spacy:", "sqlglot:")
    )
    others = [
        Scorer(ApplicationRules(lambda_min=5)).signature,
        Scorer(ApplicationRules(dialect="mysql")).signature,
        Scorer(judge=Always("correct")).signature,
        Scorer(ApplicationRules(disabled_rules=frozenset({"safety_limit"}))).signature,
    ]
    assert len({plain, *others}) == 5


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Scorer(judge="rule"), "Did you mean 'rules'"),
        (lambda: Scorer(judge=5), "have a method"),  # type: ignore[arg-type]
        (lambda: Scorer(ApplicationRules(dialect="postgre")), "postgre"),
        (
            lambda: Scorer(ApplicationRules(disabled_rules=frozenset({"safety_limits"}))),
            "Did you mean 'safety_limit'",
        ),
    ],
)
def test_wrong_options(make: Any, says: str) -> None:
    with pytest.raises(OptionError, match=says):
        make()


def test_every_weighted_rule_can_be_found_by_its_name() -> None:
    assert {"projection_extra", "safety_limit", "numbers", "select_star"} <= set(rule_names())


@pytest.mark.parametrize("field", ["enriched_question", "dialect"])
def test_nan_is_no_text(field: str) -> None:
    row = {"question": "List all names.", "sql": "SELECT name FROM t", "dialect": "sqlite"}
    with_nan, without = score_rows([{**row, field: float("nan")}, {**row, field: None}])
    assert with_nan == without and with_nan.score is not None


def test_dialects_in_capitals() -> None:
    row = {"question": "List all names.", "sql": "SELECT name FROM t", "dialect": "SQLite"}
    for found in (*score_rows([row]), *score_rows([{**row, "dialect": None}], {"dialect": "SQLITE"})):
        assert found.dialect == "sqlite"


@pytest.mark.parametrize(("sql", "reason"), [
    ("DROP TABLE t; SELECT a FROM t", "not_a_query"), ("CREATE TABLE u AS SELECT a FROM t", "not_a_query"),
    ("SET x = 1; DELETE FROM t", "not_a_query"), ("SELECT a FROM t; DROP TABLE t", None),
    ("USE db; SELECT a FROM t", None), ("EXPLAIN SELECT a FROM t", "not_a_query"),
])  # fmt: skip
@pytest.mark.parametrize("dialect", ["sqlite", "auto"])
def test_the_first_statement_counts(
    sql: str, reason: str | None, dialect: str, caplog: pytest.LogCaptureFixture
) -> None:
    (found,) = score_rows([{"question": "Show a.", "sql": sql, "dialect": dialect}])
    assert found.unscored == reason
    assert not caplog.records
