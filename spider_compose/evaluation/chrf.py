"""chrF (Popović 2015): F-score of character n-grams, as sacrebleu counts it (chrF2, orders 1 to 6)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from spider_compose.evaluation.bleu import sacrebleu_metrics, statistics

BETA = 2
"""How many times as much recall counts as precision."""


def chrf_statistics(
    predictions: Sequence[str], references: Sequence[Sequence[str]]
) -> tuple[npt.NDArray[np.int64], str]:
    """Per item and order: n-grams of the prediction, of the reference, and of both; and the signature.

    Args and Returns are those of `bleu_statistics`, the counts of shape `(len(predictions), 18)`.
    """
    return statistics(sacrebleu_metrics().CHRF(beta=BETA), predictions, references)


def chrf(sums: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """ChrF of corpora, from the sums of their items' statistics.

    Precision and recall are means over the orders that both sides have.

    Args:
        sums: of shape `(..., 3 * orders)`.

    Returns:
        Of shape `(...)`: percent, 0 to 100, higher is better; 0 where no order is on both sides.
    """
    sums = np.asarray(sums, dtype=np.float64)
    said, wanted, matched = sums[..., 0::3], sums[..., 1::3], sums[..., 2::3]
    counts = (said > 0) & (wanted > 0)
    orders = np.maximum(counts.sum(axis=-1), 1)
    precision = np.where(counts, matched / np.maximum(said, 1), 0).sum(axis=-1) / orders
    recall = np.where(counts, matched / np.maximum(wanted, 1), 0).sum(axis=-1) / orders
    weighted = BETA**2 * precision + recall
    score: npt.NDArray[np.float64] = (1 + BETA**2) * precision * recall / np.where(weighted > 0, weighted, 1)
    return 100 * score
