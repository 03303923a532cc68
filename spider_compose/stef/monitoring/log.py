"""The log of an agent, from whatever holds it: who was asked what, when, and the SQL that came of it."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime, timezone, tzinfo
from decimal import Decimal
from hashlib import blake2b
from itertools import chain, islice
from typing import Any

from spider_compose.errors import OptionError, SpiderComposeError, missing_column
from spider_compose.language import BATCH_SIZE
from spider_compose.stef.monitoring.formats import LOOK, LogFile, RawRow, find_files
from spider_compose.stef.monitoring.times import read_time

DATASETS = "datasets:"

_NEEDED = ("question", "sql")
_HALVES = re.compile("[\ud800-\udfff]")
_NAMED = 10  # rows that are named of one problem; all are counted
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class Columns:
    """The log's column of each field; `question` and `sql` must be there, and any that is named otherwise."""

    question: str = "question"
    enriched_question: str = "enriched_question"
    sql: str = "sql"
    dialect: str = "dialect"
    id: str = "id"
    agent: str = "agent"
    database: str = "database"
    time: str = "time"

    def check(self, there: Iterable[str], name: str) -> None:
        """Hold the columns against those of a file.

        Raises:
            OptionError: one is missing; the message names the nearest.
        """
        there = sorted(there)
        for column in fields(self):
            wanted = getattr(self, column.name)
            doubled = f"{wanted} (1)" in there  # see `formats.distinct_names`
            if wanted not in there and (column.name in _NEEDED or wanted != column.default or doubled):
                raise missing_column(name, wanted, there, f"--{column.name.replace('_', '-')}-column")


@dataclass(frozen=True)
class Reading:
    """How to read a log.

    Attributes:
        columns: where each field stands.
        agent: of rows that name none.
        database: of rows that name none.
        zone: of times that name none.
        format: of files whose ending does not tell.
        config: of a dataset, where it has several.
        split: of a dataset.
    """

    columns: Columns = Columns()
    agent: str = ""
    database: str = ""
    zone: tzinfo = timezone.utc
    format: str | None = None
    config: str | None = None
    split: str = "train"


@dataclass(frozen=True)
class LogRow:
    """One row of a log.

    Attributes:
        key: its id, or 32 hexadecimal digits of a hash of what it says.
        content: the hash of what it says, as far as it is stored.
        time: in UTC.
        fields: question, enriched_question, sql and dialect, as the score takes them.
        unreadable: why the row cannot be read, or "".
        origin: the file and the line or row in it.
    """

    key: str
    content: bytes
    time: datetime | None
    agent: str
    database: str
    fields: Mapping[str, Any]
    unreadable: str
    origin: str

    @property
    def identity(self) -> bytes:
        """16 bytes that tell the row from others of its signature: an id is one agent's own."""
        return identity_of(self.agent, self.key)

    def text(self, name: str) -> str | None:
        """A field as it is stored."""
        return as_text(self.fields.get(name))


