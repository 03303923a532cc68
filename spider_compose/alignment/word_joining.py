"""Word joining (section 3.2.2, algorithm 1): tags -> intervals of words per clause."""

from __future__ import annotations

from collections.abc import Sequence

from spider_compose.alignment.evidence import OPENERS
from spider_compose.alignment.keyword_tagging import NO_TAG
from spider_compose.alignment.records import Word

_OPENER_TAGS = frozenset("DT PDT PRP$ IN TO WDT WP WP$ WRB".split())

# A clause that no word was tagged for is said together with another: the first of these that the query has
# and that got words. "the country with the most singers": GROUP BY is said with ORDER BY.
SAID_WITH = {
    "WHERE": ("INTERSECT", "UNION", "EXCEPT", "GROUP BY", "ORDER BY", "SELECT"),
    "GROUP BY": ("ORDER BY", "INTERSECT", "UNION", "EXCEPT", "SELECT", "WHERE"),
    "ORDER BY": ("GROUP BY", "WHERE", "SELECT", "INTERSECT", "UNION", "EXCEPT"),
    "INTERSECT": ("WHERE", "GROUP BY", "ORDER BY", "SELECT"),
    "UNION": ("WHERE", "GROUP BY", "ORDER BY", "SELECT"),
    "EXCEPT": ("WHERE", "GROUP BY", "ORDER BY", "SELECT"),
    "SELECT": ("WHERE", "GROUP BY", "ORDER BY", "INTERSECT", "UNION", "EXCEPT"),
}


def word_joining(
    words: Sequence[Word], tags: Sequence[int], types: Sequence[str]
) -> tuple[tuple[int, ...], ...]:
    """Turn tags into intervals (algorithm 1).

    Tagged words are fixed points. The untagged words between two of them join the left one, but from the
    first opener on ("who", "with", "the", ...) the right one; those before the first tagged word join it,
    those after the last join that. Neighbouring words of one clause are then one interval.

    Args:
        tags: clause index per word, or -1.
        types: clause type by clause index.

    Returns:
        Per clause the sorted ids of its words. Every word is in a clause; a clause that no word was tagged
        for shares the words of the one it is said with (`SAID_WITH`).
    """
    joined = list(tags)
    tagged = [position for position, tag in enumerate(tags) if tag != NO_TAG]
    if not tagged:
        joined = [0] * len(tags)
    for left, right in zip([None, *tagged], [*tagged, None], strict=True):
        start, end = (0 if left is None else left + 1), (len(tags) if right is None else right)
        if left is None or right is None:
            fixed = right if left is None else left
            joined[start:end] = [tags[fixed]] * (end - start) if fixed is not None else joined[start:end]
            continue
        cut = next((i for i in range(start, end) if opens(words[i])), end)
        joined[start:cut] = [tags[left]] * (cut - start)
        joined[cut:end] = [tags[right]] * (end - cut)
    ids = [
        tuple(position for position, tag in enumerate(joined) if tag == clause)
        for clause in range(len(types))
    ]
    for clause, kind in enumerate(types):
        if clause not in joined:
            partners = [types.index(other) for other in SAID_WITH[kind] if other in types]
            ids[clause] = next(ids[partner] for partner in partners if partner in joined)
    return tuple(ids)


def opens(word: Word) -> bool:
    """Whether a word goes with what follows it: an opener, determiner or possessive pronoun."""
    return word.text.lower() in OPENERS or word.tag in _OPENER_TAGS
