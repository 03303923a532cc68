"""What a judge is asked and what it answers; any object with these members can be one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Protocol

from spider_compose.stef.alignment import Finding, Pair

# Verdicts and their points (section on the semantic verdict).
VERDICT_POINTS = {
    "correct": 5,
    "probably_correct": 3,
    "potentially_incorrect": 2,
    "incorrect": 0,
}


@dataclass(frozen=True)
class Request:
    """What a judge may look at.

    Attributes:
        question: the user's question, Q_u.
        enriched_question: the agent's, Q_e, or None.
        sql: the query as given.
        pair: both specifications, aligned.
    """

    question: str
    enriched_question: str | None
    sql: str
    pair: Pair


@dataclass(frozen=True)
class Judgement:
    """A judge's answer.

    Attributes:
        verdict: one of `VERDICT_POINTS`, or None where the judge gave no usable one.
        confidence: gamma in [0, 1].
        findings: what it holds against the query, each with its share of the lost points (any positive
            scale).
        p_correct: probability in [0, 1] that the query is right, or None where the judge does not estimate
            it.
        reason: why, in one line: of a judge that reads, its own; else why there is no verdict.
        conflict: what speaks against the verdict of a judge that reads: hard evidence, or a text of the row
            that speaks to it. A verdict in conflict is already bounded.
        without: what the rules alone say, of a judge that reads.
        belief: of a model: its own probability in [0, 1] that the query is right, before calibration and
            bounds.
    """

    verdict: str | None
    confidence: float
    findings: Sequence[tuple[Finding, float]] = ()
    p_correct: float | None = None
    reason: str = ""
    conflict: str = ""
    without: Judgement | None = None
    belief: float | None = None


class Judge(Protocol):
    """Gives verdicts; the same request gets the same answer, or `signature` says that it may not.

    A judge that asks about many rows at once also has `stream`, with the arguments of `judge_stream`.
    """

    @property
    def signature(self) -> str:
        """Name, version and settings: whatever moves a verdict."""

    def judge(self, requests: Sequence[Request]) -> Sequence[Judgement]:
        """One judgement per request, in order."""


# Requests that a judge without `stream` gets at a time.
BATCH = 256


def judge_stream(judge: Judge, requests: Iterable[Request | None]) -> Iterator[Judgement | None]:
    """One judgement per request, in order, lazily.

    Args:
        requests: None stands for a row that is not to be judged and gets None: rows keep their places.
    """
    if hasattr(judge, "stream"):
        yield from judge.stream(requests)
        return
    rest = iter(requests)
    while batch := list(islice(rest, BATCH)):
        judged = iter(judge.judge([request for request in batch if request is not None]))
        yield from (None if request is None else next(judged) for request in batch)
