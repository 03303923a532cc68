"""The cache of answers: what moves a key, a process that is killed while it writes, two processes at once."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from spider_compose.errors import SpiderComposeError
from spider_compose.stef.judges.answer import Answer
from spider_compose.stef.judges.cache import AnswerCache, cache_key

ANSWER = Answer.stated("correct", 0.9, "why")

WRITER = """
import sys
from spider_compose.stef.judges.answer import Answer
from spider_compose.stef.judges.cache import AnswerCache
cache, name = AnswerCache(sys.argv[1]), sys.argv[2]
for n in range(int(sys.argv[3])):
    cache.put(f"{name}-{n}", Answer.stated("correct", 0.5))
    print(n, flush=True)
"""


def test_put_and_get(tmp_path: Path) -> None:
    cache = AnswerCache(tmp_path / "a.sqlite")
    assert cache.get("x") is None
    cache.put("x", ANSWER)
    cache.put("x", Answer.stated("incorrect", 0.1))  # the first stays
    assert cache.get("x") == AnswerCache(tmp_path / "a.sqlite").get("x") == ANSWER and len(cache) == 1


def test_every_part_moves_the_key() -> None:
    base = ("m", "p", "s", ("q", "e"))
    others = [
        ("n", *base[1:]),
        ("m", "o", "s", base[3]),
        ("m", "p", "t", base[3]),
        ("m", "p", "s", ("qe", "")),
    ]
    assert len({cache_key(*parts) for parts in [base, *others]}) == 5


def test_a_killed_writer_loses_nothing_it_has_said(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    command = [sys.executable, "-c", WRITER, str(path), "w", "1000000"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.strip() == "200":
                os.kill(process.pid, signal.SIGKILL)
                break
        said = [int(n) for n in process.stdout.read().split("\n")[:-1] if n.strip().isdigit()]
    cache = AnswerCache(path)
    assert all(cache.get(f"w-{n}") is not None for n in [*range(201), *said])


def test_two_processes_at_once(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    running = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(path), name, "100"], stdout=subprocess.DEVNULL)
        for name in "ab"
    ]
    assert [process.wait() for process in running] == [0, 0]
    assert len(AnswerCache(path)) == 200


def test_what_is_no_cache_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("this is not a database, it is a text that is long enough to look at")
    with pytest.raises(SpiderComposeError, match=r"a\.txt"):
        AnswerCache(path)
    with pytest.raises(SpiderComposeError):
        AnswerCache(tmp_path / "none" / "a.sqlite")


@pytest.mark.parametrize(
    "text",
    [
        "", "[1]", "{}", '{"verdict": "correct", "confidence": 7, "belief": 0.5}',
        '{"verdict": "correct", "confidence": NaN, "belief": 0.5}',
        '{"verdict": "right", "confidence": 1, "belief": 0.5}',
        '{"verdict": "correct", "confidence": "1", "belief": 0.5}',
    ],
)  # fmt: skip
def test_an_answer_that_is_none_is_never_used(text: str, tmp_path: Path) -> None:
    cache = AnswerCache(tmp_path / "a.sqlite")
    cache._connection.execute("INSERT INTO answers VALUES ('x', ?)", (text,))
    with pytest.raises(SpiderComposeError, match="cannot read"):
        cache.get("x")


@pytest.mark.parametrize("broken", ["cut", "overwritten", "another database"])
def test_a_damaged_file_is_named(broken: str, tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    cache = AnswerCache(path)
    for n in range(300):
        cache.put(f"x{n}", ANSWER)
    cache.close()
    if broken == "cut":
        path.write_bytes(path.read_bytes()[:5000])
    elif broken == "overwritten":
        path.write_bytes(path.read_bytes()[:4096] + b"\xff" * 20000)
    else:
        path.unlink()
        with sqlite3.connect(path) as other:
            other.execute("CREATE TABLE answers (a INTEGER)")
    with pytest.raises(SpiderComposeError, match=r"a\.sqlite"):
        found = AnswerCache(path)
        for n in range(300):
            found.get(f"x{n}")


def test_a_file_that_cannot_be_written_is_refused_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []
    monkeypatch.setattr("spider_compose.stef.judges.cache.time.sleep", waits.append)
    path = tmp_path / "a.sqlite"
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE t (a)")
    monkeypatch.setattr(
        "spider_compose.stef.judges.cache.sqlite3.connect",
        lambda name, **options: sqlite3.Connection(f"file:{name}?mode=ro", uri=True),
    )
    with pytest.raises(SpiderComposeError, match="readonly"):
        AnswerCache(path)
    assert not waits


def test_a_cache_that_breaks_is_named(tmp_path: Path) -> None:
    cache = AnswerCache(tmp_path / "a.sqlite")
    cache._connection.execute("INSERT INTO answers VALUES ('x', '{}')")
    with pytest.raises(SpiderComposeError, match="cannot read"):
        cache.get("x")
    cache._connection.execute("PRAGMA query_only = 1")
    with pytest.raises(SpiderComposeError, match="cannot write"):
        cache.put("y", ANSWER)
