"""How the fragments of a build read: counts of faults that need no annotation to see."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol

# Words that call for what follows; a text that stops at one was cut too early.
FUNCTION_WORDS = frozenset(
    "a an the this these those each every any some all no of in on at by for from to with without into than as "
    "and or but nor that which who whom whose where when while if is are was were be been has have had do does did "
    "can could will would should may might must not their his her its our your my".split()
)
DANGLING_STARTS = frozenset({"and", "or", "of"})
_WORD = re.compile(r"\w+(?:['’]\w+)?")
_QUOTED = ('"', "“", "”")


class BuiltRows(Protocol):
    """What a build holds of rows (`spider_compose.composition.build.Build`)."""

    @property
    def alignments(self) -> Mapping[str, Sequence[Mapping[str, Any]]]: ...

    @property
    def pairs(self) -> Mapping[str, Sequence[Mapping[str, Any]]]: ...


@dataclass(frozen=True)
class QualityReport:
    """Shares of texts with a fault, 0 to 1; lower is better but for `full_set_equals_question`.

    Attributes:
        pairs: texts looked at; `proper_subsets` of them leave clauses out.
        ends_in_function_word: of proper subsets; those that stop where their question stops are not counted.
        ends_in_function_word_with_question: those that stop where their question stops, of proper subsets.
        unbalanced_quotes: of all texts whose question's quotes are balanced.
        starts_dangling: proper subsets that start with "and", "or" or "of".
        subset_equals_question: proper subsets with all words of the question.
        full_set_equals_question: full sets that give their question back; 1 is right.
    """

    pairs: int
    proper_subsets: int
    ends_in_function_word: float
    ends_in_function_word_with_question: float
    unbalanced_quotes: float
    starts_dangling: float
    subset_equals_question: float
    full_set_equals_question: float

    def to_json(self) -> dict[str, float]:
        return asdict(self)

    def __str__(self) -> str:
        return quality_table({"": self})


def quality_report(built: BuiltRows) -> QualityReport:
    """Count the faults of all pairs of a build.

    Args:
        built: a `Build`; with `deduplicate="none"` no text is left out.
    """
    counts: dict[str, int] = dict.fromkeys(QualityReport.__annotations__, 0)
    full = balanced = 0
    for pair, origin in _with_origin(built):
        text, question = pair["question"], origin["question"]
        counts["pairs"] += 1
        if _balanced(question):
            balanced += 1
            counts["unbalanced_quotes"] += not _balanced(text)
        if pair["num_clauses"] == len(origin["clause_types"]):
            full += 1
            counts["full_set_equals_question"] += text == question
            continue
        counts["proper_subsets"] += 1
        said, all_said = _WORD.findall(text.lower()), _WORD.findall(question.lower())
        if said and said[-1] in FUNCTION_WORDS:
            stops = text.rstrip(" .?!")[-12:] == question.rstrip(" .?!")[-12:]
            counts["ends_in_function_word_with_question" if stops else "ends_in_function_word"] += 1
        counts["starts_dangling"] += bool(said) and said[0] in DANGLING_STARTS and said[0] != all_said[0]
        counts["subset_equals_question"] += said == all_said
    proper = max(1, counts["proper_subsets"])
    return QualityReport(
        counts["pairs"],
        counts["proper_subsets"],
        counts["ends_in_function_word"] / proper,
        counts["ends_in_function_word_with_question"] / proper,
        counts["unbalanced_quotes"] / max(1, balanced),
        counts["starts_dangling"] / proper,
        counts["subset_equals_question"] / proper,
        counts["full_set_equals_question"] / max(1, full),
    )


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
    origins = {(row["source_split"], row["source_row"]): row for rows in built.alignments.values() for row in rows}
    for rows in built.pairs.values():
        for pair in rows:
            yield pair, origins[pair["source_split"], pair["source_row"]]


def _balanced(text: str) -> bool:
    """Whether double quotes come in pairs, and single ones that stand free on one side too."""
    double = sum(text.count(sign) for sign in _QUOTED)
    opening, closing = len(re.findall(r"(?<!\S)['‘](?=\S)", text)), len(re.findall(r"(?<=[^\sA-Za-z])'|(?<=\w)'(?!\w)|’(?!\w)", text))
    return double % 2 == 0 and (opening == 0 or closing >= opening)
