from __future__ import annotations

import json
import struct
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Cli = Callable[..., "object"]


def test_text(cli: Cli, tiny_folder: Path) -> None:
    result = cli("stats", tiny_folder)
    assert (result.code, result.err) == (0, "")
    assert result.out.startswith("Table 5: length of SQL (words and signs)\n")
    assert "\n\nTable 6: length of text (words and signs)\n" in result.out
    assert "\n\nsignature  source:" in result.out
    assert [line.split()[0] for line in result.out.splitlines() if line[:1] in ("t", "v")] == [
        "train",
        "validation",
        "test",
    ] * 2


def test_a_source_and_its_built_folder_measure_the_same(cli: Cli, tiny: Path, tiny_folder: Path) -> None:
    assert cli("stats", tiny).out == cli("stats", tiny_folder).out


def test_json(cli: Cli, tiny_folder: Path) -> None:
    measured = json.loads(cli("stats", tiny_folder, "--json").out)
    written = json.loads((tiny_folder / "signature.json").read_text("utf-8"))
    assert measured["signature"] == written["signature"]
    for split, lengths in measured["splits"].items():
        assert lengths["all"]["sql"]["count"] == written["counts"][split]["pairs"]
        assert sum(lengths["all"]["text"]["bins"]) == written["counts"][split]["pairs"]
        assert set(lengths["by_clauses"]) == set(written["counts"][split]["by_clauses"])


def test_picture(cli: Cli, tiny_folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="needs the extra `plots`")
    for name in ("a.png", "b.png", "a.svg", "b.svg"):
        assert cli("stats", tiny_folder, "--plot", tmp_path / name).code == 0
    png = (tmp_path / "a.png").read_bytes()
    assert png.startswith(b"\x89PNG")
    width, height = struct.unpack(">II", png[16:24])
    assert width > 1000 < height * 2
    assert png == (tmp_path / "b.png").read_bytes()
    svg = (tmp_path / "a.svg").read_text("utf-8")
    assert svg == (tmp_path / "b.svg").read_text("utf-8")
    for shown in ("SQL, train", "Text, test", "share of pairs (%)", "median", "60+"):
        assert shown in svg


def test_other_endings_are_refused_before_the_work(cli: Cli, tmp_path: Path) -> None:
    result = cli("stats", tmp_path / "nowhere", "--plot", "lengths.gif")
    assert (result.code, result.err) == (
        2,
        "spider-compose: `plot` must end in .png or .svg, but got 'lengths.gif'.\n",
    )


def test_without_matplotlib(
    cli: Cli, tiny_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    result = cli("stats", tiny_folder, "--plot", tmp_path / "lengths.png")
    assert (result.code, result.out) == (2, "")
    assert "pip install 'spider-compose[plots]'" in result.err


def test_options_of_a_build_cannot_change_a_built_folder(cli: Cli, tiny_folder: Path) -> None:
    result = cli("stats", tiny_folder, "--deduplicate", "all")
    assert result.code == 2
    assert "where --deduplicate cannot change anything" in result.err
