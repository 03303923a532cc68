"""One file of scores: what stands in it is checked, whatever wrote it."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyarrow")

import pyarrow as pa
import pyarrow.parquet

from spider_compose.errors import SpiderComposeError
from spider_compose.stef.cli import main
from spider_compose.stef.monitoring.scored import read_scores

FORMS = ("jsonl", "parquet")


def write(folder: Path, form: str, rows: list[dict[str, Any]]) -> Path:
    path = folder / f"s.{form}"
    if form == "parquet":
        pyarrow.parquet.write_table(pa.Table.from_pylist(rows), path)
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.mark.parametrize("form", FORMS)
def test_no_number_is_no_score(form: str, tmp_path: Path) -> None:
    path = write(tmp_path, form, [{"score": 50.0, "agent": "A"}, {"score": math.nan, "agent": None}])
    table = read_scores(path, ["score", "agent"])
    assert table["score"].null_count == 1 and sorted(table["agent"].to_pylist()) == ["", "A"]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "row",
    [
        {"score": math.inf},
        {"score": -1.0},
        {"score": 100.5},
        {"score": "high"},
        {"score": [1]},
        {"score": 1.0, "p_correct": 2.0},
        {"score": 1.0, "band": ["poor"]},
        {"score": 1.0, "time": "soon"},
        {"score": 1.0, "reasons": "none"},
        {"score": 1.0, "reasons": [{"rule": "joins", "message": "m"}]},
        {"score": 1.0, "tolerances": ["plural", None]},
        {"score": 1.0, "enrichment_lost": [None]},
    ],
    ids=str,
)
def test_what_cannot_be_is_one_error(
    form: str, row: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path, form, [row])
    with pytest.raises(SpiderComposeError, match="s\\." + form):
        read_scores(path)
    assert main(["report", str(path)]) == 2 and "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "time", ["2026-07-01T02:00:00+02:00", "2026-07-01T00:00:00", 1782864000, 1782864000000], ids=str
)
def test_times_as_logs_write_them(form: str, time: Any, tmp_path: Path) -> None:
    path = write(tmp_path, form, [{"score": 1.0, "time": time}, {"score": 2.0, "time": None}])
    first, last = read_scores(path, ["time"])["time"].to_pylist()
    assert first.isoformat() == "2026-07-01T00:00:00+00:00" and last is None


@pytest.mark.parametrize("form", FORMS)
def test_every_command_takes_one_that_names_no_signature(
    form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path, form, [{"score": float(n), "question": f"q{n}"} for n in range(9)])
    assert main(["report", str(path), "--html", str(tmp_path / "r.html")]) == 0
    assert main(["compare", str(path), str(path), "--samples", "100"]) == 0
    assert main(["monitor", str(path)]) == 0
    assert "(no agent)" in capsys.readouterr().err


@pytest.mark.parametrize("column", ["agent", "question", "unscored", "signature", "tolerances"])
def test_texts_that_are_no_utf8_are_one_error(column: str, tmp_path: Path) -> None:
    values = pa.array([b"\xff"]).view(pa.string())
    if column == "tolerances":
        values = pa.ListArray.from_arrays([0, 1], values)
    path = tmp_path / "s.parquet"
    pyarrow.parquet.write_table(pa.table({"score": [1.0], column: values}), path)
    with pytest.raises(SpiderComposeError, match=f"`{column}`"):
        read_scores(path)


@pytest.mark.parametrize("moment", [10**18, -(10**17)])
def test_times_beyond_the_calendar_are_one_error(moment: int, tmp_path: Path) -> None:
    path = tmp_path / "s.parquet"
    times = pa.array([None, moment], pa.timestamp("us"))
    pyarrow.parquet.write_table(pa.table({"score": [1.0, 2.0], "time": times}), path)
    with pytest.raises(SpiderComposeError, match=r"`time`.* the years 1 to 9999"):
        read_scores(path)


def test_halves_of_pairs_become_signs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`stef score` writes them as JSON escapes."""
    row = {"score": 1.0, "agent": "\ud83d\ude00", "question": "a\ud800", "tolerances": ["\udfff"]}
    path = write(tmp_path, "jsonl", [row])
    (found,) = read_scores(path).to_pylist()
    assert (found["agent"], found["question"]) == ("\U0001f600", "a\ufffd")
    assert found["tolerances"] == ["\ufffd"]


def test_spans_outside_their_text_mark_what_there_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    reason = {"rule": "joins", "message": "m", "points": 5.0, "question": [-9, 900], "sql": [3, -1]}
    row = {"score": 1.0, "question": "abc", "sql": "xyz", "reasons": [reason]}
    assert main(["report", str(write(tmp_path, "jsonl", [row])), "--html", str(tmp_path / "r.html")]) == 0
    assert '<p class="question">abc</p>' in (tmp_path / "r.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "arguments",
    [
        ["report", "{file}", "--html", "{file}"],
        ["report", "{file}", "--json", "{file}"],
        ["compare", "{file}", "{file}", "--output", "{file}"],
        ["monitor", "{file}", "--prometheus", "{file}"],
        ["monitor", "{file}", "--state", "{file}"],
    ],
    ids=lambda words: f"{words[0]} {words[-2]}",
)
def test_what_is_read_is_not_written_over(
    arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path, "jsonl", [{"score": float(n), "question": f"q{n}"} for n in range(9)])
    before = path.read_bytes()
    assert main([word.format(file=path) for word in arguments]) == 2
    assert path.read_bytes() == before and str(path) in capsys.readouterr().err
