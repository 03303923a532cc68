"""What makes two clauses the same, and training rows without any test clause (experiment 2)."""

from __future__ import annotations

from typing import Any

import pytest

from spider_compose.errors import ClauseError, OptionError, SourceError
from spider_compose.splits import clause_key, remove_overlap
from spider_compose.splits.overlap import MODES, clauses_of, row_clause_keys, table_aliases


@pytest.mark.parametrize(
    ("clause", "canonical", "value_blind"),
    [
        pytest.param(
            "SELECT T1.Name FROM Singer AS T1", "select singer.name from singer", None, id="alias-and-case"
        ),
        pytest.param("select Singer.name from Singer", "select singer.name from singer", None, id="no-alias"),
        pytest.param(
            "SELECT t1.a, t2.b FROM x t1 JOIN y AS t2 ON t1.c == t2.c",
            "select x.a , y.b from x join y on x.c = y.c",
            None,
            id="alias-without-as-and-double-equals",
        ),
        pytest.param(
            "SELECT T2.a FROM p AS T1 JOIN p AS T2 ON T1.x <> T2.y",
            "select p#2.a from p join p#2 on p.x != p#2.y",
            None,
            id="self-join",
        ),
        pytest.param("SELECT b.x FROM a, c AS b", "select c.x from a , c", None, id="comma"),
        pytest.param(
            "SELECT q.x FROM (SELECT T1.y FROM z AS T1) AS q",
            "select subquery.x from ( select z.y from z )",
            None,
            id="query-in-from",
        ),
        pytest.param(
            "SELECT T1.a FROM x AS T1 WHERE T1.b IN (SELECT T1.c FROM y AS T1 WHERE T1.d = T9.e)",
            "select x.a from x where x.b in ( select y.c from y where y.d = t9.e )",
            None,
            id="inner-alias-hides-outer",
        ),
        pytest.param(
            "SELECT T1.a FROM x AS T1 WHERE EXISTS (SELECT 1 FROM y WHERE y.c = T1.b)",
            "select x.a from x where exists ( select 1 from y where y.c = x.b )",
            "select x.a from x where exists ( select ___ from y where y.c = x.b )",
            id="outer-alias-inside",
        ),
        pytest.param(
            "INTERSECT SELECT T1.a FROM x AS T1 WHERE T1.b = 2",
            "intersect select x.a from x where x.b = 2",
            "intersect select x.a from x where x.b = ___",
            id="set-operation",
        ),
        pytest.param(
            'WHERE  City =  "New  York" ;', "where city = 'New  York'", "where city = ___", id="double-quotes"
        ),
        pytest.param("where city = 'New  York'", "where city = 'New  York'", "where city = ___", id="quotes"),
        pytest.param("WHERE a = 'it''s'", "where a = 'it''s'", "where a = ___", id="quote-inside"),
        pytest.param("WHERE a = 'X' -- why", "where a = 'X'", "where a = ___", id="comment"),
        pytest.param(
            "WHERE T7.`Full Name` > 3.50",
            "where t7.full name > 3.50",
            "where t7.full name > ___",
            id="backtick-and-unknown-alias",
        ),
        pytest.param('WHERE T1."a" = 1', "where t1.a = 1", "where t1.a = ___", id="double-quotes-beside-dot"),
        pytest.param(
            "ORDER  BY count(*) DESC LIMIT 3",
            "order by count ( * ) desc limit 3",
            "order by count ( * ) desc limit ___",
            id="limit",
        ),
        pytest.param(
            "SELECT count(*) AS N FROM t", "select count ( * ) as n from t", None, id="column-alias-stays"
        ),
    ],
)
def test_clause_key(clause: str, canonical: str, value_blind: str | None) -> None:
    assert clause_key(clause) == canonical
    assert clause_key(clause, "value_blind") == (value_blind or canonical)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        pytest.param("WHERE a = 'X'", 'where  A = "X"', "canonical", id="case-and-quotes"),
        pytest.param("WHERE a = 'X'", "WHERE a = 'x'", "value_blind", id="case-of-a-value"),
        pytest.param("WHERE a = 1", "WHERE a = 2", "value_blind", id="values"),
        pytest.param("WHERE  a = 1 ;", "WHERE a =\n1", "strict", id="white-space"),
        pytest.param("WHERE a = 1", "WHERE b = 1", None, id="columns"),
        pytest.param("SELECT a FROM x AS t", "SELECT a FROM x", "canonical", id="alias"),
        pytest.param("SELECT x.a FROM x", "SELECT a FROM x", None, id="unqualified-column"),
    ],
)
def test_modes_from_strict_to_blind(one: str, other: str, same: str | None) -> None:
    """Each mode finds what the one before finds."""
    modes = ("strict", "canonical", "value_blind")
    equal = [clause_key(one, mode) == clause_key(other, mode) for mode in modes]
    assert equal == [same is not None and place >= modes.index(same) for place in range(3)]


