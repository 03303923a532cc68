"""Bad input on the command line: exit code 2 and one message that says what, where and what to do."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest

Cli = Callable[..., "object"]

ROW = {"db_id": "zoo", "query": "SELECT name FROM animal", "question": "Which animals?"}
TABLES = [
    {
        "db_id": "farm",
        "table_names_original": ["cow"],
        "table_names": ["cow"],
        "column_names_original": [[-1, "*"], [0, "name"]],
        "column_names": [[-1, "*"], [0, "name"]],
        "column_types": ["text", "text"],
        "primary_keys": [],
        "foreign_keys": [],
    }
]


def _nothing(folder: Path) -> None:
    folder.rmdir()


def _stray_files(folder: Path) -> None:
    (folder / "letter.txt").write_text("dear")


def _wrong_columns(folder: Path) -> None:
    (folder / "train.json").write_text(json.dumps([{"db_id": "zoo", "sql": "SELECT 1", "question": "One?"}]))


def _truncated_json(folder: Path) -> None:
    (folder / "train.json").write_text(json.dumps([ROW, ROW])[:-30])


def _truncated_parquet(folder: Path) -> None:
    import pyarrow as arrow
    from pyarrow import parquet

    parquet.write_table(arrow.Table.from_pylist([ROW] * 50), folder / "train.parquet")
    data = (folder / "train.parquet").read_bytes()
    (folder / "train.parquet").write_bytes(data[: len(data) // 2])


def _no_query_parses(folder: Path) -> None:
    (folder / "train.json").write_text(json.dumps([{**ROW, "query": "SELECT ((("}]))


def _empty_question(folder: Path) -> None:
    (folder / "train.json").write_text(json.dumps([{**ROW, "question": ""}]))


def _unknown_schema(folder: Path) -> None:
    (folder / "train.json").write_text(json.dumps([ROW]))
    (folder / "tables.json").write_text(json.dumps(TABLES))


def _half_a_release(folder: Path) -> None:
    (folder / "train_spider.json").write_text(json.dumps([ROW]))


SOURCES = {
    "missing": (_nothing, ["no such source", "Expected 'bundled', an existing folder"]),
    "no corpus": (_stray_files, ["holds no known corpus", "There: letter.txt"]),
    "wrong columns": (_wrong_columns, ["train.json lacks the column query", "Rename {'sql': 'query'}"]),
    "truncated json": (_truncated_json, ["train.json, line 1, character", "cut short"]),
    "truncated parquet": (
        _truncated_parquet,
        ["train.parquet cannot be read as Parquet", "copy or download"],
    ),
    "no query parses": (_no_query_parses, ["no row of the source", "train row 0 (zoo)"]),
    "empty question": (_empty_question, ["no usable row", "train.json, row 0: question is empty"]),
    "unknown schema": (_unknown_schema, ["no schema for db_id 'zoo'", "Add it to tables.json"]),
    "half a release": (_half_a_release, ["dev.json, tables.json is missing"]),
}


@pytest.mark.parametrize("command", ["build", "inspect", "stats"])
@pytest.mark.parametrize(("write", "says"), SOURCES.values(), ids=SOURCES)
def test_source(
    cli: Cli, tmp_path: Path, command: str, write: Callable[[Path], None], says: list[str]
) -> None:
    (source := tmp_path / "source").mkdir()
    write(source)
    out = tmp_path / "out"
    result = cli(*(["build", "--source", source, "--out", out] if command == "build" else [command, source]))
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("spider-compose: ")
    assert result.err.count("\n") == 1
    assert all(part in result.err for part in says), result.err
    assert not out.exists()


OPTIONS = {
    "aligner": (["--aligner", "keywrd"], "Did you mean 'keyword'?"),
    "deduplicate": (["--deduplicate", "test"], "`deduplicate` must be one of"),
    "dialect": (["--dialect", "cobol"], "`dialect`"),
    "revision": (["--revision", "main"], "`revision` is for datasets on the Hub"),
    "schemas": (["--schemas", "nowhere.json"], "there is no nowhere.json"),
    "model": (["--spacy-model", "xx_none"], "pip install"),
}


@pytest.mark.parametrize(("arguments", "says"), OPTIONS.values(), ids=OPTIONS)
def test_options(cli: Cli, tiny: Path, tmp_path: Path, arguments: list[str], says: str) -> None:
    result = cli("build", "--source", tiny, "--out", tmp_path / "out", *arguments)
    assert (result.code, result.out) == (2, "")
    assert says in result.err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("below", ["file", "file/out"])
def test_output_that_cannot_be_written(cli: Cli, tiny: Path, tmp_path: Path, below: str) -> None:
    (tmp_path / "file").write_text("mine")
    result = cli("build", "--source", tiny, "--out", tmp_path / below)
    assert (result.code, result.out) == (2, "")
    assert "is a file" in result.err
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.parametrize(
    "arguments", [("inspect", "--html"), ("stats", "--plot"), ("stats", "--html")], ids="-".join
)
def test_page_and_picture_that_cannot_be_written(
    cli: Cli, tiny_folder: Path, tmp_path: Path, arguments: tuple[str, str]
) -> None:
    command, flag = arguments
    if flag == "--plot":
        pytest.importorskip("matplotlib", reason="needs the extra `plots`")
    result = cli(command, tiny_folder, flag, tmp_path / "nowhere" / "file.png")
    assert (result.code, result.out) == (2, "")
    assert "file.png: No such file or directory. Name a file in a folder that exists." in result.err


def _other_format(folder: Path) -> None:
    _edit_signature(folder, format="spider_compose hub folder 99")


def _unknown_option(folder: Path) -> None:
    _edit_signature(folder, options={"aligner": "keyword", "colour": "red"})


def _unknown_aligner(folder: Path) -> None:
    _edit_signature(folder, options={"aligner": "oracle"})


def _older_columns(folder: Path) -> None:
    """Files as an older version would have written them, with their own checksums."""
    from pyarrow import parquet

    checksums = json.loads((folder / "signature.json").read_text("utf-8"))["files"]
    for name, column in (("alignment", "tags"), ("compose", "num_clauses")):
        path = folder / name / "train.parquet"
        parquet.write_table(parquet.read_table(path).drop_columns([column]), path)
        checksums[f"{name}/train.parquet"] = hashlib.sha256(path.read_bytes()).hexdigest()
    _edit_signature(folder, files=checksums)


def _no_counts(folder: Path) -> None:
    _edit_signature(folder, counts=None)


def _edit_signature(folder: Path, **changes: object) -> None:
    path = folder / "signature.json"
    content = {**json.loads(path.read_text("utf-8")), **changes}
    path.write_text(json.dumps({key: value for key, value in content.items() if value is not None}))


def _cut(folder: Path) -> None:
    for name in ("alignment", "compose"):
        path = folder / name / "train.parquet"
        path.write_bytes(path.read_bytes()[:-100])


def _removed(folder: Path) -> None:
    for name in ("alignment", "compose"):
        (folder / name / "train.parquet").unlink()


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        pytest.param(_other_format, "this version reads 'spider_compose hub folder 1'", id="format"),
        pytest.param(
            _no_counts, "signature.json was written by another version: it lacks counts", id="signature"
        ),
        pytest.param(_unknown_option, "was built by another version", id="option"),
        pytest.param(_unknown_aligner, "was built by another version", id="aligner"),
        pytest.param(_older_columns, "train.parquet was written by another version: it lacks ", id="columns"),
        pytest.param(_cut, "train.parquet has changed since it was built", id="cut"),
        pytest.param(_removed, "No such file or directory. Build it again.", id="removed"),
    ],
)
@pytest.mark.parametrize("command", ["inspect", "stats"])
def test_damaged_built_folder(
    cli: Cli, tiny: Path, tmp_path: Path, command: str, damage: Callable[[Path], None], says: str
) -> None:
    folder = tmp_path / "built"
    assert cli("build", "--source", tiny, "--out", folder).code == 0
    damage(folder)
    result = cli(command, folder)
    assert (result.code, result.out) == (2, "")
    assert says in result.err
