"""What a clause says, and which words of a question speak for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from spider_compose.alignment.evidence import (
    KINDS,
    EvidenceWeights,
    clause_words,
    evidence,
    is_function_word,
    nearly,
    stem,
    word_forms,
)
from spider_compose.alignment.records import Word
from spider_compose.sql.clauses import split_clauses
from spider_compose.sql.schema import Column, Schema, Table


def word(text: str, lemma: str | None = None, tag: str = "NN") -> Word:
    return Word(text, lemma or text.lower(), tag, 0, len(text))


@pytest.mark.parametrize(
    ("text", "stemmed"),
    [
        ("countries", "country"),
        ("singers", "singer"),
        ("matches", "match"),
        ("classes", "class"),
        ("boxes", "box"),
        ("series", "sery"),
        ("bus", "bus"),
        ("class", "class"),
        ("is", "is"),
        ("movies", "movy"),
    ],
)
def test_stem(text: str, stemmed: str) -> None:
    assert stem(text) == stemmed


def test_word_forms_meet_numbers() -> None:
    assert {"three", "3"} <= word_forms(word("Three"))
    assert {"older", "old"} <= word_forms(word("older", "old", "JJR"))


QUERY = (
    "SELECT T1.name, count(*) FROM singer AS T1 JOIN concert AS T2 ON T1.singer_id = T2.singer_id "
    "WHERE T2.year >= 2014 AND T1.country = 'New France' GROUP BY T1.singer_id HAVING count(*) > 3 "
    "ORDER BY T1.age DESC LIMIT 1"
)
CANDIDATES = [
    ("columns and functions of SELECT", "SELECT", "column", {"name"}, {"singer_id", "age"}),
    ("tables SELECT takes columns of", "SELECT", "table", {"singer"}, {"concert"}),
    ("joined tables and join conditions", "SELECT", "joined", {"concert", "id"}, {"name"}),
    ("count", "SELECT", "function", {"number", "many"}, {"more"}),
    ("values, their words and numbers", "WHERE", "value", {"2014", "new", "france"}, {"t1"}),
    ("columns, not aliases", "WHERE", "column", {"year", "country"}, {"t2"}),
    ("tables of the columns", "WHERE", "qualifier", {"singer", "concert"}, {"stadium"}),
    ("comparisons", "WHERE", "function", {"after", "least"}, {"fewer"}),
    ("small numbers have names", "GROUP BY", "value", {"3", "three", "third"}, {"1"}),
    ("count(*) counts rows of all tables", "GROUP BY", "qualifier", {"concert"}, {"stadium"}),
    ("directions", "ORDER BY", "function", {"oldest", "descending", "top"}, {"youngest"}),
    ("nobody says LIMIT 1 as a number", "ORDER BY", "value", set(), {"1", "one", "first"}),
]


@pytest.mark.parametrize(
    ("clause", "kind", "present", "absent"), [c[1:] for c in CANDIDATES], ids=[c[0] for c in CANDIDATES]
)
def test_candidates(
    clause: str, kind: str, present: set[str], absent: set[str], read_pair: Callable[..., Any]
) -> None:
    _, candidates = read_pair("-", QUERY)
    (found,) = (one for one in candidates if one.type == clause)
    assert set(found.words) == set(KINDS)
    assert present <= found.words[kind]
    assert not absent & found.words[kind]


def test_ascending_is_the_default(read_pair: Callable[..., Any]) -> None:
    _, (_, order) = read_pair("-", "SELECT name FROM singer ORDER BY age")
    assert "youngest" in order.words["function"]


def test_double_quoted_texts_are_values(read_pair: Callable[..., Any]) -> None:
    _, (_, where) = read_pair("-", 'SELECT name FROM singer WHERE country = "Sky Radio"')
    assert {"sky", "radio"} <= where.words["value"]


def test_codes_stand_for_words(read_pair: Callable[..., Any]) -> None:
    _, (_, where) = read_pair("-", "SELECT name FROM singer WHERE sex = 'F'")
    assert {"f", "female"} <= where.words["value"]


def strengths(read_pair: Callable[..., Any], question: str, query: str, weights: EvidenceWeights) -> Any:
    words, candidates = read_pair(question, query)
    matrix = evidence(words, candidates, weights)
    assert len(matrix) == len(candidates) and all(len(row) == len(words) for row in matrix)
    return {one.text: [row[position] for row in matrix] for position, one in enumerate(words)}


def test_strongest_kind_counts_and_shared_words_say_less(read_pair: Callable[..., Any]) -> None:
    found = strengths(
        read_pair,
        "Show the age of singers whose age is 20",
        "SELECT age FROM singer WHERE age = 20",
        EvidenceWeights(),
    )
    assert found["age"] == [1.0, 1.0]  # a column of both
    assert found["singers"] == [1.0, 0.0]  # a table
    assert found["20"] == [0.0, 4.0]  # a value


def test_kinds_of_no_weight_say_nothing(read_pair: Callable[..., Any]) -> None:
    found = strengths(
        read_pair, "singers 20", "SELECT age FROM singer WHERE age = 20", EvidenceWeights(value=0.0)
    )
    assert found["20"] == [0.0, 0.0]


NEAR = [
    ("derived", "Show Asian singers", "WHERE country = 'Asia'", "Asian"),
    ("derived, another ending", "Show Italian singers", "WHERE country = 'Italy'", "Italian"),
    ("misspelled, a letter missing", "singers by citizenshp", "WHERE citizenship = 1", "citizenshp"),
    ("misspelled, two letters swapped", "singers by citizenhsip", "WHERE citizenship = 1", "citizenhsip"),
    ("an adjective of a column", "singers older than 5", "WHERE age = 1", "older"),
    ("a verb of a column", "singers born in May", "WHERE birth_date = 1", "born"),
]


@pytest.mark.parametrize(("question", "where", "near"), [c[1:] for c in NEAR], ids=[c[0] for c in NEAR])
def test_near_matches(question: str, where: str, near: str, read_pair: Callable[..., Any]) -> None:
    query = f"SELECT name FROM singer {where}"
    assert strengths(read_pair, question, query, EvidenceWeights(near=0.5))[near][1] >= 1.0
    exact = strengths(read_pair, question, query, EvidenceWeights(near=0.0))[near]
    assert exact[1] < 1.0 or near == "older"


@pytest.mark.parametrize(
    ("text", "candidate"), [("county", "country"), ("state", "station"), ("art", "arts"), ("cat", "category")]
)
def test_other_words_are_not_near(text: str, candidate: str) -> None:
    assert not nearly(word(text), frozenset({candidate}))


def test_function_words_speak_only_in_a_run_of_a_value(read_pair: Callable[..., Any]) -> None:
    words, candidates = read_pair(
        "the name of the one with A Love of a Lifetime",
        "SELECT name FROM singer WHERE country = 'A Love of a Lifetime'",
    )
    matrix = evidence(words, candidates)
    assert [row > 3 for row in matrix[1]] == [False] * 6 + [True] * 5


@pytest.mark.parametrize(
    ("one", "expected"),
    [
        (word("of", tag="IN"), True),
        (word("are", "be", "VBP"), True),
        (word("whose", tag="WP$"), True),
        (word("singer"), False),
        (word("20", tag="CD"), False),
        (word("sorted", "sort", "VBN"), False),
    ],
)
def test_function_words(one: Word, expected: bool) -> None:
    assert is_function_word(one) is expected


JOINS = {
    "comma": ("FROM singer AS S, concert AS C WHERE S.singer_id = C.singer_id AND C.year = 2014", {"year"}),
    "comma-no-aliases": ("FROM singer, concert WHERE concert.singer_id = singer.singer_id", set()),
    "comma-and-on": (
        "FROM singer AS S, concert AS C JOIN stadium AS T ON T.stadium_id = C.stadium_id "
        "WHERE C.singer_id = S.singer_id AND T.name = 'x'",
        {"name"},
    ),
    "comma-in-a-subquery": (
        "FROM singer WHERE age > (SELECT avg(S.age) FROM singer AS S, concert AS C "
        "WHERE S.singer_id = C.singer_id)",
        {"age"},
    ),
    "said-not-joined": (
        "FROM singer AS S JOIN concert AS C ON S.singer_id = C.singer_id WHERE S.country = C.name",
        {"country", "name"},
    ),
    "one-table": (
        "FROM singer AS S, concert AS C WHERE S.country = S.citizenship",
        {"country", "citizenship"},
    ),
    "of-the-outer-query": (
        "FROM singer AS S WHERE S.age > (SELECT avg(T.age) FROM singer AS T WHERE T.country = S.country)",
        {"age", "country"},
    ),
}


@pytest.mark.parametrize(("rest", "columns"), JOINS.values(), ids=JOINS)
def test_conditions_that_join_tables_of_a_list_say_nothing(
    read_pair: Callable[..., Any], rest: str, columns: set[str]
) -> None:
    _, (_, where) = read_pair("Who?", f"SELECT 1 {rest}")
    assert where.words["column"] == columns
    assert "id" not in where.words["column"] | where.words["joined"]


def test_a_key_written_in_one_word_says_its_table() -> None:
    paper = Table("PAPER", "paper", (Column("PAPERID", "paperid"), Column("PAPERYEAR", "paperyear")))
    clauses = split_clauses("SELECT PAPERID, PAPERYEAR FROM PAPER")
    (select,) = clause_words(clauses, Schema("papers", (paper,)))
    assert select.words["column"] == {"paperid", "paper", "paperyear"}
