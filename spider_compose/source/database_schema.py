"""The schema of one database from what describes it: a CSV of text2sql-data, a SQLite file, a DDL script."""

from __future__ import annotations

import csv
import io
import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from spider_compose.errors import SourceError
from spider_compose.source.files import SourceFile
from spider_compose.sql.schema import Column, Schema, Table, readable_name

if TYPE_CHECKING:
    from sqlglot import exp

_Key = tuple[tuple[str, str], tuple[str, str]]

# Cells of the CSV that say yes; Advising has MySQL's PRI in their place.
_YES = frozenset({"y", "yes", "pri"})


def of_csv(file: SourceFile, db_id: str) -> Schema:
    """The tables of a CSV as text2sql-data has them: `Table Name, Field Name, Is Primary Key, ..., Type`.

    Lines of `-` part the tables. Which column a foreign key refers to isn't said there.

    Raises:
        SourceError: the header is another, a line is too short, or there is no line.
    """
    lines = [
        (number, [cell.strip() for cell in line])
        for number, line in enumerate(csv.reader(io.StringIO(file.text(), newline="")), start=1)
        if any(cell.strip(" -") for cell in line)
    ]
    header = [cell.lower() for cell in lines[0][1]] if lines else []
    missing = [name for name in ("table name", "field name") if name not in header]
    if missing:
        raise SourceError(
            f"{file.name} must begin with a header line that names {' and '.join(missing)}, as in 'Table "
            "Name, Field Name, Is Primary Key, Is Foreign Key, Type'; found "
            f"{lines[0][1] if lines else 'nothing'}."
        )
    places = {name: place for place, name in enumerate(header)}
    tables: dict[str, list[Column]] = {}
    for number, cells in lines[1:]:
        row = {name: cells[place] for name, place in places.items() if place < len(cells)}
        table, column = row.get("table name"), row.get("field name")
        if not table or not column:
            raise SourceError(f"{file.name}, line {number}: a table or a column has no name.")
        key = row.get("is primary key", "").lower() in _YES
        tables.setdefault(table, []).append(
            Column(column, readable_name(column), row.get("type") or "text", key)
        )
    return _schema(file, db_id, tables, ())


def of_sqlite(path: Path, db_id: str) -> tuple[SourceFile, Schema]:
    """The tables of a SQLite file, which is opened for reading only.

    Returns:
        Its statements that make the tables (of a large file, only these move the rows), and the schema.

    Raises:
        SourceError: there is no such file, it is no database, or it has no tables.
    """
    if not path.is_file():
        raise SourceError(f"no such file: {path}. Check the path.")
    address = f"file:{quote(str(path.absolute()))}?mode=ro&immutable=1"
    try:
        with closing(sqlite3.connect(address, uri=True)) as database:
            made = database.execute(
                "SELECT name, sql FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' "
                "ORDER BY rowid"
            ).fetchall()
            columns = {name: _sqlite_columns(database, name) for name, _ in made}
            keys = [key for name, _ in made for key in _sqlite_keys(database, name, columns)]
    except sqlite3.Error as error:
        raise SourceError(
            f"{path.name} cannot be read as a SQLite database ({error}). Copy or download it again."
        ) from None
    file = SourceFile(path.name, "\n".join(str(sql) for _, sql in made).encode("utf-8", "surrogateescape"))
    return file, _schema(file, db_id, columns, keys)


def _sqlite_columns(database: sqlite3.Connection, table: str) -> list[Column]:
    found = database.execute("SELECT name, type, pk FROM pragma_table_info(?)", (table,))
    return [Column(name, readable_name(name), type_ or "text", bool(key)) for name, type_, key in found]


def _sqlite_keys(database: sqlite3.Connection, table: str, columns: Mapping[str, list[Column]]) -> list[_Key]:
    found = database.execute('SELECT "from", "table", "to" FROM pragma_foreign_key_list(?)', (table,))
    return [
        ((table, own), (other, theirs or _only_key(columns.get(other, ()))))
        for own, other, theirs in found.fetchall()
        if theirs or _only_key(columns.get(other, ()))
    ]


def of_ddl(file: SourceFile, db_id: str, dialect: str) -> Schema:
    """The tables of a script of CREATE TABLE statements; its other statements say nothing here.

    Raises:
        SourceError: the script doesn't parse, or makes no table.
    """
    from sqlglot import exp, parse
    from sqlglot.errors import SqlglotError

    try:
        statements = parse(file.text(), dialect=dialect)
    except SqlglotError as error:
        first = str(error).splitlines()[0]
        raise SourceError(
            f"{file.name} does not parse as SQL of the dialect {dialect!r}: {first} Mend it, or choose "
            "another `dialect`."
        ) from None
    tables: dict[str, list[Column]] = {}
    keys: list[_Key] = []
    for statement in statements:
        made = statement.this if isinstance(statement, exp.Create) else None
        if isinstance(made, exp.Schema) and isinstance(made.this, exp.Table):
            name = made.this.name
            tables[name] = _ddl_columns(made, dialect)
            keys += _ddl_keys(name, made)
    known = [(own, (table, column or _only_key(tables.get(table, ())))) for own, (table, column) in keys]
    return _schema(file, db_id, tables, [key for key in known if key[1][1]])


def _ddl_columns(made: exp.Schema, dialect: str) -> list[Column]:
    from sqlglot import exp

    named = {part.name.lower() for key in made.find_all(exp.PrimaryKey) for part in key.expressions}
    columns = []
    for column in made.expressions:
        if isinstance(column, exp.ColumnDef):
            type_ = column.args.get("kind")
            own = any(isinstance(one.kind, exp.PrimaryKeyColumnConstraint) for one in column.constraints)
            columns.append(
                Column(
                    column.name,
                    readable_name(column.name),
                    type_.sql(dialect=dialect).lower() if type_ else "text",
                    own or column.name.lower() in named,
                )
            )
    return columns


def _ddl_keys(table: str, made: exp.Schema) -> list[_Key]:
    """Foreign keys of a table; the column referred to is empty where the script leaves it out."""
    from sqlglot import exp

    keys: list[_Key] = []
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


def _only_key(columns: Iterable[Column]) -> str:
    """The primary key of a table that has one of one column: what REFERENCES without a column means."""
    keys = [column.name for column in columns if column.is_primary_key]
    return keys[0] if len(keys) == 1 else ""


def _schema(file: SourceFile, db_id: str, tables: Mapping[str, list[Column]], keys: Iterable[_Key]) -> Schema:
    if not any(tables.values()):
        raise SourceError(f"{file.name} describes no table. Give the file that does, or none.")
    return Schema(
        db_id,
        tuple(Table(name, readable_name(name), tuple(columns)) for name, columns in tables.items()),
        tuple(keys),
    )
