"""The report: the same from a file and a folder, in slices or whole; what is shown of the worst queries."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from spider_compose.errors import OptionError, SpiderComposeError
from spider_compose.stef.cli import main
from spider_compose.stef.monitoring import report as reports
from spider_compose.stef.monitoring.aggregate import lost_points, series, summarize
from spider_compose.stef.monitoring.cube import Cube
from spider_compose.stef.monitoring.report import build_report
from spider_compose.stef.monitoring.report_page import render_report
from spider_compose.stef.monitoring.scored import SCHEMA

Rows = list[dict[str, Any]]
MakeRows = Callable[..., Rows]
Write = Callable[[Path, Rows], Path]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, scored_rows: MakeRows, write_scores: Write) -> Path:
    return write_scores(tmp_path_factory.mktemp("scores") / "scored", scored_rows())


def test_figures_are_those_of_all_rows(folder: Path, scored_table: Callable[..., pa.Table]) -> None:
    table, report = scored_table(), build_report(folder)
    assert list(report.agents) == summarize(table)
    assert list(report.databases) == summarize(table, by=("agent", "database"))
    assert list(report.days) == series(table)
    expected = {(one["agent"], one["rule"]): one for one in lost_points(table)}
    assert {(one["agent"], one["rule"]): one for one in report.rules} == {
        key: pytest.approx(one) for key, one in expected.items()
    }
    assert (report.total["rows"], report.duplicates) == (600, 0)
    assert report.signatures == ("judge:rules|version:test",)


def test_slices_change_nothing(folder: Path, tmp_path: Path, scored_table: Callable[..., pa.Table],
                               monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    whole = build_report(folder).as_dict()
    monkeypatch.setattr(reports, "_SLICE", 1)  # every day by itself
    assert build_report(folder).as_dict() == whole
    file = tmp_path / "scored.parquet"
    pq.write_table(scored_table(), file)
    assert build_report(file).as_dict() | {"source": str(folder)} == whole


def test_json_holds_plain_values_and_is_the_same_again(folder: Path) -> None:
    text = json.dumps(build_report(folder).as_dict())
    assert text == json.dumps(build_report(folder).as_dict())
    assert json.loads(text)["days"][0]["start"] == "2026-07-01"


def test_the_worst_come_first_and_every_agent_is_there(folder: Path, scored_rows: MakeRows) -> None:
    worst = build_report(folder, worst=30).worst
    scores = [one["score"] for one in worst]
    assert len(worst) == 30
    assert scores == sorted(scores) and scores[-1] < 90
    assert {one["agent"] for one in worst} == {"A", "B", "C"}
    assert worst[0]["score"] == min(row["score"] for row in scored_rows() if row["score"] is not None)
    assert build_report(folder, worst=0).worst == ()
    assert max(one["score"] for one in build_report(folder, worst=600).worst) < 90, "excellent is not bad"


def test_one_query_is_shown_once_however_often_it_came(
    tmp_path: Path, scored_rows: MakeRows, write_scores: Write
) -> None:
    rows = scored_rows(count=400)
    low = next(row for row in rows if row["score"] is not None and row["score"] < 30)
    same = {name: low[name] for name in low if name not in ("key", "time")}
    repeated = [{**row, **same} if place % 2 else row for place, row in enumerate(rows)]
    worst = build_report(write_scores(tmp_path / "again", repeated), worst=40).worst
    assert sum(one["sql"] == low["sql"] for one in worst) == 1
    assert len(worst) == 40, "the list is filled with others"


def test_unscored_rows_are_shown_by_reason(folder: Path) -> None:
    unscored = build_report(folder).unscored
    assert {(one["agent"], one["unscored"]) for one in unscored} >= {
        ("A", "no_sql"),
        ("B", "no_dialect_parses"),
    }
    assert all(one["score"] is None and one["message"] for one in unscored)


def test_long_texts_are_cut_and_spans_with_them(
    tmp_path: Path, scored_rows: MakeRows, write_scores: Write
) -> None:
    rows = scored_rows(count=30)
    for row in rows:
        row["sql"] += " -- " + "x" * 100_000
        for reason in row["reasons"]:
            reason["sql_start"], reason["sql_end"] = 21, 90_000
    worst = build_report(write_scores(tmp_path / "long", rows)).worst
    assert max(len(one["sql"]) for one in worst) == 3000
    assert {reason["sql_end"] for one in worst for reason in one["reasons"]} == {3000}


def test_scores_that_do_not_compare_are_not_mixed_unasked(
    tmp_path: Path, scored_rows: MakeRows, write_scores: Write
) -> None:
    rows = scored_rows(count=40) + scored_rows(count=40, signature="judge:other|version:test")
    place = write_scores(tmp_path / "two", rows)
    with pytest.raises(OptionError, match="2 signatures"):
        build_report(place)
    assert build_report(place, signature="judge:other").total["rows"] == 40
    mixed = build_report(place, mixed=True)
    assert (mixed.total["rows"], len(mixed.signatures)) == (80, 2)


@pytest.mark.parametrize(
    ("options", "rows"),
    [
        ({"agents": ["A"]}, lambda row: row["agent"] == "A"),
        ({"databases": ["harbour"]}, lambda row: row["database"] == "harbour"),
        ({"since": "2026-07-20T12:00:00Z", "until": "2026-08-01"},
         lambda row: row["time"] and "2026-07-20T12" <= row["time"].isoformat() < "2026-08-01"),
    ],
    ids=["agent", "database", "time"],
)  # fmt: skip
def test_only_what_is_asked_for(
    folder: Path, scored_rows: MakeRows, options: dict[str, Any], rows: Callable[[dict[str, Any]], bool]
) -> None:
    report = build_report(folder, **options)
    kept = [row for row in scored_rows() if rows(row)]
    assert report.total["rows"] == len(kept)
    lost = sum(reason["points"] for row in kept for reason in row["reasons"])
    assert sum(one["points"] for one in report.rules) == pytest.approx(lost, abs=0.01)
    assert {one["key"] for one in report.worst} <= {row["key"] for row in kept}


def test_log_without_times(tmp_path: Path, scored_rows: MakeRows, write_scores: Write) -> None:
    report = build_report(write_scores(tmp_path / "timeless", scored_rows(count=60, time=None)))
    assert (report.first, report.cube.days(), report.total["rows"]) == (None, None, 60)
    assert report.worst and report.rules


def test_no_rows_are_one_error(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SpiderComposeError, match="none is left"):
        build_report(folder, agents=["Z"])
    assert main(["report", str(folder), "--agent", "Z"]) == 2
    assert "Traceback" not in capsys.readouterr().err


def test_command(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(folder)]) == 0
    out = capsys.readouterr()
    printed = json.loads(out.out)
    assert printed["format"] == "stef report 1"
    table = [line.split() for line in out.err.splitlines()]
    assert table[0][:3] == ["agent", "queries", "mean"]
    assert [line[0] for line in table[1:4]] == ["A", "B", "C"]
    assert table[1][2] == f"{printed['agents'][0]['mean']:.1f}"
    files = ["--html", str(tmp_path / "r.html"), "--json", str(tmp_path / "r.json")]
    assert main(["report", str(folder), *files, "--worst", "5"]) == 0
    assert capsys.readouterr().out == ""
    written = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    assert written == {**printed, "worst": written["worst"]} and len(written["worst"]) == 5
    assert (tmp_path / "r.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def test_a_missing_extra_is_named() -> None:
    program = (
        "import sys; sys.modules['pyarrow'] = sys.modules['numpy'] = None\n"
        "from spider_compose.stef.cli import main; sys.exit(main(['report', 'scored']))"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout) == (2, "")
    assert "pip install 'spider-compose[monitor]'" in run.stderr and "Traceback" not in run.stderr


def test_many_agents_and_databases_are_taken_together(
    tmp_path: Path, scored_rows: MakeRows, write_scores: Write
) -> None:
    rows = [
        {**row, "agent": f"a{n % 13}", "database": f"d{n % 41}"}
        for n, row in enumerate(scored_rows(count=533))
    ]
    report = build_report(write_scores(tmp_path / "many", rows))
    assert report.cube.folded == {"agents": 2, "databases": 2}
    assert (len(report.agents), len(report.databases)) == (13, 533)
    assert "(others)" in render_report(report, "Many")


def test_zero_times_and_the_last_day_there_is(
    tmp_path: Path, scored_rows: MakeRows, write_scores: Write
) -> None:
    """As some loggers write a time that they don't have, and as others write never."""
    rows = scored_rows(count=4)
    for row, year in zip(rows, (1, 1969, 2026, 9999), strict=True):
        row["time"] = datetime(year, 12, 31, 23, 59, 59, tzinfo=timezone.utc)
    report = build_report(write_scores(tmp_path / "odd", rows))
    assert (report.total["rows"], len(report.days)) == (4, 4)
    assert sum(one["points"] for one in report.rules) == pytest.approx(
        sum(reason["points"] for row in rows for reason in row["reasons"])
    )
    assert render_report(report, "Odd")


