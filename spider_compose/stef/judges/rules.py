"""The default judge: deterministic, from what the alignment found (pipeline step 5).

A query starts with the odds of a faultless one and loses some by each finding; what a finding costs stands
in one table, `weights.json`, fitted on labelled queries (see `spider_compose.stef.fit`). The verdict looks
beyond filters, which Phi counts by themselves; `p_correct` looks at everything.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from importlib import resources
from itertools import pairwise
from pathlib import Path
from typing import Any

from spider_compose.errors import SpiderComposeError
from spider_compose.stef.alignment import CONTRADICTIONS, Finding, Pair
from spider_compose.stef.judges.checks import CHECKS
from spider_compose.stef.judges.protocol import Judgement, Request

# Findings of one rule count at most this much together: the third extra column says little more.
GREATEST_AMOUNT = 3.0

# Findings about filters: Phi has points of their own for them, so the verdict leaves them out.
FILTER_RULES = frozenset(
    "literal_missing literal_altered definition_value_missing negation_missing operator_differs "
    "pattern_differs bound_differs bound_missing name_unapplied name_replaced state_differs "
    "state_unapplied extra_filter extra_null_filter".split()
)

# What is no fault, but one more thing to get wrong: it moves the probability, and no verdict.
COMPLEXITY = frozenset(("nested_queries",))

# A query with a finding that costs this much is not one to use unseen: its confidence stays below that.
DEFINITE = 0.8

# Hard evidence: the query says the contrary of the question, or what no question can ask. Whatever else
# speaks for it, the verdict is no better than "potentially_incorrect".
HARD = CONTRADICTIONS | frozenset(
    "superlative_direction order_direction limit_differs or_for_and never_true always_true constant_unasked "
    "offset_unasked repeated_operand aggregate_differs negation_unasked".split()
)

# What is no fault but makes a question harder; it moves the odds, in either direction.
CONTEXT = ("enriched", "question_length", "required_filters")


@dataclass(frozen=True)
class Weights:
    """What findings cost, in log odds.

    Attributes:
        intercept: log odds of a query without findings, on a question of twelve words.
        rules: rule -> cost of one finding, at least 0.
        context: name of `CONTEXT` -> change of the odds per unit.
        verdicts: (verdict, least probability it is given at), from the best to the worst.
        confidence: (probability, gamma) points between which gamma is read off.
        faultless: greatest probability a verdict is given by to a query with a definite fault (see
            `DEFINITE`).
        contradicted: the same for a query with hard evidence against it (see `HARD`).
    """

    intercept: float
    rules: Mapping[str, float]
    context: Mapping[str, float]
    verdicts: tuple[tuple[str, float], ...]
    confidence: tuple[tuple[float, float], ...]
    faultless: float
    contradicted: float = 0.44
    source: str = "default"

    @classmethod
    def from_dict(cls, document: Mapping[str, Any], source: str = "default") -> Weights:
        """Weights from the JSON document that `stef fit` writes.

        Raises:
            SpiderComposeError: a part is missing.
        """
        try:
            return cls(
                float(document["intercept"]),
                {name: float(rule["weight"]) for name, rule in document["rules"].items()},
                {name: float(value) for name, value in document["context"].items()},
                tuple((str(name), float(least)) for name, least in document["verdicts"]),
                tuple((float(p), float(gamma)) for p, gamma in document["confidence"]),
                float(document["faultless"]),
                float(document.get("contradicted", 0.44)),
                source,
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise SpiderComposeError(
                f"weights of {source}: expected the JSON document that `stef fit` writes, but {error!r}"
            ) from error

    @classmethod
    def read(cls, path: str | Path) -> Weights:
        """Weights from a file.

        Raises:
            SpiderComposeError: it cannot be read or is no weights document.
        """
        try:
            document = json.loads(Path(path).read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError) as error:
            raise SpiderComposeError(f"cannot read weights from {path}: {error}") from error
        return cls.from_dict(document, str(path))

    def weigh(
        self, found: Mapping[str, float], context: Mapping[str, float]
    ) -> tuple[float, float, dict[str, float]]:
        """(probability beyond filters, probability over everything, cost of each rule).

        Args:
            found: rule -> amount.
            context: name of `CONTEXT` -> value.
        """
        base = self.intercept + sum(self.context.get(name, 0.0) * value for name, value in context.items())
        costs = {rule: self.rules.get(rule, 0.0) * amount for rule, amount in found.items()}
        others = {rule: cost for rule, cost in costs.items() if rule not in FILTER_RULES | COMPLEXITY}
        p = probability(base - sum(others.values()))
        if any(cost >= DEFINITE for cost in others.values()):
            p = min(p, self.faultless)
        if any(cost > 0 and rule in HARD for rule, cost in costs.items()):
            p = min(p, self.contradicted)
        return p, probability(base - sum(costs.values())), costs

    def verdict(self, p: float) -> tuple[str, float]:
        """The verdict and its confidence for a probability beyond filters."""
        return next(name for name, least in self.verdicts if p >= least), gamma(p, self.confidence)

    @cached_property
    def digest(self) -> str:
        """Eight hexadecimal digits that change with every weight, for the signature."""
        parts = [
            self.intercept,
            sorted(self.rules.items()),
            sorted(self.context.items()),
            self.verdicts,
            self.confidence,
            self.faultless,
            self.contradicted,
        ]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:8]


@lru_cache(maxsize=1)
def default_weights() -> Weights:
    """The weights that come with the package."""
    text = resources.files("spider_compose.stef.judges").joinpath("weights.json").read_text(encoding="utf-8")
    return Weights.from_dict(json.loads(text))


def context(pair: Pair) -> dict[str, float]:
    """How hard the question is, by its own signs."""
    words = max(4, len(pair.question.words))
    return {
        "enriched": float(bool(pair.question.definitions)),
        "question_length": math.log(words / 12),
        "required_filters": float(min(4, pair.filters.required)),
    }


def findings(pair: Pair, disabled: Collection[str] = ()) -> list[Finding]:
    """Everything held against a query: its filters first, then the checks in their order."""
    found = [*pair.filters.missing, *pair.filters.extras]
    found += [finding for check in CHECKS if check.__name__ not in disabled for finding in check(pair)]
    return [finding for finding in found if finding.rule not in disabled]


def amounts(found: Sequence[Finding]) -> dict[str, float]:
    """Rule -> how much of it was found, at most `GREATEST_AMOUNT`."""
    total: dict[str, float] = {}
    for finding in found:
        total[finding.rule] = min(GREATEST_AMOUNT, total.get(finding.rule, 0.0) + finding.amount)
    return total


@dataclass(frozen=True)
class RulesJudge:
    """The judge "rules"."""

    weights: Weights = field(default_factory=default_weights)
    disabled: frozenset[str] = frozenset()

    @property
    def signature(self) -> str:
        """Name, weights, and rules that are off."""
        off = f"-without-{'+'.join(sorted(self.disabled))}" if self.disabled else ""
        return f"rules-{self.weights.digest}{off}"

    def judge(self, requests: Sequence[Request]) -> list[Judgement]:
        """One judgement per request."""
        return [self._judge_safely(request.pair) for request in requests]

    def _judge_safely(self, pair: Pair) -> Judgement:
        """A failure costs one row, and the row says so."""
        try:
            return self._judge(pair)
        except Exception as error:
            return Judgement(None, 0.0, reason=f"{type(error).__name__}: {error}"[:300])

    def _judge(self, pair: Pair) -> Judgement:
        found = findings(pair, self.disabled | pair.rules.disabled_rules)
        p, p_correct, costs = self.weights.weigh(amounts(found), context(pair))
        shares: dict[str, tuple[Finding, float]] = {}
        for finding in found:
            if finding.rule not in FILTER_RULES | COMPLEXITY and costs[finding.rule] > 0:
                shares.setdefault(finding.rule, (finding, costs[finding.rule]))
        verdict, confidence = self.weights.verdict(p)
        return Judgement(verdict, confidence, tuple(shares.values()), p_correct)


def probability(odds: float) -> float:
    """Log odds -> probability."""
    return 1 / (1 + math.exp(-odds)) if odds > -500 else 0.0


def gamma(p: float, points: Sequence[tuple[float, float]]) -> float:
    """The confidence between the points of the table, linear in the probability."""
    for (left, low), (right, high) in pairwise(points):
        if p <= right:
            return low + (high - low) * (p - left) / (right - left)
    return points[-1][1]
