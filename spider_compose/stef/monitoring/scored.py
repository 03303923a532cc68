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
from dataclasses import dataclass
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


@dataclass(frozen=True)
class Snapshot:
    """The parts that a scored folder has at one moment: what is added later is not read.

    Whoever reads a folder twice, for other columns, must find the same rows.
    """

    folder: Path
    parts: tuple[Path, ...]

    def __str__(self) -> str:
        return str(self.folder)


def snapshot(source: str | Path) -> Path | Snapshot:
    """A scored folder as it is now; a file is itself.

    Raises:
        SpiderComposeError: the folder is no scored folder.
    """
    source = Path(source)
    return source if source.is_file() else Snapshot(source, tuple(parts(source)))


def read_scores(
    source: str | Path | Snapshot,
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
        source: a folder written by `stef score LOG --out`, as it is or as it was; or one Parquet or JSON
            Lines file with a `score`.
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
    source = snapshot(source) if isinstance(source, (str, Path)) else source
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
    if isinstance(source, Path):
        from spider_compose.stef.monitoring.score_files import read_score_file

        table = read_score_file(source).select(needed)
        table = table if wanted is None else table.filter(wanted)
    else:
        paths = [str(path) for path in _of_days(source.parts, first, last)]
        kind = pyarrow.dataset.ParquetFileFormat(dictionary_columns=list(_FEW))
        try:
            found = pyarrow.dataset.dataset(paths, schema=READ_SCHEMA, format=kind)
            table = found.to_table(columns=needed, filter=wanted)
        except (pa.ArrowInvalid, pa.ArrowTypeError, OSError) as error:
            raise SpiderComposeError(
                f"cannot read the scored rows in {source}: {error}; a part that is broken may be deleted: "
                "the next `stef score` of the log does its rows again"
            ) from error
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
    expected = f"expected a folder written by `stef score LOG --out {folder}`, but"
    if not path.parent.exists():
        raise SpiderComposeError(f"{expected} there is none at {folder}")
    if not path.exists():
        raise SpiderComposeError(f"{expected} {folder} has no {path.name}")
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        why = getattr(error, "strerror", None) or error
        raise SpiderComposeError(f"{expected} cannot read {path}: {why}") from error
    found = document.get("format") if isinstance(document, dict) else None
    if found != FORMAT:
        raise SpiderComposeError(f"{path}: expected the format {FORMAT!r}, but got {found!r}")
    told = document.setdefault("signatures", {})
    if not isinstance(told, dict) or not all(isinstance(one, dict) for one in told.values()):
        raise SpiderComposeError(
            f"{path}: expected `signatures` with an object for each, but got {told!r:.80}"
        )
    return dict(document)


def parts(folder: str | Path) -> Iterator[Path]:
    """The parts of a scored folder, by day and name; other files there are nobody's."""
    describe(folder)
    for day in sorted((Path(folder) / "scores").glob("day=*")):
        yield from sorted(day.glob("part-*.parquet"))


def _of_days(parts: Iterable[Path], first: datetime | None, last: datetime | None) -> Iterator[Path]:
    for part in parts:
        name = part.parent.name.removeprefix("day=")
        if (first or last) and name == UNKNOWN_DAY:
            continue
        if first and name < first.date().isoformat():
            continue
        if last and name != UNKNOWN_DAY and name > last.date().isoformat():
            continue
        yield part


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


def _in_order(table: pa.Table, source: Path | Snapshot) -> pa.Table:
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
