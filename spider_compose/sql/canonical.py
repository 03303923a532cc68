"""A tree of a query -> its canonical text: aliases gone, every column as table.column, directions written.

Sequence models read this text, and two queries of a database mean the same to this package if their
canonical texts are equal. It is printed from the tree, so both forms of a query hold the same words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from spider_compose.sql.schema import Schema
from spider_compose.sql.tree import ARITHMETIC, LEAF_TYPES, SET_LABELS, Node, Tree, build_tree

_ARITHMETIC = frozenset(ARITHMETIC.values())
_PRECEDENCE = {"||": 3, "*": 2, "/": 2, "%": 2, "+": 1, "-": 1}
# Leaves of the type of a function's name, but operands: they stay where they are.
_CONSTANTS = frozenset(("null", "true", "false"))
# Between LIKE's wildcards stand the words that a sentence can copy.
_VALUE_WORD = re.compile(r"%|[^%\s]+")


@dataclass(frozen=True)
class Word:
    """One word of the source side.

    Attributes:
        text: without white space.
        copyable: whether it is part of a name, a number or a value, so that a model may copy it.
    """

    text: str
    copyable: bool = False


def canonical_text(query: str, schema: Schema | None = None, dialect: str = "sqlite") -> str:
    """The canonical text of a query, or of clauses without their SELECT.

    >>> canonical_text("SELECT T1.name FROM pet_owner AS T1 ORDER BY T1.name")
    'select pet owner . name from pet owner order by pet owner . name asc'

    Args and errors are those of `build_tree`.
    """
    return " ".join(word.text for word in canonical_words(build_tree(query, schema, dialect)))


def leaf_words(node: Node) -> list[Word]:
    """The words of a leaf: a text value is cut at white space and at LIKE's `%`, its quotes are words."""
    text, copyable = node.label, node.type == "token"
    if not copyable or len(text) < 2 or text[0] != "'" or text[-1] != "'":
        return [Word(word, copyable) for word in text.split()] or [Word("''")]
    words = [Word(word, word != "%") for word in _VALUE_WORD.findall(text[1:-1])]
    return [Word("'"), *words, Word("'")]


def canonical_words(tree: Tree) -> Iterator[Word]:
    """The words of the canonical text, in order."""
    children = tree.children()
    stack: list[int | str | Word] = [0]
    while stack:
        part = stack.pop()
        if isinstance(part, Word):
            yield part
        elif isinstance(part, str):
            yield Word(part)
        elif tree.nodes[part].type in LEAF_TYPES:
            yield from leaf_words(tree.nodes[part])
        else:
            stack += reversed(_print(tree, part, children))


_Parts = list[int | str | Word]


def _print(tree: Tree, position: int, children: list[list[int]]) -> _Parts:
    """One structural node: what to write, with the positions of its children still to be printed."""
    node, own = tree.nodes[position], children[position]
    nodes = tree.nodes
    leading = [
        child
        for child in own
        if nodes[child].type in ("distinct", "not", "agg") and nodes[child].label not in _CONSTANTS
    ]
    rest: _Parts = [child for child in own if child not in leading]
    if node.type == "root":
        return _bracketed(rest) if _needs_brackets_as_query(tree, position, children) else rest
    if node.type == "set":
        left, right = (rest[:1], rest[1:]) if len(rest) > 1 else ([], rest)
        return [*left, node.label, *leading, *right]
    if node.type == "table":
        return rest  # FROM has written a join's side already
    if node.type == "column":
        owner: _Parts = [Word(word, True) for word in node.table_words.split()]
        name = [*owner, ".", *rest] if owner else rest
        aggregates = [child for child in leading if nodes[child].type == "agg"]
        if not aggregates:
            return [*leading, *name]
        return [aggregates[0], "(", *leading[len(aggregates) :], *name, ")"]
    if node.type == "clause":
        return _print_clause(tree, position, children, leading)
    if node.type == "logic":
        words = _between(rest, node.label) if node.label != "not" else ["not", *rest]
        return _bracketed(words) if _needs_brackets(node, nodes) else words
    if node.type == "condition":
        is_query = len(rest) == 2 and nodes[own[-1]].type == "root"
        words = _print_condition(node.label, leading, rest, is_query)
        return _bracketed(words) if _is_operand(nodes[node.parent]) else words
    if node.label in _ARITHMETIC:
        words = _between(rest, node.label)
        return _bracketed(words) if _needs_brackets_in_sum(tree, position, children) else words
    return [*leading, "(", *_between(rest, ","), ")"]


