"""Training pairs without any clause of the test set (experiment 2), and what makes two clauses the same.

A pair's clauses are those of its `query` (`sql.clauses.split_clauses`); a query without SELECT, such as
`WHERE a > 1 ORDER BY b`, is cut in the same way. Two clauses are the same when their keys are equal, in any
database:

    strict       the text as it stands, white space collapsed (inside values too), a `;` at the end left out.
    canonical    words in lower case, one space between tokens, comments and a `;` at the end left out; `<>`
                 is `!=` and `==` is `=`. Values stay, with their case and their inner white space, but in
                 single quotes whatever they stand in; double quotes around a name (beside a `.`, or after AS,
                 FROM, JOIN), backticks and brackets are dropped. Aliases of tables become the table's name
                 (`friend#2` for the second `friend` in one FROM, `subquery` for a query in brackets), and the
                 alias is left out where it is given: `FROM singer AS T1` and `from Singer` are the same. They
                 are looked up in the clause's own FROM, outer queries included, then in the FROM of the
                 pair's query, then of its source's query. An alias that none of them names stays as it is.
                 Not resolved: columns with and without table (`singer.name`, `name`), aliases of columns, the
                 order of what is joined, selected or compared.
    value_blind  canonical, with every number and every value in quotes written as `___`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from spider_compose.errors import ClauseError, choose
from spider_compose.source.records import LeftOut
from spider_compose.splits.parts import Row, make_signature, queries_of

if TYPE_CHECKING:
    from sqlglot.tokens import Token

MODES = ("canonical", "strict", "value_blind")
VALUE = "___"

_QUERY_STARTS = ("SELECT", "WITH", "FROM", "(", "VALUES")
_SET_OPERATIONS = frozenset({"INTERSECT", "UNION", "EXCEPT"})
_FOLDED = {"NEQ": "!=", "EQ": "="}
_BEFORE_NAME = frozenset({"DOT", "ALIAS", "FROM", "JOIN", "INTO"})


@dataclass(frozen=True)
class OverlapRows:
    """Training rows that share no clause with the test set, and those that do.

    Attributes:
        kept: 0-based numbers of training rows without any test clause, ascending.
        removed: the others, ascending.
        left_out: rows of either set ("train", "test") whose clauses cannot be told; those of `train` are in
            neither part, those of `test` took no row away.
        test_clauses: distinct clauses of the test set.
        signature: mode, dialect, sizes, versions.
    """

    kept: tuple[int, ...]
    removed: tuple[int, ...]
    left_out: tuple[LeftOut, ...]
    test_clauses: int
    signature: str


def remove_overlap(
    train_rows: Sequence[Row],
    test_rows: Sequence[Row],
    mode: str = "canonical",
    sources: Mapping[tuple[str, int], str] | None = None,
    dialect: str = "sqlite",
    known: Mapping[str, Sequence[str]] | None = None,
) -> OverlapRows:
    """Find the training rows that contain any clause of the test set (experiment 2).

    Args:
        train_rows: with text in `query`; `source_split` and `source_row`, where given, say which source query
            a row is a part of.
        test_rows: likewise.
        mode: what makes two clauses the same, one of `MODES` (see the top of this module).
        sources: source queries by (`source_split`, `source_row`), for aliases that a row without FROM uses.
            Without it they are taken from the first given row of the same source that has a FROM.
        dialect: of sqlglot.
        known: clauses of queries that have been cut already, by query.

    Raises:
        SourceError: one of the sets is empty or a row has no query.
        OptionError: `mode` or `dialect` is unknown.
    """
    choose("mode", mode, MODES)
    for rows in (train_rows, test_rows):
        queries_of(rows)
    reader = _KeyReader(mode, dialect, [*train_rows, *test_rows], sources or {}, known or {})
    left_out: list[LeftOut] = []
    forbidden: set[str] = set()
    for keys in reader.read("test", test_rows, left_out).values():
        forbidden |= keys
    kept: list[int] = []
    removed: list[int] = []
    for number, keys in reader.read("train", train_rows, left_out).items():
        (kept if forbidden.isdisjoint(keys) else removed).append(number)
    return OverlapRows(
        tuple(kept),
        tuple(removed),
        tuple(left_out),
        len(forbidden),
        make_signature(
            split="no_overlap",
            mode=mode,
            dialect=dialect,
            train=len(train_rows),
            test=len(test_rows),
            sources="given" if sources else "rows",
            sqlglot=sqlglot_version(),
        ),
    )


def row_clause_keys(
    rows: Sequence[Row],
    mode: str = "canonical",
    dialect: str = "sqlite",
    part: str = "rows",
    left_out: list[LeftOut] | None = None,
) -> dict[int, frozenset[str]]:
    """Keys of each row's clauses by row number; rows that cannot be cut are added to `left_out`."""
    choose("mode", mode, MODES)
    return _KeyReader(mode, dialect, rows, {}, {}).read(part, rows, [] if left_out is None else left_out)


