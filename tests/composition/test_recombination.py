"""Section 3.3: subsets of clauses with their words."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spider_compose.alignment.records import Word
from spider_compose.composition.recombination import cut_text, recombine
from spider_compose.sql.clauses import Clause


def words_of(question: str) -> list[Word]:
    """Words cut at white space and before closing signs, enough to place characters."""
    words: list[Word] = []
    start = None
    for position, character in enumerate(question + " "):
        ends = character.isspace() or not character.isalnum()
        if start is not None and ends:
            words.append(Word(question[start:position], "", "", start, position))
            start = None
        if not ends and start is None:
            start = position
        if ends and not character.isspace():
            words.append(Word(character, "", "", position, position + 1))
    return words


QUESTION = 'Show  the "Names" of students, who are (over) 20.5 years old?'
CUTS = [
    ("all words give the question back", QUESTION, range(99), QUESTION),
    ("double spaces inside stay", QUESTION, range(2), "Show  the"),
    ("quotes stay at their word", QUESTION, range(2, 6), '"Names" of'),
    ("one space where words are left out", QUESTION, [0, 6], "Show students"),
    ("a mark moves to the word it follows now", QUESTION, [0, 1, 18], "Show  the?"),
    ("a bracket that opens keeps its space", QUESTION, [0, 10, 11], "Show (over"),
    ("outer white space belongs to the whole question only", "  a b ", [0], "a"),
    ("outer white space of the whole question", "  a b ", [0, 1], "  a b "),
    ("no words", "a b", [], ""),
]


@pytest.mark.parametrize(("question", "ids", "text"), [c[1:] for c in CUTS], ids=[c[0] for c in CUTS])
def test_cut_text(question: str, ids: list[int], text: str) -> None:
    words = words_of(question)
    assert cut_text(question, words, [i for i in ids if i < len(words)]) == text


def test_all_subsets_in_order() -> None:
    clauses = [
        Clause("SELECT", "SELECT a FROM t", 0, 0),
        Clause("WHERE", "WHERE b", 0, 0),
        Clause("ORDER BY", "ORDER BY c", 0, 0),
    ]
    question = "order c: show a with b."
    made = list(recombine(question, words_of(question), clauses, [[3, 4], [5, 6, 7], [0, 1, 2]]))
    assert [(m.subset, m.query, m.text) for m in made] == [
        ((0,), "SELECT a FROM t", "show a"),
        ((1,), "WHERE b", "with b."),
        ((2,), "ORDER BY c", "order c:"),
        ((0, 1), "SELECT a FROM t WHERE b", "show a with b."),
        ((0, 2), "SELECT a FROM t ORDER BY c", "order c: show a"),
        ((1, 2), "WHERE b ORDER BY c", "order c: with b."),
        ((0, 1, 2), "SELECT a FROM t WHERE b ORDER BY c", question),
    ]


def test_shared_words_appear_once() -> None:
    clauses = [Clause("SELECT", "S", 0, 0), Clause("WHERE", "W", 0, 0)]
    question = "names of singers from France"
    made = {
        m.subset: m.text for m in recombine(question, words_of(question), clauses, [[0, 1, 2], [2, 3, 4]])
    }
    assert made == {(0,): "names of singers", (1,): "singers from France", (0, 1): question}


def test_joining_words_need_both_sides() -> None:
    clauses = [Clause("SELECT", "S", 0, 0), Clause("WHERE", "W", 0, 0), Clause("INTERSECT", "I", 0, 0)]
    question = "cities in Rome, and in Bonn"
    found = recombine(question, words_of(question), clauses, [[0], [1, 2, 3, 4], [5, 6]], joining_ids=[3, 4])
    assert {made.subset: made.text for made in found} == {
        (0,): "cities",
        (1,): "in Rome",
        (2,): "in Bonn",
        (0, 1): "cities in Rome",
        (0, 2): "cities in Bonn",
        (1, 2): "in Rome, and in Bonn",
        (0, 1, 2): question,
    }


def test_a_clause_of_joining_words_alone_keeps_them() -> None:
    clauses = [Clause("SELECT", "S", 0, 0), Clause("WHERE", "W", 0, 0)]
    found = recombine("a and", words_of("a and"), clauses, [[0], [1]], joining_ids=[1])
    assert [made.text for made in found] == ["a", "and", "a and"]


@st.composite
def aligned(draw: st.DrawFn) -> tuple[str, list[Word], list[Clause], list[list[int]]]:
    question = draw(st.text("ab ,.?'\"é漢(", min_size=1, max_size=40).filter(lambda text: text.strip()))
    words = words_of(question)
    count = draw(st.integers(1, 4))
    owners = [draw(st.sets(st.integers(0, count - 1), min_size=1, max_size=2)) for _ in words]
    ids = [[i for i, own in enumerate(owners) if clause in own] for clause in range(count)]
    return question, words, [Clause("WHERE", f"c{i}", 0, 0) for i in range(count)], ids


@given(aligned())
def test_properties(made: tuple[str, list[Word], list[Clause], list[list[int]]]) -> None:
    question, words, clauses, ids = made
    found = list(recombine(question, words, clauses, ids))
    assert len(found) == 2 ** len(clauses) - 1
    assert len({one.subset for one in found}) == len(found)
    assert found[-1].text == question
    for one in found:
        assert all(a < b for a, b in pairwise(one.subset))
        held = sorted({i for clause in one.subset for i in ids[clause]})
        # Every word of the clauses, once, in the question's order, and nothing else.
        assert "".join(one.text.split()) == "".join(words[i].text for i in held)
        assert bool(one.text.strip()) == bool(held)
