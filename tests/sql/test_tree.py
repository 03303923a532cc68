# ruff: noqa: E501 - a tree or a query reads best on one line
"""Ordered trees: one table of queries, and what holds for every query."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spider_compose.errors import ClauseError, OptionError
from spider_compose.sql.schema import Schema
from spider_compose.sql.tree import LEAF_TYPES, STRUCTURE_LABELS, STRUCTURE_TYPES, Tree, build_tree

ZOO = Schema.from_tables_json(
    {
        "db_id": "zoo",
        "table_names_original": ["Animal", "Keeper"],
        "table_names": ["animal", "zoo keeper"],
        "column_names_original": [[-1, "*"], [0, "ID"], [0, "nm"], [0, "Age"], [1, "ID"], [1, "animalID"], [1, "nm"]],
        "column_names": [
            [-1, "*"], [0, "id"], [0, "name"], [0, "age"], [1, "keeper id"], [1, "animal id"], [1, "full name"],
        ],
    }
)  # fmt: skip


def written(tree: Tree) -> str:
    """The tree as label(child, child)."""
    children = tree.children()

    def node(position: int) -> str:
        below = ", ".join(node(child) for child in children[position])
        return f"{tree.nodes[position].label}({below})" if below else tree.nodes[position].label

    return node(0)


TREES = [
    ("SELECT nm FROM animal", "root(select(column(name)), from(table(animal)))"),
    (
        "SELECT DISTINCT count(DISTINCT nm), count(*), * FROM keeper",
        "root(select(distinct, column(count, distinct, full, name), column(count, *), column(*)), "
        "from(table(zoo, keeper)))",
    ),
    # Precedence: NOT before AND before OR; brackets decide; a chain of one operator is one node.
    (
        "WHERE age = 1 OR age = 2 AND age = 3 AND NOT age = 4",
        "root(where(or(=(column(age), 1), and(=(column(age), 2), =(column(age), 3), =(not, column(age), 4)))))",
    ),
    (
        "WHERE (age = 1 OR age = 2) AND NOT (age = 3 OR age = 4)",
        "root(where(and(or(=(column(age), 1), =(column(age), 2)), not(or(=(column(age), 3), =(column(age), 4))))))",
    ),
    (
        "WHERE nm NOT IN ('a', 'b') AND nm NOT LIKE '%c%' AND age NOT BETWEEN -1 AND 2 AND nm IS NOT NULL",
        "root(where(and(in(not, column(nm), 'a', 'b'), like(not, column(nm), '%c%'), "
        "between(not, column(age), -1, 2), is(not, column(nm), null))))",
    ),
    ("SELECT (age + 1) * 2 FROM animal", "root(select(*(+(column(age), 1), 2)), from(table(animal)))"),
    ("SELECT sum(age * 2) FROM animal", "root(select(function(sum, *(column(age), 2))), from(table(animal)))"),
    # Names of one SELECT are not seen by the other: `t` is Animal on the left and Keeper on the right.
    (
        "SELECT t.nm FROM animal AS t UNION SELECT t.nm FROM keeper AS t",
        "root(union(root(select(column(name)), from(table(animal))), "
        "root(select(column(full, name)), from(table(zoo, keeper)))))",
    ),
    (
        "SELECT nm FROM animal AS t WHERE id IN (SELECT t.id FROM keeper AS t WHERE t.nm = 'x') AND t.id = 3",
        "root(select(column(name)), from(table(animal)), where(and(in(column(id), root(select(column(keeper, id)), "
        "from(table(zoo, keeper)), where(=(column(full, name), 'x')))), =(column(id), 3))))",
    ),
    # A correlated query sees the names around it.
    (
        "SELECT a.nm FROM animal AS a WHERE EXISTS (SELECT * FROM keeper AS k WHERE k.animalid = a.id)",
        "root(select(column(name)), from(table(animal)), where(exists(root(select(column(*)), "
        "from(table(zoo, keeper)), where(=(column(animal, id), column(id)))))))",
    ),
    # Set operations hold both queries once; chains nest to the left, brackets as written.
    (
        "SELECT id FROM animal EXCEPT SELECT id FROM keeper INTERSECT SELECT age FROM animal",
        "root(intersect(root(except(root(select(column(id)), from(table(animal))), "
        "root(select(column(keeper, id)), from(table(zoo, keeper))))), root(select(column(age)), from(table(animal)))))",
    ),
    (
        "SELECT id FROM animal UNION ALL SELECT id FROM keeper ORDER BY id",
        "root(union(all, root(select(column(id)), from(table(animal))), root(select(column(keeper, id)), "
        "from(table(zoo, keeper)))), order by(column(id), asc))",
    ),
    # Joins: tables first, then what joins them; a table's second use is numbered.
    (
        "SELECT count(*) FROM animal AS a JOIN keeper AS k ON a.id = k.animalid JOIN animal AS b USING (id)",
        "root(select(column(count, *)), from(table(animal), table(zoo, keeper), table(animal, 2), "
        "=(column(id), column(animal, id)), =(column(keeper, id), column(id))))",
    ),
    (
        "SELECT x.n FROM (SELECT nm AS n FROM animal) AS x LEFT JOIN keeper",
        "root(select(column(n)), from(root(select(column(name)), from(table(animal))), table(left, zoo, keeper)))",
    ),
    # An item's alias stands for the item where it holds, and only there.
    (
        "SELECT nm, count(*) AS c FROM animal GROUP BY nm HAVING c > 1 ORDER BY c DESC LIMIT 3 OFFSET 1",
        "root(select(column(name), column(count, *)), from(table(animal)), group by(column(name)), "
        "having(>(column(count, *), 1)), order by(column(count, *), desc), limit(3), offset(1))",
    ),
    (
        "SELECT age + 1 AS age FROM animal ORDER BY age",
        "root(select(+(column(age), 1)), from(table(animal)), order by(+(column(age), 1), asc))",
    ),
    (
        "SELECT age + 1 AS age FROM animal GROUP BY age",
        "root(select(+(column(age), 1)), from(table(animal)), group by(column(age)))",
    ),
    # Clauses without their SELECT.
    ("WHERE t2.age = 3", "root(where(=(column(age), 3)))"),
    ("GROUP BY nm HAVING count(*) > 1", "root(group by(column(nm)), having(>(column(count, *), 1)))"),
    ("ORDER BY age LIMIT 1", "root(order by(column(age), asc), limit(1))"),
    ("UNION SELECT id FROM keeper", "root(union(root(select(column(keeper, id)), from(table(zoo, keeper)))))"),
    (
        "WHERE age = 1 EXCEPT SELECT id FROM keeper",
        "root(except(root(where(=(column(age), 1))), root(select(column(keeper, id)), from(table(zoo, keeper)))))",
    ),
    # SQLite reads "text" as a value where no column has that name.
    ('WHERE nm = "Leo" AND "age" = 2', "root(where(and(=(column(nm), 'Leo'), =(column(age), 2))))"),
    # Whatever Spider lacks is a function.
    (
        "SELECT CASE WHEN age > 1 THEN 'old' ELSE 'young' END, cast(age AS text) FROM animal",
        "root(select(function(case, function(if, >(column(age), 1), 'old'), 'young'), "
        "function(cast, column(age), text)), from(table(animal)))",
    ),
    (
        "WITH old AS (SELECT id FROM animal) SELECT count(*) FROM old",
        "root(with(table(old), root(select(column(id)), from(table(animal)))), select(column(count, *)), from(table(old)))",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("query", "expected"), TREES, ids=[query[:60] for query, _ in TREES])
def test_tree(query: str, expected: str) -> None:
    assert written(build_tree(query, ZOO)) == expected


def test_columns_know_their_table() -> None:
    tree = build_tree("SELECT t2.nm, age FROM animal AS t1 JOIN keeper AS t2 ON t1.id = t2.animalID", ZOO)
    columns = [(node.table, node.column, node.table_words) for node in tree.nodes if node.type == "column"]
    assert columns == [
        ("keeper", "nm", "zoo keeper"),
        ("animal", "age", "animal"),
        ("animal", "id", "animal"),
        ("keeper", "animalid", "zoo keeper"),
    ]


def test_correlated_queries_see_the_tables_around_them() -> None:
    query = (
        "SELECT nm FROM animal AS a WHERE EXISTS (SELECT day FROM keeper AS k WHERE a.id = k.id AND age > 1)"
    )
    columns = [(node.table, node.column) for node in build_tree(query, ZOO).nodes if node.type == "column"]
    assert columns == [
        ("animal", "nm"), ("keeper", "day"), ("animal", "id"), ("keeper", "id"), ("animal", "age"),
    ]  # fmt: skip


def test_a_column_alone_is_found_by_the_schema() -> None:
    """`t2` says nothing without its FROM, but only one table has an `age`; two have a `nm`."""
    tree = build_tree("WHERE t2.age = 3 AND t2.nm = 'x'", ZOO)
    assert [node.table for node in tree.nodes if node.type == "column"] == ["animal", ""]


def test_names_without_schema_are_split() -> None:
    assert written(build_tree("SELECT homeTown FROM pet_owner")) == (
        "root(select(column(home, town)), from(table(pet, owner)))"
    )


DIALECTS = [
    ("SELECT TOP 3 [nm] FROM [animal] ORDER BY age DESC", "tsql", "limit(3)"),
    ("SELECT `nm` FROM `animal` LIMIT 3, 5", "mysql", "offset(3)"),
    ("SELECT nm::text FROM animal WHERE nm ILIKE 'a%'", "postgres", "function(ilike, column(name), 'a%')"),
    ("SELECT nm FROM animal FETCH FIRST 2 ROWS ONLY", "oracle", "limit(2"),
    ("SELECT * EXCEPT (age) FROM animal QUALIFY row_number() OVER (ORDER BY age) = 1", "bigquery", "qualify"),
    ("SELECT nm FROM animal SAMPLE (10)", "snowflake", "sample"),
    ("SELECT nm, explode(split(nm, ',')) FROM animal LATERAL VIEW explode(x) t AS y", "spark", "lateral"),
    ("SELECT arrayJoin([1, 2]) FROM animal PREWHERE age > 2", "clickhouse", "where(>(column(age), 2))"),
    ("FROM animal SELECT nm", "duckdb", "select(column(name))"),
]


@pytest.mark.parametrize(("query", "dialect", "part"), DIALECTS, ids=[case[1] for case in DIALECTS])
def test_other_dialects(query: str, dialect: str, part: str) -> None:
    assert part in written(build_tree(query, ZOO, dialect))


BAD = [
    ("", ClauseError, "starts with|empty"),
    ("   ", ClauseError, "starts with|empty"),
    ("SELECT FROM WHERE", ClauseError, "parse"),
    ("DROP TABLE animal", ClauseError, "expected one query"),
    ("SELECT 1; SELECT 2", ClauseError, "one statement"),
    ("WHERE", ClauseError, "parse|expected"),
    ("SELECT " + "(" * 300 + "1" + ")" * 300, ClauseError, "deep"),
    ("SELECT a FROM t" + " " * 200_000, ClauseError, "characters"),
]


@pytest.mark.parametrize(("query", "error", "says"), BAD, ids=[repr(case[0][:20]) for case in BAD])
def test_bad_input(query: str, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        build_tree(query, ZOO)


def test_bad_options() -> None:
    with pytest.raises(OptionError, match=r"tables\.json"):
        build_tree("SELECT 1", "zoo")  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="sqlite"):
        build_tree("SELECT 1", None, "sqlit")


def test_any_depth() -> None:
    """Thousands of operators and the deepest nesting that the parser is given: no recursion of ours."""
    tree = build_tree("SELECT a FROM t WHERE " + " AND ".join(f"a = {i}" for i in range(3000)))
    assert len(tree.children()[next(i for i, n in enumerate(tree.nodes) if n.label == "and")]) == 3000
    tree = build_tree("SELECT " + " + ".join("a" for _ in range(2000)) + " FROM t")
    assert sum(node.label == "+" for node in tree.nodes) == 1999
    nested = "SELECT a FROM t"
    for _ in range(40):
        nested = f"SELECT a FROM t WHERE a IN ({nested})"
    assert sum(node.label == "root" for node in build_tree(nested).nodes) == 41


names = st.sampled_from(["alpha", "beta", "gamma", "delta"])
values = st.one_of(st.integers(0, 99).map(str), st.sampled_from(["'x'", "'two words'", "'%part%'"]))


@st.composite
def queries(draw: st.DrawFn, depth: int = 0) -> str:
    """Random queries of Spider's SQL over four names."""
    table = draw(names)
    columns = st.builds(lambda name: f"{table}.{name}", names)
    operand = st.one_of(columns, st.builds("count({})".format, columns), st.just("count(*)"))
    simple = st.one_of(
        st.builds("{} {} {}".format, columns, st.sampled_from(["=", "<", ">=", "!=", "LIKE"]), values),
        st.builds("{} NOT IN ({}, {})".format, columns, values, values),
        st.builds("{} BETWEEN {} AND {}".format, columns, values, values),
        st.builds("NOT ({} = 1 OR {} = 2)".format, columns, columns),
    )
    if depth < 2:
        simple = st.one_of(simple, st.builds("{} IN ({})".format, columns, queries(depth=depth + 1)))
    condition = st.recursive(
        simple,
        lambda inner: st.builds("({} {} {})".format, inner, st.sampled_from(["AND", "OR"]), inner),
        max_leaves=4,
    )
    text = f"SELECT {', '.join(draw(st.lists(operand, min_size=1, max_size=3)))} FROM {table}"
    if draw(st.booleans()):
        text += f" WHERE {draw(condition)}"
    if draw(st.booleans()):
        text += f" GROUP BY {draw(columns)} HAVING {draw(operand)} > 1"
    if draw(st.booleans()):
        text += f" ORDER BY {draw(operand)} {draw(st.sampled_from(['ASC', 'DESC']))} LIMIT 3"
    elif depth < 2 and draw(st.booleans()):
        operation = draw(st.sampled_from(["UNION", "INTERSECT", "EXCEPT", "UNION ALL"]))
        text += f" {operation} {draw(queries(depth=depth + 1))}"
    return text


@given(queries())
def test_every_tree_is_well_formed(query: str) -> None:
    tree = build_tree(query)
    for position, (node, below) in enumerate(zip(tree.nodes, tree.children(), strict=True)):
        assert node.type in (STRUCTURE_TYPES if below else LEAF_TYPES)
        assert node.parent < position
        assert not below or node.label in STRUCTURE_LABELS
    assert tree.nodes[0].label == "root" and tree.nodes[0].parent == -1