class _KeyReader:
    """Reads rows into clause keys; each distinct query is cut once, each distinct clause written once."""

    def __init__(
        self,
        mode: str,
        dialect: str,
        rows: Sequence[Row],
        sources: Mapping[tuple[str, int], str],
        known: Mapping[str, Sequence[str]],
    ) -> None:
        self.known = known
        self.mode = mode
        self.dialect = dialect
        self.aliases: dict[tuple[object, object], dict[str, str]] = {}
        self.written: dict[tuple[str, tuple[tuple[str, str], ...]], str] = {}
        if mode == "strict":
            return
        for given, query in sources.items():
            self._add_aliases(given, query)
        for row in rows:
            source = _source_of(row)
            if source is not None and not self.aliases.get(source):
                self._add_aliases(source, str(row.get("query", "")))

    def _add_aliases(self, source: tuple[object, object], query: str) -> None:
        try:
            self.aliases[source] = table_aliases(query, self.dialect)
        except ClauseError:
            pass  # the row itself is named where it is cut

    def read(self, part: str, rows: Sequence[Row], left_out: list[LeftOut]) -> dict[int, frozenset[str]]:
        found: dict[int, frozenset[str]] = {}
        for number, query in enumerate(queries_of(rows)):
            try:
                source = _source_of(rows[number])
                found[number] = self._keys(query, self.aliases.get(source, {}) if source else {})
            except ClauseError as error:
                left_out.append(
                    LeftOut(part, number, "query cannot be cut into clauses", f"{part} row {number}: {error}")
                )
        return found

    def _keys(self, query: str, outer: Mapping[str, str]) -> frozenset[str]:
        clauses = self.known.get(query) or clauses_of(query, self.dialect)
        aliases: dict[str, str] = {}
        if self.mode != "strict":
            aliases = {**outer, **table_aliases(clauses[0], self.dialect)}
        known = tuple(sorted(aliases.items()))
        keys: set[str] = set()
        for clause in clauses:
            if (clause, known) not in self.written:
                self.written[clause, known] = clause_key(clause, self.mode, aliases, self.dialect)
            keys.add(self.written[clause, known])
        return frozenset(keys)


def _source_of(row: Row) -> tuple[object, object] | None:
    if row.get("source_row") is None:
        return None
    return row.get("source_split"), row["source_row"]


@lru_cache(maxsize=1 << 16)
def clauses_of(query: str, dialect: str = "sqlite") -> tuple[str, ...]:
    """The clauses of a query, or of a part of one that has no SELECT.

    >>> clauses_of("WHERE a > 1 ORDER BY b")
    ('WHERE a > 1', 'ORDER BY b')

    Raises:
        ClauseError: the clauses cannot be told apart.
    """
    from spider_compose.sql.clauses import split_clauses

    if query.lstrip().upper().startswith(_QUERY_STARTS):
        return tuple(clause.sql for clause in split_clauses(query, dialect))
    clauses = tuple(clause.sql for clause in split_clauses(f"SELECT * FROM t {query}", dialect)[1:])
    if not clauses:
        raise ClauseError(f"there is no clause in {query!r}")
    return clauses


