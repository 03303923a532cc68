"""Scored rows as the arrays that `monitoring.drift` watches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from spider_compose.stef.monitoring.measures import QUESTION_COLUMNS, Codes, Floats, question_codes, values

WATCHED = ("score", "coverage", "enrichment_quality")
COLUMNS = ("key", "time", "agent", *QUESTION_COLUMNS, "score", "enrichment_quality")
GROUPINGS = ("agent", "database")


@dataclass(frozen=True)
class Rows:
    """Scored rows as arrays.

    Attributes:
        keys: the streams there are.
        stream: of each row, a place in `keys`.
        time: microseconds since 1970.
        question: of each row, a place in `questions`.
        questions: their texts.
        values: of shape `(num_rows, len(WATCHED))`, points; NaN where there is none.
        without_time: rows left out, for they have no time.
    """

    keys: tuple[tuple[str, ...], ...]
    stream: Codes
    time: Codes
    question: Codes
    questions: pa.Array
    values: Floats
    without_time: int


def read_rows(table: pa.Table, by: Sequence[str] = ("agent",)) -> Rows:
    """Arrays of a table with `COLUMNS`; rows without a time are counted and left out."""
    there = np.asarray(table["time"].is_valid())
    without = int((~there).sum())
    table = table.filter(pa.array(there)) if without else table
    silent = not any(_said(table, name) for name in ("question", "enriched_question"))
    (question,), questions = question_codes([table], "key" if silent else "question")
    stream, keys = _streams(table, by)
    measured = [values(table, name) for name in WATCHED]
    time = np.asarray(table["time"].cast(pa.timestamp("us", "UTC")).cast(pa.int64()), dtype=np.int64)
    return Rows(keys, stream, time, question, questions, np.stack(measured, axis=1), without)


def _said(table: pa.Table, name: str) -> bool:
    return any(value for value in table[name].cast(pa.string()).unique()[:2].to_pylist())


def _streams(table: pa.Table, by: Sequence[str]) -> tuple[Codes, tuple[tuple[str, ...], ...]]:
    codes: Codes = np.zeros(table.num_rows, np.int64)
    found: list[list[str]] = []
    for name in by:
        column = table[name].cast(pa.string()).fill_null("").combine_chunks().dictionary_encode()
        codes = codes * max(len(column.dictionary), 1) + np.asarray(column.indices, dtype=np.int64)
        found.append(column.dictionary.to_pylist())
    present, codes = np.unique(codes, return_inverse=True)
    keys = []
    for code in present.tolist():
        key = []
        for names in reversed(found):
            code, place = divmod(code, len(names))
            key.append(names[place])
        keys.append(tuple(reversed(key)))
    return codes.reshape(-1).astype(np.int64), tuple(keys)
