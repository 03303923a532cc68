"""The scored folder: what stands in it, and reading it.

    DIR/stef.json                                  format, signatures, the log's columns, counts
    DIR/scores/day=YYYY-MM-DD/part-<hash>.parquet  rows of that UTC day; day=unknown without a time

Parts are only ever added (`monitoring.store`). A row is known by its signature, agent and key; where one
stands there twice, reading drops the second.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime, timezone
from pathlib import Path
from typing import Any

from spider_compose.errors import MissingExtraError, OptionError, SpiderComposeError, choose

try:
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.dataset
    import pyarrow.parquet
except ImportError as error:
    raise MissingExtraError(
        "scored folders need pyarrow and numpy: pip install 'spider-compose[monitor]'"
    ) from error

FORMAT = "stef scores 1"
UNKNOWN_DAY = "unknown"

REASON = pa.struct(
    [
        ("rule", pa.string()),
        ("message", pa.string()),
        ("points", pa.float64()),
        ("question_start", pa.int32()),
        ("question_end", pa.int32()),
        ("sql_start", pa.int32()),
        ("sql_end", pa.int32()),
    ]
)

# Columns of a part, in this order.
SCHEMA = pa.schema(
    [
        pa.field("key", pa.string(), nullable=False),  # the row's id, or a hash of what it says
        pa.field("time", pa.timestamp("us", "UTC")),
        pa.field("agent", pa.string(), nullable=False),  # "" where none is given
        pa.field("database", pa.string(), nullable=False),  # likewise
        pa.field("question", pa.string(), nullable=False),
        pa.field("enriched_question", pa.string()),
        pa.field("sql", pa.string(), nullable=False),
        pa.field("dialect", pa.string()),  # as asked
        pa.field("score", pa.float64()),  # Phi, 0 to 100
        pa.field("p_correct", pa.float64()),
        pa.field("band", pa.string()),
        pa.field("filter_status", pa.string()),
        pa.field("verdict", pa.string()),
        pa.field("confidence", pa.float64()),
        pa.field("unscored", pa.string()),  # a key of `score.UNSCORED`, or "unreadable"
        pa.field("message", pa.string(), nullable=False),
        pa.field("sql_dialect", pa.string()),  # read in
        pa.field("enrichment_quality", pa.float64()),  # 0 to 1
        pa.field("enrichment_lost", pa.list_(pa.string())),  # what was lost or changed, a sentence each
        pa.field("reasons", pa.list_(REASON)),
        pa.field("tolerances", pa.list_(pa.string())),
        pa.field("judge_reason", pa.string(), nullable=False),
        pa.field("judge_conflict", pa.string(), nullable=False),
        pa.field("score_without_judge", pa.float64()),
        pa.field("signature", pa.string(), nullable=False),
        pa.field("origin", pa.string(), nullable=False),  # file and line or row: "log.jsonl:17"
    ]
)

# Read as dictionaries: few values, many rows.
_FEW = (
    "agent", "database", "dialect", "band", "filter_status", "verdict", "unscored", "sql_dialect",
    "signature",
)  # fmt: skip
READ_SCHEMA = pa.schema(
    [
        pa.field(f.name, pa.dictionary(pa.int32(), pa.string()), f.nullable) if f.name in _FEW else f
        for f in SCHEMA
    ]
)

# What tells rows apart, and what decides which of two with one identity stays.
IDENTITY = ("signature", "agent", "key")
_ORDER = ("time", "unscored")

_LOG = logging.getLogger(__name__)


def read_scores(
    source: str | Path,
    columns: Sequence[str] | None = None,
    agents: Iterable[str] | None = None,
    databases: Iterable[str] | None = None,
    since: str | date | None = None,
    until: str | date | None = None,
) -> pa.Table:
    """The scored rows of a folder or a file, by time and then by key, whatever parts they stand in.

    Of rows with one identity the first that has a score stays; the others are counted in a warning and in
    `duplicates(table)`.

    Args:
        source: a folder written by `stef score LOG --out`, or one Parquet or JSON Lines file with a `score`.
        columns: names of `SCHEMA`; None for all. Only these are read.
        agents: only rows of these agents; None for all.
        databases: only rows of these databases; None for all.
        since: only rows at or after this time (UTC where it names no zone); days before it are not opened.
        until: only rows before this time.

    Returns:
        A table of `READ_SCHEMA`'s columns. Rows without a time come last, and never with `since` or `until`.

    Raises:
        OptionError: a column is unknown, or a time is no date.
        SpiderComposeError: there are no scored rows at `source`.
    """
    names = [choose("columns", name, READ_SCHEMA.names) for name in columns or READ_SCHEMA.names]
    first, last = _moment("since", since), _moment("until", until)
    source = Path(source)
    wanted = None
    for name, values in (("agent", agents), ("database", databases)):
        if values is not None:
            wanted = _and(wanted, pc.field(name).isin(pa.array(sorted(values), pa.string())))
    for expression in (
        None if first is None else pc.field("time") >= pa.scalar(first, SCHEMA.field("time").type),
        None if last is None else pc.field("time") < pa.scalar(last, SCHEMA.field("time").type),
    ):
        wanted = _and(wanted, expression)
    needed = [name for name in READ_SCHEMA.names if name in {*names, *IDENTITY, *_ORDER}]
    if source.is_file():
        table = _read_file(source).select(needed)
        table = table if wanted is None else table.filter(wanted)
    else:
        paths = [str(path) for path in _parts(source, first, last)]
        kind = pyarrow.dataset.ParquetFileFormat(dictionary_columns=list(_FEW))
        try:
            found = pyarrow.dataset.dataset(paths, schema=READ_SCHEMA, format=kind)
            table = found.to_table(columns=needed, filter=wanted)
        except (pa.ArrowInvalid, pa.ArrowTypeError, OSError) as error:
            raise SpiderComposeError(f"cannot read the scored rows in {source}: {error}") from error
    return _in_order(table.unify_dictionaries(), source).select(names)


def duplicates(table: pa.Table) -> int:
    """How many rows `read_scores` dropped because the same row stood there twice."""
    return int((table.schema.metadata or {}).get(b"duplicates", 0))


def of_one_signature(table: pa.Table, signature: str | None = None, mixed: bool = False) -> pa.Table:
    """The rows of one signature: scores under different ones do not compare.

    Args:
        table: of `read_scores`, with the column `signature`.
        signature: the one to take, or a part of it that only one has.
        mixed: take all, as they are.

    Raises:
        OptionError: there are several and none is chosen, or none or several match `signature`.
    """
    there = sorted(filter(None, pc.unique(table["signature"]).to_pylist()))
    if mixed or (signature is None and len(there) < 2):
        return table
    listed = "".join(f"\n  {name}" for name in there)
    if signature is None:
        raise OptionError(
            f"the rows were scored under {len(there)} signatures, which do not compare; name one with "
            f"`--signature` (a part that only it has will do), or take all with `--mixed`:{listed}"
        )
    matching = [signature] if signature in there else [name for name in there if signature in name]
    if len(matching) != 1:
        found = f"{len(matching)} match" if matching else "none matches"
        raise OptionError(f"`--signature` must choose one of these, but {found} {signature!r}:{listed}")
    return table.filter(pc.equal(table["signature"], matching[0]))


def describe(folder: str | Path) -> dict[str, Any]:
    """What `stef.json` of a scored folder says.

    Raises:
        SpiderComposeError: the folder is no scored folder, or of a format this version does not know.
    """
    path = Path(folder) / "stef.json"
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SpiderComposeError(
            f"expected a folder written by `stef score LOG --out {folder}`, but cannot read {path}: {error}"
        ) from error
    found = document.get("format") if isinstance(document, dict) else None
    if found != FORMAT:
        raise SpiderComposeError(f"{path}: expected the format {FORMAT!r}, but got {found!r}")
    return dict(document)


def parts(folder: str | Path) -> Iterator[Path]:
    """The parts of a scored folder, by day and name; other files there are nobody's."""
    return _parts(Path(folder), None, None)


