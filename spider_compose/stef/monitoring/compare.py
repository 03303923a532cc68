"""Two agents, versions or times held against each other, over scored rows.

A difference is always B less A: negative, B is worse.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from spider_compose.errors import OptionError, SpiderComposeError, choose
from spider_compose.stef.monitoring.measures import (
    MEASURES,
    QUESTION_COLUMNS,
    Floats,
    question_codes,
    values,
)
from spider_compose.stef.monitoring.resampling import EQUAL, LEVEL, Difference, check_sampling, compare_sums
from spider_compose.stef.monitoring.rule_changes import RuleChange, Sides, rule_changes

# What `compare` reads of scored rows; the reasons are wide and asked for by themselves.
COLUMNS = tuple(
    dict.fromkeys(("key", *QUESTION_COLUMNS, *(c for m in MEASURES.values() for c in m), "unscored"))
)
REASON_COLUMNS = ("reasons",)

DESIGNS = ("auto", "paired", "separate")

# Taken as paired by itself where so much of the side with fewer questions is shared.
_SHARED = 0.5

# Smaller differences, in parts of the detectable one, take more questions than anyone has.
_MOST_FOLD = 1e6

# How a gate decides; see `Gate`.
RULES_OF_GATES = ("shown", "estimate", "ruled-out")


@dataclass(frozen=True)
class QuestionChange:
    """A shared question whose score changed.

    Attributes:
        question: as its first row in A asks it.
        database: likewise.
        a: mean score in A, unscored as 0.
        b: mean score in B.
    """

    question: str
    database: str
    a: float
    b: float


@dataclass(frozen=True)
class Comparison:
    """All that is told of two sides.

    Attributes:
        design: "paired" or "separate".
        matched_by: "question" or "key".
        shared: shared questions.
        only_a: questions of A alone; of no account in a paired comparison.
        only_b: questions of B alone.
        measures: per measure the difference.
        rules: what changed by rule, the greatest change first.
        questions: the shared questions that changed most, worse ones first; none in a separate comparison.
        samples: resamples.
        seed: of the resamples.
    """

    design: str
    matched_by: str
    shared: int
    only_a: int
    only_b: int
    measures: dict[str, Difference]
    rules: tuple[RuleChange, ...]
    questions: tuple[QuestionChange, ...]
    samples: int
    seed: int

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON values, in points with four decimals and p-values with six."""
        return {
            name: _rounded(value, name)
            for name, value in {**asdict(self), "level": LEVEL, "signature": self.signature}.items()
        }

    @property
    def signature(self) -> str:
        """What moves the figures, beside the signature of the scores."""
        return f"compare:{self.design}|by:{self.matched_by}|samples:{self.samples}|seed:{self.seed}"


@dataclass(frozen=True)
class Gate:
    """Whether B may pass.

    Attributes:
        measure: the measure it looks at.
        worse_than: the most points that B may be worse.
        rule: "shown": B fails where it is worse than that, and worse at all by the permutation test;
            "estimate": where it is worse than that; "ruled-out": unless the interval rules out that it is.
        passed: whether B passes.
        why: in words.
        questions_needed: questions to find a difference of `worse_than` with the usual power; None where the
            sample has no spread, or `worse_than` is next to nothing.
    """

    measure: str
    worse_than: float
    rule: str
    passed: bool
    why: str
    questions_needed: int | None

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return asdict(self)


def gate(comparison: Comparison, measure: str, worse_than: float, rule: str = "shown") -> Gate:
    """Decide whether B passes.

    Raises:
        OptionError: the rule or measure is unknown, `worse_than` is negative or no number, or there is
            nothing to decide on.
    """
    choose("gate", rule, RULES_OF_GATES)
    if not 0 <= worse_than <= 100:
        raise OptionError(f"`fail_if_worse_than` must be points from 0 to 100, but got {worse_than}")
    found = comparison.measures[choose("measure", measure, comparison.measures)]
    if found.difference is None or found.low is None or found.p_value is None:
        raise SpiderComposeError(
            f"cannot decide on `{measure}`: it needs two questions with a value on each side, but A has "
            f"{found.questions[0]} and B {found.questions[1]}"
        )
    limit = -worse_than - EQUAL  # sums of one kind of numbers in two orders are the same
    worse, sure = found.difference < limit, found.p_value <= 1 - LEVEL
    passed = {"shown": not (worse and sure), "estimate": not worse, "ruled-out": found.low >= limit}[rule]
    said = f"{found.difference:+.2f} points, limit {-worse_than:+.2f}"
    if rule == "shown" and worse:
        said += f"; {'more' if sure else 'no more'} than chance (p = {found.p_value:.4f})"
    if rule == "ruled-out":
        said += f"; the interval begins at {found.low:+.2f}"
    needed = None
    if found.detectable and worse_than > found.detectable / _MOST_FOLD:
        needed = int(np.ceil(min(found.questions) * (found.detectable / worse_than) ** 2))
    return Gate(measure, worse_than, rule, passed, said, needed)


