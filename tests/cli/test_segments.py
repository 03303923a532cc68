from __future__ import annotations

from collections.abc import Callable

import pytest

from spider_compose.cli.segments import clauses_of_words, intervals, segments, sql_parts
from spider_compose.cli.selection import Row
from spider_compose.composition.build import BuildOptions, compose_row
from spider_compose.terminal import visible


def test_segments_give_the_question_back(piers: Row, hostile: Row) -> None:
    for row in (piers, hostile):
        assert "".join(segment.text for segment in segments(row)) == row["question"]


def test_neighbours_of_the_same_clauses_are_one_segment(piers: Row) -> None:
    assert [(segment.text, segment.clauses) for segment in segments(piers)] == [
        ("Show  the", (0,)),
        (" ", ()),
        ("piers", (0, 1)),
        (" ", ()),
        ("with cranes,", (1,)),
        (" ", ()),
        ("longest first.", (2,)),
    ]


def test_white_space_at_the_ends_and_words_of_no_clause(alignment: Callable[..., Row]) -> None:
    row = alignment("  Oh, hi \n", ["Oh", ",", "hi"], [("SELECT", "SELECT 1", [2])], [-1, -1, 0])
    assert [(segment.text, segment.clauses) for segment in segments(row)] == [
        ("  ", ()),
        ("Oh,", ()),
        (" ", ()),
        ("hi", (0,)),
        (" \n", ()),
    ]


def test_clauses_of_words(piers: Row) -> None:
    assert clauses_of_words(piers)[1:4] == [(0,), (0, 1), (1,)]


@pytest.mark.parametrize(
    ("ids", "expected"), [([], ""), ([3], "3"), ([0, 1, 2, 5], "0–2, 5"), ([0, 2, 3], "0, 2–3")]
)
def test_intervals(ids: list[int], expected: str) -> None:
    assert intervals(ids) == expected


@pytest.mark.parametrize("resolve", [False, True])
def test_parts_of_recombined_queries(alignment: Callable[..., Row], resolve: bool) -> None:
    row = alignment(
        "piers of old towns",
        ["piers", "of", "old", "towns"],
        [
            ("SELECT", "SELECT T1.a FROM pier AS T1 JOIN town AS T2 ON T1.b = T2.b", [0]),
            ("WHERE", "WHERE T2.age > 99", [1, 2, 3]),
            ("ORDER BY", "ORDER BY T1.a", [1]),
        ],
        [0, -1, 1, 1],
    )
    pairs = list(compose_row(row, BuildOptions(resolve_aliases=resolve)))
    parts = sql_parts(row, pairs)
    assert [" ".join(sql for _, sql in one) for one in parts] == [pair["query"] for pair in pairs]
    assert [[kind for kind, _ in one] for one in parts] == [pair["clause_types"] for pair in pairs]
    assert parts[1] == [("WHERE", "WHERE town.age > 99" if resolve else "WHERE T2.age > 99")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\n\tb  c ", "a b c"),
        ("\x1b]0;title\x07", "\\x1b]0;title\\x07"),
        ("left\u202eright\u2028x", "left\\u202eright x"),
        ("Füße – 漢字", "Füße – 漢字"),
    ],
)
def test_visible(text: str, expected: str) -> None:
    assert visible(text) == expected
