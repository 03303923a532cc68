"""`stef compare` and `stef monitor` as commands: output, exit codes, state between runs."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from spider_compose.errors import SpiderComposeError
from spider_compose.stef.cli import main
from spider_compose.stef.monitoring import notify, scored
from spider_compose.stef.monitoring.scored import SCHEMA

Rows = list[dict[str, Any]]
FIRST = datetime(2026, 7, 1, tzinfo=timezone.utc)
WORSE_DAY = "2026-07-31"  # the 30th day of the made-up log


@pytest.fixture
def scores(
    tmp_path: Path,
    scored_rows: Callable[..., Rows],
    write_scores: Callable[[Path, Rows], Path],
    monkeypatch: pytest.MonkeyPatch,
) -> Path:
    monkeypatch.delenv("STEF_WEBHOOK", raising=False)
    return write_scores(tmp_path / "scores", scored_rows(count=3000))


def test_compare_finds_the_fall_and_fails(
    scores: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    out = tmp_path / "found.json"
    arguments = ["compare", str(scores), "--agents", "B", "--split", WORSE_DAY, "--samples", "300"]
    assert main([*arguments, "--fail-if-worse-than", "2", "--output", str(out)]) == 1
    text = capsys.readouterr().out
    assert "gate FAILED: score_unscored_as_0" in text and "separate: 0 shared" in text
    found = json.loads(out.read_text())
    score = found["measures"]["score"]
    assert score["high"] < -10 and score["p_value"] <= 0.005
    assert found["gate"]["passed"] is False and found["scored_under"] == ["judge:rules|version:test"]
    assert main([*arguments, "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == {**found, "gate": None}


def test_compare_passes_where_nothing_changed(scores: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [
        "compare",
        str(scores),
        "--agents",
        "A",
        "C",
        "--samples",
        "300",
        "--fail-if-worse-than",
        "2",
    ]
    assert main(arguments) == 0
    text = capsys.readouterr().out
    assert "gate passed" in text and "mind: this sample finds differences of" in text


def test_compare_two_folders(
    scores: Path, scored_rows: Any, write_scores: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A new version of an agent on the questions of the old one."""
    rows = [row for row in scored_rows(count=3000) if row["agent"] == "A"]
    better = [{**row, "score": row["score"] and min(100, row["score"] + 5)} for row in rows]
    other = write_scores(tmp_path / "other", better)
    assert main(["compare", str(scores), str(other), "--agents", "A", "--samples", "300"]) == 0
    text = capsys.readouterr().out
    assert "paired:" in text and "0 of A alone and 0 of B alone" in text


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "nothing to compare A with"),
        (["--agents", "A", "B", "C"], "but got 3"),
        (["--agents", "A", "nobody"], "B has no scored rows"),
        (["--agents", "A", "B", "--paired"], "share no question"),
        (["--agents", "A", "B", "--fail-if-worse-than", "2", "--measure", "scor"], "Did you mean 'score'"),
        (["--split", "soon"], "expected a time"),
    ],
    ids=["alone", "three", "unknown", "paired", "measure", "time"],
)
def test_compare_says_what_is_wrong(
    scores: Path, arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", str(scores), *arguments]) == 2
    assert says in capsys.readouterr().err


def test_scores_of_other_signatures_do_not_compare(
    scores: Path, scored_rows: Any, write_scores: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = write_scores(tmp_path / "other", scored_rows(signature="judge:hub"))
    assert main(["compare", str(scores), str(other)]) == 2
    assert "different signatures" in capsys.readouterr().err
    assert main(["compare", str(scores), str(other), "--mixed", "--samples", "100"]) == 0


def monitor(scores: Path, *arguments: str) -> int:
    return main(["monitor", str(scores), "--now", "2026-08-12", *arguments])


def test_monitor_tells_a_change_once(
    scores: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    prom = tmp_path / "stef.prom"
    assert monitor(scores, "--fail-on-alarm", "--prometheus", str(prom)) == 1
    text = capsys.readouterr().out
    assert "NEW worse: score of agent B" in text and f"since {WORSE_DAY}" in text
    assert "agent A" not in text.split("\n\n")[0] and "agent C" not in text.split("\n\n")[0]
    assert 'stef_alarms_total{agent="B",measure="score",direction="worse"} 1.0' in prom.read_text()
    assert monitor(scores, "--fail-on-alarm", "--format", "json") == 0
    captured = capsys.readouterr()
    found = json.loads(captured.out)
    assert found["new_alarms"] == [] and len(found["alarms"]) == 1
    assert "rows have no time and are left out" not in captured.err or found["notes"]


def test_an_alarm_that_was_not_delivered_is_told_again(
    scores: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STEF_WEBHOOK", "https://hooks.example.org/secret")
    monkeypatch.setenv("STEF_WEBHOOK_TOKEN", "hidden")
    sent: list[tuple[str, Any, str | None]] = []

    def down(*_: Any) -> None:
        raise SpiderComposeError("the alarm was not taken by https://hooks.example.org")

    monkeypatch.setattr(notify, "send", down)
    assert monitor(scores) == 2
    captured = capsys.readouterr()
    assert "secret" not in captured.out + captured.err and "hidden" not in captured.out + captured.err
    monkeypatch.setattr(
        notify, "send", lambda address, document, token, *_: sent.append((address, document, token))
    )
    assert monitor(scores, "--fail-on-alarm") == 1
    assert monitor(scores, "--fail-on-alarm") == 0
    ((address, document, token),) = sent
    assert (address, token) == ("https://hooks.example.org/secret", "hidden")
    (alarm,) = document["alarms"]
    assert (alarm["stream"], alarm["measure"], alarm["direction"]) == ({"agent": "B"}, "score", "worse")
    assert "question" not in document["text"].lower() and "told" not in alarm
    stored = (scores / "monitor.json").read_text()
    assert "secret" not in stored and "hidden" not in stored


def test_a_run_that_is_killed_while_it_tells_tells_again(
    scores: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(
            "spider_compose.stef.cli.monitor._print", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt)
        )
        assert monitor(scores) == 130
    assert monitor(scores, "--fail-on-alarm") == 1
    assert monitor(scores, "--fail-on-alarm") == 0


def test_another_signature_starts_anew_without_telling_old_changes(
    scores: Path, scored_rows: Any, write_scores: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    state = str(tmp_path / "state.json")
    assert monitor(scores, "--state", state, "--fail-on-alarm") == 1
    again = write_scores(tmp_path / "again", scored_rows(count=3000, signature="judge:new"))
    assert monitor(again, "--state", state, "--fail-on-alarm") == 0
    assert "every chart starts anew" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--every", "dya"], "Did you mean 'day'"),
        (["--false-alarms", "0"], "above 0"),
        (["--webhook", "ftp://secret-host"], "http:// or https://"),
        (["--tries", "0"], "at least 1"),
        (["--timeout", "inf"], "at most 3600"),
        (["--late-days", "inf"], "at most 36,500"),
        (["--now", "later"], "expected a time"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_monitor_says_what_is_wrong(
    scores: Path, arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["monitor", str(scores), *arguments]) == 2
    captured = capsys.readouterr()
    assert says in captured.err and "secret" not in captured.err
    assert not (scores / "monitor.json").exists()


def test_compare_reads_the_folder_of_one_moment(
    scores: Path, scored_rows: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """`stef score` may add rows between its two readings."""
    arguments = ["compare", str(scores), "--agents", "A", "B", "--samples", "100", "--format", "json"]
    assert main(arguments) == 0
    before = capsys.readouterr().out
    read = scored.read_scores

    def and_more(*given: Any, **options: Any) -> Any:
        table = read(*given, **options)
        more = pa.Table.from_pylist(scored_rows(count=50, seed=9, time=FIRST), SCHEMA)
        pq.write_table(more, scores / "scores" / "day=2026-07-01" / "part-1.parquet")
        return table

    monkeypatch.setattr(scored, "read_scores", and_more)
    assert main(arguments) == 0
    assert capsys.readouterr().out == before


def test_both_ways_of_telling_are_tried(
    scores: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder of the node exporter that is gone holds no alarm back, and neither does a webhook a gauge."""
    sent: list[Any] = []
    hook = ["--webhook", "http://127.0.0.1:9/"]
    monkeypatch.setattr(notify, "send", lambda *given: sent.append(given))
    assert monitor(scores, *hook, "--prometheus", str(tmp_path / "none" / "x.prom")) == 2
    assert len(sent) == 1 and "x.prom" in capsys.readouterr().err
    assert monitor(scores, *hook) == 0 and len(sent) == 1, "it was told"
    (scores / "monitor.json").unlink()

    def down(*_: Any) -> None:
        raise SpiderComposeError("not taken")

    monkeypatch.setattr(notify, "send", down)
    assert monitor(scores, *hook, "--prometheus", str(tmp_path / "x.prom")) == 2
    assert "stef_last_run_timestamp_seconds" in (tmp_path / "x.prom").read_text()
    assert "not taken" in capsys.readouterr().err


def test_a_clock_that_was_wrong_is_no_silence(scores: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["monitor", str(scores), "--now", "2046-08-12"]) == 0
    assert monitor(scores) == 2
    assert "the clock is wrong" in capsys.readouterr().err
    (scores / "monitor.json").unlink()
    assert monitor(scores) == 0
    assert main(["monitor", str(scores), "--now", "2026-08-11T20:00:00Z"]) == 0, "a little back is no fault"


def test_a_state_is_of_its_scores(
    scores: Path, scored_rows: Any, write_scores: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    state = str(tmp_path / "state.json")
    assert monitor(scores, "--state", state) == 0
    other = write_scores(tmp_path / "other", scored_rows(count=300, score=0.0))
    before = Path(state).read_bytes()
    assert monitor(other, "--state", state) == 2
    assert f"is of {scores}" in capsys.readouterr().err and Path(state).read_bytes() == before
    assert monitor(scores, "--state", state) == 0
    assert monitor(scores) == 0
    scores.rename(tmp_path / "moved")
    assert monitor(tmp_path / "moved") == 0, "a state in the folder moves with it"


def test_signatures_taken_together_start_nothing_anew(
    scored_rows: Any, write_scores: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The old signature's rows fall out of what later runs read."""
    rows = [
        {**row, "signature": "judge:old" if row["time"] < FIRST + timedelta(days=10) else "judge:new"}
        for row in scored_rows(count=2000)
        if row["time"]
    ]
    folder = write_scores(tmp_path / "scores", rows)
    for now in ("2026-07-09", "2026-07-20", "2026-08-12"):
        assert main(["monitor", str(folder), "--mixed", "--now", now]) == 0
        assert "anew" not in capsys.readouterr().err


@pytest.mark.parametrize("missing", ["nosuch", "empty"])
@pytest.mark.parametrize("command", ["report", "compare", "monitor"])
def test_what_is_not_there_is_said_plainly(
    command: str, missing: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty").mkdir()
    folder = str(tmp_path / missing)
    assert main([command, folder, *([folder] if command == "compare" else [])]) == 2
    said = capsys.readouterr().err
    assert "Errno" not in said and f"stef score LOG --out {folder}" in said
    assert ("there is none" if missing == "nosuch" else "has no stef.json") in said
    assert list(tmp_path.rglob("*")) == [tmp_path / "empty"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["report", "{scores}", "--html", "{none}/x.html"],
        ["report", "{scores}", "--json", "{none}/x.json"],
        ["compare", "{scores}", "--agents", "A", "B", "--samples", "100", "--output", "{none}/x.json"],
        ["monitor", "{scores}", "--state", "{none}/x.json"],
        ["monitor", "{scores}", "--prometheus", "{none}/x.prom"],
        ["sample-log", "{none}/x.jsonl"],
    ],
    ids=lambda words: f"{words[0]} {words[-2]}" if isinstance(words, list) else None,
)
def test_a_file_in_no_folder(
    arguments: list[str], scores: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([word.format(scores=scores, none=tmp_path / "none") for word in arguments]) == 2
    said = capsys.readouterr().err
    assert "Errno" not in said and ".part" not in said and str(tmp_path / "none" / "x.") in said


def test_a_chart_that_began_anew_says_so(scores: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert monitor(scores) == 0
    told = capsys.readouterr().out
    (of_b,) = [line for line in told.splitlines() if line.startswith("agent B: ")]
    (of_a,) = [line for line in told.splitlines() if line.startswith("agent A: ")]
    assert f"score changed on {WORSE_DAY} (told above), since then " in of_b
    assert "coverage steady" in of_b and "score steady" in of_a


def test_examples_are_counted_from_nothing(scores: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", str(scores), "--agents", "A", "B", "--examples", "-1"]) == 2
    assert "`--examples` must be at least 0" in capsys.readouterr().err
