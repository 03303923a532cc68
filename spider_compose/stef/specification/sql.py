"""A query -> its specification, by sqlglot and without a schema (pipeline step 2).

Aliases are followed to what they stand for, through derived tables and common table expressions, so that
`n` in `ORDER BY n` reads as the COUNT it names. Conditions are read wherever they stand: WHERE, HAVING,
QUALIFY, ON, CASE, FILTER, or a comparison inside an aggregate.
"""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from spider_compose.sql.clauses import sql_dialect
from spider_compose.stef.normalization import fold_value, is_number, name_words
from spider_compose.stef.specification.fence import fenced_query
from spider_compose.stef.specification.items import (
    Aggregation,
    Filter,
    Grouping,
    Limit,
    Mark,
    Order,
    Projection,
    Span,
    Specification,
)

if TYPE_CHECKING:
    from sqlglot.tokens import Token

# A query is untrusted text: its length bounds the time (sqlglot reads some 100,000 characters a second), its
# depth the stack, for sqlglot's parser recurses.
MAX_CHARACTERS = 40_000
MAX_DEPTH = 40
# Beyond this length only the first dialects are tried.
LONG = 8_000

# What `auto` tries, in this order. The first that parses is taken and named in the result.
AUTO_DIALECTS = ("sqlite", "postgres", "mysql", "bigquery", "snowflake", "tsql", "duckdb", "spark", "oracle")

# Functions that a dialect does not have, though other dialects do (upper case).
_DATES = (
    "YEAR MONTH DAY DATEDIFF DATE_FORMAT DATE_TRUNC TO_CHAR TO_DATE EXTRACT CURDATE GETDATE DATEADD DATE_ADD "
    "DATE_SUB DATEPART STR_TO_DATE TIMESTAMPDIFF TO_TIMESTAMP"
)
FOREIGN_FUNCTIONS = {
    "sqlite": frozenset(
        f"{_DATES} NOW LEFT RIGHT LPAD RPAD SPLIT_PART STRING_AGG LISTAGG REGEXP_REPLACE NVL".split()
    ),
    "mysql": frozenset(
        "STRFTIME JULIANDAY DATE_TRUNC TO_CHAR DATEPART DATEADD GETDATE STRING_AGG LISTAGG NVL".split()
    ),
    "postgres": frozenset(
        "STRFTIME JULIANDAY DATE_FORMAT DATEDIFF CURDATE GETDATE DATEADD IFNULL NVL GROUP_CONCAT "
        "YEAR MONTH DAY DATE_ADD DATE_SUB DATEPART IIF LISTAGG".split()
    ),
    "tsql": frozenset(
        "STRFTIME JULIANDAY DATE_FORMAT DATE_TRUNC EXTRACT NOW CURDATE GROUP_CONCAT IFNULL TO_CHAR".split()
    ),
    "bigquery": frozenset("STRFTIME JULIANDAY DATE_FORMAT TO_CHAR GETDATE DATEPART GROUP_CONCAT NVL".split()),
    "snowflake": frozenset("STRFTIME JULIANDAY DATE_FORMAT GROUP_CONCAT STR_TO_DATE CURDATE".split()),
    "duckdb": frozenset("JULIANDAY DATE_FORMAT TO_CHAR GETDATE DATEADD NVL STR_TO_DATE CURDATE".split()),
}
# Dialects where COUNT(DISTINCT a, b) is allowed, and where / of two integers is no integer.
_COUNTS_MANY = {"mysql", "spark", "databricks", "hive", "snowflake", "duckdb"}
_EXACT_DIVISION = {"mysql", "bigquery", "snowflake", "oracle", "spark", "databricks", "hive", "duckdb"}


class UnscoredError(ValueError):
    """A row that gets no score.

    Attributes:
        reason: a fixed word to count by: "no_sql", "not_a_query", "no_dialect_parses", "too_long",
            "too_deep".
        final: whether no other dialect and no part of the text can be meant.
    """

    def __init__(self, reason: str, message: str, final: bool = False) -> None:
        super().__init__(message)
        self.reason = reason
        self.final = final or reason not in ("no_dialect_parses", "not_a_query")


NOWHERE = Span(0, 0)


@dataclass(frozen=True)
class SqlSpecification(Specification):
    """A query's specification, with what only a query has.

    Attributes:
        dialect: the one it was read in.
        tables: stems of each base table's name, with its span.
        idle_tables: tables that serve no column outside one join condition.
        columns: stems of every column named, with its span.
        literals: folded values of all conditions, with their spans.
        joins: number of joins.
        selects: number of SELECTs.
        faults: signs of a query that cannot be meant (see `judges.rules`).
        picks: what picks an extreme or sorts: keys of ORDER BY, also of windows, and MAX and MIN.
        constants: numbers that what is shown is computed with.
        offset: where rows are skipped.
        needed_queries: nested queries that stand for "not" or for an extreme: SQL has no plain form for them.
        part: the query in the text, without prose and code fences around it.
    """

    dialect: str = "sqlite"
    tables: tuple[tuple[frozenset[str], Span], ...] = ()
    idle_tables: tuple[Mark, ...] = ()
    columns: tuple[tuple[frozenset[str], Span], ...] = ()
    literals: tuple[tuple[str, Span], ...] = ()
    joins: int = 0
    outer_joins: int = 0
    selects: int = 1
    grouped: bool = False
    windows: int = 0
    length: int = 0
    faults: tuple[Mark, ...] = ()
    picks: tuple[Order, ...] = ()
    constants: tuple[tuple[str, Span], ...] = ()
    offset: Span | None = None
    needed_queries: int = 0
    part: Span = NOWHERE