def _parts(folder: Path, first: datetime | None, last: datetime | None) -> Iterator[Path]:
    describe(folder)
    for day in sorted((folder / "scores").glob("day=*")):
        name = day.name.removeprefix("day=")
        if (first or last) and name == UNKNOWN_DAY:
            continue
        if first and name < first.date().isoformat():
            continue
        if last and name != UNKNOWN_DAY and name > last.date().isoformat():
            continue
        yield from sorted(day.glob("part-*.parquet"))


def _moment(name: str, value: str | date | None) -> datetime | None:
    """A time in UTC; a day is its first moment."""
    if value is None:
        return None
    if isinstance(value, str):
        from spider_compose.stef.monitoring.times import read_time

        try:
            return read_time(value, timezone.utc)
        except ValueError as error:
            raise OptionError(f"`{name}`: {error}") from error
    if not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day)
    return value.replace(tzinfo=timezone.utc) if value.tzinfo is None else value.astimezone(timezone.utc)


def _and(one: Any, other: Any) -> Any:
    return other if one is None else one if other is None else one & other


def _in_order(table: pa.Table, source: Path) -> pa.Table:
    """The rows by time and identity, each identity once: the row that has a score, or else the first.

    The order must not depend on the parts: it moves the last bits of sums, and what a seed draws.
    """
    names = ["time", "key", "agent", "signature"]  # copies of a row have one time
    keys = pa.table({name: _strings(table[name]) for name in names})
    keys = keys.append_column("unscored", pc.is_valid(table["unscored"]))
    order = pc.sort_indices(keys, sort_keys=[(name, "ascending") for name in keys.column_names])
    again = np.ones(max(table.num_rows - 1, 0), dtype=bool)
    for name in IDENTITY:
        values = keys[name].take(order)
        again &= np.asarray(pc.equal(values[1:], values[:-1]), dtype=bool)
    dropped = int(again.sum())
    if not dropped:
        return table.take(order)
    _LOG.warning("stef: %s: %s rows stand there twice; each counts once", source, f"{dropped:,}")
    first = np.concatenate([[True], ~again])
    kept = pa.array(np.asarray(order)[first])
    return table.take(kept).replace_schema_metadata({"duplicates": str(dropped)})


