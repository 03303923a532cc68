"""A query -> its top-level clauses (section 3.1, table 1).

The seven clause types of the paper are cut at top-level keywords only; nested queries and joins stay whole:

    SELECT      with FROM and its joins; a WITH before it; a whole parenthesised operand
    WHERE
    GROUP BY    with HAVING (a HAVING alone is of this type)
    ORDER BY    with LIMIT, OFFSET, FETCH (these alone are of this type)
    INTERSECT, UNION, EXCEPT
                the first such keyword and all that stands on its right, whatever it nests; only an ORDER BY
                that orders the whole result is a clause of its own (where the left operand has its own
                ORDER BY, as in two rows of Spider, the last one belongs to the right operand)

sqlglot's tokens say where a keyword stands and its AST says which clauses there are; a cut is accepted only
where both agree. The pieces are slices of the original text: joined with single spaces they give the query
back, character for character apart from white space.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from spider_compose.errors import ClauseError, OptionError

if TYPE_CHECKING:
    from sqlglot import exp
    from sqlglot.dialects import Dialect
    from sqlglot.tokens import Token

CLAUSE_TYPES = ("SELECT", "WHERE", "GROUP BY", "ORDER BY", "INTERSECT", "UNION", "EXCEPT")
SET_OPERATIONS = ("INTERSECT", "UNION", "EXCEPT")

# A query is untrusted text. The longest query of Spider has 577 characters and nests 3 deep; sqlglot's
# parser recurses, so both are bounded long before Python's stack is.
MAX_CHARACTERS = 100_000
MAX_DEPTH = 50

# Token type -> type of the clause it opens. A later opener of the type just open goes on with that clause
# (HAVING after GROUP BY, LIMIT after ORDER BY).
_OPENERS = {
    "WHERE": "WHERE",
    "PREWHERE": "WHERE",
    "START_WITH": "WHERE",
    "CONNECT_BY": "WHERE",
    "GROUP_BY": "GROUP BY",
    "HAVING": "GROUP BY",
    "ORDER_BY": "ORDER BY",
    "SORT_BY": "ORDER BY",
    "CLUSTER_BY": "ORDER BY",
    "DISTRIBUTE_BY": "ORDER BY",
    "ORDER_SIBLINGS_BY": "ORDER BY",
    "LIMIT": "ORDER BY",
    "OFFSET": "ORDER BY",
    "FETCH": "ORDER BY",
    "INTERSECT": "INTERSECT",
    "UNION": "UNION",
    "EXCEPT": "EXCEPT",
}

# Argument of a sqlglot query node -> type of the clause it stands in.
_ARGUMENTS = {
    "where": "WHERE",
    "prewhere": "WHERE",
    "connect": "WHERE",
    "group": "GROUP BY",
    "having": "GROUP BY",
    "order": "ORDER BY",
    "sort": "ORDER BY",
    "cluster": "ORDER BY",
    "distribute": "ORDER BY",
    "limit": "ORDER BY",
    "offset": "ORDER BY",
}

# Token types a query can start with; anything else is another statement or no SQL.
_FIRST = {"SELECT", "WITH", "FROM", "L_PAREN"}

# What opens a comment up to the end of its line, in any of sqlglot's dialects.
_LINE_COMMENTS = ("--", "#", "//")

_OPEN = {"L_PAREN", "L_BRACKET", "L_BRACE"}
_CLOSE = {"R_PAREN", "R_BRACKET", "R_BRACE"}


@dataclass(frozen=True)
class Clause:
    """One top-level clause.

    Attributes:
        type: one of `CLAUSE_TYPES`.
        sql: the clause as it stands in the query, outer white space removed.
        start: 0-based character in the query where `sql` starts.
        end: character after its last.
    """

    type: str
    sql: str
    start: int
    end: int


def join_clauses(clauses: Sequence[Clause]) -> str:
    """The text of a recombined query: its clauses joined with single spaces (section 3.3)."""
    return " ".join(clause.sql for clause in clauses)


# A corpus asks for the same query many times over: Spider has 8,034 pairs of 4,525 queries.
@lru_cache(maxsize=1 << 15)
def split_clauses(query: str, dialect: str = "sqlite") -> tuple[Clause, ...]:
    """Cut a query into its top-level clauses (section 3.1).

    >>> [clause.sql for clause in split_clauses("SELECT a FROM t WHERE b = 'x' ORDER BY c LIMIT 1")]
    ['SELECT a FROM t', "WHERE b = 'x'", 'ORDER BY c LIMIT 1']

    Args:
        query: one SQL query.
        dialect: any name sqlglot knows.

    Returns:
        The clauses in the query's order; the first is always a SELECT.

    Raises:
        ClauseError: the text is empty, too long or too deep, is not one query, does not parse, or its
            clauses cannot be told apart for certain.
        OptionError: sqlglot does not know the dialect.
    """
    engine = sql_dialect(dialect)
    tokens, tree = parse_query(query, engine)
    keywords = _keywords(tokens, tree)
    operations = [kind for kind, _ in keywords if kind in SET_OPERATIONS]
    expected = _expected_types(tree, operations, any(token.token_type.name == "TOP" for token in tokens))
    starts = _clause_starts(keywords, expected)
    found = [kind for kind, _ in starts]
    if found != expected:
        raise ClauseError(
            f"the clauses are not certain: the keywords read as {found}, the parse tree as {expected}. "
            f"Rewrite names that are keywords in quotes, or choose another `dialect` than {dialect!r}."
        )
    ends = [start for _, start in starts[1:]] + [len(query)]
    return tuple(
        _piece(query, kind, start, end, tokens) for (kind, start), end in zip(starts, ends, strict=True)
    )


@cache
def sql_dialect(name: str) -> Dialect:
    """sqlglot's dialect of this name.

    Raises:
        OptionError: there is none; the message has the nearest name.
    """
    from sqlglot.dialects import Dialect

    try:
        return Dialect.get_or_raise(name)
    except ValueError as error:
        raise OptionError(f"`dialect`: {error}") from error


def parse_query(query: str, engine: Dialect, *, fragment: bool = False) -> tuple[list[Token], exp.Query]:
    """Tokens and parse tree of one query, within the limits on untrusted text.

    Args:
        fragment: accept clauses without their SELECT too, as recombination makes them. The tree then has
            `SELECT * FROM t` in front, which the returned tokens lack.

    Raises:
        ClauseError: the text is empty, too long or too deep, is not one query, or does not parse.
    """
    from sqlglot import exp
    from sqlglot.errors import ParseError, TokenError

    if not query.strip():
        raise ClauseError("expected a SQL query, but got an empty text")
    if len(query) > MAX_CHARACTERS:
        raise ClauseError(f"expected at most {MAX_CHARACTERS:,} characters, but got {len(query):,}")
    try:
        tokens = engine.tokenize(query)
        for token, depth in _depths(tokens):
            if depth > MAX_DEPTH:
                raise ClauseError(
                    f"expected brackets at most {MAX_DEPTH} deep; deeper at character {token.start}",
                    token.start,
                )
            if token.token_type.name == "PIPE_GT":  # sqlglot's time for it is exponential, too
                raise ClauseError(
                    "pipe syntax (|>) has no clauses that stand alone. Write the query as one SELECT.",
                    token.start,
                )
        opener = _OPENERS.get(tokens[0].token_type.name) if fragment and tokens else None
        front = engine.tokenize("SELECT * FROM t") if opener else []
        if not opener and (not tokens or tokens[0].token_type.name not in _FIRST):
            raise ClauseError(
                "expected one query (SELECT, WITH, FROM or a bracketed query), but the text starts with "
                f"{query.split()[0][:40]!r}"
            )
        trees = [
            tree
            for tree in engine.parser().parse([*front, *tokens], query)
            if tree is not None and not isinstance(tree, exp.Semicolon)  # a comment after the last one
        ]
    except ClauseError:
        raise
    except ParseError as error:
        place = error.errors[0] if error.errors else {}
        what = re.sub(r"<class '[\w.]*?(\w+)'>", r"\1", str(place.get("description") or error)).rstrip(".")
        what = re.sub(r"<Token token_type: TokenType\.(\w+),.*>", r"\1", what).replace("SENTINEL", "the end")
        near = f" near {place['highlight']!r}" if place.get("highlight") else ""
        raise ClauseError(
            f"does not parse: {what}{near} (line {place.get('line')}, column {place.get('col')})"
        ) from error
    except TokenError as error:
        cause = error.__cause__  # "Missing ' from 1:27", where sqlglot knows
        what = str(cause) if isinstance(cause, TokenError) else "a quote or comment is not closed"
        raise ClauseError(f"does not parse: {what}") from error
    except RecursionError as error:
        raise ClauseError("nested too deeply to parse") from error
    except Exception as error:  # sqlglot stumbles over some malformed texts (AttributeError, AssertionError)
        raise ClauseError(f"does not parse ({type(error).__name__} in sqlglot)") from error
    if len(trees) != 1:
        raise ClauseError(f"expected one statement, but got {len(trees)}")
    if not isinstance(trees[0], exp.Query):
        raise ClauseError(f"expected a query, but got a statement of kind {type(trees[0]).__name__}")
    if isinstance(trees[0], exp.Select) and not (trees[0].expressions or trees[0].args.get("from_")):
        raise ClauseError("expected something after SELECT, but got nothing")
    return tokens, trees[0]


def _depths(tokens: Sequence[Token]) -> Iterator[tuple[Token, int]]:
    """Each token with the number of brackets open around it."""
    depth = 0
    for token in tokens:
        kind = token.token_type.name
        depth -= kind in _CLOSE
        yield token, depth
        depth += kind in _OPEN


def _keywords(tokens: Sequence[Token], tree: exp.Expr) -> list[tuple[str, int]]:
    """(clause type, start character) of every keyword outside brackets that opens or continues a clause."""
    from sqlglot import exp

    names = {name.meta.get("start") for name in tree.find_all(exp.Identifier)}  # a column may be called limit
    found = []
    for position, (token, depth) in enumerate(_depths(tokens)):
        kind = _OPENERS.get(token.token_type.name)
        if token.token_type.name == "BEGIN" and _type_after(tokens, position) == "WITH":
            kind = "WHERE"  # Oracle's START WITH .. CONNECT BY
        if kind and not depth and token.start not in names and _is_keyword(tokens, position):
            found.append((kind, token.start))
    return found


def _type_after(tokens: Sequence[Token], position: int) -> str:
    return tokens[position + 1].token_type.name if position + 1 < len(tokens) else ""


def _is_keyword(tokens: Sequence[Token], position: int) -> bool:
    """Whether a token that spells a keyword is one here, and not a name or part of another construct."""
    before = tokens[position - 1].token_type.name if position else ""
    after = _type_after(tokens, position)
    if before in ("DOT", "ALIAS") or after == "DOT":
        return False
    kind = tokens[position].token_type.name
    if kind == "OFFSET" and before == "WITH":  # BigQuery's UNNEST(a) WITH OFFSET
        return False
    if kind == "EXCEPT" and before == "STAR" and after == "L_PAREN":
        return _type_after(tokens, position + 1) in ("SELECT", "WITH", "L_PAREN")
    return True


def _expected_types(tree: exp.Expr, operations: Sequence[str], has_top: bool) -> list[str]:
    """The clause types the parse tree holds, in the order of SQL, each at most once.

    Args:
        operations: types of the set operations outside brackets, in the order of the text.
        has_top: whether the row limit is written as `SELECT TOP`, inside the SELECT clause.
    """
    from sqlglot import exp

    left, open_operations = tree, len(operations)
    while open_operations and isinstance(left, (exp.SetOperation, exp.Subquery)):
        # sqlglot brackets the left operand itself where a dialect binds set operations from left to right.
        if isinstance(left, exp.SetOperation):
            open_operations -= 1 + _open_set_operations(left.expression)
        left = left.this
    types = ["SELECT", *_argument_types(left, has_top)]
    if operations:
        types.append(operations[0])
        types += [kind for kind in _argument_types(tree) if kind not in types]
    return types


def _open_set_operations(node: exp.Expr) -> int:
    """Number of set operations in an operand that no bracket encloses."""
    from sqlglot import exp

    count, stack = 0, [node]
    while stack:
        current = stack.pop()
        if isinstance(current, exp.SetOperation):
            count += 1
            stack += [current.this, current.expression]
    return count


def _argument_types(node: exp.Expr, has_top: bool = False) -> list[str]:
    """Clause types among a query node's own arguments, each once, in the order of SQL."""
    present = {
        kind
        for argument, kind in _ARGUMENTS.items()
        if node.args.get(argument) and not (argument == "limit" and has_top)
    }
    return [kind for kind in CLAUSE_TYPES if kind in present]


