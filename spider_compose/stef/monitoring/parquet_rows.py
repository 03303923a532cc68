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
        for batch in pyarrow.parquet.ParquetFile(source).iter_batches(batch_size=_ROWS):
            names = distinct_names(batch.schema.names)
            for values in zip(*(_values(column) for column in batch.columns), strict=True):
                yield dict(zip(names, values, strict=True))
    except pa.ArrowException as error:
        raise SpiderComposeError(f"{name} is no Parquet file: {error}") from error


def _values(column: Any) -> list[Any]:
    """A column's values; texts that are not marked as such are bytes, and read as UTF-8."""
    import pyarrow as pa

    if pa.types.is_timestamp(column.type) and column.type.unit == "ns":
        # Python's times end at microseconds; what is finer is cut off.
        column = column.cast(pa.timestamp("us", column.type.tz), safe=False)
    try:
        values = column.to_pylist()
    except (ValueError, OverflowError):  # a time that Python has not
        values = [_value(scalar) for scalar in column]
    return [value.decode("utf-8", "replace") if isinstance(value, bytes) else value for value in values]


def _value(scalar: Any) -> Any:
    """A value, or how it is written where Python has none like it."""
    import pyarrow as pa

    try:
        return scalar.as_py()
    except (ValueError, OverflowError):
        try:
            return scalar.cast(pa.string()).as_py()
        except pa.ArrowException:  # lists and records
            return f"a {scalar.type} that cannot be read"
