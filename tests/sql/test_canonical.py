# ruff: noqa: E501 - a tree or a query reads best on one line
"""Canonical text: what it says, and that reading it again gives the same tree."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spider_compose.sql.canonical import canonical_text, canonical_words
from spider_compose.sql.schema import Schema
from spider_compose.sql.tree import build_tree

TEXTS = [
    (
        "SELECT T1.name, count(DISTINCT T2.a) FROM pet_owner AS T1 JOIN b T2 ON T1.id = T2.id ORDER BY T1.name",
        "select pet owner . name , count ( distinct b . a ) from pet owner join b on pet owner . id = b . id "
        "order by pet owner . name asc",
    ),
    ("WHERE x = 'New York'", "where x = ' New York '"),
    ("WHERE x LIKE '%New York%' AND y = ''", "where x like ' % New York % ' and y = ' '"),
    ("WHERE x = 'O''Brien'", "where x = ' O'Brien '"),
    (
        "WHERE a = 1 AND (b = 2 OR NOT (c = 3 AND d = 4))",
        "where a = 1 and ( b = 2 or not ( c = 3 and d = 4 ) )",
    ),
    ("SELECT (a + b) * c - (d - e) FROM t", "select ( t . a + t . b ) * t . c - ( t . d - t . e ) from t"),
    (
        "SELECT a FROM t UNION SELECT b FROM u EXCEPT SELECT c FROM v",
        "select t . a from t union select u . b from u except select v . c from v",
    ),
    (
        "SELECT a FROM t UNION (SELECT b FROM u EXCEPT SELECT c FROM v)",
        "select t . a from t union ( select u . b from u except select v . c from v )",
    ),
    ("WHERE a IN (SELECT b FROM u)", "where a in ( select u . b from u )"),
    (
        "SELECT p.a FROM p AS p JOIN f ON p.a = f.a JOIN p AS q ON q.a = f.b",
        "select p . a from p join f join p 2 on p . a = f . a and p 2 . a = f . b",
    ),
    ("SELECT a + 1 AS a FROM t WHERE a = 1", "select t . a + 1 from t where t . a = 1"),
    ("SELECT a + 1 AS a FROM t ORDER BY a", "select t . a + 1 from t order by t . a + 1 asc"),
    ("SELECT a FROM t LEFT JOIN u", "select a from t left join u"),
    ("SELECT round(t.a, 2) FROM t", "select round ( t . a , 2 ) from t"),
]


@pytest.mark.parametrize(("query", "expected"), TEXTS, ids=[query[:50] for query, _ in TEXTS])
def test_text(query: str, expected: str) -> None:
    assert canonical_text(query) == expected


SAME = [
    ("SELECT T1.a FROM t AS T1", "select t.a from t"),
    ("SELECT a FROM t ORDER BY a", "SELECT x.a FROM t AS x ORDER BY x.a ASC"),
    ("SELECT a FROM t WHERE b <> 1", "SELECT a FROM t WHERE ((b != 1))"),
    ("SELECT a FROM t WHERE NOT b IN (1)", "SELECT a FROM t WHERE b NOT IN (1)"),
    ("SELECT a AS n FROM t GROUP BY n", "SELECT a FROM t GROUP BY a"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_equal_queries_have_equal_text(one: str, other: str) -> None:
    assert canonical_text(one) == canonical_text(other)


def test_copyable_words() -> None:
    """Names, numbers and values; never operators, quotes, wildcards or functions."""
    words = canonical_words(build_tree("SELECT count(a_b) FROM t WHERE c LIKE '%x y%' AND d > 3"))
    assert [word.text for word in words if word.copyable] == [
        "t",
        "a",
        "b",
        "t",
        "t",
        "c",
        "x",
        "y",
        "t",
        "d",
        "3",
    ]


names = st.sampled_from(["alpha", "beta", "gamma"])
conditions = st.recursive(
    st.one_of(
        st.builds("{} = {}".format, names, st.integers(0, 9)),
        st.builds("{} NOT BETWEEN 1 AND {}".format, names, st.integers(2, 9)),
        st.builds("{} IS NOT NULL".format, names),
        st.builds("{} + {} > ({} - {}) * 2".format, names, names, names, names),
    ),
    lambda inner: st.one_of(
        st.builds("({} {} {})".format, inner, st.sampled_from(["AND", "OR"]), inner),
        st.builds("(NOT ({}))".format, inner),
    ),
    max_leaves=6,
)
selects = st.builds("SELECT {} FROM {} WHERE {}".format, names, names, conditions)
operations = st.sampled_from(["UNION", "INTERSECT", "EXCEPT", "UNION ALL"])
set_operations = st.recursive(
    selects,
    lambda inner: st.one_of(
        st.builds("({}) {} ({})".format, inner, operations, inner),
        st.builds("({} ORDER BY alpha LIMIT 2) {} ({})".format, selects, operations, inner),
        st.builds("SELECT beta FROM ({}) AS x ORDER BY beta DESC LIMIT 3".format, inner),
    ),
    max_leaves=3,
)


@given(st.one_of(set_operations, st.builds("WHERE {}".format, conditions)))
def test_canonical_text_is_its_own_canonical_text(query: str) -> None:
    """Nothing that brackets or precedence say is lost: the text parses to the tree it was printed from."""
    text = canonical_text(query)
    assert canonical_text(text) == text
    one, other = build_tree(query).nodes, build_tree(text).nodes
    assert [(node.label, node.parent) for node in one] == [(node.label, node.parent) for node in other]


@pytest.mark.slow
def test_all_of_spider(shared_path: Callable[[str], Path]) -> None:
    """Every query of Spider's release gives a tree and a text that holds all its leaves."""
    parquet = pytest.importorskip("pyarrow.parquet")
    entries = json.loads(shared_path("spider/tables.json").read_text("utf-8"))
    schemas = {entry["db_id"]: Schema.from_tables_json(entry) for entry in entries}
    count = 0
    for part in ("train", "validation"):
        for row in parquet.read_table(shared_path(f"spider/{part}-00000-of-00001.parquet")).to_pylist():
            tree = build_tree(row["query"], schemas[row["db_id"]])
            words = {word.text for word in canonical_words(tree)}
            below = tree.children()
            names = {
                node.label
                for node, own in zip(tree.nodes, below, strict=True)
                if not own and node.label[0] != "'"
            }
            assert names <= words, (row["query"], names - words)
            count += 1
    assert count == 8034
