"""Schemas of one database: from a CSV of text2sql-data, a SQLite file, a DDL script."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from spider_compose.errors import SourceError
from spider_compose.source import read_source
from spider_compose.source.schemas import read_schema_file
from spider_compose.sql.schema import Schema

CSV = """Table Name, Field Name, Is Primary Key, Is Foreign Key, Type
PORT, PORT_ID, y, n, int(11)
PORT, portName, n, n, varchar(255)
-, -, -, -, -
BOAT, BOAT_ID, PRI, n, int(11)
BOAT, PORT_ID, n, y, int(11), NOT NULL, more
"""
DDL = """
-- a comment; INSERT says nothing here
CREATE TABLE PORT (PORT_ID INTEGER PRIMARY KEY, portName VARCHAR(255));
CREATE TABLE BOAT (
    BOAT_ID INTEGER,
    PORT_ID INTEGER,
    PRIMARY KEY (BOAT_ID),
    FOREIGN KEY (PORT_ID) REFERENCES PORT (PORT_ID)
);
INSERT INTO PORT VALUES (1, 'Cork');
"""
KEY = (("BOAT", "PORT_ID"), ("PORT", "PORT_ID"))


def sqlite_file(path: Path, script: str = DDL) -> Path:
    database = sqlite3.connect(path)
    database.executescript(script)
    database.close()
    return path


def text_file(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def one(path: Path, dialect: str = "sqlite") -> Schema:
    (schema,) = read_schema_file(path, dialect).by_name.values()
    return schema


@pytest.mark.parametrize("ending", ["csv", "sqlite", "db", "sql"])
def test_tables_and_keys(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"harbour.{ending}"
    schema = one(
        sqlite_file(path) if ending in ("sqlite", "db") else text_file(path, CSV if ending == "csv" else DDL)
    )
    assert schema.db_id == "harbour"
    assert [(t.name, [(c.name, c.words, c.is_primary_key) for c in t.columns]) for t in schema.tables] == [
        ("PORT", [("PORT_ID", "port id", True), ("portName", "port name", False)]),
        ("BOAT", [("BOAT_ID", "boat id", True), ("PORT_ID", "port id", False)]),
    ]
    assert schema.foreign_keys == (() if ending == "csv" else (KEY,))


@pytest.mark.parametrize(
    "reference",
    ["PORT_ID INTEGER REFERENCES PORT", "PORT_ID INTEGER REFERENCES PORT (PORT_ID)"],
    ids=["its-primary-key", "named"],
)
@pytest.mark.parametrize("ending", ["sqlite", "sql"])
def test_references_at_the_column(tmp_path: Path, ending: str, reference: str) -> None:
    script = f"CREATE TABLE PORT (PORT_ID INTEGER PRIMARY KEY); CREATE TABLE BOAT ({reference});"
    path = tmp_path / f"harbour.{ending}"
    assert one(sqlite_file(path, script) if ending == "sqlite" else text_file(path, script)).foreign_keys == (
        KEY,
    )


def test_header_in_another_order(tmp_path: Path) -> None:
    text = "Table Name, Field Name, Type, Is Foreign Key, Is Primary Key\nA, b, int(11), NO, PRI, 0, -\n"
    column = one(text_file(tmp_path / "x-schema.csv", text)).tables[0].columns[0]
    assert (column.type, column.is_primary_key) == ("int(11)", True)


def test_dialect_of_a_script(tmp_path: Path) -> None:
    path = text_file(
        tmp_path / "x.sql",
        "CREATE TABLE `a b` (`c` INT UNSIGNED AUTO_INCREMENT, PRIMARY KEY (`c`)) ENGINE=X;",
    )
    schema = one(path, "mysql")
    assert schema.tables[0].name == "a b" and schema.tables[0].columns[0].is_primary_key


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        pytest.param("x.csv", b"", "is empty", id="csv-empty"),
        pytest.param("x.csv", b"a, b\n1, 2\n", "must begin with a header line", id="csv-header"),
        pytest.param("x.csv", b"Table Name, Field Name\nA\n", "line 2: a table or a column", id="csv-short"),
        pytest.param("x.csv", b"Table Name, Field Name\n-, -\n", "describes no table", id="csv-no-table"),
        pytest.param("x.sqlite", b"not a database at all", "cannot be read as a SQLite", id="sqlite-other"),
        pytest.param("x.sqlite", b"", "describes no table", id="sqlite-empty"),
        pytest.param(
            "x.sql", b"CREATE TABLE a (", "does not parse as SQL of the dialect 'sqlite'", id="ddl-broken"
        ),
        pytest.param("x.sql", b"SELECT 1;", "describes no table", id="ddl-no-table"),
        pytest.param("x.sql", b"\xff", "not UTF-8", id="ddl-not-utf-8"),
    ],
)
def test_broken_files(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(SourceError, match=message):
        read_schema_file(tmp_path / name)


def test_a_database_is_only_read(tmp_path: Path) -> None:
    path = sqlite_file(tmp_path / "harbour.sqlite")
    before = path.read_bytes()
    one(path)
    assert path.read_bytes() == before and [file.name for file in tmp_path.iterdir()] == ["harbour.sqlite"]


def corpus(folder: Path, *databases: str) -> Path:
    rows = [{"db_id": name, "query": "SELECT 1", "question": "One?"} for name in databases]
    return text_file(folder / "train.json", json.dumps(rows))


def test_one_database_takes_the_name_of_the_corpus(tmp_path: Path) -> None:
    corpus(tmp_path, "docks", "docks")
    text_file(tmp_path / "schema.sql", DDL)
    source = read_source(tmp_path)
    assert source.schemas.keys() == {"docks"} and source.schema("docks").db_id == "docks"
    assert (source.left_out, source.notes) == ((), ("no validation part",))


def test_of_several_databases_one_has_a_schema(tmp_path: Path) -> None:
    corpus(tmp_path, "docks", "harbour")
    source = read_source(tmp_path, schemas=sqlite_file(tmp_path / "harbour.sqlite"))
    assert [(row.row, row.reason) for row in source.left_out] == [(0, "unknown schema")]


def test_rows_of_a_database_do_not_move_the_fingerprint(tmp_path: Path) -> None:
    corpus(tmp_path, "docks")
    path = sqlite_file(tmp_path / "schema.sqlite")
    before = read_source(tmp_path).fingerprint
    sqlite_file(path, "INSERT INTO PORT VALUES (2, 'Galway')")
    assert read_source(tmp_path).fingerprint == before
    sqlite_file(path, "ALTER TABLE PORT ADD COLUMN DEPTH REAL")
    assert read_source(tmp_path).fingerprint != before


def test_folder_without_schemas(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"a SQLite file .* or a folder of them, but there is no"):
        read_source(corpus(tmp_path, "docks"), schemas=tmp_path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param(b"Table Name,Type\nA,int\n", "names field name once", id="no-column"),
        pytest.param(
            b"Table Name,Field Name,Field Name\nA,b,c\n", "names field name once", id="column-twice"
        ),
        pytest.param(
            b"Table Name;Field Name\nA;b\n", "names table name and field name once", id="semicolons"
        ),
        pytest.param(b'Table Name,Field Name\nA,"b\nB,c\n', "line 3: not valid CSV", id="open-quote"),
        pytest.param(b"Table Name,Field Name\nA," + b"b" * 200_000, "line 2: not valid CSV", id="huge-cell"),
        pytest.param(b"Table Name,Field Name\nA,caf\xe9\n", "not UTF-8", id="latin-1"),
    ],
)
def test_broken_csv(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "x.csv").write_bytes(content)
    with pytest.raises(SourceError, match=f"x.csv.*{message}"):
        read_schema_file(tmp_path / "x.csv")