def read_sql(sql: str | None, dialect: str = "auto") -> SqlSpecification:
    """The specification of one query.

    >>> spec = read_sql("SELECT c, COUNT(*) AS n FROM t WHERE d = 'X' GROUP BY c ORDER BY n DESC LIMIT 3")
    >>> [f.values for f in spec.filters], spec.order[0].direction, spec.limit.count
    ([('x',)], 'desc', 3)

    Args:
        sql: the agent's text; prose or a code fence around the query is left out and counts as a fault.
        dialect: a name sqlglot knows, or "auto".

    Raises:
        UnscoredError: there is no query to score.
        OptionError: the dialect is unknown.
    """
    if sql is None or not sql.strip(" \t\r\n;\x00"):
        raise UnscoredError("no_sql", "there is no SQL")
    if len(sql) > MAX_CHARACTERS:
        raise UnscoredError(
            "too_long", f"expected at most {MAX_CHARACTERS:,} characters, but got {len(sql):,}"
        )
    faults: list[Mark] = []
    text = _without_fence(sql.replace("\x00", " "), dialect, faults)
    tree, name, part = _parse_any(text, dialect, faults)
    try:
        found = _Reader(sql, name, faults).read(tree, text)
    except RecursionError as error:
        raise UnscoredError("too_deep", "nested too deeply to read") from error
    return replace(found, part=Span(len(part) - len(part.lstrip()), len(part.rstrip())))


def _without_fence(text: str, dialect: str, faults: list[Mark]) -> str:
    """The text with Markdown around the query blanked, so that characters keep their places."""
    found = fenced_query(text, AUTO_DIALECTS if dialect == "auto" else (dialect,))
    if found is None:
        return text
    if found.prose:
        faults.append(Mark("prose", Span(0, len(text))))
    return _only(text, found.start, found.end)


def _only(text: str, start: int, end: int) -> str:
    return " " * start + text[start:end] + " " * (len(text) - end)


def _parse_any(text: str, dialect: str, faults: list[Mark]) -> tuple[Any, str, str]:
    """(the query's tree, the first dialect that reads it, the text without the prose around the query)."""
    # What another dialect parses is SQL, but not for this database: it is scored, with a fault.
    names = AUTO_DIALECTS if dialect == "auto" else (dialect, *(n for n in AUTO_DIALECTS if n != dialect))
    if len(text) > LONG:
        names = names[:2]
    problem: UnscoredError | None = None
    for candidate in _candidates(text):
        for name in names:
            try:
                tree = _parse(candidate, name, faults)
            except UnscoredError as error:
                problem = problem or error
                if error.final:
                    raise
            else:
                if dialect == "auto" and name == AUTO_DIALECTS[0] and (foreign := _foreign(candidate, name)):
                    # Some dialect may have the function; which one the database speaks, only its owner knows.
                    faults.append(Mark("dialect_uncertain", foreign[0]))
                    name = next(
                        (
                            n
                            for n in AUTO_DIALECTS[1:]
                            if not _foreign(candidate, n) and _parses(candidate, n)
                        ),
                        name,
                    )
                if dialect not in ("auto", name):
                    faults.append(Mark("foreign_syntax", Span(0, len(text))))
                if candidate is not text:
                    faults.append(Mark("prose", Span(0, len(text))))
                return tree, name, candidate
    raise problem or UnscoredError("no_sql", "there is no SQL")


_LEADING_COMMENTS = re.compile(r"(?:\s|--[^\n]*(?:\n|\Z)|/\*.*?(?:\*/|\Z))+", re.DOTALL)


def _candidates(text: str) -> Iterator[str]:
    """The text, then parts of it from its first SELECT or WITH on: agents talk around their answers."""
    yield text
    # What a comment in front of the query names was never asked of the database.
    lead = _LEADING_COMMENTS.match(text)
    first = re.compile(r"\b(?:SELECT|WITH\s+\w+\s+AS)\b").search(text, lead.end() if lead else 0)
    if first is None:
        return
    start, talks = first.start(), bool(text[: first.start()].strip())
    ends = [text.find(sign, start) for sign in (";", "\n\n")]
    for end in dict.fromkeys(end for end in (*ends, len(text)) if end > 0):
        if (talks or end < len(text)) and text[start:end].strip():
            yield _only(text, start, end)


def _parse(text: str, dialect: str, faults: list[Mark]) -> Any:
    from sqlglot import exp
    from sqlglot.errors import SqlglotError

    engine = sql_dialect(dialect)
    try:
        with _quiet():
            tokens = engine.tokenize(text)
            _check_depth(tokens)
            trees = [tree for tree in engine.parser().parse(tokens, text) if tree is not None]
    except SqlglotError as error:
        raise UnscoredError("no_dialect_parses", f"does not parse: {_first_line(error)}") from error
    except RecursionError as error:
        raise UnscoredError("too_deep", "nested too deeply to parse") from error
    except UnscoredError:
        raise
    except (ValueError, TypeError, AttributeError, KeyError, IndexError, AssertionError) as error:
        # sqlglot's parser on text that is no SQL; the row is lost, the batch is not.
        raise UnscoredError("no_dialect_parses", f"does not parse: {_first_line(error)}") from error
    trees = [tree for tree in trees if not isinstance(tree, exp.Semicolon)]
    if not trees:
        raise UnscoredError("no_sql", "there are only comments")
    # The first statement counts; words that happen to read as an expression and settings are none.
    lead = (exp.Condition, exp.Alias, exp.Use, exp.Set, exp.Pragma, exp.Transaction)
    query = next((tree for tree in trees if isinstance(tree, exp.Query) or not isinstance(tree, lead)), None)
    if query is None and isinstance(trees[0], (exp.Condition, exp.Alias)):
        raise UnscoredError("no_dialect_parses", "expected a query, but got text")
    if not isinstance(query, exp.Query):
        kind = type(query or trees[0]).__name__.upper()
        talk = isinstance(query, exp.Command) and query.name.upper() in ("EXPLAIN", "SHOW", "DESCRIBE")
        raise UnscoredError("not_a_query", f"expected a query, but got a statement of kind {kind}", not talk)
    change = query.find(exp.DML, exp.Into)  # WITH x AS (DELETE ... RETURNING), SELECT ... INTO t
    if change is not None and not (isinstance(change, exp.Into) and change.find(exp.Parameter)):  # INTO @name
        raise UnscoredError("not_a_query", f"expected a query, but it holds {type(change).__name__.upper()}")
    if isinstance(query, exp.Select) and not (query.expressions or query.args.get("from_")):
        raise UnscoredError("no_dialect_parses", "expected something after SELECT, but got nothing")
    if len(trees) > 1:
        faults.append(Mark("several_statements", Span(0, len(text))))
    return query


