"""The schema of one database from a DDL script, such as the dump of any database system.

Of a script only the tables' columns and keys count here. So it is cut into statements first, by the dialect's
quotes and comments, and nothing but CREATE TABLE, up to the end of its list of columns, and ALTER TABLE with
a key is parsed: rows, procedures, storage options and the rest need not be SQL that sqlglot knows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from spider_compose.errors import SourceError
from spider_compose.source.database_schema import Key, only_key, schema_of
from spider_compose.source.files import SourceFile
from spider_compose.sql.clauses import sql_dialect
from spider_compose.sql.schema import Column, Schema, readable_name

if TYPE_CHECKING:
    from sqlglot import exp

_NAME = r"(?:[\w$.]|\"[^\"]*\"|`[^`]*`|\[[^\]]*\])+"
_MADE = re.compile(
    r"\s*CREATE\s+(?:OR\s+REPLACE\s+)?(?:(?:GLOBAL|LOCAL|TEMP|TEMPORARY|UNLOGGED|EXTERNAL|TRANSIENT)\s+)*TABLE\s+"
    rf"(?:IF\s+NOT\s+EXISTS\s+)?{_NAME}\s*\(",
    re.IGNORECASE,
)
_KEY_ADDED = re.compile(r"\s*ALTER\s+TABLE\b.*?\bADD\b.*?\bKEY\b", re.IGNORECASE | re.DOTALL)
_MAY_COUNT = re.compile(r"\b(?:CREATE|ALTER)\s", re.IGNORECASE)
# PostgreSQL's dumps hold the rows themselves, up to a line with \. alone.
_COPIED_ROWS = re.compile(
    r"^COPY\b[^;]*\bFROM\s+stdin\b[^;]*;\n.*?^\\\.$", re.IGNORECASE | re.DOTALL | re.MULTILINE
)


def of_ddl(file: SourceFile, db_id: str, dialect: str) -> Schema:
    """The tables of a script of CREATE TABLE statements; its other statements say nothing here.

    A table that is made twice has the columns of both.

    Raises:
        SourceError: a table's statement doesn't parse, or there is none.
    """
    from sqlglot import exp

    tables: dict[str, dict[str, Column]] = {}
    keys: list[Key] = []
    for line, text in _statements(file.text(), dialect):
        statement = _parsed(text, file, line, dialect)
        if isinstance(statement, exp.Create) and isinstance(statement.this, exp.Schema):
            name = statement.this.this.name
            columns = tables.setdefault(name, {})
            for column in _columns(statement.this, dialect):
                columns.setdefault(column.name, column)
            keys += _foreign_keys(name, statement.this)
        elif isinstance(statement, exp.Alter) and isinstance(statement.this, exp.Table):
            name = statement.this.name
            primary = _primary_key(statement)
            for column in list(tables.get(name, {}).values()):
                if column.name.lower() in primary:
                    tables[name][column.name] = Column(column.name, column.words, column.type, True)
            keys += _foreign_keys(name, statement)
    made = {name: list(columns.values()) for name, columns in tables.items()}
    known = [(own, (table, column or only_key(made.get(table, ())))) for own, (table, column) in keys]
    return schema_of(file, db_id, made, [key for key in known if key[1][1]])


def _statements(script: str, dialect: str) -> Iterator[tuple[int, str]]:
    """The statements that make tables or add keys, each with the line where it starts, comments left out."""
    script = _COPIED_ROWS.sub(lambda rows: "\n" * rows[0].count("\n"), script)
    pieces, start = _pieces(dialect), 0
    for piece in pieces.finditer(script):
        if piece.lastgroup != "end":
            continue
        if _MAY_COUNT.search(script, start, piece.start()):
            text = pieces.sub(_without_comment, script[start : piece.start()])
            if _MADE.match(text) or _KEY_ADDED.match(text):
                yield script.count("\n", 0, start) + 1, text[: _end_of_columns(text, pieces)]
        start = piece.end()


def _pieces(dialect: str) -> re.Pattern[str]:
    """Comments, quoted texts, brackets and what ends a statement, as the dialect writes them."""
    tokenizer = sql_dialect(dialect).tokenizer_class
    opened = "|".join(re.escape(mark) for mark in tokenizer.COMMENTS if isinstance(mark, str))
    escapes = "\\" in tokenizer.STRING_ESCAPES
    plain, escaped = (r"[^'\\]*", r"(?:''|\\.)") if escapes else ("[^']*", "''")
    return re.compile(
        rf"(?P<comment>(?:{opened})[^\n]*|/\*.*?\*/)"
        rf"|(?P<quoted>'{plain}(?:{escaped}{plain})*'|\"[^\"]*\"|`[^`]*`|\[[^\]]*\]|\$(\w*)\$.*?\$\3\$)"
        r"|(?P<end>;|^[ \t]*GO[ \t\r]*$|\Z)|(?P<bracket>[()])",
        re.DOTALL | re.MULTILINE | re.IGNORECASE,
    )


def _without_comment(piece: re.Match[str]) -> str:
    return "\n" * piece[0].count("\n") + " " if piece["comment"] else piece[0]


def _end_of_columns(text: str, pieces: re.Pattern[str]) -> int | None:
    """Where the list of columns of a CREATE TABLE ends; None for another statement."""
    depth = 0
    for piece in pieces.finditer(text) if _MADE.match(text) else ():
        depth += {"(": 1, ")": -1}.get(piece[0], 0)
        if piece[0] == ")" and not depth:
            return piece.end()
    return None


def _parsed(text: str, file: SourceFile, line: int, dialect: str) -> exp.Expr | None:
    from sqlglot import parse
    from sqlglot.errors import ParseError, SqlglotError

    try:
        return parse(text, dialect=dialect)[0]
    except (SqlglotError, RecursionError, AttributeError, AssertionError, TypeError) as error:
        place: dict[str, Any] = (error.errors or [{}])[0] if isinstance(error, ParseError) else {}
        blank = len(text) - len(text.lstrip())
        line += (place.get("line") or text.count("\n", 0, blank) + 1) - 1
        what = place.get("description") or str(error).splitlines()[0] or type(error).__name__
        raise SourceError(
            f"{file.name}, line {line}: does not parse as SQL of the dialect {dialect!r}: {what} Mend it, or "
            "choose another `dialect`."
        ) from None


def _columns(made: exp.Schema, dialect: str) -> Iterator[Column]:
    from sqlglot import exp

    primary = _primary_key(made)
    for column in made.expressions:
        if isinstance(column, exp.ColumnDef):
            type_ = column.args.get("kind")
            own = any(isinstance(one.kind, exp.PrimaryKeyColumnConstraint) for one in column.constraints)
            yield Column(
                column.name,
                readable_name(column.name),
                type_.sql(dialect=dialect).lower() if type_ else "text",
                own or column.name.lower() in primary,
            )


def _primary_key(statement: exp.Expr) -> set[str]:
    """Lower-cased columns of PRIMARY KEY (...), also of T-SQL's PRIMARY KEY CLUSTERED (...)."""
    from sqlglot import exp

    named = {part.name.lower() for key in statement.find_all(exp.PrimaryKey) for part in key.expressions}
    clustered = [
        one
        for one in statement.find_all(exp.Constraint)
        if any(isinstance(part, exp.PrimaryKeyColumnConstraint) for part in one.expressions)
    ]
    return named | {column.name.lower() for one in clustered for column in one.find_all(exp.Column)}


def _foreign_keys(table: str, made: exp.Expr) -> list[Key]:
    """Foreign keys of a table; the column referred to is empty where the script leaves it out."""
    from sqlglot import exp

    keys: list[Key] = []
    for key in made.find_all(exp.ForeignKey):
        other, theirs = _referred(key.args.get("reference"))
        own = [part.name for part in key.expressions]
        keys += [
            ((table, one), (other, two)) for one, two in zip(own, theirs or [""] * len(own), strict=False)
        ]
    for column in made.find_all(exp.ColumnDef):
        for constraint in column.constraints:
            if isinstance(constraint.kind, exp.Reference):
                other, theirs = _referred(constraint.kind)
                keys.append(((table, column.name), (other, theirs[0] if theirs else "")))
    return keys


def _referred(reference: Any) -> tuple[str, list[str]]:
    """Table and columns of a REFERENCES."""
    from sqlglot import exp

    table = reference.find(exp.Table) if reference is not None else None
    target = reference.this if reference is not None else None
    columns = [part.name for part in target.expressions] if isinstance(target, exp.Schema) else []
    return (table.name if table is not None else ""), columns
