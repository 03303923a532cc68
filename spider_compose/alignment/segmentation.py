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
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from spider_compose.alignment.evidence import ClauseWords, EvidenceWeights, evidence
from spider_compose.alignment.records import Alignment, Word
from spider_compose.sql.clauses import SET_OPERATIONS

IMPOSSIBLE = math.inf
SAYS_SELECT = 0.5  # evidence from which on a modifier is SELECT's as well

# --- Vocabulary ------------------------------------------------------------------------------------------


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Words that speak for a type of clause by themselves.
MARKERS: Mapping[str, frozenset[str]] = {
    "GROUP BY": _words("each every per group grouped different various"),
    "ORDER BY": _words(
        "ordered ordering sort sorted sorting ranked alphabetical alphabetically lexicographical "
        "lexicographically ascending descending chronological chronologically"
    ),
    "INTERSECT": _words("also"),
    "EXCEPT": _words("not n't never no without except excluding"),
}
ASKING = _words(
    "what which who how when where find list show give return get tell display report provide name count state "
    "compute calculate please"
)
PAIR_MARKS = _words("both either")
QUANTITIES = _words("most least few fewest many much little")
CONNECTIVES = _words("and or but , ; also then")
SENTENCE_ENDS = _words(". ? !")
QUOTES = _words("' \" `` '' ` \u2018 \u2019 \u201c \u201d")

_NOUNS = _words("NN NNS NNP NNPS")
_MODIFIERS = _words("JJ JJR JJS RBR RBS VBN VBG CD HYPH")
_DETERMINERS = _words("DT PDT PRP$")
_DANGLING = _words("CC DT IN MD PDT PRP$ TO WDT WP WP$ WRB")
_AUXILIARIES = _words("be have do")
_RELATIVES = _words("WDT WP WP$ WRB")
_LEADS_ON = _words("relative participle preposition verb")  # openers that invite to every clause but SELECT


# --- Costs -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SegmentationCosts:
    """Everything that decides a segmentation, in the units of `EvidenceWeights`.

    The first group is what words are worth; the second what a change costs by what opens the new span; the third
    what it costs by where it leads.

    Attributes:
        evidence: what a matching word is worth.
        marker: a word that speaks for a type of clause by itself ("each").
        asking: a word that asks, at the start of a sentence or behind a conjunction ("and *what*"), for SELECT.

        sentence: a new sentence.
        asks_again: a conjunction or comma with a word that asks behind it (", and what").
        relative: a relative pronoun ("who"); `past_relative` is the cost of SELECT going on there.
        participle: a participle or past tense behind a noun ("singers *born* in").
        preposition: a preposition other than "of".
        verb: a finite verb.
        conjunction: another conjunction or comma.
        coordination: one with a noun phrase behind it ("names *and* the ages").
        elsewhere: any other word.
        inside_phrase: further, between a modifier and its noun.

        start: beginning with another clause than SELECT, or with SELECT where a later sentence asks; nothing where
            the question begins with a preposition ("For each singer").
        again: going back to a clause that was left.
        unmarked_group: GROUP BY without HAVING on its own in a question without "each", "every", "per".
        conjunct: between INTERSECT or UNION and another clause without a conjunction. With one, a change to a set
            operation costs nothing.
        together: a set operation and the clause before it in the same words, without "both" or "either" directly
            before the pair.
        group_with_select: GROUP BY in SELECT's own words.
        shared_word: each word that SELECT shares with another clause, so that as few as needed are shared.
        other_with_select: another clause in SELECT's own words.
        other_together: any other clauses in the same words; GROUP BY and ORDER BY cost nothing where the question
            has no "each" and the query no HAVING.
        part: between a set of clauses and a part of it other than SELECT.
        modifier: a clause inside a noun phrase of SELECT.
    """

    evidence: EvidenceWeights = EvidenceWeights(general=0.3, joined=0.3, qualifier=0.5, near=0.7)
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
    inside_phrase: float = 3.0

    start: float = 3.0
    again: float = 4.0
    unmarked_group: float = 5.0
    conjunct: float = 6.0
    together: float = 2.0
    group_with_select: float = 3.0
    shared_word: float = 0.3
    other_with_select: float = 6.0
    other_together: float = 3.0
    part: float = 3.0
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
        return Alignment((0,) * len(words), (everything,), confidence=1.0)
    lattice = _Lattice.of(words, candidates, costs)
    path, confidence = _search(lattice)
    _move_conjunctions(path, lattice)
    said = [set(state.clauses) for state in path]
    _divide_pairs(said, path, lattice)
    _share_head_nouns(said, path, lattice)
    _keep_superlatives(said, path, words, candidates)
    _share_final_marks(said, words)
    tags = tuple(state.clauses[-1] for state in path)
    ids = tuple(
        tuple(position for position, clauses in enumerate(said) if clause in clauses)
        for clause in range(len(candidates))
    )
    return Alignment(tags, ids, _joining_words(path, said, words), confidence)


