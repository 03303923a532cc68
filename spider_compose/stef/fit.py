"""Fit the judge's weights on labelled queries: logistic regression with a prior, no randomness.

Every rule has a prior weight and a least one in the table; the fit moves a weight away from its prior only
as far as rows say so, and never below the least one: a contradicted order must cost something even where no
labelled row has it. Rows with and without definitions weigh the same in all, for they come in very different
numbers.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spider_compose.errors import SpiderComposeError
from spider_compose.stef.judges.rules import CONTEXT, Weights, amounts, context, findings
from spider_compose.stef.rules import ApplicationRules
from spider_compose.stef.score import Scorer

if TYPE_CHECKING:
    import numpy as np

# Pull of the prior, in units of one over its variance; of the context, whose sign is open, it is small.
STRENGTH = 10.0
CONTEXT_STRENGTH = 1.0


@dataclass(frozen=True)
class Example:
    """One labelled query as the judge sees it.

    Attributes:
        found: rule -> amount.
        context: name -> value.
        correct: whether it is right.
        groups: names to split by, as {"db_id": "world_1", "agent": "a"}.
        row: its number in the file.
    """

    found: Mapping[str, float]
    context: Mapping[str, float]
    correct: bool
    groups: Mapping[str, str]
    row: int
    weight: float = 1.0


def examples(rows: Sequence[Mapping[str, Any]], dialects: Sequence[str] = ("auto",)) -> list[Example]:
    """Labelled rows as examples, once per dialect they are to be read in; unscored rows are left out.

    Args:
        rows: dicts with `question`, `enriched_question`, `sql`, `correct`, and names to split by.
        dialects: each row counts once in all, shared out among them.
    """
    found: list[Example] = []
    for dialect in dialects:
        scorer = Scorer(ApplicationRules(dialect=dialect))
        for number, (row, explained) in enumerate(zip(rows, scorer.explain_rows(rows), strict=True)):
            if explained.pair is not None:
                groups = {key: str(row[key]) for key in ("db_id", "agent") if key in row}
                pair = explained.pair
                found.append(
                    Example(
                        amounts(findings(pair)),
                        context(pair),
                        bool(row["correct"]),
                        groups,
                        number,
                        1 / len(dialects),
                    )
                )
    return balanced(found)


def balanced(found: Sequence[Example]) -> list[Example]:
    """Examples with and without definitions, weighted to the same total."""
    total = {kind: sum(e.weight for e in found if e.context["enriched"] == kind) for kind in (0.0, 1.0)}
    if not all(total.values()):
        return list(found)
    mean = sum(total.values()) / 2
    return [replace(e, weight=e.weight * mean / total[e.context["enriched"]]) for e in found]


def fit(found: Sequence[Example], table: Mapping[str, Any], strength: float | None = None) -> dict[str, Any]:
    """The weights document with weights fitted to the examples.

    Args:
        found: examples.
        table: a weights document; its priors, least weights, verdicts and confidence are kept.
        strength: pull of the priors.
    """
    import numpy as np

    strength = float(table.get("strength", STRENGTH)) if strength is None else strength
    rules = sorted(table["rules"])
    x = np.array(
        [[-e.found.get(r, 0.0) for r in rules] + [e.context[c] for c in CONTEXT] + [1.0] for e in found]
    )
    y = np.array([float(e.correct) for e in found])
    w = np.array([e.weight for e in found])
    prior = np.array([float(table["rules"][r]["prior"]) for r in rules] + [0.0] * (len(CONTEXT) + 1))
    least = np.array([float(table["rules"][r]["least"]) for r in rules] + [-np.inf] * (len(CONTEXT) + 1))
    pull = np.array([strength] * len(rules) + [CONTEXT_STRENGTH] * len(CONTEXT) + [1e-6])
    theta = np.round(_newton(x, y, w, prior, least, pull), 4)
    count = (x != 0).sum(axis=0)
    document = dict(table)
    document["rules"] = {
        r: {**table["rules"][r], "weight": float(theta[i]), "rows": int(count[i])}
        for i, r in enumerate(rules)
    }
    document["context"] = {c: float(theta[len(rules) + i]) for i, c in enumerate(CONTEXT)}
    document["intercept"] = float(theta[-1])
    document["strength"] = strength
    return document


def _newton(
    x: np.ndarray[Any, Any], y: np.ndarray[Any, Any], w: np.ndarray[Any, Any],
    prior: np.ndarray[Any, Any], least: np.ndarray[Any, Any], pull: np.ndarray[Any, Any],
) -> np.ndarray[Any, Any]:  # fmt: skip
    """Projected Newton steps to the least penalised loss with lower bounds."""
    import numpy as np

    def loss(theta: np.ndarray[Any, Any]) -> float:
        z = x @ theta
        return float(w @ (np.logaddexp(0, z) - y * z) + 0.5 * pull @ (theta - prior) ** 2)

    theta = np.maximum(prior, least)
    for _ in range(200):
        p = 1 / (1 + np.exp(-(x @ theta)))
        gradient = x.T @ (w * (p - y)) + pull * (theta - prior)
        free = ~((theta <= least) & (gradient > 0))
        if np.abs(gradient[free]).max() < 1e-7:
            break
        hessian = (x[:, free] * (w * p * (1 - p))[:, None]).T @ x[:, free] + np.diag(pull[free])
        step = np.zeros_like(theta)
        step[free] = np.linalg.solve(hessian, gradient[free])
        size, now = 1.0, loss(theta)
        while size > 1e-8 and loss(np.maximum(theta - size * step, least)) > now - 1e-12:
            size /= 2
        theta = np.maximum(theta - size * step, least)
        if size <= 1e-8:
            break
    found: np.ndarray[Any, Any] = theta
    return found


def cross_validated(
    found: Sequence[Example], table: Mapping[str, Any], key: str, strength: float | None = None
) -> dict[int, dict[str, Any]]:
    """Row -> the weights document fitted without the row's group.

    Args:
        key: what to split by, "db_id" or "agent".
    """
    documents = {}
    for group in sorted({e.groups[key] for e in found}):
        kept = balanced([replace(e, weight=e.weight) for e in found if e.groups[key] != group])
        document = fit(kept, table, strength)
        documents.update({e.row: document for e in found if e.groups[key] == group})
    return documents


def fingerprint(rows: Iterable[Mapping[str, Any]]) -> str:
    """Sixteen hexadecimal digits of labelled rows: what weights were fitted on."""
    digest = hashlib.sha256()
    for row in rows:
        digest.update(
            json.dumps([row.get(k) for k in ("question", "enriched_question", "sql", "correct")]).encode()
        )
    return digest.hexdigest()[:16]


def weights(document: Mapping[str, Any]) -> Weights:
    """The judge's weights of a document."""
    return Weights.from_dict(document, "fit")


def table(path: str | Path | None = None) -> dict[str, Any]:
    """A weights document to fit from: of a file, or the package's.

    Raises:
        SpiderComposeError: the file cannot be read or is no weights document.
    """
    source = Path(path) if path else resources.files("spider_compose.stef.judges").joinpath("weights.json")
    try:
        document: dict[str, Any] = json.loads(source.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise SpiderComposeError(f"cannot read weights from {path}: {error}") from error
    weights(document)
    return document
