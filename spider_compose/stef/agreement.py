"""How far judges agree with labels: the table by which to choose one.

Each judge is measured on the rows it gives a verdict on, and its coverage says how many these are.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from spider_compose.stef.judges.answer import Answer
from spider_compose.stef.judges.calibration import LEAST_ROWS, Calibration, fit
from spider_compose.stef.judges.cross_check import bounded
from spider_compose.stef.judges.protocol import VERDICT_POINTS, Judgement

MEASURES = ("auroc", "kappa", "balanced", "ece", "said", "coverage")


@dataclass(frozen=True)
class Rating:
    """What a judge says of one labelled row.

    Attributes:
        belief: probability in [0, 1] that the query is right; higher ranks before lower.
        good: whether the verdict is on the good side.
        confidence: in the verdict.
    """

    belief: float
    good: bool
    confidence: float


def rating(judgement: Judgement | None) -> Rating | None:
    """The rating in a judgement; None without a verdict."""
    if judgement is None or judgement.verdict not in VERDICT_POINTS:
        return None
    belief = judgement.p_correct
    if belief is None:
        belief = Answer.stated(judgement.verdict, judgement.confidence).belief
    return Rating(belief, VERDICT_POINTS[judgement.verdict] > 2, judgement.confidence)


def model_rating(judgement: Judgement | None) -> Rating | None:
    """What the model alone says, before calibration and evidence; None where no model was asked."""
    if judgement is None or judgement.belief is None:
        return None
    return Rating(judgement.belief, judgement.belief > 0.5, max(judgement.belief, 1 - judgement.belief))


def calibrated(
    judgements: Sequence[Judgement | None], labels: Sequence[bool], groups: Sequence[Any], method: str
) -> list[Rating | None]:
    """Ratings by a calibration that has not seen the group of the row: what is to be expected on new rows.

    Args:
        groups: what must not stand on both sides, as the database of a row.
    """
    maps: dict[Any, Calibration] = {}
    for group in dict.fromkeys(groups):
        rest = [
            (j.belief, label)
            for j, label, g in zip(judgements, labels, groups, strict=True)
            if j is not None and j.belief is not None and g != group
        ]
        if len({label for _, label in rest}) == 2 and len(rest) >= LEAST_ROWS:
            maps[group] = fit([belief for belief, _ in rest], [label for _, label in rest], method)
    found: list[Rating | None] = []
    for j, group in zip(judgements, groups, strict=True):
        if j is None or j.belief is None or j.verdict is None or group not in maps:
            found.append(None)
            continue
        p = bounded(maps[group](j.belief), j.conflict, j.without)
        good = VERDICT_POINTS[j.verdict] > 2
        found.append(Rating(p, good, p if good else 1 - p))
    return found


def agreement(ratings: Sequence[Rating | None], labels: Sequence[bool]) -> dict[str, float | None]:
    """The measures of one judge; None where the rows do not tell.

    auroc: probability that a right query is believed more than a wrong one, 0.5 for a coin.
    kappa: agreement of verdict and label beyond chance, 0 for a coin, 1 for a perfect judge.
    balanced: mean share of right queries called right and wrong ones called wrong, 0.5 for a coin.
    ece: mean distance of the confidence from the share of verdicts that are right, over ten bins; 0 is best.
    said: mean confidence less that share: above 0 the judge is surer than it should be.
    coverage: share of the rows with a verdict.
    """
    pairs = [(r, label) for r, label in zip(ratings, labels, strict=True) if r is not None]
    found: dict[str, float | None] = dict.fromkeys(MEASURES)
    found["coverage"] = len(pairs) / len(labels) if labels else None
    if not pairs:
        return found
    hits = [r.good == label for r, label in pairs]
    right = [r for r, label in pairs if label]
    wrong = [r for r, label in pairs if not label]
    accuracy = sum(hits) / len(hits)
    found["said"] = math.fsum(r.confidence for r, _ in pairs) / len(pairs) - accuracy
    found["ece"] = _ece([r.confidence for r, _ in pairs], hits)
    if right and wrong:
        found["auroc"] = auroc([r.belief for r, _ in pairs], [label for _, label in pairs])
        found["balanced"] = (
            sum(r.good for r in right) / len(right) + sum(not r.good for r in wrong) / len(wrong)
        ) / 2
        good, share = sum(r.good for r, _ in pairs) / len(pairs), len(right) / len(pairs)
        chance = good * share + (1 - good) * (1 - share)
        found["kappa"] = (accuracy - chance) / (1 - chance) if chance < 1 else 0.0
    return found


def auroc(scores: Sequence[float], labels: Sequence[bool]) -> float:
    """Probability that a right row has a higher score than a wrong one; a tie counts half.

    >>> auroc([0.9, 0.4, 0.4, 0.1], [True, True, False, False])
    0.875
    """
    wins, wrong = 0.0, 0
    for _, tied in groupby(sorted(zip(scores, labels, strict=True)), key=lambda pair: pair[0]):
        level = [label for _, label in tied]
        below = level.count(False)
        wins += level.count(True) * (wrong + below / 2)
        wrong += below
    return wins / (wrong * (len(labels) - wrong))


def _ece(confidences: Sequence[float], hits: Sequence[bool]) -> float:
    bins: dict[int, list[tuple[float, bool]]] = {}
    for confidence, hit in zip(confidences, hits, strict=True):
        bins.setdefault(min(9, int(confidence * 10)), []).append((confidence, hit))
    off = (abs(math.fsum(c for c, _ in cell) - sum(h for _, h in cell)) for cell in bins.values())
    return math.fsum(off) / len(hits)


def as_table(measured: Mapping[str, Mapping[str, float | None]]) -> str:
    """Judges and their measures as a table in Markdown."""
    lines = [f"| judge | {' | '.join(MEASURES)} |", f"|---|{'---:|' * len(MEASURES)}"]
    for name, values in measured.items():
        cells = ("-" if (v := values[m]) is None else f"{v:.3f}" for m in MEASURES)
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)