# --- What the search needs to know of a question ---------------------------------------------------------------


@dataclass(frozen=True)
class _Lattice:
    """One question, ready to be searched.

    Attributes:
        states: see `_states`.
        emissions: evidence by position and state.
        openers: what opens at each position: a field of `SegmentationCosts`, or "" where no change is possible.
        entry: cost of a state, paid when it is entered.
        steps: cost of going from a state to another, opener and entry left out; by opener where it matters.
        heads: position of the head noun of the phrase that a word stands in as a modifier, or -1.
        modifies: whether a clause inside SELECT's noun phrase can start at a word.
        edges: whether a noun phrase starts at a word or has ended before it.
        starts: cost of beginning with a state.
    """

    words: Sequence[Word]
    states: tuple[State, ...]
    emissions: list[list[float]]
    openers: list[str]
    entry: list[float]
    heads: list[int]
    modifies: list[bool]
    edges: list[bool]
    starts: list[float]
    types: tuple[str, ...]
    costs: SegmentationCosts

    @classmethod
    def of(cls, words: Sequence[Word], candidates: Sequence[ClauseWords], costs: SegmentationCosts) -> _Lattice:
        types = tuple(candidate.type for candidate in candidates)
        states = _states(types)
        starts = sentence_starts(words)
        asks_later = any(words[start].text.lower() in ASKING for start in starts[1:])
        openers = _openers(words, starts)
        matrix = _clause_evidence(words, candidates, openers, asks_later, costs)
        emissions = [[_state_evidence(row, state, costs) for state in states] for row in zip(*matrix, strict=True)]
        entry = _entry_costs(states, words, candidates, costs)
        first = [_start_cost(state, types, words[0], asks_later, costs) for state in states]
        heads = _heads(words)
        modifies = [_opens_modifier(words, heads, matrix[0], position) for position in range(len(words))]
        edges = _phrase_edges(words, heads)
        return cls(words, states, emissions, openers, entry, heads, modifies, edges, first, types, costs)


def sentence_starts(words: Sequence[Word]) -> list[int]:
    """Positions of the words that begin a sentence of two words and a mark at least.

    A mark inside a quotation ends none, nor does that of an abbreviation ("the Comp. Sci. department").
    """
    inside = quoted(words)
    marks = [at for at, word in enumerate(words) if word.text in SENTENCE_ENDS and not inside[at]]
    ends = sorted({*marks, len(words) - 1})
    starts = [0]
    for end, following in pairwise(ends):
        if following - end > 2 and end - starts[-1] > 1:
            starts.append(end + 1)
    return starts


def quoted(words: Sequence[Word]) -> list[bool]:
    """Whether each word stands inside a quotation, its closing sign included; an apostrophe opens none."""
    inside, opened = [False] * len(words), -1
    for position, word in enumerate(words):
        if word.text not in QUOTES:
            continue
        before = position > 0 and words[position - 1].end == word.start
        if opened < 0 and not before:
            opened = position
        elif opened >= 0:
            inside[opened + 1 : position + 1] = [True] * (position - opened)
            opened = -1
    return inside


def dangles(word: Word) -> bool:
    """Whether a fragment must not stop at this word: it calls for what follows."""
    return word.tag in _DANGLING or word.lemma in _AUXILIARIES


