"""Logs in every form: what is read, what cannot be, and what is said about it."""

from __future__ import annotations

import gzip
import io
import json
import os
import random
import re
import threading
from collections.abc import Callable
from concurrent.futures import Future
from datetime import date, datetime, time
from decimal import Decimal
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


def csv_text(between: str) -> str:
    import csv

    file = io.StringIO(newline="")
    table = csv.writer(file, delimiter=between)
    table.writerows([list(ROWS[0]), *(list(row.values()) for row in ROWS)])
    return file.getvalue()


def write_text(text: str, encoding: str = "utf-8") -> Callable[[Path], None]:
    return lambda path: path.write_bytes(text.encode(encoding)) and None


def write_types(*types: pa.DataType) -> Callable[[Path], None]:
    """Parquet whose texts are of these types, column by column and round again."""

    def write(path: Path) -> None:
        columns = [
            pa.array([row[name] for row in ROWS]).cast(types[place % len(types)])
            for place, name in enumerate(ROWS[0])
        ]
        pyarrow.parquet.write_table(pa.Table.from_arrays(columns, list(ROWS[0])), path)

    return write


@pytest.mark.parametrize(
    ("name", "write"),
    [
        pytest.param("log.jsonl", write_jsonl, id="lines"),
        pytest.param("log.ndjson.gz", write_gzip, id="gzip"),
        pytest.param("log.csv", write_csv, id="csv"),
        pytest.param("log.csv", write_text(csv_text(";")), id="semicolons"),
        pytest.param("log.csv", write_text(csv_text("\t")), id="tabs"),
        pytest.param("log.csv", write_text(csv_text(";"), "utf-16"), id="csv in UTF-16"),
        pytest.param("log.jsonl", write_text("\n".join(map(json.dumps, ROWS)), "utf-16"), id="UTF-16"),
        pytest.param("log.parquet", write_parquet, id="parquet"),
        pytest.param("log.parquet", write_types(pa.binary(), pa.large_binary()), id="bytes"),
        pytest.param(
            "log.parquet", write_types(pa.large_string(), pa.dictionary(pa.int8(), pa.string())), id="types"
        ),
    ],
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
        (
            [{"nl": "q", "query": "s"}],
            {},
            r"expected a column 'question', .* \['nl', 'query'\].* add `--question",
        ),
        (ROWS, {"columns": Columns(time="at")}, "--time-column"),
        (ROWS, {"columns": Columns(id="uuid")}, "--id-column"),
        ("question,sql,sql\nq,s,t\n", {}, "'sql \\(1\\)'.*--sql-column"),
        ("question,sql,time,time\nq,s,1,2\n", {}, "'time \\(1\\)'.*--time-column"),
    ],
    ids=["no sql", "misspelt", "other names", "time named", "id named", "doubled", "doubled time"],
)
def test_a_missing_column_stops_before_anything_is_read(
    rows: list[Any] | str, reading: dict[str, Any], says: str, tmp_path: Path
) -> None:
    write_jsonl(tmp_path / "a.jsonl", [{**ROWS[0], "uuid": 1, "at": 2}])
    if isinstance(rows, str):
        (tmp_path / "b.csv").write_text(rows)
    else:
        write_jsonl(tmp_path / "b.jsonl", rows)
    with pytest.raises(OptionError, match=r"b\.(jsonl|csv)") as error:
        read(tmp_path, **reading)
    assert re.search(says, str(error.value))


def test_columns_of_one_name_are_named_apart(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("question,sql,sql,,\nq,s,t,,\n")
    (row,) = read(tmp_path / "a.csv", columns=Columns(sql="sql (2)"))
    assert row.text("sql") == "t"


def test_a_json_row_may_leave_out_what_others_have(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "a.jsonl", [{"question": "q"}, {"question": "q", "sql": "s"}])
    assert [row.text("sql") for row in read(tmp_path / "a.jsonl")] == [None, "s"]


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("a.json", '[{"question": "q"}]', "jq -c"),
        ("a.json", '\n [\n{"question": "q"}]', "jq -c"),
        ("a.json", '{\n  "question": "q",\n  "sql": "s"\n}', "over several lines"),
        ("a.txt", "x", "--format"),
        ("none.jsonl", None, "expected a log"),
    ],
    ids=["array", "array below", "over lines", "ending", "absent"],
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