class _OtherThreads(logging.Filter):
    """Lets only what other threads say pass."""

    def __init__(self) -> None:
        super().__init__()
        self.own = threading.get_ident()

    def filter(self, record: logging.LogRecord) -> bool:
        return record.thread != self.own


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep sqlglot's warnings of what it only half reads to ourselves: the row says it."""
    logger, mute = logging.getLogger("sqlglot"), _OtherThreads()
    logger.addFilter(mute)
    try:
        yield
    finally:
        logger.removeFilter(mute)


def _first_line(error: Exception) -> str:
    return (
        (str(error).splitlines() or [type(error).__name__])[0][:200]
        .replace("\x1b[4m", "")
        .replace("\x1b[0m", "")
    )


def _check_depth(tokens: Sequence[Token]) -> None:
    depth = 0
    for token in tokens:
        kind = token.token_type.name
        if kind in ("L_PAREN", "L_BRACKET", "L_BRACE", "CASE"):
            depth += 1
            if depth > MAX_DEPTH:
                raise UnscoredError(
                    "too_deep", f"expected brackets at most {MAX_DEPTH} deep; deeper at {token.start}"
                )
        elif kind in ("R_PAREN", "R_BRACKET", "R_BRACE", "END"):
            depth -= 1


@dataclass
class _Reading:
    """What one expression holds, sub-queries left out."""

    words: set[str] = field(default_factory=set)
    functions: list[str] = field(default_factory=list)
    values: list[tuple[str, Span, bool]] = field(default_factory=list)  # folded, span, is string
    start: int = 1 << 60
    end: int = -1
    plain_columns: int = 0
    columns: int = 0
    own_aggregates: int = 0  # those written here, not behind a name
    queries: list[Any] = field(default_factory=list)
    window: bool = False
    star: bool = False

    def take(self, other: _Reading) -> None:
        """Take over what a name stands for; each function once, or chains of names would double them."""
        self.words |= other.words
        self.functions += [name for name in other.functions if name not in self.functions]

    def cover(self, span: Span) -> None:
        self.start, self.end = min(self.start, span.start), max(self.end, span.end)


_Columns = dict[str, _Reading]


@dataclass
class _Scope:
    """The names a SELECT sees: alias -> columns of a derived table, or None for a base table."""

    sources: dict[str, _Columns | None]
    outer: _Scope | None = None
    used: dict[str, int] = field(default_factory=dict)  # alias -> uses outside join conditions
    joined: dict[str, int] = field(default_factory=dict)  # alias -> join conditions it stands in
    aliases: _Columns = field(default_factory=dict)  # the projections' own names


