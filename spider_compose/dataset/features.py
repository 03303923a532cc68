"""The columns of every config: name, type and meaning, written down once.

From these tables come the features of the builder, the Arrow schemas of the Parquet files, the YAML of the
dataset card and its list of columns.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import datasets
    import pyarrow

ColumnType = str | list[Any]
"""A scalar's name as Arrow and datasets call it, or a list of one type: `["string"]`, `[["int32"]]`."""


@dataclass(frozen=True)
class Column:
    """One column.

    Attributes:
        name: as it stands in the rows.
        type: "string", "int32", or a list: `["string"]` is a list of strings.
        meaning: one line, for the card; units and counting base included.
    """

    name: str
    type: ColumnType
    meaning: str


_CLAUSE_TYPES = "SELECT, WHERE, GROUP BY, ORDER BY, INTERSECT, UNION or EXCEPT"

_SOURCE_SPLIT = Column("source_split", "string", "part of the source the row comes from: train or validation")
_SOURCE_ROW = Column("source_row", "int32", "its row in that part of the source, from 0")
_DB_ID = Column("db_id", "string", "name of the database")
_CONFIDENCE = Column(
    "alignment_confidence",
    "float64",
    "how far to trust the alignment of the source pair, 0 to 1: estimated share of words in the right "
    "clause; null where whole pairs were taken and nothing was aligned",
)

PAIR_COLUMNS = (
    Column("id", "string", "names source part, source row and clause subset; unique in the dataset"),
    _DB_ID,
    Column("query", "string", "SQL: the chosen clauses of the source query, in its order"),
    Column("question", "string", "text: the words of the source question that belong to these clauses"),
    Column("clause_types", ["string"], f"type of each clause in `query`: {_CLAUSE_TYPES}"),
    Column("num_clauses", "int32", "number of clauses in `query`"),
    _SOURCE_SPLIT,
    _SOURCE_ROW,
    Column("clause_subset", ["int32"], "indices of the chosen clauses in the source query, from 0, rising"),
    _CONFIDENCE,
)

ALIGNMENT_COLUMNS = (
    _SOURCE_SPLIT,
    _SOURCE_ROW,
    _DB_ID,
    Column("question", "string", "the source question, unchanged"),
    Column("query", "string", "the source query, unchanged"),
    Column("tokens", ["string"], "tokens of the question"),
    Column(
        "token_spans", [["int32"]], "[start, end] of each token: characters of the question, end excluded"
    ),
    Column("tags", ["int32"], "clause index per token as the aligner tagged it; -1 for none"),
    Column("clause_types", ["string"], f"type of each clause of the query: {_CLAUSE_TYPES}"),
    Column(
        "clause_sql", ["string"], "text of each clause; joined with single spaces they give the query back"
    ),
    Column("clause_token_ids", [["int32"]], "per clause, indices of its tokens; clauses may share tokens"),
    Column(
        "joining_ids",
        ["int32"],
        "indices of tokens that only join two clauses (and, comma); a text has them where it has both",
    ),
    Column(
        "fragments", ["string"], "per clause, the text cut from the question; empty where it has no words"
    ),
    _CONFIDENCE,
)

COLUMNS: Mapping[str, tuple[Column, ...]] = MappingProxyType(
    {"pairs": PAIR_COLUMNS, "alignment": ALIGNMENT_COLUMNS}
)
"""Columns by the kind of a config's rows (see `configs.py`)."""


EXTRA_COLUMNS: Mapping[str, Column] = MappingProxyType(
    {
        column.name: column
        for column in (
            Column("other_queries", ["string"], "further SQL that the source has for the question"),
            Column("evidence", "string", "what one must know to write the SQL, as the source says"),
        )
    }
)
"""Columns that only some sources have, on rows that are whole source pairs (`ConfigSpec.extra`)."""


def columns(kind: str, extra: Sequence[str] = ()) -> tuple[Column, ...]:
    """The columns of one kind.

    Args:
        extra: names of further ones, of `EXTRA_COLUMNS`.
    """
    return (*COLUMNS[kind], *(EXTRA_COLUMNS[name] for name in extra))


def features(kind: str, extra: Sequence[str] = ()) -> datasets.Features:
    """The columns of one kind as `datasets.Features`, in the installed version's own classes."""
    from datasets import Features, Value
    from datasets import Sequence as ListOf

    def feature(type_: ColumnType) -> Any:
        # Since 4.0, a Sequence of anything but a dict is a `List`.
        return ListOf(feature(type_[0])) if isinstance(type_, list) else Value(type_)

    return Features({column.name: feature(column.type) for column in columns(kind, extra)})


def arrow_schema(kind: str, extra: Sequence[str] = ()) -> pyarrow.Schema:
    """The columns of one kind as an Arrow schema whose metadata names the features for `load_dataset`."""
    import pyarrow as pa

    def arrow_type(type_: ColumnType) -> Any:
        return pa.list_(arrow_type(type_[0])) if isinstance(type_, list) else pa.type_for_alias(type_)

    def feature(type_: ColumnType) -> Any:
        # "Sequence" is the one name for a list that every version of datasets reads.
        if isinstance(type_, list):
            return {"feature": feature(type_[0]), "_type": "Sequence"}
        return {"dtype": type_, "_type": "Value"}

    described = {"info": {"features": {column.name: feature(column.type) for column in columns(kind, extra)}}}
    return pa.schema(
        [(column.name, arrow_type(column.type)) for column in columns(kind, extra)],
        metadata={"huggingface": json.dumps(described)},
    )


def yaml_features(kind: str, extra: Sequence[str] = ()) -> list[dict[str, Any]]:
    """The columns of one kind as the `features` entry of a dataset card's YAML."""

    def inner(type_: ColumnType) -> dict[str, Any]:
        if isinstance(type_, list):
            return {"sequence": type_[0] if isinstance(type_[0], str) else inner(type_[0])}
        return {"dtype": type_}

    return [{"name": column.name, **inner(column.type)} for column in columns(kind, extra)]
