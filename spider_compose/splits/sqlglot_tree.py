"""Parse trees where the grammar of Spider does not read a corpus: sqlglot's AST in the same form.

    query node      left-nested, one level per clause, as in the grammar: `select ___ from_ ___`, `___ where
                    ___`
    list            left-nested: `___ , ___` leaf            an identifier or literal by its text (values in
    single quotes), others by sqlglot's name any other node  sqlglot's name, its flags, and `___` for each
    child that has something in it: `eq ___ ___`,
                    `between ___ low ___ high ___`; children that are not the node's own (`this`,
                    `expression`, `expressions`) are named
    wrappers        nodes that add nothing to their only child (a column without table, WHERE under `where`)
                    are collapsed

Trees are read from the query's normal form, so letter case never makes a compound.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from spider_compose.splits.grammar import MAX_DEPTH, GrammarError, Node

if TYPE_CHECKING:
    from sqlglot import exp

_OWN = frozenset({"this", "expression", "expressions"})
_WRAPPERS = frozenset(
    {
        "column",
        "table",
        "tablealias",
        "identifier",
        "from",
        "where",
        "having",
        "group",
        "order",
        "limit",
        "offset",
    }
)
_SELECTED = ("this", "table", "expression", "expressions", "from_")
_CLAUSES = ("distinct", "joins", "where", "group", "having", "order", "limit", "offset")
_ORDER = {name: place for place, name in enumerate((*_SELECTED, *_CLAUSES))}


@lru_cache(maxsize=1)
def sqlglot_version() -> str:
    """Version of the installed sqlglot; its AST may change, so it stands in signatures."""
    import sqlglot

    return str(sqlglot.__version__)


def tree_parser(dialect: str) -> Callable[[str], Node]:
    """A function from a query to its tree, which raises `GrammarError` where sqlglot does not parse it.

    Raises:
        OptionError: sqlglot does not know the dialect.
    """
    from sqlglot import exp
    from sqlglot.errors import SqlglotError

    from spider_compose.sql.clauses import sql_dialect

    engine = sql_dialect(dialect)

    def read(query: str) -> Node:
        try:
            tokens = engine.tokenize(query)
            depth = 0
            for token in tokens:
                kind = token.token_type.name
                depth += (kind == "L_PAREN") - (kind == "R_PAREN")
                if depth > MAX_DEPTH:
                    raise GrammarError(f"parentheses nested deeper than {MAX_DEPTH} levels", token.start)
            trees = [tree for tree in engine.parser().parse(tokens, query) if tree is not None]
        except SqlglotError as error:
            raise GrammarError(f"sqlglot: {str(error).splitlines()[0]}", 0) from error
        except RecursionError as error:
            raise GrammarError("nested too deeply to parse", 0) from error
        if len(trees) != 1 or not isinstance(trees[0], exp.Query):
            raise GrammarError("expected one query", 0)
        return to_tree(trees[0])

    return read


def to_tree(expression: exp.Expr) -> Node:
    """sqlglot's AST as a `Node`, built without recursion."""
    from sqlglot import exp

    built: dict[int, Node] = {}
    for node in reversed(list(expression.walk(bfs=False))):
        if isinstance(node, exp.Literal):
            built[id(node)] = Node(f"'{node.this}'" if node.is_string else str(node.this))
        elif isinstance(node, exp.Identifier):
            built[id(node)] = Node(str(node.this).lower())
        else:
            built[id(node)] = _node(node, built, isinstance(node, exp.Query))
    return built[id(expression)]


def _node(node: exp.Expr, built: dict[int, Node], is_query: bool) -> Node:
    words: list[str] = [node.key]
    children: list[tuple[str, Node]] = []
    for name in sorted(node.args, key=lambda name: (_ORDER.get(name, len(_ORDER)), name)):
        value = node.args[name]
        if child := _child(value, built):
            children.append((name, child))
        elif value is True:
            words.append(name)
        elif isinstance(value, str | int | Enum) and value is not False and value != "":
            words.append(f"{name}={value.value if isinstance(value, Enum) else value}")
    if len(children) == 1 and len(words) == 1 and node.key in _WRAPPERS:
        return children[0][1]
    if is_query:
        return _query(" ".join(words), children)
    for name, _ in children:
        words.extend(["___"] if name in _OWN else [name, "___"])
    return Node(" ".join(words), tuple(child for _, child in children))


def _query(head: str, children: list[tuple[str, Node]]) -> Node:
    """One level per clause; what is selected and from where stand on the lowest."""
    own = [(name, child) for name, child in children if name in _SELECTED]
    words = [head]
    for name, _ in own:
        words.extend(["___"] if name in _OWN else [name, "___"])
    node = Node(" ".join(words), tuple(child for _, child in own))
    for name, child in children:
        if name not in _SELECTED:
            node = Node(f"___ {name} ___", (node, child))
    return node


def _child(value: Any, built: dict[int, Node]) -> Node | None:
    if not isinstance(value, list):
        return built.get(id(value))
    nodes = [node for item in value if (node := built.get(id(item)))]
    if not nodes:
        return None
    tree = nodes[0]
    for node in nodes[1:]:
        tree = Node("___ , ___", (tree, node))
    return tree