def clause_key(
    clause_sql: str,
    mode: str = "canonical",
    aliases: Mapping[str, str] | None = None,
    dialect: str = "sqlite",
) -> str:
    """The text by which clauses are compared; see the top of this module for what counts.

    >>> clause_key('SELECT T1.Name FROM Singer AS T1')
    'select singer.name from singer'
    >>> clause_key('WHERE T1.city  =  "New York" LIMIT 3', aliases={"t1": "singer"})
    "where singer.city = 'New York' limit 3"

    Args:
        clause_sql: one clause.
        mode: one of `MODES`.
        aliases: tables by alias in lower case, from the query the clause stands in (`table_aliases`).
        dialect: of sqlglot.

    Raises:
        ClauseError: the text has no tokens in the dialect (an open quote).
        OptionError: `mode` or `dialect` is unknown.
    """
    choose("mode", mode, MODES)
    if mode == "strict":
        return " ".join(clause_sql.split()).rstrip("; ")
    tables = _Tables(_tokens(clause_sql, dialect), clause_sql)
    return tables.write(aliases or {}, mode == "value_blind")


def table_aliases(sql: str, dialect: str = "sqlite") -> dict[str, str]:
    """Tables by alias in the outermost FROM of a text, the first operand's of a set operation; in lower case.

    >>> table_aliases("SELECT T2.a FROM x AS T1 JOIN y AS T2 ON T1.b = T2.b")
    {'t1': 'x', 't2': 'y'}

    Raises:
        ClauseError: the text has no tokens in the dialect.
    """
    return dict(_Tables(_tokens(sql, dialect), sql).names[0])


def sqlglot_version() -> str:
    """Version of the installed sqlglot, whose tokens make the keys."""
    import sqlglot

    return str(sqlglot.__version__)


def _tokens(sql: str, dialect: str) -> list[Token]:
    from sqlglot.errors import SqlglotError

    from spider_compose.sql.clauses import sql_dialect

    try:
        tokens: list[Token] = sql_dialect(dialect).tokenize(sql)
    except SqlglotError as error:
        raise ClauseError(f"no SQL tokens: {str(error).splitlines()[0]}") from error
    return tokens


