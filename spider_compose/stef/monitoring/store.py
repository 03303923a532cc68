"""Writing a scored folder: rows in, whole parts out, and nothing that was written is touched again.

A part is written beside its place, brought to the disk and renamed, so that it is there whole or not at all.
A run that is killed loses the rows it had not yet written; the next run sees which are there and does the
others.
"""

from __future__ import annotations

import errno
import json
import logging
import os
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet

from spider_compose.errors import OutputError, SpiderComposeError
from spider_compose.stef.monitoring.identities import Identities
from spider_compose.stef.monitoring.log import Columns, LogRow, as_text, content_of, identity_of
from spider_compose.stef.monitoring.scored import FORMAT, SCHEMA, UNKNOWN_DAY, describe, parts, read_scores
from spider_compose.stef.score import Result

PART_ROWS = 16_384
PART_SECONDS = 60.0

_LOG = logging.getLogger(__name__)

_CONTENT = ("agent", "database", "time", "question", "enriched_question", "sql", "dialect")


def scored_table(rows: Sequence[LogRow], results: Sequence[Result], signature: str) -> pa.Table:
    """Rows of a log with their results, as a table of `SCHEMA`."""
    return pa.Table.from_pylist(
        [_scored(row, result, signature) for row, result in zip(rows, results, strict=True)], schema=SCHEMA
    )


def _scored(row: LogRow, result: Result, signature: str) -> dict[str, Any]:
    enrichment = result.enrichment
    return {
        "key": row.key,
        "time": row.time,
        "agent": row.agent,
        "database": row.database,
        "question": row.text("question") or "",
        "enriched_question": row.text("enriched_question"),
        "sql": row.text("sql") or "",
        "dialect": row.text("dialect"),
        "score": result.score,
        "p_correct": result.p_correct,
        "band": result.band,
        "filter_status": result.filter_status,
        "verdict": result.verdict,
        "confidence": result.confidence,
        "unscored": "unreadable" if row.unreadable else result.unscored,
        "message": as_text(row.unreadable or result.message),
        "sql_dialect": result.dialect,
        "enrichment_quality": None if enrichment is None else round(enrichment.quality, 4),
        "enrichment_lost": None if enrichment is None else enrichment.losses(),
        "reasons": [
            {
                "rule": reason.rule,
                "message": as_text(reason.message),
                "points": reason.points,
                "question_start": reason.question.start,
                "question_end": reason.question.end,
                "sql_start": reason.sql.start,
                "sql_end": reason.sql.end,
            }
            for reason in result.reasons
        ],
        "tolerances": [as_text(text) for text in result.tolerances],
        "judge_reason": as_text(result.judge_reason),
        "judge_conflict": as_text(result.judge_conflict),
        "score_without_judge": result.score_without_judge,
        "signature": signature,
        "origin": as_text(row.origin),
    }


