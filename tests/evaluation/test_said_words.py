from __future__ import annotations

import pytest

from spider_compose.evaluation.said_words import read_text


@pytest.mark.parametrize(
    ("text", "texts"),
    [
        ("What is the name?", ("what", "is", "the", "name")),
        ("They don\u2019t, at least 3.5 of them", ("they", "do", "n't", "at least", "3.5", "of", "them")),
        ("other than stadium_id", ("other than", "stadium_id")),
        ("?!", ()),
    ],
)
def test_words(text: str, texts: tuple[str, ...]) -> None:
    assert read_text(text).texts == texts


def test_marked_words_read_as_values() -> None:
    text = read_text("Which of Anna's pets I saw in \"blue bay\" or 'Rome' are over 3, or four, not one?")
    assert text.marked == {"anna", "blue", "bay", "rome", "3", "four"}


@pytest.mark.parametrize(
    ("text", "candidate", "said", "loosely"),
    [
        ("all pets", "pet", True, True),
        ("the ids", "id", True, True),
        ("pet_name", "name", True, True),
        ("the third", "3", True, True),
        ("women", "f", True, True),
        ("Asian food", "asia", False, True),
        ("the oldest", "age", False, True),
        ("she was born", "birth", False, True),
        ("bigger", "size", False, True),
        ("popuation", "population", False, True),
        ("name", "nose", False, False),
    ],
)
def test_says(text: str, candidate: str, said: bool, loosely: bool) -> None:
    assert read_text(text).says(frozenset({candidate})) is said
    assert read_text(text).says(frozenset({candidate}), loosely=True) is loosely


def test_lost_words() -> None:
    reference, prediction = read_text("three dogs in Paris"), read_text("3 cats in paris")
    candidates = frozenset({"3", "dog", "paris", "cat"})
    assert list(reference.lost(candidates, prediction)) == ["dogs"]
