from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from spider_compose.cli import inspect as inspect_command

Cli = Callable[..., "object"]


def test_terminal(cli: Cli, tiny_folder: Path) -> None:
    result = cli("inspect", tiny_folder, "--row", "1", "--row", "7")
    assert result.code == 0
    assert result.out.startswith("train 1  bakery")
    assert "\n    How many breads are baked from rye?\n" in result.out
    assert "\n\ntrain 7  bakery" in result.out
    assert "  7 recombined pairs\n" in result.out
    assert result.err == "2 shown of 2 pairs that match, 16 in all\n"


def test_a_source_and_its_built_folder_show_the_same(cli: Cli, tiny: Path, tiny_folder: Path) -> None:
    arguments = ("--clauses", "select where", "--limit", "2")
    assert cli("inspect", tiny, *arguments).out == cli("inspect", tiny_folder, *arguments).out


@pytest.mark.parametrize(
    ("environment", "terminal", "flags", "coloured"),
    [
        ({}, True, (), True),
        ({}, False, (), False),
        ({"NO_COLOR": "1"}, True, (), False),
        ({"NO_COLOR": ""}, True, (), True),
        ({"TERM": "dumb"}, True, (), False),
        ({}, False, ("--color", "always"), True),
        ({"NO_COLOR": "1"}, False, ("--color", "always"), True),
        ({}, True, ("--color", "never"), False),
    ],
)
def test_colours(
    cli: Cli,
    tiny_folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    environment: dict[str, str],
    terminal: bool,
    flags: tuple[str, ...],
    coloured: bool,
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.stdout.isatty", lambda: terminal, raising=False)
    assert ("\x1b[" in cli("inspect", tiny_folder, "--limit", "1", *flags).out) == coloured


def test_json(cli: Cli, tiny_folder: Path) -> None:
    shown = json.loads(cli("inspect", tiny_folder, "--row", "7", "--json").out)
    (row,) = shown["rows"]
    assert (row["source_row"], row["aligner"], len(row["pairs"])) == (7, "segment", 7)
    assert row["pairs"][-1]["question"] == row["question"]
    assert (shown["matching"], shown["total"]) == (1, 16)
    assert len(shown["signature"]) == 1


def test_page(cli: Cli, tiny_folder: Path, tmp_path: Path) -> None:
    result = cli("inspect", tiny_folder, "--html", tmp_path / "page.html")
    assert (result.code, result.err) == (0, "")
    assert result.out.startswith(f"16 of 16 pairs on {tmp_path / 'page.html'} (")
    page = (tmp_path / "page.html").read_text("utf-8")
    assert page.count("<article ") == 16
    assert "Dataset" in page  # the built folder's counts


def test_comparison(cli: Cli, tiny: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    result = cli("inspect", tiny, "--compare", "keyword", "segment", "--least-sure", "5", "--html", page)
    assert result.code == 0
    assert page.read_text("utf-8").count("<h3>keyword ") == 5
    assert page.read_text("utf-8").count("<h3>segment ") == 5


def test_default_limits(cli: Cli, tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inspect_command, "PAGE_LIMIT", 5)
    assert cli("inspect", tiny).out.count(" recombined pair") == inspect_command.TERMINAL_LIMIT
    assert "5 of 16 pairs" in cli("inspect", tiny, "--html", tmp_path / "page.html").out
    rows = [argument for row in range(6) for argument in ("--row", str(row))]
    assert cli("inspect", tiny, *rows).out.count(" recombined pair") == 6


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--split", "test"], "`split` must be one of ['train', 'validation']"),
        (["--clauses", "selct"], "Did you mean 'SELECT'?"),
        (["--db-id", "bakry"], "Did you mean 'bakery'?"),
        (["--row", "99"], "no pair passes (split train, rows 99)"),
        (["--compare", "keyword", "segmnt"], "Did you mean 'segment'?"),
        (["--compare", "keyword", "segment", "--aligner", "keyword"], "leave --aligner out"),
    ],
)
def test_bad_choices(cli: Cli, tiny: Path, arguments: list[str], says: str) -> None:
    result = cli("inspect", tiny, *arguments)
    assert (result.code, result.out) == (2, "")
    assert says in result.err


@pytest.mark.parametrize(
    "arguments",
    [
        ["--aligner", "segment"],
        ["--schemas", "tables.json"],
        ["--resolve-aliases"],
        ["--compare", "keyword", "segment"],
    ],
)
def test_options_of_a_build_cannot_change_a_built_folder(
    cli: Cli, tiny_folder: Path, arguments: list[str]
) -> None:
    result = cli("inspect", tiny_folder, *arguments)
    assert result.code == 2
    assert f"is a built folder, where {arguments[0]} cannot change anything. Name a source." in result.err
