"""Segmentation: a question as a sequence of clause spans, found by dynamic programming.

Not the paper's method (see `keyword_tagging`), but over the same evidence. Every word gets a *state*, the set of
clauses it is said for: {SELECT}, {WHERE}, {GROUP BY, ORDER BY}, ... The best sequence of states maximises

    sum over words   evidence of the word for its state (`evidence`, `SegmentationCosts.marker`)
    minus, where the state changes, the cost of changing to that state at that word.

Changing is cheap where English opens a phrase ("who", "with", "sorted", a new sentence), dear inside a noun phrase,
and impossible where a fragment would stop at a function word or a quotation would be cut. A clause may also be
said *inside* a noun phrase of SELECT ("the *oldest* singer"): its words are then the modifiers, and the head noun is
shared. The search goes on over pairs (state, clauses said so far), so that every clause gets words.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from spider_compose.alignment.evidence import ClauseWords, EvidenceWeights, evidence
from spider_compose.alignment.records import Alignment, Word
from spider_compose.sql.clauses import SET_OPERATIONS

IMPOSSIBLE = math.inf

# --- Vocabulary ------------------------------------------------------------------------------------------

# Words that speak for a type of clause by themselves.
MARKERS: Mapping[str, frozenset[str]] = {
    kind: frozenset(words.split())
    for kind, words in {
        "GROUP BY": "each every per group grouped",
        "ORDER BY": "order ordered ordering sort sorted sorting rank ranked alphabetical alphabetically "
        "lexicographical lexicographically ascending descending chronological chronologically",
        "INTERSECT": "both also",
        "UNION": "either or",
        "EXCEPT": "not n't never no without except excluding",
    }.items()
}
TOGETHER = frozenset({"both", "either"})
ASKING = frozenset(
    "what which who how when where find list show give return tell display report provide name count state "
    "compute calculate also please".split()
)
SENTENCE_ENDS = frozenset({".", "?", "!", ";"})
QUOTES = frozenset({"'", '"', "``", "''", "`", "\u2018", "\u2019", "\u201c", "\u201d"})

_NOUNS = frozenset("NN NNS NNP NNPS".split())
_MODIFIERS = frozenset("JJ JJR JJS RBR RBS VBN VBG CD HYPH".split())
_DETERMINERS = frozenset("DT PDT PRP$".split())
_DANGLING = frozenset("CC DT IN MD PDT PRP$ TO WDT WP WP$ WRB".split())
_AUXILIARIES = frozenset("be have do".split())
_RELATIVES = frozenset("WDT WP WP$ WRB".split())


# --- Costs -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SegmentationCosts:
    """Everything that decides a segmentation, in the units of `EvidenceWeights`.

    Attributes:
        evidence: what a matching word is worth.
        marker: worth of a word that speaks for a type of clause by itself ("each").
        asking: worth of a word that asks for SELECT at the start of a sentence ("List").
        sentence: cost of a change at the first word of a sentence; the next ones at a relative pronoun ("who"), a
            participle, a preposition, a finite verb, a conjunction or comma, after a conjunction, elsewhere.
        inside_phrase: further cost of a change between a modifier and its noun.
        again: cost of going back to a clause that was left.
        start: cost of beginning with another clause than SELECT, unless a later sentence asks.
        shared: cost of saying WHERE and a set operation together without "both" or "either".
        select_shared: cost of saying a clause in SELECT's own words.
        group_with_select: cost of saying GROUP BY in SELECT's own words.
        modifier: cost of saying a clause inside a noun phrase of SELECT.
    """

    evidence: EvidenceWeights = field(default_factory=lambda: EvidenceWeights(general=0.3))
    marker: float = 2.0
    asking: float = 2.0
    sentence: float = 0.0
    relative: float = -2.0
    participle: float = 0.0
    preposition: float = 0.0
    verb: float = 1.0
    conjunction: float = 1.5
    after_conjunction: float = 1.0
    elsewhere: float = 3.0
    inside_phrase: float = 3.0
    again: float = 4.0
    start: float = 3.0
    shared: float = 1.0
    other_shared: float = 3.0
    select_shared: float = 6.0
    group_with_select: float = 2.0
    modifier: float = 3.0


# --- States --------------------------------------------------------------------------------------------------


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
def _states(types: tuple[str, ...]) -> tuple[State, ...]:
    """The sets of clauses that can be said together."""
    sets = [(clause,) for clause in range(len(types))]
    sets += [(first, second) for first in range(len(types)) for second in range(first + 1, len(types))]
    if len(types) > 2:
        sets.append(tuple(range(1, len(types))))
        sets.append(tuple(range(len(types))))
    sets = list(dict.fromkeys(sets))
    states = [State(clauses, sum(1 << clause for clause in clauses)) for clauses in sets]
    inside = [State(state.clauses, state.mask, True) for state in states if 0 not in state.clauses]
    return tuple(states + inside)


def segment(
    words: Sequence[Word], candidates: Sequence[ClauseWords], costs: SegmentationCosts = SegmentationCosts()
) -> Alignment:
    """Divide a question among the clauses of its query.

    Args:
        candidates: the candidate words of each clause, see `clause_words`.

    Returns:
        The best segmentation: every word is in a clause, every clause has words. The mark that ends a sentence is
        also in the clause that begins it.
    """
    if len(candidates) == 1:
        everything = tuple(range(len(words)))
        return Alignment((0,) * len(words), (everything,), 1.0)
    lattice = _Lattice.of(words, candidates, costs)
    path, confidence = _search(lattice)
    said = [set(state.clauses) for state in path]
    _share_head_nouns(said, path, lattice)
    _share_final_marks(said, words)
    tags = tuple(state.clauses[-1] for state in path)
    ids = tuple(
        tuple(position for position, clauses in enumerate(said) if clause in clauses)
        for clause in range(len(candidates))
    )
    return Alignment(tags, ids, confidence)


# --- What the search needs to know of a question ---------------------------------------------------------------


@dataclass(frozen=True)
class _Lattice:
    """One question, ready to be searched.

    Attributes:
        states: see `_states`.
        emissions: evidence by position and state.
        openings: cost of a change at each position.
        entry: cost of a state, paid when it is entered.
        heads: position of the head noun of the noun phrase a word stands in as a modifier, or -1.
        asked: the later sentence starts that ask; empty in most questions.
    """

    words: Sequence[Word]
    states: tuple[State, ...]
    emissions: list[list[float]]
    openings: list[float]
    entry: list[float]
    heads: list[int]
    asked: bool
    costs: SegmentationCosts
    everything: int

    @classmethod
    def of(cls, words: Sequence[Word], candidates: Sequence[ClauseWords], costs: SegmentationCosts) -> _Lattice:
        types = tuple(candidate.type for candidate in candidates)
        states = _states(types)
        starts = sentence_starts(words)
        matrix = _emissions(words, candidates, starts, costs)
        emissions = [
            [max(matrix[clause][position] for clause in state.clauses) for state in states]
            for position in range(len(words))
        ]
        together = any(word.text.lower() in TOGETHER for word in words)
        entry = [_entry_cost(state, types, candidates, together, costs) for state in states]
        heads = _heads(words)
        openings = _openings(words, starts, heads, costs)
        asked = any(words[start].text.lower() in ASKING for start in starts[1:])
        everything = (1 << len(types)) - 1
        return cls(words, states, emissions, openings, entry, heads, asked, costs, everything)


def sentence_starts(words: Sequence[Word]) -> list[int]:
    """Positions of the words that begin a sentence; marks inside quotations end none."""
    starts, quoted = [0], False
    for position, word in enumerate(words[:-1]):
        if word.text in QUOTES:
            quoted = not quoted
        elif word.text in SENTENCE_ENDS and not quoted and words[position + 1].text not in SENTENCE_ENDS:
            starts.append(position + 1)
    return starts


def _emissions(
    words: Sequence[Word], candidates: Sequence[ClauseWords], starts: Sequence[int], costs: SegmentationCosts
) -> list[list[float]]:
    matrix = evidence(words, candidates, costs.evidence)
    for clause, candidate in enumerate(candidates):
        markers = MARKERS.get(candidate.type, frozenset())
        for position, word in enumerate(words):
            if word.text.lower() in markers:
                matrix[clause][position] = max(matrix[clause][position], costs.marker)
    for start in starts:
        if words[start].text.lower() in ASKING:
            for row in matrix[1:]:
                row[start] = 0.0
            matrix[0][start] = costs.asking
    return matrix


def _entry_cost(
    state: State, types: Sequence[str], candidates: Sequence[ClauseWords], together: bool, costs: SegmentationCosts
) -> float:
    kinds = {types[clause] for clause in state.clauses}
    if len(kinds) == 1:
        cost = 0.0
    elif kinds == {"GROUP BY", "ORDER BY"}:
        cost = 0.0
    elif kinds == {"SELECT", "GROUP BY"}:
        cost = costs.group_with_select
    elif "SELECT" in kinds:
        cost = costs.select_shared
    elif kinds & set(SET_OPERATIONS) and "WHERE" in kinds:
        cost = 0.0 if together else costs.shared
    else:
        cost = costs.other_shared
    return cost + (costs.modifier if state.inside else 0.0)


def _heads(words: Sequence[Word]) -> list[int]:
    """For each word that modifies a noun behind it in its phrase the position of that noun, else -1."""
    heads, head = [-1] * len(words), -1
    for position in range(len(words) - 1, -1, -1):
        tag = words[position].tag
        if tag in _NOUNS:
            if head < 0:
                head = position
            else:
                heads[position] = head
        elif tag in _MODIFIERS or (tag in _DETERMINERS and head >= 0):
            heads[position] = head
            head = -1 if tag in _DETERMINERS else head
        else:
            head = -1
    return heads


def dangles(word: Word) -> bool:
    """Whether a fragment must not stop at this word: it calls for what follows."""
    return word.tag in _DANGLING or word.lemma in _AUXILIARIES


def _openings(
    words: Sequence[Word], starts: Sequence[int], heads: Sequence[int], costs: SegmentationCosts
) -> list[float]:
    openings, quoted = [0.0] * len(words), False
    first = set(starts)
    for position in range(1, len(words)):
        before, word = words[position - 1], words[position]
        if before.text in QUOTES:
            quoted = not quoted
        if position in first:
            openings[position], quoted = costs.sentence, False
        elif quoted or _is_attached(before, word) or word.text in SENTENCE_ENDS or word.text in "''``\"":
            openings[position] = IMPOSSIBLE if quoted or word.text[0] not in "\"'`" or _is_attached(before, word) else costs.elsewhere
        else:
            openings[position] = _opening(before, word, heads[position - 1], costs)
    return openings


def _is_attached(before: Word, word: Word) -> bool:
    return before.end == word.start and word.text not in {",", ";", ":"}


def _opening(before: Word, word: Word, head: int, costs: SegmentationCosts) -> float:
    if before.tag == "CC":
        return costs.after_conjunction
    if word.tag in {"CC", ",", ":"}:
        return costs.conjunction
    if dangles(before):
        return IMPOSSIBLE
    if before.tag == ",":
        return costs.elsewhere
    if word.tag in _RELATIVES or (word.text.lower() == "that" and before.tag in _NOUNS):
        return costs.relative
    if word.tag in {"IN", "TO"}:
        return costs.preposition if word.text.lower() != "of" else costs.elsewhere
    if word.tag in {"VBN", "VBG", "VBD"} and before.tag in _NOUNS and word.lemma not in _AUXILIARIES:
        return costs.participle
    if word.tag in {"VBZ", "VBP", "VBD", "MD"}:
        return costs.verb
    return costs.elsewhere + (costs.inside_phrase if head >= 0 else 0.0)


# --- Search ------------------------------------------------------------------------------------------------------


def _search(lattice: _Lattice) -> tuple[list[State], float]:
    """The best path, and its probability among all paths."""
    states, costs = lattice.states, lattice.costs
    count = len(lattice.words)
    # (state, clauses said so far) -> (score, sum of exponentials of the scores of all paths to it)
    front: dict[tuple[int, int], float] = {}
    total: dict[tuple[int, int], float] = {}
    back: list[dict[tuple[int, int], tuple[int, int]]] = [{}]
    for index, state in enumerate(states):
        if state.inside:
            continue
        start = 0.0 if 0 in state.clauses or lattice.asked else costs.start
        front[index, state.mask] = lattice.emissions[0][index] - lattice.entry[index] - start
    total = dict(front)
    for position in range(1, count):
        best: dict[tuple[int, int], float] = {}
        sums: dict[tuple[int, int], float] = {}
        origin: dict[tuple[int, int], tuple[int, int]] = {}
        emission = lattice.emissions[position]
        for key, score in front.items():
            mass = total[key]
            for index, cost in _steps(lattice, key, position):
                target = (index, key[1] | states[index].mask)
                gain = emission[index] - cost
                if score + gain > best.get(target, -IMPOSSIBLE):
                    best[target], origin[target] = score + gain, key
                sums[target] = _log_add(sums[target], mass + gain) if target in sums else mass + gain
        front, total = best, sums
        back.append(origin)
    ends = [key for key in front if key[1] == lattice.everything and not states[key[0]].inside]
    key = max(ends, key=lambda end: (front[end], -end[0]))
    everything = total[ends[0]]
    for end in ends[1:]:
        everything = _log_add(everything, total[end])
    confidence = math.exp(min(0.0, front[key] - everything))
    path = [states[key[0]]]
    for position in range(count - 1, 0, -1):
        key = back[position][key]
        path.append(states[key[0]])
    return path[::-1], confidence


def _log_add(first: float, second: float) -> float:
    high, low = (first, second) if first > second else (second, first)
    return high + math.log1p(math.exp(low - high))


def _steps(lattice: _Lattice, key: tuple[int, int], position: int) -> Iterator[tuple[int, float]]:
    """The states that can follow, each with the cost of going there."""
    index, said = key
    state, costs = lattice.states[index], lattice.costs
    opening = lattice.openings[position]
    head = lattice.heads[position]
    if state.inside:
        if lattice.heads[position - 1] == position:
            yield 0, 0.0
        else:
            yield index, 0.0
        return
    yield index, 0.0
    if state.clauses == (0,) and head >= 0 and lattice.words[position].tag not in _DETERMINERS:
        for other, target in enumerate(lattice.states):
            if target.inside:
                cost = lattice.entry[other] + (costs.again if target.mask & said else 0.0)
                yield other, cost
    if opening == IMPOSSIBLE:
        return
    for other, target in enumerate(lattice.states):
        if other == index or target.inside:
            continue
        new = target.mask & ~state.mask
        yield other, opening + lattice.entry[other] + (costs.again if new & said else 0.0)


# --- Sharing -----------------------------------------------------------------------------------------------------


def _share_head_nouns(said: list[set[int]], path: Sequence[State], lattice: _Lattice) -> None:
    """"the *oldest singer*": a clause said inside a noun phrase has its head noun too."""
    for position, state in enumerate(path):
        if state.inside:
            said[lattice.heads[position]].update(state.clauses)


def _share_final_marks(said: list[set[int]], words: Sequence[Word]) -> None:
    """The mark that ends a sentence is also in the clause that begins it: "What are the names of singers*?*"."""
    starts = sentence_starts(words)
    for start, end in zip(starts, [*starts[1:], len(words)], strict=True):
        if words[end - 1].text in SENTENCE_ENDS:
            said[end - 1] |= said[start]
