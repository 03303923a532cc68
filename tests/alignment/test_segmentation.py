"""Segmentation: whole questions, what is shared, and what holds of every alignment."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spider_compose.alignment import ALIGNERS, align
from spider_compose.alignment.evidence import ClauseWords
from spider_compose.alignment.lattice import DEFAULT_COSTS
from spider_compose.alignment.openers import dangles, quoted
from spider_compose.alignment.records import Word
from spider_compose.alignment.segmentation import segment
from spider_compose.composition.recombination import recombine
from spider_compose.errors import AlignmentError, OptionError
from spider_compose.sql.clauses import split_clauses
from spider_compose.sql.schema import Schema

# Question, query, and the text of each clause alone.
QUESTIONS = {
    "a relative clause": (
        "What are the names of the singers who are from France?",
        "SELECT name FROM singer WHERE country = 'France'",
        ["What are the names of the singers?", "who are from France?"],
    ),
    "a noun phrase that begins with WHERE": (
        "Rome concerts before 2014",
        "SELECT concert.name FROM concert, stadium WHERE stadium.location = 'Rome' AND concert.year < 2014 "
        "AND concert.stadium_id = stadium.stadium_id",
        ["concerts", "Rome concerts before 2014"],
    ),
    "a noun phrase that begins with an order": (
        "Latest concert in Rome",
        "SELECT concert.name FROM concert, stadium WHERE stadium.location = 'Rome' "
        "AND concert.stadium_id = stadium.stadium_id ORDER BY concert.year DESC",
        ["concert", "in Rome", "Latest concert"],
    ),
    "a noun phrase that begins with two clauses": (
        "newest Rome concerts",
        "SELECT concert.name FROM concert, stadium WHERE stadium.location = 'Rome' "
        "AND concert.stadium_id = stadium.stadium_id ORDER BY concert.year DESC",
        ["concerts", "Rome concerts", "newest concerts"],
    ),
    "a preposition": (
        "How many concerts are there in year 2014 or 2015?",
        "SELECT count(*) FROM concert WHERE year = 2014 OR year = 2015",
        ["How many concerts?", "are there in year 2014 or 2015?"],
    ),
    "an order": (
        "Show name, age for all singers ordered by age from the oldest to the youngest.",
        "SELECT name, age FROM singer ORDER BY age DESC",
        ["Show name, age for all singers.", "ordered by age from the oldest to the youngest."],
    ),
    "a group": (
        "Show the name and the number of concerts for each singer.",
        "SELECT T1.name, count(*) FROM singer AS T1 JOIN concert AS T2 ON T1.singer_id = T2.singer_id "
        "GROUP BY T1.name",
        ["Show the name and the number of concerts.", "for each singer."],
    ),
    "a group first": (
        "For each stadium, how many concerts are there?",
        "SELECT count(*), stadium_id FROM concert GROUP BY stadium_id",
        ["how many concerts are there?", "For each stadium?"],
    ),
    "a second sentence that asks": (
        "Which professionals live in the city of Rome? List their role and first name.",
        "SELECT role_code, first_name FROM professional WHERE city = 'Rome'",
        ["List their role and first name.", "Which professionals live in the city of Rome?"],
    ),
    "group and order in one": (
        "What is the name of the singer that has the most concerts?",
        "SELECT T1.name FROM singer AS T1 JOIN concert AS T2 ON T1.singer_id = T2.singer_id "
        "GROUP BY T1.singer_id ORDER BY count(*) DESC LIMIT 1",
        ["What is the name of the singer?", "that has concerts?", "that has the most concerts?"],
    ),
    "group with a condition, and an order": (
        "Show the names of singers that have at least two concerts in descending order of age.",
        "SELECT T1.name FROM singer AS T1 JOIN concert AS T2 ON T1.singer_id = T2.singer_id "
        "GROUP BY T1.singer_id HAVING count(*) >= 2 ORDER BY T1.age DESC",
        ["Show the names of singers.", "that have at least two concerts", "in descending order of age."],
    ),
    "a pair in few words": (
        "Show the countries that have both English and French channels.",
        "SELECT country FROM singer WHERE language = 'English' "
        "INTERSECT SELECT country FROM singer WHERE language = 'French'",
        [
            "Show the countries.",
            "that have both English and French channels.",
            "that have both English and French channels.",
        ],
    ),
    "a pair that is divided": (
        "Show the countries that have both singers with age above 40 and singers with age below 30.",
        "SELECT country FROM singer WHERE age > 40 INTERSECT SELECT country FROM singer WHERE age < 30",
        [
            "Show the countries.",
            "that have singers with age above 40",
            "that have singers with age below 30.",
        ],
    ),
    "an exception": (
        "Show names for all stadiums except for stadiums having a concert in year 2014.",
        "SELECT name FROM stadium EXCEPT SELECT T2.name FROM concert AS T1 JOIN stadium AS T2 "
        "ON T1.stadium_id = T2.stadium_id WHERE T1.year = 2014",
        ["Show names for all stadiums.", "except for stadiums having a concert in year 2014."],
    ),
    "inside a noun phrase": (
        "Show the most common country of singers.",
        "SELECT country FROM singer GROUP BY country ORDER BY count(*) DESC LIMIT 1",
        ["Show the country of singers.", "country of singers.", "most common country of singers."],
    ),
    "of joins, and is left out at the start": (
        "What is the capacity of Wembley?",
        "SELECT capacity FROM stadium WHERE name = 'Wembley'",
        ["What is the capacity?", "Wembley?"],
    ),
    "a quoted value stays whole": (
        'What is the language of the channel with series name "Who Is Here"?',
        "SELECT language FROM channel WHERE series_name = 'Who Is Here'",
        ["What is the language of the channel?", 'with series name "Who Is Here"?'],
    ),
    "a comparison stays whole": (
        "Show the names of singers older than 30.",
        "SELECT name FROM singer WHERE age > 30",
        ["Show the names of singers.", "older than 30."],
    ),
    "an order first": (
        "Sort all the stadiums by capacity in descending order, and return the name of each stadium.",
        "SELECT name FROM stadium ORDER BY capacity DESC",
        ["return the name of each stadium.", "Sort all the stadiums by capacity in descending order."],
    ),
}


@pytest.mark.parametrize(("question", "query", "fragments"), QUESTIONS.values(), ids=QUESTIONS)
def test_fragments(question: str, query: str, fragments: list[str], read_pair: Callable[..., Any]) -> None:
    words, candidates = read_pair(question, query)
    found = segment(words, candidates)
    made = recombine(question, words, split_clauses(query), found.clause_token_ids, found.joining_ids)
    texts = {one.subset: one.text for one in made}
    assert [texts[(clause,)] for clause in range(len(candidates))] == fragments
    assert texts[tuple(range(len(candidates)))] == question


def test_a_clause_without_words_of_its_own_shares_selects(read_pair: Callable[..., Any]) -> None:
    words, candidates = read_pair("Show the cities.", "SELECT city, count(*) FROM professional GROUP BY city")
    select, group = segment(words, candidates).clause_token_ids
    assert select == (0, 1, 2, 3)
    assert [words[position].text for position in group] == ["the", "cities", "."]


def test_one_clause_says_everything(read_pair: Callable[..., Any]) -> None:
    words, candidates = read_pair("Show the cities.", "SELECT city FROM professional")
    found = segment(words, candidates)
    assert found.clause_token_ids == ((0, 1, 2, 3),) and found.confidence == 1.0


def test_one_word_is_shared_by_all(read_pair: Callable[..., Any]) -> None:
    words, candidates = read_pair("Cities", "SELECT a FROM b WHERE c = 1 GROUP BY d HAVING e > 1 ORDER BY f")
    assert segment(words, candidates).clause_token_ids == ((0,),) * 4


# What a cost or weight is for: without it (or with another value), the question is divided differently.
DECIDED = [
    (
        {"past_relative": 0.0},
        "Show the name and the year in which the concert was held.",
        "SELECT name, year FROM concert WHERE stadium_id = 3",
    ),
    ({"relative": 9.0}, "What are the names of the singers who are from France?", "WHERE country = 'France'"),
    ({"participle": 9.0}, "Show all singers ordered by age.", "ORDER BY age"),
    ({"preposition": 9.0}, "Show the names of singers older than 30.", "WHERE age > 30"),
    ({"conjunction": 8.0}, "What are the names of singers, in alphabetical order?", "ORDER BY name"),
    (
        {"conjunction": 0.0},
        "Show all details, names and ages of singers, ordered by name, then by age.",
        "SELECT * FROM singer ORDER BY name, age",
    ),
    (
        {"start": 0.0},
        "What are the top 8 singers by age and what are those ages?",
        "ORDER BY age DESC LIMIT 8",
    ),
    (
        {"again": 0.0},
        "How many singers live in Rome? The number of singers includes kids.",
        "WHERE city = 'Rome'",
    ),
    ({"asking": 0.0}, "Wembley has which capacity?", "SELECT capacity FROM stadium WHERE name = 'Wembley'"),
    (
        {"asks_again": 9.0},
        "How many singers live in Rome, and what is their average age?",
        "WHERE city = 'Rome'",
    ),
    ({"modifier": 9.0}, "Find the id and name of the oldest singer.", "ORDER BY age DESC LIMIT 1"),
    ({"elsewhere": 12.0}, "What is the capacity of Wembley?", "WHERE name = 'Wembley'"),
    ({"group_with_select": 0.0}, "Show the age and the number of concerts for each singer.", "GROUP BY age"),
    (
        {"other_with_select": 0.0},
        "Show the youngest French singers.",
        "WHERE country = 'French' ORDER BY age",
    ),
]


@pytest.mark.parametrize(("changed", "question", "rest"), DECIDED, ids=[next(iter(c[0])) for c in DECIDED])
def test_costs_decide(
    changed: dict[str, float], question: str, rest: str, read_pair: Callable[..., Any]
) -> None:
    words, candidates = read_pair(
        question, rest if rest[:6] == "SELECT" else f"SELECT name FROM singer {rest}"
    )
    found = segment(words, candidates, replace(DEFAULT_COSTS, **changed))
    assert segment(words, candidates).clause_token_ids != found.clause_token_ids


# --- What holds of every alignment, by both aligners -------------------------------------------------

VOCABULARY = (
    "show the names of singers who are from France and or in year 2014 for each concert with most ordered by "
    "age "
    'descending " Sky Radio " which both , . ? ; not have than of at least two that'
).split()
TAGS = {
    "the": "DT",
    "of": "IN",
    "who": "WP",
    "are": "VBP",
    "from": "IN",
    "and": "CC",
    "or": "CC",
    "in": "IN",
    "by": "IN",
    "with": "IN",
    "which": "WDT",
    "both": "DT",
    "each": "DT",
    "for": "IN",
    "most": "JJS",
    "ordered": "VBN",
    ",": ",",
    ".": ".",
    "?": ".",
    ";": ":",
    "not": "RB",
    "have": "VBP",
    "than": "IN",
    "that": "WDT",
    "at": "IN",
    "least": "JJS",
    "2014": "CD",
    "two": "CD",
    "show": "VB",
    "descending": "VBG",
    '"': "``",
}
QUERIES = [
    "SELECT name FROM singer WHERE country = 'France'",
    "SELECT name, count(*) FROM singer GROUP BY name",
    "SELECT name FROM singer GROUP BY name HAVING count(*) > 2 ORDER BY age DESC LIMIT 1",
    "SELECT name FROM singer WHERE year = 2014 INTERSECT SELECT name FROM singer WHERE year = 2015",
    "SELECT name FROM singer WHERE a = 'Sky Radio' UNION SELECT name FROM concert ORDER BY name",
    "SELECT name FROM singer WHERE age > 2 GROUP BY name EXCEPT SELECT x FROM y ORDER BY name",
]


@st.composite
def questions(draw: st.DrawFn) -> list[Word]:
    words, start = [], 0
    for text in draw(st.lists(st.sampled_from(VOCABULARY), min_size=1, max_size=16)):
        attached = draw(st.booleans()) if text in {",", ".", "?", ";", '"'} else False
        start += 0 if attached or not words else 1
        words.append(
            Word(text, {"are": "be"}.get(text, text), TAGS.get(text, "NNS"), start, start + len(text))
        )
        start += len(text)
    return words


def parts(query: str) -> tuple[ClauseWords, ...]:
    from spider_compose.alignment.evidence import clause_words

    return clause_words(split_clauses(query), Schema("s"))


@settings(max_examples=200, deadline=None)
@given(questions(), st.sampled_from(QUERIES), st.sampled_from(sorted(ALIGNERS)))
def test_every_alignment(words: list[Word], query: str, aligner: str) -> None:
    candidates = parts(query)
    found = ALIGNERS[aligner](words, candidates)
    assert ALIGNERS[aligner](words, candidates) == found  # deterministic
    assert len(found.clause_token_ids) == len(candidates) and len(found.tags) == len(words)
    assert all(ids and list(ids) == sorted(set(ids)) for ids in found.clause_token_ids)
    assert set().union(*found.clause_token_ids) == set(range(len(words)))
    assert set(found.joining_ids) <= set(range(len(words)))


@settings(max_examples=200, deadline=None)
@given(questions(), st.sampled_from(QUERIES[:2]))
def test_fragments_stop_and_start_where_they_may(words: list[Word], query: str) -> None:
    first, second = (set(ids) for ids in segment(words, parts(query)).clause_token_ids)
    inside = quoted(words)
    for position in range(1, len(words)):
        before, after = position - 1 in first, position in first
        if before == after or (position - 1 in second and position in second):
            continue
        word = words[position]
        shared = any(words[at].text not in {".", "?"} for at in first & second)  # a head noun: SELECT goes on
        if word.text not in {".", "?"} and not shared:
            assert not inside[position], (position, words)
            assert (
                not dangles(words[position - 1])
                or words[position - 1].tag in {"CC", "DT"}
                or word.tag in {"CC", ",", ":"}
            )


# --- The door to both --------------------------------------------------------------------------------


def test_align_names_the_nearest_aligner(words_of: Callable[..., Any]) -> None:
    with pytest.raises(OptionError, match="Did you mean 'segment'"):
        align(words_of("a"), split_clauses("SELECT a"), Schema("s"), "segmnt")


def test_align_needs_words() -> None:
    with pytest.raises(AlignmentError, match="words"):
        align((), split_clauses("SELECT a"), Schema("s"))


@pytest.mark.parametrize("aligner", ALIGNERS)
def test_align_gives_a_confidence(aligner: str, words_of: Callable[..., Any]) -> None:
    found = align(
        words_of("Show names of singers from France"), split_clauses(QUERIES[0]), Schema("s"), aligner
    )
    assert found.confidence is not None and 0.0 < found.confidence <= 1.0
