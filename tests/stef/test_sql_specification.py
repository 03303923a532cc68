"""The specification of queries: aliases, nesting, conditions, faults, and what is refused."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spider_compose.errors import OptionError
from spider_compose.stef.specification.sql import UnscoredError, read_sql


def words(query: str, dialect: str = "sqlite") -> list[list[str]]:
    return [sorted(p.words) for p in read_sql(query, dialect).projections]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("SELECT name, Age FROM t", [["name"], ["age"]]),
        ("SELECT x.n FROM (SELECT name AS n FROM t) AS x", [["n", "name"]]),
        ("WITH a AS (SELECT songName AS s FROM t) SELECT s FROM a", [["name", "s", "song"]]),
        ("WITH a(z) AS (SELECT city FROM t) SELECT z FROM a", [["city", "z"]]),
        ("SELECT * FROM (SELECT city, id FROM t) AS x", [["city"], ["id"]]),
        ("SELECT COUNT(*) AS total_orders FROM t", [["order", "total"]]),
        ("(SELECT a FROM t) UNION (SELECT b FROM u)", [["a"]]),
        ("SELECT (SELECT MAX(price) FROM p) FROM t", [["price"]]),
    ],
)
def test_projections_follow_aliases(query: str, expected: list[list[str]]) -> None:
    assert words(query) == expected


CONDITIONS = [
    ("SELECT 1 FROM t WHERE a = 'X'", [("=", ("x",), False)]),
    ("SELECT 1 FROM t WHERE NOT (a = 'X' OR b > 3)", [("=", ("x",), True), (">", ("3",), True)]),
    ("SELECT 1 FROM t WHERE a <> 'X'", [("!=", ("x",), True)]),
    ("SELECT 1 FROM t WHERE a NOT LIKE 'x%'", [("like", ("x",), True)]),
    ("SELECT 1 FROM t WHERE a ILIKE 'Paris'", [("=", ("paris",), False)]),
    ("SELECT 1 FROM t WHERE a IN (1, 2.50)", [("in", ("1", "2.5"), False)]),
    ("SELECT 1 FROM t WHERE a BETWEEN 1 AND 2", [("between", ("1", "2"), False)]),
    ("SELECT 1 FROM t WHERE a IS NOT NULL", [("null", (), True)]),
    ("SELECT a FROM t GROUP BY a HAVING COUNT(*) > 2", [(">", ("2",), False)]),
    ("SELECT SUM(CASE WHEN a = 'y' THEN 1 ELSE 0 END) FROM t", [("=", ("y",), False)]),
    ("SELECT COUNT(*) FROM t JOIN u ON t.id = u.id AND u.k = 5", [("=", ("5",), False)]),
    ("SELECT 1 FROM t WHERE strftime('%Y', d) = '2020'", [("=", ("2020",), False)]),
    ("SELECT 1 FROM t WHERE SUBSTR(d, 1, 4) = '2020'", [("=", ("2020",), False)]),
    ('SELECT 1 FROM t WHERE a = "Sky Radio"', [("=", ("sky radio",), False)]),
    ("SELECT SUM(type = 'PO Box') FROM t", [("=", ("po box",), False)]),
]


@pytest.mark.parametrize(("query", "expected"), CONDITIONS, ids=[q for q, _ in CONDITIONS])
def test_conditions(query: str, expected: list[tuple[str, tuple[str, ...], bool]]) -> None:
    dialect = "postgres" if "ILIKE" in query else "sqlite"
    found = [(f.operator, f.values, f.negated) for f in read_sql(query, dialect).filters]
    assert sorted(found) == sorted(expected)


FAULTS = [
    ("unknown_qualifier", "SELECT t.a FROM t WHERE z.b = 1", "sqlite"),
    ("aggregate_in_where", "SELECT a FROM t WHERE COUNT(*) > 1", "sqlite"),
    ("nested_aggregate", "SELECT MAX(COUNT(*)) FROM t", "sqlite"),
    ("missing_group_by", "SELECT a, COUNT(*) FROM t", "sqlite"),
    ("count_of_many", "SELECT COUNT(DISTINCT a, b) FROM t", "sqlite"),
    ("foreign_function", "SELECT YEAR(d) FROM t", "sqlite"),
    ("foreign_function", "SELECT strftime('%Y', d) FROM t", "postgres"),
    ("foreign_syntax", "SELECT TOP 3 a FROM t", "sqlite"),
    ("dialect_uncertain", "SELECT YEAR(d) FROM t", "auto"),
    ("cross_join", "SELECT a FROM t, u", "sqlite"),
    ("prose", "To answer, run this. SELECT a FROM t", "sqlite"),
    ("prose", "SELECT a FROM t\n\nThis query returns all of them.", "sqlite"),
    ("prose", "Here you are: SELECT a FROM t; it returns all.", "sqlite"),
    ("several_statements", "SELECT a FROM t; SELECT b FROM u", "sqlite"),
    ("integer_division", "SELECT COUNT(a) / COUNT(b) FROM t", "sqlite"),
    ("concatenated_columns", "SELECT a || ' ' || b FROM t", "sqlite"),
]


@pytest.mark.parametrize(("fault", "query", "dialect"), FAULTS, ids=[f"{f}-{d}" for f, _, d in FAULTS])
def test_faults(fault: str, query: str, dialect: str) -> None:
    assert fault in {mark.kind for mark in read_sql(query, dialect).faults}


SOUND = [
    ("SELECT a, COUNT(*) FROM t GROUP BY a", "sqlite"),
    ("SELECT a FROM t JOIN u ON t.id = u.id WHERE EXISTS (SELECT 1 FROM v WHERE v.x = t.id)", "sqlite"),
    ("SELECT a FROM t, u WHERE t.id = u.id", "sqlite"),
    ("SELECT CAST(COUNT(a) AS REAL) / COUNT(b) FROM t", "sqlite"),
    ("SELECT COUNT(a) / COUNT(b) FROM t", "mysql"),
    ("SELECT YEAR(d) FROM t", "mysql"),
    ("SELECT a, SUM(b) OVER (PARTITION BY c) FROM t", "postgres"),
    ("SELECT c.n FROM c CROSS JOIN LATERAL (SELECT 1 AS k FROM o WHERE o.c = c.id) AS x", "postgres"),
    ("```sql\nSELECT a FROM t\n```", "sqlite"),
]


@pytest.mark.parametrize(("query", "dialect"), SOUND)
def test_sound_queries_have_no_faults(query: str, dialect: str) -> None:
    assert read_sql(query, dialect).faults == ()


# (text, dialect, the query in it, whether there is prose around it)
FENCES = [
    ("```sql\nSELECT a FROM t\n```", "sqlite", "SELECT a FROM t", False),
    ("```SELECT a FROM t```", "sqlite", "SELECT a FROM t", False),
    ("````SQL\nSELECT a FROM t\n````", "sqlite", "SELECT a FROM t", False),
    ("```\n```sql\nSELECT a FROM t\n```\n```", "sqlite", "SELECT a FROM t", False),
    ("```sql\nSELECT a FROM t", "sqlite", "SELECT a FROM t", False),
    ("SELECT a FROM t\n```", "sqlite", "SELECT a FROM t", False),
    ("SELECT a FROM t\n```\nIt's all of them.", "sqlite", "SELECT a FROM t", True),
    ("It's this:\n```sql\nSELECT a FROM t\n```\nIt's short.", "sqlite", "SELECT a FROM t", True),
    ("With this, it's done:\n```sql\nSELECT a FROM t\n```", "sqlite", "SELECT a FROM t", True),
    ("Select names:\n```\nSELECT a FROM t", "sqlite", "SELECT a FROM t", True),
    ("```json\n{}\n```\n```sql\nSELECT a FROM t\n```", "sqlite", "SELECT a FROM t", True),
    # inside of a fence, what SQL reads as a comment or a literal does not end it
    ("```sql\nSELECT a FROM t WHERE b = '```'\n```", "sqlite", "SELECT a FROM t WHERE b = '```'", False),
    ("```sql\nSELECT a FROM t -- ```\n```", "sqlite", "SELECT a FROM t -- ```", False),
    ("```sql\nSELECT a /* ``` */ FROM t\n```", "sqlite", "SELECT a /* ``` */ FROM t", False),
    ("```sql\nSELECT a FROM t -- all```", "sqlite", "SELECT a FROM t -- all", False),
]
# fences that are a part of the query, by where they stand
NO_FENCES = [
    ("SELECT a FROM t /* ```sql\nSELECT b FROM u\n``` */", "sqlite"),
    ("SELECT a FROM t /* it's ```json\n{}\n``` */", "auto"),
    ("/* ```SELECT b FROM u``` */ SELECT a FROM t", "sqlite"),
    ("SELECT a FROM t -- ```SELECT b FROM u```", "sqlite"),
    ("-- ```\n-- SELECT b FROM u\n-- ```\nSELECT a FROM t", "sqlite"),
    ("SELECT a FROM t # ```SELECT b FROM u```", "mysql"),
    ("SELECT a FROM t WHERE b = '```SELECT b FROM u```'", "sqlite"),
    ("SELECT a FROM t WHERE b = 'it''s ```SELECT b FROM u```'", "sqlite"),
    ("SELECT a FROM t WHERE b = 'it\\'s ```SELECT b FROM u```'", "mysql"),
    ("SELECT a FROM t WHERE b = $$```SELECT b FROM u```$$", "postgres"),
    ('SELECT a FROM t WHERE "```SELECT b FROM u```" = 1', "postgres"),
    ("SELECT a, `b``` FROM t", "mysql"),
    ("SELECT a FROM t /* ``` */\n```", "sqlite"),
    ("WITH u AS (SELECT 1) /* ```SELECT b``` */ SELECT a FROM u", "sqlite"),
]


@pytest.mark.parametrize(("text", "dialect", "query", "prose"), FENCES, ids=[repr(t) for t, *_ in FENCES])
def test_a_fence_around_the_query(text: str, dialect: str, query: str, prose: bool) -> None:
    found, alone = read_sql(text, dialect), read_sql(query, dialect)
    assert [p.span.of(text) for p in found.projections] == ["a"]
    assert [f.values for f in found.filters] == [f.values for f in alone.filters]
    assert [mark.kind for mark in found.faults] == (["prose"] if prose else [])


@pytest.mark.parametrize(("text", "dialect"), NO_FENCES, ids=[t for t, _ in NO_FENCES])
def test_a_fence_within_the_query(text: str, dialect: str) -> None:
    found = read_sql(text, dialect)
    assert found.projections[0].span.of(text) == "a" and not found.faults


@pytest.mark.parametrize("hidden", ["/* ```sql\n{}\n``` */", "-- ```{}```", "'```{}```'"])
@pytest.mark.parametrize("statement", ["DELETE FROM t", "UPDATE t SET a = 1", "DROP TABLE t"])
def test_no_query_is_found_in_what_another_statement_says(statement: str, hidden: str) -> None:
    text = hidden.format("SELECT a FROM t")
    with pytest.raises(UnscoredError) as error:
        read_sql(f"{statement} {'WHERE a = ' if hidden[0] == chr(39) else ''}{text}", "sqlite")
    assert error.value.reason in ("not_a_query", "no_dialect_parses")


def test_no_query_is_found_in_a_leading_comment() -> None:
    with pytest.raises(UnscoredError):
        read_sql("/* SELECT a FROM t; */ SELECT a FRM 5 + t ) x", "sqlite")


@pytest.mark.parametrize("text", ["x ```" + "a ``` '" * 5000, "SELECT 1 " + "```a " * 7000, "```\n" * 9000])
def test_many_fences_are_read_or_refused(text: str) -> None:
    with pytest.raises(UnscoredError):
        read_sql(text, "sqlite")


def test_spans_cover_what_they_name() -> None:
    query = "SELECT T1.name, COUNT(DISTINCT T1.id) AS n FROM t AS T1 WHERE T1.city = 'Oslo' ORDER BY n DESC"
    query += " LIMIT 3"
    spec = read_sql(query, "sqlite")
    assert [p.span.of(query) for p in spec.projections] == ["T1.name", "COUNT(DISTINCT T1.id)"]
    assert spec.filters[0].span.of(query) == "T1.city = 'Oslo'"
    assert spec.limit is not None and spec.limit.span.of(query) == "3"
    assert spec.order[0].direction == "desc"


def test_auto_names_the_dialect() -> None:
    assert read_sql("SELECT a FROM t").dialect == "sqlite"
    assert (
        read_sql("SELECT a FROM t QUALIFY ROW_NUMBER() OVER (PARTITION BY b ORDER BY c) = 1").dialect
        != "auto"
    )
    assert read_sql("SELECT DATE_TRUNC('month', d) FROM t").dialect != "sqlite"


REFUSED = [
    (None, "no_sql"),
    (" ; \n", "no_sql"),
    ("-- only a comment", "no_sql"),
    ("I don't know.", "no_dialect_parses"),
    ("DROP TABLE t", "not_a_query"),
    ("INSERT INTO t VALUES (1)", "not_a_query"),
    ("SELECT 'unclosed FROM t", "no_dialect_parses"),
    ("SELECT " + "(" * 5000 + "1" + ")" * 5000, "too_deep"),
    ("SELECT " + "x" * 10_000_000, "too_long"),
    ("SELECT", "no_dialect_parses"),
]


@pytest.mark.parametrize(("query", "reason"), REFUSED, ids=[r + str(i) for i, (_, r) in enumerate(REFUSED)])
def test_refused_with_a_reason(query: str | None, reason: str) -> None:
    with pytest.raises(UnscoredError) as error:
        read_sql(query)
    assert error.value.reason == reason


def test_unknown_dialect() -> None:
    with pytest.raises(OptionError, match="sqlite"):
        read_sql("SELECT 1", "sqlit")


PIECES = "SELECT FROM WHERE a t ( ) , 'x 'y' \" ` ; -- /* */ NOT CASE WHEN END AND OR 1 = * JOIN ON WITH AS é"
SQL_PIECES = st.lists(st.sampled_from([*PIECES.split(" "), "\x00"]), max_size=30).map(" ".join)


@settings(max_examples=150, deadline=None)
@given(SQL_PIECES)
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        spec = read_sql(text)
    except UnscoredError as error:
        assert error.reason
    else:
        assert all(0 <= p.span.start <= p.span.end <= len(text) for p in spec.projections)
