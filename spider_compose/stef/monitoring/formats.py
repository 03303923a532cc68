"""Files of a log as they are: JSON Lines, CSV or Parquet, one, a folder of them, or standard input.

Nothing is interpreted here. A line or row that cannot be read comes out as one that says so.
"""

from __future__ import annotations

import contextlib
import csv
import gzip
import io
import json
import os
import sys
import zlib
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO, TextIO
from urllib.parse import unquote

from spider_compose.errors import OptionError, SpiderComposeError

FORMATS = {".jsonl": "jsonl", ".json": "jsonl", ".ndjson": "jsonl", ".csv": "csv", ".parquet": "parquet"}
STDIN = "-"

# A JSON object may leave out what is empty: so many rows of a file tell its columns.
LOOK = 100

_SCORES = "stef.json"  # what makes a folder one of scores; see `monitoring.scored`
_HIVE_NULL = "__HIVE_DEFAULT_PARTITION__"


@dataclass(frozen=True)
class RawRow:
    """One row as it stands in a file.

    Attributes:
        number: 1-based line of a text file, 1-based row of a Parquet file.
        values: the row's values by column, or None where it cannot be read.
        problem: why it cannot be read.
        text: as it stands there, of one that cannot be read.
        unfinished: whether it is a file's last line and its end is not there, perhaps not yet.
    """

    number: int
    values: Mapping[str, Any] | None
    problem: str = ""
    text: str = ""
    unfinished: bool = False


@dataclass(frozen=True)
class LogFile:
    """One file of a log.

    Attributes:
        name: what to call it: the path within the log's folder.
        path: where it is; None for standard input.
        format: a value of `FORMATS`.
        given: columns that its folders say, as in "agent=A/2026-07.jsonl".
    """

    name: str
    path: Path | None
    format: str
    given: Mapping[str, str]

    @property
    def once(self) -> bool:
        """Whether it can be read once only: standard input, or a pipe as a shell's `<(...)`."""
        return self.path is None or (self.path.exists() and not self.path.is_file())

    def rows(self) -> Iterator[RawRow]:
        """Its rows, lazily.

        Raises:
            SpiderComposeError: the file cannot be opened, or not be read on.
        """
        reader: Callable[[LogFile], Iterator[RawRow]] = {
            "jsonl": _jsonl,
            "csv": _csv,
            "parquet": _parquet,
        }[self.format]
        try:
            for row in reader(self):
                yield row if row.values is None else RawRow(row.number, self._with_given(row.values))
        except (OSError, EOFError, zlib.error) as error:
            raise SpiderComposeError(
                f"cannot read {self.name}: {getattr(error, 'strerror', None) or error}"
            ) from error

    def _with_given(self, values: Mapping[str, Any]) -> Mapping[str, Any]:
        """A row's values, and what its folders say where it says nothing."""
        silent = {name: value for name, value in self.given.items() if values.get(name) in (None, "")}
        return {**values, **silent} if silent else values

    def columns(self) -> set[str] | None:
        """The columns of its first rows, or None where none of them can be read.

        Raises:
            SpiderComposeError: the file cannot be read at all.
        """
        first: list[Mapping[str, Any]] = []
        try:
            for values in islice((row.values for row in self.rows() if row.values is not None), LOOK):
                first.append(values)
        except SpiderComposeError:
            if not first:  # a file that breaks off later is read as far as it can be
                raise
        return {str(name) for values in first for name in values} if first else None


def find_files(source: str, kind: str | None = None) -> list[LogFile]:
    """The files of a log, in the order of their names.

    Args:
        source: a file, a folder, or "-" for standard input. In a folder, files of other endings, those whose
            name begins with "." or "_", and folders of scores are no part of it.
        kind: the format, where the ending does not tell.

    Raises:
        SpiderComposeError: there is no file.
        OptionError: the format cannot be told.
    """
    if source == STDIN:
        return [LogFile("stdin", None, kind or "jsonl", {})]
    path = Path(source)
    if path.is_dir():
        if (path / _SCORES).exists():
            raise OptionError(
                f"{path} is a folder of scores, no log; to score its rows anew, name {path / 'scores'} with "
                "`--id-column key` and another `--out`"
            )
        files = [
            LogFile(_shown(inner.as_posix()), path / inner, found, _given(inner))
            for inner in sorted(_inner(path))
            if (found := _format(inner))
        ]
        if not files:
            raise SpiderComposeError(
                f"expected files of queries in {path}, but none ends in {', '.join(sorted(FORMATS))} (or .gz)"
            )
        return files
    if not path.exists():
        raise SpiderComposeError(
            f"expected a log (a file, a folder, '-' or 'datasets:NAME'), but there is none at {path}"
        )
    found = kind or _format(path)
    if found is None:
        raise OptionError(
            f"cannot tell the format of {path} by its ending {path.suffix!r}; name it with `--format`"
        )
    return [LogFile(_shown(path.name), path, found, {})]


def _shown(name: str) -> str:
    """A file's name as it may stand in messages and scores: nothing that steers a terminal."""
    return "".join(sign if sign.isprintable() else "\ufffd" for sign in name)