def test_a_last_line_that_is_not_whole_waits(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A log is scored while its agent writes on."""
    path, whole = tmp_path / "a.jsonl", [json.dumps(row) for row in ROWS]
    path.write_text(f"{whole[0]}\n{whole[1][:-9]}")
    log = Log(str(path))
    assert [row.key for batch in log.batches() for row in batch] == ["1"]
    assert log.problems == {"unfinished_lines": 1} and "a.jsonl:2: " in caplog.text
    for end in ("", "\n"):
        path.write_text("\n".join(whole) + end)
        assert [row.key for row in read(path)] == ["1", "2"]


def test_an_unreadable_line_is_known_by_what_it_says(tmp_path: Path) -> None:
    """A log that is rotated has other lines under the same numbers."""
    path = tmp_path / "a.jsonl"
    found = []
    for line in ("{cut", "{cut", "{other"):
        path.write_text(f"{line}\n")
        found += read(path)
    assert found[0].identity == found[1].identity != found[2].identity


def test_folders_by_links_and_with_scores_in_them(tmp_path: Path) -> None:
    log, elsewhere = tmp_path / "log", tmp_path / "elsewhere"
    for folder in (log / "scored" / "scores", log / "agent=C%2FD", elsewhere):
        folder.mkdir(parents=True)
    (log / "agent=__HIVE_DEFAULT_PARTITION__").mkdir()
    write_jsonl(log / "agent=C%2FD" / "a.jsonl", [{**ROWS[0], "agent": None}, ROWS[1]])
    write_jsonl(log / "agent=__HIVE_DEFAULT_PARTITION__" / "a.jsonl", [{"question": "q", "sql": "s"}])
    write_jsonl(elsewhere / "a.jsonl", [{**ROWS[0], "id": 7}])
    (log / "linked").symlink_to(elsewhere)
    (elsewhere / "back").symlink_to(log)
    (log / "gone.jsonl").symlink_to(tmp_path / "nothing")
    (log / "scored" / "stef.json").write_text("{}\n")
    write_jsonl(log / "scored" / "scores" / "a.jsonl")
    found = Log(str(log), Reading(agent="none"))
    assert [(row.key[:1], row.agent) for batch in found.batches() for row in batch if row.key[1:] == ""] == [
        ("1", "C/D"),
        ("2", "B"),
        ("7", "A"),
    ]
    assert [row.agent for batch in found.batches() for row in batch if len(row.key) == 32] == ["none"]
    assert list(found.failed) == ["gone.jsonl"]
    with pytest.raises(OptionError, match=r"no log; .*--id-column key"):
        read(log / "scored")


@pytest.mark.parametrize("given", [7, 7.0, "7", Decimal("7.00")], ids=repr)
def test_an_id_is_the_same_in_every_type(given: Any, tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pyarrow.parquet.write_table(
        pa.table({"question": ["q"], "sql": ["s"], "id": [given], "agent": [3]}), path
    )
    assert [(row.key, row.agent) for row in read(path)] == [("7", "3")]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (pa.array([10**18], pa.timestamp("us")), None),
        (pa.array([10**15], pa.timestamp("s", "UTC")), None),
        (pa.array([3_000_000], pa.date32()), None),
        (pa.array([[10**18]], pa.list_(pa.timestamp("us"))), None),
        (pa.array([10**9 + 1], pa.time64("ns")), None),
        (pa.array([date(2026, 7, 1)]), "2026-07-01T00:00:00+00:00"),
        (pa.array([Decimal("1782864000.5")]), "2026-07-01T00:00:00.500000+00:00"),
        (pa.array([Decimal("9" * 38)]), None),
        (pa.array([time(10)]), None),
    ],
    ids=lambda value: str(value.type) if isinstance(value, pa.Array) else "",
)
def test_times_of_parquet(values: pa.Array, expected: str | None, tmp_path: Path) -> None:
    """Those that Python has not are counted, and the row stays."""
    path = tmp_path / "a.parquet"
    pyarrow.parquet.write_table(pa.table({"question": ["q"], "sql": ["s"], "time": values}), path)
    log = Log(str(path))
    ((row,),) = log.batches()
    assert (row.time and row.time.isoformat()) == expected
    assert log.problems == ({} if expected else {"time_unreadable": 1})


@pytest.mark.parametrize(
    "values",
    [
        pa.array([b"2026-07-01\xff"]).view(pa.string()),
        pa.array([1_782_864_000], pa.timestamp("s", "Mars/Olympus")),
        pa.array([1_782_864_000_000], pa.timestamp("ms", "+07:45")),
        pa.array([[1_782_864_000]], pa.list_(pa.timestamp("s", "Mars/Olympus"))),
        pa.array([[b"\xff"]]),
    ],
    ids=["no UTF-8", "no such zone", "offset", "zone in a list", "bytes in a list"],
)
def test_whatever_parquet_holds_is_a_row(values: pa.Array, tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    columns = {"question": values, "sql": values, "agent": values, "id": values, "time": values}
    pyarrow.parquet.write_table(pa.table(columns), path)
    ((row,),) = Log(str(path)).batches()
    for text in (row.key, row.agent, row.text("question"), row.text("sql")):
        assert text is not None and text.encode()
    if pa.types.is_timestamp(values.type):
        assert row.time is not None and row.time.isoformat() == "2026-07-01T00:00:00+00:00"


@pytest.mark.parametrize("name", ["a.jsonl.gz", "a.csv.gz"])
def test_a_short_file_that_breaks_off_is_read_as_far_as_it_goes(name: str, tmp_path: Path) -> None:
    rng = random.Random(1)
    rows = [{**ROWS[0], "id": n, "question": str(rng.random())} for n in range(60)]
    if name.startswith("a.csv"):
        text = "\n".join([",".join(rows[0]), *(",".join(map(str, row.values())) for row in rows)])
    else:
        text = "\n".join(map(json.dumps, rows))
    (tmp_path / name).write_bytes(gzip.compress(text.encode())[:-60])
    for source in (tmp_path / name, tmp_path):
        log = Log(str(source))
        assert 20 < sum(map(len, log.batches())) < 60 and list(log.failed) == [name]
        write_jsonl(tmp_path / "b.jsonl", [])


@pytest.mark.parametrize("name", ["log.jsonl", "log.csv", "log.parquet", "log.ndjson.gz"])
def test_a_pipe_is_read_once(name: str, tmp_path: Path) -> None:
    """As `<(zcat ...)` of a shell: a look at its columns must not take its rows."""
    writers = {"jsonl": write_jsonl, "csv": write_csv, "parquet": write_parquet, "gz": write_gzip}
    writers[name.rpartition(".")[2]](tmp_path / "whole")
    content = (tmp_path / "whole").read_bytes()
    assert [row.key for row in through_a_pipe(tmp_path / name, content)] == ["1", "2"]


def test_a_pipe_of_other_columns(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="--question-column"):
        through_a_pipe(tmp_path / "log.jsonl", b'{"nl": "q"}\n')


def through_a_pipe(path: Path, content: bytes) -> list[LogRow]:
    """What is read, in threads of their own: a pipe that is opened again is waited for without end."""
    os.mkfifo(path)
    threading.Thread(target=path.write_bytes, args=(content,), daemon=True).start()
    found: Future[list[LogRow]] = Future()

    def take() -> None:
        try:
            found.set_result(read(path))
        except Exception as error:
            found.set_exception(error)

    threading.Thread(target=take, daemon=True).start()
    return found.result(timeout=60)


def test_standard_input_that_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", None)
    log = Log("-")
    assert list(log.batches()) == [] and log.failed == {"stdin": "standard input is closed"}


def test_a_name_of_a_file_does_not_steer_the_terminal(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "\x1b[2J\u202e.jsonl"
    path.write_text("{cut\n")
    (found,) = read(tmp_path)
    assert found.origin == "\ufffd[2J\ufffd.jsonl:1" and found.origin in caplog.text
    assert read(path)[0].identity == found.identity


def test_the_csv_limit_of_the_program_stays(tmp_path: Path) -> None:
    import csv

    former = csv.field_size_limit()
    long = "x" * (former + 1)
    (tmp_path / "log.csv").write_text(f"question,sql\n{long},SELECT 1\n", encoding="utf-8")
    assert [row.fields["question"] for row in read(tmp_path / "log.csv")] == [long]
    assert csv.field_size_limit() == former
