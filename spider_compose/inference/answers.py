r"""What a model has said so far, on disk: an evaluation that is killed goes on from here.

A file of JSON lines: first what was evaluated, then one object per row, written batch by batch. A line that a
kill has cut is dropped. The file is locked while someone writes it.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from spider_compose.errors import OutputError


@dataclass(frozen=True)
class Answer:
    """What a model said of one row.

    Attributes:
        id: of the row.
        text: empty where the model could not read the row.
        problem: why it could not, or what it did not read; None where all went well.
    """

    id: str
    text: str
    problem: str | None = None


class AnswerFile:
    """The answers of an evaluation in progress; a context manager.

    Args:
        path: the file; it need not exist.
        subject: what is evaluated, as JSON; a file of another subject is refused.

    Attributes:
        answers: by the row's id.
    """

    def __init__(self, path: Path, subject: Mapping[str, Any]) -> None:
        self.path = path
        self.answers: dict[str, Answer] = {}
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("a+b")
        except OSError as error:
            raise OutputError(
                f"cannot write {path}: {error.strerror}. Name a place where you may write."
            ) from error
        try:
            self._take(subject)
        except BaseException:
            with suppress(OSError):
                self._file.close()
            raise

    def _take(self, subject: Mapping[str, Any]) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise OutputError(
                f"another evaluation is writing {self.path}. Wait for it, or name another --out."
            ) from None
        if os.fstat(self._file.fileno()).st_nlink == 0:  # removed between opening and locking
            raise OutputError(f"another evaluation has just finished {self.path}. The same command reads it.")
        self._file.seek(0)
        content = self._file.read()
        whole = content[: content.rfind(b"\n") + 1]
        lines = whole.split(b"\n")[:-1]
        try:
            held = _subject(lines[0] if lines else content)
            self.answers = {answer.id: answer for answer in map(_answer, lines[1:])}
        except (ValueError, TypeError, RecursionError):
            raise OutputError(
                f"{self.path} is no file of an evaluation in progress. Remove it, or name another --out."
            ) from None
        if not self.answers:
            self._file.truncate(0)
            self._append([dict(subject)])
            return
        if len(whole) < len(content):
            self._file.truncate(len(whole))
        check_same(held, subject, self.path)

    def add(self, answers: Iterable[Answer]) -> None:
        """Write answers to disk; an id that is there already is passed over."""
        new = [answer for answer in answers if answer.id not in self.answers]
        self._append([asdict(answer) for answer in new])
        self.answers |= {answer.id: answer for answer in new}

    def _append(self, rows: Iterable[Mapping[str, Any]]) -> None:
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        try:
            self._file.write(text.encode("utf-8", "surrogatepass"))
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise OutputError(
                f"cannot write {self.path}: {error.strerror}. The same command goes on."
            ) from error

    def __enter__(self) -> AnswerFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self.answers:  # no model, say: what was evaluated next may be another
            self.path.unlink(missing_ok=True)
        with suppress(OSError):  # what a full disk has not taken was said already
            self._file.close()


def _subject(line: bytes) -> object:
    """The first line, or what a kill has left of it.

    Raises:
        ValueError: it is none.
    """
    begins = b'{"'
    if not line.startswith(begins[: len(line)]):
        raise ValueError
    try:
        return json.loads(line)
    except ValueError:
        return None


def _answer(line: bytes) -> Answer:
    """A row that is done.

    Raises:
        ValueError: it is no JSON.
        TypeError: it is no row.
    """
    answer = Answer(**json.loads(line))
    if not (isinstance(answer.id, str) and isinstance(answer.text, str)):
        raise TypeError
    if not isinstance(answer.problem, str | None):
        raise TypeError
    return answer


def check_same(held: object, subject: Mapping[str, Any], path: Path) -> None:
    """Refuse a file of another evaluation.

    Raises:
        OutputError: it names what is different.
    """
    if not isinstance(held, Mapping):
        raise OutputError(f"{path} is no file of an evaluation. Remove it, or name another --out.")
    moved = [name for name in subject if held.get(name) != subject[name]]
    if moved:
        raise OutputError(
            f"{path} is of another evaluation: {', '.join(moved)} differ. Remove it, or name another --out."
        )