def _openers(words: Sequence[Word], starts: Sequence[int]) -> list[str]:
    inside, heads = quoted(words), _heads(words)
    openers = [""] * len(words)
    for position in range(1, len(words)):
        before, word = words[position - 1], words[position]
        if position in starts:
            also = words[position].text.lower() == "also" and _asks_behind(words, position)
            openers[position] = "asks_again" if also else "sentence"
        elif inside[position] or word.text in SENTENCE_ENDS or before.text.lower() in CONNECTIVES:
            continue
        elif word.text.lower() in CONNECTIVES and not (dangles(before) and word.tag == "RB"):
            openers[position] = _connective(words, position)
        elif before.end != word.start and not dangles(before) and before.tag != "EX":
            follows = words[position + 1] if position + 1 < len(words) else word
            openers[position] = _opener(before, word, follows, heads[position - 1] >= 0)
    return openers


def _connective(words: Sequence[Word], position: int) -> str:
    """What a run of conjunctions and commas opens."""
    if _asks_behind(words, position):
        return "asks_again"
    while position < len(words) and words[position].text.lower() in CONNECTIVES:
        position += 1
    nominal = position < len(words) and words[position].tag in _NOUNS | _MODIFIERS - {"VBN", "VBG"} | _DETERMINERS
    return "coordination" if nominal else "conjunction"


def _asks_behind(words: Sequence[Word], position: int) -> bool:
    """Whether the connectives from here on lead to a word that asks: ", *and what*", "*as well as how many*"."""
    joins = False
    while position < len(words) and words[position].text.lower() in CONNECTIVES | {"as", "well"}:
        joins = joins or words[position].text.lower() in {"and", "also", ";"}
        position += 1
    text = words[position].text.lower() if position < len(words) else ""
    return text in ASKING and (joins or text not in {"which", "who", "where", "when"})  # ", which has" is relative


def _opener(before: Word, word: Word, follows: Word, modifies: bool) -> str:
    if word.tag in _RELATIVES or (word.text.lower() == "that" and before.tag in _NOUNS):
        return "relative"
    text = word.text.lower()
    if text == "than":
        return ""
    if word.tag == "IN" and text != "of" and follows.tag in {"WDT", "WP", "WP$"}:  # "in which", "for whom"
        return "relative"
    if word.tag in {"VBN", "VBG", "VBD"} and before.tag in _NOUNS and (word.tag == "VBG" or not dangles(word)):
        return "participle"
    if text == "of" and follows.text.lower() in MARKERS["GROUP BY"]:
        return "preposition"
    compares = word.tag == "RBS" and follows.tag == "RB"  # "in room 111 *most recently*"
    compares |= word.tag in {"JJR", "RBR"} and follows.text.lower() == "than" and before.tag in _NOUNS
    if (word.tag in {"IN", "TO"} and text != "of") or text in PAIR_MARKS or compares:
        return "preposition"
    if word.tag in {"VBZ", "VBP", "VBD", "MD"} and before.tag != "PRP":
        return "verb"
    return "inside_phrase" if modifies else "elsewhere"


def _heads(words: Sequence[Word]) -> list[int]:
    """For each word that modifies a noun behind it in its phrase the position of that noun, else -1."""
    heads, head = [-1] * len(words), -1
    for position in range(len(words) - 1, -1, -1):
        tag = words[position].tag
        if tag in _NOUNS and head < 0:
            head = position
        elif tag in _NOUNS or tag in _MODIFIERS:
            heads[position] = head
        else:
            heads[position] = head if tag in _DETERMINERS else -1
            head = -1
    return heads


def _opens_modifier(
    words: Sequence[Word], heads: Sequence[int], select: Sequence[float], position: int
) -> bool:
    """Whether a modifier starts here: behind a determiner, at the start of its phrase, or behind a word of SELECT."""
    if position == 0 or heads[position] < 0 or words[position].tag in _DETERMINERS:
        return False
    before = words[position - 1]
    free = before.tag in _DETERMINERS or select[position - 1] > 0
    if heads[position - 1] != heads[position]:
        free = before.tag not in _NOUNS
    return free and before.end < words[position].start


