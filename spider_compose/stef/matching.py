"""Many words against many: which of them meet, without holding each against each.

A hostile row has thousands of values and words. What may meet shares a key (its first letters, its last, its
stem), so only those are compared; what is found is what comparing all would find, in the same order. Of words
that share a key the first `MOST_ALIKE` are compared: no text that a person writes has that many.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Generic, TypeVar

from spider_compose.stef.normalization import is_number, meets, stem, synonyms, values_meet

T = TypeVar("T")

# Words sharing a key that are compared.
MOST_ALIKE = 64


class WordIndex:
    """Stems, by what they share with those they meet (see `normalization.meets`)."""

    def __init__(self, words: Iterable[str]) -> None:
        self._places: dict[str, int] = {}
        self._keys: dict[str, list[str]] = defaultdict(list)
        for word in words:
            if word not in self._places:
                self._places[word] = len(self._places)
                for key in _word_keys(word):
                    self._keys[key].append(word)

    def meeting(self, word: str) -> str | None:
        """The first word that meets this one."""
        found: str | None = None
        for key in (*_word_keys(word), *_sought_keys(word)):
            for other in self._keys.get(key, ())[:MOST_ALIKE]:
                if (found is None or self._places[other] < self._places[found]) and meets(word, other):
                    found = other
        for other in synonyms(word):
            if other in self._places and (found is None or self._places[other] < self._places[found]):
                found = other
        return found


def _word_keys(word: str) -> Iterator[str]:
    yield word[:3]
    if len(word) >= 4:
        yield f"-{word[-4:]}"
    if len(word) >= 3:  # an abbreviation ends with one of the last two consonants of the word
        yield from (f"^{word[0]}{end}" for end in _ends(word))
        if _bare(word):
            yield f"~{word[0]}{word[-1]}"


def _sought_keys(word: str) -> Iterator[str]:
    """Keys of the words that this one abbreviates, and of those that abbreviate it."""
    if len(word) >= 3:
        yield from (f"~{word[0]}{end}" for end in _ends(word))
        if _bare(word):
            yield f"^{word[0]}{word[-1]}"


def _ends(word: str) -> set[str]:
    return set(re.sub("[aeiouy]", "", word[1:])[-2:])


def _bare(word: str) -> bool:
    """Whether a word may be an abbreviation: no vowel after its first letter."""
    return len(word) >= 3 and re.search("[aeiou]", word[1:]) is None


class ValueIndex(Generic[T]):
    """Folded values with what they stand for, by what they share with those they meet (`values_meet`)."""

    def __init__(self, items: Iterable[tuple[str, T]]) -> None:
        self.items = list(items)
        self._keys: dict[str, list[int]] = defaultdict(list)
        for place, (value, _) in enumerate(self.items):
            for key in value_keys(value):
                self._keys[key].append(place)

    def meeting(self, value: str) -> Iterator[T]:
        """What stands for values that meet this one, in order."""
        places = {place for key in value_keys(value) for place in self._keys.get(key, ())}
        for place in sorted(places):
            held, found = self.items[place]
            if values_meet(value, held):
                yield found

    def equal(self, *values: str) -> T | None:
        """What stands for the first of these very values."""
        places = [p for v in values for p in self._keys.get(f"={v}", ()) if self.items[p][0] == v]
        return self.items[min(places)][1] if places else None


@lru_cache(maxsize=8192)
def value_keys(value: str) -> tuple[str, ...]:
    """What a value shares with those it may meet: itself, its stems, their start, its longer numbers."""
    stems = " ".join(map(stem, value.split()))
    keys = {f"={value}", f"={stems}", *(f"#{g}" for g in re.findall(r"\d+", value) if len(g) >= 4)}
    if len(stems) >= 4 and not is_number(value):
        keys.add(stems[:4])
    return tuple(sorted(keys))
