"""Votes and cascades: majorities, ties, quorums; who is asked, and what a spent budget does."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from spider_compose.errors import OptionError
from spider_compose.stef.judges.budget import SPENT
from spider_compose.stef.judges.cascade import CascadeJudge
from spider_compose.stef.judges.hub import HubJudge
from spider_compose.stef.judges.protocol import Judgement, Request, judge_stream
from spider_compose.stef.judges.vote import VoteJudge, count_votes

VOTES = [
    ("all agree", ["correct"] * 3, ("correct", 1.0)),
    ("majority", ["correct", "incorrect", "correct"], ("correct", 2 / 3)),
    ("a tie goes to the worse", ["correct", "incorrect"], ("incorrect", 0.5)),
    ("a failed vote does not count", ["correct", None, "correct"], ("correct", 1.0)),
    ("half is no quorum", ["correct", None], (None, 0.0)),
    ("none", [None, None], (None, 0.0)),
]


@pytest.mark.parametrize(("verdicts", "expected"), [v[1:] for v in VOTES], ids=[v[0] for v in VOTES])
def test_votes(verdicts: list[str | None], expected: tuple[str | None, float]) -> None:
    found = count_votes([Judgement(v, 0.9, reason=f"says {v}") for v in verdicts])
    assert (found.verdict, found.confidence) == (expected[0], pytest.approx(expected[1]))
    assert found.reason


def test_a_conflict_of_one_vote_is_kept() -> None:
    votes = [
        Judgement("correct", 0.9, conflict="x", without=Judgement("incorrect", 0.5)),
        Judgement("correct", 0.9),
    ]
    found = count_votes(votes)
    assert found.conflict == "x" and found.without is not None


@dataclass
class Fixed:
    """A judge that says one thing, and remembers who asked."""

    says: Judgement
    asked: list[Request] = field(default_factory=list)
    signature: str = "fixed"

    def judge(self, requests: Sequence[Request]) -> list[Judgement]:
        return [j for j in self.stream(requests) if j is not None]

    def stream(self, requests: Iterable[Request | None]) -> Iterator[Judgement | None]:
        for request in requests:
            if request is not None:
                self.asked.append(request)
            yield None if request is None else self.says


def test_vote_keeps_the_places_of_rows(request_for: Callable[..., Any]) -> None:
    judge = VoteJudge((Fixed(Judgement("correct", 1.0)), Fixed(Judgement("incorrect", 1.0))))
    found = list(judge.stream([None, request_for(), None]))
    assert [j and j.verdict for j in found] == [None, "incorrect", None]
    assert judge.signature == "vote(fixed,fixed)"


def test_samples_differ() -> None:
    judge = VoteJudge.of_samples(HubJudge(model="m", base_url="http://localhost:1/v1"), 3)
    assert len({j.signature for j in judge.judges}) == 3
    with pytest.raises(OptionError, match="temperature"):
        VoteJudge.of_samples(HubJudge(model="m"), 3, 0.0)
    with pytest.raises(OptionError, match="at least 2"):
        VoteJudge((Fixed(Judgement("correct", 1.0)),))


@dataclass(frozen=True)
class Sure:
    """Stands for the rules: sure of questions that say so."""

    signature: str = "sure"

    def judge(self, requests: Sequence[Request]) -> list[Judgement]:
        return [Judgement("probably_correct", 0.9 if "sure" in r.question else 0.6) for r in requests]


def cascade(says: Judgement, **options: Any) -> tuple[CascadeJudge, Fixed]:
    then = Fixed(says)
    return CascadeJudge(then, rules=Sure(), **options), then  # type: ignore[arg-type]


def test_cascade_asks_where_the_rules_are_unsure(request_for: Callable[..., Any]) -> None:
    judge, then = cascade(Judgement("incorrect", 1.0))
    requests = [request_for(question=q) for q in ("sure", "maybe", "sure", "maybe")]
    found = list(judge.stream([None, *requests]))
    assert [j and j.verdict for j in found] == [None, *["probably_correct", "incorrect"] * 2]
    assert [r.question for r in then.asked] == ["maybe", "maybe"]
    assert judge.signature == "cascade(0.85,sure,fixed)"


def test_cascade_falls_back_on_the_rules_when_the_budget_is_spent(request_for: Callable[..., Any]) -> None:
    requests = [request_for(question="maybe") for _ in range(3)]
    judge, then = cascade(Judgement("incorrect", 1.0), most=1)
    found = judge.judge(requests)
    assert [j.verdict for j in found] == ["incorrect", "probably_correct", "probably_correct"]
    assert len(then.asked) == 1 and "budget" in found[1].reason
    judge, then = cascade(Judgement(None, 0.0, reason=f"{SPENT}3 requests is spent"))
    assert [j.verdict for j in judge.judge(requests)] == ["probably_correct"] * 3


def test_a_failure_of_the_model_is_no_verdict(request_for: Callable[..., Any]) -> None:
    judge, _ = cascade(Judgement(None, 0.0, reason="the server answers 500"))
    (found,) = judge.judge([request_for(question="maybe")])
    assert found.verdict is None and "500" in found.reason


@pytest.mark.parametrize("options", [{"threshold": 1.5}, {"most": -1}])
def test_bad_options_of_a_cascade(options: dict[str, Any]) -> None:
    with pytest.raises(OptionError):
        cascade(Judgement("correct", 1.0), **options)


def test_judges_without_a_stream_get_batches(request_for: Callable[..., Any]) -> None:
    sizes: list[int] = []

    class Plain:
        signature = "plain"

        def judge(self, requests: Sequence[Request]) -> list[Judgement]:
            sizes.append(len(requests))
            return [Judgement("correct", 1.0, reason=r.question) for r in requests]

    given = [None if n % 10 == 0 else request_for(question=f"{n}?") for n in range(300)]
    found = list(judge_stream(Plain(), given))
    assert [j and j.reason for j in found] == [r and r.question for r in given]
    assert sizes == [230, 40]
