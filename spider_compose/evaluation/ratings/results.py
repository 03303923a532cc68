"""What the ratings add up to: a score for each system, its interval, and how far the raters agree."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import groupby
from statistics import mean, quantiles
from typing import Any

from spider_compose import __version__
from spider_compose.errors import RatingError
from spider_compose.evaluation.ratings.agreement import krippendorff_alpha
from spider_compose.evaluation.ratings.scale import HIGHEST, LOWEST, percent
from spider_compose.evaluation.ratings.sheet_csv import ReturnedSheet
from spider_compose.evaluation.ratings.study import FORMAT, REFERENCE, Item, Key


def summarize(
    key: Key, sheets: Sequence[ReturnedSheet], *, samples: int = 1000, seed: int = 12345
) -> dict[str, Any]:
    """Add up ratings.

    A system's mean is that of its rows, each row's that of its raters, so that a half-filled sheet gives no
    row more weight. The interval is the bootstrap's, 95 %, over rows: what other rows of the same kind would
    give with these raters.

    Args:
        samples: of the bootstrap.
        seed: of the bootstrap.

    Returns:
        The content of ratings.json: `format`, `scale`, `systems` (of each: `num_items`, `num_ratings`, `mean`
        on the scale, `percent` with its bounds `low` and `high`, and the `items`' means by row; all numbers
        None where nobody has rated it), `alpha` (ordinal) and `alpha_interval` over the systems' items (None
        where not defined), `raters` who rated anything, `sheets` (how much each has rated), `controls`
        (`reference`, `repeats`; None where not asked for), `signature`.

    Raises:
        RatingError: two sheets of one rater, or no rating at all.
    """
    _check(sheets)
    given = {item.code: _values(item.code, sheets) for item in key.items}
    systems = {name: _system(name, key.items, given, samples, seed) for name in key.systems}
    reference = systems.pop(REFERENCE, None) if key.options.reference else None
    units = [given[item.code] for item in key.items if set(item.systems) - {REFERENCE}]
    return {
        "format": FORMAT,
        "scale": [LOWEST, HIGHEST],
        "systems": systems,
        "alpha": krippendorff_alpha(units, "ordinal"),
        "alpha_interval": krippendorff_alpha(units, "interval"),
        "raters": sum(bool(sheet.ratings) for sheet in sheets),
        "sheets": [_sheet(sheet, key) for sheet in sorted(sheets, key=lambda sheet: sheet.rater)],
        "controls": {"reference": reference, "repeats": _repeats(key, sheets)},
        "signature": _signature(key, sheets, samples, seed),
    }


def _check(sheets: Sequence[ReturnedSheet]) -> None:
    by_rater = sorted(sheets, key=lambda sheet: sheet.rater)
    for rater, group in groupby(by_rater, key=lambda sheet: sheet.rater):
        files = [sheet.file for sheet in group]
        if len(files) > 1:
            raise RatingError(
                f"{' and '.join(files)} are both the sheet of rater {rater}. Give each sheet once; a second "
                "person needs a sheet of their own."
            )
    if not any(sheet.ratings for sheet in sheets):
        raise RatingError(
            f"no rating in {', '.join(sheet.file for sheet in sheets)}: there is nothing to add up. Fill the "
            "column `rating`, or download the CSV from the page after rating."
        )


def _values(code: str, sheets: Iterable[ReturnedSheet]) -> list[int]:
    return [sheet.ratings[code] for sheet in sheets if code in sheet.ratings]


def _system(
    name: str, items: Iterable[Item], given: Mapping[str, Sequence[int]], samples: int, seed: int
) -> dict[str, Any]:
    rated = {item.id: given[item.code] for item in items if name in item.systems and given[item.code]}
    rows = sorted(rated)
    # Fractions, so that the mean of a constant rating is that rating and not a neighbour of it.
    means = [Fraction(sum(rated[row]), len(rated[row])) for row in rows]
    overall = float(mean(means)) if means else None
    low, high = _interval([float(value) for value in means], samples, seed)
    return {
        "num_items": len(rows),
        "num_ratings": sum(map(len, rated.values())),
        "mean": overall,
        "percent": None if overall is None else percent(overall),
        "low": low,
        "high": high,
        "items": {"ids": rows, "mean": [float(value) for value in means]},
    }


def _interval(means: Sequence[float], samples: int, seed: int) -> tuple[float | None, float | None]:
    """The middle 95 % of the percentages that samples of the rows give."""
    if not means:
        return None, None
    rng = random.Random(seed)
    drawn = [percent(sum(rng.choices(means, k=len(means))) / len(means)) for _ in range(samples)]
    cuts = quantiles(drawn, n=40, method="inclusive")
    return cuts[0], cuts[-1]


def _sheet(sheet: ReturnedSheet, key: Key) -> dict[str, Any]:
    values = list(sheet.ratings.values())
    return {
        "rater": sheet.rater,
        "rated": len(values),
        "items": len(key.items),
        "mean": float(mean(values)) if values else None,
    }


def _repeats(key: Key, sheets: Sequence[ReturnedSheet]) -> dict[str, Any] | None:
    """How often a rater who met a sentence again said the same."""
    if not key.options.repeats:
        return None
    differences = [
        abs(sheet.ratings[item.code] - sheet.ratings[item.repeats])
        for sheet in sheets
        for item in key.items
        if item.repeats in sheet.ratings and item.code in sheet.ratings
    ]
    return {
        "num_pairs": len(differences),
        "same": 100 * differences.count(0) / len(differences) if differences else None,
        "mean_difference": float(mean(differences)) if differences else None,
    }


def _signature(key: Key, sheets: Sequence[ReturnedSheet], samples: int, seed: int) -> str:
    given = sorted((sheet.rater, sorted(sheet.ratings.items())) for sheet in sheets)
    parts = {
        "ratings": __version__,
        "study": key.study,
        "rows-seed": str(key.options.seed),
        "scale": f"{LOWEST}-{HIGHEST}",
        "sheets": f"{len(sheets)}of{key.options.raters}",
        "given": hashlib.sha256(json.dumps(given).encode()).hexdigest()[:8],
        "alpha": "ordinal",
        "interval": f"bootstrap-{samples}-{seed}",
    }
    return "|".join(f"{name}:{value}" for name, value in parts.items())
