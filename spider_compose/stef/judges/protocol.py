"""What a judge is asked and what it answers; any object with these members can be one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
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
        reason: why there is no verdict.
    """

    verdict: str | None
    confidence: float
    findings: Sequence[tuple[Finding, float]] = ()
    p_correct: float | None = None
    reason: str = ""


class Judge(Protocol):
    """Gives verdicts; the same request gets the same answer, or `signature` says that it may not."""

    @property
    def signature(self) -> str:
        """Name, version and settings: whatever moves a verdict."""

    def judge(self, requests: Sequence[Request]) -> Sequence[Judgement]:
        """One judgement per request, in order."""
