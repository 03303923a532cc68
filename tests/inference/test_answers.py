"""The file of an evaluation in progress, whatever is done to it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spider_compose.errors import OutputError
from spider_compose.inference.answers import Answer, AnswerFile

SUBJECT = {"model": "t5", "data": "bundled/compose@1"}
ANSWERS = [Answer("a", "Which one?"), Answer("b", "", "too long"), Answer("c", "Says \"é\u2028\n'\ud83d")]


def test_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "answers.partial"
    with AnswerFile(path, SUBJECT) as file:
        file.add(ANSWERS[:1])
        file.add(ANSWERS[:2])  # the first is there already
    with AnswerFile(path, SUBJECT) as file:
        assert list(file.answers.values()) == ANSWERS[:2]
        file.add(ANSWERS[2:])
    with AnswerFile(path, SUBJECT) as file:
        assert list(file.answers.values()) == ANSWERS
    assert len(path.read_bytes().splitlines()) == 4


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cut=st.integers(0, 400))
def test_a_kill_at_any_byte(cut: int, tmp_path: Path) -> None:
    """No row is doubled, none is cut, and what is lost is done again."""
    path = tmp_path / "answers.partial"
    path.unlink(missing_ok=True)
    with AnswerFile(path, SUBJECT) as file:
        file.add(ANSWERS)
    content = path.read_bytes()
    path.write_bytes(content[:cut])
    with AnswerFile(path, SUBJECT) as file:
        held = list(file.answers.values())
        assert held == ANSWERS[: len(held)]
        file.add(ANSWERS)
    assert path.read_bytes() == content


@pytest.mark.parametrize("name", ["model", "data"])
def test_another_evaluation_is_refused(name: str, tmp_path: Path) -> None:
    path = tmp_path / "answers.partial"
    with AnswerFile(path, SUBJECT) as file:
        file.add(ANSWERS)
    before = path.read_bytes()
    with pytest.raises(OutputError, match=rf"of another evaluation: {name} differ"):
        AnswerFile(path, SUBJECT | {name: "other"})
    assert path.read_bytes() == before


def test_without_answers_it_is_nobodys(tmp_path: Path) -> None:
    path = tmp_path / "answers.partial"
    with AnswerFile(path, SUBJECT):
        pass
    assert not path.exists()
    path.write_text(json.dumps(SUBJECT) + "\n")  # killed before the first batch
    with AnswerFile(path, SUBJECT | {"model": "bart"}) as file:
        file.add(ANSWERS)
    with AnswerFile(path, SUBJECT | {"model": "bart"}) as file:
        assert list(file.answers.values()) == ANSWERS


def test_two_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "answers.partial"
    with AnswerFile(path, SUBJECT) as file:
        file.add(ANSWERS[:1])
        with pytest.raises(OutputError, match="another evaluation is writing"):
            AnswerFile(path, SUBJECT)
        file.add(ANSWERS[1:])
    with AnswerFile(path, SUBJECT) as file:
        assert len(file.answers) == len(ANSWERS)


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"text\nmore\n", id="no JSON"),
        pytest.param(b'{"model": "t5"}\n{"name": 1}\n', id="other rows"),
        pytest.param(b"[]\n{}\n", id="other JSON"),
        pytest.param(b'[1]\n{"id": "a", "text": "b"}\n', id="no subject"),
        pytest.param(b"years of work\n", id="one line"),
        pytest.param(b"years of work", id="one line without an end"),
        pytest.param(b'{"model": "t5"}\n{"id": "a", "text": null}\n', id="no text"),
        pytest.param(b'{"model": "t5"}\n{"id": 7, "text": "b"}\n', id="a number for an id"),
        pytest.param(b'{"model": "t5"}\n{"id": ["a"], "text": "b"}\n', id="a list for an id"),
        pytest.param(b'{"model": "t5"}\n{"id": "a", "text": "b", "problem": 7}\n', id="other problem"),
        pytest.param(b'{"model": "t5"}\n' + b"[" * 100_000 + b"\n", id="deep"),
    ],
)
def test_another_file_is_left_alone(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "answers.partial"
    path.write_bytes(content)
    with pytest.raises(OutputError, match="no file of an evaluation"):
        AnswerFile(path, SUBJECT)
    assert path.read_bytes() == content


def test_no_place_to_write(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="cannot write"):
        AnswerFile(tmp_path / "file" / "answers", SUBJECT)


def test_a_full_disk_says_what_to_do(tmp_path: Path) -> None:
    """Closing the file tries once more what could not be written, and must not take the error's place."""
    path = tmp_path / "answers.partial"
    with pytest.raises(OutputError, match=r"cannot write .*No space left.* goes on"):  # noqa: SIM117
        with AnswerFile(path, SUBJECT) as answers:
            answers.add([Answer("1", "a")])
            with open("/dev/full", "wb") as full:
                os.dup2(full.fileno(), answers._file.fileno())
            answers.add([Answer("2", "b")])
    with AnswerFile(path, SUBJECT) as answers:
        assert list(answers.answers) == ["1"]


def test_a_file_that_another_has_just_finished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is removed between opening and locking: what is written to it would be lost."""
    import fcntl

    path = tmp_path / "answers.partial"
    monkeypatch.setattr(fcntl, "flock", lambda file, how: path.unlink())
    with pytest.raises(OutputError, match="has just finished"):
        AnswerFile(path, SUBJECT)
