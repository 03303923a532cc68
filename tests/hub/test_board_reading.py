"""Reports of a folder and results of the Hub, read for the leaderboard."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("numpy", reason="the extra `spaces` is not installed")

from spider_compose.errors import HubError, ReportError
from spider_compose.experiments.paper_tables import FIRST, SECOND
from spider_compose.hub import board_reading
from spider_compose.hub.board import Choice, standings
from spider_compose.hub.board_reading import HUB_SECONDS, BoardSource, read_benchmark, read_folder

Make = Callable[..., dict[str, Any]]
BENCHMARK = "owner/spider-compose"


@pytest.fixture
def folder(tmp_path: Path, make_report: Make) -> Path:
    folder = tmp_path / "reports"
    folder.mkdir()
    (folder / "rgt.json").write_text(json.dumps(make_report()))
    return folder


def test_bad_files_cost_themselves_alone(
    folder: Path, make_report: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "cut.json").write_text('{"format": 1,')
    (folder / "latin.json").write_bytes(b'{"model": "caf\xe9"}')
    (folder / "list.json").write_text("[]")
    (folder / "deep.json").write_text("[" * 100_000)
    (folder / "half.json").write_text(json.dumps(make_report(model="half a \ud800 character")))
    (folder / "folder.json").mkdir()
    (folder / "link.json").symlink_to(folder / "nowhere")
    (folder / "large.json").write_text(json.dumps(make_report(model="abs", notes="x" * 20_000)))
    (folder / "notes.txt").write_text("no report")
    monkeypatch.setattr(board_reading, "MAX_BYTES", 20_000)
    entries, results, left_out = read_folder(folder)
    assert [entry.where for entry in entries] == ["rgt.json"] and results == []
    assert {one.where for one in left_out} == {
        "cut.json", "latin.json", "list.json", "deep.json", "half.json", "folder.json", "link.json",
        "large.json",
    }  # fmt: skip
    assert not any(str(folder) in one.reason for one in left_out), "no path of the machine"


def test_no_folder(tmp_path: Path) -> None:
    with pytest.raises(ReportError, match="no folder with reports"):
        BoardSource(tmp_path / "none").board()


def test_a_report_that_comes_is_seen(folder: Path, make_report: Make) -> None:
    source = BoardSource(folder)
    before = source.board()
    assert source.board() is before, "nothing has changed"
    (folder / "abs.json").write_text(json.dumps(make_report(model="abs")))
    assert [one.title for one in source.board().entrants] == ["ABS", "RGT"]
    (folder / "abs.json").write_text(json.dumps(make_report(model="abs", bleu=40.125)))
    figures = [one.figures[FIRST].mean for one in standings(source.board(), Choice())]
    assert figures == [40.125, 31.25]


# Results on the Hub: the real client, and a server that answers as the Hub does.


def publish_results(hub: Any, model: str, scores: dict[str, Any], report: dict[str, Any] | None) -> None:
    hub.store.results.setdefault(BENCHMARK, {})[model] = scores
    files = {"report.json": json.dumps(report)} if report else {"README.md": "# A model"}
    hub.store.add("model", model, files)


def test_results_on_the_hub(hub: Any, make_report: Make) -> None:
    publish_results(hub, "ann/rgt-one", {FIRST: 31.25}, make_report(FIRST, 31.25))
    publish_results(hub, "ann/rgt-two", {SECOND: 20.0}, make_report(SECOND, 20.0))
    publish_results(hub, "bob/llm", {FIRST: 12.5, "other_task": 99.0}, None)
    publish_results(hub, "bob/boast", {FIRST: 90.0}, make_report(FIRST, 31.25, "abs"))
    publish_results(hub, "bob/high", {FIRST: 1e9}, None)
    entries, results, left_out = read_benchmark(BENCHMARK, hub.endpoint)
    assert [(one.where, one.report.identity.model) for one in entries] == [
        ("ann/rgt-one", "ann/rgt"), ("ann/rgt-two", "ann/rgt"),
    ]  # fmt: skip
    assert [(one.model, one.experiment, one.bleu) for one in results] == [
        ("bob/llm", FIRST, 12.5), ("bob/boast", FIRST, 90.0),
    ], "a report that says something else than .eval_results is not taken for it"  # fmt: skip
    assert [(one.where, one.reason) for one in left_out] == [
        (
            "bob/boast, report.json",
            "it says 31.25 for compose, .eval_results 90.0; the latter is shown",
        ),
        ("bob/high", "the score of compose is 1000000000.0, not 0 to 100"),
    ]


def test_a_report_that_is_too_large_is_not_fetched(
    hub: Any, make_report: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish_results(hub, "ann/rgt", {FIRST: 31.25}, make_report(FIRST, 31.25, notes="x" * 20_000))
    monkeypatch.setattr(board_reading, "MAX_BYTES", 20_000)
    entries, results, left_out = read_benchmark(BENCHMARK, hub.endpoint)
    assert (entries, [one.bleu for one in results]) == ([], [31.25])
    assert "more than 20,000 bytes" in left_out[0].reason
    assert not any("/resolve/" in one.path for one in hub.log)


def test_a_report_that_cannot_be_fetched_is_told(hub: Any, make_report: Make) -> None:
    publish_results(hub, "ann/rgt", {FIRST: 31.25}, make_report(FIRST, 31.25))
    publish_results(hub, "bob/llm", {FIRST: 12.5}, None)
    hub.fail("GET", "/ann/rgt/resolve/", status=500)
    hub.fail("HEAD", "/ann/rgt/resolve/", status=500)
    entries, results, left_out = read_benchmark(BENCHMARK, hub.endpoint)
    assert entries == [] and [one.model for one in results] == ["bob/llm"]
    assert [one.where for one in left_out] == ["ann/rgt"]


def test_two_repositories_of_one_model_are_one_entrant(hub: Any, folder: Path, make_report: Make) -> None:
    publish_results(hub, "ann/rgt-one", {FIRST: 31.25}, make_report(FIRST, 31.25))
    publish_results(hub, "ann/rgt-two", {SECOND: 20.0}, make_report(SECOND, 20.0))
    rows = standings(BoardSource(folder, BENCHMARK, hub.endpoint).board(), Choice())
    assert [(one.entrant.name, one.difference.mean) for one in rows] == [("rgt", None), ("ann/rgt", 11.25)]


def test_the_hub_is_not_asked_each_time(hub: Any, folder: Path, make_report: Make) -> None:
    publish_results(hub, "bob/llm", {FIRST: 12.5}, None)
    now = 0.0
    source = BoardSource(folder, BENCHMARK, hub.endpoint, clock=lambda: now)
    assert len(source.board().entrants) == 2
    asked = len(hub.log)
    publish_results(hub, "bob/new", {FIRST: 13.5}, None)
    assert len(source.board().entrants) == 2 and len(hub.log) == asked
    now = HUB_SECONDS + 1
    assert len(source.board().entrants) == 3


def test_a_hub_that_fails_leaves_the_reports(hub: Any, folder: Path) -> None:
    hub.fail("GET", "/leaderboard", status=404)
    board = BoardSource(folder, BENCHMARK, hub.endpoint).board()
    assert [one.title for one in board.entrants] == ["RGT"]
    assert [one.where for one in board.left_out] == [BENCHMARK]
    assert "push" not in board.left_out[0].reason


@pytest.mark.parametrize("name", ["spider", "a/b/c", "../x", "a b/c", ""])
def test_a_benchmark_is_owner_and_name(name: str) -> None:
    with pytest.raises(HubError, match="owner/name"):
        read_benchmark(name)
