"""Adapter: WikiSQL as its authors give it out (Zhong et al. 2017).

A folder with `train.jsonl`, `dev.jsonl`, `test.jsonl` and, for each, the tables in `train.tables.jsonl`:

    {"table_id": "1-10-1", "question": "...", "sql": {"sel": 5, "agg": 0, "conds": [[3, 0, "Rome"]]}}
    {"id": "1-10-1", "header": ["City", ...], "types": ["text", ...], "rows": [...]}

The indices become SQL (see `wikisql_query`); each table is a database of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from spider_compose.errors import SourceError
from spider_compose.source.corpus import Corpus
from spider_compose.source.files import SourceFile
from spider_compose.source.json_text import parse_lines
from spider_compose.source.own_parts import divide
from spider_compose.source.reading import Reading
from spider_compose.source.rows import RawRow
from spider_compose.source.schemas import Schemas
from spider_compose.source.wikisql_query import AGGREGATES, OPERATORS, WikiSqlQuery, table_schema
from spider_compose.sql.schema import Schema

NAME = "wikisql"
OPTIONS: tuple[str, ...] = ("held_out",)
PARTS = ("train", "dev", "test")

_HEAD = 1 << 14


def recognise(path: Path) -> bool:
    """Whether the folder holds a part and its tables under their names, or rows that need such tables."""
    parts = [part for part in PARTS if _questions(path, part).is_file()]
    return any(_tables(path, part).is_file() or _needs_tables(_questions(path, part)) for part in parts)


def read(path: Path, reading: Reading) -> Corpus:
    """Read the parts that are there.

    Raises:
        SourceError: a part has no tables, or a file is broken.
    """
    files, rows = [], []
    schemas: dict[str, Schema] = {}
    for part in PARTS:
        if not _questions(path, part).is_file():
            continue
        if not _tables(path, part).is_file():
            raise SourceError(
                f"{path} has {_questions(path, part).name}, but {_tables(path, part).name} is missing. "
                "Copy it from the release of WikiSQL."
            )
        questions, tables = SourceFile.read(_questions(path, part)), SourceFile.read(_tables(path, part))
        headers, types = _headers(tables)
        schemas |= {name: table_schema(name, header, types[name]) for name, header in headers.items()}
        rows += [
            (part, _row(f"{questions.name}, line {line}", value, headers))
            for line, value in parse_lines(questions)
        ]
        files += [questions, tables]
    parts = divide(rows, reading.held_out)
    return Corpus(
        name=path.resolve().name,
        parts=parts.parts,
        files=tuple(files),
        schemas=Schemas(schemas),
        notes=parts.notes,
    )


def _needs_tables(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD)
    except OSError:  # the adapters after this one say what cannot be read
        return False
    return b'"table_id"' in head and b'"sel"' in head


def _questions(path: Path, part: str) -> Path:
    return path / f"{part}.jsonl"


def _tables(path: Path, part: str) -> Path:
    return path / f"{part}.tables.jsonl"


def _headers(file: SourceFile) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Headings and types of the columns of each table."""
    headers: dict[str, list[str]] = {}
    types: dict[str, list[str]] = {}
    for line, table in parse_lines(file):
        content = table if isinstance(table, dict) else {}
        name, header, own = (content.get(key) for key in ("id", "header", "types"))
        if not isinstance(name, str) or not isinstance(header, list) or not _are_texts(header):
            raise SourceError(f"{file.name}, line {line}: a table must have an id and a header of texts.")
        if headers.setdefault(name, header) != header:
            raise SourceError(
                f"{file.name}, line {line}: the table {name!r} stands there with other headings."
            )
        types[name] = own if isinstance(own, list) and _are_texts(own) else []
    return headers, types


def _are_texts(values: list[Any]) -> bool:
    return all(isinstance(one, str) for one in values)


def _row(place: str, value: Any, headers: Mapping[str, list[str]]) -> RawRow:
    if not isinstance(value, dict) or not isinstance(value.get("sql"), dict):
        return _faulty(place, "no query", "must be an object with table_id, question and sql")
    name = value.get("table_id")
    if not isinstance(name, str) or name not in headers:
        return _faulty(place, "unknown schema", f"no table {name!r} in the .tables.jsonl")
    headings = headers[name]
    try:
        query = _query(value["sql"], headings)
    except (KeyError, IndexError, TypeError, ValueError) as error:
        return _faulty(
            place,
            "no query",
            f"`sql` must have sel, agg and conds [column, operator, value] within {len(headings)} columns, "
            f"{len(AGGREGATES)} aggregates and {len(OPERATORS)} operators, but is {value['sql']!r:.120} "
            f"({type(error).__name__})",
        )
    return RawRow(place, {"db_id": name, "query": query.sql(), "question": value.get("question")})


def _query(sql: Mapping[str, Any], headings: Sequence[str]) -> WikiSqlQuery:
    conditions = tuple(
        (_chosen(headings, column), _chosen(OPERATORS, operator), _value(value))
        for column, operator, value in sql["conds"]
    )
    return WikiSqlQuery(_chosen(AGGREGATES, sql["agg"]), _chosen(headings, sql["sel"]), conditions)


def _value(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float) or str(value) in ("inf", "-inf"):
        raise ValueError(value)
    return str(value)


def _chosen(names: Sequence[str], index: object) -> str:
    if type(index) is not int or index < 0:  # -1 would silently be the last column
        raise ValueError(index)
    return names[index]


def _faulty(place: str, reason: str, detail: str) -> RawRow:
    return RawRow(place, {}, (reason, f"{place}: {detail}."))
