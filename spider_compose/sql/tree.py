"""A query -> the ordered tree that TreeLSTM and RGT read (Ma et al. 2021, section 3).

    SELECT count(*) FROM singer WHERE age > 20

    root
      select   column(count, *)
      from     table(singer)
      where    >(column(age), 20)

`root` stands for every query, nested ones too; its children are the clauses present, in SQL's order. Nodes
with children are structural and have one of a few labels (`STRUCTURE_LABELS`); leaves hold the words: names
as the schema says them, numbers, values, functions. Departures from the first implementation: a set operation
holds its left and its right query once each, names are resolved per SELECT, conditions fold by the precedence
of AND, OR and NOT, a table that one FROM names twice is numbered, and whatever SQL has beyond Spider's
becomes a `function` node with its parts, so that no part of a query is lost. Nothing here recurses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from sqlglot import exp

from spider_compose.errors import OptionError
from spider_compose.sql.clauses import parse_query, sql_dialect
from spider_compose.sql.schema import Schema, readable_name
from spider_compose.sql.scope import UNKNOWN_TABLE, Scope

STRUCTURE_TYPES = ("root", "clause", "set", "table", "column", "unit", "condition", "logic")
LEAF_TYPES = ("token", "agg", "distinct", "order", "not")

CLAUSE_LABELS = (
    "with", "select", "from", "where", "group by", "having", "order by", "limit", "offset",
)  # fmt: skip
SET_LABELS = ("union", "intersect", "except")
COMPARISONS: dict[type[exp.Expr], str] = {
    exp.EQ: "=", exp.NEQ: "!=", exp.LT: "<", exp.LTE: "<=", exp.GT: ">", exp.GTE: ">=",
    exp.Like: "like", exp.Is: "is",
}  # fmt: skip
ARITHMETIC: dict[type[exp.Expr], str] = {
    exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Div: "/", exp.Mod: "%", exp.DPipe: "||",
}  # fmt: skip
LOGIC_LABELS = ("and", "or", "not")
STRUCTURE_LABELS = (
    "root", *CLAUSE_LABELS, *SET_LABELS, "table", "column", "function", *ARITHMETIC.values(),
    *COMPARISONS.values(), "in", "between", "exists", *LOGIC_LABELS,
)  # fmt: skip

_AGGREGATES: dict[type[exp.Expr], str] = {
    exp.Count: "count", exp.Sum: "sum", exp.Avg: "avg", exp.Min: "min", exp.Max: "max",
}  # fmt: skip


@dataclass(frozen=True)
class Node:
    """One node of a tree.

    Attributes:
        label: of a structural node one of `STRUCTURE_LABELS`; of a leaf its text: a word of a name, a number,
            or a text value in single quotes, which may have several words.
        type: one of `STRUCTURE_TYPES` or `LEAF_TYPES`.
        parent: position of the parent in the tree, -1 for the root.
        table: of table and column nodes the table's name, lower case; empty where it is not known.
        column: of column nodes the column's name, lower case; `*` for all columns.
        table_words: of column nodes the table's readable name.
    """

    label: str
    type: str
    parent: int
    table: str = ""
    column: str = ""
    table_words: str = ""


@dataclass(frozen=True)
class Tree:
    """One query or some of its clauses; the nodes are in preorder, children in the query's order."""

    nodes: tuple[Node, ...]

    def children(self) -> list[list[int]]:
        """Positions of every node's children, in order."""
        found: list[list[int]] = [[] for _ in self.nodes]
        for position, node in enumerate(self.nodes[1:], 1):
            found[node.parent].append(position)
        return found


