"""Alignment of a question's words with the clauses of its query (section 3.2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from spider_compose.alignment.evidence import clause_words, evidence
from spider_compose.alignment.keyword_tagging import keyword_tagging
from spider_compose.alignment.records import Alignment, Word
from spider_compose.alignment.word_joining import word_joining
from spider_compose.errors import AlignmentError, choose
from spider_compose.sql.clauses import Clause
from spider_compose.sql.schema import Schema

__all__ = ["ALIGNERS", "Alignment", "Word", "align"]


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
    matrix = evidence(words, clause_words(clauses, schema, dialect))
    return ALIGNERS[aligner](words, [clause.type for clause in clauses], matrix)


def _keyword(words: Sequence[Word], types: Sequence[str], matrix: list[list[float]]) -> Alignment:
    tags = keyword_tagging(words, types, matrix)
    return Alignment(tags, word_joining(words, tags, types))


ALIGNERS: Mapping[str, Callable[[Sequence[Word], Sequence[str], list[list[float]]], Alignment]] = {
    "keyword": _keyword,
}
