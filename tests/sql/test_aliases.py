"""Tables named in clauses that stand without their FROM."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spider_compose.sql.aliases import resolve_aliases
from spider_compose.sql.clauses import split_clauses

JOIN = "SELECT T1.name FROM singer AS T1 JOIN concert AS T2 ON T1.id = T2.singer_id"

CASES = [
    ("a table for its alias", f"{JOIN} WHERE T2.year > 2014", ["WHERE concert.year > 2014"]),
    (
        "all clauses but the first, in any case",
        f"{JOIN} WHERE t2.year > 1 GROUP BY T1.id HAVING max(T2.x) > 1 ORDER BY t1.age",
        ["WHERE concert.year > 1", "GROUP BY singer.id HAVING max(concert.x) > 1", "ORDER BY singer.age"],
    ),
    ("without AS", "SELECT a.x FROM singer a, concert b WHERE a.x = b.x", ["WHERE singer.x = concert.x"]),
    ("white space stays", f"{JOIN} WHERE  T2 . year  =  1", ["WHERE  concert . year  =  1"]),
    ("texts stay", f"{JOIN} WHERE T1.name = 'T2.year'", ["WHERE singer.name = 'T2.year'"]),
    (
        "names as they are written",
        'SELECT T1.x FROM main."my Table" AS T1 WHERE T1.x = 1',
        ['WHERE main."my Table".x = 1'],
    ),
    ("tables without aliases", "SELECT singer.x FROM singer WHERE singer.x = 1", ["WHERE singer.x = 1"]),
    (
        "an alias of a column is none of a table",
        "SELECT count(*) AS T1 FROM singer AS T2 ORDER BY T1",
        ["ORDER BY T1"],
    ),
    (
        "a self join stays distinguishable",
        "SELECT T1.name FROM friend AS T1 JOIN friend AS T2 ON T1.a = T2.b JOIN person AS T3 ON T1.a = T3.a "
        "WHERE T1.x > T2.x AND T3.x = 1",
        ["WHERE T1.x > T2.x AND person.x = 1"],
    ),
    (
        "a nested FROM gives no table",
        "SELECT T1.x FROM (SELECT x FROM a) AS T1 JOIN b AS T2 ON T1.x = T2.x WHERE T1.x = T2.y",
        ["WHERE T1.x = b.y"],
    ),
    (
        "a nested query keeps its own aliases",
        f"{JOIN} WHERE T1.id IN (SELECT T1.id FROM pets AS T1 WHERE T1.age > 1)",
        ["WHERE singer.id IN (SELECT T1.id FROM pets AS T1 WHERE T1.age > 1)"],
    ),
    (
        "a nested query may speak of the outer one",
        f"{JOIN} WHERE EXISTS (SELECT 1 FROM pets AS T3 WHERE T3.owner = T1.id)",
        ["WHERE EXISTS (SELECT 1 FROM pets AS T3 WHERE T3.owner = singer.id)"],
    ),
    (
        "but not where it reads the same table",
        f"{JOIN} WHERE EXISTS (SELECT 1 FROM singer AS T3 WHERE T3.id = T1.id)",
        ["WHERE EXISTS (SELECT 1 FROM singer AS T3 WHERE T3.id = T1.id)"],
    ),
    (
        "behind a nested query the outer aliases are back",
        f"{JOIN} WHERE T1.id IN (SELECT T2.id FROM pets AS T2) AND T2.year = 1",
        ["WHERE singer.id IN (SELECT T2.id FROM pets AS T2) AND concert.year = 1"],
    ),
    (
        "set operations bring their own FROM",
        f"{JOIN} WHERE T2.year = 1 INTERSECT SELECT T1.name FROM pets AS T1 WHERE T1.age = 1",
        ["WHERE concert.year = 1", "INTERSECT SELECT T1.name FROM pets AS T1 WHERE T1.age = 1"],
    ),
    (
        "two operands read the same alias differently",
        f"{JOIN} UNION SELECT T1.a FROM pets AS T1 UNION SELECT T2.a FROM toys AS T2 WHERE T2.b = 1",
        ["UNION SELECT T1.a FROM pets AS T1 UNION SELECT T2.a FROM toys AS T2 WHERE T2.b = 1"],
    ),
    (
        "nested twice",
        f"{JOIN} WHERE T1.a IN (SELECT b FROM c WHERE d IN (SELECT T2.e FROM f AS T2 WHERE T2.g = T1.h))",
        ["WHERE singer.a IN (SELECT b FROM c WHERE d IN (SELECT T2.e FROM f AS T2 WHERE T2.g = singer.h))"],
    ),
    (
        "an alias that is another table's name",
        "SELECT u.a FROM t AS u JOIN u AS t ON t.a = u.a WHERE u.b IN (SELECT 1 FROM x AS u WHERE t.d = u.d)",
        ["WHERE u.b IN (SELECT 1 FROM x AS u WHERE t.d = u.d)"],
    ),
    (
        "a join in brackets",
        "SELECT T1.a FROM ((singer AS T1) JOIN concert AS T2 ON (T1.a = T2.a)), pets AS T3 "
        "WHERE T1.b = T2.b + T3.b",
        ["WHERE singer.b = concert.b + pets.b"],
    ),
    (
        "a self join across brackets",
        "SELECT T1.a FROM (singer AS T1 JOIN pets AS T2 ON T1.a = T2.a) JOIN singer AS T3 WHERE T1.b = T3.b",
        ["WHERE T1.b = T3.b"],
    ),
    (
        "a nested query that reads the same table in brackets",
        f"{JOIN} WHERE T1.a IN (SELECT 1 FROM (pets JOIN singer ON pets.a = singer.a) WHERE singer.b = T1.b)",
        ["WHERE singer.a IN (SELECT 1 FROM (pets JOIN singer ON pets.a = singer.a) WHERE singer.b = T1.b)"],
    ),
    (
        "an alias of brackets",
        f"{JOIN} WHERE T1.a IN (SELECT T1.b FROM ((SELECT b FROM pets)) AS T1)",
        ["WHERE singer.a IN (SELECT T1.b FROM ((SELECT b FROM pets)) AS T1)"],
    ),
]


@pytest.mark.parametrize(("query", "resolved"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_resolve_aliases(query: str, resolved: list[str]) -> None:
    clauses = split_clauses(query)
    found = resolve_aliases(clauses)
    assert [clause.sql for clause in found[1:]] == resolved
    assert found[0] == clauses[0]
    assert [clause.type for clause in found] == [clause.type for clause in clauses]


@given(st.sampled_from([case[1] for case in CASES]))
def test_resolved_clauses_have_nothing_left_to_resolve(query: str) -> None:
    once = resolve_aliases(split_clauses(query))
    assert resolve_aliases(once) == once