def build_tree(query: str, schema: Schema | None = None, dialect: str = "sqlite") -> Tree:
    """Read a query, or clauses of one without their SELECT, as an ordered tree.

    Args:
        schema: resolves names and gives their readable forms; without it names are split into words.
        dialect: any name sqlglot knows.

    Raises:
        ClauseError: the text is empty, too long or too deep, is not one query, or does not parse.
        OptionError: sqlglot does not know the dialect, or `schema` is no Schema.
    """
    if schema is not None and not isinstance(schema, Schema):
        raise OptionError(
            f"`schema` must be a Schema or None, but got {type(schema).__name__}. "
            "Schema.from_tables_json reads an entry of Spider's tables.json."
        )
    engine = sql_dialect(dialect)
    tokens, parsed = parse_query(query, engine, fragment=True)
    # A fragment was given `SELECT * FROM t` in front, which its tokens don't have.
    first = tokens[0].token_type.name
    added = None if first in ("SELECT", "WITH", "FROM", "L_PAREN") else _leftmost_select(parsed)
    return Tree(tuple(_Builder(schema, dialect == "sqlite", added).nodes(parsed)))


def _leftmost_select(query: exp.Expr) -> exp.Expr:
    current: Any = query
    while isinstance(current, (exp.SetOperation, exp.Subquery)):
        current = current.this
    return current  # type: ignore[no-any-return]


@dataclass(frozen=True)
class _Leaf:
    text: str
    type: str = "token"


_NOT = _Leaf("not", "not")


@dataclass(frozen=True)
class _Branch:
    """A structural node; `parts` still to be expanded."""

    label: str
    type: str
    parts: Sequence[_Part]
    table: str = ""
    column: str = ""
    table_words: str = ""


@dataclass(frozen=True)
class _Pending:
    """A part of sqlglot's tree, with the names that hold there."""

    node: exp.Expr
    scope: Scope


_Part: TypeAlias = "_Leaf | _Branch | _Pending"
_Expander = Callable[["_Builder", Any, Scope], Sequence[_Part]]


