"""Files of a log as they are: JSON Lines, CSV or Parquet, one, a folder of them, or standard input.

Nothing is interpreted here. A line or row that cannot be read comes out as one that says so.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

from spider_compose.errors import MissingExtraError, OptionError, SpiderComposeError

FORMATS = {".jsonl": "jsonl", ".json": "jsonl", ".ndjson": "jsonl", ".csv": "csv", ".parquet": "parquet"}
STDIN = "-"

# A JSON object may leave out what is empty: so many rows of a file tell its columns.
LOOK = 100


@dataclass(frozen=True)
class RawRow:
    """One row as it stands in a file.

    Attributes:
        number: 1-based line of a text file, 1-based row of a Parquet file.
        values: the row's values by column, or None where it cannot be read.
        problem: why it cannot be read.
    """

    number: int
    values: Mapping[str, Any] | None
    problem: str = ""


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
                given = row.values is not None and self.given
                yield RawRow(row.number, {**self.given, **(row.values or {})}) if given else row
        except (OSError, EOFError) as error:
            raise SpiderComposeError(f"cannot read {self.name}: {error}") from error

    def columns(self) -> set[str] | None:
        """The columns of its first rows, or None where none of them can be read."""
        readable = (row.values for row in self.rows() if row.values is not None)
        first = list(islice(readable, LOOK))
        return {str(name) for values in first for name in values} if first else None


def find_files(source: str, kind: str | None = None) -> list[LogFile]:
    """The files of a log, in the order of their names.

    Args:
        source: a file, a folder, or "-" for standard input. In a folder, files of other endings and those
            whose name begins with "." or "_" are no part of it.
        kind: the format, where the ending does not tell.

    Raises:
        SpiderComposeError: there is no file.
        OptionError: the format cannot be told.
    """
    if source == STDIN:
        return [LogFile("stdin", None, kind or "jsonl", {})]
    path = Path(source)
    if path.is_dir():
        files = [
            LogFile(inner.as_posix(), path / inner, found, _given(inner))
            for inner in sorted(p.relative_to(path) for p in path.rglob("*") if p.is_file())
            if not any(part.startswith((".", "_")) for part in inner.parts) and (found := _format(inner))
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
    return [LogFile(path.name, path, found, {})]


def _format(path: Path) -> str | None:
    name = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    return FORMATS.get(name.suffix.lower())


def _given(inner: Path) -> dict[str, str]:
    pairs = (part.partition("=") for part in inner.parts[:-1])
    return {name: value for name, equals, value in pairs if equals and name}


def _text(file: LogFile) -> TextIO:
    """The characters of a file; bytes that are none in UTF-8 become U+FFFD."""
    if file.path is None:
        return io.TextIOWrapper(sys.stdin.buffer, encoding="utf-8-sig", errors="replace", newline="")
    opened = gzip.open if file.path.suffix.lower() == ".gz" else open
    return opened(file.path, "rt", encoding="utf-8-sig", errors="replace", newline="")


def _jsonl(file: LogFile) -> Iterator[RawRow]:
    with _text(file) as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            if number == 1 and line.lstrip().startswith("["):
                raise SpiderComposeError(
                    f"{file.name} is one JSON array; write one object a line: jq -c '.[]' FILE > FILE.jsonl"
                )
            try:
                values = json.loads(line)
            except (ValueError, RecursionError) as error:
                yield RawRow(number, None, f"no JSON: {str(error)[:100]}")
                continue
            if isinstance(values, dict):
                yield RawRow(number, values)
            else:
                yield RawRow(number, None, f"expected a JSON object, but got {type(values).__name__}")


def _csv(file: LogFile) -> Iterator[RawRow]:
    csv.field_size_limit(1 << 30)
    with _text(file) as lines:
        reader = csv.reader(lines)
        header: list[str] | None = None
        while True:
            start = reader.line_num + 1
            try:
                cells = next(reader, None)
            except csv.Error as error:
                yield RawRow(start, None, f"no CSV: {error}")
                continue
            if cells is None:
                return
            if not cells:
                continue
            if header is None:
                header = cells
            elif len(cells) == len(header):
                yield RawRow(start, dict(zip(header, cells, strict=True)))
            else:
                lines_read = reader.line_num - start + 1
                yield RawRow(
                    start,
                    None,
                    f"expected {len(header)} cells, but got {len(cells)} in {lines_read:,} lines"
                    + ("; is a quote not closed?" if lines_read > 1 else ""),
                )


def _parquet(file: LogFile) -> Iterator[RawRow]:
    try:
        import pyarrow as pa
        import pyarrow.parquet
    except ImportError as error:
        raise MissingExtraError(
            "reading Parquet needs pyarrow: pip install 'spider-compose[monitor]'"
        ) from error
    try:
        opened: Any = io.BytesIO(sys.stdin.buffer.read()) if file.path is None else file.path
        number = 0
        for batch in pyarrow.parquet.ParquetFile(opened).iter_batches(batch_size=1024):
            for values in _without_nanoseconds(batch).to_pylist():
                number += 1
                yield RawRow(number, values)
    except pa.ArrowException as error:
        raise SpiderComposeError(f"{file.name} is no Parquet file: {error}") from error


def _without_nanoseconds(batch: Any) -> Any:
    """Python's times end at microseconds; what is finer is cut off."""
    import pyarrow as pa

    for place, field in enumerate(batch.schema):
        if pa.types.is_timestamp(field.type) and field.type.unit == "ns":
            micro = pa.timestamp("us", field.type.tz)
            batch = batch.set_column(place, field.name, batch.column(place).cast(micro, safe=False))
    return batch
