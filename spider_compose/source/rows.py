"""Rows of a file in any of the formats, before a single value is checked."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from spider_compose.errors import MissingExtraError, SourceError
from spider_compose.source.files import SourceFile
from spider_compose.source.json_text import parse_lines, parse_list

COLUMNS = ("db_id", "query", "question")
FORMATS = ("json", "jsonl", "csv", "parquet")

# What other corpora call the columns, for the hint where one is missing.
_OTHER_NAMES = {
    "db_id": ("db", "database", "database_id", "db_name", "schema"),
    "query": ("sql", "sql_query", "gold", "gold_sql", "target"),
    "question": ("utterance", "text", "nl", "nlq", "sentence", "input"),
}


@dataclass(frozen=True)
class RawRow:
    """One row as it stands in its file.

    Attributes:
        place: where it stands, for messages: "dev.json, row 3" (from 0), with the line where there is one.
        content: usually a dict; anything that the file holds in its place.
        fault: the reason and the full message where the adapter could not make a pair of it.
        other_queries: as in `records.SourcePair`, from adapters that know of them.
        evidence: likewise.
    """

    place: str
    content: object
    fault: tuple[str, str] | None = None
    other_queries: tuple[str, ...] = ()
    evidence: str | None = None

    def values(self) -> tuple[object, ...]:
        """The values of `COLUMNS`; None where there is none."""
        content = self.content if isinstance(self.content, dict) else {}
        return tuple(content.get(column) for column in COLUMNS)


@dataclass(frozen=True)
class Columns:
    """What a file calls the columns.

    Attributes:
        names: our name -> the file's, where they differ.
        database: the `db_id` of all rows of a file without that column.
    """

    names: Mapping[str, str] = field(default_factory=dict)
    database: str | None = None

    @property
    def needed(self) -> tuple[str, ...]:
        """The file's names of the columns that it must have."""
        return tuple(
            self.names.get(column, column) for column in COLUMNS if column != "db_id" or self.database is None
        )

    def ours(self, content: object) -> object:
        """A row of the file under our names."""
        if not isinstance(content, dict) or (not self.names and self.database is None):
            return content
        named: dict[object, object] = {
            column: content.get(self.names.get(column, column)) for column in COLUMNS
        }
        if self.database is not None:
            named["db_id"] = self.database
        return named | ({None: content[None]} if None in content else {})  # cells beyond the header


SAME_COLUMNS = Columns()


def read_rows(file: SourceFile, columns: Columns = SAME_COLUMNS) -> list[RawRow]:
    """Read the rows of a .json (one list), .jsonl, .csv (comma, header line) or .parquet file.

    Args:
        columns: what the file calls them.

    Raises:
        SourceError: the file is empty, cut short, not in its format, or lacks a column in every row.
        MissingExtraError: a Parquet file, and pyarrow is not installed.
    """
    numbered: Iterable[tuple[int | None, object]]
    if file.extension == "json":
        numbered = ((None, value) for value in _with_columns(file, parse_list(file), columns.needed))
    elif file.extension == "jsonl":
        lines = parse_lines(file)
        _with_columns(file, [value for _, value in lines], columns.needed)
        numbered = lines
    elif file.extension == "csv":
        numbered = _csv_rows(file, columns.needed)
    elif file.extension == "parquet":
        numbered = ((None, value) for value in _parquet_rows(file, columns.needed))
    else:
        raise SourceError(
            f"{file.name} has no known format. Expected a name that ends in .{', .'.join(FORMATS)}."
        )
    return [
        RawRow(f"{file.name}, row {row}" + (f" (line {line})" if line else ""), columns.ours(content))
        for row, (line, content) in enumerate(numbered)
    ]


def _with_columns(file: SourceFile, values: Sequence[object], needed: Sequence[str]) -> Sequence[object]:
    """Return the rows of a JSON file if each column stands in at least one of them."""
    found = dict.fromkeys(key for value in values if isinstance(value, dict) for key in value)
    _check_columns(file, list(found), needed)
    return values


