"""Reading a scored folder: columns, filters, order, rows that stand there twice, other files."""

from __future__ import annotations

import json
from datetime import date, datetime, timezone
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyarrow")

import pyarrow as pa
import pyarrow.parquet

from spider_compose.errors import OptionError, SpiderComposeError
from spider_compose.stef.monitoring.scored import (
    FORMAT,
    READ_SCHEMA,
    SCHEMA,
    duplicates,
    of_one_signature,
    read_scores,
)


def row(key: str, day: int | None, score: float | None = 50.0, **values: Any) -> dict[str, Any]:
    found: dict[str, Any] = {f.name: None if f.nullable else "" for f in SCHEMA}
    time = None if day is None else datetime(2026, 7, day, 12, tzinfo=timezone.utc)
    unscored = "no_verdict" if score is None else None
    return {**found, "key": key, "time": time, "score": score, "unscored": unscored, **values}


def write(folder: Path, name: str, rows: list[dict[str, Any]]) -> None:
    (folder / "stef.json").parent.mkdir(parents=True, exist_ok=True)
    (folder / "stef.json").write_text(json.dumps({"format": FORMAT, "signatures": {}}))
    for day in {row["time"] for row in rows}:
        place = folder / "scores" / f"day={'unknown' if day is None else day.date()}"
        place.mkdir(parents=True, exist_ok=True)
        of_day = [row for row in rows if row["time"] == day]
        pyarrow.parquet.write_table(pa.Table.from_pylist(of_day, schema=SCHEMA), place / name)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(
        tmp_path / "out",
        "part-b.parquet",
        [
            row("1", 3, agent="A", database="x"),
            row("2", 1, agent="B", database="y"),
            row("3", 2, agent="A", database="y"),
            row("4", None, agent="A"),
        ],
    )
    write(tmp_path / "out", "part-a.parquet", [row("0", 3, agent="C")])
    write(tmp_path / "out", "not-a-part.parquet", [row("9", 1)])
    return tmp_path / "out"


def keys(table: pa.Table) -> list[str]:
    return table["key"].to_pylist()


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({}, ["2", "3", "0", "1", "4"]),
        ({"agents": ["A"]}, ["3", "1", "4"]),
        ({"agents": ["A", "B"], "databases": ["y"]}, ["2", "3"]),
        ({"agents": []}, []),
        ({"since": "2026-07-02"}, ["3", "0", "1"]),
        ({"until": date(2026, 7, 3)}, ["2", "3"]),
        ({"since": "2026-07-02T12:00:00Z", "until": datetime(2026, 7, 3, 12)}, ["3"]),
        ({"since": "2026-07-02T14:30:00+02:00"}, ["0", "1"]),
        ({"since": "2027-01-01"}, []),
    ],
    ids=str,
)
def test_filters(filters: dict[str, Any], expected: list[str], folder: Path) -> None:
    table = read_scores(folder, **filters)
    assert keys(table) == expected and table.schema.equals(READ_SCHEMA)


def test_only_the_columns_asked_for(folder: Path) -> None:
    assert read_scores(folder, ["score", "key"]).column_names == ["score", "key"]
    with pytest.raises(OptionError, match="Did you mean 'score'"):
        read_scores(folder, ["scor"])
    with pytest.raises(OptionError, match="`since`"):
        read_scores(folder, since="soon")


def test_days_outside_are_not_opened(folder: Path) -> None:
    (folder / "scores" / "day=2026-07-01" / "part-b.parquet").write_bytes(b"broken")
    assert keys(read_scores(folder, since="2026-07-02")) == ["3", "0", "1"]
    with pytest.raises(SpiderComposeError, match="cannot read the scored rows"):
        read_scores(folder)