@dataclass
class ScoreStore:
    """The scored folder of one run, under one signature; `open_store` makes it.

    Attributes:
        folder: the scored folder.
        signature: of the scores.
        known: the rows that are there, and those that this run has taken on.
        part_rows: rows after which parts are written.
        part_seconds: seconds after which they are written at the latest, where rows come slowly.
        written: rows that this run has written.
        passed_over: rows that were there before this run, or came twice in it.
        conflicting: rows whose identity is there with another content; the first stays.
    """

    folder: Path
    signature: str
    known: Identities
    part_rows: int = PART_ROWS
    part_seconds: float = PART_SECONDS
    written: int = 0
    passed_over: int = 0
    conflicting: list[str] = field(default_factory=list)
    _held: list[pa.Table] = field(default_factory=list)
    _rows: int = 0
    _since: float = field(default_factory=time.monotonic)

    def take(self, row: LogRow) -> bool:
        """Whether a row is new and to be scored; from now on it is known."""
        content = self.known.get(row.identity)
        if content is None:
            self.known.add(row.identity, row.content)
            return True
        if content == row.content:
            self.passed_over += 1
        else:
            self.conflicting.append(row.origin)
        return False

    @property
    def taken(self) -> int:
        """Rows that this run has scored, written or not."""
        return self.written + self._rows

    @property
    def due(self) -> bool:
        """Whether what is held has waited long enough."""
        return time.monotonic() - self._since >= self.part_seconds

    def add(self, table: pa.Table) -> None:
        """Hold scored rows, and write all that are held when there are enough."""
        self._held.append(table)
        self._rows += table.num_rows
        if self._rows >= self.part_rows or self.due:
            self.flush()

    def flush(self) -> None:
        """Write what is held, a part for each day.

        Raises:
            OutputError: the disk is full, or the folder cannot be written.
        """
        if self._rows:
            table = pa.concat_tables(self._held).combine_chunks()
            days = pc.fill_null(pc.strftime(table["time"], "%Y-%m-%d"), UNKNOWN_DAY)
            for day in sorted(pc.unique(days).to_pylist()):
                of_day = table.filter(pc.equal(days, day))
                self._write(of_day, self.folder / "scores" / f"day={day}")
                self.written += of_day.num_rows
        self._held, self._rows, self._since = [], 0, time.monotonic()

    def _write(self, table: pa.Table, folder: Path) -> None:
        buffer = pa.BufferOutputStream()
        pyarrow.parquet.write_table(table, buffer, compression="zstd")
        data = buffer.getvalue()
        name = f"part-{blake2b(data, digest_size=8).hexdigest()}.parquet"
        with self._room():
            folder.mkdir(parents=True, exist_ok=True)
            write_whole(folder / name, data)

    @contextmanager
    def _room(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
            what = (
                "there is no room left for it" if full else f"it cannot be written: {error.strerror or error}"
            )
            raise OutputError(
                f"{self.folder}: {what}. {self.written:,} rows of this run are there and stay; "
                "make room and run the same command again: it does the others"
            ) from error


def write_whole(path: Path, data: Any) -> None:
    """Write a file that is there whole or not at all, even when the machine stops."""
    beside = path.with_name(f".{path.name}.new")
    try:
        with beside.open("wb") as out:
            out.write(data)
            out.flush()
            os.fsync(out.fileno())
        beside.replace(path)
    except OSError:
        beside.unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    """Bring a name to the disk; not every system lets a folder be opened."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def open_store(
    folder: Path,
    signature: str,
    rules: str,
    columns: Columns,
    retry: Collection[str] = (),
    part_rows: int = PART_ROWS,
    part_seconds: float = PART_SECONDS,
) -> Iterator[ScoreStore]:
    """Open or make a scored folder for one run; one run at a time.

    Args:
        folder: where the scores are, or are to be.
        signature: of this run's scores.
        rules: digest of the application's rules.
        columns: the log's columns.
        retry: reasons of unscored rows that are to be scored once more.
        part_rows: rows after which parts are written.
        part_seconds: seconds after which they are written at the latest.

    Raises:
        OutputError: another run writes to the folder, or it cannot be written.
        SpiderComposeError: the folder holds something else.
    """
    if folder.exists() and (not folder.is_dir() or (any(folder.iterdir()) and not _ours(folder))):
        raise OutputError(f"`--out` must be a new or empty folder, or one of scores, but got {folder}")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"cannot make the folder {folder}: {error.strerror or error}") from error
    with _alone(folder):
        for left in folder.glob("scores/day=*/.part-*.new"):  # of a run that was killed
            left.unlink()
        store = ScoreStore(folder, signature, Identities(), part_rows, part_seconds)
        with store._room():
            _write_description(folder, signature, rules, columns)
        store.known = _known(folder, signature, retry)
        try:
            yield store
        except OutputError:
            raise
        except BaseException:
            store.flush()  # what has its score keeps it: it may have been paid for
            raise
        store.flush()
        with store._room():
            _count(folder)


def _ours(folder: Path) -> bool:
    """Whether a folder is one of scores; the lock alone is of a run that was killed at once."""
    names = {path.name for path in folder.iterdir()}
    if "stef.json" in names:
        describe(folder)
        return True
    return names <= {"stef.lock", ".stef.json.new"}


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Hold the folder's lock; it goes with the process, however that ends."""
    try:
        import fcntl
    except ImportError:  # Windows: two runs at a time leave rows twice, which reading drops
        yield
        return
    try:
        lock = (folder / "stef.lock").open("w")
    except OSError as error:
        raise OutputError(f"{folder} cannot be written: {error.strerror or error}") from error
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise OutputError(
                f"another run writes to {folder}; wait for it, or name another folder"
            ) from error
        except OSError as error:  # some network drives
            raise OutputError(
                f"{folder} cannot be locked against a second run: {error.strerror or error}; "
                "name a folder on another drive"
            ) from error
        yield


def _write_description(folder: Path, signature: str, rules: str, columns: Columns) -> None:
    path = folder / "stef.json"
    document: dict[str, Any] = {"format": FORMAT, "signatures": {}}
    if path.exists():
        document = describe(folder)
    others = len(document["signatures"].keys() - {signature})
    if others and signature not in document["signatures"]:
        _LOG.warning(
            "stef: %s has rows of %s; those of this run get another (%s), so that report, compare and "
            "monitor will ask for one with `--signature`",
            folder,
            "one signature" if others == 1 else f"{others} signatures",
            signature,
        )
    # Without the counts of an earlier run: they come at the end, and are right or absent.
    document["signatures"][signature] = {"rules": rules, "columns": asdict(columns)}
    _write_json(path, document)


def _write_json(path: Path, document: dict[str, Any]) -> None:
    write_whole(path, (json.dumps(document, indent=2, sort_keys=True) + "\n").encode())


def _known(folder: Path, signature: str, retry: Collection[str]) -> Identities:
    """The rows of one signature that are there, read a part at a time; those to be scored again are not."""
    found = Identities()
    names = ["key", *_CONTENT, "signature", "unscored"]
    for part in parts(folder):
        try:
            table = pyarrow.parquet.ParquetFile(part).read(columns=names, use_threads=False).select(names)
        except (pa.ArrowException, KeyError, OSError) as error:
            raise SpiderComposeError(
                f"cannot read the part {part}: {error}; delete it and run again: its rows are done once more"
            ) from error
        for row in table.filter(pc.equal(table["signature"], signature)).to_pylist():
            identity = identity_of(row["agent"], row["key"])
            if row["unscored"] not in retry and found.get(identity) is None:
                unreadable = row["unscored"] == "unreadable"
                content = content_of(*(row[name] for name in _CONTENT))
                found.add(identity, bytes.fromhex(row["key"]) if unreadable else content)
    return found


def _count(folder: Path) -> None:
    """Bring the counts of `stef.json` up to what is there."""
    document = describe(folder)
    table = read_scores(folder, ["signature", "score", "unscored"])
    for signature, told in document["signatures"].items():
        rows = table.filter(pc.equal(table["signature"], signature))
        reasons = pc.value_counts(rows["unscored"].cast(pa.string()).drop_null())
        told["rows"] = rows.num_rows
        told["scored"] = rows.num_rows - rows["score"].null_count
        told["unscored"] = {item["values"].as_py(): item["counts"].as_py() for item in reasons}
    _write_json(folder / "stef.json", document)
