"""Algorithm 1 of the paper, row by row."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spider_compose.alignment.records import Word
from spider_compose.alignment.word_joining import word_joining

TYPES = ("SELECT", "WHERE", "ORDER BY")
TAGS = {"the": "DT", "who": "WP", "in": "IN", "of": "IN", "and": "CC"}


def words_of(text: str) -> list[Word]:
    return [Word(part, part, TAGS.get(part, "NN"), 0, 0) for part in text.split()]


JOINED = [
    ("no gaps", "a b", [0, 1], TYPES[:2], ["a", "b"]),
    ("a gap joins the left", "a x y b", [0, -1, -1, 1], TYPES[:2], ["a x y", "b"]),
    ("from an opener on the right", "a x who y b", [0, -1, -1, -1, 1], TYPES[:2], ["a x", "who y b"]),
    ("a determiner opens too", "a the b", [0, -1, 1], TYPES[:2], ["a", "the b"]),
    ("before the first tag, after the last", "x a b y", [-1, 0, 1, -1], TYPES[:2], ["x a", "b y"]),
    ("a clause comes back", "a b a", [0, 1, 0], TYPES[:2], ["a a", "b"]),
    ("nothing tagged is SELECT's, shared", "x y", [-1, -1], TYPES[:2], ["x y", "x y"]),
    ("said with the first partner that has words", "a b", [0, 2], TYPES, ["a", "b", "b"]),
]


@pytest.mark.parametrize(
    ("text", "tags", "types", "fragments"), [c[1:] for c in JOINED], ids=[c[0] for c in JOINED]
)
def test_word_joining(text: str, tags: list[int], types: tuple[str, ...], fragments: list[str]) -> None:
    words = words_of(text)
    ids = word_joining(words, tags, types)
    assert [" ".join(words[i].text for i in own) for own in ids] == fragments


def test_group_by_is_said_with_order_by() -> None:
    ids = word_joining(words_of("a b"), [0, 2], ("SELECT", "GROUP BY", "ORDER BY"))
    assert ids == ((0,), (1,), (1,))


@given(st.lists(st.tuples(st.sampled_from(["x", "the", "who", "of", "and"]), st.integers(-1, 2)), min_size=1))
def test_every_word_and_every_clause(pairs: list[tuple[str, int]]) -> None:
    ids = word_joining(words_of(" ".join(text for text, _ in pairs)), [tag for _, tag in pairs], TYPES)
    assert set().union(*ids) == set(range(len(pairs)))
    assert all(own and list(own) == sorted(own) for own in ids)
