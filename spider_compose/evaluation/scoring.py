"""The metrics of a model's output with intervals, and the comparison of two models.

Results are plain dictionaries for JSON. Every figure is in percent, rounded to `DECIMALS` places, so that the
same inputs give the same bytes on every machine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from spider_compose.errors import EvaluationError
from spider_compose.evaluation.bleu import WIDTH, bleu, bleu_statistics
from spider_compose.evaluation.bootstrap import (
    LEVEL,
    Metric,
    bootstrap_p_value,
    check_sampling,
    interval,
    randomization_p_value,
    resampled_sums,
)
from spider_compose.evaluation.chrf import chrf, chrf_statistics
from spider_compose.evaluation.exact_match import (
    NORMALIZED,
    STRICT,
    exact_match,
    normalized_exact_match,
)
from spider_compose.evaluation.items import positions_by_length, positions_by_pattern, read_items
from spider_compose.evaluation.references import grouped_references
from spider_compose.sql.schema import Schema

DECIMALS = 4
"""Places that figures are rounded to."""

Counts = npt.NDArray[np.int64]


def score(
    predictions: Sequence[str],
    rows: Sequence[Mapping[str, Any]],
    *,
    schemas: Mapping[str, Schema] | None = None,
    dialect: str = "sqlite",
    samples: int = 1000,
    seed: int = 12345,
) -> dict[str, Any]:
    """Score generated questions against the questions of the dataset.

    Args:
        predictions: one per row, in the rows' order; an empty text is a wrong answer like any other.
        rows: rows of a dataset split with the columns `items.COLUMNS`.
        schemas: by database; they tell columns apart when queries are grouped for multi-reference BLEU.
        dialect: of the queries, for the same grouping.
        samples: resamples of the bootstrap.
        seed: of the bootstrap.

    Returns:
        `num_items`; `bleu`, `bleu_multi_reference`, `exact_match`, `normalized_exact_match` and `chrf`, each
        with `score`, the bounds `low` and `high` of its interval, and `signature`; `interval`, how bounds
        were found; `by_num_clauses` and `by_clause_pattern`, most frequent pattern first; and `items`, the
        sufficient statistics that `compare` reads, which hold no texts. All scores are 0 to 100, higher is
        better.

    Raises:
        EvaluationError: see `read_items`.
        MissingExtraError: sacrebleu is not installed.
        OptionError: `samples`, `seed` or `dialect` is out of range.
    """
    check_sampling(samples, seed)
    items = read_items(predictions, rows)
    said = [item.prediction for item in items]
    own = [(item.question,) for item in items]
    grouped, unparsed = grouped_references(items, schemas, dialect)
    bleu_counts, bleu_signature = bleu_statistics(said, own)
    multi_counts, multi_signature = bleu_statistics(said, grouped)
    chrf_counts, chrf_signature = chrf_statistics(said, own)
    exact = [int(exact_match(item.prediction, item.question)) for item in items]
    normalized = [int(normalized_exact_match(item.prediction, item.question)) for item in items]

    def measured(metric: Metric, counts: Counts, signature: str) -> dict[str, Any]:
        low, high = interval(metric(resampled_sums(counts, samples, seed)))
        whole = float(metric(counts.sum(axis=0)))
        return {"score": _figure(whole), "low": _figure(low), "high": _figure(high), "signature": signature}

    def part(positions: list[int]) -> dict[str, Any]:
        return {
            "num_items": len(positions),
            "bleu": _figure(float(bleu(bleu_counts[positions].sum(axis=0)))),
            "exact_match": _figure(100 * float(np.mean([exact[at] for at in positions]))),
            "normalized_exact_match": _figure(100 * float(np.mean([normalized[at] for at in positions]))),
        }

    return {
        "num_items": len(items),
        "bleu": measured(bleu, bleu_counts, bleu_signature),
        "bleu_multi_reference": {
            **measured(bleu, multi_counts, multi_signature),
            "num_references": _figure(sum(map(len, grouped)) / len(items)),
            "num_unparsed": unparsed,
        },
        "exact_match": measured(proportion, trials(exact), STRICT),
        "normalized_exact_match": measured(proportion, trials(normalized), NORMALIZED),
        "chrf": measured(chrf, chrf_counts, chrf_signature),
        "interval": {
            "method": "percentile bootstrap by item",
            "level": LEVEL,
            "samples": samples,
            "seed": seed,
        },
        "by_num_clauses": {
            str(number): part(positions) for number, positions in positions_by_length(items).items()
        },
        "by_clause_pattern": {
            pattern: part(positions) for pattern, positions in positions_by_pattern(items).items()
        },
        "items": {
            "ids": [item.id for item in items],
            "bleu": bleu_counts.tolist(),
            "exact": exact,
            "normalized": normalized,
        },
    }


def compare(
    first: Mapping[str, Any], second: Mapping[str, Any], *, samples: int = 1000, seed: int = 12345
) -> dict[str, Any]:
    """Compare two models on the same items: is the difference of their scores more than chance?

    Args:
        first: what `score` gave for one model; only `items` and the signature of BLEU are read.
        second: the same for the other model; its items may stand in another order.
        samples: resamples of the paired bootstrap, and exchanges of the approximate randomization.
        seed: of both.

    Returns:
        `num_items`, `samples`, `seed`, and for `bleu`, `exact_match` and `normalized_exact_match`: the
        scores `first` and `second`; `difference`, first minus second, in points; its paired bootstrap
        interval `low` to `high`; `p_value` by paired approximate randomization, and `p_value_bootstrap`. Both
        p-values are two-sided, over 0 up to 1, and not corrected for the number of comparisons made.

    Raises:
        EvaluationError: a result lacks its items, or the two are not over the same items and references.
        OptionError: `samples` or `seed` is out of range.
    """
    check_sampling(samples, seed)
    ours, theirs = _statistics(first, "first"), _statistics(second, "second")
    order = _same_items(first, second)
    measured: dict[str, Any] = {"num_items": len(order), "samples": samples, "seed": seed}
    for name, (metric, counts) in ours.items():
        one, other = counts, theirs[name][1][order]
        if name == "bleu" and (one[:, 1] != other[:, 1]).any():
            at = int(np.argmax(one[:, 1] != other[:, 1]))
            raise EvaluationError(
                f"the two results have other references for item {first['items']['ids'][at]!r}: "
                f"{one[at, 1]} and {other[at, 1]} words. Score both models on the same dataset."
            )
        differences = metric(resampled_sums(one, samples, seed)) - metric(
            resampled_sums(other, samples, seed)
        )
        low, high = interval(differences)
        scores = [float(metric(counts.sum(axis=0))) for counts in (one, other)]
        measured[name] = {
            "first": _figure(scores[0]),
            "second": _figure(scores[1]),
            "difference": _figure(scores[0] - scores[1]),
            "low": _figure(low),
            "high": _figure(high),
            "p_value": round(randomization_p_value(metric, one, other, samples, seed), 6),
            "p_value_bootstrap": round(bootstrap_p_value(differences), 6),
        }
    return measured


def proportion(sums: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Share of items that are right, in percent, from sums of `trials`."""
    share: npt.NDArray[np.float64] = sums[..., 0] / sums[..., 1]
    return 100 * share


