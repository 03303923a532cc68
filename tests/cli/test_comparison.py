"""Configs measured: figures by hand, the grammar that all have in common, what cannot be compared."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from spider_compose.cli.comparison import (
    Measured,
    best_held_out,
    common_grammar,
    figures,
    measure,
    render,
)

Rows = Mapping[str, Sequence[Mapping[str, Any]]]

STARTS = {"select": "SELECT", "where": "WHERE", "order": "ORDER BY"}


def config(**parts: Sequence[str]) -> Rows:
    """Rows by split from queries; the first word says whether a query is whole."""
    return {
        split: [
            {
                "query": query,
                "question": "what is a ?",
                "num_clauses": 1 + query.count("where") if query.startswith("select") else 1,
                "clause_types": [STARTS[query.split()[0]]],
                "source_split": "train",
                "source_row": row,
            }
            for row, query in enumerate(queries)
        ]
        for split, queries in parts.items()
    }


PLAIN = config(
    train=["select a from t where b = 1", "select a from t", "where b = 2", "order by a"],
    test=["select a from t where b = 2", "select d from t", "where b = 2"],
)
OTHER_SQL = config(train=["select a from t left join u on t.a = u.a", "select a from t"], test=["select 1"])
BROKEN = config(train=["select a from t", "select b from t"], test=["where a = 1"])


@pytest.fixture(scope="module")
def measured() -> list[Measured]:
    return [measure("plain", PLAIN, "sig", held_out=("test",)), measure("broken", BROKEN, "sig")]


def test_figures_by_hand(measured: list[Measured]) -> None:
    plain = measured[0]
    assert plain.sizes == {"train": 4, "test": 3}
    assert plain.grammar == "spider"
    report = plain.reports["test"]
    assert [figure.told for figure in figures(report)] == [
        f"{report.compound_divergence:.4f}",
        "1 of 3 (33.3 %)",  # d
        "2 of 3 (66.7 %)",  # all but that of d
        "2 of 3 (66.7 %)",  # `select a from t` and `where b = 2`
        "2 of 3 (66.7 %)",
        "2 / 1",
    ]
    assert [figure.share for figure in figures(report)] == pytest.approx(
        [report.compound_divergence, 1 / 3, 2 / 3, 2 / 3, 2 / 3, 3 / 7]
    )
    assert 0 < report.compound_divergence < 1


def test_a_part_that_no_grammar_reads_is_not_compared(measured: list[Measured]) -> None:
    broken = measured[1]
    assert dict(broken.reports) == {}
    assert "the test set has no compounds" in broken.not_compared["test"]
    assert "not compared: broken test: the test set has no compounds" in render(measured)
    assert broken.to_dict()["not_compared"] == dict(broken.not_compared)
    assert broken.sizes == {"train": 2, "test": 1}


@pytest.mark.parametrize(
    ("configs", "expected"),
    [
        pytest.param([PLAIN], "spider", id="pieces-have-no-say"),
        pytest.param([OTHER_SQL], "sqlglot", id="sql-outside-the-grammar"),
        pytest.param([config(train=["select a from t"] * 99), OTHER_SQL], "sqlglot", id="each-counts-alone"),
        pytest.param([config(train=["where a = 1"]), PLAIN], "spider", id="no-whole-query"),
        pytest.param([config(train=["where a = 1"])], "sqlglot", id="nothing-to-read"),
    ],
)
def test_common_grammar(configs: list[Rows], expected: str) -> None:
    assert common_grammar(configs) == expected


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (config(train=["select 1"], validation=["select 1"], test=["select 1"]), ("test",)),
        (config(train=["select 1"], validation=["select 1"], test=[]), ("validation",)),
        (config(train=["select 1"], validation=["select 1"]), ("validation",)),
        (config(train=["select 1"]), ()),
    ],
)
def test_best_held_out(rows: Rows, expected: tuple[str, ...]) -> None:
    assert best_held_out(rows) == expected


def test_an_empty_part_is_told() -> None:
    found = measure("half", config(train=["select a from t"], validation=["select a from t"], test=[]))
    assert list(found.reports) == ["validation"]
    assert dict(found.not_compared) == {"test": "it has no rows"}


def test_without_held_out_rows_there_are_sizes_and_lengths() -> None:
    alone = measure("alone", config(train=["select a from t"]), held_out=())
    text = render([alone])
    assert text.startswith("rows   train\nalone      1\n\nLength of SQL")
    assert "unseen" not in text


def test_text(golden: Callable[[str, Any], None], measured: list[Measured]) -> None:
    golden("cli/comparison.txt", render(measured) + "\n")
