"""From rows to usable pairs: each row is checked, and a faulty one named and left out."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from difflib import get_close_matches

from spider_compose.errors import SourceError
from spider_compose.source.records import LeftOut, SourcePair, SourceSplit
from spider_compose.source.rows import COLUMNS, RawRow
from spider_compose.sql.schema import Schema

# Far above any real text (Spider: 577 and 224 characters): a longer one is a file read the wrong way, such as
# a CSV quote left open that swallows the rows after it, so reading stops instead of leaving one "row" out.
MAX_CHARACTERS = {"db_id": 1_000, "query": 100_000, "question": 20_000}

_SURROGATE = re.compile("[\ud800-\udfff]")


def check_rows(
    part: SourceSplit, rows: Sequence[RawRow], schemas: Mapping[str, Schema], strict: bool
) -> tuple[tuple[SourcePair, ...], tuple[LeftOut, ...]]:
    """Split the rows of one part into usable pairs and rows left out. Texts are kept character for character.

    Raises:
        SourceError: a text is longer than `MAX_CHARACTERS`, or, with `strict`, any row is faulty.
    """
    pairs, left_out = [], []
    for number, row in enumerate(rows):
        fault = _fault(row, schemas)
        if fault is None:
            db_id, query, question = map(str, row.values())
            pairs.append(SourcePair(part, number, db_id, query, question, row.other_queries, row.evidence))
            continue
        reason, detail = fault
        if strict:
            raise SourceError(f"{detail} Without `strict` the row is left out.")
        left_out.append(LeftOut(part, number, reason, detail))
    return tuple(pairs), tuple(left_out)


def _fault(row: RawRow, schemas: Mapping[str, Schema]) -> tuple[str, str] | None:
    """The reason and the full message if the row cannot be used."""
    if row.fault is not None:
        return row.fault
    if not isinstance(row.content, dict):
        kind = type(row.content).__name__
        return (
            "not an object",
            f"{row.place}: a row must be an object with {', '.join(COLUMNS)}, but is {kind}.",
        )
    if None in row.content:  # csv.DictReader's place for cells beyond the header
        return (
            "wrong number of cells",
            f"{row.place}: has more cells than the header. Put quotes around texts that hold a comma.",
        )
    for column, value in zip(COLUMNS, row.values(), strict=True):
        if value is None:
            return f"no {column}", f"{row.place}: {column} is missing or null. Fill it in, or remove the row."
        if not isinstance(value, str):
            return (
                f"{column} not a text",
                f"{row.place}: {column} must be a text, but is {type(value).__name__} ({str(value)[:40]}).",
            )
        if len(value) > MAX_CHARACTERS[column]:
            raise SourceError(
                f"{row.place}: {column} has {len(value):,} characters, more than the "
                f"{MAX_CHARACTERS[column]:,} that are read. Check that the file is what it should be "
                "(a quote left open?), or remove the row."
            )
        if not value.strip():
            return f"empty {column}", f"{row.place}: {column} is empty. Fill it in, or remove the row."
        if _SURROGATE.search(value):
            return (
                f"{column} not Unicode",
                f"{row.place}: {column} holds half of a surrogate pair (\\ud800-\\udfff). Mend the text.",
            )
    db_id = str(row.content["db_id"])
    if schemas and db_id not in schemas:
        near = get_close_matches(db_id, schemas, n=1)
        hint = f"Did you mean {near[0]!r}? " if near else ""
        return (
            "unknown schema",
            f"{row.place}: no schema for db_id {db_id!r} ({len(schemas)} known). {hint}"
            "Add it to tables.json.",
        )
    return None
