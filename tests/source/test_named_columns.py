"""Corpora of one's own whose columns have other names, or that have one database and no column for it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from spider_compose.errors import OptionError, SourceError
from spider_compose.source import read_source

ROWS = [
    {"db": "shop", "SQL": "SELECT 1", "utterance": "One?"},
    {"db": "shop", "SQL": "SELECT 2", "utterance": "Two?"},
]
NAMES = "db_id=db, query=SQL, question=utterance"


def write(path: Path, rows: list[dict[str, Any]] = ROWS) -> Path:
    if path.suffix == ".json":
        path.write_text(json.dumps(rows), encoding="utf-8")
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    elif path.suffix == ".csv":
        lines = [",".join(rows[0]), *(",".join(map(str, row.values())) for row in rows)]
        path.write_text("\n".join(lines), encoding="utf-8")
    else:
        import pyarrow as pa
        from pyarrow import parquet

        parquet.write_table(pa.Table.from_pylist(rows), path)
    return path


@pytest.mark.parametrize("ending", ["json", "jsonl", "csv", "parquet"])
def test_columns_by_name(tmp_path: Path, ending: str) -> None:
    write(tmp_path / f"train.{ending}")
    source = read_source(tmp_path, columns=NAMES)
    assert [(p.db_id, p.query, p.question) for p in source.pairs["train"]] == [
        ("shop", "SELECT 1", "One?"),
        ("shop", "SELECT 2", "Two?"),
    ]


def test_columns_as_a_mapping_and_one_database(tmp_path: Path) -> None:
    path = write(tmp_path / "train.jsonl")
    named = {"query": "SQL", "question": "utterance"}
    source = read_source(path, columns=named, database="store")
    assert {pair.db_id for pair in source.pairs["train"]} == {"store"}
    text = read_source(path, columns="question=utterance,query=SQL", database="store")
    assert text.fingerprint == source.fingerprint
    assert text.fingerprint != read_source(path, columns=NAMES).fingerprint


@pytest.mark.parametrize(
    "columns",
    ["query=SQL,question=SQL", "query=question", "query=SQL,query=sql", {"question": "query"}],
    ids=["both", "the-other's", "named-twice", "mapping"],
)
def test_one_column_is_not_both(tmp_path: Path, columns: Any) -> None:
    with pytest.raises(OptionError, match="each column once, query and question by two names"):
        read_source(write(tmp_path / "train.parquet"), columns=columns, database="store")


@pytest.mark.parametrize(
    "columns",
    ["query", "query=", "=SQL", ["query"], {"query": 1}],
    ids=["no-name", "empty-name", "no-column", "list", "number"],
)
def test_names_that_are_none(tmp_path: Path, columns: Any) -> None:
    with pytest.raises(OptionError, match="`columns` must name columns as"):
        read_source(write(tmp_path / "train.json"), columns=columns)


def test_unknown_column(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=r"columns.*Did you mean 'question'"):
        read_source(write(tmp_path / "train.json"), columns="questoin=utterance")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        pytest.param(
            {},
            r"Rename \{'db': 'db_id', 'SQL': 'query', 'utterance': 'question'\}.*name them with `columns`",
            id="none",
        ),
        pytest.param({"columns": "query=sql"}, r"lacks the columns db_id, sql, question", id="wrong"),
        pytest.param(
            {"columns": "query=SQL,question=utterance"}, "lacks the column db_id.*`database`", id="db"
        ),
    ],
)
def test_columns_that_are_not_there(tmp_path: Path, options: Mapping[str, Any], message: str) -> None:
    with pytest.raises(SourceError, match=message):
        read_source(write(tmp_path / "train.json"), **options)


def test_cells_beyond_the_header(tmp_path: Path) -> None:
    path = tmp_path / "train.csv"
    path.write_text("SQL,utterance\nSELECT 1,One?\nSELECT a, b,Two?\n", encoding="utf-8")
    source = read_source(path, columns="query=SQL,question=utterance", database="shop")
    assert [row.reason for row in source.left_out] == ["wrong number of cells"]


def test_format_by_name(tmp_path: Path) -> None:
    path = write(tmp_path / "train.json")
    with pytest.raises(SourceError, match="is not in the format bird"):
        read_source(path, format="bird")
    assert read_source(path, format="columns", columns=NAMES).row_counts["train"] == 2


@pytest.mark.parametrize("database", ["", " ", 5, ["shop"]], ids=["empty", "blank", "number", "list"])
def test_a_database_is_a_name(tmp_path: Path, database: Any) -> None:
    with pytest.raises(OptionError, match="`database` must be a name, but got"):
        read_source(write(tmp_path / "train.json"), columns=NAMES, database=database)


def test_columns_that_are_not_needed_may_stand_twice(tmp_path: Path) -> None:
    path = tmp_path / "train.csv"
    path.write_text("db_id,query,question,,\na,SELECT 1,One?,,\n", encoding="utf-8")  # as spreadsheets write
    assert read_source(path).pairs["train"][0].query == "SELECT 1"


REFUSED = {
    "columns-held-out": ("train.csv", {"held_out": "dev"}, "held_out"),
    "columns-own-split": ("train.csv", {"own_split": "query"}, "own_split"),
    "wikisql-schemas": ("train.jsonl", {"schemas": "x.sql"}, "schemas"),
    "wikisql-columns": ("train.jsonl", {"columns": "query=sql"}, "columns"),
    "bird-held-out": ("train.json", {"held_out": "dev"}, "held_out"),
    "bundled-database": ("bundled", {"database": "x"}, "database"),
}


@pytest.mark.parametrize(("name", "options", "refused"), REFUSED.values(), ids=REFUSED)
def test_options_that_a_format_does_not_read(
    tmp_path: Path, name: str, options: Mapping[str, Any], refused: str
) -> None:
    (tmp_path / "train.csv").write_text("db_id,query,question\na,SELECT 1,One?\n")
    if name == "train.json":
        row = {"db_id": "a", "question": "One?", "evidence": "", "SQL": "SELECT 1"}
        (tmp_path / name).write_text(json.dumps([row]))
    if name == "train.jsonl":
        (tmp_path / "train.csv").unlink()
        (tmp_path / name).write_text('{"table_id": "1", "question": "One?", "sql": {"sel": 0}}\n')
    source = "bundled" if name == "bundled" else tmp_path
    with pytest.raises(OptionError, match=f"`{refused}` does not go with .*Leave it out"):
        read_source(source, **options)
