"""Which words a question says, compared without a language model.

No tagger runs here: an error analysis must give the same on every machine, and generated text is often no
English. Words meet by Harman's S stemmer, numbers by their digits, and, where asked for, if one is derived
from the other, misspells it, or is the adjective or verb of a column ("oldest" of `age`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

from spider_compose.alignment.evidence import ATTRIBUTES, CODES, NUMBER_WORDS, ORDINALS, nearly, stem
from spider_compose.alignment.records import Word

WEAK_WORDS = frozenset(
    "a an the of in on at by for from to with as and but is are was were be been being am do does did has "
    "have had having that which who whom whose what where when how it its their there this these those his "
    "her they them all any some if so than then also well me please show list give find tell return "
    "display".split()
)
"""Words that any question can have: they say nothing of a clause."""

_WORD = re.compile(r"n't\b|\w+(?:\.\d+)?")
_QUOTED = re.compile(r"\"([^\"]+)\"|(?<!\w)'([^']+)'(?!\w)")
_PLAIN_QUOTES = str.maketrans("\u2018\u2019\u201c\u201d", "''\"\"")

# Words that mean something else together.
_PAIRS = {("at", "least"), ("at", "most"), ("other", "than")}

# One spelling of what can be said in several ways: numbers, ordinals, and the codes of many databases.
_SAME = {
    **{name: digit for digit, name in (*NUMBER_WORDS.items(), *ORDINALS.items())},
    **{name: code for code, names in CODES.items() for name in names.split()},
    "women": "f",
    "men": "m",
    "ids": "id",  # the stemmer leaves words of three letters
}
# "One" and the ordinals have other uses than to give a number.
_NUMBERS = frozenset(name for digit, name in NUMBER_WORDS.items() if digit not in ("0", "1"))


@dataclass(frozen=True)
class SaidWords:
    """The words of one text.

    Attributes:
        texts: lower case, in order; "at least", "at most" and "other than" are one word each.
        marked: what reads as a value: numbers, words in quotes, and words with a capital that do not open
            the text.
    """

    texts: tuple[str, ...]
    marked: frozenset[str]

    @cached_property
    def forms(self) -> frozenset[str]:
        """Everything the words can be compared by."""
        return frozenset[str]().union(*map(word_forms, self.texts))

    @cached_property
    def plain(self) -> frozenset[str]:
        """The words as they stand."""
        return frozenset(self.texts)

    def says(self, candidates: frozenset[str], loosely: bool = False) -> bool:
        """Whether some word is among the candidates.

        Args:
            loosely: also if a word is derived from a candidate, misspells it, or is its adjective or verb.
        """
        if self.forms & candidates:
            return True
        return loosely and any(_loosely(text, candidates) for text in self.texts)

    def lost(self, candidates: frozenset[str], other: SaidWords, loosely: bool = False) -> Iterator[str]:
        """The words here that are among the candidates, and that the other text does not say."""
        for text in self.texts:
            own = word_forms(text) & candidates
            if own and not other.says(own, loosely):
                yield text


def read_text(text: str) -> SaidWords:
    """Cut a text into words.

    >>> read_text("Who isn't at least 20.5?").texts
    ('who', 'is', "n't", 'at least', '20.5')
    """
    text = text.translate(_PLAIN_QUOTES)
    found = _WORD.findall(re.sub(r"n't\b", " n't", text))
    texts: list[str] = []
    for word in map(str.lower, found):
        if texts and (texts[-1], word) in _PAIRS:
            texts[-1] += " " + word
        else:
            texts.append(word)
    quoted = " ".join(part for match in _QUOTED.findall(text) for part in match)
    marked = {
        *_WORD.findall(quoted.lower()),
        *(word.lower() for word in found[1:] if word[0].isupper() and word != "I"),
        *(word for word in texts if word[0].isdigit() or word in _NUMBERS),
    }
    return SaidWords(tuple(texts), frozenset(marked) - WEAK_WORDS)


@lru_cache(maxsize=1 << 16)
def word_forms(text: str) -> frozenset[str]:
    """Everything a word can be compared by: itself, its parts, their stems, digits and codes."""
    parts = {text, *text.replace("_", " ").split()}
    return frozenset(form for part in parts for form in (part, stem(part), _SAME.get(part, part)))


@lru_cache(maxsize=1 << 16)
def _loosely(text: str, candidates: frozenset[str]) -> bool:
    if _attributes().get(text, frozenset()) & candidates:
        return True
    return text not in WEAK_WORDS and nearly(Word(text, text, "", 0, len(text)), candidates)


@lru_cache(maxsize=1)
def _attributes() -> dict[str, frozenset[str]]:
    """`ATTRIBUTES` by all forms of its words, of which it has the lemmas: old, older, oldest."""
    found: dict[str, frozenset[str]] = {}
    for lemma, columns in ATTRIBUTES.items():
        root = lemma[:-1] + "i" if lemma.endswith("y") else lemma.removesuffix("e")
        doubled = lemma + lemma[-1]
        inflected = {root + "er", root + "est", root + "ed", doubled + "er", doubled + "est", lemma + "s"}
        for form in {lemma, *inflected}:
            found[form] = frozenset(columns.split())
    found["born"] = found["bear"]
    return found