def _phrase_edges(words: Sequence[Word], heads: Sequence[int]) -> list[bool]:
    nominal = [word.tag in _NOUNS or head >= 0 for word, head in zip(words, heads, strict=True)]
    edges = [False] * len(words)
    for position in range(1, len(words)):
        starts = nominal[position] and (not nominal[position - 1] or words[position].tag in _DETERMINERS)
        ends = nominal[position - 1] and heads[position - 1] < 0
        edges[position] = (starts or ends) and words[position - 1].end < words[position].start
    return edges


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
        markers = MARKERS.get(candidate.type, frozenset())
        if candidate.type == "GROUP BY" and has_condition(candidate):
            markers = frozenset()  # "every course with less than two sections": HAVING says the group
        elif candidate.type == "GROUP BY" and "distinct" in candidates[0].words["function"]:
            markers -= candidates[0].words["function"]  # "different" speaks for DISTINCT
        for position, word in enumerate(words):
            orders = candidate.type == "ORDER BY" and (_is_superlative(words, position) or _orders(words, position))
            if orders or word.text.lower() in markers:
                row[position] = max(row[position], costs.marker)
    asks = "sentence" if not asks_later else ""
    for position, word in enumerate(words):
        asks = openers[position] if openers[position] in ("sentence", "asks_again") else asks
        if asks and word.text.lower() in ASKING:
            matrix[0][position] = costs.asking
            for row in matrix[1:]:
                row[position] = 0.0
            asks = ""
    return matrix


def has_condition(group: ClauseWords) -> bool:
    """Whether a GROUP BY clause has a HAVING."""
    return bool(group.words["value"] or group.words["function"])


def _orders(words: Sequence[Word], position: int) -> bool:
    """ "in the *order* of age", "*order* by age"; not "the order status"."""
    after = words[position + 1].text.lower() if position + 1 < len(words) else ""
    return words[position].text.lower() == "order" and after in {"of", "by"}


def _is_superlative(words: Sequence[Word], position: int) -> bool:
    return words[position].tag in {"JJS", "RBS"} and (position == 0 or words[position - 1].text.lower() != "at")


def _state_evidence(column: Sequence[float], state: State, costs: SegmentationCosts) -> float:
    if len(state.clauses) > 1 and 0 in state.clauses:
        return sum(column[clause] for clause in state.clauses) - costs.shared_word
    return max(column[clause] for clause in state.clauses)


def _start_cost(
    state: State, types: Sequence[str], first: Word, asks_later: bool, costs: SegmentationCosts
) -> float:
    if state.inside:
        return IMPOSSIBLE
    marked = any(first.text.lower() in MARKERS.get(types[clause], ()) for clause in state.clauses)
    if marked or (first.tag in {"IN", "TO"} and not asks_later):
        return 0.0
    return costs.start if (0 in state.clauses) == asks_later else 0.0


def _entry_costs(
    states: Sequence[State], words: Sequence[Word], candidates: Sequence[ClauseWords], costs: SegmentationCosts
) -> list[float]:
    said = {word.text.lower() for word in words}
    paired = _names_a_pair(words)
    entry = []
    for state in states:
        kinds = {candidates[clause].type for clause in state.clauses}
        if kinds == {"GROUP BY"}:
            cost = 0.0 if has_condition(candidates[state.clauses[0]]) or said & MARKERS["GROUP BY"] else costs.unmarked_group
        elif len(kinds) == 1:
            cost = 0.0
        elif kinds == {"GROUP BY", "ORDER BY"}:
            group = next(one for one in candidates if one.type == "GROUP BY")
            apart = has_condition(group) or said & MARKERS["GROUP BY"]
            cost = costs.other_together if apart else 0.0
        elif kinds == {"SELECT", "GROUP BY"}:
            cost = costs.group_with_select
        elif "SELECT" in kinds:
            cost = costs.other_with_select
        elif len(kinds) == 2 and kinds & set(SET_OPERATIONS):
            cost = 0.0 if paired else costs.together
        else:
            cost = costs.other_together
        entry.append(cost + (costs.modifier if state.inside else 0.0))
    return entry


def _names_a_pair(words: Sequence[Word]) -> bool:
    """Whether "both" or "either" stands directly before a pair: "*both* English *and* French"."""
    for position, word in enumerate(words):
        if word.text.lower() in PAIR_MARKS:
            return any(other.text.lower() in {"and", "or"} for other in words[position + 1 : position + 4])
    return False


