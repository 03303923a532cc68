"""Which parts of a query only say how tables are joined: conditions behind ON, and those of comma joins."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

# Token types that end a FROM.
_AFTER_FROM = {
    "WHERE",
    "GROUP_BY",
    "HAVING",
    "ORDER_BY",
    "LIMIT",
    "INTERSECT",
    "UNION",
    "EXCEPT",
    "SEMICOLON",
}


def join_conditions(tokens: Sequence[Any]) -> list[bool]:
    """Whether each token stands in the condition of a join."""
    inside, found = False, []
    for token in tokens:
        kind = token.token_type.name
        inside = kind == "ON" or (inside and kind not in ("JOIN", "SELECT", "WHERE", "R_PAREN"))
        found.append(inside)
    return found


def listed_tables(tokens: Iterable[Any]) -> dict[str, tuple[int, int]]:
    """Tables and aliases of every FROM, each with the number of the FROM and its place between the commas."""
    found: dict[str, tuple[int, int]] = {}
    open_ = [(0, 0)]  # by depth of brackets; (0, 0) outside of a FROM
    lists = 0
    for token in tokens:
        kind = token.token_type.name
        if kind == "FROM":
            lists += 1
            open_[-1] = (lists, 0)
        elif kind in _AFTER_FROM:
            open_[-1] = (0, 0)
        elif kind == "L_PAREN":
            open_.append((0, 0))
        elif kind == "R_PAREN" and len(open_) > 1:
            open_.pop()
        elif open_[-1][0]:
            number, place = open_[-1]
            open_[-1] = (number, place + (kind == "COMMA"))
            found[token.text.lower()] = open_[-1]
    return found


def comma_joins(tokens: Sequence[Any], listed: Mapping[str, tuple[int, int]]) -> list[bool]:
    """Whether each token stands in `a.id = b.id`, which joins two tables that a FROM lists between commas."""
    found = [False] * len(tokens)
    for at in range(len(tokens) - 6):
        if [token.token_type.name for token in tokens[at + 1 : at + 7 : 2]] == ["DOT", "EQ", "DOT"]:
            own, other = (listed.get(tokens[side].text.lower(), (0, 0)) for side in (at, at + 4))
            if own[0] == other[0] and own[1] != other[1]:
                found[at : at + 7] = [True] * 7
    return found
