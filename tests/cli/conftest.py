from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
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
