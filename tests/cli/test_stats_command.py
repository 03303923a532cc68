from __future__ import annotations

import json
import struct
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from spider_compose.dataset.configs import CONFIGS

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


PAIRS = [name for name, spec in CONFIGS.items() if spec.kind == "pairs"]


def configs_of(text: str) -> dict[str, dict[str, object]]:
    return {config["config"]: config for config in json.loads(text)["configs"]}


def test_all_configs(cli: Cli, tiny_folder: Path) -> None:
    found = configs_of(cli("stats", tiny_folder, "--all", "--json").out)
    assert set(found) == set(PAIRS)
    written = json.loads((tiny_folder / "signature.json").read_text("utf-8"))
    for name, config in found.items():
        assert config["signature"] == written["configs"][name]
        held_out = "validation" if name == "spider" else "test"
        comparison = config["comparisons"][held_out]
        assert comparison["train_rows"] == config["sizes"]["train"]
        assert comparison["test_rows"] == config["sizes"][held_out]
        assert 0 <= comparison["compound_divergence"] <= 1
        assert list(config["comparisons"]) == [held_out]
        assert config["lengths"]["splits"]["train"]["all"]["sql"]["count"] == config["sizes"]["train"]
    assert len({config["grammar"] for config in found.values()}) == 1, "figures of two would not compare"
    # What the splits are for.
    assert found["spider_template"]["comparisons"]["test"]["shared_templates"] == 0
    assert found["spider_tmcd"]["comparisons"]["test"]["unseen_atom_rows"] == 0
    assert found["compose_no_overlap"]["comparisons"]["test"]["clauses"]["shared"] == 0
    assert found["compose"]["comparisons"]["test"]["clauses"]["shared"] > 0
    assert found["compose"]["comparisons"]["test"]["train_outside_grammar"] > 0


def test_a_source_and_its_built_folder_compare_the_same(cli: Cli, tiny: Path, tiny_folder: Path) -> None:
    told = configs_of(cli("stats", tiny, "--all", "--json").out)
    assert told == configs_of(cli("stats", tiny_folder, "--all", "--json").out)


def test_configs_by_name(cli: Cli, tiny_folder: Path) -> None:
    result = cli("stats", tiny_folder, "--config", "spider_tmcd, spider")
    assert (result.code, result.err) == (0, "")
    sizes, comparison, key, *_ = result.out.split("\n\n")
    assert [line.split()[0] for line in sizes.splitlines()] == ["rows", "spider_tmcd", "spider"]
    assert [line.split()[:2] for line in comparison.splitlines()[1:3]] == [
        ["spider_tmcd", "test"],
        ["spider", "validation"],
    ]
    assert "Shaw et al. 2021" in key and "Finegan-Dollak et al. 2018" in key
    assert "\n\nspider_tmcd: source:" in result.out


@pytest.mark.parametrize("source", ["tiny", "tiny_folder"])
def test_an_unknown_config_is_refused_with_the_nearest(
    cli: Cli, request: pytest.FixtureRequest, source: str
) -> None:
    result = cli("stats", request.getfixturevalue(source), "--config", "spider_tmdc")
    assert (result.code, result.out) == (2, "")
    assert "Did you mean 'spider_tmcd'?" in result.err


def test_alignments_are_no_pairs(cli: Cli, tiny_folder: Path) -> None:
    assert cli("stats", tiny_folder, "--config", "alignment").code == 2


@pytest.mark.parametrize(
    ("flags", "configs"),
    [
        pytest.param([], PAIRS, id="none"),
        pytest.param(["--aligner", "keyword"], [name for name in PAIRS if name != "compose"], id="keyword"),
        pytest.param(
            ["--no-resolve-aliases"],
            [
                "compose_segment_aliases",
                *[name for name in PAIRS if name not in ("compose", "compose_paper")],
            ],
            id="no-config-of-its-own",
        ),
    ],
)
def test_a_chosen_aligner_is_measured_once(
    cli: Cli, tiny: Path, flags: list[str], configs: list[str]
) -> None:
    assert set(configs_of(cli("stats", tiny, "--all", "--json", *flags).out)) == set(configs)


def test_a_corpus_too_small_for_a_split(cli: Cli, write_corpus: Callable[..., Path]) -> None:
    corpus = write_corpus(
        ("zoo", "SELECT name FROM animal", "Which animals are there?"),
        ("zoo", "SELECT name FROM animal WHERE age > 3", "Which animals are older than 3?"),
    )
    result = cli("stats", corpus, "--all")
    assert result.code == 0
    assert "\nnot made: spider_template: 2 rows are too few for three parts" in result.out
    content = json.loads(cli("stats", corpus, "--all", "--json").out)
    assert set(content["not_made"]) == {"spider_template", "spider_tmcd", "spider_length", "spider_random"}
    result = cli("stats", corpus, "--config", "spider_template")
    assert (result.code, result.out) == (2, "")
    assert "2 rows are too few for three parts" in result.err


def test_grammar(cli: Cli, tiny_folder: Path) -> None:
    divergence = {}
    for name in ("spider", "sqlglot"):
        found = configs_of(cli("stats", tiny_folder, "--config", "compose", "--grammar", name, "--json").out)[
            "compose"
        ]
        assert found["grammar"] == name
        divergence[name] = found["comparisons"]["test"]["compound_divergence"]
    assert divergence["spider"] != divergence["sqlglot"]
    result = cli("stats", tiny_folder, "--grammar", "spider")
    assert (result.code, result.out) == (2, "")
    assert "add --config, --all or --html" in result.err


def test_page_of_the_default_config(cli: Cli, tiny_folder: Path, tmp_path: Path) -> None:
    result = cli("stats", tiny_folder, "--html", tmp_path / "page.html")
    assert result.code == 0
    text = (tmp_path / "page.html").read_text("utf-8")
    assert "<h3>compose</h3>" in text and "<h3>spider</h3>" not in text


def test_picture_of_all_configs(cli: Cli, tiny_folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="needs the extra `plots`")
    for name in ("a.svg", "b.svg", "a.png"):
        assert cli("stats", tiny_folder, "--all", "--plot", tmp_path / name).code == 0
    svg = (tmp_path / "a.svg").read_text("utf-8")
    assert svg == (tmp_path / "b.svg").read_text("utf-8")
    assert all(f"SQL, {name}" in svg and f"Text, {name}" in svg for name in PAIRS)
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


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


def test_a_page_needs_no_matplotlib(
    cli: Cli, tiny_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert cli("stats", tiny_folder, "--config", "spider", "--html", tmp_path / "page.html").code == 0


def test_options_of_a_build_cannot_change_a_built_folder(cli: Cli, tiny_folder: Path) -> None:
    result = cli("stats", tiny_folder, "--deduplicate", "all")
    assert result.code == 2
    assert "where --deduplicate cannot change anything" in result.err
