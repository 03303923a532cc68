"""Corpus BLEU-4 (Papineni et al. 2002) as sacrebleu counts it, from sufficient statistics.

sacrebleu cuts the texts (13a, case kept) and counts n-grams per item; the sums of these counts are all that
corpus BLEU depends on. The formula is written here once more over arrays, because a bootstrap evaluates it
thousands of times; the tests hold it to sacrebleu's own.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from spider_compose.errors import MissingExtraError

MAX_ORDER = 4
"""Longest n-gram counted."""

WIDTH = 2 + 2 * MAX_ORDER
"""Counts per item: words of the prediction, of its closest reference, matches by order, n-grams by order."""


def sacrebleu_metrics() -> Any:
    """The module `sacrebleu.metrics`.

    Raises:
        MissingExtraError: sacrebleu is not installed.
    """
    try:
        return importlib.import_module("sacrebleu.metrics")
    except ImportError as error:
        raise MissingExtraError(
            f"scoring needs sacrebleu ({error}): pip install 'spider-compose[evaluation]'"
        ) from None


def bleu_statistics(
    predictions: Sequence[str], references: Sequence[Sequence[str]]
) -> tuple[npt.NDArray[np.int64], str]:
    """Count the n-grams of each prediction and how many of them its references have.

    Args:
        predictions: at least one.
        references: per prediction one or more.

    Returns:
        Counts of shape `(len(predictions), WIDTH)`, and sacrebleu's signature.
    """
    metric = sacrebleu_metrics().BLEU(force=True)  # force: no advice on tokenized text
    return statistics(metric, predictions, references)


def corpus_bleu(predictions: Sequence[str], references: Sequence[str]) -> float:
    """Corpus BLEU-4 against one reference each, in percent: the figure alone, for choosing a checkpoint."""
    counts, _ = bleu_statistics(predictions, [(reference,) for reference in references])
    return float(bleu(counts.sum(axis=0)))


def statistics(
    metric: Any, predictions: Sequence[str], references: Sequence[Sequence[str]]
) -> tuple[npt.NDArray[np.int64], str]:
    """A sacrebleu metric's sufficient statistics per item, and its signature."""
    # sacrebleu takes the n-th reference of all items together; None stands where an item has fewer.
    most = max(len(own) for own in references)
    streams = [[own[at] if at < len(own) else None for own in references] for at in range(most)]
    # Public since sacrebleu 2.0 in all but name: its own significance tests stand on this method.
    counts = metric._extract_corpus_statistics(list(predictions), streams)
    return np.array(counts, dtype=np.int64), str(metric.get_signature())


def bleu(sums: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """BLEU of corpora, from the sums of their items' statistics.

    Args:
        sums: of shape `(..., WIDTH)`.

    Returns:
        Of shape `(...)`: percent, 0 to 100, higher is better. As in sacrebleu, an order without a match is
        smoothed (`exp`), and a corpus without any match or without any 4-gram scores 0.
    """
    sums = np.asarray(sums, dtype=np.float64)
    correct, total = sums[..., 2 : 2 + MAX_ORDER], sums[..., 2 + MAX_ORDER :]
    said, wanted = sums[..., 0], sums[..., 1]
    defined = (correct.max(axis=-1) > 0) & (total.min(axis=-1) > 0)
    total = np.maximum(total, 1)
    # The k-th order without a match counts as 1 / 2^k matches.
    smoothed = 0.5 ** np.cumsum(correct == 0, axis=-1)
    logarithms = np.log(np.where(correct > 0, correct, smoothed) / total)
    penalty = np.minimum(0.0, 1 - wanted / np.maximum(said, 1))
    return np.where(defined, 100 * np.exp(logarithms.mean(axis=-1) + penalty), 0.0)