def test_rows_that_stand_there_twice_count_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    one = row("1", 1, None, agent="A", signature="s")
    write(tmp_path, "part-a.parquet", [one, row("2", 1, signature="s"), one])
    write(
        tmp_path,
        "part-b.parquet",
        [
            {**one, "score": 70.0, "unscored": None},
            {**one, "agent": "B"},  # another agent's row
            {**one, "signature": "t"},  # scored under another signature
        ],
    )
    table = read_scores(tmp_path, ["key", "agent", "score"])
    assert table.to_pylist() == [
        {"key": "1", "agent": "A", "score": 70.0},
        {"key": "1", "agent": "A", "score": None},
        {"key": "1", "agent": "B", "score": None},
        {"key": "2", "agent": "", "score": 50.0},
    ]
    assert duplicates(table) == 2 and "2 rows" in caplog.text


def test_no_rows_at_all(tmp_path: Path) -> None:
    write(tmp_path, "part-a.parquet", [])
    table = read_scores(tmp_path)
    assert table.num_rows == 0 and table.schema.equals(READ_SCHEMA)
    with pytest.raises(SpiderComposeError, match="stef score LOG --out"):
        read_scores(tmp_path / "none")


def test_signatures_are_not_mixed(tmp_path: Path) -> None:
    write(tmp_path, "part-a.parquet", [row("1", 1, signature="v1|a"), row("2", 1, signature="v2|a")])
    table = read_scores(tmp_path, ["key", "signature"])
    with pytest.raises(OptionError, match=r"2 signatures.*--signature.*\n  v1\|a\n  v2\|a"):
        of_one_signature(table)
    assert keys(of_one_signature(table, "v2")) == ["2"]
    assert keys(of_one_signature(table, mixed=True)) == ["1", "2"]
    for wrong in ("a", "v3"):
        with pytest.raises(OptionError, match="match"):
            of_one_signature(table, wrong)


def test_the_lines_of_stef_score(tmp_path: Path) -> None:
    """A file of `stef score FILE --output`, and one with more columns put beside them."""
    from spider_compose.stef.enrichment import Difference, Enrichment
    from spider_compose.stef.score import Reason, Result
    from spider_compose.stef.specification.items import Span

    lost = Difference("number", "lost", "3", Span(0, 1), None)
    result = Result(
        score=60.0,
        band="marginal",
        enrichment=Enrichment(0.5, (lost,)),
        reasons=(Reason("rule", "why", 40.0, Span(1, 2), Span(3, 4)),),
        dialect="sqlite",
    )
    lines = [
        {"row": 7, **result.as_dict()},
        {"row": 8, **result.as_dict(), "agent": "A", "time": 1782864000},
    ]
    (tmp_path / "s.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    dated, plain = read_scores(tmp_path / "s.jsonl").to_pylist()
    assert (dated["key"], dated["agent"], dated["time"].day) == ("8", "A", 1)
    assert (plain["key"], plain["agent"], plain["time"], plain["sql_dialect"]) == ("7", "", None, "sqlite")
    assert plain["enrichment_quality"] == 0.5 and plain["enrichment_lost"] == ["lost: number '3'"]
    assert plain["reasons"][0] == {
        "rule": "rule", "message": "why", "points": 40.0,
        "question_start": 1, "question_end": 2, "sql_start": 3, "sql_end": 4,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("s.jsonl", '{"row": 1}\n', "line 1: .*no `score`"),
        ("s.jsonl", "{cut\n", "line 1"),
        ("s.jsonl", '{"score": 1, "reasons": [{"question": 5}]}\n', "line 1"),
        ("s.parquet", "no", "no Parquet"),
    ],
    ids=["no score", "no JSON", "other reasons", "no Parquet"],
)
def test_files_that_are_no_scores(name: str, text: str, says: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(SpiderComposeError, match=says):
        read_scores(tmp_path / name)


def test_a_parquet_file_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "s.parquet"
    pyarrow.parquet.write_table(pa.table({"score": [1, 2], "agent": ["A", "B"]}), path)
    table = read_scores(path, ["key", "score", "agent", "question"], agents=["B"])
    assert table.to_pylist() == [{"key": "1", "score": 2.0, "agent": "B", "question": ""}]
    pyarrow.parquet.write_table(pa.table({"score": ["high"]}), path)
    with pytest.raises(SpiderComposeError, match="`score` must be double"):
        read_scores(path)
