"""Exact match of a generated question with its reference: strict, and after normalisation.

Strict compares character for character; only white space at both ends is ignored.

Normalised compares what `normalize` gives. It forgives what nobody hears: case, typographic forms
(compatibility characters and curly quotes), punctuation, and how much white space stands where. It forgives
no word: articles, plurals and word order count.
"""

from __future__ import annotations

import re
import unicodedata

STRICT = "space:ends"
NORMALIZED = "unicode:nfkc|case:folded|punctuation:no|space:single"
"""Signatures of the two: what is ignored. They change when a rule does."""

# Marks inside a number or date (3.5, 10,000, 2014-02-01, 7:30) and the sign before a number stay.
_IN_NUMBER = re.compile(r"(?<=\d)[.,:/-](?=\d)|(?<![\w.])-(?=\d)")
_APOSTROPHES = str.maketrans("", "", "'`\u2018\u2019\u201b\u02bc")


def normalize(text: str) -> str:
    """The text as normalised exact match compares it.

    Unicode NFKC and case folding; apostrophes and single quotes go without a trace ("don't", "dont"), other
    punctuation (Unicode category P, but not `%`) becomes white space unless it is part of a number; runs of
    white space become one space.

    >>> normalize("Who's aged 3.5, or “-4”?"), normalize("Well-known?"), normalize("5 %!")
    ('whos aged 3.5 or -4', 'well known', '5 %')
    """
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    folded = folded.translate(_APOSTROPHES)
    kept = {match.start() for match in _IN_NUMBER.finditer(folded)}
    letters = (
        " " if at not in kept and letter != "%" and unicodedata.category(letter)[0] == "P" else letter
        for at, letter in enumerate(folded)
    )
    return " ".join("".join(letters).split())


def exact_match(prediction: str, reference: str) -> bool:
    """Whether both are the same text, white space at the ends aside."""
    return prediction.strip() == reference.strip()


def normalized_exact_match(prediction: str, reference: str) -> bool:
    """Whether both are the same after `normalize`."""
    return normalize(prediction) == normalize(reference)
