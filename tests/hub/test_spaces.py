"""The Spaces as they are published: complete, installable by name, and their apps in a browser."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
SPACES = REPOSITORY / "spider_compose" / "hub" / "spaces"

needs_gradio = pytest.mark.skipif(
    importlib.util.find_spec("gradio") is None,
    reason="needs Gradio: pip install -e '.[spaces,hub,data,dev]' and pytest tests/hub/test_spaces.py, with "
    "Chromium for the browser",
)
Make = Callable[..., dict[str, Any]]


@pytest.fixture
def published(tmp_path: Path, make_report: Make) -> Callable[[str], Path]:
    """The folder of a Space as `push` writes it."""
    from spider_compose.hub.leaderboard import write_leaderboard
    from spider_compose.hub.metric import write_metric

    def write(name: str) -> Path:
        folder = tmp_path / name
        folder.mkdir()
        if name == "stef":
            write_metric(folder, "owner/stef")
        else:
            reports = tmp_path / "reports"
            reports.mkdir()
            for experiment, bleu in (("compose", 31.25), ("compose_no_overlap", 20.0)):
                content = json.dumps(make_report(experiment, bleu))
                (reports / f"rgt-{experiment}-seed1.json").write_text(content)
            write_leaderboard(reports, folder)
        return folder

    return write


# What each app does, with Gradio left out.
LOGIC = {
    "leaderboard": """
from spider_compose.hub.board_reading import BoardSource, read_benchmark
from spider_compose.hub.board import Choice
from spider_compose.hub.board_page import render_board, render_head, render_left_out, style, submission
board = BoardSource(pathlib.Path("reports")).board()
shown = render_board(board, Choice()) + render_head(board) + render_left_out(board.left_out)
assert style() and submission()
assert "31.25" in shown and "&lt; 0.001" in shown, shown
""",
    "stef": """
from spider_compose.hub.demonstration import EXAMPLES, explain, style
assert explain(*EXAMPLES[0]).details["result"]["score"] == 100 and style()
""",
}
CHECK = """
outside = [m.__file__ for n, m in sys.modules.items() if n.partition(".")[0] == "spider_compose"
           and m.__file__ and not m.__file__.startswith(os.getcwd())]
