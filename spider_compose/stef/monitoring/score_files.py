"""One file of scores, where there is no scored folder: of `stef score FILE --output`, or of one's own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timezone
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet

from spider_compose.errors import SpiderComposeError
from spider_compose.stef.monitoring.log import as_text
from spider_compose.stef.monitoring.scored import READ_SCHEMA, REASON, SCHEMA
from spider_compose.stef.monitoring.times import read_time

# Columns of numbers, and the greatest that each may hold; the least is 0.
_MOST = {"score": 100.0, "p_correct": 1.0, "confidence": 1.0, "enrichment_quality": 1.0}


# Microseconds from 1970 to the years 1 and 10000.
_FIRST, _LAST = -62_135_596_800_000_000, 253_402_300_800_000_000


def read_score_file(path: Path) -> pa.Table:
    """One file with scores as a table of `READ_SCHEMA`; columns that it lacks are empty.

    Raises:
        SpiderComposeError: it is no such file, or a column holds something else than it should.
    """
    if path.suffix.lower() == ".parquet":
        try:
            table = pyarrow.parquet.read_table(path)
        except (pa.ArrowInvalid, OSError) as error:
            raise SpiderComposeError(f"{path} is no Parquet file: {error}") from error
    else:
        rows = list(_json_rows(path))
        try:
            table = pa.Table.from_pylist(rows, schema=SCHEMA)
        except (pa.ArrowException, OverflowError) as error:
            raise SpiderComposeError(f"{path}: expected lines of `stef score --output`: {error}") from error
    if "score" not in table.column_names:
        raise SpiderComposeError(
            f"{path}: expected a file of scores with a column `score`, but it has {table.column_names}; "
            "write one with `stef score`"
        )
    columns = [_as_read(table, field, path) for field in READ_SCHEMA]
    return pa.Table.from_arrays(columns, schema=READ_SCHEMA)


def _as_read(table: pa.Table, field: pa.Field, path: Path) -> Any:
    """A column of a file in the type that is read, or an empty one."""
    rows = table.num_rows
    if field.name == "key" and "key" not in table.column_names:
        return pa.array([str(number) for number in range(rows)])
    plain = SCHEMA.field(field.name).type
    column = table[field.name] if field.name in table.column_names else pa.nulls(rows, plain)
    try:
        if field.name == "time" and not pa.types.is_temporal(column.type):
            column = pa.array([read_time(value, timezone.utc) for value in column.to_pylist()], plain)
        column = column.cast(plain) if column.type != plain else column
        column.validate(full=True)  # texts that are no UTF-8 are found here or nowhere
        if pa.types.is_list(plain):
            _check_items(column)
        if field.name == "time":
            _check_times(column)
    except (pa.ArrowException, ValueError) as error:
        raise SpiderComposeError(
            f"{path}: the column `{field.name}` must be {plain}, but is {column.type}: {error}"
        ) from error
    if field.name in _MOST:
        column = _in_range(column, field.name, path)
    column = column if field.nullable else pc.fill_null(column, "")
    return column if field.type == plain else column.cast(field.type)


def _check_times(column: Any) -> None:
    """Refuse times that Python has not.

    Raises:
        ValueError: one lies before the year 1 or after 9999.
    """
    ends = pc.min_max(column.cast(pa.int64()))
    for moment in (ends["min"].as_py(), ends["max"].as_py()):
        if moment is not None and not _FIRST <= moment < _LAST:
            raise ValueError(f"{moment} microseconds since 1970 are beyond the years 1 to 9999")


def _check_items(column: Any) -> None:
    """Refuse lists with gaps, which no list of `stef score` has.

    Raises:
        ValueError: an item, or a part of one, is null.
    """
    for chunk in column.chunks if isinstance(column, pa.ChunkedArray) else [column]:
        items = chunk.flatten()
        parts = items.flatten() if pa.types.is_struct(items.type) else [items]
        names = [field.name for field in REASON] if pa.types.is_struct(items.type) else ["item"]
        for name, part in zip(names, parts, strict=True):
            if part.null_count:
                raise ValueError(f"an item has no `{name}`")


def _in_range(column: Any, name: str, path: Path) -> Any:
    """A column of numbers where what is no number is null; others than it may hold are an error."""
    values = np.asarray(column.to_numpy(zero_copy_only=False), dtype=np.float64)
    wrong = np.flatnonzero((values < 0) | (values > _MOST[name]))
    if len(wrong):
        raise SpiderComposeError(
            f"{path}, row {wrong[0] + 1}: `{name}` must be from 0 to {_MOST[name]:g}, "
            f"but is {values[wrong[0]]:g}"
        )
    return pa.array(values, pa.float64(), from_pandas=True)


def _json_rows(path: Path) -> Iterator[dict[str, Any]]:
    """The lines of `stef score FILE --output` as rows of `SCHEMA`."""
    with path.open(encoding="utf-8", errors="replace") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
                if "\\u" in line:  # may be half of a UTF-16 pair, which UTF-8 has not
                    row = json.loads(as_text(json.dumps(row, ensure_ascii=False)) or "")
                yield _json_row(row, path, number)
            except (ValueError, TypeError, AttributeError, LookupError, RecursionError) as error:
                why = f"there is no {error}" if isinstance(error, LookupError) else error
                raise SpiderComposeError(
                    f"{path}, line {number}: expected a line of `stef score --output`: {why}"
                ) from error


def _json_row(row: dict[str, Any], path: Path, number: int) -> dict[str, Any]:
    if "score" not in row:
        raise ValueError("there is no `score`")
    found = {name: row.get(name) for name in SCHEMA.names}
    for field in SCHEMA:
        if not field.nullable:
            value = found[field.name]
            found[field.name] = "" if value is None else str(value)
    found["key"] = str(row.get("key") if row.get("key") is not None else row.get("row", number - 1))
    found["time"] = None if row.get("time") is None else read_time(row["time"], timezone.utc)
    found["sql_dialect"] = row.get("sql_dialect", row.get("dialect"))
    found["origin"] = row.get("origin") or f"{path.name}:{number}"
    if isinstance(row.get("enrichment"), dict):
        found["enrichment_quality"] = row["enrichment"].get("quality")
        found["enrichment_lost"] = lost_sentences(row["enrichment"])
    if row.get("reasons") is not None:
        found["reasons"] = [reason_row(reason) for reason in row["reasons"]]
    return found


def reason_row(reason: dict[str, Any]) -> dict[str, Any]:
    """A reason of `Result.as_dict` as one of `REASON`."""
    if "question" not in reason:
        return reason
    spans = {
        f"{side}_{end}": reason[side][place]
        for side in ("question", "sql")
        for place, end in enumerate(("start", "end"))
    }
    return {"rule": reason["rule"], "message": reason["message"], "points": reason["points"], **spans}


def lost_sentences(enrichment: dict[str, Any]) -> list[str]:
    """What an enriched question lost or changed, from `Enrichment.as_dict`: a sentence each."""
    return [
        f"{fate}: {item['kind']} {item['text']!r}"
        for fate in ("lost", "changed")
        for item in enrichment[fate]
    ]
