"""Mistakes that text-to-SQL agents make, one function each: a query in, a wrong query out.

A function returns None where the query has no place for its mistake. Mistakes are named like the functions.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from sqlglot import exp

Mistake = Callable[[exp.Expr, random.Random], "exp.Expr | None"]

_TURNED: dict[type[exp.Expr], type[exp.Expr]] = {
    exp.GT: exp.LT, exp.LT: exp.GT, exp.GTE: exp.LTE, exp.LTE: exp.GTE
}  # fmt: skip
_OTHER_AGGREGATE: dict[type[exp.Expr], type[exp.Expr]] = {
    exp.Avg: exp.Sum, exp.Sum: exp.Avg, exp.Max: exp.Min, exp.Min: exp.Max, exp.Count: exp.Max,
}  # fmt: skip
_UNASKED = ("status = 'active'", "is_deleted = 0", "year = 2026", "region = 'North'")


def dropped_filter(tree: exp.Expr, rng: random.Random) -> exp.Expr | None:
    """One condition of WHERE is gone, or all of it."""
    where = _one(list(tree.find_all(exp.Where)), rng)
    if where is None:
        return None
    if isinstance(where.this, exp.And):
        where.set("this", where.this.left if rng.random() < 0.5 else where.this.right)
    else:
        where.pop()
    return tree


def wrong_direction(tree: exp.Expr, rng: random.Random) -> exp.Expr | None:
    """A comparison, or an order, the other way round."""
    node = _one(list(tree.find_all(*_TURNED, exp.Ordered)), rng)
    if isinstance(node, exp.Ordered):
        node.set("desc", not node.args.get("desc"))
        return tree
    if node is None:
        return None
    return _put(tree, node, _TURNED[type(node)](this=node.this, expression=node.expression))


def wrong_aggregate(tree: exp.Expr, rng: random.Random) -> exp.Expr | None:
    """A sum for an average, the lowest for the highest."""
    found = [n for n in tree.find_all(*_OTHER_AGGREGATE) if not isinstance(n.this, (exp.Star, exp.Distinct))]
    node = _one(found, rng)
    return None if node is None else _put(tree, node, _OTHER_AGGREGATE[type(node)](this=node.this))


def missing_distinct(tree: exp.Expr, rng: random.Random) -> exp.Expr | None:
    """DISTINCT is gone."""
    selects = [select for select in tree.find_all(exp.Select) if select.args.get("distinct")]
    select = _one(selects, rng)
    if select is None:
        return None
    select.set("distinct", None)
    return tree


def wrong_value(tree: exp.Expr, rng: random.Random) -> exp.Expr | None:
    """A literal is cut short, or a number off by a factor."""
    literal = _one([n for n in tree.find_all(exp.Literal) if len(n.this) > 1], rng)
    if literal is None:
        return None
    cut = literal.this[: -max(1, len(literal.this) // 3)]
    literal.set("this", cut if literal.is_string or rng.random() < 0.5 else literal.this + "0")
    return tree


def extra_filter(tree: exp.Expr, rng: random.Random) -> exp.Expr | None:
    """A condition that nobody asked for."""
    select = tree.find(exp.Select)
    return None if select is None else _put(tree, select, select.where(rng.choice(_UNASKED), copy=True))


def missing_order(tree: exp.Expr, rng: random.Random) -> exp.Expr | None:
    """ORDER BY is gone, and LIMIT with it."""
    if not tree.args.get("order"):
        return None
    tree.set("order", None)
    tree.set("limit", None)
    return tree


def missing_column(tree: exp.Expr, rng: random.Random) -> exp.Expr | None:
    """One of the columns asked for is not returned."""
    select = tree.find(exp.Select)
    if select is None or len(select.expressions) < 2 or not isinstance(tree, exp.Select):
        return None
    select.expressions.pop(rng.randrange(len(select.expressions)))
    select.set("expressions", select.expressions)
    return tree


def all_columns(tree: exp.Expr, rng: random.Random) -> exp.Expr | None:
    """`SELECT *` for the columns asked for."""
    if not isinstance(tree, exp.Select) or tree.args.get("group") or tree.find(exp.AggFunc):
        return None
    tree.set("expressions", [exp.Star()])
    return tree


def missing_grouping(tree: exp.Expr, rng: random.Random) -> exp.Expr | None:
    """GROUP BY is gone, and HAVING with it."""
    if not tree.args.get("group"):
        return None
    tree.set("group", None)
    tree.set("having", None)
    return tree


MISTAKES: tuple[Mistake, ...] = (
    dropped_filter, wrong_direction, wrong_aggregate, missing_distinct, wrong_value, extra_filter,
    missing_order, missing_column, all_columns, missing_grouping,
)  # fmt: skip


def with_mistake(tree: exp.Expr, rng: random.Random, favoured: Sequence[str] = ()) -> tuple[exp.Expr, str]:
    """A copy of a query with one mistake, and its name.

    Args:
        favoured: mistakes to try before the others.
    """
    order = list(MISTAKES)
    rng.shuffle(order)
    order.sort(key=lambda mistake: mistake.__name__ not in favoured)
    for mistake in order:
        wrong = mistake(tree.copy(), rng)
        if wrong is not None and wrong != tree:
            return wrong, mistake.__name__
    raise AssertionError("extra_filter fits every query")


def cut_off(sql: str, rng: random.Random) -> str:
    """SQL that breaks off in the middle of an expression, as at a limit of tokens."""
    words = sql.split()
    return " ".join([*words[: max(2, round(len(words) * rng.uniform(0.5, 0.8)))], "("])


def _one(nodes: Sequence[exp.Expr], rng: random.Random) -> exp.Expr | None:
    return rng.choice(nodes) if nodes else None


def _put(tree: exp.Expr, node: exp.Expr, other: exp.Expr) -> exp.Expr:
    """A query with one node in the place of another, which may be its root."""
    if node is tree:
        return other
    node.replace(other)
    return tree