def test_key_of_a_key_is_itself() -> None:
    for clause in ("SELECT T1.a FROM x AS T1 JOIN y AS T2 ON T1.b = T2.b", "WHERE a = 'X  y' AND b > 3.0"):
        assert clause_key(clause_key(clause)) == clause_key(clause)


def test_aliases_of_the_query() -> None:
    aliases = table_aliases(
        "SELECT T1.a FROM x AS T1 JOIN y AS T2 ON T1.b = T2.b UNION SELECT c FROM z AS T3"
    )
    assert aliases == {"t1": "x", "t2": "y"}
    assert clause_key("WHERE T2.c = 1", aliases=aliases) == "where y.c = 1"
    # The other operand of a set operation does not see them.
    assert clause_key("UNION SELECT T1.c FROM q", aliases=aliases) == "union select t1.c from q"


@pytest.mark.parametrize(
    ("query", "clauses"),
    [
        pytest.param("SELECT a FROM b WHERE c = 1", ("SELECT a FROM b", "WHERE c = 1"), id="query"),
        pytest.param("WHERE a > 1 ORDER BY b", ("WHERE a > 1", "ORDER BY b"), id="no-select"),
        pytest.param("GROUP BY a HAVING count(*) > 1", ("GROUP BY a HAVING count(*) > 1",), id="group"),
        pytest.param("INTERSECT SELECT a FROM b", ("INTERSECT SELECT a FROM b",), id="set-operation"),
        pytest.param(
            "WHERE a = 1 UNION SELECT b FROM c", ("WHERE a = 1", "UNION SELECT b FROM c"), id="both"
        ),
    ],
)
def test_clauses_of(query: str, clauses: tuple[str, ...]) -> None:
    assert clauses_of(query) == clauses


def pair(query: str, source_row: int | None = None, split: str = "train") -> dict[str, Any]:
    return {"query": query, "source_split": split, "source_row": source_row}


TRAIN = [
    pair("SELECT T1.a FROM x AS T1 WHERE T1.b = 1 ORDER BY T1.c", 0),
    pair("WHERE T1.b = 1", 0),
    pair("WHERE T1.b = 1", 1),  # of another source, where T1 is another table
    pair("SELECT T1.a FROM y AS T1 WHERE T1.b = 1", 1),
    pair("WHERE x.b = 2", 2),
    pair("ORDER BY z", 3),
    pair("WHERE ((", 4),
]
TEST = [pair("select x.q from x where X.b = 1", 9, "test")]


@pytest.mark.parametrize(
    ("mode", "removed"),
    [
        pytest.param("canonical", (0, 1), id="canonical"),
        pytest.param("strict", (), id="strict"),
        pytest.param("value_blind", (0, 1, 4), id="value-blind"),
    ],
)
def test_remove_overlap(mode: str, removed: tuple[int, ...]) -> None:
    result = remove_overlap(TRAIN, TEST, mode)
    assert result.removed == removed
    assert sorted(result.kept + result.removed) == [0, 1, 2, 3, 4, 5]
    assert [(entry.split, entry.row) for entry in result.left_out] == [("train", 6)]
    assert "train row 6: " in result.left_out[0].detail
    assert result.test_clauses == 2
    assert result.signature.startswith(
        f"split:no_overlap|mode:{mode}|dialect:sqlite|train:7|test:1|sources:rows|"
    )


