"""What a model says, held against what is certain: no text can talk a query past hard evidence.

A verdict on the good side contradicts evidence where the query lacks a condition, turns one round or has
another finding that costs much (`RulesJudge`). It is then bounded at "potentially_incorrect", so that Phi is
at most 70, and the row is flagged. The same holds where a text of the row speaks to the judge (`injection`).
A verdict that only the comments of a query make good is replaced by the one without them (`bare`).
"""

from __future__ import annotations

from spider_compose.stef.alignment import Finding
from spider_compose.stef.judges.answer import Answer, one_line
from spider_compose.stef.judges.calibration import Calibration
from spider_compose.stef.judges.injection import injected_texts
from spider_compose.stef.judges.protocol import VERDICT_POINTS, Judgement, Request
from spider_compose.stef.judges.rules import (
    COMPLEXITY,
    DEFINITE,
    FILTER_RULES,
    HARD,
    RulesJudge,
    amounts,
    findings,
)

# Findings about the length of a query: a long one may be right.
LONGER = COMPLEXITY | frozenset(("joins", "many_conditions", "outer_join"))

# The best verdict that stands against hard evidence.
BOUND = "potentially_incorrect"


def cross_checked(
    request: Request,
    answer: Answer,
    rules: RulesJudge,
    calibration: Calibration | None = None,
    bare: Answer | None = None,
) -> Judgement:
    """The judgement that a model's answer comes to; a failure costs one row, and the row says so.

    Args:
        bare: the answer about the row without the comments of its query, where it has any (`bare`).
        rules: what Phi would be without the model.
        calibration: from belief to probability; without it the judgement has no `p_correct`.
    """
    try:
        return _checked(request, answer, rules, calibration, bare)
    except Exception as error:
        return Judgement(None, 0.0, reason=one_line(f"{type(error).__name__}: {error}"))


def _checked(
    request: Request,
    answer: Answer,
    rules: RulesJudge,
    calibration: Calibration | None,
    bare: Answer | None,
) -> Judgement:
    without = rules.judge([request])[0]
    against = evidence(request, rules)
    injected = injected_texts(request)
    conflict = ""
    if bare is not None and _good(answer.verdict) and not _good(bare.verdict):
        conflict = f"without the comments of the query the judge says {bare.verdict}"
        answer = bare
    verdict = answer.verdict
    reason = Finding("judge", answer.reason or verdict, request.pair.question.whole, request.pair.sql.whole)
    held = [(reason, 1.0)]
    if injected:
        place, text = injected[0]
        talk = f"a text speaks to the judge, in the {place}: {one_line(text)[:80]!r}"
        conflict = "; ".join(filter(None, [conflict, talk]))
    if _good(verdict) and (against or injected):
        if against:
            shown = "; ".join(finding.message for finding, _ in against[:3])
            conflict = "; ".join(filter(None, [f"the judge says {verdict}, but {shown}", conflict]))
            held = against
        verdict = BOUND
    p_correct = None if calibration is None else bounded(calibration(answer.belief), conflict, without)
    confidence = answer.confidence
    if p_correct is not None:
        confidence = p_correct if _good(verdict) else 1 - p_correct
    if conflict:
        confidence = min(confidence, without.confidence)
    return Judgement(
        verdict, confidence, tuple(held), p_correct, answer.reason, conflict, without, answer.belief
    )


def bounded(p: float, conflict: str, without: Judgement | None) -> float:
    """A probability by a model; in a conflict no more than what the rules give."""
    if not conflict or without is None or without.p_correct is None:
        return p
    return min(p, without.p_correct)


def _good(verdict: str) -> bool:
    return VERDICT_POINTS[verdict] > VERDICT_POINTS[BOUND]


def evidence(request: Request, rules: RulesJudge) -> list[tuple[Finding, float]]:
    """Hard evidence against a query, each with its share of lost points.

    It is a required condition that is missing or turned round, a contradiction, or any other finding that
    costs at least `DEFINITE`; what makes a query longer is none.
    """
    pair = request.pair
    found = findings(pair, rules.disabled | pair.rules.disabled_rules)
    cost = {name: rules.weights.rules.get(name, 0.0) * amount for name, amount in amounts(found).items()}
    missing = {finding for finding in pair.filters.missing if finding.rule in FILTER_RULES}
    return [
        (finding, max(cost[finding.rule], 0.1))
        for finding in found
        if finding in missing
        or (cost[finding.rule] > 0 and finding.rule in HARD)
        or (cost[finding.rule] >= DEFINITE and finding.rule not in LONGER)
    ]