def _strings(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return column.cast(pa.string()) if pa.types.is_dictionary(column.type) else column


def _read_file(path: Path) -> pa.Table:
    """One file with scores as a table of `READ_SCHEMA`; columns that it lacks are empty."""
    if path.suffix.lower() == ".parquet":
        try:
            table = pyarrow.parquet.read_table(path)
        except (pa.ArrowInvalid, OSError) as error:
            raise SpiderComposeError(f"{path} is no Parquet file: {error}") from error
    else:
        table = pa.Table.from_pylist(list(_json_rows(path)), schema=SCHEMA)
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
    if field.name not in table.column_names:
        empty = pa.nulls(rows, pa.string()) if field.name in _FEW else pa.nulls(rows, field.type)
        column = empty if field.nullable else pc.fill_null(empty, "")
    else:
        column = table[field.name]
    plain = SCHEMA.field(field.name).type
    try:
        column = column.cast(plain) if column.type != plain else column
        return column if field.type == plain else column.cast(field.type)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise SpiderComposeError(
            f"{path}: the column `{field.name}` must be {plain}, but is {column.type}: {error}"
        ) from error


def _json_rows(path: Path) -> Iterator[dict[str, Any]]:
    """The lines of `stef score FILE --output` as rows of `SCHEMA`."""
    with path.open(encoding="utf-8", errors="replace") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
                yield _json_row(row, path, number)
            except (ValueError, TypeError, AttributeError, KeyError) as error:
                raise SpiderComposeError(
                    f"{path}, line {number}: expected a line of `stef score --output`: {error}"
                ) from error


def _json_row(row: dict[str, Any], path: Path, number: int) -> dict[str, Any]:
    from spider_compose.stef.monitoring.times import read_time

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
