"""Aliases in clauses that stand without their FROM: `WHERE T1.age > 20` -> `WHERE singer.age > 20`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from spider_compose.sql.clauses import Clause, sql_dialect

if TYPE_CHECKING:
    from sqlglot.tokens import Token

# Token types that end a list of tables; what follows is a condition or another clause.
_ENDS_FROM = {"WHERE", "GROUP_BY", "HAVING", "ORDER_BY", "LIMIT", "INTERSECT", "UNION", "EXCEPT", "SELECT"}
_NO_ALIAS = {
    "ON",
    "USING",
    "CROSS",
    "INNER",
    "LEFT",
    "RIGHT",
    "FULL",
    "NATURAL",
    "JOIN",
    "OUTER",
    "SEMICOLON",
}


@dataclass
class _Scope:
    """The tables one SELECT reads: what a qualifier can stand for."""

    tables: dict[str, str | None] = field(
        default_factory=dict
    )  # alias or name, lower case -> table as written
    reads: list[str] = field(default_factory=list)  # every table, lower case, as often as it is read


def resolve_aliases(clauses: Sequence[Clause], dialect: str = "sqlite") -> tuple[Clause, ...]:
    """Name tables instead of aliases in all clauses but the first, whose FROM they come from.

    >>> from spider_compose.sql.clauses import split_clauses
    >>> [clause.sql for clause in resolve_aliases(split_clauses("SELECT T1.a FROM t AS T1 WHERE T1.b = 1"))]
    ['SELECT T1.a FROM t AS T1', 'WHERE t.b = 1']

    Only qualifiers that mean the outer query's tables are replaced; a nested query keeps its own aliases, and
    white space and case stay as they are. An alias stays where a table's name could not replace it: the table
    is read twice (a self join), the alias is of a nested query, or a nested query would take the name for its
    own table. All stay where an alias is the name of another table in the same FROM.

    Args:
        clauses: all clauses of one query, see `split_clauses`.
    """
    engine = sql_dialect(dialect)
    outer = _Scope()
    first = engine.tokenize(clauses[0].sql)
    _read_tables(first, clauses[0].sql, outer)
    names = {
        alias: table
        for alias, table in outer.tables.items()
        if table is not None and alias != _bare(table) and outer.reads.count(_bare(table)) == 1
    }
    # FROM a AS b JOIN b AS a: next to an alias that has to stay, a table's name would read as the other's.
    crossed = any(
        alias in outer.reads and alias != _bare(table or "") for alias, table in outer.tables.items()
    )
    if crossed or not names:
        return tuple(clauses)
    return (
        clauses[0],
        *(replace(one, sql=_resolved(one.sql, engine.tokenize(one.sql), names)) for one in clauses[1:]),
    )


def _resolved(sql: str, tokens: Sequence[Token], names: dict[str, str]) -> str:
    text, done = "", 0
    for token, scopes in _qualifiers(tokens, sql):
        alias = token.text.lower()
        if alias not in names:
            continue
        inner = {name for scope in scopes for name in (*scope.tables, *scope.reads)}
        if alias in inner or _bare(names[alias]) in inner:
            continue
        text += sql[done : token.start] + names[alias]
        done = token.end + 1
    return text + sql[done:]


def _qualifiers(tokens: Sequence[Token], sql: str) -> Iterator[tuple[Token, list[_Scope]]]:
    """Each name directly before a dot, with the scopes of the nested queries it stands in."""
    spans = _nested_queries(tokens)
    scopes = {}
    for start, end in spans:
        scopes[start, end] = _Scope()
        _read_tables(tokens[start:end], sql, scopes[start, end])
    for position, token in enumerate(tokens[:-1]):
        before = tokens[position - 1].token_type.name if position else ""
        if tokens[position + 1].token_type.name == "DOT" and before != "DOT":
            yield token, [scopes[start, end] for start, end in spans if start <= position < end]


def _nested_queries(tokens: Sequence[Token]) -> list[tuple[int, int]]:
    """Start and end of each SELECT, to the bracket that closes it, the next set operation, or the end."""
    spans: list[tuple[int, int]] = []
    open_: list[tuple[int, int]] = []  # (depth, start)
    depth = 0
    for position, token in enumerate(tokens):
        kind = token.token_type.name
        depth += (kind == "L_PAREN") - (kind == "R_PAREN")
        while open_ and (
            depth < open_[-1][0] or (depth == open_[-1][0] and kind in ("INTERSECT", "UNION", "EXCEPT"))
        ):
            spans.append((open_.pop()[1], position))
        if kind == "SELECT":
            open_.append((depth, position))
    return spans + [(start, len(tokens)) for _, start in open_]


def _read_tables(tokens: Sequence[Token], sql: str, scope: _Scope) -> None:
    """Fill a scope with the tables and aliases of the FROM at the first level of a SELECT."""
    depth, position, inside, expects = 0, 0, False, False
    joined = 0  # brackets around joins that are open: FROM (a JOIN b ON ...)
    while position < len(tokens):
        kind = tokens[position].token_type.name
        if expects and kind == "L_PAREN" and not _starts_query(tokens, position + 1):
            joined, position = joined + 1, position + 1
            continue
        if joined and depth == 0 and kind == "R_PAREN":
            position, alias = _alias(tokens, position + 1)
            scope.tables.update({alias: None} if alias else {})
            joined, expects = joined - 1, False
            continue
        if expects and kind == "L_PAREN":  # FROM (SELECT ...) AS T1
            position, alias = _alias(tokens, _closing(tokens, position) + 1)
            scope.tables.update({alias: None} if alias else {})
            expects = False
            continue
        if expects:
            position, expects = _read_table(tokens, position, sql, scope), False
            continue
        depth += (kind == "L_PAREN") - (kind == "R_PAREN")
        if depth == 0 and inside and kind in _ENDS_FROM:
            return
        inside = inside or (depth == 0 and kind == "FROM")
        expects = depth == 0 and inside and kind in ("FROM", "JOIN", "STRAIGHT_JOIN", "COMMA")
        position += 1


def _read_table(tokens: Sequence[Token], position: int, sql: str, scope: _Scope) -> int:
    """Read `table`, `schema.table`, `table alias` or `table AS alias`; return the position behind it."""
    start = position
    while position + 2 < len(tokens) and tokens[position + 1].token_type.name == "DOT":
        position += 2
    table = sql[tokens[start].start : tokens[position].end + 1]
    scope.reads.append(_bare(tokens[position].text))
    position, alias = _alias(tokens, position + 1)
    scope.tables[alias or scope.reads[-1]] = table
    return position


def _alias(tokens: Sequence[Token], position: int) -> tuple[int, str]:
    """The alias that starts here in lower case, or "", and the position behind it."""
    if position < len(tokens) and tokens[position].token_type.name == "ALIAS":
        position += 1
    elif position < len(tokens) and tokens[position].token_type.name not in ("VAR", "IDENTIFIER"):
        return position, ""
    if position < len(tokens) and tokens[position].token_type.name not in _NO_ALIAS:
        return position + 1, tokens[position].text.lower()
    return position, ""


def _starts_query(tokens: Sequence[Token], position: int) -> bool:
    return position < len(tokens) and tokens[position].token_type.name in ("SELECT", "WITH", "VALUES")


def _closing(tokens: Sequence[Token], position: int) -> int:
    depth = 0
    for at in range(position, len(tokens)):
        kind = tokens[at].token_type.name
        depth += (kind == "L_PAREN") - (kind == "R_PAREN")
        if depth == 0:
            return at
    return len(tokens) - 1


def _bare(table: str) -> str:
    """A table's own name, lower case, without its schema and quotes."""
    return table.rsplit(".", 1)[-1].strip("\"`[]'").lower()
