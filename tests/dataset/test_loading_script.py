from __future__ import annotations

import importlib.metadata
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from datasets import load_dataset

from spider_compose.composition.build import Build

Run = Callable[..., "subprocess.CompletedProcess[str]"]

SCRIPT = Path(__file__).parents[2] / "loading_script" / "spider_compose_dataset.py"
RUNS_SCRIPTS = int(importlib.metadata.version("datasets").split(".")[0]) < 4


def test_as_a_program(run_python: Run, tiny: Path, tmp_path: Path, tiny_build: Build) -> None:
    completed = run_python(SCRIPT, "--source", tiny, "--output", "out", cwd=tmp_path)
    assert (completed.returncode, completed.stdout) == (0, f"{tmp_path / 'out'}\n"), completed.stderr
    loaded = load_dataset(str(tmp_path / "out"), cache_dir=str(tmp_path / "cache"))
    assert {split: rows.to_list() for split, rows in loaded.items()} == tiny_build.pairs


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--source", "nowhere"], "error: no such source"),
        (["--aligner", "keywords"], "Did you mean 'keyword'?"),
    ],
)
def test_bad_input_ends_with_one_line(
    arguments: list[str], message: str, run_python: Run, tmp_path: Path
) -> None:
    completed = run_python(SCRIPT, *arguments, "--output", "out", cwd=tmp_path)
    assert completed.returncode == 2
    assert message in completed.stderr
    assert "Traceback" not in completed.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_folder_of_the_users_own_is_refused_first(run_python: Run, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "notes.txt").write_text("mine")
    completed = run_python(SCRIPT, "--source", "nowhere", "--output", "out", cwd=tmp_path)
    assert (completed.returncode, completed.stdout) == (2, "")
    assert "was not written by SpiderCompose" in completed.stderr


@pytest.mark.skipif(not RUNS_SCRIPTS, reason="datasets 4.0 and later run no scripts")
def test_as_a_script(run_python: Run, tiny: Path, tmp_path: Path, tiny_build: Build) -> None:
    code = (
        "import sys, datasets; script, source = sys.argv[1:]; "
        "rows = datasets.load_dataset(script, source=source, trust_remote_code=True, split='train'); "
        "print(len(rows))"
    )
    completed = run_python("-c", code, SCRIPT, tiny, cwd=tmp_path)
    assert completed.stdout.split()[-1] == str(len(tiny_build.pairs["train"])), completed.stderr