def compare(
    a: pa.Table,
    b: pa.Table,
    design: str = "auto",
    samples: int = 2000,
    seed: int = 1,
    reasons: tuple[pa.ChunkedArray, pa.ChunkedArray] | None = None,
    examples: int = 5,
) -> Comparison:
    """Hold B against A.

    Args:
        a: scored rows with `COLUMNS`.
        b: likewise.
        design: "paired": on the questions both have, each counted once; "separate": every row of both, with
            shared questions drawn together; "auto": paired where at least half of the questions of the side
            with fewer are shared.
        samples: of the bootstrap and the permutation test.
        seed: of both.
        reasons: the column `reasons` of A and B, row by row; without it only the unscored are told by reason.
        examples: how many changed questions to show in each direction.

    Raises:
        OptionError: an option is out of range, or a paired comparison has no shared question.
        SpiderComposeError: a side has no rows.
    """
    check_sampling(samples, seed)
    choose("design", design, DESIGNS)
    for name, table in (("A", a), ("B", b)):
        if not table.num_rows:
            raise SpiderComposeError(f"{name} has no scored rows; look at its path, agent and times")
    sides = _sides(a, b)
    shared = sides.shared
    fewer = min(int((count > 0).sum()) for count in sides.counts)
    if design == "auto":
        design = "paired" if shared.sum() >= max(_SHARED * fewer, 1) else "separate"
    if design == "paired" and not shared.any():
        raise OptionError("A and B share no question; compare them as separate traffic (`--separate`)")
    measures = {
        name: compare_sums(*_sums(sides, name, design), samples=samples, seed=seed) for name in MEASURES
    }
    changes = tuple(rule_changes(sides, reasons, design))
    questions = tuple(_changed(sides, examples)) if design == "paired" else ()
    return Comparison(
        design=design,
        matched_by=sides.matched_by,
        shared=int(shared.sum()),
        only_a=int((sides.counts[0] > 0).sum() - shared.sum()),
        only_b=int((sides.counts[1] > 0).sum() - shared.sum()),
        measures=measures,
        rules=changes,
        questions=questions,
        samples=samples,
        seed=seed,
    )


def _sides(a: pa.Table, b: pa.Table) -> Sides:
    """Rows by question; by their key in files that hold scores alone."""
    silent = all(_no_text(table, name) for table in (a, b) for name in ("question", "enriched_question"))
    by = "key" if silent else "question"
    codes, names = question_codes([a, b], by)
    counts = tuple(np.bincount(own, minlength=len(names)) for own in codes)
    return Sides((a, b), (codes[0], codes[1]), (counts[0], counts[1]), by)


def _no_text(table: pa.Table, name: str) -> bool:
    return not pc.any(pc.fill_null(pc.not_equal(table[name].cast(pa.string()), ""), False)).as_py()


def _sums(sides: Sides, measure: str, design: str) -> tuple[Floats, tuple[int, int]]:
    """Sums and counts by question (see `resampling`), and rows of A and B."""
    size = len(sides.counts[0])
    sums = np.zeros((size, 4))
    for place, (table, codes) in enumerate(zip(sides.tables, sides.codes, strict=True)):
        own = values(table, measure)
        there = ~np.isnan(own)
        sums[:, 2 * place] = np.bincount(codes[there], weights=own[there], minlength=size)
        sums[:, 2 * place + 1] = np.bincount(codes[there], minlength=size)
    if design == "paired":
        sums = sums[(sums[:, 1] > 0) & (sums[:, 3] > 0)]
    rows = int(sums[:, 1].sum()), int(sums[:, 3].sum())
    if design == "paired":
        sums[:, [0, 2]] /= sums[:, [1, 3]]
        sums[:, [1, 3]] = 1.0
    return sums, rows


# --- by question -------------------------------------------------------------------------------------------


def _changed(sides: Sides, examples: int) -> Iterator[QuestionChange]:
    """The shared questions that got worse most, then those that got better most."""
    size = len(sides.counts[0])
    means = []
    for table, codes, counts in zip(sides.tables, sides.codes, sides.counts, strict=True):
        total = np.bincount(codes, weights=values(table, "score_unscored_as_0"), minlength=size)
        means.append(total / np.maximum(counts, 1))
    change = np.where(sides.shared, means[1] - means[0], 0.0)
    order = np.lexsort((np.arange(size), change))
    worse = [q for q in order[:examples] if change[q] < 0]
    better = [q for q in order[::-1][:examples] if change[q] > 0]
    for question in (*worse, *better):
        (row, *_) = np.flatnonzero(sides.codes[0] == question)
        text, enriched, database = (
            sides.tables[0][name][int(row)].as_py() for name in ("question", "enriched_question", "database")
        )
        yield QuestionChange(text or enriched or "", database or "", *(float(m[question]) for m in means))


def _rounded(value: Any, name: str) -> Any:
    if isinstance(value, dict):
        return {key: _rounded(part, key) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_rounded(part, name) for part in value]
    return round(value, 6 if name == "p_value" else 4) if isinstance(value, float) else value