class _Tables:
    """The tokens of a text, with the tables and aliases that each scope (one SELECT) names.

    Attributes:
        scope_of: scope by token; 0 is the outermost.
        parents: by scope the one around it. An operand of a set operation does not see the other's tables.
        names: by scope, tables by alias.
        replaced: tokens that name a table in FROM, with what is written for them.
        dropped: tokens that give a table an alias.
    """

    def __init__(self, tokens: Sequence[Token], sql: str) -> None:
        self.sql = sql
        self.tokens = list(tokens)
        while self.tokens and self.kind(len(self.tokens) - 1) == "SEMICOLON":
            self.tokens.pop()
        self.scope_of: list[int] = []
        self.parents: list[int | None] = [None]
        self._read_scopes()
        self.names: list[dict[str, str]] = [{} for _ in self.parents]
        self.replaced: dict[int, str] = {}
        self.dropped: set[int] = set()
        for place in range(len(self.tokens)):
            if self.kind(place) in ("FROM", "JOIN"):
                place = self._read_table(place + 1)
                while self.kind(place) == "COMMA":
                    place = self._read_table(place + 1)

    def kind(self, place: int) -> str:
        """Type of the token at `place`, or an empty string outside the text."""
        return str(self.tokens[place].token_type.name) if 0 <= place < len(self.tokens) else ""

    def _read_scopes(self) -> None:
        stack = [0]
        for place in range(len(self.tokens)):
            kind = self.kind(place)
            if kind in _SET_OPERATIONS:
                self.parents.append(self.parents[stack[-1]])
                stack[-1] = len(self.parents) - 1
            elif kind == "R_PAREN" and len(stack) > 1:
                stack.pop()
            self.scope_of.append(stack[-1])
            if kind == "L_PAREN":
                if self.kind(place + 1) in ("SELECT", "WITH"):
                    self.parents.append(stack[-1])
                    stack.append(len(self.parents) - 1)
                else:
                    stack.append(stack[-1])

    def _read_table(self, place: int) -> int:
        """Read one table, or query in brackets, with its alias; give the place after it."""
        while self.kind(place) == "L_PAREN" and self.kind(place + 1) not in ("SELECT", "WITH"):
            place += 1
        if place >= len(self.tokens):
            return place
        scope = self.scope_of[place]
        if self.kind(place) == "L_PAREN":
            own, named = "subquery", None
            depth = 1
            while depth and place + 1 < len(self.tokens):
                place += 1
                depth += (self.kind(place) == "L_PAREN") - (self.kind(place) == "R_PAREN")
        else:
            while self.kind(place + 1) == "DOT":
                place += 2
            if place >= len(self.tokens) or self.kind(place + 1) == "L_PAREN":
                return place  # a function that gives a table
            own, named = self.tokens[place].text.lower(), place
        place += 1
        alias = own
        if self.kind(place) == "ALIAS" and place + 1 < len(self.tokens):
            self.dropped |= {place, place + 1}
            alias = self.tokens[place + 1].text.lower()
            place += 2
        elif self.kind(place) in ("VAR", "IDENTIFIER"):
            self.dropped.add(place)
            alias = self.tokens[place].text.lower()
            place += 1
        table = self._unused(own, scope)
        self.names[scope][alias] = table
        if named is not None:
            self.replaced[named] = table
        return place

    def _unused(self, table: str, scope: int) -> str:
        taken = set(self.names[scope].values())
        name, number = table, 1
        while name in taken:
            number += 1
            name = f"{table}#{number}"
        return name

    def _resolve(self, name: str, scope: int | None, outer: Mapping[str, str]) -> str:
        while scope is not None:
            if name in self.names[scope]:
                return self.names[scope][name]
            if scope == 0:
                return outer.get(name, name)
            scope = self.parents[scope]
        return name

    def write(self, outer: Mapping[str, str], value_blind: bool) -> str:
        """The canonical text; `outer` are aliases from around it."""
        pieces: list[str] = []
        for place in range(len(self.tokens)):
            if place in self.dropped:
                continue
            text = self._text(place, outer, value_blind)
            if self.kind(place) == "DOT" or self.kind(place - 1) == "DOT":
                pieces[-1:] = [(pieces[-1] if pieces else "") + text]
            else:
                pieces.append(text)
        return " ".join(pieces)

    def _text(self, place: int, outer: Mapping[str, str], value_blind: bool) -> str:
        token, kind = self.tokens[place], self.kind(place)
        if place in self.replaced:
            return self.replaced[place]
        if kind.endswith("STRING") or self._is_quoted_value(place):
            return VALUE if value_blind else "'" + token.text.replace("'", "''") + "'"
        if kind == "NUMBER":
            return VALUE if value_blind else token.text
        text = " ".join(token.text.lower().split())
        if self.kind(place + 1) == "DOT" and self.kind(place - 1) != "DOT":
            return self._resolve(text, self.scope_of[place], outer)
        return _FOLDED.get(kind, text)

    def _is_quoted_value(self, place: int) -> bool:
        """Whether a token in double quotes, by the standard a name, is a value as in SQLite and Spider."""
        return (
            self.kind(place) == "IDENTIFIER"
            and self.sql[self.tokens[place].start] == '"'
            and self.kind(place + 1) != "DOT"
            and self.kind(place - 1) not in _BEFORE_NAME
        )
