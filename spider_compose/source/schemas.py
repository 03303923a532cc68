"""Spider's `tables.json`: one list with a schema per database."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from spider_compose.errors import SourceError
from spider_compose.source.files import SourceFile
from spider_compose.source.json_text import parse_list
from spider_compose.sql.schema import Schema

TABLES = "tables.json"
NO_SCHEMAS = f"no {TABLES}: table and column names are split at `_` and case changes"


def find_schemas(given: Path | None, folders: Iterable[Path]) -> SourceFile | None:
    """The schemas' file: the one given (a file, or a folder that holds it), else the first in the folders.

    Raises:
        SourceError: the one given does not exist or cannot be read.
    """
    if given is not None:
        path = given / TABLES if given.is_dir() else given
        if not path.is_file():
            raise SourceError(
                f"`schemas` must be a file in the format of Spider's {TABLES}, but there is no {path}."
            )
        return SourceFile.read(path, TABLES)
    for folder in folders:
        if (folder / TABLES).is_file():
            return SourceFile.read(folder / TABLES, TABLES)
    return None


def read_schemas(file: SourceFile | None) -> dict[str, Schema]:
    """The schemas by db_id; none where there is no file.

    Raises:
        SourceError: the file is not in the format, or names a database twice.
    """
    schemas: dict[str, Schema] = {}
    for number, entry in enumerate(parse_list(file) if file else []):
        place = f"{file.name if file else TABLES}, entry {number} (counted from 0)"
        try:
            schema = Schema.from_tables_json(entry)
        except SourceError as error:
            raise SourceError(f"{place}: {error}") from None
        if schema.db_id in schemas:
            raise SourceError(f"{place}: the database {schema.db_id!r} stands there twice. Keep one.")
        schemas[schema.db_id] = schema
    return schemas
