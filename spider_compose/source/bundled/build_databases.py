"""Make the bundled corpus' SQLite files and its `tables.json` from the `.sql` scripts.

Run `python -m spider_compose.source.bundled.build_databases DIR` to write `DIR/<db_id>/<db_id>.sqlite`,
the layout of Spider's `database` folder. With the same SQLite library the same bytes come out.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sqlite3
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from spider_compose.errors import SpiderComposeError
from spider_compose.source.bundled import database_scripts
from spider_compose.sql.schema import readable_name

# A comment at the end of a line in CREATE TABLE says how a person would name the column (or the table,
# on its first line) where splitting the identifier does not: `max_kt REAL, -- top speed in knots`.
_NAMED_TABLE = re.compile(r"^CREATE TABLE\s+(\w+)\s*\(\s*--\s*(.+?)\s*$")
_NAMED_COLUMN = re.compile(r"^\s*(\w+)\s.*--\s*(.+?)\s*$")


def build_databases(folder: str | os.PathLike[str]) -> dict[str, Path]:
    """Write every bundled database to `folder/<db_id>/<db_id>.sqlite`, replacing what is there.

    Args:
        folder: made if it does not exist.

    Returns:
        The SQLite file of each db_id, in alphabetical order.

    Raises:
        SpiderComposeError: `folder` cannot be written.
    """
    return {
        db_id: _build_one(script, Path(folder) / db_id / f"{db_id}.sqlite")
        for db_id, script in database_scripts().items()
    }


def tables_json() -> str:
    """The text of `tables.json`: all bundled schemas in Spider's format, ordered by db_id."""
    entries = []
    for db_id, script in database_scripts().items():
        connection = sqlite3.connect(":memory:")
        try:
            connection.executescript(script.read_text(encoding="utf-8"))
            entries.append(_schema_entry(db_id, connection))
        finally:
            connection.close()
    return json.dumps(entries, indent=1, ensure_ascii=False) + "\n"


def _build_one(script: Path, target: Path) -> Path:
    """Run one script into a new file beside `target`, then move it there, so that none is half-written."""
    unfinished = target.with_suffix(f".{os.getpid()}.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        unfinished.unlink(missing_ok=True)
        connection = sqlite3.connect(unfinished)
        try:
            # One transaction: fewer writes, and the header's change counter does not depend on the script.
            connection.executescript(f"BEGIN;\n{script.read_text(encoding='utf-8')}\nCOMMIT;")
        finally:
            connection.close()
        unfinished.replace(target)
    except (OSError, sqlite3.OperationalError) as error:
        with suppress(OSError):
            unfinished.unlink()
        raise SpiderComposeError(
            f"cannot write the database {target}: {error}. Choose a folder that can be written."
        ) from error
    return target


def _schema_entry(db_id: str, connection: sqlite3.Connection) -> dict[str, Any]:
    """One database in the format of Spider's `tables.json`."""
    tables = connection.execute(
        "SELECT name, sql FROM sqlite_master WHERE type = 'table' ORDER BY rowid"
    ).fetchall()
    originals: list[tuple[int, str]] = [(-1, "*")]
    words: list[tuple[int, str]] = [(-1, "*")]
    types = ["text"]
    primary: list[int] = []
    for number, (table, definition) in enumerate(tables):
        named = _column_words(definition)
        for _, column, declared, _, _, key in connection.execute(f'PRAGMA table_info("{table}")'):
            if key:
                primary.append(len(originals))
            originals.append((number, column))
            words.append((number, named.get(column, readable_name(column))))
            types.append(_column_type(declared))

    names = [name for name, _ in tables]
    index = {(names[number], column): at for at, (number, column) in enumerate(originals) if number >= 0}
    foreign = [
        [index[table, own], index[other, theirs]]
        for table in names
        for _, _, other, own, theirs, *_ in sorted(
            connection.execute(f'PRAGMA foreign_key_list("{table}")'), key=lambda row: index[table, row[3]]
        )
    ]
    return {
        "column_names": words,
        "column_names_original": originals,
        "column_types": types,
        "db_id": db_id,
        "foreign_keys": foreign,
        "primary_keys": primary,
        "table_names": [_table_words(name, definition) for name, definition in tables],
        "table_names_original": names,
    }


def _column_words(definition: str) -> dict[str, str]:
    """The columns of a CREATE TABLE text that have a comment with their readable name."""
    matches = (_NAMED_COLUMN.match(line) for line in definition.splitlines()[1:])
    return {match[1]: match[2] for match in matches if match}


def _table_words(name: str, definition: str) -> str:
    named = _NAMED_TABLE.match(definition.splitlines()[0])
    return named[2] if named else readable_name(name)


def _column_type(declared: str) -> str:
    """Spider's type (text, number, time, boolean) for a declared SQLite type."""
    kind = declared.upper().split("(")[0].strip()
    if kind in ("DATE", "TIME", "DATETIME", "TIMESTAMP"):
        return "time"
    if kind in ("BOOL", "BOOLEAN"):
        return "boolean"
    return "text" if kind in ("TEXT", "VARCHAR", "CHAR") else "number"


def main(arguments: list[str] | None = None) -> int:
    """Write the databases to the folder named on the command line; the exit status."""
    parser = argparse.ArgumentParser(description="Write the bundled databases as SQLite files.")
    parser.add_argument("folder", help="where DIR/<db_id>/<db_id>.sqlite are written", metavar="DIR")
    options = parser.parse_args(arguments)
    try:
        for path in build_databases(options.folder).values():
            print(path)
    except SpiderComposeError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