class _Reader:
    """Reads one parsed query into a specification."""

    def __init__(self, source: str, dialect: str, faults: list[Mark]) -> None:
        self.source, self.dialect = source, dialect
        self.faults = faults
        self.aggregations: list[Aggregation] = []
        self.filters: list[Filter] = []
        self.grouping: list[Grouping] = []
        self.order: list[Order] = []
        self.limits: list[tuple[int, Limit]] = []
        self.marks: dict[str, list[Mark]] = {"set": [], "negation": [], "distinct": [], "percentage": []}
        self.tables: list[tuple[frozenset[str], Span]] = []
        self.idle: list[Mark] = []
        self.columns: list[tuple[frozenset[str], Span]] = []
        self.literals: list[tuple[str, Span]] = []
        self.words: dict[str, Span] = {}
        self.ctes: dict[str, _Columns] = {}
        self.joins = self.outer_joins = self.selects = self.windows = self.nodes = 0
        self.grouped = False
        self.picks: list[Order] = []
        self.constants: list[tuple[str, Span]] = []
        self.offset: Span | None = None
        self.needed = self.excluded = self.choices = 0

    def read(self, tree: Any, text: str) -> SqlSpecification:
        columns = self._query(tree, None, 0)
        self._tokens(text)
        outer = sorted(self.limits, key=lambda item: item[0])
        projections = tuple(
            Projection(
                frozenset(r.words),
                self._span(r),
                tuple(r.functions),
                r.star,
                bool(r.functions) and not r.plain_columns,
            )
            for r in columns.values()
        )
        return SqlSpecification(
            text=self.source,
            projections=projections,
            aggregations=tuple(self.aggregations),
            filters=tuple(self.filters),
            grouping=tuple(self.grouping),
            order=tuple(self.order),
            limit=outer[0][1] if outer else None,
            set_operations=tuple(self.marks["set"]),
            negations=tuple(self.marks["negation"]),
            distinct=tuple(self.marks["distinct"]),
            percentages=tuple(self.marks["percentage"]),
            words=self.words,
            dialect=self.dialect,
            tables=tuple(self.tables),
            idle_tables=tuple(self.idle),
            columns=tuple(self.columns),
            literals=tuple(self.literals),
            joins=self.joins,
            outer_joins=self.outer_joins,
            selects=self.selects,
            grouped=self.grouped,
            windows=self.windows,
            length=len(" ".join(text.split())),
            faults=tuple(self.faults),
            picks=tuple(self.picks),
            constants=tuple(self.constants),
            offset=self.offset,
            needed_queries=self.needed,
        )

    # -- queries

    def _query(self, node: Any, outer: _Scope | None, depth: int) -> _Columns:
        """Read a query; its output columns, by name or position."""
        from sqlglot import exp

        while isinstance(node, exp.Subquery) and not node.args.get("joins"):
            self._with(node, outer, depth)
            if node.args.get("order") or node.args.get("limit"):
                self._order_and_limit(node, _Scope({}, outer), depth)
            node = node.this
        if isinstance(node, exp.SetOperation):
            return self._set_operation(node, outer, depth)
        if isinstance(node, exp.Select):
            return self._select(node, outer, depth)
        if isinstance(node, exp.Subquery):
            return self._query(node.this, outer, depth)
        return {}

    def _set_operation(self, node: Any, outer: _Scope | None, depth: int) -> _Columns:
        operands, left = [], node
        self._with(node, outer, depth)
        from sqlglot import exp

        while isinstance(left, exp.SetOperation):
            operands.append(left.expression)
            kind = type(left).__name__.upper()
            self.marks["set"].append(Mark(kind, self._node_span(left.expression)))
            if kind == "EXCEPT":
                self.marks["negation"].append(Mark("EXCEPT", self._node_span(left.expression)))
            left = left.this
        texts = [self.source[slice(*self._node_span(part))] for part in (left, *operands[:10])]
        if len(texts) > len({" ".join(text.lower().split()) for text in texts}):
            self.faults.append(Mark("repeated_operand", self._node_span(operands[0])))
        columns = self._query(left, outer, depth)
        for operand in reversed(operands):
            minus = isinstance(operand.parent, exp.Except)
            self.excluded += minus
            self._query(operand, outer, depth)
            self.excluded -= minus
        scope = _Scope({}, outer)
        scope.aliases = columns
        self._order_and_limit(node, scope, depth)
        return columns

    def _with(self, node: Any, outer: _Scope | None, depth: int) -> None:
        clause = node.args.get("with_") or node.args.get("with")
        for cte in clause.expressions if clause else ():
            self.ctes[cte.alias.lower()] = {}  # a recursive one sees itself
            columns = self._query(cte.this, outer, depth + 1)
            names = (
                [c.name for c in cte.args["alias"].args.get("columns") or ()] if cte.args.get("alias") else []
            )
            if names:
                columns = dict(zip((n.lower() for n in names), columns.values(), strict=False))
            self.ctes[cte.alias.lower()] = columns

    def _select(self, node: Any, outer: _Scope | None, depth: int) -> _Columns:
        from sqlglot import exp

        self.selects += 1
        self._with(node, outer, depth)
        scope = _Scope({}, outer)
        clause = node.args.get("from_") or node.args.get("from")
        if clause is not None:
            self._source(clause.this, scope, depth)
        joins = node.args.get("joins") or []
        for join in joins:
            self._source(join.this, scope, depth)
        for lateral in node.args.get("laterals") or ():
            self._source(lateral, scope, depth)
        self._joins(joins, scope, node, depth)
        if node.args.get("distinct"):
            self.marks["distinct"].append(
                Mark("select", self._node_span(node.expressions[0]) if node.expressions else Span(0, 6))
            )
        columns = self._projections(node, scope, depth)
        scope.aliases = columns
        where = node.args.get("where")
        if where is not None:
            aggregate = next(
                (n for n in _walk(where.this, prune=exp.Query) if isinstance(n, exp.AggFunc)), None
            )
            if aggregate is not None:
                self.faults.append(Mark("aggregate_in_where", self._node_span(aggregate)))
            self._conditions(where.this, scope, depth)
        for name in ("having", "qualify"):
            if node.args.get(name) is not None:
                self._conditions(node.args[name].this, scope, depth)
        self._group(node, columns, scope, depth)
        self._order_and_limit(node, scope, depth)
        self._idle_tables(scope, node)
        return columns

    def _source(self, node: Any, scope: _Scope, depth: int) -> None:
        from sqlglot import exp

        if isinstance(node, exp.Table):
            name = node.name.lower()
            alias = (node.alias or node.name).lower()
            if name in self.ctes and not node.db:
                scope.sources[alias] = self.ctes[name]
            else:
                scope.sources[alias] = None
                words = frozenset(name_words(node.name))
                span = self._node_span(node.this)
                self.tables.append((words, span))
                for word in words:
                    self.words.setdefault(word, span)
        elif isinstance(node, (exp.Subquery, exp.Lateral, exp.Paren)):
            columns = (
                self._query(node.this, scope.outer, depth + 1) if isinstance(node, exp.Subquery) else None
            )
            if isinstance(node, exp.Lateral) and isinstance(node.this, exp.Subquery):
                columns = self._query(node.this, scope, depth + 1)
            scope.sources[(node.alias or f"?{len(scope.sources)}").lower()] = columns
            for join in node.args.get("joins") or ():
                self._source(join.this, scope, depth)
        else:
            scope.sources[(getattr(node, "alias", "") or f"?{len(scope.sources)}").lower()] = None

    def _joins(self, joins: Sequence[Any], scope: _Scope, select: Any, depth: int) -> None:
        from sqlglot import exp

        self.joins += len(joins)
        for join in joins:
            self.outer_joins += (join.side or "").upper() in ("LEFT", "RIGHT", "FULL")
            on, using = join.args.get("on"), join.args.get("using")
            if on is not None:
                self._conditions(on, scope, depth)
            elif using:
                for alias in scope.sources:
                    scope.joined[alias] = scope.joined.get(alias, 0) + 1
            elif isinstance(join.this, (exp.Lateral, exp.Unnest)):
                pass  # they see the tables before them
            elif not select.args.get("where") and (join.method or "").upper() != "NATURAL":
                self.faults.append(Mark("cross_join", self._node_span(join.this)))

    def _projections(self, node: Any, scope: _Scope, depth: int) -> _Columns:
        from sqlglot import exp

        columns: _Columns = {}
        for position, projection in enumerate(node.expressions):
            inner = projection.this if isinstance(projection, exp.Alias) else projection
            table = inner.table.lower() if isinstance(inner, exp.Column) else ""
            if isinstance(inner, exp.Star) or (
                isinstance(inner, exp.Column) and isinstance(inner.this, exp.Star)
            ):
                found = self._star(scope, table)
                if found:
                    columns |= found
                    continue
                reading = _Reading(star=True)
                reading.cover(self._node_span(inner))
                scope.used[table] = scope.used.get(table, 0) + 1
                columns[f"*{position}"] = reading
                continue
            reading = self._expression(inner, scope, depth)
            if len(reading.queries) == 1 and not reading.functions and not reading.columns:
                for below in reading.queries[0].values():  # a scalar sub-query shows what it selects
                    reading.take(below)
            if isinstance(inner, (exp.DPipe, exp.Concat, exp.ConcatWs)) and reading.columns > 1:
                self.faults.append(Mark("concatenated_columns", self._span(reading)))
            name = projection.alias_or_name.lower() or f"?{position}"
            if isinstance(projection, exp.Alias):
                reading.words |= set(name_words(projection.alias))
            columns[name if name not in columns else f"{name}#{position}"] = reading
        return columns

    def _star(self, scope: _Scope, table: str) -> _Columns:
        """The columns behind `*` where all its sources are derived tables."""
        sources = [scope.sources.get(table)] if table else list(scope.sources.values())
        if not sources or any(not source for source in sources):
            return {}
        return {name: reading for source in sources if source for name, reading in source.items()}

    def _group(self, node: Any, columns: _Columns, scope: _Scope, depth: int) -> None:
        group = node.args.get("group")
        keys = list(group.expressions) if group is not None else []
        self.grouped = self.grouped or bool(keys)
        for key in keys:
            reading = self._resolve_key(key, columns, scope, depth)
            self.grouping.append(Grouping(frozenset(reading.words), self._span(reading)))
        mixed = [r for r in columns.values() if r.plain_columns and not r.own_aggregates and not r.window]
        if group is None and mixed and any(r.own_aggregates and not r.window for r in columns.values()):
            self.faults.append(Mark("missing_group_by", self._span(mixed[0])))

    def _resolve_key(self, key: Any, columns: _Columns, scope: _Scope, depth: int) -> _Reading:
        """A grouping or ordering key; `1` and the name of a projection stand for that projection."""
        from sqlglot import exp

        if isinstance(key, exp.Literal) and key.is_int and 0 < int(key.this) <= len(columns):
            return list(columns.values())[int(key.this) - 1]
        if isinstance(key, exp.Column) and not key.table and key.name.lower() in columns:
            known = columns[key.name.lower()]
            if known.functions or known.words:
                return _Reading(set(known.words), list(known.functions), [], *self._node_span(key))
        return self._expression(key, scope, depth)

    def _order_and_limit(self, node: Any, scope: _Scope, depth: int) -> None:
        order = node.args.get("order")
        limit = self._limit(node)
        if limit is not None:
            self.limits.append((depth, limit))
        for key in order.expressions if order is not None else ():
            before = len(self.filters)
            reading = self._resolve_key(key.this, scope.aliases, scope, depth)
            # "Nulls last", written out, excludes no row.
            self.filters[before:] = [f for f in self.filters[before:] if f.operator != "null"]
            direction = "desc" if key.args.get("desc") else "asc"
            item = Order(frozenset(reading.words), direction, self._span(reading), limit is not None)
            self.order.append(item)
            self.picks.append(item)
        offset = node.args.get("offset")
        if offset is not None and getattr(offset.expression, "name", "") != "0":
            self.offset = self._node_span(offset)

    def _limit(self, node: Any) -> Limit | None:
        from sqlglot import exp

        limit = node.args.get("limit")
        if limit is None:
            return None
        if limit.args.get("offset") is not None:  # LIMIT 5, 10
            self.offset = self._node_span(limit.args["offset"])
        count = limit.args.get("count") if isinstance(limit, exp.Fetch) else limit.args.get("expression")
        plain = count if isinstance(count, exp.Literal) and count.is_int and len(count.this) < 18 else None
        return Limit(None if plain is None else int(plain.this), self._node_span(count or node))

    # -- conditions

    def _conditions(self, node: Any, scope: _Scope, depth: int) -> None:
        """Every comparison under ANDs, ORs and NOTs, without recursion: ORs can be thousands long."""
        from sqlglot import exp

        # node, negated, number of its OR (see `Filter.choice`)
        stack = [(node, False, 0)]
        required: list[Any] = []
        while stack:
            current, negated, choice = stack.pop()
            if isinstance(current, (exp.And, exp.Or, exp.Xor)):
                both = isinstance(current, exp.Or if negated else exp.And)
                if not both and choice == 0:
                    choice = self._choice(current)
                elif both and choice > 0:
                    choice = -1
                stack += [(current.expression, negated, choice), (current.this, negated, choice)]
            elif isinstance(current, exp.Paren):
                stack.append((current.this, negated, choice))
            elif isinstance(current, exp.Not):
                stack.append((current.this, not negated, choice))
            elif (truth := _truth(current)) is not None:
                if truth == negated and choice == 0:
                    self.faults.append(Mark("never_true", self._node_span(current)))
                elif truth != negated and choice != 0:
                    self.faults.append(Mark("always_true", self._node_span(current)))
            else:
                self._condition(current, negated, scope, depth, choice)
                if choice == 0 and not negated:
                    required.append(current)
        if (clash := _clash(required)) is not None:
            self.faults.append(Mark("never_true", self._node_span(clash)))

    def _choice(self, node: Any) -> int:
        """A new number for an OR whose sides are all comparisons, else -1."""
        from sqlglot import exp

        stack, kind = [node], type(node)
        while stack:
            current = stack.pop()
            if isinstance(current, kind):
                stack += [current.this, current.expression]
            elif isinstance(current, (exp.Paren, exp.Not)):
                stack.append(current.this)
            elif isinstance(current, (exp.And, exp.Or, exp.Xor)):
                return -1
        self.choices += 1
        return self.choices

    def _condition(self, node: Any, negated: bool, scope: _Scope, depth: int, choice: int = 0) -> None:
        from sqlglot import exp

        self._quoted_values(node)
        join = (
            isinstance(node, exp.EQ)
            and isinstance(node.this, exp.Column)
            and isinstance(node.expression, exp.Column)
        )
        if join:
            for side in (node.this, node.expression):
                alias = side.table.lower()
                scope.joined[alias] = scope.joined.get(alias, 0) + 1
                self._column(side, scope, count_use=False)
            return
        operator = _OPERATORS.get(type(node).__name__, "")
        excludes = isinstance(node, (exp.In, exp.Exists, exp.NEQ)) and negated != isinstance(node, exp.NEQ)
        self.excluded += excludes
        reading = self._expression(node, scope, depth, in_condition=True)
        self.excluded -= excludes
        extreme = isinstance(node, exp.EQ) and any(
            columns and all(set(r.functions) & {"MAX", "MIN"} for r in columns.values())
            for columns in reading.queries
        )
        self.needed += (excludes or extreme) and bool(reading.queries)
        span = self._span(reading)
        if isinstance(node, exp.Is):
            operator = "null" if isinstance(node.expression, exp.Null) else "="
        elif isinstance(node, exp.Exists):
            operator = "exists"
        elif operator in ("like", "ilike"):
            operator = (
                "like" if any("%" in self.source[s.start : s.end] for _, s, _ in reading.values) else "="
            )
        if operator == "!=" or node.args.get("negate"):  # NOT LIKE is a Like with a sign
            negated = not negated
        if negated:
            self.marks["negation"].append(Mark(operator or "not", span))
        if isinstance(node, (exp.Glob, exp.RegexpLike)):
            reading.values = [(v.strip("^$*.") or v, place, text) for v, place, text in reading.values]
        values = tuple(value for value, _, _ in reading.values)
        kind = "string" if any(text for _, _, text in reading.values) else "number" if values else "columns"
        kind = "null" if operator == "null" else "subquery" if reading.queries and not values else kind
        self.filters.append(
            Filter(
                frozenset(reading.words),
                operator,
                values,
                kind,
                span,
                negated,
                pattern=_pattern(node),
                choice=choice,
                excluded=self.excluded > 0,
            )
        )
        self.literals += [(value, place) for value, place, _ in reading.values]

    def _quoted_values(self, node: Any) -> None:
        """SQLite and MySQL may take `"x"` for a string; on the right of a comparison it is one."""
        from sqlglot import exp

        if self.dialect not in ("sqlite", "mysql") or not isinstance(node, _compared()):
            return
        for side in (node.args.get("expression"), *node.expressions):
            if isinstance(side, exp.Column) and not side.table and side.this.args.get("quoted"):
                meta = side.this.meta
                if "start" in meta and self.source[meta["start"]] == '"':
                    literal = exp.Literal.string(side.name)
                    literal.meta.update(meta)
                    side.replace(literal)

    # -- expressions

    def _expression(self, node: Any, scope: _Scope, depth: int, in_condition: bool = False) -> _Reading:
        """Words, functions and values of an expression; queries and conditions in it are read apart."""
        from sqlglot import exp

        reading = _Reading()
        # node, inside an aggregate, inside a function that takes formats or positions
        stack: list[tuple[Any, bool, bool]] = [(node, False, False)]
        while stack:
            current, aggregated, formatted = stack.pop()
            if isinstance(current, exp.Query):
                reading.queries.append(self._query(current, scope, depth + 1))
                self._cover(reading, current)
                continue
            if isinstance(current, exp.Column):
                self._read_column(current, reading, scope, aggregated)
                continue
            if isinstance(current, exp.Literal):
                span = self._node_span(current)
                reading.cover(span)
                if in_condition and not formatted:
                    reading.values.append((fold_value(current.this), span, current.is_string))
                continue
            if isinstance(current, _compared()) and current is not node:
                self._conditions(current, scope, depth)
                inner = (
                    self._expression(current.this, scope, depth)
                    if isinstance(current.this, exp.Column)
                    else None
                )
                if inner:
                    reading.words |= inner.words
                    reading.columns += 1
                    reading.plain_columns += not aggregated
                    reading.cover(self._span(inner))
                continue
            if isinstance(current, exp.Boolean):
                if in_condition:
                    reading.values.append(("1" if current.this else "0", self._node_span(current), False))
                continue
            if isinstance(current, exp.Window):
                reading.window = True
                self.windows += 1
                self._window_order(current)
            elif isinstance(current, exp.AggFunc) and not isinstance(current.parent, exp.Window):
                self._aggregate(current, reading, scope, aggregated)
                aggregated = True
            elif isinstance(current, (exp.Div, exp.Mul, exp.Add, exp.Sub)):
                if isinstance(current, (exp.Div, exp.Mul)):
                    self._percentage(current)
                if not in_condition:
                    sides = (_bare_sign(current.this), _bare_sign(current.expression))
                    if not all(isinstance(side, exp.Literal) for side in sides):
                        self.constants += [
                            (fold_value(side.this), self._node_span(side))
                            for side in sides
                            if isinstance(side, exp.Literal) and not side.is_string
                        ]
            elif isinstance(current, exp.Star):
                reading.cover(self._node_span(current))
            if "start" in current.meta:
                reading.cover(self._node_span(current))
            formatted = formatted or _takes_formats(current)
            stack += [(child, aggregated, formatted) for child in reversed(list(_children(current)))]
        return reading

    def _read_column(self, node: Any, reading: _Reading, scope: _Scope, aggregated: bool) -> None:
        known = self._column(node, scope)
        span = self._node_span(node)
        reading.cover(span)
        reading.columns += 1
        reading.words |= set(name_words(node.name))
        if known is not None:
            reading.take(known)
            aggregated = aggregated or bool(known.functions)
        reading.plain_columns += not aggregated

    def _column(self, node: Any, scope: _Scope, count_use: bool = True) -> _Reading | None:
        """What a column stands for, if a derived table or a projection names it."""
        table, name = node.table.lower(), node.name.lower()
        span = self._node_span(node)
        words = frozenset(name_words(node.name))
        self.columns.append((words, span))
        for word in words:
            self.words.setdefault(word, span)
        level: _Scope | None = scope
        while level is not None:
            if table and table in level.sources:
                if count_use:
                    level.used[table] = level.used.get(table, 0) + 1
                return (level.sources[table] or {}).get(name)
            if not table:
                if count_use:
                    level.used[""] = level.used.get("", 0) + 1
                if name in level.aliases:
                    return level.aliases[name]
                for columns in level.sources.values():
                    if columns and name in columns:
                        return columns[name]
                return None
            level = level.outer
        if not node.args.get("db"):
            self.faults.append(Mark("unknown_qualifier", span))
        return None

    def _aggregate(self, node: Any, reading: _Reading, scope: _Scope, inside: bool) -> None:
        from sqlglot import exp

        function = (
            _FUNCTIONS.get(type(node).__name__) or getattr(node, "sql_name", lambda: type(node).__name__)()
        )
        reading.functions.append(function)
        reading.own_aggregates += 1
        words: set[str] = set()
        for below in _walk(node.this, prune=exp.Query) if isinstance(node.this, exp.Expression) else ():
            if isinstance(below, exp.Column):
                known = _known(below, scope)
                words |= set(name_words(below.name)) | (known.words if known else set())
        distinct = isinstance(node.this, exp.Distinct)
        span = self._node_span(node)
        counts = isinstance(_bare(node.this), (exp.Case, exp.If, exp.Literal, *_compared()))
        self.aggregations.append(Aggregation(function, frozenset(words), span, distinct, counts))
        if function in ("MAX", "MIN"):
            direction = "desc" if function == "MAX" else "asc"
            self.picks.append(Order(frozenset(words), direction, span, superlative=True))
        if distinct:
            self.marks["distinct"].append(Mark("aggregate", span))
            if function == "COUNT" and len(node.this.expressions) > 1 and self.dialect not in _COUNTS_MANY:
                self.faults.append(Mark("count_of_many", span))
        if inside:
            self.faults.append(Mark("nested_aggregate", span))

    def _window_order(self, node: Any) -> None:
        from sqlglot import exp

        order = node.args.get("order")
        for key in order.expressions if order is not None else ():
            words = {
                w
                for n in _walk(key, prune=exp.Query)
                if isinstance(n, exp.Column)
                for w in name_words(n.name)
            }
            direction = "desc" if key.args.get("desc") else "asc"
            self.picks.append(Order(frozenset(words), direction, self._node_span(key), superlative=True))

    def _percentage(self, node: Any) -> None:
        """A division, or a multiplication by 100: what a percentage or a ratio is computed with."""
        from sqlglot import exp

        span = self._node_span(node)
        if isinstance(node, exp.Mul):
            sides = (node.this, node.expression)
            if any(isinstance(s, exp.Literal) and s.this.startswith("100") for s in sides):
                self.marks["percentage"].append(Mark("times_100", span))
            return
        self.marks["percentage"].append(Mark("division", span))
        parts = list(_walk(node, prune=exp.Query))
        exact = any(isinstance(p, exp.Cast) or (isinstance(p, exp.Literal) and "." in p.this) for p in parts)
        counted = isinstance(_bare(node.this), (exp.Count, exp.Sum, exp.CountIf, exp.Subquery))
        if (
            counted
            and not exact
            and self.dialect not in _EXACT_DIVISION
            and not any(isinstance(p, exp.Avg) for p in parts)
        ):
            self.faults.append(Mark("integer_division", span))

    # -- the whole text

    def _idle_tables(self, scope: _Scope, select: Any) -> None:
        """Tables of a join that only one condition mentions (where all columns carry their table's name)."""
        if len(scope.sources) < 2 or scope.used.get(""):
            return
        for alias in scope.sources:
            if scope.joined.get(alias, 0) == 1 and not scope.used.get(alias):
                span = next((s for w, s in reversed(self.tables)), Span(0, len(self.source)))
                self.idle.append(Mark(alias, span))

    def _tokens(self, text: str) -> None:
        """Functions of another dialect, told by name."""
        if not any(fault.kind == "dialect_uncertain" for fault in self.faults):
            self.faults += [Mark("foreign_function", span) for span in _foreign(text, self.dialect)]

    def _span(self, reading: _Reading) -> Span:
        return self._closed(reading.start, reading.end) if reading.end >= 0 else Span(0, len(self.source))

    def _closed(self, start: int, end: int) -> Span:
        """A span with the closing brackets that belong to it: brackets have no place in the tree."""
        text = self.source[start:end]
        for _ in range(text.count("(") - text.count(")")):
            after = re.compile(r"\s*\)").match(self.source, end)
            if after is None:
                break
            end = after.end()
        return Span(start, end)

    def _cover(self, reading: _Reading, node: Any) -> None:
        span = self._node_span(node)
        if span.end > span.start and span != Span(0, len(self.source)):
            reading.cover(span)

    def _node_span(self, node: Any) -> Span:
        """From the first to the last placed node below; the whole text where none is placed."""
        meta = node.meta
        start, end = (meta["start"], meta["end"] + 1) if "start" in meta else (1 << 60, -1)
        if end < 0 or not isinstance(node, _placed_leaves()):
            for below in _walk(node):
                if "start" in below.meta:
                    start, end = min(start, below.meta["start"]), max(end, below.meta["end"] + 1)
        return self._closed(start, end) if end >= 0 else Span(0, len(self.source))