class _Builder:
    """Expands sqlglot's tree from the root down, with a stack of its own."""

    def __init__(self, schema: Schema | None, loose_quotes: bool, added: exp.Expr | None) -> None:
        """`loose_quotes`: "text" may be a value, as in SQLite; `added`: the SELECT that a fragment lacks."""
        self.schema = schema
        self.loose_quotes = loose_quotes
        self.added = added

    def nodes(self, query: exp.Expr) -> Iterator[Node]:
        stack: list[tuple[_Part, int]] = [(_Pending(query, Scope(self.schema)), -1)]
        count = 0
        while stack:
            part, parent = stack.pop()
            if isinstance(part, _Leaf):
                yield Node(part.text, part.type, parent)
                count += 1
            elif isinstance(part, _Branch):
                yield Node(part.label, part.type, parent, part.table, part.column, part.table_words)
                stack += [(child, count) for child in reversed(part.parts)]
                count += 1
            else:
                expanded = _expander(type(part.node))(self, part.node, part.scope)
                stack += [(child, parent) for child in reversed(expanded)]

    def pending(self, nodes: Sequence[exp.Expr | None], scope: Scope) -> list[_Part]:
        return [_Pending(node, scope) for node in nodes if node is not None]

    # Queries

    def query(self, node: exp.Expr, scope: Scope) -> Sequence[_Part]:
        """A `root`, for a SELECT, a set operation or a bracketed query."""
        if isinstance(node, exp.Subquery) and not any(node.args.get(name) for name in (*_CLAUSES, "with_")):
            return [_Pending(node.this, scope)]
        inner = self.declare(_leftmost_select(node), scope)  # the first SELECT's names order a set operation
        parts: list[_Part] = []
        if with_ := node.args.get("with_"):
            parts.append(self.common_tables(with_, scope))
        if isinstance(node, exp.SetOperation):
            parts.append(self.set_operation(node, scope))
        elif isinstance(node, exp.Subquery):
            parts.append(_Pending(node.this, scope))
        elif node is not self.added:
            parts += self.select_and_from(node, inner)
        parts += self.clauses(node, inner)
        return [_Branch("root", "root", parts)]

    def declare(self, select: exp.Expr, parent: Scope) -> Scope:
        """The scope of a SELECT: its tables, and its items that have an alias."""
        scope = Scope(self.schema, parent)
        for source in _sources(select) if select is not self.added else ():
            scope.add_table(source)
        for item in select.args.get("expressions") or ():
            if isinstance(item, exp.Alias):
                scope.items.setdefault(item.alias.lower(), item.this)
        return scope

    def common_tables(self, with_: exp.Expr, scope: Scope) -> _Part:
        parts: list[_Part] = []
        for table in with_.expressions:
            parts.append(_Branch("table", "table", _word_leaves(readable_name(table.alias))))
            parts.append(_Pending(table.this, scope))
        return _Branch("with", "clause", parts)

    def set_operation(self, node: exp.SetOperation, scope: Scope) -> _Part:
        label = type(node).__name__.lower()
        keeps_all = [_Leaf("all", "distinct")] if node.args.get("distinct") is False else []
        is_added = node.this is self.added
        has_left = not is_added or any(node.this.args.get(name) for name in _CLAUSES)
        operands = self.pending([node.this if has_left else None, node.expression], scope)
        return _Branch(label, "set", [*keeps_all, *operands])

    def select_and_from(self, select: exp.Expr, scope: Scope) -> list[_Part]:
        scope = scope.without_items()
        distinct = select.args.get("distinct")
        head: list[_Part] = []
        if isinstance(distinct, exp.Expr):
            head = [_Leaf("distinct", "distinct"), *self.pending([distinct.args.get("on")], scope)]
        parts: list[_Part] = [_Branch("select", "clause", [*head, *self.pending(select.expressions, scope)])]
        if from_ := self.from_clause(select, scope):
            parts.append(_Branch("from", "clause", from_))
        return parts

    def from_clause(self, select: exp.Expr, scope: Scope) -> list[_Part]:
        """The tables, then the conditions that join them."""
        tables: list[_Part] = []
        conditions: list[_Part] = []
        sides: list[Any] = [None, *(select.args.get("joins") or ())] if select.args.get("from_") else []
        references = list(scope.tables.values())
        for position, (source, join) in enumerate(zip(_sources(select), sides, strict=False)):
            kinds = [join.method, join.side, join.kind] if join is not None else []
            leaves = [_Leaf(kind.lower(), "agg") for kind in kinds if kind and kind not in _PLAIN_JOINS]
            if isinstance(source, exp.Table) and isinstance(source.this, exp.Identifier):
                words = _word_leaves(references[position].words)
                tables.append(_Branch("table", "table", [*leaves, *words], table=references[position].name))
                tables += self.pending([source.args.get("sample"), *(source.args.get("pivots") or ())], scope)
            else:
                tables += [*leaves, *self.pending([source], scope)]
            if join is not None:
                on = join.args.get("on")  # sqlglot writes ON TRUE where an outer join has no condition
                conditions += self.pending([None if isinstance(on, exp.Boolean) else on], scope)
                conditions += self.shared_columns(join, position, scope)
        return tables + conditions

    def shared_columns(self, join: exp.Expr, position: int, scope: Scope) -> list[_Part]:
        """USING (a, b) as the equalities it stands for."""
        aliases = list(scope.tables)
        return [
            _Branch(
                "=",
                "condition",
                [
                    _Pending(exp.column(name.copy(), table=aliases[at]), scope)
                    for at in (position - 1, position)
                ],
            )
            for name in join.args.get("using") or ()
        ]

    def clauses(self, node: exp.Expr, scope: Scope) -> list[_Part]:
        """What follows FROM. Clauses that Spider lacks come last, as functions."""
        parts: list[_Part] = []
        for name, label in _CLAUSES.items():
            clause = node.args.get(name)
            if not clause:
                continue
            if label:
                names = {"where": scope.without_items(), "order by": scope.of_order()}.get(label, scope)
                parts.append(_Branch(label, "clause", self.pending(_clause_parts(clause), names)))
            else:
                nodes = clause if isinstance(clause, list) else [clause]
                parts += self.pending([found for found in nodes if isinstance(found, exp.Expr)], scope)
        return parts

    # Values and names

    def column(self, node: exp.Column, scope: Scope) -> Sequence[_Part]:
        name = node.name
        if not node.table:
            if self.is_text(node, scope):
                return [_Leaf(f"'{name}'")]
            item = scope.item(name)
            if item is not None:  # an item's own alias, as in ORDER BY n; inside the item it does not hold
                return [_Pending(item, scope.without_items())]
        return [self.column_node(node, scope)]

    def is_text(self, node: exp.Column, scope: Scope) -> bool:
        """Whether "name" is a text: SQLite reads it so where no column has this name."""
        if not self.loose_quotes or not node.this.args.get("quoted"):
            return False
        if self.schema is not None:
            return not scope.is_column(node.name)
        return isinstance(node.parent, (*COMPARISONS, exp.In, exp.Between)) and node.arg_key != "this"

    def column_node(
        self, node: exp.Star | exp.Column, scope: Scope, aggregate: Sequence[_Leaf] = ()
    ) -> _Branch:
        if isinstance(node, exp.Star) or isinstance(node.this, exp.Star):
            qualifier = node.text("table")
            table = scope.resolve("*", qualifier) if qualifier else UNKNOWN_TABLE
            name, words = "*", "*"
        else:
            table = scope.resolve(node.name, node.table)
            name = node.name.lower()
            words = scope.column_words(table.name, node.name)
        return _Branch(
            "column",
            "column",
            [*aggregate, *_word_leaves(words)],
            table=table.name,
            column=name,
            table_words=table.words,
        )

    def star(self, node: exp.Star, scope: Scope) -> Sequence[_Part]:
        if any(node.args.values()):  # * EXCEPT (a)
            return self.function(node, scope)
        return [self.column_node(node, scope)]

    def aggregate(self, node: exp.Expr, scope: Scope) -> Sequence[_Part]:
        """COUNT, SUM, AVG, MIN, MAX: part of the column they take, or a function of anything else."""
        leaves = [_Leaf(_AGGREGATES[type(node)], "agg")]
        arguments = [node.this, *(node.args.get("expressions") or ())]
        if isinstance(node.this, exp.Distinct):
            leaves.append(_Leaf("distinct", "distinct"))
            arguments = list(node.this.expressions)
        arguments = [_unwrap(argument) for argument in arguments if argument is not None]
        only = arguments[0] if len(arguments) == 1 else None
        # Of `* EXCEPT (a)` no column is left; a column's name may also stand for a text or for an item.
        if isinstance(only, exp.Star) and not any(only.args.values()):
            return [self.column_node(only, scope, leaves)]
        if isinstance(only, exp.Column) and isinstance(self.column(only, scope)[0], _Branch):
            return [self.column_node(only, scope, leaves)]
        return [_Branch("function", "unit", [*leaves, *self.pending(arguments, scope)])]

    def literal(self, node: exp.Literal, scope: Scope) -> Sequence[_Part]:
        return [_Leaf(f"'{node.this}'" if node.is_string else str(node.this))]

    def marked_text(self, node: exp.Expr, scope: Scope) -> Sequence[_Part]:
        """N'text', X'ff' and the like."""
        return [_Leaf(f"'{node.this}'")]

    def negative(self, node: exp.Neg, scope: Scope) -> Sequence[_Part]:
        if isinstance(node.this, exp.Literal) and not node.this.is_string:
            return [_Leaf(f"-{node.this.this}")]
        return self.function(node, scope)

    def constant(self, node: exp.Expr, scope: Scope) -> Sequence[_Part]:
        return [_Leaf(node.sql().lower(), "agg")]

    def name(self, node: exp.Expr, scope: Scope) -> Sequence[_Part]:
        return list(_word_leaves(readable_name(node.name) if node.name else "?"))

    def inner(self, node: exp.Expr, scope: Scope) -> Sequence[_Part]:
        return self.pending([node.this], scope)

    # Conditions and arithmetic

    def comparison(self, node: exp.Expr, scope: Scope, negated: Sequence[_Leaf] = ()) -> Sequence[_Part]:
        right = node.expression
        if isinstance(node, exp.Is) and isinstance(right, exp.Not):  # IS NOT NULL in some dialects
            negated, right = [_NOT], right.this
        if node.args.get("negate"):  # NOT LIKE
            negated = [] if negated else [_NOT]
        operands = self.pending([node.this, right], scope)
        return [_Branch(COMPARISONS[type(node)], "condition", [*negated, *operands])]

    def membership(self, node: exp.Expr, scope: Scope, negated: Sequence[_Leaf] = ()) -> Sequence[_Part]:
        values = [
            node.this,
            node.args.get("query"),
            *node.expressions,
            node.args.get("unnest"),
            node.args.get("field"),
        ]
        return [_Branch("in", "condition", [*negated, *self.pending(values, scope)])]

    def between(self, node: exp.Expr, scope: Scope, negated: Sequence[_Leaf] = ()) -> Sequence[_Part]:
        operands = self.pending([node.this, node.args.get("low"), node.args.get("high")], scope)
        return [_Branch("between", "condition", [*negated, *operands])]

    def exists(self, node: exp.Expr, scope: Scope, negated: Sequence[_Leaf] = ()) -> Sequence[_Part]:
        return [_Branch("exists", "condition", [*negated, _Pending(node.this, scope)])]

    def negation(self, node: exp.Not, scope: Scope) -> Sequence[_Part]:
        """NOT is a leaf of the one condition it negates, and a node over anything else."""
        operand = _unwrap(node.this)
        expander = _CONDITIONS.get(type(operand))
        if expander is not None:
            return expander(self, operand, scope, [_NOT])
        return [_Branch("not", "logic", [_Pending(operand, scope)])]

    def connection(self, node: exp.Expr, scope: Scope) -> Sequence[_Part]:
        """AND or OR: a chain of one of them is one node."""
        label = "and" if isinstance(node, exp.And) else "or"
        return [_Branch(label, "logic", self.pending(_chain(node), scope))]

    def arithmetic(self, node: exp.Expr, scope: Scope) -> Sequence[_Part]:
        return [_Branch(ARITHMETIC[type(node)], "unit", self.pending([node.this, node.expression], scope))]

    def ordered(self, node: exp.Ordered, scope: Scope) -> Sequence[_Part]:
        direction = _Leaf("desc" if node.args.get("desc") else "asc", "order")
        return [_Pending(node.this, scope), direction]

    # All else

    def function(self, node: exp.Expr, scope: Scope) -> Sequence[_Part]:
        """A function, or anything that SQL has and Spider lacks: its name, then its parts."""
        parts: list[_Part] = [_NOT] if node.args.get("negate") else []
        parts += [_Leaf(word, "agg") for word in _function_name(node).split()]
        for key, value in node.args.items():
            if key == "this" and isinstance(node, exp.Anonymous):
                continue
            for argument in value if isinstance(value, list) else [value]:
                if isinstance(argument, exp.TableAlias):
                    continue  # a name for the result, as other aliases gone
                if isinstance(argument, exp.Expr):
                    parts.append(_Pending(argument, scope))
                elif isinstance(argument, str) and argument.strip():
                    parts.append(_Leaf(argument.lower(), "agg"))
        return [_Branch("function", "unit", parts)]