def _check_columns(file: SourceFile, found: Sequence[str], needed: Sequence[str]) -> None:
    missing = [column for column in needed if column not in found]
    if not missing:
        return
    known = {name.lower(): name for name in found}
    renames = {}
    for column in missing:
        other = [name for name in _OTHER_NAMES.get(column, ()) if name in known]
        near = other or get_close_matches(column, known, n=1)
        if near:
            renames[known[near[0]]] = column
    hint = f"Rename {renames}" if renames else "Rename or add the columns"
    if len(found) == 1 and any(separator in found[0] for separator in ";\t|"):
        hint = "Separate the columns by commas"
    raise SourceError(
        f"{file.name} lacks the column{'s' * (len(missing) > 1)} {', '.join(missing)}. Expected "
        f"{', '.join(needed)}; found {', '.join(map(str, found)) or 'none'}. {hint}, for instance with "
        "pandas: table.rename(columns=...); or name them with `columns` ('query=SQL,question=text'), and the "
        "one database of a corpus without db_id with `database`."
    )


def _check_once(file: SourceFile, names: Iterable[str], needed: Sequence[str]) -> None:
    repeated = [name for name, count in Counter(names).items() if count > 1 and name in needed]
    if repeated:
        raise SourceError(f"{file.name} has the column {repeated[0]!r} twice. Keep one.")


def _csv_rows(file: SourceFile, needed: Sequence[str]) -> Iterator[tuple[int, object]]:
    reader = csv.DictReader(io.StringIO(file.text(), newline=""), strict=True)
    rows = 0
    try:
        header = list(reader.fieldnames or ())
        _check_columns(file, header, needed)
        _check_once(file, header, needed)
        for row in reader:
            rows += 1
            yield reader.line_num, row
    except csv.Error as error:
        raise SourceError(
            f"{file.name}, line {reader.line_num}: not valid CSV ({error}). A quote may be left open, or "
            "the file cut short."
        ) from None
    if not rows:
        raise SourceError(f"{file.name} has a header line but no rows; at least one row is needed.")


def _parquet_rows(file: SourceFile, needed: Sequence[str]) -> list[dict[str, object]]:
    try:
        import pyarrow as arrow
        from pyarrow import parquet
    except ImportError as error:
        raise MissingExtraError(
            f"{file.name}: reading Parquet needs pyarrow. Install it with: pip install 'spider-compose[data]'"
        ) from error
    try:
        table_file = parquet.ParquetFile(arrow.BufferReader(file.data))
        schema = table_file.schema_arrow
        _check_columns(file, schema.names, needed)
        _check_once(file, schema.names, needed)
        for column in needed:
            if not _is_text(schema.field(column).type):
                raise SourceError(
                    f"{file.name}: the column {column} must hold texts (string), but holds "
                    f"{schema.field(column).type}. Convert it."
                )
        # Threads of Arrow that are just being started when a program ends abort it.
        table = table_file.read(columns=list(dict.fromkeys(needed)), use_threads=False)
        rows: list[dict[str, object]] = table.to_pylist()
    except UnicodeDecodeError as error:
        raise SourceError(f"{file.name} holds a text that is not UTF-8 ({error}). Mend it.") from None
    except (arrow.ArrowException, OSError, ValueError, KeyError) as error:
        # pyarrow says the same thing by several exceptions, depending on where the file is broken.
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise SourceError(
            f"{file.name} cannot be read as Parquet ({len(file.data):,} bytes; {reason.rstrip('.')}). It is "
            "cut short or not a Parquet file: copy or download it again."
        ) from None
    if not rows:
        raise SourceError(f"{file.name} has no rows; at least one row is needed.")
    return rows


def _is_text(type_: Any) -> bool:
    from pyarrow import types

    if types.is_dictionary(type_):
        return _is_text(type_.value_type)
    is_view = getattr(types, "is_string_view", lambda _: False)  # since pyarrow 16
    # A column of nulls alone has the type null; its rows are then left out one by one.
    return bool(
        types.is_string(type_) or types.is_large_string(type_) or is_view(type_) or types.is_null(type_)
    )