def _foreign(text: str, dialect: str) -> list[Span]:
    """Functions in a text that its dialect does not have."""
    foreign = FOREIGN_FUNCTIONS.get(dialect, frozenset())
    found = [Span(*m.span(1)) for m in re.finditer(r"\b([A-Za-z_]+)\s*\(", text) if m[1].upper() in foreign]
    if dialect not in ("tsql", "fabric", "snowflake", "redshift"):
        found += [
            Span(*m.span(1)) for m in re.finditer(r"\bSELECT\s+(?:DISTINCT\s+)?(TOP)\s+\d+", text, re.I)
        ]
    return found


def _parses(text: str, dialect: str) -> bool:
    try:
        _parse(text, dialect, [])
    except UnscoredError:
        return False
    return True


_OPERATORS = {
    "EQ": "=", "NEQ": "!=", "GT": ">", "GTE": ">=", "LT": "<", "LTE": "<=", "Like": "like", "ILike": "ilike",
    "In": "in", "Between": "between", "RegexpLike": "like", "Glob": "like",
    "StartsWith": "like", "EndsWith": "like", "Contains": "like", "SimilarTo": "like",
    "NullSafeEQ": "=", "NullSafeNEQ": "!=",
}  # fmt: skip
_FUNCTIONS = {
    "Count": "COUNT", "CountIf": "COUNT", "Sum": "SUM", "Avg": "AVG", "Max": "MAX", "Min": "MIN",
}  # fmt: skip


