"""Logs in every form: what is read, what cannot be, and what is said about it."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyarrow")

import pyarrow as pa
import pyarrow.parquet

from spider_compose.errors import OptionError, SpiderComposeError
from spider_compose.stef.monitoring.log import Columns, Log, LogRow, Reading
from spider_compose.stef.monitoring.times import read_zone

ROWS = [
    {"question": "How many?", "sql": "SELECT 1", "agent": "A", "time": "2026-07-01T10:00:00Z", "id": "1"},
    {
        "question": "Which, then?",
        "sql": 'SELECT "a, b"',
        "agent": "B",
        "time": "2026-07-02T10:00:00Z",
        "id": "2",
    },
]


def read(source: Path | str, **reading: Any) -> list[LogRow]:
    return [row for batch in Log(str(source), Reading(**reading)).batches() for row in batch]


def write_jsonl(path: Path, rows: list[Any] = ROWS) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def write_gzip(path: Path) -> None:
    path.write_bytes(gzip.compress("".join(json.dumps(row) + "\n" for row in ROWS).encode()))


def write_csv(path: Path) -> None:
    import csv

    with path.open("w", newline="", encoding="utf-8-sig") as file:
        table = csv.DictWriter(file, list(ROWS[0]))
        table.writeheader()
        table.writerows(ROWS)


def write_parquet(path: Path) -> None:
    rows = [{**row, "time": datetime.fromisoformat(row["time"][:-1])} for row in ROWS]
    schema = pa.schema([(name, pa.timestamp("ns") if name == "time" else pa.string()) for name in ROWS[0]])
    pyarrow.parquet.write_table(pa.Table.from_pylist(rows, schema=schema), path)


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("log.jsonl", write_jsonl),
        ("log.ndjson.gz", write_gzip),
        ("log.csv", write_csv),
        ("log.parquet", write_parquet),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_formats_agree(name: str, write: Callable[[Path], None], tmp_path: Path) -> None:
    write_jsonl(tmp_path / "reference.jsonl")
    write(tmp_path / name)
    expected, found = read(tmp_path / "reference.jsonl"), read(tmp_path / name)
    assert [(row.identity, row.content, row.time, row.agent) for row in found] == [
        (row.identity, row.content, row.time, row.agent) for row in expected
    ]
    assert found[0].origin.startswith(f"{name}:")


def test_a_folder_of_mixed_formats_in_the_order_of_names(tmp_path: Path) -> None:
    folder = tmp_path / "log"
    (folder / "agent=C" / "database=shop").mkdir(parents=True)
    write_csv(folder / "b.csv")
    write_jsonl(folder / "a.jsonl", [{"question": "q", "sql": "s", "time": 1782864000}])
    write_jsonl(folder / "agent=C" / "database=shop" / "x.jsonl", [{"question": "q", "sql": "s"}])
    for name in ("_SUCCESS", ".hidden.jsonl", "notes.txt"):
        (folder / name).write_text("{}")
    found = read(folder, agent="none")
    assert [(row.origin, row.agent, row.database) for row in found] == [
        ("a.jsonl:1", "none", ""),
        ("agent=C/database=shop/x.jsonl:1", "C", "shop"),
        ("b.csv:2", "A", ""),
        ("b.csv:3", "B", ""),
    ]


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "".join(json.dumps(row) + "\n" for row in ROWS)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    assert [row.key for row in read("-")] == ["1", "2"]
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b'{"query": "s", "question": "q"}\n')))
    with pytest.raises(OptionError, match="--sql-column"):
        read("-")


def test_a_dataset(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    columns = {name: [row[name] for row in ROWS] for name in ROWS[0]}
    datasets.DatasetDict({"test": datasets.Dataset.from_dict(columns)}).save_to_disk(tmp_path / "saved")
    assert [row.key for row in read(f"datasets:{tmp_path / 'saved'}", split="test")] == ["1", "2"]
    with pytest.raises(OptionError, match="--split"):
        read(f"datasets:{tmp_path / 'saved'}")
    (tmp_path / "files").mkdir()
    write_jsonl(tmp_path / "files" / "train.jsonl")
    assert [row.key for row in read(f"datasets:{tmp_path / 'files'}")] == ["1", "2"]
    log = Log("datasets:no/such-dataset")
    assert list(log.batches()) == [] and "no/such-dataset" in log.failed["no/such-dataset"]


def test_rows_that_cannot_be_read_are_counted_and_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "a.jsonl").write_bytes(
        b'{"question": "q", "sql": "s", "time": "soon"}\n{cut\n[1]\n\n{"question": "\xff", "sql": "s"}\n'
    )
    (tmp_path / "b.csv").write_text('question,sql\nq,s\nq,s,more\n"open,s\nq,s\n')
    log = Log(str(tmp_path))
    found = [row for batch in log.batches() for row in batch]
    assert [(row.origin, bool(row.unreadable)) for row in found] == [
        ("a.jsonl:1", False), ("a.jsonl:2", True), ("a.jsonl:3", True), ("a.jsonl:5", False),
        ("b.csv:2", False), ("b.csv:3", True), ("b.csv:4", True),
    ]  # fmt: skip
    assert found[3].text("question") == "\ufffd"
    assert log.problems == {"time_unreadable": 1, "unreadable": 4}
    said = "\n".join(caplog.messages)
    assert "a.jsonl:2: no JSON" in said and "b.csv:4: " in said and "is a quote not closed?" in said
    assert len({row.identity for row in found if row.unreadable}) == 4


def test_only_the_first_of_many_problems_are_named(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "a.jsonl").write_text('{"question": "q", "sql": "s"}\n' + "{\n" * 500)
    log = Log(str(tmp_path / "a.jsonl"))
    assert sum(map(len, log.batches())) == 501 and log.problems == {"unreadable": 500}
    assert len(caplog.messages) == 10


def test_a_file_that_is_broken_does_not_stop_the_others(tmp_path: Path) -> None:
    write_parquet(tmp_path / "a.parquet")
    whole = (tmp_path / "a.parquet").read_bytes()
    (tmp_path / "b.parquet").write_bytes(whole[: len(whole) // 2])
    write_jsonl(tmp_path / "c.jsonl")
    (tmp_path / "d.jsonl.gz").write_bytes(gzip.compress(json.dumps(ROWS[0]).encode() * 50)[:-20])
    log = Log(str(tmp_path))
    assert sum(map(len, log.batches())) >= 4
    assert sorted(log.failed) == ["b.parquet", "d.jsonl.gz"]
    with pytest.raises(SpiderComposeError, match=r"b\.parquet is no Parquet"):
        read(tmp_path / "b.parquet")


@pytest.mark.parametrize(
    ("rows", "reading", "says"),
    [
        ([{"question": "q", "query": "s"}], {}, "--sql-column"),
        ([{"questoin": "q", "sql": "s"}], {}, "Did you mean 'questoin'"),
        (ROWS, {"columns": Columns(time="at")}, "--time-column"),
        (ROWS, {"columns": Columns(id="uuid")}, "--id-column"),
    ],
    ids=["no sql", "misspelt", "time named", "id named"],
)
def test_a_missing_column_stops_before_anything_is_read(
    rows: list[Any], reading: dict[str, Any], says: str, tmp_path: Path
) -> None:
    write_jsonl(tmp_path / "a.jsonl", [{**ROWS[0], "uuid": 1, "at": 2}])
    write_jsonl(tmp_path / "b.jsonl", rows)
    with pytest.raises(OptionError, match=r"b\.jsonl") as error:
        read(tmp_path, **reading)
    assert says in str(error.value)


def test_a_json_row_may_leave_out_what_others_have(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "a.jsonl", [{"question": "q"}, {"question": "q", "sql": "s"}])
    assert [row.text("sql") for row in read(tmp_path / "a.jsonl")] == [None, "s"]


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("a.json", '[{"question": "q"}]', "jq -c"),
        ("a.txt", "x", "--format"),
        ("none.jsonl", None, "expected a log"),
    ],
    ids=["array", "ending", "absent"],
)
def test_what_is_no_log(name: str, text: str | None, says: str, tmp_path: Path) -> None:
    if text is not None:
        (tmp_path / name).write_text(text)
    with pytest.raises(SpiderComposeError, match=says):
        read(tmp_path / name)
    (tmp_path / "empty").mkdir()
    with pytest.raises(SpiderComposeError, match="expected files of queries"):
        read(tmp_path / "empty")


def test_what_tells_rows_apart(tmp_path: Path) -> None:
    plain = {"question": "q", "sql": "s", "time": "2026-07-01T12:00:00+02:00"}
    rows = [
        plain,
        {**plain, "time": "2026-07-01T10:00:00Z"},  # the same moment: the same row
        {**plain, "time": "2026-07-01T10:00:01Z"},
        {**plain, "agent": "B"},
        {**plain, "sql": "S"},
        {**plain, "time": "some day"},
        {**plain, "time": None},
        {**plain, "id": 7},
        {**plain, "id": 7, "agent": "B"},  # an id is one agent's own
        {**plain, "id": 7, "sql": "other"},  # one row with two contents
    ]
    write_jsonl(tmp_path / "a.jsonl", rows)
    found = read(tmp_path / "a.jsonl")
    identities = [row.identity for row in found]
    assert identities[0] == identities[1] and identities[7] == identities[9]
    assert len(set(identities)) == len(rows) - 2
    assert found[7].key == "7" and found[7].content != found[9].content and len(found[0].key) == 32


def test_times_without_a_zone_get_the_given_one(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "a.jsonl", [{**ROWS[0], "time": "2026-07-01 00:30:00"}])
    (row,) = read(tmp_path / "a.jsonl", zone=read_zone("Europe/Berlin"))
    assert row.time is not None and row.time.isoformat() == "2026-06-30T22:30:00+00:00"


def test_batches_begin_anew_with_each_file(tmp_path: Path) -> None:
    for name, count in (("a.jsonl", 300), ("b.jsonl", 10)):
        write_jsonl(tmp_path / name, [{**ROWS[0], "id": n} for n in range(count)])
    assert [len(batch) for batch in Log(str(tmp_path)).batches()] == [256, 44, 10]
