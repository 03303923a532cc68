"""Keyword tagging (section 3.2.1): each word of a question gets the clause it speaks for, or none.

First the plain tags, from the evidence alone; then the adjustment rules, in the order of `ADJUSTMENTS`. The
paper names adjustments by context and position without listing them; these are ours, each with its reason and
an example.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from spider_compose.alignment.evidence import OPENERS, EvidenceWeights, is_function_word
from spider_compose.alignment.records import Word

NO_TAG = -1
GROUP_MARKERS = frozenset({"each", "every", "per", "group", "grouped"})
RELATIVES = frozenset({"who", "that", "whose", "which", "where", "whom"})
ASKING = frozenset("list show give return find tell display what also report".split())
SENTENCE_ENDS = frozenset({".", "?", "!"})
QUOTES = frozenset({"'", '"', "``", "''", "`", "\u2018", "\u2019", "\u201c", "\u201d"})


@dataclass
class Tagging:
    """The state that the rules adjust in place.

    Attributes:
        types: clause type by clause index.
        evidence: matrix of shape (number of clauses, number of words), see `evidence`.
        tags: clause index per word, or `NO_TAG`.
    """

    words: Sequence[Word]
    types: Sequence[str]
    evidence: Sequence[Sequence[float]]
    tags: list[int]

    def column(self, position: int) -> list[float]:
        """The evidence of one word, by clause."""
        return [row[position] for row in self.evidence]

    def nearest_tag(self, position: int, step: int) -> int:
        """Tag of the nearest tagged word before (`step` -1) or after (1), or `NO_TAG`."""
        position += step
        while 0 <= position < len(self.tags):
            if self.tags[position] != NO_TAG:
                return self.tags[position]
            position += step
        return NO_TAG


def keyword_tagging(
    words: Sequence[Word], types: Sequence[str], evidence: Sequence[Sequence[float]]
) -> tuple[int, ...]:
    """Tag each word with the clause it speaks for most (section 3.2.1).

    Args:
        types: clause types of the query, in its order.
        evidence: matrix of shape (number of clauses, number of words).

    Returns:
        Per word a clause index, or -1 where no clause has a claim.
    """
    tagging = Tagging(
        words, types, evidence, [_plain_tag([row[i] for row in evidence]) for i in range(len(words))]
    )
    if len(types) == 1:
        return (0,) * len(words)
    for rule in ADJUSTMENTS:
        rule(tagging)
    return tuple(tagging.tags)


def _plain_tag(column: Sequence[float]) -> int:
    best = max(column)
    return column.index(best) if best > 0 and column.count(best) == 1 else NO_TAG


# --- Adjustment rules ----------------------------------------------------------------------------------


def opening_words(tagging: Tagging) -> None:
    """The first words say SELECT, up to the first word that speaks for another clause by name or value.

    Reason: 97 % of Spider's questions begin with what is asked for.
    Example: "*What is the name of* the singer from France": `is`, `of` are no evidence of WHERE here.
    """
    strong = EvidenceWeights().function
    for position in range(len(tagging.words)):
        column = tagging.column(position)
        marker = "GROUP BY" in tagging.types and tagging.words[position].text.lower() in GROUP_MARKERS
        if marker or max(column[1:], default=0.0) > max(column[0], strong - 1e-9):
            break
        if column[0]:
            tagging.tags[: position + 1] = [0] * (position + 1)


def contested_words(tagging: Tagging) -> None:
    """A word that several clauses claim equally goes with the tagged word before it, if it claims it too.

    Reason: fragments are contiguous; a column named twice is said where its clause is being said.
    Example: "age" in "... singers whose *age* is above 40", where SELECT and WHERE both hold `age`.
    """
    for position, tag in enumerate(tagging.tags):
        column = tagging.column(position)
        if tag == NO_TAG and max(column) > 0:
            claims = [clause for clause, value in enumerate(column) if value == max(column)]
            nearest = (tagging.nearest_tag(position, step) for step in (-1, 1))
            tagging.tags[position] = next((near for near in nearest if near in claims), claims[0])


def quoted_values(tagging: Tagging) -> None:
    """A quoted text is one value: quotes and words inside take the tag most of its words have.

    Reason: a quotation is never divided between clauses.
    Example: "'Sky *Radio*'" where only `sky` is known.
    """
    opened: int | None = None
    for position, word in enumerate(tagging.words):
        if word.text not in QUOTES:
            continue
        if opened is None:
            opened = position
            continue
        inside = [tag for tag in tagging.tags[opened + 1 : position] if tag != NO_TAG]
        if inside:
            tag = max(sorted(set(inside)), key=inside.count)
            tagging.tags[opened : position + 1] = [tag] * (position + 1 - opened)
        opened = None


def weak_words_between(tagging: Tagging) -> None:
    """A word tagged on general evidence alone, between two words of one other clause, takes their tag.

    Reason: "in", "for" and "with" open clauses but stand inside them too.
    Example: "*in* the highest number of ..." inside ORDER BY.
    """
    weak = EvidenceWeights().general
    for position in range(1, len(tagging.tags) - 1):
        tag = tagging.tags[position]
        if tag == NO_TAG or tagging.evidence[tag][position] > weak:
            continue
        before, after = tagging.nearest_tag(position, -1), tagging.nearest_tag(position, 1)
        if before == after != tag:
            tagging.tags[position] = before


def openers_join_next(tagging: Tagging) -> None:
    """Words that open a fragment take the tag of the next tagged word that is none.

    Reason: "who", "with", "for each" belong with what follows.
    Example: "singers *who are* from France".
    """
    for position in reversed(range(1, len(tagging.tags) - 1)):
        word = tagging.words[position]
        if word.text.lower() in OPENERS and is_function_word(word) and tagging.evidence[0][position] == 0:
            tagging.tags[position] = tagging.nearest_tag(position, 1)


def group_keys_need_a_marker(tagging: Tagging) -> None:
    """GROUP BY keeps its words only where "each", "per", "every" or a HAVING condition stands among them.

    Reason: its key is as a rule also selected, and said there.
    Example: "Which *country* has the most singers" says `country` for SELECT.
    """
    if "GROUP BY" not in tagging.types:
        return
    group = tagging.types.index("GROUP BY")
    own = [position for position, tag in enumerate(tagging.tags) if tag == group]
    names = EvidenceWeights()
    strong = [i for i in own if tagging.evidence[group][i] in (names.value, names.function)]
    markers = [i for i in own if tagging.words[i].text.lower() in GROUP_MARKERS]
    if not strong and not markers:
        for position in own:
            tagging.tags[position] = 0 if tagging.evidence[0][position] else NO_TAG
    for marker in markers:  # the key follows its marker: "for each *singer name*"
        for position in range(marker + 1, len(tagging.tags)):
            if is_function_word(tagging.words[position]) or not tagging.evidence[group][position]:
                break
            tagging.tags[position] = group


def relative_clauses(tagging: Tagging) -> None:
    """From a relative pronoun to the next word of a clause other than SELECT, all words are that clause's.

    Reason: a relative clause restricts; what SELECT asks for stands before it.
    Example: "students *who have done treatment with cost below* average".
    """
    for position in range(2, len(tagging.words)):
        word = tagging.words[position]
        opens = word.text.lower() in RELATIVES or (word.tag == "VBG" and tagging.evidence[0][position] == 0)
        if not opens or tagging.words[position - 1].text in SENTENCE_ENDS:
            continue
        for following in range(position, len(tagging.words)):
            if tagging.words[following].text in SENTENCE_ENDS:
                break
            tag = tagging.tags[following]
            if tag > 0:
                tagging.tags[position:following] = [tag] * (following - position)
                break


def end_of_sentence(tagging: Tagging) -> None:
    """Behind the last word of another clause, words that only name SELECT's tables stay with that clause.

    Reason: a restriction runs to the end of its sentence, and often ends by naming the rows again.
    Example: "the course with the most *students enrolled*".
    """
    table, start = EvidenceWeights().table, 0
    for end, word in enumerate(tagging.words):
        if word.text not in SENTENCE_ENDS and end + 1 < len(tagging.words):
            continue
        others = [position for position in range(start, end) if tagging.tags[position] > 0]
        tail = range(others[-1] + 1, end + 1) if others else ()
        if not any(
            tagging.evidence[0][i] > table or tagging.words[i].tag in ("WP", "WRB", "WDT") for i in tail
        ):
            for position in tail:
                tagging.tags[position] = tagging.tags[others[-1]]
        start = end + 1


def question_sentence(tagging: Tagging) -> None:
    """A later sentence that asks ("List ...", "Show ...") is SELECT's and the sentences before it are not.

    Reason: such questions say first which rows are meant, then what to return.
    Example: "Which professionals live in Indiana? *List their ids.*"
    """
    starts = [i for i in range(1, len(tagging.words)) if tagging.words[i - 1].text in SENTENCE_ENDS]
    asking = [i for i in starts if tagging.words[i].text.lower() in ASKING]
    if not asking:
        return
    others = [tag for tag in tagging.tags[: asking[0]] if tag > 0]
    before = max(sorted(set(others)), key=others.count) if others else 1
    for position in range(asking[0]):
        if tagging.tags[position] <= 0:
            tagging.tags[position] = before
    tagging.tags[asking[0] :] = [0] * (len(tagging.tags) - asking[0])


Rule = Callable[[Tagging], None]
ADJUSTMENTS: tuple[Rule, ...] = (
    opening_words,
    contested_words,
    group_keys_need_a_marker,
    relative_clauses,
    quoted_values,
    weak_words_between,
    openers_join_next,
    end_of_sentence,
    question_sentence,
)
