"""Rows from a file of queries, read lazily: JSON Lines, CSV or Parquet."""

from __future__ import annotations

import argparse
import csv
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from spider_compose.errors import MissingExtraError, OptionError, SpiderComposeError, missing_column

FORMATS = {".jsonl": "jsonl", ".json": "jsonl", ".ndjson": "jsonl", ".csv": "csv", ".parquet": "parquet"}
FIELDS = {
    "question": "question",
    "enriched_question": "enriched_question",
    "sql": "sql",
    "dialect": "dialect",
}


def add_arguments(command: argparse.ArgumentParser) -> None:
    """The options that say how to read a file."""
    command.add_argument(
        "--format", choices=sorted(set(FORMATS.values())), help="format of FILE (default: by its ending)"
    )
    for field, default in FIELDS.items():
        flag = "--" + field.replace("_", "-") + "-column"
        command.add_argument(
            flag,
            default=default,
            metavar="NAME",
            help=f"column of the {field.replace('_', ' ')} (default: {default})",
        )


def read_rows(options: argparse.Namespace, path: Path) -> Iterator[dict[str, Any]]:
    """Rows under the names the score knows; other columns stay as they are.

    Raises:
        SpiderComposeError: the file cannot be read, or lacks the column of the question or the SQL.
    """
    if path.is_dir() or not path.exists():  # a pipe will do
        raise SpiderComposeError(f"expected a file of queries, but there is none at {path}")
    kind = options.format or FORMATS.get(path.suffix.lower())
    if kind is None:
        raise OptionError(
            f"cannot tell the format of {path} by its ending {path.suffix!r}; name it with `--format`"
        )
    columns = {field: getattr(options, f"{field}_column") for field in FIELDS}
    readers = {"jsonl": _jsonl, "csv": _csv, "parquet": _parquet}
    for number, row in enumerate(readers[kind](path)):
        if number == 0:
            _check_columns(row, columns, path)
        named = {field: row.get(column) for field, column in columns.items()}
        yield {**row, **named}


def _check_columns(row: dict[str, Any], columns: dict[str, str], path: Path) -> None:
    for field, column in columns.items():
        needed = not row.get("unreadable") if field in ("question", "sql") else column != FIELDS[field]
        if needed and column not in row:
            raise missing_column(str(path), column, sorted(row), f"--{field.replace('_', '-')}-column")


def _jsonl(path: Path) -> Iterator[dict[str, Any]]:
    """A line that is no JSON object becomes a row that counts as unscored; the rest goes on."""
    with path.open(encoding="utf-8-sig", errors="replace") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except (ValueError, RecursionError) as error:
                print(f"stef: {path}, line {number}: no JSON: {str(error)[:100]}", file=sys.stderr)
                row = None
            yield row if isinstance(row, dict) else {"question": None, "sql": None, "unreadable": number}


def _csv(path: Path) -> Iterator[dict[str, Any]]:
    from spider_compose.stef.monitoring.formats import cells_of_any_length

    with cells_of_any_length(), path.open(encoding="utf-8-sig", errors="replace", newline="") as lines:
        try:
            for row in csv.DictReader(lines):
                yield {str(key): value for key, value in row.items()}
        except csv.Error as error:
            raise SpiderComposeError(f"{path} is no CSV: {error}") from error


def _parquet(path: Path) -> Iterator[dict[str, Any]]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise MissingExtraError(
            "reading Parquet needs pyarrow: pip install 'spider-compose[data]'"
        ) from error
    try:
        file = pyarrow.parquet.ParquetFile(path)
        for batch in file.iter_batches(batch_size=1024, use_threads=False):
            yield from batch.to_pylist()
    except (pyarrow.ArrowInvalid, OSError) as error:
        raise SpiderComposeError(f"{path} is no Parquet file: {error}") from error
