# ruff: noqa: E501 - the schema reads best with its columns in one line
"""Relations from intervals against their definitions, pair by pair, on random trees."""

from __future__ import annotations

import pytest

pytest.importorskip("transformers", reason="the extra `models` is not installed")

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from spider_compose.sql.schema import Schema
from spider_compose.sql.tree import Node, Tree, build_tree
from spider_compose.tokenization.relations import DATABASE_RELATIONS, database_relations
from spider_compose.tokenization.tokenizer import SQLTokenizer

SHOP = Schema.from_tables_json(
    {
        "db_id": "shop",
        "table_names_original": ["item", "sale", "twin"],
        "table_names": ["item", "sale", "twin"],
        "column_names_original": [[-1, "*"], [0, "id"], [0, "twin"], [1, "item"], [1, "day"], [2, "id"], [2, "item"]],
        "column_names": [[-1, "*"], [0, "id"], [0, "twin"], [1, "item"], [1, "day"], [2, "id"], [2, "item"]],
        "primary_keys": [1, 5],
        "foreign_keys": [[3, 1], [2, 5], [6, 1]],
    }
)  # fmt: skip


# A node is a leaf (None) or a list of children.
shapes = st.recursive(st.none(), lambda inner: st.lists(inner, min_size=1, max_size=4), max_leaves=25)


def tree_of(shape: list[object]) -> Tree:
    nodes: list[Node] = []

    def add(part: list[object] | None, parent: int) -> None:
        position = len(nodes)
        if part is None:
            nodes.append(Node("x", "token", parent))
            return
        nodes.append(Node("root" if parent < 0 else "function", "root" if parent < 0 else "unit", parent))
        for child in part:
            add(child, position)  # type: ignore[arg-type]

    add(shape, -1)
    return Tree(tuple(nodes))


@given(shapes.filter(lambda shape: shape is not None))
def test_trees_pair_by_pair(shape: list[object]) -> None:
    tree = tree_of(shape)
    features = TOKENIZER._tree(tree, None)
    structures = [at for at, node in enumerate(tree.nodes) if node.type != "token"]
    leaves = [at for at, node in enumerate(tree.nodes) if node.type == "token"]

    def line(node: int) -> list[int]:
        """The node and its ancestors, upwards."""
        found = [node]
        while tree.nodes[found[-1]].parent >= 0:
            found.append(tree.nodes[found[-1]].parent)
        return found

    assert [structures[at] for at in features["leaf_parents"]] == [tree.nodes[leaf].parent for leaf in leaves]
    for row, one in enumerate(structures):
        start, end = features["structure_spans"][row]
        assert leaves[start:end] == [leaf for leaf in leaves if one in line(leaf)]
        for column, other in enumerate(structures):
            depth, schema = divmod(int(features["structure_relations"][row, column]), len(DATABASE_RELATIONS))
            related = one in line(other) or other in line(one)
            difference = len(line(other)) - len(line(one))
            assert depth == (max(-4, min(4, difference)) + 4 if related else 9)
            assert schema == 0
    for row, one in enumerate(leaves):
        for column, other in enumerate(leaves):
            above = line(tree.nodes[one].parent)
            common = next(node for node in above if node in line(tree.nodes[other].parent))
            assert structures[features["leaf_ancestors"][row, column]] == common
    heights = [0] * len(tree.nodes)
    for at in range(len(tree.nodes) - 1, 0, -1):
        heights[tree.nodes[at].parent] = max(heights[tree.nodes[at].parent], heights[at] + 1)
    assert features["structure_heights"].tolist() == [heights[at] for at in structures]


TOKENIZER = SQLTokenizer.train([{"query": "SELECT x FROM x", "question": "x x x"}], vocab_size=340)


DATABASE = [
    ("item.id", "item.twin", "column, same table"),
    ("sale.item", "item.id", "column, foreign key to"),
    ("item.id", "sale.item", "column, foreign key from"),
    ("sale.day", "item.id", "none"),
    ("item.id", "item", "primary key of table"),
    ("item.twin", "item", "column of table"),
    ("item", "item.id", "table with primary key"),
    ("item", "item.twin", "table with column"),
    ("sale.day", "item", "none"),
    ("sale", "item", "table, foreign key to"),
    ("item", "sale", "table, foreign key from"),
    ("item", "twin", "table, foreign keys both ways"),
    ("sale", "twin", "none"),
]


@pytest.mark.parametrize(("one", "other", "expected"), DATABASE)
def test_database_relations(one: str, other: str, expected: str) -> None:
    def node(name: str) -> Node:
        table, _, column = name.partition(".")
        return Node("column" if column else "table", "column" if column else "table", 0, table, column)

    relations = database_relations([node(one), node(other)], SHOP)
    assert DATABASE_RELATIONS[relations[0, 1]] == expected


def test_relations_of_a_query() -> None:
    """Depth and schema stand in one byte; without the schema only the tables of columns are known."""
    query = "SELECT s.day FROM sale AS s JOIN item AS i ON s.item = i.id"
    for schema, expected in [(SHOP, {1, 2, 3, 4, 5, 6, 7, 8, 9}), (None, {1, 5, 7})]:
        features = TOKENIZER.encode_sql(query, schema, form="tree")
        relations = features["structure_relations"]
        assert relations.dtype == np.int8 and features["leaf_ancestors"].dtype == np.uint8
        assert relations.min() >= 0 and relations.max() < 110
        assert set((relations % len(DATABASE_RELATIONS)).ravel()) - {0} == expected
        structures = [node for node in build_tree(query, schema).nodes if node.label in ("table", "column")]
        assert len(structures) == 5
