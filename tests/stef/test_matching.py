"""Indices of words and values find what comparing all with all finds."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from spider_compose.stef.matching import ValueIndex, WordIndex
from spider_compose.stef.normalization import fold_value, meets, values_meet

WORDS = st.one_of(
    st.sampled_from(
        "qty quantity dept department no number male female active inactive birthdate date mgr".split()
    ),
    st.text("abdenrt", min_size=1, max_size=7),
)
VALUES = st.one_of(
    st.sampled_from(
        ["new york", "york", "european", "europe", "2019-10-08", "2019", "10", "f", "female", "a1b2"]
    ),
    st.text("ab 12-", min_size=1, max_size=8),
).map(fold_value)


@given(st.lists(WORDS, max_size=12), WORDS)
def test_words(words: list[str], sought: str) -> None:
    expected = next((word for word in dict.fromkeys(words) if meets(sought, word)), None)
    assert WordIndex(words).meeting(sought) == expected


@given(st.lists(VALUES, max_size=12), VALUES)
def test_values(values: list[str], sought: str) -> None:
    expected = [place for place, value in enumerate(values) if values_meet(sought, value)]
    index = ValueIndex((value, place) for place, value in enumerate(values))
    assert list(index.meeting(sought)) == expected
