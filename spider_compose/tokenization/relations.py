"""Relations between the nodes of a query's tree, as RGT reads them (Ma et al. 2021, section 3.2).

Structural nodes are related by directional relative depth (DRD) and by the database's schema (DBS), leaves by
their lowest common ancestor (LCA); relative position of leaves (RPR) follows from their order and is not
stored. All come from intervals: in preorder a node's descendants, and their leaves, stand next to each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from spider_compose.sql.schema import Schema
from spider_compose.sql.tree import Node

# Depths further apart than this are one relation.
MAX_DEPTH_DIFFERENCE = 4
# -4 .. 4 between a node and its ancestor or descendant, and one for all other pairs.
NUM_DEPTH_RELATIONS = 2 * MAX_DEPTH_DIFFERENCE + 2
UNRELATED_DEPTH = NUM_DEPTH_RELATIONS - 1

DATABASE_RELATIONS = (
    "none",
    "column, same table",
    "column, foreign key to",
    "column, foreign key from",
    "primary key of table",
    "column of table",
    "table with primary key",
    "table with column",
    "table, foreign key to",
    "table, foreign key from",
    "table, foreign keys both ways",
)
NUM_DATABASE_RELATIONS = len(DATABASE_RELATIONS)
# Both relations of a pair in one number: depth * NUM_DATABASE_RELATIONS + database, at most 109.
NUM_STRUCTURE_RELATIONS = NUM_DEPTH_RELATIONS * NUM_DATABASE_RELATIONS

# A table, or a column of it; the column is empty for a table.
_Entity: TypeAlias = tuple[str, str]


def depth_relations(depths: npt.NDArray[np.int64], ends: npt.NDArray[np.int64]) -> npt.NDArray[np.int8]:
    """DRD of all pairs of structural nodes.

    Args:
        depths: of shape `(num_structures,)`, 0 for the root; the nodes are in preorder.
        ends: of shape `(num_structures,)`: the position after a node's last structural descendant.

    Returns:
        Of shape `(num_structures, num_structures)`: depth of the second minus depth of the first, clipped to
        [-4, 4], plus 4, where one is the other's ancestor or both are the same; else `UNRELATED_DEPTH`.
    """
    positions = np.arange(len(depths))
    above = (positions[:, None] <= positions) & (positions < ends[:, None])
    difference = np.clip(depths - depths[:, None], -MAX_DEPTH_DIFFERENCE, MAX_DEPTH_DIFFERENCE)
    related = difference + MAX_DEPTH_DIFFERENCE
    return np.where(above | above.T, related, UNRELATED_DEPTH).astype(np.int8)


def database_relations(structures: Sequence[Node], schema: Schema | None) -> npt.NDArray[np.int8]:
    """DBS of all pairs of structural nodes, of shape `(num_structures, num_structures)`.

    Only tables and columns whose table is known have relations. Keys need the schema; which column belongs to
    which table is known without it.
    """
    relations = np.zeros((len(structures), len(structures)), dtype=np.int8)
    entities = [(at, (node.table, node.column)) for at, node in enumerate(structures) if node.table]
    known: dict[tuple[_Entity, _Entity], int] = {}
    for row, one in entities:
        for column, other in entities:
            if (one, other) not in known:
                known[one, other] = _database_relation(one, other, schema)
            relations[row, column] = known[one, other]
    return relations


def _database_relation(one: _Entity, other: _Entity, schema: Schema | None) -> int:
    if one[1] and other[1]:
        if schema and schema.refers(one, other):
            return 2
        if schema and schema.refers(other, one):
            return 3
        return int(one[0] == other[0])
    if one[1] or other[1]:
        if one[0] != other[0]:
            return 0
        table, name = one if one[1] else other
        column = schema.find_column(table, name) if schema else None
        return (4 if column and column.is_primary_key else 5) + (0 if one[1] else 2)
    forward = schema is not None and schema.links(one[0], other[0])
    backward = schema is not None and schema.links(other[0], one[0])
    return {(True, False): 8, (False, True): 9, (True, True): 10}.get((forward, backward), 0)


def lowest_common_ancestors(spans: npt.NDArray[np.int64], num_leaves: int) -> npt.NDArray[np.uint8]:
    """LCA of all pairs of leaves, as positions among the structural nodes.

    Args:
        spans: of shape `(num_structures, 2)`: the first leaf under a node, and the one after its last. At
            most 256 nodes.

    Returns:
        Of shape `(num_leaves, num_leaves)`; of a leaf with itself the nearest structural node, its parent.
    """
    ancestors = np.zeros((num_leaves, num_leaves), dtype=np.uint8)
    for position, (start, end) in enumerate(spans.tolist()):
        # A parent stands before its children, so the deepest node writes last.
        ancestors[start:end, start:end] = position
    return ancestors