def _clause_starts(keywords: Sequence[tuple[str, int]], expected: Sequence[str]) -> list[tuple[str, int]]:
    """(clause type, start character) of each clause, the SELECT at 0."""
    starts = [("SELECT", 0)]
    for kind, start in keywords:
        types = [opened for opened, _ in starts]
        operation = next((opened for opened in types if opened in SET_OPERATIONS), None)
        if operation and kind in SET_OPERATIONS:
            # What looked like the final ORDER BY stands in an operand.
            del starts[types.index(operation) + 1 :]
        elif kind in expected and kind != types[-1] and (not operation or kind == expected[-1]):
            starts.append((kind, start))
    return starts


def _comment_line_break(query: str, token_end: int, end: int) -> int:
    """The end of a clause that must keep the line break after it, or 0.

    A clause that ends in a `--` comment keeps its line break, or the next clause would become comment. Where
    a marker may as well stand inside a block comment, the line break is kept too: it harms nothing.
    """
    tail = query[token_end:end]  # between two tokens there are only white space and comments
    comments = tail.rstrip()
    last_line = comments.rpartition("\n")[2]
    if not any(marker in last_line for marker in _LINE_COMMENTS):
        return 0
    return token_end + tail.find("\n", len(comments)) + 1


def _piece(query: str, kind: str, start: int, end: int, tokens: Sequence[Token]) -> Clause:
    text = query[start:end]
    start, end = start + len(text) - len(text.lstrip()), start + len(text.rstrip())
    own = [token for token in tokens if start <= token.start < end and token.token_type.name != "SEMICOLON"]
    if len(own) < 2:  # sqlglot takes a bare GROUP BY
        raise ClauseError(f"expected something after {kind}, but got nothing", start)
    last = max(token.end + 1 for token in tokens if token.start < end)
    kept = _comment_line_break(query, last, start + len(text)) if last < end else 0
    end = max(end, kept)
    return Clause(kind, query[start:end], start, end)