def trials(right: Sequence[int]) -> Counts:
    """Statistics of a yes-or-no metric: [1 if right else 0, 1] per item."""
    return np.stack([np.asarray(right, dtype=np.int64), np.ones(len(right), dtype=np.int64)], axis=1)


def _figure(value: float) -> float:
    return round(value, DECIMALS) + 0.0  # never -0.0


def _statistics(result: Mapping[str, Any], name: str) -> dict[str, tuple[Metric, Counts]]:
    """The metrics that `compare` knows, with their statistics as a result holds them."""
    items = result.get("items") if isinstance(result, Mapping) else None
    if not isinstance(items, Mapping) or not {"ids", "bleu", "exact", "normalized"} <= items.keys():
        raise EvaluationError(
            f"the {name} result must hold `items` with ids, bleu, exact and normalized, as `score` gives it."
        )
    if not isinstance(items["ids"], list) or not all(isinstance(id_, str) for id_ in items["ids"]):
        raise EvaluationError(f"the {name} result's `items` must have a list of texts as `ids`.")
    try:
        counts = np.array(items["bleu"], dtype=np.int64)
        right = {key: trials(items[key]) for key in ("exact", "normalized")}
    except (TypeError, ValueError, OverflowError) as error:
        raise EvaluationError(f"the {name} result's `items` are no counts: {error}.") from None
    num_items = len(items["ids"])
    if (
        not num_items
        or counts.shape != (num_items, WIDTH)
        or {own.shape for own in right.values()} != {(num_items, 2)}
    ):
        raise EvaluationError(
            f"the {name} result's `items` must hold {WIDTH} counts of bleu, exact and normalized for each of "
            f"its {num_items} ids, and at least one."
        )
    return {
        "bleu": (bleu, counts),
        "exact_match": (proportion, right["exact"]),
        "normalized_exact_match": (proportion, right["normalized"]),
    }


def _same_items(first: Mapping[str, Any], second: Mapping[str, Any]) -> list[int]:
    """Where each item of the first result stands in the second."""
    ours, theirs = first["items"]["ids"], second["items"]["ids"]
    place = {id_: at for at, id_ in enumerate(theirs)}
    if len(ours) != len(theirs) or set(ours) != set(place):
        lost = sorted(set(ours) ^ set(place))
        example = f"; {lost[0]!r} is in one alone" if lost else ""
        raise EvaluationError(
            f"two results can be compared over the same items only, but got {len(ours)} and {len(theirs)} "
            f"ids, {len(set(ours) & set(place))} of them shared{example}."
        )
    measured = [result.get("bleu") for result in (first, second)]
    signatures = [own.get("signature") if isinstance(own, Mapping) else None for own in measured]
    if signatures[0] != signatures[1]:
        raise EvaluationError(f"BLEU was counted differently: {signatures[0]} and {signatures[1]}.")
    return [place[id_] for id_ in ours]
