"""What compare and monitor measure of scored rows, in points from 0 to 100, and which rows ask the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from spider_compose.errors import choose

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]

# Each measure with the columns it is read from.
MEASURES: dict[str, tuple[str, ...]] = {
    "score": ("score",),
    "score_unscored_as_0": ("score",),
    "coverage": ("score",),
    "enrichment_quality": ("enrichment_quality",),
    "p_correct": ("p_correct",),
}

# What tells two questions apart: the database, and the words without case and spacing.
QUESTION_COLUMNS = ("database", "question", "enriched_question")


def values(table: pa.Table, measure: str) -> Floats:
    """One measure of every row.

    Args:
        table: scored rows; see `monitoring.scored`.
        measure: a name of `MEASURES`.

    Returns:
        Of shape `(num_rows,)`, 0 to 100 and higher is better; NaN where a row has no such value (an unscored
        row has no score, a row without an enriched question no enrichment quality).

    Raises:
        OptionError: there is no such measure.
    """
    (column,) = MEASURES[choose("measure", measure, MEASURES)]
    given = table.column(column)
    if measure == "coverage":
        return np.asarray(pc.is_valid(given), dtype=np.float64) * 100.0
    found = np.asarray(given.cast(pa.float64()).to_numpy(), dtype=np.float64)
    if measure == "score_unscored_as_0":
        return np.nan_to_num(found, nan=0.0)
    return found if measure == "score" else found * 100.0


def question_codes(tables: Sequence[pa.Table], by: str = "question") -> tuple[list[Codes], pa.Array]:
    """Which rows ask the same question of the same database.

    Args:
        tables: with the columns `QUESTION_COLUMNS`, or `key`.
        by: "question", or "key" where rows of one key belong together.

    Returns:
        For each table the code of every row's question; and what the codes stand for, in order. A row without
        a user's question stands under its enriched question, as the score reads it.
    """
    texts = [_text(table) if by == "question" else table.column("key") for table in tables]
    encoded = pa.chunked_array([chunk for text in texts for chunk in text.chunks], pa.string())
    encoded = encoded.dictionary_encode().combine_chunks()
    if isinstance(encoded, pa.ChunkedArray):  # without a row
        return [np.zeros(0, np.int64) for _ in tables], pa.array([], pa.string())
    codes: Codes = np.asarray(encoded.indices, dtype=np.int64)
    ends = np.cumsum([table.num_rows for table in tables])[:-1]
    return np.split(codes, ends), encoded.dictionary


def _text(table: pa.Table) -> pa.ChunkedArray:
    database, question, enriched = (table.column(name).cast(pa.string()) for name in QUESTION_COLUMNS)
    empty = pc.fill_null(pc.equal(question, ""), True)
    words = pc.fill_null(pc.if_else(empty, enriched, question), "")
    words = pc.utf8_trim_whitespace(pc.replace_substring_regex(pc.utf8_lower(words), r"\s+", " "))
    joined: Any = pc.binary_join_element_wise(pc.fill_null(database, ""), words, "\x1f")
    return joined if isinstance(joined, pa.ChunkedArray) else pa.chunked_array([joined])
