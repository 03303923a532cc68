"""A question cut where the clauses change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Segment:
    """A stretch of the question's own characters.

    Attributes:
        text: together the segments give the question back, character for character.
        clauses: indices of the clauses that its words belong to, several where they share them; none between
            words.
    """

    text: str
    clauses: tuple[int, ...]


def segments(row: Mapping[str, Any]) -> list[Segment]:
    """Cut the question of an `alignment` row: neighbouring words of the same clauses are one segment."""
    question: str = row["question"]
    found: list[Segment] = []
    end = 0
    for clauses, (start, stop) in zip(clauses_of_words(row), row["token_spans"], strict=True):
        gap = question[end:start]
        if found and found[-1].clauses == clauses:
            found[-1] = Segment(found[-1].text + gap + question[start:stop], clauses)
        else:
            found += [Segment(gap, ())] if gap else []
            found.append(Segment(question[start:stop], clauses))
        end = stop
    return found + ([Segment(question[end:], ())] if end < len(question) else [])


def clauses_of_words(row: Mapping[str, Any]) -> list[tuple[int, ...]]:
    """Per word of an `alignment` row the indices of its clauses."""
    owners: list[list[int]] = [[] for _ in row["tokens"]]
    for clause, ids in enumerate(row["clause_token_ids"]):
        for position in ids:
            owners[position].append(clause)
    return [tuple(clauses) for clauses in owners]


def sql_parts(row: Mapping[str, Any], pairs: Sequence[Mapping[str, Any]]) -> list[list[tuple[str, str]]]:
    """Per recombined pair of a row, type and text of each of its clauses.

    Args:
        pairs: all of them. Clauses without the one that holds FROM may name tables in place of aliases; the
            pairs of one clause say how.
    """
    alone = {pair["clause_subset"][0]: pair["query"] for pair in pairs if pair["num_clauses"] == 1}
    found = []
    for pair in pairs:
        subset = pair["clause_subset"]
        texts = row["clause_sql"] if subset[0] == 0 else alone
        found.append([(row["clause_types"][clause], texts[clause]) for clause in subset])
    return found


def intervals(ids: Sequence[int]) -> str:
    """Sorted word ids as intervals.

    >>> intervals([0, 1, 2, 5])
    '0–2, 5'
    """
    runs: list[list[int]] = []
    for position in ids:
        if runs and position == runs[-1][1] + 1:
            runs[-1][1] = position
        else:
            runs.append([position, position])
    return ", ".join(f"{first}\N{EN DASH}{last}" if first < last else str(first) for first, last in runs)
