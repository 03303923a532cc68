"""`split`: the folder, the report, and options that do nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet

from spider_compose.cli.split import SPLITS
from spider_compose.dataset.configs import CONFIGS
from spider_compose.dataset.tables import SplitOptions, Tables
from spider_compose.source import read_source

Cli = Callable[..., "object"]

CONFIG = {spec.recipe: name for name, spec in CONFIGS.items()}


def rows_of(folder: Path, config: str) -> dict[str, list[str]]:
    return {
        split: parquet.read_table(folder / config / f"{split}.parquet")["id"].to_pylist()
        for split in ("train", "validation", "test")
    }


@pytest.mark.parametrize("split", SPLITS)
def test_the_folder_holds_the_config(cli: Cli, tiny: Path, tmp_path: Path, split: str) -> None:
    result = cli("split", split, "--source", tiny, "--out", tmp_path / "out")
    assert (result.code, result.err) == (0, "")
    table = Tables(read_source(tiny)).table(CONFIGS[CONFIG[split]])
    expected = {part: [row["id"] for row in rows] for part, rows in table.rows.items()}
    assert rows_of(tmp_path / "out", CONFIG[split]) == expected
    assert [path.name for path in (tmp_path / "out").iterdir() if path.is_dir()] == [CONFIG[split]]
    assert (
        json.loads((tmp_path / "out" / "signature.json").read_text("utf-8"))["signature"] == table.signature
    )


def test_report(cli: Cli, tiny: Path, tmp_path: Path) -> None:
    result = cli("split", "tmcd", "--source", tiny, "--out", tmp_path / "out")
    assert result.out.startswith("source     ")
    assert "\nconfig     spider_tmcd: source training pairs split for much compound divergence" in result.out
    assert "\n\nrows left out: none\n\n" in result.out
    assert "\nspider_tmcd validation  " in result.out and "\nspider_tmcd test  " in result.out
    assert "\nLength of SQL (words and signs)\n" in result.out
    assert "\nsignature  source:" in result.out and "|split:tmcd|method:published|seed:1|" in result.out
    assert "\ntime       read 0." in result.out
    assert result.out.endswith(f"\nwritten    {tmp_path / 'out'}\n")


def test_report_as_json(cli: Cli, tiny: Path, tmp_path: Path) -> None:
    report = json.loads(cli("split", "no_overlap", "--source", tiny, "--out", tmp_path / "out", "--json").out)
    rows = rows_of(tmp_path / "out", "compose_no_overlap")
    assert report["config"] == "compose_no_overlap"
    assert report["sizes"] == {split: len(ids) for split, ids in rows.items()}
    assert report["comparisons"]["test"]["clauses"]["shared"] == 0
    assert set(report["comparisons"]) == {"validation", "test"}
    assert set(report["seconds"]) == {"read", "split", "write", "compare"}
    assert report["folder"] == str(tmp_path / "out")


@pytest.mark.parametrize(
    ("split", "flags", "options"),
    [
        ("template", ["--seed", "3"], {"seed": 3}),
        ("random", ["--fractions", "50/25/25"], {"fractions": "50/25/25"}),
        ("length", ["--split-source", "all"], {"split_source": "all"}),
        ("tmcd", ["--method", "max"], {"method": "max"}),
        ("no_overlap", ["--overlap", "value_blind"], {"overlap": "value_blind"}),
    ],
)
def test_options_reach_the_split(
    cli: Cli, tmp_path: Path, split: str, flags: list[str], options: dict[str, Any]
) -> None:
    assert cli("split", split, "--out", tmp_path / "out", *flags).code == 0
    expected = Tables(read_source("bundled"), splits=SplitOptions(**options)).table(CONFIGS[CONFIG[split]])
    content = json.loads((tmp_path / "out" / "signature.json").read_text("utf-8"))
    assert content["signature"] == expected.signature
    assert rows_of(tmp_path / "out", CONFIG[split])["train"] == [row["id"] for row in expected.rows["train"]]


@pytest.mark.parametrize(
    ("split", "flags"),
    [
        ("length", ["--seed", "2"]),
        ("no_overlap", ["--seed", "2"]),
        ("no_overlap", ["--fractions", "50/25/25"]),
        ("template", ["--method", "max"]),
        ("no_overlap", ["--split-source", "all"]),
        ("tmcd", ["--overlap", "strict"]),
        ("tmcd", ["--aligner", "keyword"]),
        ("random", ["--no-resolve-aliases"]),
    ],
    ids=lambda value: value if isinstance(value, str) else value[0].strip("-"),
)
def test_an_option_that_does_nothing_is_refused(
    cli: Cli, tiny: Path, tmp_path: Path, split: str, flags: list[str]
) -> None:
    result = cli("split", split, "--source", tiny, "--out", tmp_path / "out", *flags)
    assert (result.code, result.out) == (2, "")
    assert f"{flags[0].replace('--no-', '--')} cannot change anything in the split '{split}'" in result.err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        (["--fractions", "80/30/10"], "add up to 1"),
        (["--fractions", "75"], "three percentages"),
        (["--method", "maxi"], "Did you mean 'max'?"),
        (["--split-source", "test"], "`split_source` must be one of ['train', 'all']"),
    ],
)
def test_bad_options(cli: Cli, tiny: Path, tmp_path: Path, flags: list[str], says: str) -> None:
    result = cli("split", "tmcd", "--source", tiny, "--out", tmp_path / "out", *flags)
    assert (result.code, result.out) == (2, "")
    assert says in result.err
    assert not (tmp_path / "out").exists()


def test_a_corpus_too_small(cli: Cli, write_corpus: Callable[..., Path], tmp_path: Path) -> None:
    corpus = write_corpus(("zoo", "SELECT name FROM animal", "Which animals are there?"))
    result = cli("split", "random", "--source", corpus, "--out", tmp_path / "out")
    assert (result.code, result.out) == (2, "")
    assert "expected at least 2 rows to split, but the corpus has 1" in result.err
    assert not (tmp_path / "out").exists()


def test_rows_left_out_are_named(cli: Cli, write_corpus: Callable[..., Path], tmp_path: Path) -> None:
    rows = [("zoo", f"SELECT name FROM animal WHERE age > {age}", f"Older than {age}?") for age in range(12)]
    corpus = write_corpus(*rows, ("zoo", "SELECT FROM WHERE (", "What?"))
    result = cli("split", "random", "--source", corpus, "--out", tmp_path / "out")
    assert result.code == 0
    assert (
        "rows left out: 1\n  1 x the query cannot be cut into clauses\n      train row 12 (zoo): "
        in result.out
    )


def test_a_folder_of_ones_own_is_kept(cli: Cli, tiny: Path, tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("dear")
    arguments = ("split", "length", "--source", tiny, "--out", tmp_path)
    assert cli(*arguments).code == 2
    assert cli(*arguments, "--force").code == 0
    assert not (tmp_path / "letter.txt").exists()


def test_again_gives_the_same_bytes(cli: Cli, tiny: Path, tmp_path: Path) -> None:
    for name in ("a", "b"):
        assert cli("split", "tmcd", "--source", tiny, "--out", tmp_path / name).code == 0
    names = [path.relative_to(tmp_path / "a") for path in (tmp_path / "a").rglob("*") if path.is_file()]
    assert len(names) == 5
    for name in names:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes(), name


def test_stats_reads_what_split_wrote(cli: Cli, tiny: Path, tmp_path: Path) -> None:
    told = json.loads(cli("split", "length", "--source", tiny, "--out", tmp_path / "out", "--json").out)
    (found,) = json.loads(cli("stats", tmp_path / "out", "--all", "--json").out)["configs"]
    assert found["comparisons"]["test"] == told["comparisons"]["test"]
    assert "Table 5" in cli("stats", tmp_path / "out").out
    result = cli("inspect", tmp_path / "out")
    assert (result.code, result.out) == (2, "")
    assert "has no alignments, only spider_length" in result.err


def test_stats_reads_the_dialect_that_split_was_given(cli: Cli, tiny: Path, tmp_path: Path) -> None:
    arguments = ("--source", tiny, "--out", tmp_path / "out", "--dialect", "mysql")
    assert cli("split", "length", *arguments).code == 0
    content = json.loads((tmp_path / "out" / "signature.json").read_text("utf-8"))
    assert content["options"] == {"dialect": "mysql"}
