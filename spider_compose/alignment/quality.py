"""How the fragments of a build read: counts of faults that need no annotation to see."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol

# Words that call for what follows; a text that stops at one was cut too early.
FUNCTION_WORDS = frozenset(
    "a an the this these those each every any some all no of in on at by for from to with without into than "
    "as and or but nor that which who whom whose where when while if is are was were be been has have had do "
    "does did "
    "can could will would should may might must not their his her its our your my".split()
)
DANGLING_STARTS = frozenset({"and", "or", "of"})
_WORD = re.compile(r"\w+(?:['’]\w+)?")
_QUOTED = ('"', "“", "”")


class BuiltRows(Protocol):
    """What a build holds of rows (`spider_compose.composition.build.Build`)."""

    @property
    def alignments(self) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """Rows of the `alignment` config by part of the source."""

    @property
    def pairs(self) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """Recombined pairs by part of the dataset."""


@dataclass(frozen=True)
class QualityReport:
    """Shares of all pairs whose text has a fault, 0 to 1; lower is better but for `full_set_equals_question`.

    Attributes:
        pairs: texts looked at; `proper_subsets` of them leave clauses out, only those can have most faults.
        ends_in_function_word: stop at a word that calls for what follows ("the names of").
        of_which_as_the_question_does: of these, those that stop where their question stops ("lives in?").
        unbalanced_quotes: have half of a pair of quotes, where the question has both.
        starts_dangling: start with "and", "or" or "of", where the question does not.
        subset_equals_question: leave clauses out, but no word of the question.
        full_set_equals_question: of the full sets, those that give their question back; 1 is right.
    """

    pairs: int
    proper_subsets: int
    ends_in_function_word: float
    of_which_as_the_question_does: float
    unbalanced_quotes: float
    starts_dangling: float
    subset_equals_question: float
    full_set_equals_question: float

    def to_json(self) -> dict[str, float]:
        """The attributes by name, for `json.dumps`."""
        return asdict(self)

    def __str__(self) -> str:
        return quality_table({"": self})


def quality_report(built: BuiltRows) -> QualityReport:
    """Count the faults of all pairs of a build.

    Args:
        built: a `Build`; with `deduplicate="none"` no text is left out.
    """
    counts: Counter[str] = Counter()
    for pair, origin in _with_origin(built):
        counts["pairs"] += 1
        counts.update(
            _faults(pair["question"], origin["question"], len(origin["clause_types"]) - pair["num_clauses"])
        )
    shares = {
        field: counts[field] / max(1, counts["pairs"])
        for field in QualityReport.__annotations__
        if field != "pairs"
    }
    full_sets = counts["pairs"] - counts["proper_subsets"]
    shares["full_set_equals_question"] = counts["full_set_equals_question"] / max(1, full_sets)
    shares.pop("proper_subsets")
    return QualityReport(pairs=counts["pairs"], proper_subsets=counts["proper_subsets"], **shares)


def _faults(text: str, question: str, left_out: int) -> Iterator[str]:
    """The names of what is true of one text; `left_out` clauses are not in it."""
    if _balanced(question) and not _balanced(text):
        yield "unbalanced_quotes"
    if not left_out:
        if text == question:
            yield "full_set_equals_question"
        return
    yield "proper_subsets"
    said, all_said = _WORD.findall(text.lower()), _WORD.findall(question.lower())
    if said == all_said:
        yield "subset_equals_question"
    if said and said[-1] in FUNCTION_WORDS:
        yield "ends_in_function_word"
        if said[-2:] == all_said[-2:]:
            yield "of_which_as_the_question_does"
    if said and said[0] in DANGLING_STARTS and said[0] != all_said[0]:
        yield "starts_dangling"


def quality_table(reports: Mapping[str, QualityReport]) -> str:
    """Reports side by side, by name of the aligner."""
    rows = [("", *reports)]
    for field in QualityReport.__annotations__:
        values = (getattr(report, field) for report in reports.values())
        shown = (f"{value:,}" if isinstance(value, int) else f"{100 * value:.2f} %" for value in values)
        rows.append((field.replace("_", " "), *shown))
    width = max(len(row[0]) for row in rows)
    return "\n".join(row[0].ljust(width) + "".join(cell.rjust(12) for cell in row[1:]) for row in rows)


def _with_origin(built: BuiltRows) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    origins = {
        (row["source_split"], row["source_row"]): row for rows in built.alignments.values() for row in rows
    }
    for rows in built.pairs.values():
        for pair in rows:
            yield pair, origins[pair["source_split"], pair["source_row"]]


def _balanced(text: str) -> bool:
    """Whether quotes come in pairs; single ones count where they open a word, an apostrophe doesn't."""
    opened = len(re.findall(r"(?<!\w)['‘](?=\S)", text))
    closed = len(re.findall(r"(?<=\S)['’](?!\w)", text))
    return sum(text.count(sign) for sign in _QUOTED) % 2 == 0 and (opened == 0 or closed >= opened)