def _compared() -> Any:
    from sqlglot import exp

    return (
        exp.EQ,
        exp.NEQ,
        exp.GT,
        exp.GTE,
        exp.LT,
        exp.LTE,
        exp.Like,
        exp.ILike,
        exp.In,
        exp.Between,
        exp.Is,
    )


def _placed_leaves() -> Any:
    from sqlglot import exp

    return (exp.Identifier, exp.Literal, exp.Star)


def _takes_formats(node: Any) -> bool:
    """Whether a function's literal arguments are formats or positions, and no values to compare with."""
    from sqlglot import exp

    plain = (
        exp.Lower,
        exp.Upper,
        exp.Trim,
        exp.Cast,
        exp.Date,
        exp.AggFunc,
        exp.Coalesce,
        exp.TsOrDsToDate,
        exp.Concat,
        exp.Array,
        exp.StartsWith,
        exp.EndsWith,
        exp.Contains,
        exp.RegexpLike,
    )
    arithmetic = (exp.Mul, exp.Div)
    return isinstance(node, arithmetic) or (
        isinstance(node, exp.Func) and not isinstance(node, (*plain, exp.And, exp.Or, *_compared()))
    )


def _known(node: Any, scope: _Scope | None) -> _Reading | None:
    """What a column stands for, if a derived table names it."""
    table, name = node.table.lower(), node.name.lower()
    while scope is not None:
        for alias, columns in scope.sources.items():
            if columns and name in columns and table in ("", alias):
                return columns[name]
        scope = scope.outer
    return None


