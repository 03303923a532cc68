"""What all commands share: help, version, exit codes, errors, flags."""

from __future__ import annotations

import argparse
import inspect
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path

import pytest

from spider_compose import __version__
from spider_compose.cli import _parser, main
from spider_compose.cli import build as build_command
from spider_compose.cli import split as split_command
from spider_compose.cli import stats as stats_command
from spider_compose.composition.build import BuildOptions
from spider_compose.dataset.configs import CONFIGS
from spider_compose.dataset.tables import SplitOptions
from spider_compose.errors import OptionError
from spider_compose.source import read_source
from spider_compose.splits.compounds import GRAMMARS

Cli = Callable[..., "object"]


def subparsers() -> dict[str, argparse.ArgumentParser]:
    actions = _parser()._actions
    return next(action.choices for action in actions if isinstance(action, argparse._SubParsersAction))


def flag(parser: argparse.ArgumentParser, name: str) -> argparse.Action | None:
    return next((action for action in parser._actions if action.dest == name), None)


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["build", "--help"],
        ["split", "-h"],
        ["inspect", "-h"],
        ["stats", "-h"],
        ["rate", "-h"],
        ["rate", "export", "-h"],
        ["rate", "import", "-h"],
        ["experiment", "-h"],
    ],
)
def test_help(cli: Cli, arguments: list[str]) -> None:
    result = cli(*arguments)
    assert (result.code, result.err) == (0, "")
    assert result.out.startswith("usage: spider-compose")


def test_version(cli: Cli) -> None:
    assert cli("--version").out == f"spider-compose {__version__}\n"


@pytest.mark.parametrize("command", ["build", "split", "inspect", "stats", "rate", "experiment"])
def test_help_of_a_command_loads_no_pipeline(command: str) -> None:
    probe = (
        "import sys; from spider_compose.cli import main; main([sys.argv[1], '--help']); "
        "print(sorted({name.split('.')[0] for name in sys.modules} & "
        "{'sqlglot', 'spacy', 'numpy', 'pyarrow', 'datasets', 'matplotlib', 'tqdm'}), file=sys.stderr)"
    )
    run = subprocess.run([sys.executable, "-c", probe, command], capture_output=True, text=True, check=True)
    assert run.stderr == "[]\n"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "required: COMMAND"),
        (["bild"], "invalid choice: 'bild'"),
        (["build"], "required: --out"),
        (["build", "--out", "x", "--deduplicat"], "expected one argument"),
        (["inspect", "--row", "-1"], "--row: expected"),
        (["inspect", "--row", "x"], "a whole number, 0 or more, but got 'x'"),
        (["inspect", "--limit", "0"], "a whole number, 1 or more, but got '0'"),
        (["inspect", "--least-sure", "1.5"], "a whole number, 1 or more, but got '1.5'"),
        (["inspect", "--max-confidence", "1.5"], "a number from 0 to 1, but got '1.5'"),
        (["inspect", "--min-confidence", "nan"], "a number from 0 to 1, but got 'nan'"),
        (["inspect", "--html", "x", "--json"], "not allowed with"),
        (["inspect", "--compare", "keyword"], "expected 2 arguments"),
        (["stats", "--color", "never"], "unrecognized arguments"),
        (["stats", "--all", "--config", "spider"], "not allowed with"),
        (["split", "--out", "x"], "required: split"),
        (["rate"], "required: COMMAND"),
        (["rate", "export", "x.jsonl"], "required: --out"),
        (["rate", "export", "x.jsonl", "--out", "y", "--items", "many"], "invalid int value: 'many'"),
        (["rate", "import", "x.csv"], "required: --key"),
        (["split", "tmdc", "--out", "x"], "invalid choice: 'tmdc'"),
        (["split", "tmcd"], "required: --out"),
        (["split", "tmcd", "--out", "x", "--seed", "1.5"], "invalid int value: '1.5'"),
    ],
)
def test_bad_usage(cli: Cli, arguments: list[str], says: str) -> None:
    result = cli(*arguments)
    assert (result.code, result.out) == (2, "")
    assert says in result.err


def test_every_build_option_has_a_flag_that_repeats_its_default() -> None:
    for command in (subparsers()["build"], subparsers()["split"], subparsers()["stats"]):
        for field in fields(BuildOptions):
            if field.name == "strict":
                continue
            action = flag(command, field.name)
            assert action is not None, f"no flag for BuildOptions.{field.name}"
            assert action.default is argparse.SUPPRESS, "each default stands once, in BuildOptions"
            default = {True: "yes", False: "no"}.get(field.default, field.default)
            assert f"(default: {default}" in (action.help or ""), action.help
    assert flag(subparsers()["build"], "strict") is not None


