"""The query in an agent's text, where a code fence of Markdown stands around it (pipeline step 2).

A fence is Markdown only where SQL does not read it as part of a comment, a literal or a quoted name: there
the database runs the query around the fence, and what is in it was never the query.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from spider_compose.sql.clauses import sql_dialect

_FENCE = re.compile(r"`{3,}")

# What an opening fence says of its content: a word alone on the line, or a dialect before the query.
_INFO = re.compile(
    r"[ \t]*(?:[\w+#.-]*[ \t]*\r?\n|(?:\w*sql\w*|sqlite|duckdb|bigquery|snowflake)\b)?\s*", re.I
)
_QUERY = re.compile(r"(?:[\s(]|--[^\n]*\n|/\*.*?\*/)*(?:SELECT|WITH|VALUES)\b", re.IGNORECASE | re.DOTALL)

# How a statement begins. Prose may begin so too, but is then seldom cut into tokens.
_STATEMENT = re.compile(
    r"[\s;(]*(?:--|/\*|(?:SELECT|WITH|VALUES|FROM|TABLE|INSERT|UPDATE|DELETE|REPLACE|MERGE|DROP|CREATE|ALTER|TRUNCATE"
    r"|EXPLAIN|DESCRIBE|SHOW|PRAGMA|ATTACH|COPY|CALL|EXEC|EXECUTE|DO|GRANT|REVOKE|SET|USE|BEGIN|DECLARE)\b)",
    re.IGNORECASE,
)

# Fences that are tried as the end of a block: each costs one reading of the block.
_TRIES = 8
_END = "fence_ends"


@dataclass(frozen=True)
class Fenced:
    """Where a query stands in a text with fences.

    Attributes:
        start, end: its characters.
        prose: whether there is other text around it.
    """

    start: int
    end: int
    prose: bool = False


def fenced_query(text: str, dialects: Sequence[str]) -> Fenced | None:
    """The query in a code fence, or None where no fence of the text is Markdown.

    >>> fenced_query("Here: ```SELECT a```", ["sqlite"])
    Fenced(start=9, end=17, prose=True)
    >>> fenced_query("SELECT a /* ```SELECT b``` */", ["sqlite"])

    Args:
        dialects: in which the text may be read.
    """
    fences = [match.span() for match in _FENCE.finditer(text)]
    if not fences:
        return None
    if _STATEMENT.match(text):
        if any(_holds(f"{text}\n", fences, dialect) for dialect in dialects):
            return None
        (last, after), head = fences[-1], text[: fences[-1][0]]
        asks = _QUERY.match(text, _after_info(text, after))
        if not asks and any(_holds(head, fences[:-1], dialect) for dialect in dialects):
            return Fenced(0, last, bool(text[after:].strip()))  # the opening fence is gone
    blocks = list(_blocks(text, fences, dialects[0]))
    if not blocks:
        return None
    chosen = next((block for block in blocks if _QUERY.match(text, block[1])), blocks[0])
    opening, start, end = chosen
    around = text[:opening] + text[end:]
    return Fenced(start, end, bool(re.sub(r"`{3,}\w*|\s", "", around)))


def _blocks(text: str, fences: Sequence[tuple[int, int]], dialect: str) -> Iterator[tuple[int, int, int]]:
    """(opening fence, start, end) of the blocks that fences enclose; the last may lack its end."""
    at_line = {match.end() for match in re.finditer(r"^[ \t]*`{3,}", text, re.MULTILINE)}
    tries, place = _TRIES, 0
    while place < len(fences):
        opening, after = fences[place]
        start, closing = _after_info(text, after), None
        for n in range(place + 1, min(len(fences), place + 1 + tries)):
            tries -= 1
            inside = [(a - start, b - start) for a, b in fences[place + 1 : n]]
            if _holds(text[start : fences[n][0]], inside, dialect):
                closing = n
                break
        rest = range(place + 1, len(fences))
        if closing is None and rest:
            closing = next((n for n in rest if fences[n][1] in at_line), rest[0])
        end = len(text) if closing is None else fences[closing][0]
        if text[start:end].strip():
            yield opening, start, end
            place = len(fences) if closing is None else closing + 1
        else:
            place += 1  # a fence in a fence


def _after_info(text: str, place: int) -> int:
    match = _INFO.match(text, place)
    return place if match is None else match.end()


def _holds(text: str, fences: Sequence[tuple[int, int]], dialect: str) -> bool:
    """Whether a text is whole tokens and comments of SQL, with all fences inside of these."""
    from sqlglot.errors import SqlglotError

    try:
        tokens = sql_dialect(dialect).tokenize(f"{text} {_END}")
    except (SqlglotError, ValueError, RecursionError):
        return False
    if not tokens or tokens[-1].text != _END:  # a comment is left open
        return False
    rest = iter(tokens)
    token = next(rest)
    for start, _ in fences:
        while token.end < start:
            token = next(rest)
        if token.start == start:
            return False
    return True