# Joins that need no word of their own beside `join`.
_PLAIN_JOINS = {"", "INNER", "CROSS", "OUTER", "JOIN"}

# Arguments of sqlglot's query nodes after FROM, and the label of their clause; None: a function.
_CLAUSES: dict[str, str | None] = {
    "laterals": None, "pivots": None, "match": None, "sample": None, "connect": None, "prewhere": "where",
    "where": "where", "group": "group by", "having": "having", "qualify": None, "windows": None,
    "distribute": None, "sort": None, "cluster": None, "order": "order by", "limit": "limit",
    "offset": "offset", "locks": None, "into": None,
}  # fmt: skip


def _sources(select: exp.Expr) -> list[exp.Expr]:
    from_ = select.args.get("from_")
    if from_ is None:
        return []
    return [from_.this, *(join.this for join in select.args.get("joins") or ())]


def _clause_parts(clause: exp.Expr) -> list[exp.Expr]:
    """The content of a clause node, whichever arguments hold it."""
    found = []
    for value in clause.args.values():
        values = value if isinstance(value, list) else [value]
        found += [part for part in values if isinstance(part, exp.Expr)]
    return found


def _word_leaves(words: str) -> list[_Leaf]:
    return [_Leaf(word) for word in words.split()] or [_Leaf("?")]