def test_every_split_option_has_a_flag_that_repeats_its_default() -> None:
    for field in fields(SplitOptions):
        action = flag(subparsers()["split"], field.name)
        assert action is not None, f"no flag for SplitOptions.{field.name}"
        assert action.default is argparse.SUPPRESS, "each default stands once, in SplitOptions"
        assert f"(default: {field.default})" in (action.help or ""), action.help


def test_the_splits_are_those_there_are() -> None:
    recipes = {spec.recipe for spec in CONFIGS.values()} - {"compose", "alignment", "source"}
    assert set(split_command.SPLITS) == recipes
    assert {field.name for field in fields(SplitOptions)} == set(split_command.MOVES)


@pytest.mark.parametrize("command", ["split", "stats"])
def test_the_grammars_are_those_there_are(command: str) -> None:
    action = flag(subparsers()[command], "grammar")
    assert action is not None and tuple(action.choices or ()) == GRAMMARS


@pytest.mark.parametrize("command", ["build", "split", "inspect", "stats"])
def test_every_source_option_has_a_flag(command: str) -> None:
    signature = inspect.signature(read_source)
    for name, parameter in signature.parameters.items():
        if name == "strict":
            continue
        action = flag(subparsers()[command], name)
        assert action is not None, f"no flag for read_source's {name}"
        assert action.default in (argparse.SUPPRESS, parameter.default)


def test_flags_reach_the_options(cli: Cli, tiny: Path, tmp_path: Path) -> None:
    arguments = ("--deduplicate", "none", "--dialect", "mysql", "--schemas", tiny / "tables.json")
    result = cli("build", "--source", tiny, "--out", tmp_path / "out", *arguments)
    assert result.code == 0
    assert "|dialect:mysql|dedup:none|" in result.out


def test_interrupt(cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(build_command, "source_of", interrupt)
    result = cli("build", "--out", tmp_path / "out")
    assert (result.code, result.err) == (130, "spider-compose: interrupted\n")


def test_an_error_is_one_message_on_stderr(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OptionError("expected\x1b[2J a, but got\nb")

    monkeypatch.setattr(stats_command, "build_options_of", fail)
    result = cli("stats")
    assert (result.code, result.out) == (2, "")
    assert result.err == "spider-compose: expected\\x1b[2J a, but got b\n"


@pytest.mark.skipif(os.name != "posix", reason="pipes of POSIX")
def test_a_reader_that_leaves_is_no_error(tiny_folder: Path) -> None:
    """More text than a pipe holds, and nobody who reads it."""
    program = [sys.executable, "-m", "spider_compose", "inspect", str(tiny_folder), "--limit", "99", "--json"]
    reader, writer = os.pipe()
    os.close(reader)
    run = subprocess.run(program, stdout=writer, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writer)
    assert (run.returncode, run.stderr) == (141, "")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_full_disk_is_one_message(tiny_folder: Path) -> None:
    with open("/dev/full", "w") as full:
        run = subprocess.run(
            [sys.executable, "-m", "spider_compose", "inspect", str(tiny_folder)],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert run.returncode == 2
    assert run.stderr.splitlines()[-1] == "spider-compose: [Errno 28] No space left on device"
    assert "Traceback" not in run.stderr and "Exception ignored" not in run.stderr


@pytest.mark.skipif(os.name != "posix", reason="a POSIX shell")
@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
@pytest.mark.parametrize(("source", "code"), [("good", 0), ("nowhere", 2)])
def test_closed_streams(tiny_folder: Path, closed: str, source: str, code: int) -> None:
    name = tiny_folder if source == "good" else source
    run = subprocess.run(
        ["sh", "-c", f'exec "$0" -m spider_compose inspect "$1" {closed}', sys.executable, str(name)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (run.returncode, "Traceback" in run.stderr) == (code, False)


def test_python_minus_m() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "spider_compose", "--version"], capture_output=True, text=True, check=True
    )
    assert run.stdout == f"spider-compose {__version__}\n"


def test_output_that_cannot_show_a_character(write_corpus: Callable[..., Path]) -> None:
    corpus = write_corpus(("zoo", "SELECT name FROM animal", "Which animals – 漢字 – are there?"))
    run = subprocess.run(
        [sys.executable, "-m", "spider_compose", "inspect", str(corpus)],
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert rb"\u6f22" in run.stdout


def test_main_returns_its_code() -> None:
    assert main(["--version"]) == 0
