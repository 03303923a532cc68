"""One test per kind of bad input: where it is, what was expected, what to do."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from spider_compose.errors import MissingExtraError, OptionError, SourceError
from spider_compose.source import read_source, release_folder
from spider_compose.source.pairs import MAX_CHARACTERS

GOOD = {"db_id": "zoo", "query": "SELECT 1", "question": "One?"}
GOOD_JSON = json.dumps(GOOD)


def parquet_bytes(columns: dict[str, Any], tmp_path: Path) -> bytes:
    import pyarrow as pa
    from pyarrow import parquet

    parquet.write_table(pa.table(columns), tmp_path / "written")
    return (tmp_path / "written").read_bytes()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        pytest.param("train.json", b"", r"train.json is empty \(0 bytes\)", id="empty-file"),
        pytest.param("train.json", b"  ", "line 1, character 3: not valid JSON", id="blank-json"),
        pytest.param("train.json", b"[]", "train.json holds an empty list", id="empty-list"),
        pytest.param("train.jsonl", b"\n\n", "train.jsonl holds only blank lines", id="blank-lines"),
        pytest.param("train.csv", b"db_id,query,question\n", "a header line but no rows", id="header-only"),
        pytest.param(
            "train.json",
            f"[{GOOD_JSON},\n {GOOD_JSON[:20]}".encode(),
            "train.json, line 2, character 19: not valid JSON .*cut short",
            id="truncated-json",
        ),
        pytest.param(
            "train.jsonl",
            f"{GOOD_JSON}\n\n{GOOD_JSON[:20]}".encode(),
            "train.jsonl, line 3, character 18: not valid JSON .*cut short",
            id="truncated-jsonl",
        ),
        pytest.param(
            "train.json", b'[{"a": 1}\n{"b"]', "line 2, character 1: not valid JSON .*Mend it", id="no-comma"
        ),
        pytest.param(
            "train.json",
            f"{GOOD_JSON}\n{GOOD_JSON}\n".encode(),
            "line 2, character 1.*must be named .jsonl",
            id="lines-in-json",
        ),
        pytest.param(
            "train.json",
            b'{"data": [], "version": 1}',
            r"list of rows, but holds an object with the keys \['data', 'version'\]",
            id="object",
        ),
        pytest.param("train.json", b'"text"', "list of rows, but holds a text", id="text-in-json"),
        pytest.param(
            "train.json",
            f'[{GOOD_JSON[:-1]}, "note": "NaN"}},\n {{"db_id": NaN}}]'.encode(),
            "line 2, character 12: NaN is not JSON",
            id="nan",
        ),
        pytest.param("train.jsonl", b'\n{"x": -Infinity}', "line 2, character 7: -Infinity", id="infinity"),
        pytest.param(
            "train.json",
            f'[{GOOD_JSON}, {GOOD_JSON[:-1]}, "query": "SELECT 2"}}]'.encode(),
            "train.json, row 1 .*the key 'query' stands twice",
            id="key-twice",
        ),
        pytest.param(
            "train.jsonl",
            f'{GOOD_JSON}\n{GOOD_JSON[:-1]}, "query": "SELECT 2"}}'.encode(),
            "train.jsonl, line 2: the key 'query' stands twice",
            id="key-twice-in-line",
        ),
        pytest.param("train.json", b"[" * 200_000, "train.json: not readable as JSON", id="deep-nesting"),
        pytest.param(
            "train.json", b'[{"db_id": "caf\xe9"}]', "not UTF-8: byte 0xe9 at position 15", id="latin-1"
        ),
        pytest.param(
            "train.csv",
            b"\xef\xbb\xbfdb_id\xff",
            "not UTF-8: byte 0xff at position 8",
            id="not-utf-8-after-mark",
        ),
        pytest.param("train.json", '["a"]'.encode("utf-16"), "looks like UTF-16", id="utf-16"),
        pytest.param(
            "train.json", b"version https://git-lfs.github.com/spec/v1", "git lfs pull", id="lfs-pointer"
        ),
        pytest.param(
            "train.json",
            b'[{"db_id": "a", "SQL": "b", "questions": "c"}]',
            r"train.json lacks the columns query, question. Expected db_id, query, question; "
            r"found db_id, SQL, questions. Rename \{'SQL': 'query', 'questions': 'question'\}",
            id="missing-columns-json",
        ),
        pytest.param(
            "train.jsonl",
            b'{"db_id": "a", "query": "b"}',
            "lacks the column question. ",
            id="missing-column-jsonl",
        ),
        pytest.param(
            "train.csv", b"db_id;query;question\na;b;c\n", "Separate the columns by commas", id="semicolons"
        ),
        pytest.param(
            "train.csv", b"db_id,query,question,query\na,b,c,d\n", "'query' twice", id="column-twice"
        ),
        pytest.param(
            "train.csv",
            b'db_id,query,question\na,"SELECT 1,q\nb,c,d\n',
            "not valid CSV .*A quote may be left open",
            id="open-quote",
        ),
        pytest.param("train.parquet", b"garbage" * 99, "cannot be read as Parquet", id="garbage-parquet"),
        pytest.param(
            "train.json",
            json.dumps([GOOD, GOOD | {"query": "x" * (MAX_CHARACTERS["query"] + 1)}]).encode(),
            "row 1: query has 100,001 characters, more than the 100,000",
            id="huge-query",
        ),
        pytest.param(
            "train.json",
            json.dumps([GOOD | {"question": "x" * (MAX_CHARACTERS["question"] + 1)}]).encode(),
            "row 0: question has 20,001 characters, more than the 20,000",
            id="huge-question",
        ),
    ],
)
def test_broken_file(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(SourceError, match=message):
        read_source(tmp_path)


def test_truncated_parquet(tmp_path: Path) -> None:
    whole = parquet_bytes({column: ["x"] * 100 for column in GOOD}, tmp_path)
    (tmp_path / "train.parquet").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(SourceError, match=r"train.parquet cannot be read as Parquet .*download it again"):
        read_source(tmp_path)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        pytest.param({"db_id": ["a"], "query": ["b"]}, "lacks the column question", id="missing-column"),
        pytest.param(
            {"db_id": [1], "query": ["b"], "question": ["c"]}, "db_id must hold texts .*int64", id="numbers"
        ),
        pytest.param(
            {"db_id": ["a"], "query": [["b"]], "question": ["c"]}, "query must hold texts .*list", id="lists"
        ),
    ],
)
def test_parquet_columns(tmp_path: Path, columns: dict[str, Any], message: str) -> None:
    (tmp_path / "train.parquet").write_bytes(parquet_bytes(columns, tmp_path))
    with pytest.raises(SourceError, match=message):
        read_source(tmp_path)


def test_parquet_without_rows(tmp_path: Path) -> None:
    import pyarrow as pa

    empty = parquet_bytes({column: pa.array([], pa.string()) for column in GOOD}, tmp_path)
    (tmp_path / "train.parquet").write_bytes(empty)
    with pytest.raises(SourceError, match=r"train.parquet has no rows"):
        read_source(tmp_path)


def test_parquet_with_dictionary_columns_and_nulls(tmp_path: Path) -> None:
    import pyarrow as pa

    columns = {
        "db_id": pa.array(["a", "a"]).dictionary_encode(),
        "query": ["b", None],
        "question": ["c", "d"],
    }
    (tmp_path / "train.parquet").write_bytes(parquet_bytes(columns, tmp_path))
    source = read_source(tmp_path)
    assert [pair.query for pair in source.pairs["train"]] == ["b"]
    assert [row.reason for row in source.left_out] == ["no query"]


@pytest.mark.parametrize("module", ["pyarrow", "huggingface_hub"])
def test_missing_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str) -> None:
    (tmp_path / "train.parquet").write_bytes(b"PAR1")
    monkeypatch.setitem(__import__("sys").modules, module, None)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(MissingExtraError, match=rf"needs {module}.*spider-compose\[data\]"):
        read_source(tmp_path if module == "pyarrow" else "owner/name")


@pytest.mark.parametrize(
    ("row", "reason", "detail"),
    [
        pytest.param(
            "text", "not an object", "must be an object with db_id, query, question", id="no-object"
        ),
        pytest.param({"db_id": "zoo", "query": "q"}, "no question", "question is missing", id="absent"),
        pytest.param(GOOD | {"query": None}, "no query", "query is missing or null", id="null"),
        pytest.param(GOOD | {"question": 5}, "question not a text", "but is int (5)", id="number"),
        pytest.param(GOOD | {"db_id": ["zoo"]}, "db_id not a text", "but is list", id="list"),
        pytest.param(GOOD | {"question": ""}, "empty question", "question is empty", id="empty-question"),
        pytest.param(GOOD | {"question": " \t\u00a0\n"}, "empty question", "is empty", id="blank-question"),
        pytest.param(GOOD | {"query": "  "}, "empty query", "query is empty", id="blank-query"),
        pytest.param(GOOD | {"db_id": ""}, "empty db_id", "db_id is empty", id="empty-db_id"),
        pytest.param(
            GOOD | {"question": "a\ud800"}, "question not Unicode", "half of a surrogate pair", id="surrogate"
        ),
    ],
)
def test_faulty_row_is_named_and_left_out(tmp_path: Path, row: Any, reason: str, detail: str) -> None:
    (tmp_path / "train.json").write_text(json.dumps([GOOD, row, GOOD]), encoding="utf-8")
    source = read_source(tmp_path)
    assert [pair.row for pair in source.pairs["train"]] == [0, 2]
    assert source.row_counts["train"] == 3
    [left] = source.left_out
    assert (left.split, left.row, left.reason) == ("train", 1, reason)
    assert left.detail.startswith("train.json, row 1: ") and detail in left.detail
    with pytest.raises(SourceError, match=r"train\.json, row 1: .*Without `strict` the row is left out"):
        read_source(tmp_path, strict=True)


def test_csv_rows_with_too_many_or_too_few_cells(tmp_path: Path) -> None:
    (tmp_path / "train.csv").write_text('db_id,query,question\na,"b\nb",c\na,b,c,d\na,b\n', encoding="utf-8")
    source = read_source(tmp_path)
    assert [(row.row, row.reason) for row in source.left_out] == [
        (1, "wrong number of cells"),
        (2, "no question"),
    ]
    assert source.left_out[0].detail.startswith("train.csv, row 1 (line 4): has more cells")


def test_no_usable_row(tmp_path: Path) -> None:
    (tmp_path / "train.json").write_text(json.dumps([GOOD | {"query": ""}] * 2), encoding="utf-8")
    with pytest.raises(
        SourceError, match=r"no usable row: all 2 were left out. The first: train.json, row 0"
    ):
        read_source(tmp_path)


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("nowhere", id="name"),
        pytest.param("./no/such", id="path"),
        pytest.param("a/b/c", id="too-many-slashes-for-the-hub"),
        pytest.param("", id="empty"),
        pytest.param("a\0b", id="zero-byte"),
        pytest.param("x" * 5000, id="too-long"),
    ],
)
def test_missing_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SourceError, match=r"no such source: .*Expected 'bundled', an existing folder"):
        read_source(source)


def test_folder_without_known_files(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("x")
    (tmp_path / "sub").mkdir()
    with pytest.raises(
        SourceError, match=r"Looked for train_spider.json .*train\.\*.*There: notes.txt, sub/\."
    ):
        read_source(tmp_path)


def test_file_of_unknown_format(tmp_path: Path) -> None:
    (tmp_path / "train.txt").write_text("x")
    with pytest.raises(
        SourceError, match=r"train.txt has no known format. .*\.json, \.jsonl, \.csv, \.parquet"
    ):
        read_source(tmp_path / "train.txt")


@pytest.mark.parametrize(
    ("names", "message"),
    [
        pytest.param(["train.json", "train.csv"], "more than one file for the train part", id="two-formats"),
        pytest.param(
            ["dev.json", "validation.json"], "more than one file for the validation", id="two-names"
        ),
        pytest.param(["train.json", "train-00000-of-00001.json"], "more than one file", id="whole-and-shard"),
        pytest.param(["train-00000-of-00002.json"], "should be 2 files numbered from 0", id="lost-shard"),
        pytest.param(
            ["train-00000-of-00001.json", "train-00000-of-00002.json"], "more than one file", id="two-sets"
        ),
    ],
)
def test_unclear_files(tmp_path: Path, names: list[str], message: str) -> None:
    for name in names:
        (tmp_path / name).write_text(json.dumps([GOOD]))
    with pytest.raises(SourceError, match=message):
        read_source(tmp_path)


@pytest.mark.parametrize("missing", ["train_spider.json", "dev.json", "tables.json"])
def test_incomplete_release(tmp_path: Path, missing: str) -> None:
    names = {"train_spider.json", "train_others.json", "dev.json", "tables.json"}
    for name in names - {missing}:
        (tmp_path / name).write_text(json.dumps([GOOD]))
    with pytest.raises(SourceError, match=f"official release of Spider, but {missing} is missing"):
        read_source(tmp_path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param(
            '[{"db_id": "zoo"}]', "tables.json, entry 0 .*table_names_original is missing", id="no-field"
        ),
        pytest.param('[{"db_id": ', "tables.json, line 1, character 12: not valid JSON", id="truncated"),
        pytest.param("{}", "tables.json must hold a JSON list", id="object"),
        pytest.param(
            json.dumps(
                [
                    {
                        "db_id": "zoo",
                        "table_names": [],
                        "table_names_original": [],
                        "column_names": [],
                        "column_names_original": [],
                    }
                ]
                * 2
            ),
            "entry 1 .*database 'zoo' stands there twice",
            id="twice",
        ),
    ],
)
def test_wrong_tables_json(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "train.json").write_text(json.dumps([GOOD]))
    (tmp_path / "tables.json").write_text(content)
    with pytest.raises(SourceError, match=message):
        read_source(tmp_path)


def test_missing_schemas_file(tmp_path: Path) -> None:
    (tmp_path / "train.json").write_text(json.dumps([GOOD]))
    with pytest.raises(SourceError, match=r"`schemas` must be a file .*but there is no .*none.json"):
        read_source(tmp_path, schemas=tmp_path / "none.json")


def test_column_that_stands_twice_in_parquet(tmp_path: Path) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    texts = pa.array(["SELECT 1"])
    table = pa.Table.from_arrays([texts] * 4, names=["db_id", "query", "query", "question"])
    parquet.write_table(table, tmp_path / "train.parquet")
    with pytest.raises(SourceError, match=r"train\.parquet has the column 'query' twice"):
        read_source(tmp_path)


@pytest.mark.parametrize("kind", ["string", "large_string", "string_view"])
def test_parquet_texts_of_any_kind(tmp_path: Path, kind: str) -> None:
    import pyarrow as pa

    column = pa.array(["a"], getattr(pa, kind)())
    (tmp_path / "train.parquet").write_bytes(parquet_bytes(dict.fromkeys(GOOD, column), tmp_path))
    assert len(read_source(tmp_path / "train.parquet").pairs["train"]) == 1


def test_row_of_very_many_keys_with_one_twice(tmp_path: Path) -> None:
    keys = ", ".join(f'"{number}": 1' for number in range(50_000))
    (tmp_path / "train.json").write_text(f'[{{{keys}, "49999": 2}}]')
    with pytest.raises(SourceError, match=r"row 0 .*'49999' stands twice"):
        read_source(tmp_path)


def test_folder_that_may_not_be_entered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(path: Path) -> bool:
        raise PermissionError(13, "Permission denied", str(path / "train_spider.json"))

    monkeypatch.setattr(release_folder, "recognise", denied)
    with pytest.raises(SourceError, match=r"cannot read .*train_spider.json: Permission denied"):
        read_source(tmp_path)


def test_working_folder_that_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(SourceError, match="cannot read nowhere: No such file"):
        read_source("nowhere")


def test_home_of_an_unknown_user() -> None:
    with pytest.raises(SourceError, match="no such source: '~no-such-user/x'"):
        read_source("~no-such-user/x")
    with pytest.raises(SourceError, match="there is no ~no-such-user/x"):
        read_source(schemas="~no-such-user/x")


@pytest.mark.parametrize("value", [3, b"x", [], os])
@pytest.mark.parametrize("name", ["source", "schemas"])
def test_neither_name_nor_path(name: str, value: Any) -> None:
    with pytest.raises(OptionError, match=f"`{name}` must be a name or a path"):
        read_source(**{name: value})
    with pytest.raises(OptionError, match="`source` must be"):
        read_source(None)  # type: ignore[arg-type]
