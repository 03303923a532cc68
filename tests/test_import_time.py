"""Imports stay cheap: what gets loaded is counted, not timed (benchmarks/imports.py takes the times)."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

TORCH = {"torch", "transformers", "accelerate"}
FRAMEWORKS = TORCH | {"datasets", "evaluate", "spacy", "huggingface_hub"}
HEAVY = FRAMEWORKS | {"numpy", "pandas", "pyarrow", "matplotlib", "sqlglot"}

# Runs first in the child, so that nothing the tests have imported counts.
PROBE = (
    "\nimport json, sys; sys.stderr.write(json.dumps(sorted({name.split('.')[0] for name in sys.modules})))"
)


def loaded(statement: str) -> set[str]:
    """Top-level modules in memory after a fresh interpreter has run `statement`."""
    run = subprocess.run(
        [sys.executable, "-c", statement + PROBE], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    return set(json.loads(run.stderr.splitlines()[-1]))


@pytest.mark.parametrize(
    ("statement", "without"),
    [
        ("import spider_compose", HEAVY),
        ("import spider_compose.errors", HEAVY),
        ("import spider_compose.sql.schema", HEAVY),
        ("import spider_compose.sql.clauses", HEAVY - {"sqlglot"}),
        ("import spider_compose.source", FRAMEWORKS),
        ("import spider_compose.experiments.runner, spider_compose.experiments.report", HEAVY),
        ("import spider_compose.alignment, spider_compose.composition, spider_compose.splits", FRAMEWORKS),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_import_loads_nothing_heavy(statement: str, without: set[str]) -> None:
    assert not loaded(statement) & without


def test_help_loads_nothing_heavy() -> None:
    statement = (
        "import contextlib\n"
        "from spider_compose.cli import main\n"
        "with contextlib.suppress(SystemExit):\n"
        "    main(['--help'])"
    )
    assert not loaded(statement) & HEAVY


def test_probe_sees_a_heavy_import() -> None:
    assert "sqlglot" in loaded("import sqlglot")
