"""What each rule of sharing changes, seen on whole questions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from spider_compose.alignment import sharing
from spider_compose.alignment.lattice import DEFAULT_COSTS, Lattice, State
from spider_compose.alignment.sharing import (
    divide_pairs,
    joining_words,
    keep_superlatives,
    move_conjunctions,
    share_final_marks,
    share_head_nouns,
)

PAIR = "SELECT country FROM singer WHERE age > 40 INTERSECT SELECT country FROM singer WHERE age < 30"
GROUP_ORDER = "SELECT country FROM singer GROUP BY country ORDER BY count(*) DESC LIMIT 1"


def path_of(codes: str) -> list[State]:
    """A state per word: "0" to "2" one clause, "b" clauses 1 and 2; inside a phrase "i" 1, "j" 1 and 2."""
    sets = {"0": (0,), "1": (1,), "2": (2,), "b": (1, 2), "i": (1,), "j": (1, 2)}
    return [State(sets[code], sum(1 << one for one in sets[code]), code in "ij") for code in codes]


Shared = Callable[[str, str, str], tuple[Lattice, list[State], list[set[int]]]]


@pytest.fixture
def before(read_pair: Callable[..., Any]) -> Shared:
    def make(question: str, query: str, codes: str) -> tuple[Lattice, list[State], list[set[int]]]:
        words, candidates = read_pair(question, query)
        assert len(words) == len(codes), [word.text for word in words]
        path = path_of(codes)
        return Lattice.of(words, candidates, DEFAULT_COSTS), path, [set(state.clauses) for state in path]

    return make


def codes_of(said: list[set[int]]) -> list[str]:
    return ["".join(map(str, sorted(clauses))) for clauses in said]


@pytest.mark.parametrize(
    ("question", "codes", "moved"),
    [
        ("cities in Rome and in Bonn", "011222", "011122"),
        ("cities and in Rome or Bonn", "011122", "011112"),  # SELECT keeps none
        ("cities in Rome and", "0112", "0112"),  # the only word of its clause
        ("cities in Rome , Bonn or", "011222", "011222"),
    ],
)
def test_move_conjunctions(question: str, codes: str, moved: str, before: Shared) -> None:
    lattice, path, _ = before(question, PAIR, codes)
    move_conjunctions(path, lattice)
    assert path == path_of(moved)


def test_divide_pairs(before: Shared) -> None:
    lattice, path, said = before("cities that have both parks and lakes", PAIR, "0111112")
    divide_pairs(said, path, lattice)
    assert codes_of(said) == ["0", "12", "12", "2", "1", "1", "2"]


LEADS = [
    ("what stands before the first noun phrase", "cities that have parks and lakes", "011112", "that have"),
    ("with its modifiers", "cities with the large old parks and new lakes", "011111122", "with"),
    ("before the same noun", "cities with songs about parks and old parks", "01111122", "with songs about"),
    ("nothing, before another kind of phrase", "cities with parks in Rome and in Bonn", "01111122", ""),
    ("nothing, where SELECT has the noun", "cities with parks and cities", "01112", ""),
    ("nothing, where the pair begins with it", "cities parks and lakes", "0112", ""),
]


@pytest.mark.parametrize(("question", "codes", "lead"), [c[1:] for c in LEADS], ids=[c[0] for c in LEADS])
def test_the_lead_of_a_divided_pair_is_shared(question: str, codes: str, lead: str, before: Shared) -> None:
    lattice, path, said = before(question, PAIR, codes)
    divide_pairs(said, path, lattice)
    shared = [word.text for word, held in zip(lattice.words, said, strict=True) if held == {1, 2}]
    assert " ".join(shared) == lead


def test_share_head_nouns(before: Shared) -> None:
    lattice, path, said = before("the most common country of singers now", GROUP_ORDER, "0jjjjj0")
    share_head_nouns(said, path, lattice)
    assert codes_of(said) == ["0", "12", "12", "012", "012", "012", "0"]


def test_a_modifier_that_speaks_for_select_is_its_too(before: Shared) -> None:
    query = "SELECT series_name FROM channel GROUP BY series_name ORDER BY count(*) DESC LIMIT 1"
    lattice, path, said = before("the most common series name", query, "0jjjb")
    share_head_nouns(said, path, lattice)
    assert codes_of(said) == ["0", "12", "12", "012", "012"]


@pytest.mark.parametrize(
    ("question", "codes", "group"),
    [
        ("country that has the most singers", "0bbbbb", "that has singers"),
        ("country with the largest number", "0bbbb", "with the number"),
        ("country that is most common", "0bbbb", "that is most common"),  # nothing would be left
        ("country that sang the most times", "0bbbbb", "that sang the most times"),
        ("country that wins concerts the most times", "0bbbbbb", "that wins concerts"),
        ("the most common country", "0jjb", "country"),
        ("at least two singers", "bbbb", "at least two singers"),
    ],
)
def test_keep_superlatives(question: str, codes: str, group: str, before: Shared) -> None:
    lattice, path, said = before(question, GROUP_ORDER, codes)
    keep_superlatives(said, path, lattice)
    assert " ".join(word.text for word, held in zip(lattice.words, said, strict=True) if 1 in held) == group
    assert all(2 in held for held, state in zip(said, path, strict=True) if 2 in state.clauses)


def test_superlatives_of_other_clauses_stay(before: Shared) -> None:
    lattice, path, said = before("the most singers", PAIR, "bbb")
    keep_superlatives(said, path, lattice)
    assert codes_of(said) == ["12", "12", "12"]


def test_share_final_marks(before: Shared) -> None:
    lattice, path, said = before("Who sings in Rome? List their names.", PAIR, "111110000")
    share_final_marks(said, path, lattice)
    assert codes_of(said) == ["1"] * 5 + ["0"] * 4
    lattice, path, said = before("List names of singers in Rome.", PAIR, "0000111")
    share_final_marks(said, path, lattice)
    assert codes_of(said) == ["0"] * 4 + ["1", "1", "01"]


@pytest.mark.parametrize(
    ("question", "codes", "joining"),
    [
        ("in Rome and in Bonn", "11122", "and"),
        ("for each shop , and how many", "1111000", ", and"),
        ("for each shop , as well as how many", "111100000", ", as well as"),
        ("the population of Rome", "0011", "of"),
        ("the population and age of Rome", "000011", "of"),
        ("in Rome and Bonn", "1111", ""),
        ("singers in Rome , and what age", "0110000", ""),  # SELECT goes on
        ("in Rome , and what age", "110000", ", and"),
    ],
)
def test_joining_words(question: str, codes: str, joining: str, before: Shared) -> None:
    lattice, path, said = before(question, PAIR, codes)
    found = joining_words(said, path, lattice)
    assert " ".join(lattice.words[position].text for position in found) == joining


def test_a_divided_pairs_mark_joins(before: Shared) -> None:
    lattice, path, said = before("cities that have both parks and lakes", PAIR, "0111112")
    divide_pairs(said, path, lattice)
    assert joining_words(said, path, lattice) == (3, 5)


def test_every_rule_says_why() -> None:
    assert all(
        rule.__doc__ for rule in (divide_pairs, keep_superlatives, share_final_marks, share_head_nouns)
    )
    assert sharing.__doc__ is not None
