"""One question as a lattice: what each word is worth for each set of clauses, and what each change costs.

All numbers that decide a segmentation are in `SegmentationCosts`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import combinations

from spider_compose.alignment.evidence import ClauseWords, EvidenceWeights, evidence
from spider_compose.alignment.openers import (
    ASKING,
    MARKERS,
    NOUNS,
    find_openers,
    head_nouns,
    is_superlative,
    names_a_pair,
    opens_modifier,
    phrase_edges,
    sentence_starts,
)
from spider_compose.alignment.records import Word
from spider_compose.sql.clauses import SET_OPERATIONS

IMPOSSIBLE = math.inf


@dataclass(frozen=True)
class SegmentationCosts:
    """Everything that decides a segmentation, in the units of `EvidenceWeights`.

    The first group is what words are worth; the second what a change costs by what opens the new span; the
    third what it costs by where it leads.

    Attributes:
        evidence: what a matching word is worth.
        marker: a word that speaks for a type of clause by itself ("each").
        asking: a word that asks, at the start of a sentence or behind a conjunction ("and *what*"), for
            SELECT.

        sentence: a new sentence.
        asks_again: a conjunction or comma with a word that asks behind it (", and what").
        relative: a relative pronoun ("who"); `past_relative` is the cost of SELECT going on there.
        participle: a participle or past tense behind a noun ("singers *born* in").
        preposition: a preposition other than "of".
        verb: a finite verb.
        conjunction: another conjunction or comma.
        coordination: one with a noun phrase behind it ("names *and* the ages").
        elsewhere: any other word.

        start: beginning with another clause than SELECT, or with SELECT where a later sentence asks; nothing
            where the question begins with a preposition ("For each singer").
        again: going back to a clause that was left.
        unmarked_group: GROUP BY without HAVING on its own in a question without "each", "every", "per".
        together: a set operation and the clause before it in the same words, without "both" or "either"
            directly before the pair.
        group_with_select: GROUP BY in SELECT's own words.
        shared_word: each word that SELECT shares with another clause, so that as few as needed are shared.
        other_with_select: another clause in SELECT's own words.
        other_together: any other clauses in the same words; GROUP BY and ORDER BY cost nothing where the
            question has no "each" and the query no HAVING.
        modifier: a clause inside a noun phrase of SELECT.
    """

    evidence: EvidenceWeights = field(
        default=EvidenceWeights(general=0.3, joined=0.3, qualifier=0.5, near=0.7)
    )
    marker: float = 2.0
    asking: float = 2.0

    sentence: float = 0.0
    asks_again: float = 0.0
    relative: float = 0.0
    past_relative: float = 2.0
    participle: float = 0.0
    preposition: float = 1.0
    verb: float = 0.5
    conjunction: float = 2.0
    coordination: float = 3.0
    elsewhere: float = 3.5

    start: float = 3.0
    again: float = 4.0
    unmarked_group: float = 5.0
    together: float = 2.0
    group_with_select: float = 3.0
    shared_word: float = 0.3
    other_with_select: float = 6.0
    other_together: float = 3.0
    modifier: float = 3.0


DEFAULT_COSTS = SegmentationCosts()


@dataclass(frozen=True)
class State:
    """A set of clauses that words are said for.

    Attributes:
        clauses: ascending clause indices.
        mask: the same as bits.
        inside: whether it stands inside a noun phrase of SELECT.
    """

    clauses: tuple[int, ...]
    mask: int
    inside: bool = False


@lru_cache(maxsize=1024)
def possible_states(types: tuple[str, ...]) -> tuple[State, ...]:
    """The sets of clauses that can be said together: one, two, all but SELECT, all."""
    everything = tuple(range(len(types)))
    sets: list[tuple[int, ...]] = [
        *combinations(everything, 1),
        *combinations(everything, 2),
        everything[1:],
        everything,
    ]
    masks = {clauses: sum(1 << clause for clause in clauses) for clauses in sets}
    outside = [State(clauses, mask) for clauses, mask in masks.items()]
    inside = [State(clauses, mask, True) for clauses, mask in masks.items() if 0 not in clauses]
    return (*outside, *inside)


@dataclass(frozen=True)
class Lattice:
    """One question with the clauses of its query, ready to be searched.

    Attributes:
        types: clause type by clause index.
        states: see `possible_states`.
        evidence: of each word for each state, by position and state.
        openers: what opens at each position: a field of `SegmentationCosts`, or "" where no change is
            possible.
        entry: cost of entering each state.
        starts: cost of beginning with each state.
        heads: see `head_nouns`.
        modifies: whether a clause inside a noun phrase of SELECT can start at each position.
        edges: whether a noun phrase starts at each position or has ended before it.
    """

    words: Sequence[Word]
    types: tuple[str, ...]
    states: tuple[State, ...]
    evidence: list[list[float]]
    openers: list[str]
    entry: list[float]
    starts: list[float]
    heads: list[int]
    modifies: list[bool]
    edges: list[bool]
    costs: SegmentationCosts

    @classmethod
    def of(
        cls, words: Sequence[Word], candidates: Sequence[ClauseWords], costs: SegmentationCosts
    ) -> Lattice:
        """Read one question.

        Args:
            candidates: of each clause, see `clause_words`.
        """
        types = tuple(candidate.type for candidate in candidates)
        states = possible_states(types)
        sentences = sentence_starts(words)
        asks_later = any(words[start].text.lower() in ASKING for start in sentences[1:])
        openers, heads = find_openers(words, sentences), head_nouns(words)
        matrix = _clause_evidence(words, candidates, openers, asks_later, costs)
        return cls(
            words=words,
            types=types,
            states=states,
            evidence=[
                [_state_evidence(column, state, costs) for state in states]
                for column in zip(*matrix, strict=True)
            ],
            openers=openers,
            entry=_entry_costs(states, words, candidates, costs),
            starts=[_start_cost(state, types, words[0], asks_later, costs) for state in states],
            heads=heads,
            modifies=[opens_modifier(words, heads, matrix[0], position) for position in range(len(words))],
            edges=phrase_edges(words, heads),
            costs=costs,
        )


def _clause_evidence(
    words: Sequence[Word],
    candidates: Sequence[ClauseWords],
    openers: Sequence[str],
    asks_later: bool,
    costs: SegmentationCosts,
) -> list[list[float]]:
    """The evidence matrix with markers and words that ask."""
    matrix = evidence(words, candidates, costs.evidence)
    for row, candidate in zip(matrix, candidates, strict=True):
        markers = _markers(candidate, candidates[0])
        for position, word in enumerate(words):
            orders = candidate.type == "ORDER BY" and _orders(words, position)
            if orders or word.text.lower() in markers:
                row[position] = max(row[position], costs.marker)
    asks = not asks_later
    for position, word in enumerate(words):
        asks = asks or openers[position] in ("sentence", "asks_again")
        starts = position == 0 or openers[position] == "sentence"
        if asks and word.text.lower() in ASKING and (starts or word.tag not in NOUNS):
            for row in matrix:
                row[position] = 0.0
            matrix[0][position] = costs.asking
            asks = False
    return matrix


def _markers(candidate: ClauseWords, select: ClauseWords) -> frozenset[str]:
    markers = MARKERS.get(candidate.type, frozenset())
    if candidate.type != "GROUP BY":
        return markers
    if has_condition(candidate):
        return frozenset()  # "every course with less than two sections": HAVING says the group
    return markers - select.words["function"]  # "different" may speak for DISTINCT


def _orders(words: Sequence[Word], position: int) -> bool:
    """Whether a word speaks of an order: a superlative, or "order" in "the order of age"."""
    after = words[position + 1].text.lower() if position + 1 < len(words) else ""
    named = words[position].text.lower() == "order" and after in {"of", "by"}
    return named or is_superlative(words, position)


def has_condition(group: ClauseWords) -> bool:
    """Whether a GROUP BY clause has a HAVING."""
    return bool(group.words["value"] or group.words["function"])


def _state_evidence(column: Sequence[float], state: State, costs: SegmentationCosts) -> float:
    if len(state.clauses) > 1 and 0 in state.clauses:
        # A word that SELECT shares speaks for both.
        return column[0] + max(column[clause] for clause in state.clauses[1:]) - costs.shared_word
    return max(column[clause] for clause in state.clauses)


def _start_cost(
    state: State, types: Sequence[str], first: Word, asks_later: bool, costs: SegmentationCosts
) -> float:
    if state.inside:  # "Latest papers by": SELECT begins with it
        return IMPOSSIBLE if asks_later else 0.0
    marked = any(first.text.lower() in MARKERS.get(types[clause], ()) for clause in state.clauses)
    if marked or (first.tag in {"IN", "TO"} and not asks_later):
        return 0.0
    return costs.start if (0 in state.clauses) == asks_later else 0.0


def _entry_costs(
    states: Sequence[State],
    words: Sequence[Word],
    candidates: Sequence[ClauseWords],
    costs: SegmentationCosts,
) -> list[float]:
    marked = any(word.text.lower() in MARKERS["GROUP BY"] for word in words)
    conditioned = any(one.type == "GROUP BY" and has_condition(one) for one in candidates)
    group_apart = marked or conditioned
    paired = names_a_pair(words)

    def together(kinds: frozenset[str]) -> float:
        if len(kinds) == 1:
            return costs.unmarked_group if kinds == {"GROUP BY"} and not group_apart else 0.0
        if "SELECT" in kinds:
            return costs.group_with_select if kinds == {"SELECT", "GROUP BY"} else costs.other_with_select
        if kinds == {"GROUP BY", "ORDER BY"}:
            return costs.other_together if group_apart else 0.0
        if len(kinds) == 2 and kinds & set(SET_OPERATIONS):
            return 0.0 if paired else costs.together
        return costs.other_together

    return [
        together(frozenset(candidates[clause].type for clause in state.clauses))
        + costs.modifier * state.inside
        for state in states
    ]
