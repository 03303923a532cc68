"""Answers that were paid for, kept in a file: a run that is killed and started again pays for none twice."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import threading
import time
from pathlib import Path

from spider_compose.errors import SpiderComposeError
from spider_compose.stef.judges.answer import Answer

_TRIES = 200  # of 0.05 s


def cache_key(model: str, prompt: str, settings: str, inputs: tuple[str, ...]) -> str:
    """The key of one answer: whatever moves it.

    Args:
        model: name of the model.
        prompt: version of the prompt.
        settings: temperature, seed and the like.
        inputs: the texts of the row and the digest of the rules.
    """
    parts = json.dumps([model, prompt, settings, *inputs])
    return hashlib.sha256(parts.encode()).hexdigest()


class AnswerCache:
    """Key -> answer in an SQLite file; safe against being killed, and for several processes at once.

    It holds digests, verdicts and reasons, neither questions nor queries nor keys of services.

    Args:
        path: the file; made where there is none.

    Raises:
        SpiderComposeError: the file cannot be opened or is no cache.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = str(path)
        self._lock = threading.Lock()
        try:
            self._connection = sqlite3.connect(
                self.path, timeout=60, check_same_thread=False, isolation_level=None
            )
            # An answer is in the log once `put` returns; a killed process loses none, a torn page is undone.
            _write_ahead(self._connection)
            self._connection.execute("PRAGMA synchronous=NORMAL")
            self._connection.execute(
                "CREATE TABLE IF NOT EXISTS answers"
                " (key TEXT PRIMARY KEY, answer TEXT NOT NULL) WITHOUT ROWID"
            )
        except sqlite3.Error as error:
            raise SpiderComposeError(f"cannot open the answer cache {self.path}: {error}") from error

    def get(self, key: str) -> Answer | None:
        """The answer under a key, or None.

        Raises:
            SpiderComposeError: the file cannot be read.
        """
        try:
            with self._lock:
                found = self._connection.execute(
                    "SELECT answer FROM answers WHERE key = ?", (key,)
                ).fetchone()
            return None if found is None else Answer.from_json(found[0])
        except (sqlite3.Error, ValueError, TypeError) as error:
            raise SpiderComposeError(f"cannot read the answer cache {self.path}: {error}") from error

    def put(self, key: str, answer: Answer) -> None:
        """Keep an answer; of two under one key the first stays.

        Raises:
            SpiderComposeError: it cannot be written: better to stop than to pay for answers that are lost.
        """
        statement = "INSERT OR IGNORE INTO answers (key, answer) VALUES (?, ?)"
        try:
            with self._lock:
                self._connection.execute(statement, (key, answer.as_json()))
        except sqlite3.Error as error:
            raise SpiderComposeError(f"cannot write the answer cache {self.path}: {error}") from error

    def __len__(self) -> int:
        with self._lock:
            return int(self._connection.execute("SELECT COUNT(*) FROM answers").fetchone()[0])

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Let readers and one writer work side by side. SQLite does not wait for this lock by itself."""
    for patience in range(_TRIES):
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as error:
            if patience == _TRIES - 1 or "locked" not in str(error):
                raise
            time.sleep(0.05)