def _unwrap(node: exp.Expr) -> exp.Expr:
    while isinstance(node, exp.Paren):
        node = node.this
    return node


def _chain(node: exp.Expr) -> list[exp.Expr]:
    """The operands of nested ANDs (or ORs), from left to right."""
    kind, operands, stack = type(node), [], [node]
    while stack:
        current = _unwrap(stack.pop())
        if type(current) is kind:
            stack += [current.expression, current.this]
        else:
            operands.append(current)
    return operands


def _function_name(node: exp.Expr) -> str:
    if isinstance(node, exp.Anonymous):
        return readable_name(str(node.name)) or "function"
    name = node.sql_name() if isinstance(node, exp.Func) else node.key
    return name.lower().replace("_", " ")


_CONDITIONS: dict[type[exp.Expr], Callable[..., Sequence[_Part]]] = {
    **dict.fromkeys(COMPARISONS, _Builder.comparison),
    exp.In: _Builder.membership,
    exp.Between: _Builder.between,
    exp.Exists: _Builder.exists,
}

_EXPANDERS: dict[type[exp.Expr], _Expander] = {
    **_CONDITIONS,
    **dict.fromkeys(ARITHMETIC, _Builder.arithmetic),
    **dict.fromkeys(_AGGREGATES, _Builder.aggregate),
    exp.And: _Builder.connection,
    exp.Or: _Builder.connection,
    exp.Not: _Builder.negation,
    exp.Select: _Builder.query,
    exp.SetOperation: _Builder.query,
    exp.Subquery: _Builder.query,
    exp.Column: _Builder.column,
    exp.Star: _Builder.star,
    exp.Literal: _Builder.literal,
    exp.Neg: _Builder.negative,
    **dict.fromkeys((exp.National, exp.RawString, exp.HexString, exp.ByteString), _Builder.marked_text),
    exp.Null: _Builder.constant,
    exp.Boolean: _Builder.constant,
    exp.DataType: _Builder.constant,
    exp.Identifier: _Builder.name,
    exp.Var: _Builder.name,
    exp.Paren: _Builder.inner,
    exp.Alias: _Builder.inner,
    exp.TsOrDsToDate: _Builder.inner,  # marks of sqlglot around dates, written nowhere
    exp.TsOrDsToTimestamp: _Builder.inner,
    exp.Ordered: _Builder.ordered,
}


def _expander(kind: type[exp.Expr]) -> _Expander:
    """The rule for a node class: its own, or that of the nearest base that has one."""
    if kind not in _EXPANDERS:
        rules = (_EXPANDERS[base] for base in kind.__mro__ if base in _EXPANDERS)
        _EXPANDERS[kind] = next(rules, _Builder.function)
    return _EXPANDERS[kind]
