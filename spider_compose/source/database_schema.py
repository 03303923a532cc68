"""The schema of one database from a CSV of text2sql-data or a SQLite file; see `ddl` for scripts."""

from __future__ import annotations

import csv
import io
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

from spider_compose.errors import SourceError
from spider_compose.source.files import SourceFile
from spider_compose.sql.schema import Column, Schema, Table, readable_name

Key = tuple[tuple[str, str], tuple[str, str]]

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
        for number, line in enumerate(_csv_lines(file), start=1)
        if any(cell.strip(" -") for cell in line)
    ]
    header = [cell.lower() for cell in lines[0][1]] if lines else []
    wrong = [name for name in ("table name", "field name") if header.count(name) != 1]
    if wrong:
        raise SourceError(
            f"{file.name} must begin with a header line that names {' and '.join(wrong)} once, as in 'Table "
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
    return schema_of(file, db_id, tables, ())


def _csv_lines(file: SourceFile) -> Iterator[list[str]]:
    reader = csv.reader(io.StringIO(file.text(), newline=""), strict=True)
    try:
        yield from reader
    except csv.Error as error:
        raise SourceError(
            f"{file.name}, line {reader.line_num}: not valid CSV ({error}). A quote may be left open."
        ) from None


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
    return file, schema_of(file, db_id, columns, keys)


def _sqlite_columns(database: sqlite3.Connection, table: str) -> list[Column]:
    found = database.execute("SELECT name, type, pk FROM pragma_table_info(?)", (table,))
    return [Column(name, readable_name(name), type_ or "text", bool(key)) for name, type_, key in found]


def _sqlite_keys(database: sqlite3.Connection, table: str, columns: Mapping[str, list[Column]]) -> list[Key]:
    found = database.execute('SELECT "from", "table", "to" FROM pragma_foreign_key_list(?)', (table,))
    return [
        ((table, own), (other, theirs or only_key(columns.get(other, ()))))
        for own, other, theirs in found.fetchall()
        if theirs or only_key(columns.get(other, ()))
    ]


def only_key(columns: Iterable[Column]) -> str:
    """The primary key of a table that has one of one column: what REFERENCES without a column means."""
    keys = [column.name for column in columns if column.is_primary_key]
    return keys[0] if len(keys) == 1 else ""


def schema_of(
    file: SourceFile, db_id: str, tables: Mapping[str, list[Column]], keys: Iterable[Key]
) -> Schema:
    """A schema from the columns of each table; names are split into words.

    Raises:
        SourceError: there is no column.
    """
    if not any(tables.values()):
        raise SourceError(f"{file.name} describes no table. Give the file that does, or none.")
    return Schema(
        db_id,
        tuple(Table(name, readable_name(name), tuple(columns)) for name, columns in tables.items()),
        tuple(keys),
    )