assert not outside, outside
"""


@pytest.mark.parametrize("name", ["leaderboard", "stef"])
def test_the_space_has_all_it_needs(name: str, published: Callable[[str], Path]) -> None:
    """Its folder alone, without the package, does what the app does."""
    pytest.importorskip("spacy" if name == "stef" else "numpy", reason="the extra `spaces` is not installed")
    folder = published(name)
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, "-c", f"import os, sys, pathlib\n{LOGIC[name]}{CHECK}"],
        cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    imported = re.findall(r"^from (spider_compose[\w.]*) import", (folder / "app.py").read_text(), re.M)
    for module in imported:
        path = folder / Path(*module.split("."))
        assert path.with_suffix(".py").is_file() or (path / "__init__.py").is_file(), module


@pytest.mark.parametrize("name", ["leaderboard", "stef"])
def test_what_is_published(name: str, published: Callable[[str], Path]) -> None:
    from spider_compose.hub.repository import ARTEFACTS
    from spider_compose.hub.validation import check_folder

    folder = published(name)
    files = check_folder(folder, ARTEFACTS["metric" if name == "stef" else name])
    paths = {file.path for file in files}
    assert {"app.py", "README.md", "requirements.txt", "spider_compose/errors.py"} <= paths
    assert not any(path.startswith(("spider_compose/models", "spider_compose/cli")) for path in paths)
    assert "__init__.py" not in paths and not any("__pycache__" in path for path in paths)
    assert sum(file.size for file in files) < 2_000_000


@pytest.mark.parametrize("name", ["leaderboard", "stef"])
def test_requirements_are_the_pins_of_the_package(name: str) -> None:
    pins = (REPOSITORY / "pyproject.toml").read_text(encoding="utf-8")
    lines = (SPACES / name / "requirements.txt").read_text(encoding="utf-8").splitlines()
    required = [line for line in lines if not line.startswith("#")]
    assert required and all(f'"{line}"' in pins for line in required), required
    header = (SPACES / name / "README.md").read_text(encoding="utf-8").split("---\n")[1]
    version = re.search(r"sdk_version: ([\d.]+)", header)
    assert version and f'"gradio>={version[1].removesuffix(".0")},<7"' in pins


# The apps themselves, in a browser.


@pytest.fixture
def open_page(browser_with: Callable[..., Any]) -> Callable[[str], Any]:
    def go(url: str) -> Any:
        browser = browser_with()
        browser.call("Page.navigate", url=url)
        return browser

    return go


def outside(browser: Any, url: str) -> list[str]:
    """Requests that went elsewhere."""
    asked = [
        event["params"]["request"]["url"]
        for event in browser.events
        if event["method"] == "Network.requestWillBeSent"
    ]
    return [one for one in asked if not one.startswith((url, "data:", "blob:"))]


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., tuple[str, subprocess.Popen[str]]]]:
    """Run a program that prints its address."""
    running: list[subprocess.Popen[str]] = []

    def start(*arguments: str) -> tuple[str, subprocess.Popen[str]]:
        environment = {**os.environ, "PYTHONPATH": str(REPOSITORY), "OMP_NUM_THREADS": "1"}
        program = subprocess.Popen(
            [sys.executable, *arguments], cwd=tmp_path, env=environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        running.append(program)
        assert program.stdout is not None
        for line in program.stdout:
            if found := re.search(r"http://[\d.]+:\d+", line):
                return found[0], program
        raise AssertionError(f"ended with {program.wait()}")

    yield start
    for program in running:
        program.kill()
        program.wait()


EVIL = '<img src=x onerror="hit=1">${hit=2}{{hit}}<script>hit=3</script>'

CHOOSE = """(() => {
  const listed = [...document.querySelectorAll('ul[role=listbox] li')];
  const found = listed.find(one => one.textContent.includes(%s));
  found && found.dispatchEvent(new MouseEvent('mousedown', {bubbles: true}));
  return Boolean(found);
})()"""


ENTER = """(() => {
  const field = document.querySelectorAll('textarea')[2];
  Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, 'value').set.call(field, %s);
  field.dispatchEvent(new Event('input', {bubbles: true}));
})()"""


@pytest.mark.slow
@needs_gradio
def test_leaderboard_in_a_browser(
    serve: Callable[..., Any], open_page: Callable[[str], Any], tmp_path: Path, make_report: Make
) -> None:
    reports = tmp_path / "reports"
    reports.mkdir()
    for place, content in enumerate(
        [
            make_report(),
            make_report("compose_no_overlap", 20.0),
            make_report(model=EVIL, size=EVIL, bleu=25.0),
        ]
    ):
        (reports / f"{place}.json").write_text(json.dumps(content))
    (reports / "cut.json").write_text("{")
    url, program = serve("-m", "spider_compose", "leaderboard", "--reports", "reports")
    page = open_page(url)
    page.until("document.querySelectorAll('.board tbody tr').length === 2")
    names = page.run("[...document.querySelectorAll('.board tbody th bdi')].map(one => one.textContent)")
    assert names == ["RGT", EVIL]
    # What is loaded when the page is opened must be there before anything is chosen.
    page.until("document.querySelector('.board-head').textContent.includes('1 left out')")
    time.sleep(1)
    page.click('input[aria-label="Metric"]')
    page.until(CHOOSE % json.dumps("exact match"))
    page.until("document.querySelector('.board caption').textContent.startsWith('exact match')")
    page.click('input[aria-label="Sizes (none: all)"]')
    page.until(CHOOSE % json.dumps("small"))
    page.until("document.querySelectorAll('.board tbody tr').length === 1")
    for tab, shown in (("Put a model on it", "hf upload"), ("Left out (1)", "cut.json")):
        name = json.dumps(tab)
        page.run(
            f"[...document.querySelectorAll('button[role=tab]')].find(t => t.textContent.trim() === {name})"
            ".click()"
        )
        page.until(f"document.body.innerText.includes({json.dumps(shown)})")
    assert page.run("globalThis.hit") is None, "text of a report has run"
    assert outside(page, url) == []
    program.send_signal(signal.SIGINT)
    assert program.wait(60) == 130


@pytest.mark.slow
@needs_gradio
def test_demonstration_in_a_browser(
    serve: Callable[..., Any], open_page: Callable[[str], Any], published: Callable[[str], Path]
) -> None:
    url, _ = serve("-u", str(published("stef") / "app.py"))
    page = open_page(url)
    page.until("document.querySelector('.stef-score')?.textContent === '80.0'")
    query = json.dumps(f"SELECT count(*) FROM singer WHERE name = '{EVIL}'")
    time.sleep(1)
    page.run(ENTER % query)
    press = (
        "[...document.querySelectorAll('button')].find(one => one.textContent.trim() === 'Explain').click()"
    )
    page.run(press)
    page.until("document.querySelector('.stef').innerText.includes('onerror')")
    page.run("document.querySelectorAll('table tbody tr')[2].click()")  # the third example
    page.until("document.querySelector('.stef-score').textContent === '35.0'")
    assert page.run("document.querySelector('.stef mark.lost').textContent").startswith("youngest")
    assert page.run("globalThis.hit") is None, "text of a query has run"
    assert outside(page, url) == []


@needs_gradio
def test_api_of_the_apps() -> None:
    """One address each, for programs; what the page does when it is opened is not among them."""
    from spider_compose.hub.board_reading import BoardSource
    from spider_compose.hub.spaces.leaderboard import app as leaderboard
    from spider_compose.hub.spaces.stef import app as stef

    apps = leaderboard.build(BoardSource(REPOSITORY / "trainers" / "reports")), stef.build()
    for app, name in zip(apps, ("/standings", "/explain"), strict=True):
        assert list(app.get_api_info()["named_endpoints"]) == [name]
