"""Words that several clauses are said with, after the search: pairs, head nouns, superlatives, final marks.

Each rule changes `said`, the set of clauses by position; `path` is what the search found.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from spider_compose.alignment.lattice import Lattice, State
from spider_compose.alignment.openers import (
    CONNECTIVES,
    NOUNS,
    PAIR_MARKS,
    SENTENCE_ENDS,
    dangles,
    is_superlative,
    sentence_starts,
)

# Superlatives of quantity: their article goes with them ("*the most* concerts", but "the *largest* number").
QUANTITIES = frozenset("most least few fewest many much little".split())
SAYS_SELECT = 0.5  # evidence from which on a modifier is SELECT's as well

Said = list[set[int]]


def changes(path: Sequence[State]) -> Iterator[int]:
    """Positions where other clauses are said than before."""
    return (at for at in range(1, len(path)) if path[at].mask != path[at - 1].mask)


def move_conjunctions(path: list[State], lattice: Lattice) -> None:
    """A lone conjunction between clauses other than SELECT stays with the first: "2014 *and* | in 2015"."""
    for at in list(changes(path)):
        goes_on = at + 1 < len(path) and path[at + 1] == path[at]
        if lattice.words[at].tag == "CC" and 0 not in path[at - 1].clauses + path[at].clauses and goes_on:
            path[at] = path[at - 1]


def divide_pairs(said: Said, path: Sequence[State], lattice: Lattice) -> None:
    """A pair that is divided at its "and" shares what stands before it: "*that have* both A and | B".

    A "both" itself goes to the second clause: a text with one of the two drops it (see `joining_words`).
    """
    words = lattice.words
    for change in changes(path):
        before, after = path[change - 1].clauses, path[change].clauses
        kinds = {lattice.types[clause] for clause in (*before, *after)}
        if 0 in (*before, *after) or not kinds & {"INTERSECT", "UNION"}:
            continue
        start = max((at + 1 for at in range(change) if path[at].clauses != before), default=0)
        marks = [at for at in range(start, change) if words[at].text.lower() in PAIR_MARKS]
        if marks and change - marks[0] > 2:
            end = marks[0]
            said[end] = set(after)
        else:
            end = start + _lead(lattice, start, change)
        for at in range(start, end):
            said[at].update(after)


def _lead(lattice: Lattice, start: int, change: int) -> int:
    """How many words a divided pair begins with before its first part: "*who speak* English and | French".

    The second part must begin with a noun phrase, as the first then does: with the one that has the same noun
    ("*with* authors from A and | authors from B"), else with the first.
    """
    words, heads = lattice.words, lattice.heads
    if words[change].tag not in NOUNS and heads[change] < 0:
        return 0
    noun = words[max(change, heads[change])].lemma
    nouns = [at for at in range(start, change) if words[at].tag in NOUNS and heads[at] < 0]
    first = next((at for at in nouns if words[at].lemma == noun), None)
    if first is None and any(word.lemma == noun for word in words[:start]):
        return 0  # SELECT has the noun: "*shops* opened in 2012 and | shops opened in 2008"
    first = first if first is not None else nouns[0] if nouns else start
    while first > start and heads[first - 1] >= first and words[first - 1].tag[:2] != "VB":
        first -= 1
    return first - start


def share_head_nouns(said: Said, path: Sequence[State], lattice: Lattice) -> None:
    """Give SELECT the head noun of a phrase that another clause is said in.

    ORDER BY is said with "oldest singer" of "the *oldest* singer", SELECT with "the singer". "Of" behind it
    goes with the noun; a modifier that speaks for SELECT too is shared ("most common *first* name").
    """
    words, heads = lattice.words, lattice.heads
    for position, state in enumerate(path):
        if not state.inside:
            continue
        if lattice.evidence[position][0] >= SAYS_SELECT:
            said[position].add(0)
        end = heads[position]
        if end + 2 < len(words) and words[end + 1].text.lower() == "of":
            end = next(
                (at for at in range(end + 2, len(words)) if words[at].tag in NOUNS and heads[at] < 0), end
            )
        for at in range(heads[position], end + 1):
            if path[at].mask != state.mask:
                break
            said[at].add(0)


def divide_modifiers(said: Said, path: Sequence[State], lattice: Lattice) -> None:
    """Divide the modifiers of a phrase that is the question's beginning: "*newest | deep learning* papers".

    Such a question has no words but these for WHERE and the clauses said with it. A word that speaks for some
    of them is theirs; the others, and the head noun, stay shared.
    """
    for position, state in enumerate(path):
        if not state.inside:
            return
        mute = {clause for clause in state.clauses if not lattice.evidence[position][clause]}
        if "WHERE" in (lattice.types[clause] for clause in state.clauses) and len(mute) < len(state.clauses):
            said[position] -= mute


def keep_superlatives(said: Said, path: Sequence[State], lattice: Lattice) -> None:
    """Where GROUP BY and ORDER BY share words, superlatives are ORDER BY's alone: "has *the most* concerts".

    So that SELECT with GROUP BY doesn't ask for the first of all groups. Where no noun would be left, or a
    function word at the end, the words stay shared.
    """
    if not {"GROUP BY", "ORDER BY"} <= set(lattice.types):
        return
    words = lattice.words
    group, order = lattice.types.index("GROUP BY"), lattice.types.index("ORDER BY")
    shared = [at for at, state in enumerate(path) if {group, order} <= set(state.clauses)]
    own = {at for at in shared if is_superlative(words, at)}
    for at in sorted(own):
        following = at + 1 if at + 1 in shared else at
        if words[following].text.lower() == "times" or (  # "the most times"; "the *most common* nationality"
            path[at].inside and words[at].tag == "RBS" and words[following].tag == "JJ"
        ):
            own.add(following)
        if words[at].lemma in QUANTITIES and at - 1 in shared and words[at - 1].tag == "DT":
            own.add(at - 1)
    rest = [at for at in shared if at not in own]
    if any(words[at].tag in NOUNS for at in rest) and not dangles(words[rest[-1]]):
        for at in own:
            said[at].discard(group)


def share_final_marks(said: Said, path: Sequence[State], lattice: Lattice) -> None:
    """The mark that ends a sentence is also in the clause that begins it: "What are the names*?*"."""
    starts = sentence_starts(lattice.words)
    for start, end in zip(starts, [*starts[1:], len(path)], strict=True):
        if lattice.words[end - 1].text in SENTENCE_ENDS:
            said[end - 1] |= said[start]


def joining_words(said: Said, path: Sequence[State], lattice: Lattice) -> tuple[int, ...]:
    """Words that only join what stands on their sides, which a text without one of the two leaves out.

    They are the connectives and "of" where the clauses change ("in 2014 *and* | in 2015", "the population |
    *of* Angola", "for each shop | *, as well as* the name"), and the "both" of a divided pair.
    """
    texts = [word.text.lower() for word in lattice.words]
    starts = sentence_starts(lattice.words)
    joining = {
        at for at, text in enumerate(texts) if text in PAIR_MARKS and not said[at] & set(path[at].clauses)
    }
    for change in changes(path):
        sentence = max(at for at in starts if at <= change)
        if 0 in path[change].clauses and any(0 in state.clauses for state in path[sentence:change]):
            continue  # SELECT goes on: "How many singers live in Rome*, and* what is their age?"
        start = end = change
        while start > 0 and texts[start - 1] in CONNECTIVES:
            start -= 1
        while end < len(texts) and texts[end] in CONNECTIVES:
            end += 1
        end += texts[change] == "of"
        end += 3 * (end > start and texts[end : end + 3] == ["as", "well", "as"])
        joining.update(range(start, end))
    return tuple(sorted(joining))