def _inner(folder: Path) -> Iterator[Path]:
    """The files in a folder and its folders, links followed, each folder once; links to nothing as well."""
    seen = set()
    for place, folders, names in os.walk(folder, followlinks=True):
        here, real = Path(place), os.path.realpath(place)
        if real in seen or (here / _SCORES).exists():
            folders.clear()
            continue
        seen.add(real)
        folders[:] = sorted(name for name in folders if not name.startswith((".", "_")))
        for name in names:
            path = here / name
            if not name.startswith((".", "_")) and (path.is_file() or not path.exists()):
                yield path.relative_to(folder)


def _format(path: Path) -> str | None:
    name = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    return FORMATS.get(name.suffix.lower())


def _given(inner: Path) -> dict[str, str]:
    """What the folders say, written as Hive, Spark and Arrow do."""
    pairs = (part.partition("=") for part in inner.parts[:-1])
    return {name: unquote(value) for name, equals, value in pairs if equals and name and value != _HIVE_NULL}


def _text(file: LogFile) -> TextIO:
    """The characters of a file, in UTF-8, or UTF-16 where its mark says so; bytes that are none: U+FFFD."""
    if file.path is None:
        opened: Any = _stdin()
    else:
        zipped = file.path.suffix.lower() == ".gz"
        opened = (gzip.open if zipped else open)(file.path, "rb")
    first = opened.peek(2)[:2] if hasattr(opened, "peek") else b""
    encoding = "utf-16" if first in (BOM_UTF16_LE, BOM_UTF16_BE) else "utf-8-sig"
    return io.TextIOWrapper(opened, encoding=encoding, errors="replace", newline="")


def _stdin() -> BinaryIO:
    if sys.stdin is None:  # `<&-`, or a service without one
        raise SpiderComposeError("standard input is closed")
    return sys.stdin.buffer


def _jsonl(file: LogFile) -> Iterator[RawRow]:
    with _text(file) as lines:
        first = True
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            if first:
                _check_lines(line.strip(), file.name)
                first = False
            try:
                values = json.loads(line)
            except (ValueError, RecursionError) as error:
                # What a pipe leaves unfinished is not written on.
                unfinished = not file.once and not line.endswith(("\n", "\r"))
                yield RawRow(number, None, f"no JSON: {str(error)[:100]}", line, unfinished)
                continue
            if isinstance(values, dict):
                yield RawRow(number, values)
            else:
                what = f"expected a JSON object, but got {type(values).__name__}"
                yield RawRow(number, None, what, line)


def _check_lines(first: str, name: str) -> None:
    """Refuse one JSON document that stands over many lines, by its first."""
    if first.startswith("["):
        raise SpiderComposeError(
            f"{name} is one JSON array; write one object a line: jq -c '.[]' FILE > FILE.jsonl"
        )
    if first == "{":
        raise SpiderComposeError(
            f"{name} has JSON objects over several lines; write one object a line: jq -c . FILE > FILE.jsonl"
        )


@contextlib.contextmanager
def cells_of_any_length() -> Iterator[None]:
    """Let the csv module read long cells; its limit is one for the whole program, and set back after."""
    former = csv.field_size_limit(1 << 30)
    try:
        yield
    finally:
        csv.field_size_limit(former)


def _csv(file: LogFile) -> Iterator[RawRow]:
    with cells_of_any_length(), _text(file) as lines:
        first = lines.readline()
        # As a spreadsheet writes it where the comma is in numbers, or without the comma in a header.
        between = next((sign for sign in ",;\t" if sign in first), ",")
        reader = csv.reader(chain([first], lines), delimiter=between)
        header: list[str] | None = None
        while True:
            start = reader.line_num + 1
            try:
                cells = next(reader, None)
            except csv.Error as error:
                yield RawRow(start, None, f"no CSV: {error}", str(start))
                continue
            if cells is None:
                return
            if not cells:
                continue
            if header is None:
                header = distinct_names(cells)
            elif len(cells) == len(header):
                yield RawRow(start, dict(zip(header, cells, strict=True)))
            else:
                lines_read = reader.line_num - start + 1
                yield RawRow(
                    start,
                    None,
                    f"expected {len(header)} cells, but got {len(cells)} in {lines_read:,} lines"
                    + ("; is a quote not closed?" if lines_read > 1 else ""),
                    between.join(cells),
                )


def distinct_names(names: Sequence[str]) -> list[str]:
    """Columns by names that tell them apart: those of one name get numbers, so that none hides another."""
    times = Counter(names)
    seen: Counter[str] = Counter()
    found = []
    for name in names:
        seen[name] += 1
        found.append(f"{name} ({seen[name]})" if times[name] > 1 else name)
    return found


def _parquet(file: LogFile) -> Iterator[RawRow]:
    from spider_compose.stef.monitoring.parquet_rows import parquet_rows

    opened: Any = file.path
    if file.once:  # Parquet begins at its end
        opened = io.BytesIO((_stdin() if file.path is None else file.path.open("rb")).read())
    for number, values in enumerate(parquet_rows(opened, file.name), start=1):
        yield RawRow(number, values)
