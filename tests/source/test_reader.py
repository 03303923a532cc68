"""Every origin of a corpus, and what the reader says of it."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from spider_compose.errors import OptionError, SourceError
from spider_compose.source import Source, read_source, reader, releases
from spider_compose.source.releases import content_checksum
from spider_compose.source.rows import RawRow

Row = dict[str, Any]
Writer = Callable[[Path, list[Row]], None]

TRAIN = [
    {"db_id": "zoo", "query": "SELECT name FROM animal", "question": "What are the animals' names?"},
    {"db_id": "zoo", "query": " SELECT 'a,\"b' FROM animal ", "question": "  Größe, please?\n"},
    {"db_id": "bar", "query": "SELECT 1", "question": "One?"},
]
VALIDATION = [{"db_id": "zoo", "query": "SELECT count(*) FROM animal", "question": "How many animals?"}]


def schema_entry(db_id: str) -> Row:
    return {
        "db_id": db_id,
        "table_names_original": ["animal"],
        "table_names": ["animal"],
        "column_names_original": [[-1, "*"], [0, "name"]],
        "column_names": [[-1, "*"], [0, "name"]],
        "column_types": ["text", "text"],
    }


TABLES = [schema_entry("zoo"), schema_entry("bar")]


def write_json(path: Path, rows: list[Row]) -> None:
    path.write_text(json.dumps(rows), encoding="utf-8")


def write_jsonl(path: Path, rows: list[Row]) -> None:
    # U+2028 unescaped is no line end; a blank line is none of the rows.
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n\n" for row in rows), encoding="utf-8")


def write_csv(path: Path, rows: list[Row]) -> None:
    with path.open("w", encoding="utf-8-sig", newline="") as file:  # the mark that spreadsheets write
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def write_parquet(path: Path, rows: list[Row]) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    parquet.write_table(pa.Table.from_pylist(rows), path)


def texts(source: Source, part: str) -> list[tuple[int, str, str, str]]:
    return [(pair.row, pair.db_id, pair.query, pair.question) for pair in source.pairs[part]]


def expected(rows: list[Row]) -> list[tuple[int, str, str, str]]:
    return [(number, row["db_id"], row["query"], row["question"]) for number, row in enumerate(rows)]


def hub_folder(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    write_parquet(folder / "train-00000-of-00002.parquet", TRAIN[:2])
    write_parquet(folder / "train-00001-of-00002.parquet", TRAIN[2:])
    write_parquet(folder / "validation-00000-of-00001.parquet", VALIDATION)


@pytest.mark.parametrize("validation", ["validation", "dev"])
@pytest.mark.parametrize(
    ("ending", "write"),
    [
        pytest.param("json", write_json, id="json"),
        pytest.param("jsonl", write_jsonl, id="jsonl"),
        pytest.param("csv", write_csv, id="csv"),
        pytest.param("parquet", write_parquet, id="parquet"),
    ],
)
def test_own_corpus_in_every_format(tmp_path: Path, ending: str, write: Writer, validation: str) -> None:
    extra = [row | {"difficulty": "easy\u2028"} for row in TRAIN]
    write(tmp_path / f"train.{ending}", extra)
    write(tmp_path / f"{validation}.{ending}", VALIDATION)
    source = read_source(tmp_path)
    assert texts(source, "train") == expected(TRAIN)
    assert texts(source, "validation") == expected(VALIDATION)
    assert source.pairs["validation"][0].split == "validation"
    assert (source.name, source.release, source.license) == (tmp_path.name, None, None)
    assert source.notes == ("no tables.json: table and column names are split at `_` and case changes",)
    assert source.row_counts == {"train": 3, "validation": 1}


def test_own_corpus_with_schemas_beside_it_or_given(tmp_path: Path) -> None:
    folder = tmp_path / "corpus"
    folder.mkdir()
    write_json(folder / "train.json", TRAIN)
    write_json(tmp_path / "tables.json", TABLES)
    assert read_source(folder).schemas == {}, "the folder above is another's"
    given = read_source(folder, schemas=tmp_path / "tables.json")
    assert given.schemas.keys() == {"zoo", "bar"}
    assert read_source(folder, schemas=str(tmp_path)).fingerprint == given.fingerprint
    write_json(folder / "tables.json", TABLES[:1])
    beside = read_source(folder)
    assert [(row.split, row.row, row.reason) for row in beside.left_out] == [("train", 2, "unknown schema")]
    assert "train.json, row 2: no schema for db_id 'bar' (1 known)" in beside.left_out[0].detail


def test_single_file_is_all_training(tmp_path: Path) -> None:
    write_csv(tmp_path / "mine.csv", TRAIN)
    source = read_source(tmp_path / "mine.csv")
    assert (source.name, len(source.pairs["train"]), source.pairs["validation"]) == ("mine", 3, ())
    assert "no validation part" in source.notes


def test_test_part_is_named_and_not_read(tmp_path: Path) -> None:
    for part in ("train", "dev", "test"):
        write_json(tmp_path / f"{part}.json", TRAIN)
    source = read_source(tmp_path)
    assert source.pairs.keys() == {"train", "validation"}
    assert any("test.json is not read" in note for note in source.notes)


@pytest.mark.parametrize("subfolder", ["", "spider", "data"])
def test_hub_parquet_in_shards(tmp_path: Path, subfolder: str) -> None:
    hub_folder(tmp_path / subfolder)
    write_json(tmp_path / "tables.json", TABLES)
    source = read_source(tmp_path)
    assert texts(source, "train") == expected(TRAIN), "rows are numbered through the shards"
    assert source.schemas.keys() == {"zoo", "bar"}
    assert "train: 3 rows, Spider 1.0 has 7,000" in source.notes
    assert source.license is None, "the names of the files alone do not make it Spider"


def test_hub_parquet_takes_schemas_from_the_folder_above(tmp_path: Path) -> None:
    hub_folder(tmp_path / "parquet")
    write_json(tmp_path / "tables.json", TABLES)
    assert read_source(tmp_path / "parquet").schemas.keys() == {"zoo", "bar"}


def test_official_release(tmp_path: Path) -> None:
    write_json(tmp_path / "train_spider.json", TRAIN)
    write_json(tmp_path / "train_others.json", TRAIN * 2)
    write_json(tmp_path / "dev.json", VALIDATION)
    write_json(tmp_path / "tables.json", TABLES)
    source = read_source(tmp_path)
    assert source.row_counts == {"train": 3, "validation": 1}
    assert source.release is None
    assert source.license == "CC BY-SA 4.0"
    assert "Yu et al." in str(source.attribution)
    assert source.notes == (
        "train_others.json is not read: Spider's 7,000 training rows are those of train_spider.json",
        "train: 3 rows, Spider 1.0 has 7,000",
        "validation: 1 rows, Spider 1.0 has 1,034",
        "tables.json: not the file known for Spider 1.0, so names may read differently",
    )


def test_release_is_known_in_every_container_and_a_changed_one_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    raw = {"train": [RawRow("", row) for row in TRAIN], "validation": [RawRow("", row) for row in VALIDATION]}
    tiny = replace(
        releases.SPIDER,
        name="tiny-1.0",
        title="Tiny 1.0",
        rows={"train": 3, "validation": 1},
        content={part: content_checksum(rows) for part, rows in raw.items()},
    )
    monkeypatch.setattr(releases, "KNOWN_RELEASES", (tiny,))
    write_jsonl(tmp_path / "train.jsonl", TRAIN)
    write_csv(tmp_path / "dev.csv", VALIDATION)
    same = read_source(tmp_path)
    assert (same.name, same.release) == ("tiny-1.0", "tiny-1.0 (3 + 1 rows, the same rows in other files)")

    write_jsonl(tmp_path / "train.jsonl", TRAIN[::-1])
    other = read_source(tmp_path)
    assert (other.name, other.release) == (tmp_path.name, None)
    assert "train: 3 rows as in Tiny 1.0, but other texts or another order" in other.notes
    assert other.license == "CC BY-SA 4.0", "its validation part is still the release's"
    assert other.fingerprint != same.fingerprint


def test_fingerprint_holds_names_bytes_schemas_and_revision_but_not_the_place(tmp_path: Path) -> None:
    seen = set()
    for number, (name, rows, tables) in enumerate(
        [
            ("a.json", TRAIN, TABLES),
            ("b.json", TRAIN, TABLES),
            ("a.json", TRAIN[:2], TABLES),
            ("a.json", TRAIN, TABLES[::-1]),
        ]
    ):
        places = []
        for place in (tmp_path / f"{number}x", tmp_path / f"{number}y"):
            place.mkdir()
            write_json(place / name, rows)
            write_json(place / "tables.json", tables)
            places.append(read_source(place / name).fingerprint)
        assert places[0] == places[1]
        seen.add(places[0])
    assert len(seen) == 4


COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def fake_hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, dict[str, Any]]]:
    """`snapshot_download` finds a small `xlangai/spider` in its cache; the calls are recorded."""
    import huggingface_hub

    calls: list[tuple[str, dict[str, Any]]] = []
    snapshot = tmp_path / "cache" / "snapshots" / COMMIT
    hub_folder(snapshot / "spider")

    def snapshot_download(repository: str, **options: Any) -> str:
        calls.append((repository, options))
        return str(snapshot)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", snapshot_download)
    monkeypatch.chdir(tmp_path)
    return calls


def test_hub_repository(fake_hub: list[tuple[str, dict[str, Any]]], tmp_path: Path) -> None:
    source = read_source("xlangai/spider", revision="main")
    assert texts(source, "train") == expected(TRAIN)
    assert (source.name, source.revision) == ("xlangai/spider", COMMIT)
    assert source.license == "CC BY-SA 4.0"
    assert any(note.startswith("no tables.json") for note in source.notes)
    [(repository, options)] = fake_hub
    assert (repository, options["repo_type"], options["revision"]) == ("xlangai/spider", "dataset", "main")

    write_json(tmp_path / "tables.json", TABLES)
    assert read_source("xlangai/spider", schemas="tables.json").schemas.keys() == {"zoo", "bar"}
    local = read_source(tmp_path / "cache" / "snapshots" / COMMIT)
    assert local.fingerprint != source.fingerprint, "the commit is part of it"


def test_another_hub_repository_is_not_taken_for_spider(fake_hub: list[Any]) -> None:
    source = read_source("someone/corpus")
    assert (source.name, source.license) == ("someone/corpus", None)
    assert not any("Spider" in note for note in source.notes)


def test_local_folder_goes_before_the_hub(fake_hub: list[Any], tmp_path: Path) -> None:
    hub_folder(tmp_path / "xlangai" / "spider")
    assert read_source("xlangai/spider").revision is None
    assert fake_hub == []


@pytest.mark.parametrize(
    ("kind", "advice"),
    [
        pytest.param("LocalEntryNotFoundError", "Check the connection and HF_HUB_OFFLINE", id="offline"),
        pytest.param("RevisionNotFoundError", "Check `revision`", id="no-revision"),
        pytest.param("RepositoryNotFoundError", "Check the name", id="no-repository"),
    ],
)
def test_hub_out_of_reach(kind: str, advice: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import huggingface_hub

    def fail(*_: object, **__: object) -> str:
        raise type(kind, (OSError,), {})("no answer\nmore")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", fail)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SourceError) as caught:
        read_source("xlangai/spider", revision="v9")
    message = str(caught.value)
    assert advice in message and "'xlangai/spider' at revision 'v9'" in message and "no answer)" in message


def test_bundled_corpus() -> None:
    source = read_source()
    assert source.name == "bundled"
    assert str(source.release).startswith("bundled (")
    assert source.license == "CC BY-SA 4.0" and "SpiderCompose authors" in str(source.attribution)
    assert source.left_out == () and source.notes == ()
    assert all(pair.db_id in source.schemas for pairs in source.pairs.values() for pair in pairs)
    assert source.row_counts == {part: len(pairs) for part, pairs in source.pairs.items()}


def test_a_path_is_never_the_bundled_corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SourceError, match="no such source: 'bundled'"):
        read_source(Path("bundled"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        pytest.param(
            {"revision": "main"}, "`revision` is for datasets on the Hub; 'bundled' is not", id="revision"
        ),
        pytest.param({"dialect": "sqlit"}, "`dialect` must be one that sqlglot knows.*sqlite", id="dialect"),
    ],
)
def test_wrong_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        read_source("bundled", **options)


def test_no_heavy_imports() -> None:
    code = (
        "import sys, spider_compose.source; "
        "print({'pyarrow', 'datasets', 'huggingface_hub', 'sqlglot'} & sys.modules.keys())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_adapters_are_modules_with_two_functions() -> None:
    for adapter in reader.ADAPTERS:
        assert callable(adapter.recognise) and callable(adapter.read)


def test_spider_is_recognised_from_parquet(shared_path: Callable[[str], Path]) -> None:
    source = read_source(shared_path("spider"))
    assert source.release == "spider-1.0 (7,000 + 1,034 rows, the Hub's files)"
    assert {part: len(pairs) for part, pairs in source.pairs.items()} == {"train": 7_000, "validation": 1_034}
    assert (source.name, source.left_out, source.notes) == ("spider-1.0", (), ())
    assert len(source.schemas) == 166
    assert {part: len({pair.db_id for pair in pairs}) for part, pairs in source.pairs.items()} == {
        "train": 140,
        "validation": 20,
    }


@pytest.fixture
def official(shared_path: Callable[[str], Path], tmp_path: Path) -> Path:
    """Real Spider, written as in the official release."""
    source = read_source(shared_path("spider"))
    for part, name in (("train", "train_spider.json"), ("validation", "dev.json")):
        rows = [
            {"db_id": p.db_id, "query": p.query, "question": p.question, "sql": {}}
            for p in source.pairs[part]
        ]
        (tmp_path / name).write_text(json.dumps(rows, indent=4), encoding="utf-8")
    (tmp_path / "tables.json").write_bytes(shared_path("spider/tables.json").read_bytes())
    return tmp_path


def test_spider_is_recognised_from_json(official: Path) -> None:
    source = read_source(official)
    assert source.release == "spider-1.0 (7,000 + 1,034 rows, the same rows in other files)"
    assert source.notes == ()


def test_changed_spider_is_named(official: Path) -> None:
    rows = json.loads((official / "train_spider.json").read_text(encoding="utf-8"))
    write_json(official / "train_spider.json", rows[:-1])
    source = read_source(official)
    assert source.release is None
    assert source.notes == ("train: 6,999 rows, Spider 1.0 has 7,000",)
    assert source.license == "CC BY-SA 4.0"
