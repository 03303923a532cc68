"""Rows of a Parquet file as Python values, whatever types its writer chose."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from spider_compose.errors import MissingExtraError, SpiderComposeError
from spider_compose.stef.monitoring.formats import distinct_names

_ROWS = 1024  # that are in memory at once


def parquet_rows(source: Path | BinaryIO, name: str) -> Iterator[dict[str, Any]]:
    """The rows of a file, lazily.

    Args:
        source: the file.
        name: what to call it.

    Raises:
        MissingExtraError: pyarrow is not installed.
        SpiderComposeError: it is no Parquet, or cannot be read on.
    """
    try:
        import pyarrow as pa
        import pyarrow.parquet
    except ImportError as error:
        raise MissingExtraError(
            "reading Parquet needs pyarrow: pip install 'spider-compose[monitor]'"
        ) from error
    try:
        for batch in pyarrow.parquet.ParquetFile(source).iter_batches(batch_size=_ROWS, use_threads=False):
            yield from table_rows(batch)
    except pa.ArrowException as error:
        raise SpiderComposeError(f"{name} is no Parquet file: {error}") from error


def table_rows(table: Any) -> Iterator[dict[str, Any]]:
    """The rows of a table, or a batch of one, of pyarrow."""
    names = distinct_names(table.schema.names)
    for values in zip(*(_values(column) for column in table.columns), strict=True):
        yield dict(zip(names, values, strict=True))


def _values(column: Any) -> list[Any]:
    """A column's values; texts that are not marked as such are bytes, and read as UTF-8."""
    import pyarrow as pa

    if pa.types.is_timestamp(column.type):
        # Python's times end at microseconds; what is finer is cut off. With a zone they stand there in UTC,
        # whose name is always known.
        unit = "us" if column.type.unit == "ns" else column.type.unit
        column = column.cast(pa.timestamp(unit, column.type.tz and "UTC"), safe=False)
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        column = column.cast(pa.large_binary())  # not every writer sees to it that it is UTF-8
    try:
        values = column.to_pylist()
    except (ValueError, OverflowError, KeyError):  # a time or a zone that Python has not
        values = [_value(scalar) for scalar in column]
    return [value.decode("utf-8", "replace") if isinstance(value, bytes) else value for value in values]


def _value(scalar: Any) -> Any:
    """A value, or how it is written where Python has none like it."""
    import pyarrow as pa

    try:
        return scalar.as_py()
    except (ValueError, OverflowError, KeyError):
        try:
            return scalar.cast(pa.string()).as_py()
        except (pa.ArrowException, ValueError):  # lists and records
            return f"a {scalar.type} that cannot be read"