def _truth(node: Any) -> bool | None:
    """What a condition without columns says: 1 = 0, TRUE, 'a' = 'a'; None where it depends on rows."""
    from sqlglot import exp

    if isinstance(node, exp.Boolean):
        return bool(node.this)
    if isinstance(node, exp.Literal):
        return None if node.is_string or not is_number(node.this) else float(node.this) != 0
    if not isinstance(node, (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE)):
        return None
    left, right = node.this, node.expression
    if not (isinstance(left, exp.Literal) and isinstance(right, exp.Literal)):
        return None
    if left.is_string or right.is_string:
        equal = left.this == right.this
        return equal if isinstance(node, exp.EQ) else not equal if isinstance(node, exp.NEQ) else None
    if not (is_number(left.this) and is_number(right.this)):
        return None
    a, b = float(left.this), float(right.this)
    return {
        exp.EQ: a == b, exp.NEQ: a != b, exp.GT: a > b, exp.GTE: a >= b, exp.LT: a < b, exp.LTE: a <= b,
    }[type(node)]  # fmt: skip


def _clash(required: Sequence[Any]) -> Any:
    """A condition that cannot hold beside another: two values of one column, a bound beyond the other."""
    from sqlglot import exp

    values: dict[tuple[str, str], str] = {}
    low: dict[tuple[str, str], float] = {}
    high: dict[tuple[str, str], float] = {}
    for node in required:
        column, literal = node.this, node.args.get("expression")
        if not (isinstance(column, exp.Column) and isinstance(literal, exp.Literal)):
            continue
        key = (column.table.lower(), column.name.lower())
        if isinstance(node, exp.EQ) and values.setdefault(key, literal.this.lower()) != literal.this.lower():
            return node
        if literal.is_string or not is_number(literal.this):
            continue
        if isinstance(node, (exp.GT, exp.GTE)):
            low[key] = max(low.get(key, float("-inf")), float(literal.this))
        elif isinstance(node, (exp.LT, exp.LTE)):
            high[key] = min(high.get(key, float("inf")), float(literal.this))
        if low.get(key, float("-inf")) > high.get(key, float("inf")):
            return node
    return None


