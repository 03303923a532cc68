"""Section 3.1: cutting queries into clauses."""

from __future__ import annotations

import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlglot.parser import Parser

from spider_compose.errors import ClauseError, OptionError
from spider_compose.sql.clauses import (
    CLAUSE_TYPES,
    MAX_CHARACTERS,
    MAX_DEPTH,
    SET_OPERATIONS,
    join_clauses,
    split_clauses,
)

# Each case: what is tricky, dialect, then the clauses; the query is their text joined with single spaces.
S, W, G, OB, IN, U, E = CLAUSE_TYPES
CASES = [
    ("one clause", "sqlite", [(S, "SELECT count(*) FROM singer")]),
    ("no FROM", "sqlite", [(S, "SELECT 1")]),
    (
        "all of one query",
        "sqlite",
        [
            (S, "SELECT a, count(*) FROM t"),
            (W, "WHERE b > 1"),
            (G, "GROUP BY a HAVING count(*) > 2"),
            (OB, "ORDER BY count(*) DESC LIMIT 3"),
        ],
    ),
    (
        "lower case",
        "sqlite",
        [
            (S, "select a from t"),
            (W, "where b = 1"),
            (G, "group by a having count(*) > 1"),
            (OB, "order by a limit 1"),
        ],
    ),
    (
        "white space inside keywords",
        "sqlite",
        [(S, "SELECT a\n  FROM t"), (G, "GROUP  \n BY a"), (OB, "order\tby a")],
    ),
    (
        "joins stay whole",
        "sqlite",
        [
            (
                S,
                "SELECT T1.a FROM t AS T1 JOIN u AS T2 ON T1.id = T2.id LEFT JOIN v ON v.id = T2.id",
            ),
            (W, "WHERE T2.b = 'x'"),
        ],
    ),
    ("comma join", "sqlite", [(S, "SELECT a FROM t, u"), (W, "WHERE t.id = u.id")]),
    ("LIMIT alone", "sqlite", [(S, "SELECT a FROM t"), (OB, "LIMIT 3")]),
    ("LIMIT OFFSET", "sqlite", [(S, "SELECT a FROM t"), (OB, "LIMIT 3 OFFSET 4")]),
    ("HAVING alone", "sqlite", [(S, "SELECT count(*) FROM t"), (G, "HAVING count(*) > 3")]),
    (
        "keywords in a string",
        "sqlite",
        [(S, "SELECT a FROM t"), (W, "WHERE b = 'x GROUP BY y UNION z' AND c = 'it''s ORDER BY'")],
    ),
    (
        "keywords in a double-quoted string",
        "sqlite",
        [(S, "SELECT a FROM t"), (W, 'WHERE b = "where order by"')],
    ),
    ("keywords as quoted names", "sqlite", [(S, 'SELECT "group by" FROM "where"'), (OB, 'ORDER BY "limit"')]),
    ("backticks", "mysql", [(S, "SELECT a AS `limit` FROM `where`"), (OB, "ORDER BY `limit`")]),
    ("brackets", "tsql", [(S, "SELECT a FROM [where]"), (W, "WHERE [group by] = 1")]),
    ("keywords in a comment", "sqlite", [(S, "SELECT a FROM t /* WHERE x UNION */"), (W, "WHERE b = 1")]),
    ("comment before the query", "sqlite", [(S, "/* top 3 */ SELECT a FROM t"), (OB, "LIMIT 3")]),
    ("comment at the end", "sqlite", [(S, "SELECT a FROM t"), (W, "WHERE b = 1 -- ORDER BY a")]),
    ("trailing semicolon", "sqlite", [(S, "SELECT a FROM t"), (W, "WHERE b = 1;")]),
    ("semicolon apart", "sqlite", [(S, "SELECT a FROM t ;")]),
    (
        "nested in WHERE",
        "sqlite",
        [
            (S, "SELECT a FROM t"),
            (W, "WHERE b IN (SELECT c FROM u WHERE d = 1 GROUP BY e ORDER BY f LIMIT 1)"),
            (G, "GROUP BY a"),
        ],
    ),
    (
        "nested EXISTS",
        "sqlite",
        [
            (S, "SELECT a FROM t"),
            (W, "WHERE NOT EXISTS (SELECT 1 FROM u WHERE u.x = t.x)"),
            (OB, "ORDER BY a"),
        ],
    ),
    (
        "nested in FROM",
        "sqlite",
        [
            (S, "SELECT a FROM (SELECT a FROM t WHERE x = 1 UNION SELECT b FROM u ORDER BY 1) AS s"),
            (W, "WHERE a > 1"),
        ],
    ),
    (
        "nested in SELECT",
        "sqlite",
        [(S, "SELECT (SELECT max(b) FROM u WHERE u.id = t.id) FROM t"), (OB, "ORDER BY 1")],
    ),
    (
        "nested in HAVING",
        "sqlite",
        [(S, "SELECT a FROM t"), (G, "GROUP BY a HAVING count(*) > (SELECT avg(n) FROM u WHERE n > 0)")],
    ),
    (
        "nested in ORDER BY",
        "sqlite",
        [(S, "SELECT a FROM t"), (OB, "ORDER BY (SELECT b FROM u WHERE u.id = t.id) DESC")],
    ),
    (
        "INTERSECT",
        "sqlite",
        [(S, "SELECT a FROM t"), (W, "WHERE b > 40"), (IN, "INTERSECT SELECT a FROM t WHERE b < 30")],
    ),
    (
        "EXCEPT holds GROUP BY and HAVING",
        "sqlite",
        [(S, "SELECT a FROM t"), (E, "EXCEPT SELECT a FROM u GROUP BY a HAVING count(*) > 1")],
    ),
    ("UNION ALL", "sqlite", [(S, "SELECT a FROM t"), (U, "UNION ALL SELECT b FROM u WHERE c = 1")]),
    ("MINUS", "oracle", [(S, "SELECT a FROM t"), (E, "MINUS SELECT b FROM u")]),
    ("EXCEPT DISTINCT", "bigquery", [(S, "SELECT a FROM t"), (E, "EXCEPT DISTINCT SELECT b FROM u")]),
    ("UNION ALL BY NAME", "duckdb", [(S, "SELECT a FROM t"), (U, "UNION ALL BY NAME SELECT b FROM u")]),
    (
        "GROUP BY before a set operation",
        "sqlite",
        [
            (S, "SELECT a FROM t"),
            (G, "GROUP BY a HAVING count(*) > 1"),
            (U, "UNION SELECT a FROM t WHERE b = 1"),
        ],
    ),
    (
        "ORDER BY after a set operation orders the whole",
        "sqlite",
        [
            (S, "SELECT a FROM t"),
            (W, "WHERE b = 1"),
            (U, "UNION SELECT b FROM u WHERE c = 2"),
            (OB, "ORDER BY 1 LIMIT 2"),
        ],
    ),
    (
        "LIMIT after a set operation",
        "sqlite",
        [(S, "SELECT a FROM t"), (U, "UNION SELECT b FROM u"), (OB, "LIMIT 2")],
    ),
    (
        "ORDER BY before a set operation",
        "sqlite",
        [(S, "SELECT a FROM t"), (OB, "ORDER BY x LIMIT 3"), (IN, "INTERSECT SELECT b FROM u")],
    ),
    (
        "ORDER BY before and after",
        "sqlite",
        [
            (S, "SELECT a FROM t"),
            (G, "GROUP BY a"),
            (OB, "ORDER BY x DESC LIMIT 3"),
            (IN, "INTERSECT SELECT b FROM u ORDER BY y DESC LIMIT 3"),
        ],
    ),
    (
        "a chain of set operations is one clause",
        "sqlite",
        [(S, "SELECT a FROM t"), (U, "UNION SELECT b FROM u EXCEPT SELECT c FROM v WHERE d = 1")],
    ),
    (
        "INTERSECT binds tighter elsewhere",
        "postgres",
        [(S, "SELECT a FROM t"), (U, "UNION SELECT b FROM u INTERSECT SELECT c FROM v"), (OB, "ORDER BY 1")],
    ),
    (
        "a chain, ordered",
        "sqlite",
        [
            (S, "SELECT a FROM t"),
            (W, "WHERE x = 1"),
            (U, "UNION SELECT b FROM u INTERSECT SELECT c FROM v"),
            (OB, "ORDER BY 1"),
        ],
    ),
    (
        "bracketed right operand",
        "postgres",
        [(S, "SELECT a FROM t"), (U, "UNION (SELECT b FROM u ORDER BY c LIMIT 1)"), (OB, "ORDER BY a")],
    ),
    (
        "bracketed left operand stays whole",
        "postgres",
        [(S, "(SELECT a FROM t WHERE b = 1 ORDER BY c)"), (U, "UNION (SELECT b FROM u)"), (OB, "ORDER BY 1")],
    ),
    ("the whole query in brackets", "postgres", [(S, "(SELECT a FROM t WHERE x = 1)")]),
    ("brackets and a limit", "postgres", [(S, "((SELECT a FROM t WHERE x = 1))"), (OB, "LIMIT 3")]),
    (
        "bracketed chain",
        "postgres",
        [(S, "(SELECT a FROM t UNION SELECT b FROM u)"), (E, "EXCEPT SELECT c FROM v")],
    ),
    (
        "CTE belongs to SELECT",
        "sqlite",
        [
            (S, "WITH c AS (SELECT a FROM t WHERE x = 1 ORDER BY y) SELECT * FROM c"),
            (W, "WHERE a > 1"),
            (OB, "ORDER BY a"),
        ],
    ),
    (
        "two CTEs, one recursive",
        "sqlite",
        [
            (
                S,
                "WITH RECURSIVE n(i) AS (SELECT 1 UNION SELECT i FROM n), m AS (SELECT 1) SELECT i FROM m",
            ),
            (W, "WHERE i > 3"),
        ],
    ),
    (
        "CTE and a set operation",
        "sqlite",
        [(S, "WITH c AS (SELECT a FROM t) SELECT a FROM c"), (U, "UNION SELECT 1"), (OB, "ORDER BY 1")],
    ),
    (
        "window function",
        "postgres",
        [
            (S, "SELECT a, rank() OVER (PARTITION BY b ORDER BY c) FROM t"),
            (W, "WHERE d = 1"),
            (OB, "ORDER BY 2"),
        ],
    ),
    (
        "named window goes with the clause before it",
        "postgres",
        [
            (S, "SELECT a, sum(b) OVER w FROM t"),
            (W, "WHERE c = 1 WINDOW w AS (PARTITION BY d ORDER BY e)"),
            (OB, "ORDER BY a"),
        ],
    ),
    (
        "QUALIFY goes with the clause before it",
        "snowflake",
        [
            (S, "SELECT a FROM t"),
            (G, "GROUP BY a QUALIFY row_number() OVER (ORDER BY c) = 1"),
            (OB, "ORDER BY a"),
        ],
    ),
    (
        "ordered aggregate and FILTER",
        "postgres",
        [(S, "SELECT string_agg(a, ',' ORDER BY b) FILTER (WHERE c) FROM t"), (W, "WHERE d")],
    ),
    (
        "WITHIN GROUP",
        "postgres",
        [(S, "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY a) FROM t"), (G, "GROUP BY b")],
    ),
    (
        "CASE",
        "sqlite",
        [
            (S, "SELECT CASE WHEN a > 1 THEN 'GROUP BY' ELSE 'x' END FROM t"),
            (OB, "ORDER BY CASE WHEN b THEN 1 END DESC"),
        ],
    ),
    (
        "star EXCEPT is no set operation",
        "bigquery",
        [(S, "SELECT * EXCEPT (a, b) FROM t"), (W, "WHERE c = 1")],
    ),
    (
        "star EXCEPT and a set operation",
        "bigquery",
        [(S, "SELECT * EXCEPT (a) FROM t"), (E, "EXCEPT DISTINCT (SELECT b FROM u)")],
    ),
    (
        "WITH OFFSET is no limit",
        "bigquery",
        [(S, "SELECT x, offset FROM UNNEST([1, 2]) AS x WITH OFFSET"), (W, "WHERE offset > 1")],
    ),
    ("names after a dot", "mysql", [(S, "SELECT t.group, t.order FROM t"), (W, "WHERE t.limit = 1")]),
    ("SELECT TOP is SELECT's", "tsql", [(S, "SELECT TOP 5 a FROM t"), (W, "WHERE b = 1")]),
    ("TOP and ORDER BY", "tsql", [(S, "SELECT DISTINCT TOP (5) a FROM t"), (OB, "ORDER BY a")]),
    (
        "OFFSET FETCH",
        "tsql",
        [(S, "SELECT a FROM t"), (OB, "ORDER BY a OFFSET 5 ROWS FETCH NEXT 5 ROWS ONLY")],
    ),
    ("FETCH FIRST", "oracle", [(S, "SELECT a FROM t"), (OB, "FETCH FIRST 3 ROWS ONLY")]),
    (
        "CONNECT BY",
        "oracle",
        [
            (S, "SELECT a FROM t"),
            (W, "WHERE x = 1 START WITH y = 1 CONNECT BY PRIOR a = b"),
            (OB, "ORDER SIBLINGS BY a"),
        ],
    ),
    ("START WITH alone", "oracle", [(S, "SELECT a FROM t"), (W, "START WITH y = 1 CONNECT BY PRIOR a = b")]),
    ("PREWHERE", "clickhouse", [(S, "SELECT a FROM t"), (W, "PREWHERE x = 1 WHERE y = 2"), (OB, "LIMIT 2")]),
    ("CLUSTER BY", "hive", [(S, "SELECT a FROM t"), (OB, "CLUSTER BY a")]),
    ("DISTRIBUTE BY", "hive", [(S, "SELECT a FROM t"), (OB, "DISTRIBUTE BY a SORT BY b")]),
    ("LATERAL VIEW", "hive", [(S, "SELECT a FROM t LATERAL VIEW explode(x) y AS z"), (W, "WHERE z = 1")]),
    ("FROM first", "duckdb", [(S, "FROM t SELECT a"), (W, "WHERE b = 1")]),
    ("GROUP BY ALL", "duckdb", [(S, "SELECT a FROM t"), (G, "GROUP BY ALL"), (OB, "ORDER BY ALL")]),
    ("WITH ROLLUP", "mysql", [(S, "SELECT a FROM t"), (G, "GROUP BY a WITH ROLLUP"), (OB, "ORDER BY a")]),
    ("GROUPING SETS", "postgres", [(S, "SELECT a FROM t"), (G, "GROUP BY GROUPING SETS ((a), (b))")]),
    ("FOR UPDATE", "postgres", [(S, "SELECT a FROM t"), (W, "WHERE b = 1 FOR UPDATE")]),
    (
        "DISTINCT ON",
        "postgres",
        [(S, "SELECT DISTINCT ON (a) a, b FROM t"), (OB, "ORDER BY a, b DESC NULLS LAST")],
    ),
    ("IS DISTINCT FROM", "postgres", [(S, "SELECT a FROM t"), (W, "WHERE a IS DISTINCT FROM b")]),
    ("PIVOT", "snowflake", [(S, "SELECT a FROM t PIVOT(sum(b) FOR c IN ('x'))"), (W, "WHERE a = 1")]),
    ("SELECT INTO", "tsql", [(S, "SELECT a INTO b FROM t"), (W, "WHERE c = 1")]),
    (
        "other scripts",
        "sqlite",
        [(S, "SELECT 名前 FROM 表"), (W, "WHERE 名前 = '東京'"), (OB, "ORDER BY 名前")],
    ),
    (
        "emoji and combining marks before a keyword",
        "sqlite",
        [(S, "SELECT '👩‍🚀é' FROM t"), (W, "WHERE b = '🚀'")],
    ),
    ("comment after a semicolon", "sqlite", [(S, "SELECT a FROM t"), (W, "WHERE b; -- all")]),
    (
        "column called limit",
        "sqlite",
        [(S, "SELECT a, limit FROM t"), (W, "WHERE limit > 1"), (OB, "ORDER BY limit LIMIT 2")],
    ),
    (
        "columns called limit and offset",
        "sqlite",
        [(S, "SELECT limit, offset FROM t"), (G, "GROUP BY a, offset"), (OB, "LIMIT 2 OFFSET 1")],
    ),
    (
        "column called limit in the left operand",
        "sqlite",
        [(S, "SELECT limit FROM t"), (U, "UNION SELECT offset FROM u"), (OB, "ORDER BY limit LIMIT 2")],
    ),
    (
        "WITH OFFSET",
        "bigquery",
        [(S, "SELECT * FROM UNNEST([1]) AS x WITH OFFSET"), (OB, "ORDER BY offset LIMIT 3")],
    ),
    (
        "only the last ORDER BY orders the whole",
        "sqlite",
        [
            (S, "SELECT a FROM t"),
            (U, "UNION SELECT b FROM u ORDER BY x LIMIT 1 UNION SELECT c FROM v"),
            (OB, "ORDER BY y"),
        ],
    ),
    (
        "a limit inside a chain of set operations",
        "sqlite",
        [
            (S, "SELECT a FROM t"),
            (U, "UNION SELECT b FROM u LIMIT 1 EXCEPT SELECT c FROM v"),
            (OB, "ORDER BY y"),
        ],
    ),
]


