from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("spacy", reason="needs the extra `data`")
pytest.importorskip("pyarrow", reason="needs the extra `data`")

from spider_compose.cli import main
from spider_compose.cli.selection import Selection
from spider_compose.composition.build import BuildOptions

REPOSITORY = Path(__file__).parents[2]
TINY = REPOSITORY / "tests" / "fixtures" / "tiny_spider"


VOID = {"meta", "input", "link", "br"}


class Page(HTMLParser):
    """Reads a page; fails where a tag is not closed in its place."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}  # by class or name of the innermost element that is asked for
        self.questions: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)
        if tag == "p" and dict(attrs).get("class") == "question":
            self.questions.append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.setdefault(self.open[-1] if self.open else "", []).append(data)
        if self.questions and "p" in self.open and self.tags_are_in_a_question():
            self.questions[-1] += data

    def tags_are_in_a_question(self) -> bool:
        return next(attrs for tag, attrs in reversed(self.tags) if tag == "p").get("class") == "question"

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attrs for name, attrs in self.tags if name == tag]


@pytest.fixture(scope="session")
def read_page() -> Callable[[str], Page]:
    """Read a page; fails where a tag is not closed in its place."""
    return Page


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str


@pytest.fixture
def cli(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Run a command line in this process, by itself in an environment without colour settings."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("COLUMNS", "100")  # argparse wraps its help by it
    capfd.readouterr()

    def run(*arguments: str | Path) -> Result:
        code = main([str(argument) for argument in arguments])
        captured = capfd.readouterr()
        assert "Traceback" not in captured.err
        return Result(code, captured.out, captured.err)

    return run


@pytest.fixture(scope="session")
def tiny() -> Path:
    return TINY


@pytest.fixture(scope="session")
def tiny_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A built folder of the tiny corpus; leave it as it is."""
    folder = tmp_path_factory.mktemp("built") / "tiny"
    assert main(["build", "--source", str(TINY), "--out", str(folder)]) == 0
    return folder


@pytest.fixture
def write_corpus(tmp_path: Path) -> Callable[..., Path]:
    """Write a corpus of (db_id, query, question) rows, all training."""

    def write(*rows: Sequence[str], name: str = "corpus") -> Path:
        folder = tmp_path / name
        folder.mkdir()
        columns = ("db_id", "query", "question")
        content = [dict(zip(columns, row, strict=True)) for row in rows]
        (folder / "train.json").write_text(json.dumps(content), encoding="utf-8")
        return folder

    return write


def _alignment(
    question: str,
    tokens: Sequence[str],
    clauses: Sequence[tuple[str, str, Sequence[int]]],
    tags: Sequence[int],
    **changes: Any,
) -> Mapping[str, Any]:
    """An `alignment` row by hand: no language model moves it."""
    spans, at = [], 0
    for token in tokens:
        start = question.index(token, at)
        at = start + len(token)
        spans.append([start, at])
    return {
        "source_split": "train",
        "source_row": 0,
        "db_id": "harbour",
        "question": question,
        "query": " ".join(sql for _, sql, _ in clauses),
        "tokens": list(tokens),
        "token_spans": spans,
        "tags": list(tags),
        "clause_types": [kind for kind, _, _ in clauses],
        "clause_sql": [sql for _, sql, _ in clauses],
        "clause_token_ids": [list(ids) for _, _, ids in clauses],
        "joining_ids": [],
        "alignment_confidence": None,
        "fragments": [" ".join(tokens[position] for position in ids) for _, _, ids in clauses],
        **changes,
    }


_PIERS = _alignment(
    "Show  the piers with cranes, longest first.",
    ["Show", "the", "piers", "with", "cranes", ",", "longest", "first", "."],
    [
        ("SELECT", "SELECT pier_name FROM pier", [0, 1, 2]),
        ("WHERE", "WHERE cranes > 0", [2, 3, 4, 5]),
        ("ORDER BY", "ORDER BY length_m DESC", [6, 7, 8]),
    ],
    [0, -1, 0, -1, 1, -1, 2, 2, -1],
    source_row=3,
)

_HOSTILE_TEXT = "<script>alert('x')</script> & \"q\" \x1b[31m \u202eevil http-free <img src=x onerror=y>"
_HOSTILE = _alignment(
    f"List {_HOSTILE_TEXT}",
    ["List", *_HOSTILE_TEXT.split()],
    [
        ("SELECT", "SELECT '</style><b>' FROM \"</script>\"", list(range(10))),
        ("WHERE", "WHERE a = '\" onload=\"x'", []),
    ],
    [0] + [-1] * 9,
    source_row=4,
    db_id="</option><script>",
    alignment_confidence=0.25,
    fragments=[f"List {_HOSTILE_TEXT}", ""],
)


@pytest.fixture(scope="session")
def alignment() -> Callable[..., Mapping[str, Any]]:
    """Make an `alignment` row by hand."""
    return _alignment


@pytest.fixture(scope="session")
def piers() -> Mapping[str, Any]:
    """A row with a word that two clauses share, and two spaces in its question."""
    return _PIERS


@pytest.fixture(scope="session")
def hostile() -> Mapping[str, Any]:
    """A row whose texts try to become markup, or to steer a terminal."""
    return _HOSTILE


@pytest.fixture(scope="session")
def selection() -> Callable[..., Selection]:
    """Make a selection of rows, each the same for all aligners."""

    def make(*rows: Mapping[str, Any], aligners: tuple[str, ...] = ("keyword",)) -> Selection:
        return Selection(
            title="harbours <1>",
            signature="source:harbours|aligner:keyword",
            options=tuple(BuildOptions(aligner=name) for name in aligners),
            alignments=tuple((row,) * len(aligners) for row in rows),
            matching=len(rows),
            total=10,
            notes=("no schemas & <none>",),
        )

    return make
