from __future__ import annotations

import pytest

from spider_compose.alignment.words import read_words

TOKENS = [
    ("id is one word, not I'd", "Show the id and Id.", ["Show", "the", "id", "and", "Id", "."]),
    ("quotes and marks stand alone", 'Is it "A B"?', ["Is", "it", '"', "A", "B", '"', "?"]),
    ("white space is no word", "  a   b \n", ["a", "b"]),
    ("contractions are cut", "who don't", ["who", "do", "n't"]),
]


@pytest.mark.parametrize(("question", "tokens"), [c[1:] for c in TOKENS], ids=[c[0] for c in TOKENS])
def test_tokens(question: str, tokens: list[str]) -> None:
    (words,) = read_words([question])
    assert [word.text for word in words] == tokens
    assert all(question[word.start : word.end] == word.text for word in words)


def test_lemmas_and_tags() -> None:
    (words,) = read_words(["What are the names of singers?"])
    assert [word.lemma for word in words] == ["what", "be", "the", "name", "of", "singer", "?"]
    assert [word.tag for word in words] == ["WP", "VBP", "DT", "NNS", "IN", "NNS", "."]


def test_one_tuple_per_question_in_order_whatever_the_batch() -> None:
    questions = [f"How many singers are older than {age}?" for age in range(300)]
    found = list(read_words(questions))
    assert [words[-2].text for words in found] == [str(age) for age in range(300)]
    assert found == list(read_words(questions))


def test_a_question_without_words() -> None:
    assert list(read_words(["", "  "])) == [(), ()]
