from __future__ import annotations

import json

import datasets
import pyarrow as pa
import pytest

from spider_compose.composition.build import Build
from spider_compose.dataset.configs import CONFIGS
from spider_compose.dataset.features import COLUMNS, arrow_schema, features
from spider_compose.dataset.tables import Tables


@pytest.mark.parametrize("name", CONFIGS)
def test_rows_have_these_columns_and_no_gaps(name: str, tiny_build: Build) -> None:
    kind = CONFIGS[name].kind
    rows = Tables(tiny_build.source).table(CONFIGS[name]).rows["train"]
    table = pa.Table.from_pylist(rows, schema=arrow_schema(kind))
    assert all(row.keys() == set(table.column_names) for row in rows)
    empty = {name for name in table.column_names if table[name].null_count}
    aligned = CONFIGS[name].recipe in ("compose", "alignment", "no_overlap")
    assert empty == (set() if aligned else {"alignment_confidence"})
    assert table.to_pylist() == [{name: row[name] for name in table.column_names} for row in rows]


@pytest.mark.parametrize("kind", COLUMNS)
def test_arrow_schema_and_features_agree(kind: str) -> None:
    schema = arrow_schema(kind)
    assert features(kind).arrow_schema.remove_metadata() == schema.remove_metadata()
    described = json.loads(schema.metadata[b"huggingface"])["info"]["features"]
    assert datasets.Features.from_dict(described) == features(kind)


def test_types() -> None:
    assert features("pairs")["clause_types"] == datasets.Sequence(datasets.Value("string"))
    spans = features("alignment")["token_spans"]
    assert spans == datasets.Sequence(datasets.Sequence(datasets.Value("int32")))


def test_kinds_and_columns_fit() -> None:
    assert {spec.kind for spec in CONFIGS.values()} == set(COLUMNS)
    for columns in COLUMNS.values():
        assert len({column.name for column in columns}) == len(columns)
