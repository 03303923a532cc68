"""The published splits of Spider, row for row, and the figures measured on all reference splits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from spider_compose.splits import (
    SplitRows,
    divergence_report,
    remove_overlap,
    template_split,
    three_parts,
    tmcd_split,
)
from spider_compose.splits.compounds import analyse
from spider_compose.splits.overlap import clauses_of, row_clause_keys
from spider_compose.splits.template import template_of
from spider_compose.splits.text import normalize_query, query_tokens

pytestmark = pytest.mark.real_data

Rows = list[dict[str, Any]]
Reference = Callable[[str], dict[str, Any]]


def corpus(name: str, spider_rows: Rows, reference: Reference) -> tuple[list[int], Rows]:
    """Numbers in Spider's training split, and rows, of "ssp" or "7000"."""
    numbers = reference("ssp_rows")["ssp_train_rows"] if name == "ssp" else list(range(len(spider_rows)))
    return numbers, [spider_rows[number] for number in numbers]


@pytest.mark.parametrize(("name", "size"), [("ssp", 3282), ("7000", 5250)])
@pytest.mark.parametrize("split", [template_split, tmcd_split], ids=["template", "tmcd"])
def test_published_rows(
    split: Callable[[Rows, int], SplitRows], name: str, size: int, spider_rows: Rows, reference: Reference
) -> None:
    numbers, rows = corpus(name, spider_rows, reference)
    found = split(rows, size)
    expected = reference(f"published_{split.__name__.removesuffix('_split')}_{name}")

    def contents(part: list[int]) -> Counter[tuple[str, ...]]:
        return Counter(tuple(spider_rows[row][key] for key in ("db_id", "question", "query")) for row in part)

    for part in ("train", "rest"):
        assert contents([numbers[row] for row in getattr(found, part)]) == contents(expected[part])
        assert [numbers[row] for row in getattr(found, part)] == expected[part]  # the very numbers, in order
    assert not found.left_out


@pytest.mark.parametrize(
    ("name", "divergence", "unseen", "templates"),
    [
        ("released_tmcd_1", 0.2094, 0, 127),
        ("released_template_1", 0.0830, 332, 19),
        ("released_length_1", 0.0792, 300, 366),
        ("released_random_1", 0.0271, 68, 818),
        ("published_tmcd_ssp", 0.1504, 0, 161),
        ("published_tmcd_7000", 0.1608, 0, 170),
        ("published_template_ssp", 0.0911, 290, 0),
        ("published_template_7000", 0.0907, 458, 0),
    ],
)
def test_measured_figures(
    name: str, divergence: float, unseen: int, templates: int, spider_rows: Rows, reference: Reference
) -> None:
    parts = reference(name)
    train, rest = ([spider_rows[row] for row in parts[part]] for part in ("train", "rest"))
    report = divergence_report(train, rest, clauses=False)
    assert report.compound_divergence == pytest.approx(divergence, abs=1e-4)
    assert (report.unseen_atom_rows, report.shared_templates) == (unseen, templates)
    assert not report.train_left_out and not report.test_left_out


def test_validation_rows_outside_the_grammar(shared_path: Callable[[str], Path]) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    rows = parquet.read_table(shared_path("spider/validation-00000-of-00001.parquet")).to_pylist()
    analysis = analyse(rows)
    assert analysis.grammar == "spider"
    left_out = [rows[entry.row]["query"] for entry in analysis.left_out]
    assert (len(left_out), len(set(left_out))) == (6, 3)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "size", "least"), [("ssp", 3282, 0.43), ("7000", 5250, 0.41)])
def test_max(name: str, size: int, least: float, spider_rows: Rows, reference: Reference) -> None:
    _, rows = corpus(name, spider_rows, reference)
    split = tmcd_split(rows, size, method="max")
    assert (len(split.train), len(split.rest)) == (size, len(rows) - size)
    train, rest = ([rows[row] for row in part] for part in (split.train, split.rest))
    report = divergence_report(train, rest, clauses=False)
    assert report.compound_divergence >= least
    assert report.unseen_atom_rows == 0


@pytest.mark.parametrize("split", ["template", "tmcd", "length", "random"])
def test_three_parts(split: str, spider_rows: Rows) -> None:
    parts = three_parts(spider_rows, split)
    names = ("train", "validation", "test")
    numbers = {name: getattr(parts, name) for name in names}
    assert sorted(sum(numbers.values(), ())) == list(range(7000))
    if split == "template":
        assert {name: len(rows) for name, rows in numbers.items()} == {
            "train": 5247,
            "validation": 874,
            "test": 879,
        }
        templates = [{template_of(spider_rows[row]["query"]) for row in part} for part in numbers.values()]
        assert len(set.union(*templates)) == sum(map(len, templates))
    else:
        assert [len(rows) for rows in numbers.values()] == [5250, 875, 875]
    if split in ("tmcd", "length"):
        queries = {
            name: {normalize_query(spider_rows[row]["query"]) for row in rows}
            for name, rows in numbers.items()
        }
        assert not queries["validation"] & queries["test"]
        lengths = {
            name: [len(query_tokens(query)) for query in queries[name]] for name in ("validation", "test")
        }
        means = [sum(own) / len(own) for own in lengths.values()]
        assert abs(means[0] - means[1]) < 0.5
    if split == "tmcd":
        atoms = {
            name: {a for row in rows for a in query_tokens(spider_rows[row]["query"])}
            for name, rows in numbers.items()
        }
        assert atoms["validation"] | atoms["test"] <= atoms["train"]


def test_no_test_clause_is_left(spider_rows: Rows) -> None:
    train, test = spider_rows[:6000], spider_rows[6000:]
    result = remove_overlap(train, test)
    assert not result.left_out
    assert sorted(result.kept + result.removed) == list(range(6000))
    forbidden = frozenset().union(*row_clause_keys(test).values())
    assert len(forbidden) == result.test_clauses
    for row in result.kept:
        assert forbidden.isdisjoint(row_clause_keys([train[row]])[0])
    # And in words: no clause that names no table of its query stands in both.
    plain = {clause for row in test for clause in clauses_of(row["query"]) if "." not in clause}
    kept = {clause for row in result.kept for clause in clauses_of(train[row]["query"])}
    assert plain and not plain & kept
