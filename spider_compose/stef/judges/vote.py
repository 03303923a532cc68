"""The judge "vote": several judges, or several samples of one; the confidence is how far they agree."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import tee

from spider_compose.errors import OptionError
from spider_compose.stef.judges.cross_check import BOUND
from spider_compose.stef.judges.hub import HubJudge
from spider_compose.stef.judges.protocol import VERDICT_POINTS, Judge, Judgement, Request, judge_stream


@dataclass(frozen=True)
class VoteJudge:
    """A vote of judges on each row.

    The most frequent verdict wins, of several the worse; the confidence is its share of the votes. Without a
    vote of more than half of the judges there is no verdict.

    Attributes:
        judges: who votes.
    """

    judges: tuple[Judge, ...]

    def __post_init__(self) -> None:
        if len(self.judges) < 2:
            raise OptionError(f"a vote needs at least 2 judges, but got {len(self.judges)}")

    @classmethod
    def of_samples(cls, judge: HubJudge, samples: int, temperature: float = 0.7) -> VoteJudge:
        """A vote of several samples of one model.

        Args:
            temperature: above 0, or all samples are one.
        """
        if not temperature > 0:
            raise OptionError(f"`temperature` must be above 0 for samples to differ, but got {temperature}")
        return cls(tuple(replace(judge, sample=n, temperature=temperature) for n in range(samples)))

    @property
    def signature(self) -> str:
        """The signatures of all."""
        return f"vote({','.join(judge.signature for judge in self.judges)})"

    def judge(self, requests: Sequence[Request]) -> list[Judgement]:
        """One judgement per request."""
        return [judgement for judgement in self.stream(requests) if judgement is not None]

    def stream(self, requests: Iterable[Request | None]) -> Iterator[Judgement | None]:
        """One judgement per request, in order; see `protocol.judge_stream`."""
        # `tee` holds back what one judge has read ahead of another, which is bounded by their own windows.
        streams = [
            judge_stream(judge, given)
            for judge, given in zip(self.judges, tee(requests, len(self.judges)), strict=True)
        ]
        for votes in zip(*streams, strict=True):
            given = [vote for vote in votes if vote is not None]
            yield count_votes(given) if given else None


def count_votes(votes: Sequence[Judgement]) -> Judgement:
    """The judgement that votes come to.

    >>> found = count_votes([Judgement(verdict, 0.9) for verdict in ("correct", "incorrect", "correct")])
    >>> found.verdict, round(found.confidence, 2)
    ('correct', 0.67)
    """
    usable = [vote for vote in votes if vote.verdict in VERDICT_POINTS]
    without = next((vote.without for vote in votes if vote.without is not None), None)
    if 2 * len(usable) <= len(votes):
        reasons = "; ".join(dict.fromkeys(vote.reason for vote in votes if vote.verdict is None))
        reason = f"{len(usable)} of {len(votes)} votes are usable: {reasons}"
        return Judgement(None, 0.0, reason=reason, without=without)
    counts = Counter(vote.verdict for vote in usable)
    verdict = min(counts, key=lambda v: (-counts[v], VERDICT_POINTS[v or "incorrect"]))
    winners = [vote for vote in usable if vote.verdict == verdict]
    known = [vote.p_correct for vote in usable if vote.p_correct is not None]
    conflict = next((vote.conflict for vote in votes if vote.conflict), "")
    if conflict and VERDICT_POINTS[verdict or BOUND] > VERDICT_POINTS[BOUND]:
        verdict = BOUND  # what one of them was talked into, the others may have been too
    return Judgement(
        verdict,
        len(winners) / len(usable),
        winners[0].findings,
        math.fsum(known) / len(known) if len(known) == len(usable) else None,
        f"{len(winners)} of {len(usable)} votes: {winners[0].reason}",
        conflict,
        without,
    )
