"""Segmentation: a question as a sequence of clause spans, found by dynamic programming.

Not the paper's method (see `keyword_tagging`), but over the same evidence. Every word gets a *state*, the set
of clauses it is said for: {SELECT}, {WHERE}, {GROUP BY, ORDER BY}, ... The best sequence of states maximises

    sum over words   evidence of the word for its state (`evidence`, `SegmentationCosts.marker`)
    minus, where the state changes, the cost of changing to that state at that word.

Changing is cheap where English opens a phrase ("who", "with", "sorted", a new sentence), dear inside a noun
phrase, and impossible where a fragment would stop at a function word or a quotation would be cut. A clause
may also be said *inside* a noun phrase of SELECT ("the *oldest* singer"): its words are then the modifiers,
and the head noun is shared. The search goes on over pairs (state, clauses said so far), so that every clause
gets words.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import reduce

from spider_compose.alignment.evidence import ClauseWords
from spider_compose.alignment.lattice import DEFAULT_COSTS, IMPOSSIBLE, Lattice, SegmentationCosts, State
from spider_compose.alignment.records import Alignment, Word
from spider_compose.alignment.sharing import (
    divide_modifiers,
    divide_pairs,
    joining_words,
    keep_superlatives,
    move_conjunctions,
    share_final_marks,
    share_head_nouns,
)
from spider_compose.sql.clauses import SET_OPERATIONS

# Openers that invite to every clause but SELECT.
_LEADS_ON = frozenset({"relative", "participle", "preposition", "verb"})


def segment(
    words: Sequence[Word], candidates: Sequence[ClauseWords], costs: SegmentationCosts = DEFAULT_COSTS
) -> Alignment:
    """Divide a question among the clauses of its query.

    Args:
        candidates: the candidate words of each clause, see `clause_words`.

    Returns:
        The best segmentation: every word is in a clause, every clause has words. The mark that ends a
        sentence is also in the clause that begins it.
    """
    if len(candidates) == 1:
        everything = tuple(range(len(words)))
        return Alignment((0,) * len(words), (everything,), confidence=1.0)
    lattice = Lattice.of(words, candidates, costs)
    path, probability = _search(lattice)
    move_conjunctions(path, lattice)
    said = [set(state.clauses) for state in path]
    for share in (divide_pairs, share_head_nouns, divide_modifiers, keep_superlatives, share_final_marks):
        share(said, path, lattice)
    ids = tuple(
        tuple(position for position, clauses in enumerate(said) if clause in clauses)
        for clause in range(len(candidates))
    )
    tags = tuple(state.clauses[-1] for state in path)
    return Alignment(tags, ids, joining_words(said, path, lattice), probability)


# A place in the search: index of the state, and the clauses said so far as bits.
Place = tuple[int, int]


def _search(lattice: Lattice) -> tuple[list[State], float]:
    """The best path (Viterbi), and its probability among all paths (forward sums)."""
    states = lattice.states
    best: dict[Place, float] = {
        # Where a question begins inside a noun phrase of SELECT, the head noun is said for SELECT too.
        (index, state.mask | state.inside): lattice.evidence[0][index]
        - lattice.entry[index]
        - lattice.starts[index]
        for index, state in enumerate(states)
        if lattice.starts[index] < IMPOSSIBLE
        and (not state.inside or (lattice.modifies[0] and _speaks_inside(lattice, 0, index)))
    }
    sums = dict(best)  # logarithms
    origins: list[dict[Place, Place]] = [{}]
    for position in range(1, len(lattice.words)):
        last_best, last_sums = best, sums
        best, sums, origin = {}, {}, {}
        for place, score in last_best.items():
            for index, cost in _steps(lattice, place, position):
                target = (index, place[1] | states[index].mask)
                gain = lattice.evidence[position][index] - cost
                if score + gain > best.get(target, -IMPOSSIBLE):
                    best[target], origin[target] = score + gain, place
                reached = last_sums[place] + gain
                sums[target] = _log_add(sums[target], reached) if target in sums else reached
        origins.append(origin)
    everything = (1 << len(lattice.types)) - 1
    ends = [place for place in best if place[1] == everything and not states[place[0]].inside]
    place = max(ends, key=lambda end: (best[end], -end[0]))
    probability = math.exp(min(0.0, best[place] - reduce(_log_add, (sums[end] for end in ends))))
    path = [states[place[0]]]
    for origin in reversed(origins[1:]):
        place = origin[place]
        path.append(states[place[0]])
    return path[::-1], probability


def _log_add(first: float, second: float) -> float:
    high, low = (first, second) if first > second else (second, first)
    return high + math.log1p(math.exp(low - high))


def _steps(lattice: Lattice, place: Place, position: int) -> Iterator[tuple[int, float]]:
    """The states that can follow, each with the cost of going there."""
    index, said = place
    state, costs = lattice.states[index], lattice.costs
    opener, edge = lattice.openers[position], lattice.edges[position]
    if state.inside:  # up to the head noun, which is then said for the same clauses
        at_head = lattice.heads[position - 1] == position
        yield (lattice.states.index(replace(state, inside=False)) if at_head else index), 0.0
        return
    yield index, costs.past_relative if opener == "relative" and 0 in state.clauses else 0.0
    modifies = state.clauses == (0,) and lattice.modifies[position]
    for other, target in enumerate(lattice.states if opener or edge or modifies else ()):
        cost = lattice.entry[other]
        if target.mask & ~state.mask & said and opener != "asks_again":
            cost += costs.again
        if target.inside:
            if modifies and _speaks_inside(lattice, position, other):
                yield other, cost
        elif other == index:
            continue
        elif 0 in state.clauses and 0 in target.clauses:  # SELECT goes on, with or without another clause
            yield other, cost
        elif opener and (opening := _opening_cost(lattice, state, target, opener)) < IMPOSSIBLE:
            yield other, cost + opening


def _speaks_inside(lattice: Lattice, position: int, other: int) -> bool:
    """Whether a word in SELECT's phrase speaks for a state, and the phrase's head noun no less for SELECT."""
    head = lattice.evidence[lattice.heads[position]]
    return lattice.evidence[position][other] > 0 and head[0] >= head[other]


def _opening_cost(lattice: Lattice, state: State, target: State, opener: str) -> float:
    """Cost of the words that open a span, for where it leads.

    A set of clauses never gives way to a part of itself, nor a clause to an INTERSECT or UNION without a
    conjunction; with one that costs nothing.
    """
    opening = float(getattr(lattice.costs, opener))
    if target.clauses == (0,):
        return lattice.costs.elsewhere if opener in _LEADS_ON else opening
    if 0 in state.clauses or 0 in target.clauses:
        return opening
    if state.mask & target.mask:
        return IMPOSSIBLE
    kinds = {lattice.types[clause] for clause in (*state.clauses, *target.clauses)}
    if opener == "sentence" or not kinds & set(SET_OPERATIONS):
        return opening
    if opener in ("conjunction", "coordination"):
        return 0.0
    return opening if "EXCEPT" in kinds else IMPOSSIBLE