@pytest.mark.parametrize(
    ("dialect", "clauses"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_tricky_queries(dialect: str, clauses: list[tuple[str, str]]) -> None:
    query = " ".join(sql for _, sql in clauses)
    found = split_clauses(query, dialect)
    assert [(clause.type, clause.sql) for clause in found] == clauses
    assert all(query[clause.start : clause.end] == clause.sql for clause in found)
    assert join_clauses(found) == query


def test_the_table_is_long_and_broad() -> None:
    assert len(CASES) >= 60
    assert {kind for _, _, clauses in CASES for kind, _ in clauses} == set(CLAUSE_TYPES)
    assert len({dialect for _, dialect, _ in CASES}) >= 8


@pytest.mark.parametrize(
    ("comment", "dialect"),
    [
        ("-- all rows\n-- of t\n", "sqlite"),
        ("-- a blank at its end  \n", "sqlite"),
        ("-- carriage return\r\n", "sqlite"),
        ("-- ends like a block */\n", "sqlite"),
        ("/* a block */ -- /* and a line */\n", "sqlite"),
        ("/* two\nlines */ -- and a line\n", "sqlite"),
        ("# hash\n", "mysql"),
        ("// slashes\n", "snowflake"),
        ("/* -- in a block */\n", "sqlite"),
    ],
)
def test_clause_that_ends_in_a_line_comment_keeps_its_line_break(comment: str, dialect: str) -> None:
    query = f"SELECT a FROM t {comment}WHERE b = 1 -- end"
    found = split_clauses(query, dialect)
    assert [clause.type for clause in found] == ["SELECT", "WHERE"]
    assert all(query[clause.start : clause.end] == clause.sql for clause in found)
    joined = join_clauses(found)
    assert [clause.type for clause in split_clauses(joined, dialect)] == ["SELECT", "WHERE"]
    assert "".join(joined.split()) == "".join(query.split())


def test_block_comment_keeps_no_white_space() -> None:
    assert [clause.sql for clause in split_clauses("SELECT a FROM t /* x */ \n WHERE b")] == [
        "SELECT a FROM t /* x */",
        "WHERE b",
    ]


BAD = [
    ("empty", "", "sqlite", "empty"),
    ("blank", " \n\t", "sqlite", "empty"),
    ("only a comment", "-- SELECT a", "sqlite", "starts with '--'"),
    ("no SQL", "hello world", "sqlite", "starts with 'hello'"),
    ("another statement", "DELETE FROM t", "sqlite", "starts with 'DELETE'"),
    ("EXPLAIN", "EXPLAIN SELECT a FROM t", "sqlite", "starts with 'EXPLAIN'"),
    ("INSERT after a CTE", "WITH c AS (SELECT 1) INSERT INTO t SELECT * FROM c", "postgres", "Insert"),
    ("two statements", "SELECT a FROM t; SELECT b FROM u", "sqlite", "one statement, but got 2"),
    ("nothing selected", "SELECT", "sqlite", "after SELECT"),
    ("cut short", "SELECT a FROM t WHERE", "sqlite", "line 1, column 21"),
    ("unclosed string", "SELECT a FROM t WHERE b = 'x", "sqlite", "does not parse"),
    ("unclosed bracket", "SELECT (a FROM t", "sqlite", "does not parse"),
    ("bracket too many", "SELECT a) FROM t", "sqlite", "does not parse"),
    ("two WHERE", "SELECT a FROM t WHERE b = 1 WHERE c = 2", "sqlite", "WHERE"),
    ("not of this dialect", "SELECT a FROM t WHERE b ~ 'x'", "sqlite", "does not parse"),
    ("too long", "SELECT '" + "x" * MAX_CHARACTERS + "'", "sqlite", "at most 100,000 characters"),
    (
        "too deep",
        "SELECT " + "(" * (MAX_DEPTH + 1) + "1" + ")" * (MAX_DEPTH + 1),
        "sqlite",
        "at most 50 deep",
    ),
    ("deep without brackets", "SELECT " + "NOT " * 5000 + "1", "sqlite", "too deeply"),
    ("deep CASE", "SELECT " + "CASE WHEN " * 3000 + "1", "sqlite", "too deeply"),
    ("unclosed string says where", "SELECT a FROM t WHERE b = 'x", "sqlite", "Missing ' from 1:26"),
    ("unclosed comment", "SELECT a FROM t /* b", "sqlite", "quote or comment is not closed"),
    ("ends after FROM", "SELECT a FROM", "sqlite", "Expected table name but got the end near"),
    ("bare GROUP BY", "SELECT a FROM t GROUP BY", "sqlite", "expected something after GROUP BY"),
    ("bare GROUP BY;", "SELECT a FROM t GROUP BY;", "sqlite", "expected something after GROUP BY"),
    ("pipe syntax", "FROM t |> WHERE a = 1 |> ORDER BY b", "bigquery", "pipe syntax"),
    ("long pipe", "FROM t" + " |> SELECT a" * 5000, "bigquery", "pipe syntax"),
]


@pytest.mark.parametrize(
    ("query", "dialect", "message"), [case[1:] for case in BAD], ids=[case[0] for case in BAD]
)
def test_bad_queries_say_what_and_where(query: str, dialect: str, message: str) -> None:
    with pytest.raises(ClauseError) as caught:
        split_clauses(query, dialect)
    assert message in str(caught.value)
    assert "\x1b" not in str(caught.value) and len(str(caught.value)) < 400


def test_what_sqlglot_stumbles_over_is_one_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def stumble(*_: object) -> None:
        raise AttributeError("'NoneType' object has no attribute 'expression'")

    monkeypatch.setattr(Parser, "parse", stumble)
    with pytest.raises(ClauseError, match=r"does not parse \(AttributeError in sqlglot\)"):
        split_clauses("SELECT a FROM stumbled")


def test_position_of_a_query_too_deep() -> None:
    with pytest.raises(ClauseError) as caught:
        split_clauses("SELECT " + "(" * 60 + "1" + ")" * 60)
    assert caught.value.position == len("SELECT ") + MAX_DEPTH + 1


def test_unknown_dialect_names_the_nearest() -> None:
    with pytest.raises(OptionError, match="postgres"):
        split_clauses("SELECT 1", "postgress")


# --- Properties ----------------------------------------------------------------------------------------

names = st.sampled_from(
    ["a", "b", "T1.c", '"group by"', "count(*)", "max(d)", "'WHERE x'", "(SELECT e FROM u WHERE f = 1)"]
)
conditions = st.builds("{} {} {}".format, names, st.sampled_from(["=", ">", "!=", "LIKE"]), names)
gaps = st.sampled_from([" ", "  ", "\n", "\t ", " /* UNION */ "])


@st.composite
def queries(draw: st.DrawFn) -> tuple[list[str], str]:
    """A query of known clauses with odd white space between them."""
    parts = [("SELECT", f"SELECT {draw(names)}, {draw(names)} FROM t AS T1")]
    if draw(st.booleans()):
        parts.append(("WHERE", f"WHERE {draw(conditions)} AND {draw(conditions)}"))
    if draw(st.booleans()):
        having = f" HAVING {draw(conditions)}" if draw(st.booleans()) else ""
        parts.append(("GROUP BY", f"GROUP BY {draw(names)}{having}"))
    operation = draw(st.sampled_from([None, *SET_OPERATIONS]))
    if operation:
        parts.append((operation, f"{operation} SELECT {draw(names)} FROM u WHERE {draw(conditions)}"))
    if draw(st.booleans()):
        parts.append(("ORDER BY", f"ORDER BY {draw(names)} DESC LIMIT 3"))
    text = parts[0][1]
    for _, sql in parts[1:]:
        text += draw(gaps) + sql
    return [kind for kind, _ in parts], text


@given(queries())
def test_clauses_of_made_queries(made: tuple[list[str], str]) -> None:
    types, query = made
    found = split_clauses(query)
    assert [clause.type for clause in found] == types
    assert "".join(join_clauses(found).split()) == "".join(query.split())
    assert [c.type for c in split_clauses(join_clauses(found))] == types


@given(st.text(max_size=60))
def test_any_text_gives_clauses_or_one_error(text: str) -> None:
    try:
        found = split_clauses(text)
    except ClauseError:
        return
    assert "".join(join_clauses(found).split()) == "".join(text.split())


@given(queries())
def test_subsets_with_select_parse(made: tuple[list[str], str]) -> None:
    """Leaving clauses out of a query never breaks its grammar."""
    found = split_clauses(made[1])
    for left_out in range(1, len(found)):
        rest = [clause for position, clause in enumerate(found) if position != left_out]
        assert [c.type for c in split_clauses(join_clauses(rest))] == [c.type for c in rest]


def test_recombined_queries_run() -> None:
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE t (a, b, c)")
    database.execute("INSERT INTO t VALUES (1, 2, 'x'), (2, 3, 'y')")
    found = split_clauses(
        "SELECT a FROM t WHERE b > 1 GROUP BY a HAVING count(*) > 0 ORDER BY a DESC LIMIT 1"
    )
    assert database.execute(join_clauses(found)).fetchall() == [(2,)]
    assert database.execute(join_clauses([found[0], found[3]])).fetchall() == [(2,)]
