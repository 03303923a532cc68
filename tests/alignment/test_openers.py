"""Where a fragment can begin."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from spider_compose.alignment.openers import (
    dangles,
    find_openers,
    head_nouns,
    is_superlative,
    names_a_pair,
    opens_modifier,
    phrase_edges,
    quoted,
    sentence_starts,
)

WordsOf = Callable[[str], Any]

SENTENCES = [
    ("one", "Show the names.", ["Show"]),
    ("two", "Which singers are old? List their names.", ["Which", "List"]),
    ("no final mark", "Which singers are old? List their names", ["Which", "List"]),
    ("a mark inside a quotation", 'Show "Who is it? Me too" and ages.', ["Show"]),
    ("an abbreviation", "Who is in the Comp. Sci. department?", ["Who"]),
    ("one word and a mark are no sentence", "Show names. Thanks.", ["Show"]),
]


@pytest.mark.parametrize(("question", "starts"), [c[1:] for c in SENTENCES], ids=[c[0] for c in SENTENCES])
def test_sentence_starts(question: str, starts: list[str], words_of: WordsOf) -> None:
    words = words_of(question)
    assert [words[position].text for position in sentence_starts(words)] == starts


QUOTED = [
    ("double quotes", 'the "Sky Radio" channel', "Sky Radio"),
    ("single quotes", "the 'Sky Radio' channel", "Sky Radio"),
    ("an apostrophe opens none", "which shops' number of 'A' and", "A"),
    ("a quote that is never closed", 'the "Sky Radio channel', ""),
]


@pytest.mark.parametrize(("question", "inside"), [c[1:] for c in QUOTED], ids=[c[0] for c in QUOTED])
def test_quoted(question: str, inside: str, words_of: WordsOf) -> None:
    words = words_of(question)
    found = [word.text for word, held in zip(words, quoted(words), strict=True) if held]
    assert " ".join(found[:-1]) == inside


OPENERS = [
    ("a relative pronoun", "Show the singers who are old", "who", "relative"),
    ("a preposition before it", "Show the cities in which they sing", "in", "relative"),
    ("that, behind a noun", "Show the songs that are old", "that", "relative"),
    ("a participle behind a noun", "Show the songs written by Sam", "written", "participle"),
    ("a preposition", "Show the songs from France", "from", "preposition"),
    ("of", "Show the songs of France", "of", "elsewhere"),
    ("of each", "Show the songs of each singer", "of", "preposition"),
    ("a finite verb", "Which singers have songs", "have", "verb"),
    ("a verb of a pronoun", "Show the songs they sang", "sang", "elsewhere"),
    ("a new sentence", "Who sings songs? Show their names.", "Show", "sentence"),
    ("a conjunction", "Show names and sorted by age", "and", "conjunction"),
    ("a conjunction of nouns", "Show names and the ages", "and", "coordination"),
    ("a noun that could ask", "Show the id and name of singers", "and", "coordination"),
    ("a conjunction that asks", "Show the old singers, and what are their ages?", ",", "asks_again"),
    ("the rest of it", "Show the old singers, and what are their ages?", "and", ""),
    ("as well as, asking", "Show the old singers, as well as how many they are", ",", "asks_again"),
    ("which, behind a comma only", "Show the songs, which are old", ",", "conjunction"),
    ("also, at the start", "Show the old songs. Also show their names.", "Also", "asks_again"),
    ("behind a function word", "Show the songs of the singers", "singers", ""),
    ("than", "Show singers older than ten", "than", ""),
    ("what is compared with than", "Show singers older than ten", "older", "preposition"),
    ("inside a noun phrase", "Show famous song writers", "writers", ""),
    ("inside a quotation", 'Show "songs from France" here', "from", ""),
    ("directly behind a character", "Show the singer's songs", "'s", ""),
    ("a final mark", "Show the singers .", ".", ""),
]


@pytest.mark.parametrize(
    ("question", "text", "opener"), [c[1:] for c in OPENERS], ids=[c[0] for c in OPENERS]
)
def test_find_openers(question: str, text: str, opener: str, words_of: WordsOf) -> None:
    words = words_of(question)
    position = [word.text for word in words].index(text)
    assert find_openers(words, sentence_starts(words))[position] == opener


@pytest.mark.parametrize(
    ("question", "heads"),
    [
        ("the oldest singer", {"the": "singer", "oldest": "singer", "singer": None}),
        ("famous song writers sing", {"famous": "writers", "song": "writers", "writers": None, "sing": None}),
        ("the three songs of Rome", {"three": "songs", "of": None, "Rome": None}),
    ],
)
def test_head_nouns(question: str, heads: dict[str, str | None], words_of: WordsOf) -> None:
    words = words_of(question)
    found = {word.text: head for word, head in zip(words, head_nouns(words), strict=True)}
    assert {text: words[found[text]].text if found[text] >= 0 else None for text in heads} == heads


def test_a_modifier_starts_behind_a_determiner_or_a_word_of_select(words_of: WordsOf) -> None:
    words = words_of("Show the average jazz score")
    heads = head_nouns(words)
    speaks = [0.0, 0.0, 1.5, 0.0, 1.0]
    assert [opens_modifier(words, heads, speaks, at) for at in range(5)] == [False, False, True, True, False]
    assert not opens_modifier(words, heads, [0.0] * 5, 3)


def test_phrase_edges(words_of: WordsOf) -> None:
    words = words_of("Show the famous songs of Rome now")
    edges = [
        word.text for word, edge in zip(words, phrase_edges(words, head_nouns(words)), strict=True) if edge
    ]
    assert edges == ["the", "of", "Rome", "now"]


def test_small_questions_of_words(words_of: WordsOf) -> None:
    most, at_most = words_of("the most songs"), words_of("at most songs")
    assert is_superlative(most, 1) and not is_superlative(at_most, 1)
    assert names_a_pair(words_of("both English and French"))
    assert not names_a_pair(words_of("both songs that are in English and songs"))
    assert [dangles(word) for word in words_of("songs of the singer are")] == [False, True, True, False, True]
