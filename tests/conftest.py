"""What all tests share: real data from outside the repository, and golden files inside it."""

from __future__ import annotations

import importlib.util
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent
GOLDEN = Path(__file__).resolve().parent / "golden"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="write the golden files in tests/golden from what the code gives now, instead of comparing",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Keep the Hub's libraries off the network and out of the user's cache; they read this on import."""
    folder = tempfile.TemporaryDirectory(prefix="spider-compose-tests-")
    config.add_cleanup(folder.cleanup)
    os.environ.update(HF_HOME=folder.name, HF_HUB_OFFLINE="1", HF_DATASETS_OFFLINE="1")
    for name in ("HF_DATASETS_CACHE", "HF_HUB_CACHE", "HF_MODULES_CACHE"):
        os.environ.pop(name, None)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark users of the real-data fixtures, so that `-m "not real_data"` finds them all."""
    for item in items:
        if {"shared", "shared_path"} & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.real_data)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Leave out what takes long where `SPIDER_COMPOSE_SLOW_UNTIL`, in seconds since 1970, is past."""
    until = float(os.environ.get("SPIDER_COMPOSE_SLOW_UNTIL", "inf"))
    if time.time() > until and any(map(item.get_closest_marker, ("slow", "real_data"))):
        pytest.skip("no time left for slow tests (SPIDER_COMPOSE_SLOW_UNTIL)")


@pytest.fixture(scope="session")
def shared_path() -> Callable[[str], Path]:
    """Give a path in the real-data folder, or skip the test, with the reason, where it is absent.

    The folder is `SPIDER_COMPOSE_SHARED`, by default `shared` beside the repository. It is not part of the
    repository: docs/CONTRIBUTING.md says what lies in it.
    """
    named = os.environ.get("SPIDER_COMPOSE_SHARED")
    folder = Path(named) if named else REPOSITORY.parent / "shared"

    def find(relative: str = ".") -> Path:
        path = folder / relative
        if not path.exists():
            pytest.skip(f"no real data: {path} does not exist (SPIDER_COMPOSE_SHARED names its folder)")
        return path

    return find


@pytest.fixture(scope="session")
def shared(shared_path: Callable[[str], Path]) -> Path:
    """The real-data folder itself; see `shared_path`."""
    return shared_path(".")


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, Any], None]:
    """Compare a value with the file of that name in tests/golden.

    Text is compared as it is, anything else as JSON, one key a line. `pytest --update-golden` writes the
    files; their diff under version control then shows whether the change was meant.
    """

    def check(name: str, actual: Any) -> None:
        path = GOLDEN / name
        text = actual if isinstance(actual, str) else json.dumps(actual, indent=1, ensure_ascii=False) + "\n"
        if request.config.getoption("--update-golden"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="\n")
            return
        assert path.exists(), f"no golden file {path}: write it with `pytest --update-golden` and read it"
        # Lists of lines: pytest then shows the lines that differ.
        expected = path.read_text(encoding="utf-8")
        assert text.splitlines(keepends=True) == expected.splitlines(keepends=True), (
            f"{name} has changed; if that is meant, run `pytest --update-golden` and say so in the CHANGELOG"
        )

    return check


@pytest.fixture(scope="module")
def browser_with(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Any]]:
    """Start a headless Chromium with flags of its own; skips, with the reason, where there is none."""
    spec = importlib.util.spec_from_file_location("browser", Path(__file__).with_name("browser.py"))
    assert spec is not None and spec.loader is not None
    browsers = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(browsers)
    if browsers.CHROMIUM is None or os.name != "posix":
        pytest.skip(f"no chromium on the path, or no pipes of POSIX ({sys.platform})")
    opened: list[Any] = []

    def start(*flags: str) -> Any:
        opened.append(browsers.Browser(tmp_path_factory.mktemp("browser"), *flags))
        return opened[-1]

    yield start
    for browser in opened:
        browser.close()
