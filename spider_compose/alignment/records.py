"""Words of a question, and which clause says which of them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Word:
    """One spaCy token of a question, white space left out.

    Attributes:
        text: as it stands in the question.
        lemma: spaCy's lemma in lower case.
        tag: fine-grained part of speech (Penn Treebank).
        start: 0-based character in the question where it starts.
        end: character after its last.
    """

    text: str
    lemma: str
    tag: str
    start: int
    end: int


@dataclass(frozen=True)
class Alignment:
    """Which words of a question say which clause of its query (section 3.2).

    Attributes:
        tags: per word the clause index that keyword tagging gave it (3.2.1), or -1.
        clause_token_ids: per clause the sorted 0-based ids of its words (3.2.2). Together the clauses hold
            every word of the question; clauses may share words.
        joining_ids: sorted ids of words that only join two clauses' words ("in 2014 *and* in 2015"); a text
            has them only where it has both.
        confidence: 0 to 1, or None where nothing says it. Of an aligner alone the probability of its result,
            of `align` the calibrated estimate of the share of words in the right clause (see
            `confidence.py`).
    """

    tags: tuple[int, ...]
    clause_token_ids: tuple[tuple[int, ...], ...]
    joining_ids: tuple[int, ...] = ()
    confidence: float | None = None
