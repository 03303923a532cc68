"""Canonical texts run: SQLite gives the same rows for a query and for its canonical text."""

from __future__ import annotations

import sqlite3

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spider_compose.sql.canonical import canonical_text

ROWS = [(a, b, c) for a in (None, 0, 1, 2) for b in (0, 1) for c in (None, 1, 3)]

# Without text values: the canonical text spaces their quotes.
operands = st.sampled_from(["a", "b", "c", "0", "1", "2", "-1", "NULL", "TRUE"])


def _composed(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    part = st.builds("({})".format, inner)
    return st.one_of(
        st.builds("{} {} {}".format, part, st.sampled_from(["+", "-", "*", "%"]), part),
        st.builds("{} {} {}".format, part, st.sampled_from(["=", "<", ">=", "!=", "LIKE"]), part),
        st.builds("{} {} {}".format, part, st.sampled_from(["AND", "OR"]), part),
        st.builds("NOT {}".format, part),
        st.builds("{} IS {}NULL".format, part, st.sampled_from(["", "NOT "])),
        st.builds("{} {}IN ({}, {})".format, part, st.sampled_from(["", "NOT "]), part, part),
        st.builds("{} {}BETWEEN {} AND {}".format, part, st.sampled_from(["", "NOT "]), part, part),
        st.builds("coalesce({}, {})".format, part, part),
    )


def rows_of(query: str) -> list[tuple[object, ...]]:
    with sqlite3.connect(":memory:") as database:
        database.execute("CREATE TABLE t (a, b, c)")
        database.executemany("INSERT INTO t VALUES (?, ?, ?)", ROWS)
        return database.execute(query).fetchall()


def assert_same_rows(query: str) -> None:
    text = canonical_text(query)
    assert rows_of(text.replace(" . ", ".")) == rows_of(query), text


WORDS = [
    ("SELECT a = NULL FROM t", "select t . a = null from t"),
    ("SELECT NULL, a + NULL FROM t", "select null , t . a + null from t"),
    ("SELECT coalesce(a, NULL, 1) FROM t", "select coalesce ( t . a , null , 1 ) from t"),
    ("SELECT a FROM t WHERE b = TRUE", "select t . a from t where t . b = true"),
    ("SELECT a FROM t WHERE a IN (1, NULL)", "select t . a from t where t . a in ( 1 , null )"),
    ("SELECT a FROM t WHERE a IS NOT NULL", "select t . a from t where t . a is not null"),
    ("SELECT (a > 1) + (b > 1) FROM t", "select ( t . a > 1 ) + ( t . b > 1 ) from t"),
    ("SELECT a = (b = c) FROM t", "select t . a = ( t . b = t . c ) from t"),
    ("SELECT (a OR b) + 1 FROM t", "select ( t . a or t . b ) + 1 from t"),
]


@pytest.mark.parametrize(("query", "text"), WORDS, ids=[query for query, _ in WORDS])
def test_constants_and_truth_values_stay_in_place(query: str, text: str) -> None:
    assert canonical_text(query) == text
    assert_same_rows(query)


@given(st.recursive(operands, _composed, max_leaves=6))
@settings(max_examples=100, deadline=None)
def test_any_expression(expression: str) -> None:
    assert_same_rows(f"SELECT a, b, c, {expression} FROM t WHERE {expression}")