def _print_clause(tree: Tree, position: int, children: list[list[int]], leading: list[int]) -> _Parts:
    nodes, node, own = tree.nodes, tree.nodes[position], children[position]
    if node.label == "from":
        return ["from", *_print_from(tree, own, children)]
    if node.label == "with":
        words: _Parts = []
        for child in own:
            words += ["as", child] if nodes[child].type == "root" else [*([","] if words else []), child]
        return ["with", *words]
    words = [*leading] if node.label == "select" else []
    items = [child for child in own if child not in words]
    for child in items:
        words += [child] if child == items[0] or nodes[child].type == "order" else [",", child]
    return [node.label, *words]


def _print_from(tree: Tree, own: list[int], children: list[list[int]]) -> _Parts:
    """`a join b join c on x and y`; a join's side stands before its `join`."""
    tables: _Parts = []
    conditions: _Parts = []
    for child in own:
        node = tree.nodes[child]
        if node.type in ("condition", "logic"):
            conditions.append(child)
        elif node.type in ("agg", "unit"):  # the side of a join with a query; a sample of the table before
            tables.append(child)
        else:
            sides = [at for at in children[child] if node.type == "table" and tree.nodes[at].type == "agg"]
            tables += [*sides, "join", child] if tables else [child]
    return [*tables, *(["on", *_between(conditions, "and")] if conditions else [])]


def _print_condition(label: str, leading: list[int], rest: _Parts, is_query: bool) -> _Parts:
    if label == "exists":
        return [*leading, "exists", *rest]
    left, right = rest[:1], rest[1:]
    if label == "in":
        values = right if is_query else _bracketed(_between(right, ","))
        return [*left, *leading, "in", *values]
    if label == "between":
        return [*left, *leading, "between", *_between(right, "and")]
    if label == "is":
        return [*left, "is", *leading, *right]
    if label == "like":
        return [*left, *leading, "like", *right]
    return [*leading, *left, label, *right]


def _between(parts: _Parts, separator: str) -> _Parts:
    words: _Parts = []
    for part in parts:
        words += [separator, part] if words else [part]
    return words


def _bracketed(words: _Parts) -> _Parts:
    return ["(", *words, ")"]


def _needs_brackets_as_query(tree: Tree, position: int, children: list[list[int]]) -> bool:
    """A nested query has brackets; so has an operand of a set operation that would read otherwise."""
    parent = tree.nodes[position].parent
    if parent < 0:
        return False
    if tree.nodes[parent].type != "set":
        return True
    own = {tree.nodes[child].label for child in children[position]}
    is_right = children[parent][-1] == position and len(children[parent]) > 1
    return bool(own & {"order by", "limit", "offset"}) or (is_right and bool(own & set(SET_LABELS)))


def _needs_brackets(node: Node, nodes: tuple[Node, ...]) -> bool:
    parent = nodes[node.parent]
    if parent.type == "logic":
        return parent.label == "not" or (parent.label == "and" and node.label == "or")
    return _is_operand(parent) or (parent.label == "from" and node.label == "or")


def _is_operand(parent: Node) -> bool:
    """Whether a truth value stands under a comparison or a sum, as in `(a > 1) + (b > 1)`."""
    return parent.type == "condition" or (parent.type == "unit" and parent.label in _ARITHMETIC)


def _needs_brackets_in_sum(tree: Tree, position: int, children: list[list[int]]) -> bool:
    node = tree.nodes[position]
    parent = tree.nodes[node.parent]
    if parent.label not in _ARITHMETIC or parent.type != "unit":
        return False
    above, own = _PRECEDENCE[parent.label], _PRECEDENCE[node.label]
    return own < above or (own == above and children[node.parent][0] != position)