# --- Search ------------------------------------------------------------------------------------------------------


def _search(lattice: _Lattice) -> tuple[list[State], float]:
    """The best path, and its probability among all paths."""
    states = lattice.states
    # Keys: (state, clauses said so far as bits). Values: best score, and log of the sum over all paths.
    front: dict[tuple[int, int], float] = {}
    for index, state in enumerate(states):
        if lattice.starts[index] < IMPOSSIBLE:
            cost = lattice.entry[index] + lattice.starts[index]
            front[index, state.mask] = lattice.emissions[0][index] - cost
    total = dict(front)
    back: list[dict[tuple[int, int], tuple[int, int]]] = [{}]
    for position in range(1, len(lattice.words)):
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
    everything = (1 << len(lattice.types)) - 1
    ends = [key for key in front if key[1] == everything and not states[key[0]].inside]
    key = max(ends, key=lambda end: (front[end], -end[0]))
    mass = total[ends[0]]
    for end in ends[1:]:
        mass = _log_add(mass, total[end])
    confidence = math.exp(min(0.0, front[key] - mass))
    path = [states[key[0]]]
    for position in range(len(lattice.words) - 1, 0, -1):
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
    if state.inside:
        at_head = lattice.heads[position - 1] == position
        yield (lattice.states.index(State(state.clauses, state.mask)) if at_head else index), 0.0
        return
    opener, again = lattice.openers[position], costs.again
    yield index, costs.past_relative if opener == "relative" and 0 in state.clauses else 0.0
    inside = state.clauses == (0,) and lattice.modifies[position]
    if not (opener or inside or lattice.edges[position]):
        return
    opening = getattr(costs, opener) if opener else 0.0
    if opener == "inside_phrase":
        opening += costs.elsewhere
    for other, target in enumerate(lattice.states):
        new = target.mask & ~state.mask
        if target.inside:
            if inside and _speaks_inside(lattice, position, other):
                yield other, lattice.entry[other] + (again if new & said else 0.0)
        elif 0 in state.clauses and 0 in target.clauses and other != index:  # SELECT goes on, shared or not
            if opener or lattice.edges[position]:
                yield other, lattice.entry[other] + (again if new & said else 0.0)
        elif opener and other != index:
            cost = opening + lattice.entry[other]
            if new & said and opener != "asks_again":
                cost += again
            if target.clauses == (0,) and opener in _LEADS_ON:
                cost += costs.elsewhere - opening
            yield other, cost + _step_cost(lattice, state, target, opener)


def _speaks_inside(lattice: _Lattice, position: int, other: int) -> bool:
    """Whether a state can start inside SELECT's phrase here: its word speaks for it, and the head noun for SELECT."""
    head = lattice.emissions[lattice.heads[position]]
    return lattice.emissions[position][other] > 0 and head[0] >= head[other]


def _step_cost(lattice: _Lattice, state: State, target: State, opener: str) -> float:
    costs = lattice.costs
    if state.mask & target.mask and 0 not in state.clauses and 0 not in target.clauses:
        return costs.part
    if 0 in state.clauses or 0 in target.clauses or opener == "sentence":
        return 0.0
    kinds = {lattice.types[clause] for clause in (*state.clauses, *target.clauses)}
    if not kinds & set(SET_OPERATIONS):
        return 0.0
    if opener in ("conjunction", "coordination"):
        return -float(getattr(costs, opener))
    return 0.0 if "EXCEPT" in kinds else costs.conjunct


# --- Conjunctions and sharing -----------------------------------------------------------------------------------------------------


def _move_conjunctions(path: list[State], lattice: _Lattice) -> None:
    """A lone conjunction between two clauses other than SELECT stays with the first: "in 2014 *and* | in 2015"."""
    for position in range(1, len(path) - 1):
        before = path[position - 1]
        if path[position] != before and lattice.words[position].tag == "CC" and 0 not in before.clauses:
            path[position] = before


