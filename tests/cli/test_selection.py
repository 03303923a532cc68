"""Which pairs are chosen, from a source and from a built folder alike."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spider_compose.cli.built_folder import built_folder
from spider_compose.cli.selection import (
    Filters,
    Row,
    Selection,
    clause_pattern,
    confidence,
    select_from_folder,
    select_from_source,
    spread,
)
from spider_compose.composition import build as build_module
from spider_compose.composition.build import BuildOptions
from spider_compose.errors import OptionError, SourceError
from spider_compose.source import read_source

Select = Callable[[Filters], Selection]


@pytest.fixture(params=["source", "folder"])
def select(request: pytest.FixtureRequest, tiny: Path, tiny_folder: Path) -> Select:
    if request.param == "source":
        return lambda filters: select_from_source(read_source(tiny), BuildOptions(), filters)
    folder = built_folder(str(tiny_folder))
    assert folder is not None
    return lambda filters: select_from_folder(folder, filters)


def chosen(selection: Selection) -> list[str]:
    return [f"{rows[0]['source_split']} {rows[0]['source_row']}" for rows in selection.alignments]


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        pytest.param(Filters(split="validation"), [f"validation {row}" for row in range(4)], id="split"),
        pytest.param(Filters(split="train", rows=(11, 3)), ["train 3", "train 11"], id="rows"),
        pytest.param(Filters(db_id="lighthouse", limit=2), ["validation 1", "validation 3"], id="database"),
        pytest.param(Filters(text="SPELT"), ["train 10"], id="text of the question, in any case"),
        pytest.param(Filters(text="avg("), ["train 6"], id="text of the query"),
        pytest.param(
            Filters(clauses=("SELECT", "WHERE", "ORDER BY")),
            ["train 7", "train 8", "validation 2"],
            id="clauses",
        ),
        pytest.param(Filters(num_clauses=4), ["train 9"], id="number"),
        pytest.param(Filters(num_clauses=3, split="train", text="wheat"), ["train 7"], id="together"),
        pytest.param(Filters(limit=1), ["train 8"], id="the one in the middle"),
        pytest.param(
            Filters(limit=99, num_clauses=1), ["train 0", "validation 0"], id="fewer than the limit"
        ),
    ],
)
def test_filters(select: Select, filters: Filters, expected: list[str]) -> None:
    assert chosen(select(filters)) == expected


def test_counts(select: Select) -> None:
    selection = select(Filters(num_clauses=2, limit=3))
    assert (len(selection.alignments), selection.matching, selection.total) == (3, 7, 16)
    assert selection.aligners == ("segment",)


@pytest.mark.parametrize(
    ("filters", "says"),
    [
        (Filters(split="train", rows=(12,)), "no pair passes (split train, rows 12). Loosen"),
        (Filters(text="zebra", num_clauses=2), "no pair passes (text zebra, num clauses 2)"),
    ],
)
def test_nothing_passes(select: Select, filters: Filters, says: str) -> None:
    with pytest.raises(SourceError) as caught:
        select(filters)
    assert says in str(caught.value)


def test_unknown_database(select: Select) -> None:
    with pytest.raises(
        OptionError, match=r"one of the 2 databases, but got 'bakry'. Did you mean 'bakery'\?"
    ):
        select(Filters(db_id="bakry"))


def test_confidence_of_an_aligner_that_has_none(alignment: Callable[..., Row]) -> None:
    row = alignment("a", ["a"], [("SELECT", "SELECT 1", [0])], [0])
    with pytest.raises(OptionError, match="gives no confidence"):
        Filters(least_sure=3).chosen([row])


def test_a_row_that_was_left_out_is_named_with_its_reason(write_corpus: Callable[..., Path]) -> None:
    source = read_source(write_corpus(("zoo", "SELECT 1", " "), ("zoo", "SELECT 1", "One?")))
    with pytest.raises(SourceError, match=r"It was left out: train\.json, row 0: question is empty"):
        select_from_source(source, BuildOptions(), Filters(split="train", rows=(0,)))


@pytest.mark.parametrize(
    ("filters", "most"),
    [(Filters(limit=2), 2), (Filters(split="train", rows=(4,)), 1), (Filters(num_clauses=4, limit=9), 1)],
)
def test_only_what_is_shown_is_aligned(
    tiny: Path, monkeypatch: pytest.MonkeyPatch, filters: Filters, most: int
) -> None:
    asked: list[str] = []
    read = build_module.read_words

    def counted(questions: Any, *rest: Any) -> Any:
        questions = list(questions)
        asked.extend(questions)
        return read(questions, *rest)

    monkeypatch.setattr(build_module, "read_words", counted)
    select_from_source(read_source(tiny), BuildOptions(), filters)
    assert len(asked) == most


def test_a_pair_is_aligned_alone_as_it_is_among_all(tiny: Path) -> None:
    source = read_source(tiny)
    everything = select_from_source(source, BuildOptions(), Filters())
    for rows in everything.alignments:
        filters = Filters(split=rows[0]["source_split"], rows=(rows[0]["source_row"],))
        assert select_from_source(source, BuildOptions(), filters).alignments == (rows,)


def test_two_aligners(tiny: Path) -> None:
    selection = select_from_source(
        read_source(tiny), BuildOptions(), Filters(limit=2), ("keyword", "segment")
    )
    assert selection.aligners == ("keyword", "segment")
    assert all(len(rows) == 2 and rows[0]["question"] == rows[1]["question"] for rows in selection.alignments)
    assert [line.count("aligner:") for line in selection.signature.splitlines()] == [1, 1]


def test_of_two_aligners_the_first_that_knows_decides_who_is_least_sure(tiny: Path) -> None:
    both = ("keyword", "segment")
    selection = select_from_source(read_source(tiny), BuildOptions(), Filters(least_sure=3), both)
    found = [confidence(rows) for rows in selection.alignments]
    everything = select_from_source(read_source(tiny), BuildOptions(), Filters(), both)
    assert None not in found
    assert found == sorted(confidence(rows) or 0.0 for rows in everything.alignments)[:3]


@pytest.mark.parametrize(
    ("confidences", "expected"), [([None, 0.5], 0.5), ([0.4, 0.5], 0.4), ([0.0, 0.5], 0.0), ([None], None)]
)
def test_confidence(
    alignment: Callable[..., Row], confidences: list[float | None], expected: float | None
) -> None:
    clauses = [("SELECT", "SELECT 1", [0])]
    rows = [alignment("a", ["a"], clauses, [0], alignment_confidence=value) for value in confidences]
    assert confidence(rows) == expected


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (Filters(max_confidence=0.3), [2, 4]),
        (Filters(min_confidence=0.3), [0, 3, 4]),
        (Filters(min_confidence=0.3, max_confidence=0.5), [0, 4]),
        (Filters(least_sure=2), [2, 4]),
        (Filters(least_sure=9), [2, 4, 0, 3]),
        (Filters(least_sure=2, min_confidence=0.2), [4, 0]),
        (Filters(limit=2), [1, 3]),
    ],
)
def test_bounds_of_confidence(alignment: Callable[..., Row], filters: Filters, expected: list[int]) -> None:
    clauses = [("SELECT", "SELECT 1", [0])]
    rows = [
        alignment("a", ["a"], clauses, [0], source_row=row, alignment_confidence=value)
        for row, value in enumerate([0.5, None, 0.1, 1.0, 0.3])
    ]
    assert [row["source_row"] for row in filters.chosen(rows)] == expected


@given(st.lists(st.integers()), st.integers(1, 50))
def test_spread(rows: list[int], most: int) -> None:
    places = spread(list(range(len(rows))), most)
    assert len(places) == min(most, len(rows))
    assert places == sorted(set(places))
    if 0 < most < len(rows):  # the first and last are about half a step from the ends
        assert places[0] <= len(rows) / most
        assert places[-1] >= len(rows) - 1 - len(rows) / most


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("select", ("SELECT",)),
        ("SELECT + GROUP BY + ORDER BY", ("SELECT", "GROUP BY", "ORDER BY")),
        ("select,where,group_by", ("SELECT", "WHERE", "GROUP BY")),
        ("Select Union", ("SELECT", "UNION")),
    ],
)
def test_clause_pattern(text: str, expected: tuple[str, ...]) -> None:
    assert clause_pattern(text) == expected


@pytest.mark.parametrize(
    ("text", "says"), [("", "must name some of"), (" , ", "must name some of"), ("select, wher", "'WHERE'")]
)
def test_clause_pattern_refuses(text: str, says: str) -> None:
    with pytest.raises(OptionError, match=says):
        clause_pattern(text)
