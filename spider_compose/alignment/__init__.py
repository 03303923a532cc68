"""Alignment of a question's words with the clauses of its query (section 3.2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from spider_compose.alignment.confidence import confidence
from spider_compose.alignment.evidence import ClauseWords, clause_words, evidence
from spider_compose.alignment.keyword_tagging import keyword_tagging
from spider_compose.alignment.records import Alignment, Word
from spider_compose.alignment.segmentation import segment
from spider_compose.alignment.word_joining import word_joining
from spider_compose.errors import AlignmentError, choose
from spider_compose.sql.clauses import Clause
from spider_compose.sql.schema import Schema

__all__ = ["ALIGNERS", "Alignment", "Word", "align", "all_alignments", "clause_words"]


def align(
    words: Sequence[Word],
    clauses: Sequence[Clause],
    schema: Schema,
    aligner: str = "keyword",
    dialect: str = "sqlite",
) -> Alignment:
    """Say which words of a question speak for which clause of its query.

    Args:
        words: the question, see `read_words`.
        clauses: the query, see `split_clauses`.
        schema: an empty one will do.
        aligner: a name in `ALIGNERS`.

    Raises:
        AlignmentError: the question has no words.
        OptionError: no such aligner.
    """
    choose("aligner", aligner, ALIGNERS)
    if not words:
        raise AlignmentError("expected a question with words, but got none")
    return all_alignments(words, clause_words(clauses, schema, dialect))[aligner]


def all_alignments(words: Sequence[Word], candidates: Sequence[ClauseWords]) -> dict[str, Alignment]:
    """What each aligner finds, by name; each one's confidence looks at the other.

    Args:
        words: the question, at least one word.
        candidates: the candidate words of each clause, see `clause_words`.
    """
    found = {name: make(words, candidates) for name, make in ALIGNERS.items()}
    probability = found["segment"].confidence or 0.0
    others = {"keyword": found["segment"], "segment": found["keyword"]}
    return {
        name: replace(one, confidence=confidence(name, one, others[name], probability))
        for name, one in found.items()
    }


def _keyword(words: Sequence[Word], candidates: Sequence[ClauseWords]) -> Alignment:
    """The paper's two steps: keyword tagging and word joining."""
    types = [candidate.type for candidate in candidates]
    tags = keyword_tagging(words, types, evidence(words, candidates))
    return Alignment(tags, word_joining(words, tags, types))


ALIGNERS: Mapping[str, Callable[[Sequence[Word], Sequence[ClauseWords]], Alignment]] = {
    "keyword": _keyword,
    "segment": segment,
}
