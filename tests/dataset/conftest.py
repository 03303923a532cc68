from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

pytest.importorskip("datasets", reason="needs the extra `data`")

from spider_compose.composition.build import Build, build
from spider_compose.source import read_source

REPOSITORY = Path(__file__).parents[2]

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="session")
def tiny() -> Path:
    return REPOSITORY / "tests" / "fixtures" / "tiny_spider"


@pytest.fixture(scope="session")
def tiny_build(tiny: Path) -> Build:
    return build(read_source(tiny))


@pytest.fixture(scope="session")
def hf_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One cache for all child processes, so that the corpus is built once."""
    return tmp_path_factory.mktemp("hf")


@pytest.fixture(scope="session")
def run_python(hf_home: Path) -> Run:
    """Run Python in a folder, without network, with a cache of its own."""

    def run(
        *arguments: str | Path, cwd: Path, environment: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, *map(str, arguments)],
            cwd=cwd,
            env={
                **os.environ,
                "PYTHONPATH": str(REPOSITORY),
                "HF_HOME": str(hf_home),
                "HF_DATASETS_OFFLINE": "1",
                **(environment or {}),
            },
            capture_output=True,
            text=True,
            timeout=300,
        )

    return run
