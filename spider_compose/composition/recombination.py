"""Recombination (section 3.3): every non-empty subset of a query's clauses, with its words, is one pair."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from spider_compose.alignment.records import Word
from spider_compose.sql.clauses import Clause, join_clauses

# A sentence mark or closing sign that stands directly at its word moves to the word it follows now.
_CLOSING = frozenset(".,;:?!)]}%")


@dataclass(frozen=True)
class Recombination:
    """One subset of clauses and the words that say it.

    Attributes:
        subset: ascending clause indices.
        query: the clauses, joined with single spaces.
        text: the words of the clauses in the question's order, cut from its own characters. Empty only if the
            clauses have no words.
    """

    subset: tuple[int, ...]
    query: str
    text: str


def recombine(
    question: str,
    words: Sequence[Word],
    clauses: Sequence[Clause],
    clause_token_ids: Sequence[Sequence[int]],
    joining_ids: Sequence[int] = (),
) -> Iterator[Recombination]:
    """All 2^n - 1 recombinations of one aligned pair, by size, then in the order of the clauses.

    The full set gives the question back, character for character. Words that clauses share appear once.

    Args:
        joining_ids: words that only join two fragments ("in 2014 *and* in 2015"); a text has them where it
            has words on both sides.
    """
    for size in range(1, len(clauses) + 1):
        for subset in combinations(range(len(clauses)), size):
            ids = sorted({position for clause in subset for position in clause_token_ids[clause]})
            ids = _without_loose_ends(ids, frozenset(joining_ids), len(words))
            yield Recombination(
                subset, join_clauses([clauses[i] for i in subset]), cut_text(question, words, ids)
            )


def _without_loose_ends(ids: list[int], joining: frozenset[int], count: int) -> list[int]:
    """The ids without joining words that have nothing to join: the next other word on a side is missing."""
    if not joining or len(ids) == count:
        return ids
    held = set(ids)

    def joins(position: int) -> bool:
        before = next((at for at in range(position, -1, -1) if at not in joining), -1)
        after = next((at for at in range(position, count) if at not in joining), -1)
        return before in held and after in held

    return [position for position in ids if position not in joining or joins(position)] or ids


def cut_text(question: str, words: Sequence[Word], ids: Sequence[int]) -> str:
    """The question's text at these words.

    Neighbouring words keep the characters between them; where words are left out, one space stands.

    Args:
        ids: ascending positions in `words`.
    """
    if len(ids) == len(words):
        return question
    text = ""
    for before, position in zip([None, *ids], ids, strict=False):
        word = words[position]
        if before is None:
            gap = ""
        elif position == before + 1:
            gap = question[words[before].end : word.start]
        else:
            attached = word.start == words[position - 1].end and word.text[0] in _CLOSING
            gap = "" if attached else " "
        text += gap + word.text
    return text