@dataclass
class Log:
    """The rows of a log, read lazily and again for each `batches()`.

    Attributes:
        source: a file, a folder, "-" for standard input, or "datasets:" and the name of a dataset.
        reading: how to read it.
        problems: how often each problem came up in the last reading.
        failed: files that could not be read, or not to their end, with the reason.
    """

    source: str
    reading: Reading = Reading()
    problems: dict[str, int] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)

    def files(self) -> list[LogFile]:
        """The files, each held against the columns.

        Files of a folder that cannot be opened go to `failed`, and the others are read.

        Raises:
            SpiderComposeError: there is nothing to read, or the only file cannot be read.
            OptionError: a file lacks a column.
        """
        found = find_files(self.source, self.reading.format)
        usable = []
        for file in found:
            if file.once:  # its columns are checked on the way
                usable.append(file)
                continue
            try:
                columns = file.columns()
            except OptionError:
                raise
            except SpiderComposeError as error:
                if len(found) == 1:
                    raise
                self._fail(file.name, error)
                continue
            if columns is not None:
                self.reading.columns.check(columns, file.name)
            usable.append(file)
        return usable

    def batches(self) -> Iterator[list[LogRow]]:
        """The rows in batches that the score reads together: `BATCH_SIZE` of them, or what a file has left.

        A batch holds the same rows however often the log is read and wherever its files are scored: spaCy's
        vectors differ in their last bits with the batch that a text stands in.
        """
        self.problems = {}
        self.failed = {}
        if self.source.startswith(DATASETS):
            from spider_compose.stef.monitoring.hub_log import dataset_rows

            name = self.source.removeprefix(DATASETS)
            raw = dataset_rows(name, self.reading.config, self.reading.split)
            yield from _batches(self._rows(raw, name, checked=False))
            return
        for file in self.files():
            yield from self.file_batches(file)

    def file_batches(self, file: LogFile) -> Iterator[list[LogRow]]:
        """The batches of one file."""
        yield from _batches(self._rows(file.rows(), file.name, checked=not file.once))

    def _rows(self, raw: Iterator[RawRow], name: str, checked: bool) -> Iterator[LogRow]:
        try:
            if not checked:
                first = list(islice(raw, LOOK))
                there = {str(column) for row in first for column in row.values or ()}
                if there:
                    self.reading.columns.check(there, name)
                raw = chain(first, raw)
            for row in raw:
                origin = f"{name}:{row.number}"
                if row.unfinished:
                    self._note("unfinished_lines", origin, f"{row.problem}; left for when it is whole")
                else:
                    yield self.read_row(row, origin)
        except OptionError:
            raise
        except SpiderComposeError as error:
            self._fail(name, error)

    def read_row(self, raw: RawRow, origin: str) -> LogRow:
        """One row; what is wrong with it is counted in `problems`."""
        reading = self.reading
        if raw.values is None:
            self._note("unreadable", origin, raw.problem)
            content = _digest(["unreadable", origin, raw.text])
            return LogRow(
                content.hex(), content, None, reading.agent, reading.database, {}, raw.problem, origin
            )
        names, values = reading.columns, raw.values
        given = {
            name: values.get(getattr(names, name))
            for name in ("question", "enriched_question", "sql", "dialect")
        }
        agent = as_name(values.get(names.agent)) or reading.agent
        database = as_name(values.get(names.database)) or reading.database
        time, written = self._time(values.get(names.time), origin)
        content = content_of(agent, database, time, *(as_text(value) for value in given.values()))
        key = as_name(values.get(names.id)) or _digest([content.hex(), written]).hex()
        return LogRow(key, content, time, agent, database, given, "", origin)

    def _time(self, value: Any, origin: str) -> tuple[datetime | None, str | None]:
        """The time, and what is written where that is none."""
        try:
            return read_time(value, self.reading.zone), None
        except ValueError as error:
            self._note("time_unreadable", origin, str(error))
            return None, as_text(value)

    def _note(self, problem: str, origin: str, message: str) -> None:
        count = self.problems[problem] = self.problems.get(problem, 0) + 1
        if count <= _NAMED:
            more = "; more are counted, not named" if count == _NAMED else ""
            _LOG.warning("stef: %s: %s%s", origin, message, more)

    def _fail(self, name: str, error: Exception) -> None:
        self.failed[name] = str(error)
        _LOG.warning("stef: %s; what was read before it is scored", error)


def as_text(value: Any) -> str | None:
    """A value as it is stored: None, or a text that UTF-8 can hold.

    Halves of UTF-16 pairs are no characters; one sign stands for each, as in the score, so that spans stay.
    """
    if value is None or value != value:
        return None
    if isinstance(value, (bool, int, float, list, dict)):
        text = json.dumps(value, ensure_ascii=False, default=str)
    else:
        text = str(value)  # of a text itself, and of types of Parquet
    return _HALVES.sub("\ufffd", text)


def as_name(value: Any) -> str | None:
    """An id, agent or database as it is stored: 5 and 5.0 are one, for a column with gaps makes floats."""
    if isinstance(value, float):
        whole = value.is_integer()
    else:
        whole = isinstance(value, Decimal) and value == value.to_integral_value()
    return as_text(int(value) if whole else value)


def identity_of(agent: str, key: str) -> bytes:
    """16 bytes of who a row is."""
    return _digest([agent, key])


def content_of(
    agent: str,
    database: str,
    time: datetime | None,
    question: str | None,
    enriched_question: str | None,
    sql: str | None,
    dialect: str | None,
) -> bytes:
    """16 bytes of all that a row says, from what is stored of it."""
    moment = None if time is None else time.isoformat()
    return _digest([agent, database, moment, question or "", enriched_question, sql or "", dialect])


def _digest(parts: list[str | None]) -> bytes:
    return blake2b(json.dumps(parts).encode(), digest_size=16).digest()


def _batches(rows: Iterator[LogRow]) -> Iterator[list[LogRow]]:
    while batch := list(islice(rows, BATCH_SIZE)):
        yield batch