def _pattern(node: Any) -> str:
    """Where a condition wants its value in the text (see `Filter.pattern`)."""
    from sqlglot import exp

    right = node.args.get("expression")
    if isinstance(node, exp.EQ):
        return "equal" if isinstance(node.this, exp.Column) and isinstance(right, exp.Literal) else ""
    for kind, where in ((exp.StartsWith, "prefix"), (exp.EndsWith, "suffix"), (exp.Contains, "contains")):
        if isinstance(node, kind):
            return where
    if not isinstance(right, exp.Literal):
        return ""
    text = right.this
    if isinstance(node, exp.RegexpLike):
        start, end, inner = not text.startswith("^"), not text.endswith("$"), False
        if not re.fullmatch(r"\^?[\w ]+(\.\*)?\$?", text):
            return ""
        end = end or text.endswith(".*")
    elif isinstance(node, (exp.Like, exp.ILike, exp.Glob)):
        sign = "*" if isinstance(node, exp.Glob) else "%"
        start, end, inner = text.startswith(sign), text.endswith(sign), sign in text.strip(sign)
        inner = inner or "_" in text or "?" in text
    else:
        return ""
    if inner:
        return ""
    return {(False, True): "prefix", (True, False): "suffix", (True, True): "contains"}.get(
        (start, end), "equal"
    )


def _bare_sign(node: Any) -> Any:
    from sqlglot import exp

    while isinstance(node, (exp.Paren, exp.Neg)):
        node = node.this
    return node


def _bare(node: Any) -> Any:
    from sqlglot import exp

    while isinstance(node, (exp.Paren, exp.Mul)):
        node = node.this
    return node


def _children(node: Any) -> Iterator[Any]:
    """The expressions directly below a node, in the order of its arguments."""
    from sqlglot import exp

    for value in node.args.values():
        if isinstance(value, exp.Expression):
            yield value
        elif isinstance(value, list):
            for item in value:
                if isinstance(item, exp.Expression):
                    yield item


def _walk(node: Any, prune: type | None = None) -> Iterator[Any]:
    """A node and all below it, without recursion; below `prune` nothing."""
    stack = [node]
    while stack:
        current = stack.pop()
        yield current
        if prune is None or not isinstance(current, prune):
            stack.extend(_children(current))
