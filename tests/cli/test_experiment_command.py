"""`spider-compose experiment`: its actions end to end, against a stand-in of the training program."""

from __future__ import annotations

import errno
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

PROGRAM = Path(__file__).resolve().parent.parent / "fixtures" / "training_program" / "train.py"

Cli = Callable[..., Any]


@pytest.fixture
def folders(tmp_path: Path) -> list[str]:
    return ["--runs", str(tmp_path / "runs"), "--reports", str(tmp_path / "reports")]


@pytest.fixture
def grid(tmp_path: Path) -> Path:
    path = tmp_path / "grid.yaml"
    content = {
        "command": ["python", str(PROGRAM)],
        "models": ["bilstm", "rgt"],
        "cells": [
            {"experiments": ["compose", "compose_no_overlap"], "seeds": [1]},
            {"experiments": ["spider"], "seeds": [1], "models": ["rgt"], "settings": {"fail_at": 1}},
        ],
    }
    path.write_text(yaml.safe_dump(content), encoding="utf-8")
    return path


def test_run_status_report_cards(cli: Cli, grid: Path, folders: list[str], tmp_path: Path) -> None:
    before = cli("experiment", "status", grid, *folders)
    assert before.out.endswith("5 cells: 5 waiting\n")

    run = cli("experiment", "run", grid, *folders, "--workers", "2", "--nice", "0")
    assert run.code == 1, "a cell has failed"
    assert run.out.endswith("4 of 5 cells done, 1 failed: rgt-spider-seed1\n")
    assert "           | loss is not a number\\x1b[31m\n" in run.out

    status = cli("experiment", "status", grid, *folders)
    assert status.out.endswith("5 cells: 4 done, 1 failed\n")
    told = json.loads(cli("experiment", "status", grid, *folders, "--json").out)
    assert told[-1]["state"] == "failed"
    assert told[-1]["note"] == "ended with exit code 1"
    elsewhere = ["--runs", tmp_path / "none", "--reports", tmp_path / "reports"]
    there = cli("experiment", "status", grid, *elsewhere).out
    assert "4 done, 1 waiting" in there
    assert "no run here" in there

    page, tables = tmp_path / "report.html", tmp_path / "report.md"
    report = cli("experiment", "report", *folders[2:], "--html", page, "--markdown", tables)
    assert report.code == 0
    assert " ".join(report.out.split()).count("BiLSTM BLEU 28.50†") == 2  # tables 9 and 10
    assert "No report yet: exp. 1: ABS, REL and TreeLSTM" in report.out
    assert "28.50" in page.read_text("utf-8")
    assert "| BiLSTM | BLEU | 28.50† |" in tables.read_text("utf-8")
    as_json = json.loads(cli("experiment", "report", *folders[2:], "--json").out)
    assert [table["name"] for table in as_json["tables"]][:3] == ["table_9", "table_10", "table_11"]

    cards = cli("experiment", "cards", *folders[2:], "--out", tmp_path / "cards")
    assert cards.code == 0
    assert len(list((tmp_path / "cards").glob("*.md"))) == 4
    assert cards.out.splitlines()[0] == str(tmp_path / "cards" / "bilstm-compose.md")


def test_only(cli: Cli, grid: Path, folders: list[str]) -> None:
    told = cli(
        "experiment", "status", grid, *folders, "--only", "model=rgt", "--only", "experiment=compose,spider"
    )
    assert told.out.endswith("2 cells: 2 waiting\n")


