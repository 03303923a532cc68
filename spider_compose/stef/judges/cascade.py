"""The judge "cascade": the rules decide where they are sure, and a model is asked about the rest."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from spider_compose.errors import OptionError
from spider_compose.stef.judges.budget import SPENT
from spider_compose.stef.judges.protocol import Judge, Judgement, Request, judge_stream
from spider_compose.stef.judges.rules import RulesJudge


@dataclass(frozen=True)
class CascadeJudge:
    """Rules first, then a model.

    Where the budget of `then` is spent the rules decide, and their reason says so. A row that the model fails
    on has no verdict: what the rules say of it stands in `score_without_judge`.

    Attributes:
        then: who is asked where the rules are unsure.
        threshold: confidence from which on the rules decide, in [0, 1].
        most: most rows that `then` is asked about, as a part of the budget; None for all that are unsure.
        rules: who is asked first.
    """

    then: Judge
    threshold: float = 0.85
    most: int | None = None
    rules: RulesJudge = field(default_factory=RulesJudge)

    def __post_init__(self) -> None:
        if not 0 <= self.threshold <= 1:
            raise OptionError(f"`threshold` must be in [0, 1], but got {self.threshold}")
        if self.most is not None and self.most < 0:
            raise OptionError(f"`most` must be at least 0, but got {self.most}")

    @property
    def signature(self) -> str:
        """Threshold, bound and both judges."""
        bound = "" if self.most is None else f",most={self.most}"
        return f"cascade({self.threshold:g}{bound},{self.rules.signature},{self.then.signature})"

    def judge(self, requests: Sequence[Request]) -> list[Judgement]:
        """One judgement per request."""
        return [judgement for judgement in self.stream(requests) if judgement is not None]

    def stream(self, requests: Iterable[Request | None]) -> Iterator[Judgement | None]:
        """One judgement per request, in order; see `protocol.judge_stream`."""
        first: deque[Judgement | None] = deque()

        def unsure() -> Iterator[Request | None]:
            asked = 0
            for request in requests:
                found = None if request is None else self.rules.judge([request])[0]
                ask = found is not None and not (found.verdict and found.confidence >= self.threshold)
                if found is not None and ask and self.most is not None and asked >= self.most:
                    found = replace(found, reason=f"the rules decide: {SPENT}{self.most:,} rows is spent")
                    ask = False
                asked += ask
                first.append(found)
                yield request if ask else None

        for answer in judge_stream(self.then, unsure()):
            found = first.popleft()
            spent = answer is not None and answer.verdict is None and answer.reason.startswith(SPENT)
            if answer is not None and found is not None and spent:
                answer = replace(found, reason=f"the rules decide: {answer.reason}")
            yield found if answer is None else answer