def test_sources_give_aliases_that_no_row_has() -> None:
    train = [pair("WHERE T1.b = 1", 5)]
    assert remove_overlap(train, TEST).removed == ()
    assert remove_overlap(train, TEST, sources={("train", 5): "SELECT 1 FROM x AS T1"}).removed == (0,)


def test_no_test_clause_is_left() -> None:
    test = [pair("SELECT a FROM t WHERE b = 1 GROUP BY a"), pair("SELECT a FROM u ORDER BY a")]
    train = [
        pair(f"SELECT {column} FROM {table} {tail}".strip())
        for column in "ab"
        for table in "tuv"
        for tail in (
            "",
            "WHERE b = 1",
            "where B=1",
            "WHERE b = 2",
            "GROUP BY a",
            "ORDER BY a",
            "ORDER BY a DESC",
        )
    ]
    result = remove_overlap(train, test)
    forbidden = frozenset().union(*row_clause_keys(test).values())
    kept = row_clause_keys([train[number] for number in result.kept])
    assert not any(keys & forbidden for keys in kept.values())
    gone = row_clause_keys([train[number] for number in result.removed])
    assert gone and all(keys & forbidden for keys in gone.values())
    assert len(result.kept) == 4 * 3  # of six heads four, with WHERE b = 2, ORDER BY a DESC or nothing


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        pytest.param(lambda: clause_key("a", "loose"), OptionError, "`mode` must be one of", id="mode"),
        pytest.param(lambda: remove_overlap(TRAIN, TEST, "blind"), OptionError, "`mode`", id="remove-mode"),
        pytest.param(lambda: remove_overlap(TRAIN, TEST, dialect="x"), OptionError, "dialect", id="dialect"),
        pytest.param(lambda: remove_overlap([], TEST), SourceError, "empty", id="no-train"),
        pytest.param(lambda: remove_overlap(TRAIN, []), SourceError, "empty", id="no-test"),
        pytest.param(
            lambda: remove_overlap(TRAIN, [{"sql": "x"}]), SourceError, "row 0: expected text", id="column"
        ),
        pytest.param(lambda: clause_key("WHERE a = 'x"), ClauseError, "no SQL tokens", id="open-quote"),
    ],
)
def test_bad_input(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize("mode", MODES)
def test_clauses_that_are_known_already_change_nothing(mode: str) -> None:
    train = [{"query": "SELECT a FROM t WHERE b = 1"}, {"query": "WHERE c = 2"}, {"query": "SELECT d FROM u"}]
    test = [{"query": "SELECT e FROM v WHERE c = 2"}]
    known = {row["query"]: clauses_of(row["query"]) for row in (*train, *test)}
    assert remove_overlap(train, test, mode, known=known) == remove_overlap(train, test, mode)
    # What is known is what counts.
    other = {**known, "SELECT d FROM u": ("SELECT d FROM u", "WHERE c = 2")}
    assert remove_overlap(train, test, mode, known=other).removed == (1, 2)


@pytest.mark.parametrize("query", [";", "-- a comment", "\x00"], ids=["semicolon", "comment", "null"])
@pytest.mark.parametrize("mode", MODES)
def test_text_without_a_clause_is_left_out(mode: str, query: str) -> None:
    result = remove_overlap([pair("SELECT a FROM t"), pair(query)], [pair("SELECT b FROM t")], mode)
    assert (result.kept, [entry.row for entry in result.left_out]) == ((0,), [1])


@pytest.mark.parametrize(
    "rows", [["SELECT a FROM t"], iter([pair("SELECT a FROM t")])], ids=["text", "iterator"]
)
def test_rows_that_are_no_list_of_dicts(rows: Any) -> None:
    with pytest.raises(SourceError, match=r"expected a (dict|list)"):
        remove_overlap(rows, [pair("SELECT b FROM t")])