def test_time_limit_leaves_cells(cli: Cli, grid: Path, folders: list[str]) -> None:
    told = cli("experiment", "run", grid, *folders, "--time-limit", "0")
    assert told.code == 0
    assert "0 of 5 cells done, 5 left (time limit); the same command goes on with them" in told.out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["run", "none.yaml"], "cannot read none.yaml"),
        (["run", "GRID", "--only", "rgt"], "`only` must be NAME=VALUES"),
        (["run", "GRID", "--only", "modell=rgt"], "Did you mean 'model'"),
        (["run", "GRID", "--only", "model=abs"], "`only model` must be one of"),
        (["run", "GRID", "--workers", "0"], "a whole number, 1 or more, but got '0'"),
        (["run", "GRID", "--time-limit", "-1"], "expected minutes, 0 or more, but got '-1'"),
        (["run", "GRID", "--time-limit", "nan"], "expected minutes, 0 or more, but got 'nan'"),
        (["run", "GRID", "--nice", "20"], "invalid choice: 20"),
        (["run"], "required: GRID"),
        ([], "required: ACTION"),
        (["report", "--reports", "none"], "no folder with reports at none"),
        (["report", "--reports", "EMPTY"], "no report in"),
        (["cards", "--reports", "EMPTY"], "no report in"),
        (["report", "--reports", "REPORTS", "--ratings", "none.json"], "cannot read the ratings none.json"),
        (["report", "--reports", "REPORTS", "--html", "none/page.html"], "cannot write none/page.html"),
        (["cards", "--reports", "REPORTS", "--out", "GRID"], "cannot write"),
    ],
)
def test_bad_input(
    cli: Cli, grid: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], says: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    (tmp_path / "reports").mkdir()
    content = {"format": 1, "model": "rgt", "experiment": "compose", "seed": 1, "num_items": 1, "metrics": {}}
    (tmp_path / "reports" / "r.json").write_text(json.dumps(content), encoding="utf-8")
    places = {"GRID": str(grid), "EMPTY": "empty", "REPORTS": "reports"}
    result = cli("experiment", *(places.get(word, word) for word in arguments))
    assert result.code == 2
    assert says in result.err


def test_a_folder_that_cannot_be_made(cli: Cli, grid: Path, tmp_path: Path) -> None:
    result = cli("experiment", "run", grid, "--runs", grid, "--reports", tmp_path / "reports")
    assert result.code == 2
    assert "cannot write" in result.err


FULL = "No space left on device"


def test_a_full_disk_is_told_with_the_file(
    cli: Cli, grid: Path, folders: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A write that fails after its file was opened names no file of its own."""

    def full(path: Path, data: bytes) -> None:
        if place in path.parts:
            raise OSError(errno.ENOSPC, FULL)
        with path.open("wb") as file:
            file.write(data)

    monkeypatch.setattr(Path, "write_bytes", full)
    run = ["experiment", "run", grid, *folders, "--only", "model=rgt", "--only", "experiment=compose"]
    place = "runs"
    result = cli(*run)
    folder = tmp_path / "runs" / "rgt-compose-seed1"
    assert (result.code, f"cannot write {folder / 'settings.yaml'}: {FULL}" in result.err) == (2, True)
    place = "reports"
    result = cli(*run)
    copy = tmp_path / "reports" / "rgt-compose-seed1.json"
    assert (result.code, f"cannot write {copy}: {FULL}" in result.err) == (2, True)
    place = "cards"
    assert cli(*run).code == 0
    result = cli("experiment", "cards", *folders[2:], "--out", tmp_path / "cards")
    card = tmp_path / "cards" / "rgt-compose.md"
    assert (result.code, f"cannot write {card}: {FULL}" in result.err) == (2, True)


def test_ratings_of_no_report_are_named(cli: Cli, tmp_path: Path) -> None:
    reports, ratings = tmp_path / "reports", tmp_path / "ratings.json"
    reports.mkdir()
    content = {"format": 1, "model": "rgt", "experiment": "compose", "seed": 1, "num_items": 1, "metrics": {}}
    (reports / "r.json").write_text(json.dumps(content), encoding="utf-8")
    rated = {"format": 1, "raters": 2, "alpha": 0.5, "systems": {"a\x1b[31m": {"percent": 50.0}}}
    ratings.write_text(json.dumps(rated), encoding="utf-8")
    given = ["--reports", reports, "--ratings", ratings]
    result = cli("experiment", "report", *given)
    assert "Rated, but without a report here: a\\x1b[31m." in result.out
    result = cli("experiment", "cards", *given, "--out", tmp_path / "cards")
    assert (result.code, result.err) == (0, "rated, but without a report here: a\\x1b[31m\n")


@pytest.mark.parametrize("action", ["run", "status", "report", "cards"])
def test_help(cli: Cli, action: str) -> None:
    result = cli("experiment", action, "--help")
    assert (result.code, result.err) == (0, "")