def _divide_pairs(said: list[set[int]], path: Sequence[State], lattice: _Lattice) -> None:
    """A pair that is divided at its "and" shares what stands before its "both": "*that have* both A and | B".

    The "both" itself goes to the second clause: a text with one of the two drops it (see `_joining_words`).
    """
    for position in range(1, len(path)):
        before, after = path[position - 1].clauses, path[position].clauses
        kinds = {lattice.types[clause] for clause in (*before, *after)}
        if before == after or 0 in (*before, *after) or not kinds & {"INTERSECT", "UNION"}:
            continue
        start = next((at for at in range(position - 1, -1, -1) if path[at].clauses != before), -1) + 1
        marks = [at for at in range(start, position) if lattice.words[at].text.lower() in PAIR_MARKS]
        for at in range(start, marks[0] if marks else start):
            said[at].update(after)
        for at in marks[:1]:
            said[at] = set(after)


def _joining_words(
    path: Sequence[State], said: Sequence[set[int]], words: Sequence[Word]
) -> tuple[int, ...]:
    """The connectives, and "of", where the state changes: "in 2014 *and* | in 2015", "the population | *of* Angola"."""
    marks = (at for at, word in enumerate(words) if word.text.lower() in PAIR_MARKS)
    joining = {at for at in marks if not said[at] & set(path[at].clauses)}
    for position in range(1, len(path)):
        if path[position].mask == path[position - 1].mask:
            continue
        start, end = position, position
        while start > 0 and words[start - 1].text.lower() in CONNECTIVES:
            start -= 1
        while end < len(words) and words[end].text.lower() in CONNECTIVES:
            end += 1
        if words[position].text.lower() == "of":
            end += 1
        if end > start and [word.text.lower() for word in words[end : end + 3]] == ["as", "well", "as"]:
            end += 3
        joining.update(range(start, end))
    return tuple(sorted(joining))


def _share_head_nouns(said: list[set[int]], path: Sequence[State], lattice: _Lattice) -> None:
    """"the *oldest singer*": SELECT has the head noun of a phrase that another clause is said in."""
    words, heads = lattice.words, lattice.heads
    for position, state in enumerate(path):
        if not state.inside or heads[position] < 0:
            continue
        if lattice.emissions[position][0] >= SAYS_SELECT:
            said[position].add(0)  # "the *most common first name*": `first` is SELECT's too
        end = heads[position]
        if end + 2 < len(words) and words[end + 1].text.lower() == "of":  # "the *most common nationality* of hosts"
            nouns = (at for at in range(end + 2, len(words)) if words[at].tag in _NOUNS and heads[at] < 0)
            end = next(nouns, end)
        for shared in range(heads[position], end + 1):
            if path[shared].mask != state.mask:
                break
            said[shared].add(0)


def _keep_superlatives(
    said: list[set[int]], path: Sequence[State], words: Sequence[Word], candidates: Sequence[ClauseWords]
) -> None:
    """Where GROUP BY and ORDER BY share words, superlatives are ORDER BY's alone: "who has *the most* concerts".

    So that SELECT with GROUP BY doesn't ask for the first of all groups. Where nothing but function words would be
    left, the words stay shared.
    """
    types = [candidate.type for candidate in candidates]
    if "GROUP BY" not in types or "ORDER BY" not in types:
        return
    group, order = types.index("GROUP BY"), types.index("ORDER BY")
    shared = [position for position, state in enumerate(path) if {group, order} <= set(state.clauses)]
    own = [position for position in shared if _is_superlative(words, position)]
    own += [at + 1 for at in own if at + 1 in shared and words[at + 1].text.lower() == "times"]
    own += [at + 1 for at in own if path[at].inside and words[at].tag == "RBS" and words[at + 1].tag == "JJ"]
    own += [at - 1 for at in own if words[at].lemma in QUANTITIES and words[at - 1].tag == "DT" and at - 1 in shared]
    rest = [position for position in shared if position not in own]
    if any(words[position].tag in _NOUNS for position in rest) and not dangles(words[rest[-1]]):
        for position in own:
            said[position].discard(group)


def _share_final_marks(said: list[set[int]], words: Sequence[Word]) -> None:
    """The mark that ends a sentence is also in the clause that begins it: "What are the names of singers*?*"."""
    starts = sentence_starts(words)
    for start, end in zip(starts, [*starts[1:], len(words)], strict=True):
        if words[end - 1].text in SENTENCE_ENDS:
            said[end - 1] |= said[start]
