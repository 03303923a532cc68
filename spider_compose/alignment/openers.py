"""Where a fragment can begin: sentences, quotations, noun phrases, and the words that open a phrase."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from spider_compose.alignment.records import Word


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
# Words that ask, at the start of a sentence or behind a conjunction.
ASKING = _words(
    "what which who how when where find list show give return get tell display report provide name count "
    "state compute calculate please"
)
PAIR_MARKS = _words("both either")
CONNECTIVES = _words("and or but , ; also then")
SENTENCE_ENDS = _words(". ? !")
QUOTES = _words("' \" `` '' ` \u2018 \u2019 \u201c \u201d")

# Penn Treebank tags.
NOUNS = _words("NN NNS NNP NNPS")
DETERMINERS = _words("DT PDT PRP$")
_MODIFIERS = _words("JJ JJR JJS RBR RBS VBN VBG CD HYPH")
_RELATIVES = _words("WDT WP WP$ WRB")
_FINITE = _words("VBZ VBP VBD MD")
_DANGLING = _words("CC DT IN MD PDT PRP$ TO WDT WP WP$ WRB")
_AUXILIARIES = _words("be have do")


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


def is_superlative(words: Sequence[Word], position: int) -> bool:
    """Whether a word is one ("most", "oldest"); "at most" and "at least" compare."""
    return words[position].tag in {"JJS", "RBS"} and (
        position == 0 or words[position - 1].text.lower() != "at"
    )


def names_a_pair(words: Sequence[Word]) -> bool:
    """Whether "both" or "either" stands directly before a pair: "*both* English *and* French"."""
    for position, word in enumerate(words):
        if word.text.lower() in PAIR_MARKS:
            return any(other.text.lower() in {"and", "or"} for other in words[position + 1 : position + 4])
    return False


def find_openers(words: Sequence[Word], starts: Sequence[int]) -> list[str]:
    """What opens a fragment at each position: a field of `SegmentationCosts`, or "" where none can begin.

    None can inside a quotation, at a final mark, directly behind a character, or behind a word that dangles.

    Args:
        starts: see `sentence_starts`.
    """
    inside, heads = quoted(words), head_nouns(words)
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
    nominal = (
        position < len(words) and words[position].tag in NOUNS | _MODIFIERS - {"VBN", "VBG"} | DETERMINERS
    )
    return "coordination" if nominal else "conjunction"


def _asks_behind(words: Sequence[Word], position: int) -> bool:
    """Whether the connectives here lead to a word that asks: ", *and what*", "*as well as how many*"."""
    joins = False
    while position < len(words) and words[position].text.lower() in CONNECTIVES | {"as", "well"}:
        joins = joins or words[position].text.lower() in {"and", "also", ";"}
        position += 1
    if position == len(words) or words[position].tag in NOUNS:  # "the id and *name* of"
        return False
    text = words[position].text.lower()
    # ", which has ..." without a conjunction is a relative clause.
    return text in ASKING and (joins or text not in {"which", "who", "where", "when"})


def _opener(before: Word, word: Word, follows: Word, modifies: bool) -> str:
    if word.tag in _RELATIVES or (word.text.lower() == "that" and before.tag in NOUNS):
        return "relative"
    text = word.text.lower()
    if text == "than":
        return ""
    if word.tag == "IN" and text != "of" and follows.tag in {"WDT", "WP", "WP$"}:  # "in which", "for whom"
        return "relative"
    if word.tag in {"VBN", "VBG", "VBD"} and before.tag in NOUNS and (word.tag == "VBG" or not dangles(word)):
        return "participle"
    if word.tag == "VBN" and text in MARKERS["ORDER BY"]:
        return "participle"
    if text == "of" and follows.text.lower() in MARKERS["GROUP BY"]:
        return "preposition"
    compares = word.tag == "RBS" and follows.tag == "RB"  # "in room 111 *most recently*"
    compares |= word.tag in {"JJR", "RBR"} and follows.text.lower() == "than" and before.tag in NOUNS
    if (word.tag in {"IN", "TO"} and text != "of") or text in PAIR_MARKS or compares:
        return "preposition"
    if word.tag in {"VBZ", "VBP", "VBD", "MD"} and before.tag != "PRP":
        return "verb"
    return "" if modifies else "elsewhere"


def head_nouns(words: Sequence[Word]) -> list[int]:
    """For each word that modifies a noun behind it in its phrase the position of that noun, else -1."""
    heads, head = [-1] * len(words), -1
    for position in range(len(words) - 1, -1, -1):
        tag = words[position].tag
        if tag in NOUNS and head < 0:
            head = position
        elif tag in NOUNS or tag in _MODIFIERS:
            heads[position] = head
        else:
            heads[position] = head if tag in DETERMINERS else -1
            head = -1
    return heads


def opens_modifier(
    words: Sequence[Word], heads: Sequence[int], select: Sequence[float], position: int
) -> bool:
    """Whether a modifier starts here: first, behind a determiner or a word of SELECT, or with its phrase."""
    if heads[position] < 0 or words[position].tag in DETERMINERS:
        return False
    if position == 0:
        return True
    before = words[position - 1]
    free = before.tag in DETERMINERS or select[position - 1] > 0
    if heads[position - 1] != heads[position]:
        free = before.tag not in NOUNS
    return free and before.end < words[position].start


def phrase_edges(words: Sequence[Word], heads: Sequence[int]) -> list[bool]:
    """Whether a noun phrase begins at each position or has ended before it."""
    nominal = [word.tag in NOUNS or head >= 0 for word, head in zip(words, heads, strict=True)]
    edges = [False] * len(words)
    for position in range(1, len(words)):
        starts = nominal[position] and (not nominal[position - 1] or words[position].tag in DETERMINERS)
        ends = nominal[position - 1] and heads[position - 1] < 0
        edges[position] = (starts or ends) and words[position - 1].end < words[position].start
    return edges
