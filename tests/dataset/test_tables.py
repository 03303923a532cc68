"""The configs' rows, and what they have to do with each other."""

from __future__ import annotations

from typing import Any

import pytest

from spider_compose.dataset.configs import CONFIGS, DEFAULT_CONFIG, composed_config
from spider_compose.dataset.tables import ConfigTable, SplitOptions, Tables
from spider_compose.errors import OptionError
from spider_compose.source import Source, read_source
from spider_compose.splits.overlap import row_clause_keys
from spider_compose.splits.template import template_of


@pytest.fixture(scope="module")
def bundled() -> Source:
    return read_source("bundled")


@pytest.fixture(scope="module")
def made(bundled: Source) -> dict[str, ConfigTable]:
    tables = Tables(bundled)
    return {name: tables.table(spec) for name, spec in CONFIGS.items()}


def parts(table: ConfigTable, column: str = "query") -> dict[str, set[Any]]:
    return {split: {row[column] for row in rows} for split, rows in table.rows.items()}


def test_every_config_has_the_splits_it_names(made: dict[str, ConfigTable]) -> None:
    for name, table in made.items():
        assert tuple(table.rows) == CONFIGS[name].splits
        assert all(table.rows.values())


def test_the_default_is_the_build_with_default_options(made: dict[str, ConfigTable]) -> None:
    assert composed_config()[0].name == DEFAULT_CONFIG
    assert "aligner:segment" in made["compose"].signature and "aliases:resolved" in made["compose"].signature
    assert "aligner:keyword" in made["compose_paper"].signature


def test_compose_configs_differ_in_text_not_in_clauses(made: dict[str, ConfigTable]) -> None:
    ours, paper = (
        {row["id"]: row for rows in made[name].rows.values() for row in rows}
        for name in ("compose", "compose_paper")
    )
    common = ours.keys() & paper.keys()
    assert len(common) > 0.9 * len(ours)
    assert any(ours[key]["question"] != paper[key]["question"] for key in common)
    assert all(ours[key]["clause_types"] == paper[key]["clause_types"] for key in common)


@pytest.mark.parametrize("name", ["spider_template", "spider_tmcd", "spider_length", "spider_random"])
def test_splits_hold_every_training_pair_once(name: str, made: dict[str, ConfigTable]) -> None:
    rows = [row["id"] for split in made[name].rows.values() for row in split]
    assert sorted(rows) == sorted(row["id"] for row in made["spider"].rows["train"])
    sizes = [len(split) / len(rows) for split in made[name].rows.values()]
    assert sizes == pytest.approx([0.75, 0.125, 0.125], abs=0.03)


def test_no_template_is_in_two_parts(made: dict[str, ConfigTable]) -> None:
    found = {
        split: {template_of(query) for query in queries}
        for split, queries in parts(made["spider_template"]).items()
    }
    assert not found["train"] & found["validation"]
    assert not found["train"] & found["test"]
    assert not found["validation"] & found["test"]


def test_tmcd_validation_and_test_share_no_query(made: dict[str, ConfigTable]) -> None:
    found = parts(made["spider_tmcd"])
    assert not found["validation"] & found["test"]


def test_no_test_clause_is_left_without_overlap(made: dict[str, ConfigTable]) -> None:
    whole, cut = made["compose"].rows, made["compose_no_overlap"].rows
    assert (cut["validation"], cut["test"]) == (whole["validation"], whole["test"])
    assert 0 < len(cut["train"]) < len(whole["train"])
    assert {row["id"] for row in cut["train"]} < {row["id"] for row in whole["train"]}
    test_clauses = set().union(*row_clause_keys(cut["test"]).values())
    assert all(test_clauses.isdisjoint(keys) for keys in row_clause_keys(cut["train"]).values())


@pytest.mark.parametrize(
    ("config", "options"),
    [
        ("spider_template", {"seed": 2}),
        ("spider_tmcd", {"method": "max"}),
        ("spider_random", {"fractions": "50/25/25"}),
        ("spider_length", {"split_source": "all"}),
        ("compose_no_overlap", {"overlap": "value_blind"}),
    ],
)
def test_split_options_count(
    config: str, options: dict[str, Any], bundled: Source, made: dict[str, ConfigTable]
) -> None:
    changed = Tables(bundled, splits=SplitOptions(**options)).table(CONFIGS[config])
    assert changed.rows["train"] != made[config].rows["train"]
    assert changed.signature != made[config].signature


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"fractions": "75"}, "three percentages"),
        ({"fractions": "80/30/10"}, "add up to 1"),
        ({"fractions": "a/b/c"}, "three percentages"),
        ({"method": "maxi"}, "Did you mean 'max'"),
        ({"split_source": "test"}, "must be one of"),
        ({"overlap": "canonicl"}, "Did you mean 'canonical'"),
    ],
)
def test_wrong_split_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        SplitOptions(**options)


def test_processes_share_the_work_without_moving_a_row(bundled: Source, made: dict[str, ConfigTable]) -> None:
    tables = Tables(bundled, workers=2)
    tables.build(CONFIGS["compose"])
    further = [spec for name, spec in CONFIGS.items() if name not in ("compose", "alignment")]
    found, without = tables.further(further)
    assert not without
    assert [(table.spec, table.rows, table.signature) for table in found] == [
        (made[spec.name].spec, made[spec.name].rows, made[spec.name].signature) for spec in further
    ]
