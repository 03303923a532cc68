"""BIRD's JSON: `SQL`, `evidence`, and schemas in files of their own."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from spider_compose.errors import SourceError
from spider_compose.source import read_source

ROWS = [
    {
        "question_id": 0,
        "db_id": "shop",
        "question": "Dear ones?",
        "evidence": "dear: price > 9",
        "SQL": "SELECT 1",
    },
    {"question_id": 1, "db_id": "shop", "question": "Cheap ones?", "evidence": "", "SQL": "SELECT 2"},
]
TABLES = [
    {
        "db_id": "shop",
        "table_names_original": ["item"],
        "table_names": ["item"],
        "column_names_original": [[-1, "*"], [0, "price"], [0, "id"]],
        "column_names": [[-1, "*"], [0, "price"], [0, "id"]],
        "primary_keys": [[1, 2]],
    }
]


def write(path: Path, content: Any) -> Path:
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def test_parts_evidence_and_schemas(tmp_path: Path) -> None:
    write(tmp_path / "train.json", ROWS)
    write(tmp_path / "dev.json", ROWS[:1])
    write(tmp_path / "train_tables.json", TABLES)
    write(tmp_path / "dev_tables.json", TABLES)
    source = read_source(tmp_path)
    assert source.row_counts == {"train": 2, "validation": 1}
    assert [(p.query, p.evidence) for p in source.pairs["train"]] == [
        ("SELECT 1", "dear: price > 9"),
        ("SELECT 2", ""),
    ]
    assert (source.extra, source.notes, source.schemas.keys()) == (("evidence",), (), {"shop"})


def test_one_file_is_training(tmp_path: Path) -> None:
    source = read_source(write(tmp_path / "mini_dev.json", ROWS))
    assert (source.name, source.row_counts) == ("mini_dev", {"train": 2, "validation": 0})


def test_schemas_from_its_databases(tmp_path: Path) -> None:
    path = write(tmp_path / "dev.json", ROWS)
    for name in ("shop", "bank"):
        folder = tmp_path / "dev_databases" / name
        folder.mkdir(parents=True)
        with sqlite3.connect(folder / f"{name}.sqlite") as database:
            database.execute("CREATE TABLE item (id INTEGER PRIMARY KEY, price REAL)")
        database.close()
    source = read_source(path, schemas=tmp_path / "dev_databases")
    assert source.schemas.keys() == {"shop", "bank"}


def test_same_database_with_other_tables(tmp_path: Path) -> None:
    write(tmp_path / "train.json", ROWS)
    write(tmp_path / "train_tables.json", TABLES)
    write(tmp_path / "dev_tables.json", [TABLES[0] | {"primary_keys": []}])
    with pytest.raises(SourceError, match="the database 'shop' has other tables there"):
        read_source(tmp_path)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        pytest.param({"SQL": None}, "no query", id="no-sql"),
        pytest.param({"SQL": " "}, "empty query", id="blank-sql"),
        pytest.param({"question": 7}, "question not a text", id="question-a-number"),
        pytest.param({"db_id": "shp"}, "unknown schema", id="unknown-database"),
    ],
)
def test_broken_rows_are_left_out_by_reason(tmp_path: Path, changes: dict[str, Any], reason: str) -> None:
    write(tmp_path / "train.json", [ROWS[0], ROWS[1] | changes])
    write(tmp_path / "train_tables.json", TABLES)
    source = read_source(tmp_path)
    assert [(row.row, row.reason) for row in source.left_out] == [(1, reason)]


def test_evidence_that_is_no_text_is_empty(tmp_path: Path) -> None:
    path = write(tmp_path / "train.json", [ROWS[0], ROWS[1] | {"evidence": None}])
    assert [pair.evidence for pair in read_source(path).pairs["train"]] == ["dear: price > 9", ""]
