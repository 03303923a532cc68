"""`build`: the report, the folder, --strict, and a kill half-way."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from pyarrow import parquet

from spider_compose.cli import build as build_command
from spider_compose.cli.built_folder import built_folder
from spider_compose.composition.build import PAPER_COUNTS, build
from spider_compose.dataset.configs import CONFIGS, SPLITS
from spider_compose.source import read_source

Cli = Callable[..., "object"]

FURTHER = [name for name in CONFIGS if name not in ("compose", "alignment", "spider")]
NAMES = ["alignment", "compose", "spider"]  # in every folder, whatever else is asked for

BROKEN_ROWS = [
    ("zoo", "SELECT name FROM animal", "Which animals are there?"),
    ("zoo", "SELECT FROM WHERE (", "What is this?"),
    ("zoo", "DROP TABLE animal", "Which \x1b[2J animals?"),
    ("zoo", "SELECT name FROM animal", "   "),
    ("zoo", "SELECT name FROM animal WHERE age > 3", "Which animals are older than 3?"),
]


def test_report(cli: Cli, tiny: Path, tmp_path: Path) -> None:
    result = cli("build", "--source", tiny, "--out", tmp_path / "out")
    assert (result.code, result.err) == (0, "")
    assert "            pairs  with duplicates  1 clause  2 clauses  3 clauses  4 clauses\n" in result.out
    assert "rows left out: none" in result.out
    assert "signature  source:" in result.out
    assert "time       read 0." in result.out
    assert result.out.endswith(f"written    {tmp_path / 'out'}\n")
    assert " paper " not in result.out
    assert (tmp_path / "out" / "compose" / "train.parquet").is_file()


def test_report_as_json(cli: Cli, tiny: Path, tmp_path: Path) -> None:
    result = cli("build", "--source", tiny, "--out", tmp_path / "out", "--json")
    report = json.loads(result.out)
    written = json.loads((tmp_path / "out" / "signature.json").read_text("utf-8"))
    assert {key: report[key] for key in ("signature", "counts", "left_out")} == {
        key: written[key] for key in ("signature", "counts", "left_out")
    }
    assert report["folder"] == str(tmp_path / "out")
    assert report["paper"] is None
    assert report["further_configs"] == {
        name: {
            split: parquet.read_metadata(tmp_path / "out" / name / f"{split}.parquet").num_rows
            for split in SPLITS
        }
        for name in FURTHER
    }
    assert report["not_written"] == {}
    assert set(report["seconds"]) == {"read", "align and recombine", "further configs", "write"}


def test_paper_counts_stand_beside_those_of_spider_alone(tiny: Path, tmp_path: Path) -> None:
    built = build(read_source(tiny))
    spider = replace(built, source=replace(built.source, name="spider-1.0"))
    assert "25,709" in build_command.render(spider, [], {}, tmp_path, {"read": 1.0})
    assert build_command.report(spider, [], {}, tmp_path, {})["paper"] == PAPER_COUNTS
    assert "25,709" not in build_command.render(built, [], {}, tmp_path, {"read": 1.0})


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        pytest.param([], [*NAMES, *FURTHER], id="default"),
        pytest.param(["--configs", "all"], [*NAMES, *FURTHER], id="all"),
        pytest.param(["--configs", "none"], NAMES, id="none"),
        pytest.param(["--configs", "spider_tmcd, spider"], [*NAMES, "spider_tmcd"], id="names"),
        pytest.param(
            ["--aligner", "keyword"], ["alignment", "compose_paper", "spider"], id="another-aligner-alone"
        ),
        pytest.param(
            ["--aligner", "keyword", "--configs", "spider_length"],
            ["alignment", "compose_paper", "spider", "spider_length"],
            id="another-aligner-and-names",
        ),
        pytest.param(
            ["--no-resolve-aliases"], ["alignment", "compose_segment_aliases", "spider"], id="aliases-alone"
        ),
    ],
)
def test_configs(cli: Cli, tiny: Path, tmp_path: Path, arguments: list[str], expected: list[str]) -> None:
    result = cli("build", "--source", tiny, "--out", tmp_path / "out", *arguments)
    assert (result.code, result.err) == (0, "")
    assert sorted(path.name for path in (tmp_path / "out").iterdir() if path.is_dir()) == sorted(expected)


def test_an_unknown_config_is_refused_with_the_nearest(cli: Cli, tiny: Path, tmp_path: Path) -> None:
    result = cli("build", "--source", tiny, "--out", tmp_path / "out", "--configs", "spider_tmdc")
    assert (result.code, result.out) == (2, "")
    assert "`configs` must be one of ['all', 'none', 'compose'," in result.err
    assert "Did you mean 'spider_tmcd'?" in result.err
    assert not (tmp_path / "out").exists()


def test_a_corpus_too_small_for_a_split_is_written_without_it(
    cli: Cli, write_corpus: Callable[..., Path], tmp_path: Path
) -> None:
    corpus = write_corpus(BROKEN_ROWS[0], BROKEN_ROWS[4])
    result = cli("build", "--source", corpus, "--out", tmp_path / "out")
    assert result.code == 0
    assert "not written: spider_template: 2 rows are too few for three parts of " in result.out
    assert not (tmp_path / "out" / "spider_template").exists()
    assert (tmp_path / "out" / "compose" / "train.parquet").is_file()
    told = json.loads(cli("build", "--source", corpus, "--out", tmp_path / "out", "--json").out)
    names = [name for name in FURTHER if CONFIGS[name].recipe not in ("compose", "no_overlap")]
    assert list(told["not_written"]) == names
    assert set(names).isdisjoint(told["further_configs"])


def test_a_config_asked_for_by_name_that_cannot_be_made_is_an_error(
    cli: Cli, write_corpus: Callable[..., Path], tmp_path: Path
) -> None:
    corpus = write_corpus(BROKEN_ROWS[0], BROKEN_ROWS[4])
    result = cli("build", "--source", corpus, "--out", tmp_path / "out", "--configs", "spider_template")
    assert (result.code, result.out) == (2, "")
    assert "2 rows are too few for three parts" in result.err
    assert not (tmp_path / "out").exists()


def test_rows_that_cannot_be_used_are_named_and_the_build_goes_on(
    cli: Cli, write_corpus: Callable[..., Path], tmp_path: Path
) -> None:
    result = cli("build", "--source", write_corpus(*BROKEN_ROWS), "--out", tmp_path / "out")
    assert result.code == 0
    assert (
        "rows left out: 3\n  2 x the query cannot be cut into clauses\n      train row 1 (zoo): "
        in result.out
    )
    assert "  1 x empty question\n      train.json, row 3: question is empty" in result.out
    assert "\x1b" not in result.out
    folder = built_folder(str(tmp_path / "out"))
    assert folder is not None
    assert [row["row"] for row in folder.content["left_out"]] == [3, 1, 2]
    assert [row["source_row"] for row in folder.alignments()["train"]] == [0, 4]


def test_only_the_first_rows_of_a_reason_are_named(
    cli: Cli, write_corpus: Callable[..., Path], tmp_path: Path
) -> None:
    rows = [("zoo", "SELECT FROM (", f"Question {number}?") for number in range(5)]
    corpus = write_corpus(*BROKEN_ROWS[:1], *rows)
    result = cli("build", "--source", corpus, "--out", tmp_path / "out")
    assert [f"train row {row} " in result.out for row in range(1, 6)] == [True, True, True, False, False]
    assert "and 2 more (--json names all)" in result.out


def test_strict_names_them_writes_nothing_and_exits_with_1(
    cli: Cli, write_corpus: Callable[..., Path], tmp_path: Path
) -> None:
    result = cli("build", "--source", write_corpus(*BROKEN_ROWS), "--out", tmp_path / "out", "--strict")
    assert (result.code, result.out) == (1, "")
    assert all(f"row {row}" in result.err for row in (1, 2, 3))
    assert "\x1b" not in result.err
    assert result.err.endswith("nothing was written: rows cannot be used, and --strict was given\n")
    assert not (tmp_path / "out").exists()


def test_strict_is_silent_where_all_rows_can_be_used(cli: Cli, tiny: Path, tmp_path: Path) -> None:
    assert cli("build", "--source", tiny, "--out", tmp_path / "out", "--strict").code == 0


def test_the_output_is_refused_before_the_work(
    cli: Cli, tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear")
    with monkeypatch.context() as patched:
        patched.setattr(build_command, "source_of", lambda *_: pytest.fail("the work had begun"))
        result = cli("build", "--source", tiny, "--out", tmp_path / "mine")
    assert result.code == 2
    assert "is not empty and was not written by SpiderCompose" in result.err
    assert cli("build", "--source", tiny, "--out", tmp_path / "mine", "--force").code == 0
    assert not (tmp_path / "mine" / "letter.txt").exists()


def test_again_gives_the_same_bytes(cli: Cli, tiny: Path, tiny_folder: Path, tmp_path: Path) -> None:
    assert cli("build", "--source", tiny, "--out", tmp_path / "again").code == 0
    names = [path.relative_to(tiny_folder) for path in sorted(tiny_folder.rglob("*")) if path.is_file()]
    assert len(names) > 5
    for name in names:
        assert (tmp_path / "again" / name).read_bytes() == (tiny_folder / name).read_bytes(), name


KILLED_AT_THE_SECOND_FILE = """
import os, signal, sys
from pyarrow import parquet
from spider_compose.cli import main
write, written = parquet.write_table, []
def write_one(table, path, **options):
    if written:
        os.kill(os.getpid(), signal.SIGKILL)
    written.append(path)
    write(table, path, **options)
parquet.write_table = write_one
main(sys.argv[1:])
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL here")
def test_killed_half_way_leaves_nothing_that_looks_whole(cli: Cli, tiny: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    arguments = ["build", "--source", str(tiny), "--out", str(out)]
    run = subprocess.run(
        [sys.executable, "-c", KILLED_AT_THE_SECOND_FILE, *arguments], capture_output=True, check=False
    )
    assert run.returncode == -signal.SIGKILL, run.stderr
    assert not out.exists()
    for leftover in tmp_path.iterdir():
        assert leftover.name.startswith(".")
        assert built_folder(str(leftover)) is None
        assert cli("stats", leftover).code == 2
    assert cli(*arguments).code == 0
    assert cli("stats", out).code == 0