def test_rows_that_come_while_it_reads_are_left_to_the_next(
    tmp_path: Path, scored_rows: MakeRows, write_scores: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = scored_rows()
    folder = write_scores(tmp_path / "scored", rows[:300])
    before = build_report(folder).as_dict()
    count = Cube.count

    def meanwhile(table: pa.Table) -> Cube:
        for row in rows[300:]:
            day = "unknown" if row["time"] is None else row["time"].date()
            place = folder / "scores" / f"day={day}"
            place.mkdir(exist_ok=True)
            later = {**row, "agent": "new"}
            pq.write_table(pa.Table.from_pylist([later], SCHEMA), place / f"part-{row['key']}.parquet")
        return count(table)

    monkeypatch.setattr(Cube, "count", meanwhile)
    assert build_report(folder).as_dict() == before


def test_names_of_a_log_do_nothing_to_a_terminal(
    tmp_path: Path, scored_rows: MakeRows, write_scores: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = scored_rows(count=9, agent="\x1b[31mred\n" + "long" * 99, signature="judge:\x1b]0;x\x07")
    assert main(["report", str(write_scores(tmp_path / "scored", rows))]) == 0
    shown = capsys.readouterr().err
    assert "\x1b" not in shown and "\x07" not in shown and max(map(len, shown.splitlines())) < 200
