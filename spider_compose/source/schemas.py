"""Schemas of a corpus: Spider's `tables.json`, a CSV of text2sql-data, a SQLite file or a DDL script.

`tables.json` holds one list with a schema per database. The other three hold one database each, without its
name: it is the file's, or the corpus's where that has only one database.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from spider_compose.errors import SourceError
from spider_compose.source.files import SourceFile
from spider_compose.source.json_text import parse_list
from spider_compose.sql.schema import Schema

TABLES = "tables.json"
NO_SCHEMAS = f"no {TABLES}: table and column names are split at `_` and case changes"

SQLITE = ("sqlite", "sqlite3", "db")
DDL = ("sql", "ddl")
ONE_DATABASE = ("csv", *SQLITE, *DDL)
BESIDE = tuple(f"schema.{ending}" for ending in ONE_DATABASE)
"""Names under which a file with one database is found beside the rows."""


@dataclass(frozen=True)
class Schemas:
    """The schemas of a corpus.

    Attributes:
        by_name: by db_id.
        files: what was read, for the fingerprint.
        unnamed: the file holds one database and doesn't say which: it is that of a corpus with one database.
    """

    by_name: Mapping[str, Schema] = field(default_factory=dict)
    files: tuple[SourceFile, ...] = ()
    unnamed: bool = False

    def named_for(self, databases: Iterable[str]) -> Mapping[str, Schema]:
        """The schemas by the names that the corpus has for its databases."""
        names = set(databases)
        if self.unnamed and len(names) == 1:
            name, (schema,) = names.pop(), self.by_name.values()
            return {name: replace(schema, db_id=name)}
        return self.by_name


def find_schemas(given: Path | None, folders: Iterable[Path], dialect: str = "sqlite") -> Schemas:
    """Read the schemas given (a file, or a folder that holds them), else those in the first folder with any.

    Args:
        dialect: of a DDL script.

    Raises:
        SourceError: those given do not exist, or a file cannot be read.
    """
    if given is not None:
        return _given_schemas(given, dialect)
    for folder in folders:
        for name in (TABLES, *BESIDE):
            if (folder / name).is_file():
                return read_schema_file(folder / name, dialect)
    return Schemas()


def _given_schemas(given: Path, dialect: str) -> Schemas:
    if given.is_file():
        return read_schema_file(given, dialect)
    if (given / TABLES).is_file():
        return read_schema_file(given / TABLES, dialect)
    # BIRD's databases lie in a folder each, NAME/NAME.sqlite, beside files that are none.
    files = sorted(
        path
        for pattern in ("*", "*/*")
        for path in (given.glob(pattern) if given.is_dir() else ())
        if path.suffix[1:].lower() in ONE_DATABASE and path.is_file()
        if path.parent == given or path.stem == path.parent.name
    )
    if not files:
        raise SourceError(
            f"`schemas` must be a file in the format of Spider's {TABLES}, a CSV of text2sql-data, a SQLite "
            f"file (.{', .'.join(SQLITE)}), a DDL script (.{', .'.join(DDL)}) or a folder of them, but there "
            f"is no {given / TABLES if given.is_dir() else given}."
        )
    read = [read_schema_file(path, dialect) for path in files]
    return merged(read) if len(read) > 1 else read[0]


def merged(all_: Iterable[Schemas]) -> Schemas:
    """The schemas of several files.

    Raises:
        SourceError: two files have a database of the same name and other tables.
    """
    by_name: dict[str, Schema] = {}
    files: list[SourceFile] = []
    for one in all_:
        for name, schema in one.by_name.items():
            if by_name.setdefault(name, schema) != schema:
                raise SourceError(
                    f"{', '.join(file.name for file in one.files)}: the database {name!r} has other tables "
                    f"there than in {', '.join(file.name for file in files)}. Keep one."
                )
        files.extend(one.files)
    return Schemas(by_name, tuple(files))


def read_schema_file(path: Path, dialect: str = "sqlite", name: str | None = None) -> Schemas:
    """Read one file, in the format that its ending says.

    Args:
        name: what its one database is called, where the file's name doesn't say.

    Raises:
        SourceError: it cannot be read, is not in its format or holds no table.
    """
    from spider_compose.source import database_schema, ddl  # sqlite3 and sqlglot, which few corpora need

    ending = path.suffix[1:].lower()
    name = name or path.stem.removesuffix("-schema")
    if ending in SQLITE:
        file, schema = database_schema.of_sqlite(path, name)
        return Schemas({name: schema}, (file,), unnamed=True)
    if ending == "csv":
        file = SourceFile.read(path)
        return Schemas({name: database_schema.of_csv(file, name)}, (file,), unnamed=True)
    if ending in DDL:
        file = SourceFile.read(path)
        return Schemas({name: ddl.of_ddl(file, name, dialect)}, (file,), unnamed=True)
    # However the one file is called, its rows are the same; of several, BIRD's, each keeps its name.
    file = SourceFile.read(path, path.name if path.name.endswith(f"_{TABLES}") else TABLES)
    return Schemas(read_tables(file), (file,))


def read_tables(file: SourceFile) -> dict[str, Schema]:
    """The schemas of a `tables.json` by db_id.

    Raises:
        SourceError: the file is not in the format, or names a database twice.
    """
    schemas: dict[str, Schema] = {}
    for number, entry in enumerate(parse_list(file)):
        place = f"{file.name}, entry {number} (counted from 0)"
        try:
            schema = Schema.from_tables_json(entry)
        except SourceError as error:
            raise SourceError(f"{place}: {error}") from None
        if schema.db_id in schemas:
            raise SourceError(f"{place}: the database {schema.db_id!r} stands there twice. Keep one.")
        schemas[schema.db_id] = schema
    return schemas
