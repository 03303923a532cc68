"""WikiSQL's own files, and every way they can be broken."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from spider_compose.errors import SourceError
from spider_compose.source import read_source
from spider_compose.source.wikisql_query import WikiSqlQuery

TABLE = {"id": "1-7-2", "header": ["City", "Home Team", "No."], "types": ["text", "text", "real"], "rows": []}
QUESTION = {
    "table_id": "1-7-2",
    "question": "How many home teams has Rome?",
    "sql": {"sel": 1, "agg": 3, "conds": [[0, 0, "Rome"], [2, 1, 3]]},
}


def write(folder: Path, part: str, questions: list[Any], tables: list[Any] | None = None) -> None:
    for name, lines in ((part, questions), (f"{part}.tables", [TABLE] if tables is None else tables)):
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")


def test_indices_become_sql(tmp_path: Path) -> None:
    plain = QUESTION | {"sql": {"sel": 0, "agg": 0, "conds": []}}
    write(tmp_path, "train", [QUESTION])
    write(tmp_path, "dev", [plain])
    write(tmp_path, "test", [plain, plain])
    source = read_source(tmp_path)
    assert source.pairs["train"][0].query == (
        'SELECT COUNT("Home Team") FROM "table" WHERE "City" = \'Rome\' AND "No." > 3'
    )
    assert source.pairs["train"][1].query == 'SELECT "City" FROM "table"'
    assert source.row_counts == {"train": 2, "validation": 2}
    assert source.pairs["train"][0].db_id == "1-7-2"
    assert [column.type for column in source.schema("1-7-2").tables[0].columns] == ["text", "text", "real"]
    assert read_source(tmp_path, held_out="dev").row_counts == {"train": 3, "validation": 1}


BROKEN: dict[str, tuple[Callable[[Any], Any], str]] = {
    "no-sql": (lambda q: q.pop("sql"), "no query"),
    "no-conditions": (lambda q: q["sql"].pop("conds"), "no query"),
    "column-outside": (lambda q: q["sql"].update(sel=3), "no query"),
    "negative-column": (lambda q: q["sql"].update(sel=-1), "no query"),
    "aggregate-outside": (lambda q: q["sql"].update(agg=9), "no query"),
    "operator-outside": (lambda q: q["sql"].update(conds=[[0, 3, "x"]]), "no query"),
    "condition-of-two": (lambda q: q["sql"].update(conds=[[0, 0]]), "no query"),
    "index-true": (lambda q: q["sql"].update(sel=True), "no query"),
    "value-list": (lambda q: q["sql"].update(conds=[[0, 0, ["x"]]]), "no query"),
    "value-null": (lambda q: q["sql"].update(conds=[[0, 0, None]]), "no query"),
    "value-true": (lambda q: q["sql"].update(conds=[[0, 0, True]]), "no query"),
    "no-table": (lambda q: q.update(table_id="2-1-1"), "unknown schema"),
    "no-question": (lambda q: q.pop("question"), "no question"),
}


@pytest.mark.parametrize(("breaks", "reason"), BROKEN.values(), ids=BROKEN)
def test_broken_rows_are_left_out_by_reason(
    tmp_path: Path, breaks: Callable[[Any], Any], reason: str
) -> None:
    broken = copy.deepcopy(QUESTION)
    breaks(broken)
    write(tmp_path, "train", [QUESTION, broken])
    source = read_source(tmp_path)
    assert [(row.row, row.reason) for row in source.left_out] == [(1, reason)]
    assert source.left_out[0].detail.startswith("train.jsonl, line 2")
    assert len(source.pairs["train"]) == 1


@pytest.mark.parametrize("table", [{"id": "1"}, {"id": 1, "header": []}, {"id": "1", "header": [1]}, []])
def test_broken_tables(tmp_path: Path, table: object) -> None:
    write(tmp_path, "train", [QUESTION], [TABLE, table])
    with pytest.raises(SourceError, match=r"train\.tables\.jsonl, line 2: a table must have"):
        read_source(tmp_path)


def test_part_without_tables(tmp_path: Path) -> None:
    write(tmp_path, "train", [QUESTION])
    write(tmp_path, "dev", [QUESTION])
    (tmp_path / "dev.tables.jsonl").unlink()
    with pytest.raises(SourceError, match=r"has dev\.jsonl, but dev\.tables\.jsonl is missing"):
        read_source(tmp_path)


def test_no_part_has_tables(tmp_path: Path) -> None:
    write(tmp_path, "train", [QUESTION])
    (tmp_path / "train.tables.jsonl").unlink()
    with pytest.raises(SourceError, match=r"has train\.jsonl, but train\.tables\.jsonl is missing"):
        read_source(tmp_path)


def test_a_table_that_stands_twice(tmp_path: Path) -> None:
    write(tmp_path, "train", [QUESTION], [TABLE, TABLE])
    assert read_source(tmp_path).row_counts["train"] == 1
    write(tmp_path, "train", [QUESTION], [TABLE, TABLE | {"header": ["City"]}])
    with pytest.raises(SourceError, match=r"line 2: the table '1-7-2' stands there with other headings"):
        read_source(tmp_path)


def test_column_without_heading_keeps_its_place(tmp_path: Path) -> None:
    write(tmp_path, "train", [QUESTION], [TABLE | {"header": ["City", "", "No."]}])
    source = read_source(tmp_path)
    assert 'COUNT("")' in source.pairs["train"][0].query and '"No." > 3' in source.pairs["train"][0].query
    assert [column.name for column in source.schema("1-7-2").tables[0].columns] == ["City", "No."]


def test_quotes_in_headings_and_values() -> None:
    query = WikiSqlQuery("", 'the "x"', (("a", "=", "it's"), ("b", "<", "4,884")))
    assert query.sql() == """SELECT "the ""x\""" FROM "table" WHERE "a" = 'it''s' AND "b" < '4,884'"""


def test_a_number_beyond_all_numbers(tmp_path: Path) -> None:
    write(tmp_path, "train", [QUESTION])
    line = json.dumps(QUESTION).replace('"Rome"', "1e999")
    (tmp_path / "train.jsonl").write_text(f"{json.dumps(QUESTION)}\n{line}\n", encoding="utf-8")
    assert [(row.row, row.reason) for row in read_source(tmp_path).left_out] == [(1, "no query")]
