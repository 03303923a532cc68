"""Baseline splits of a corpus (section 5.2), the no-overlap experiment, and how far apart two parts are.

Everything here works on rows with `query`, `question` and `db_id`, and gives row numbers; nothing is copied.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from spider_compose.splits.at_random import random_split
    from spider_compose.splits.divergence import DivergenceReport, divergence_report
    from spider_compose.splits.length import length_split
    from spider_compose.splits.overlap import OverlapRows, clause_key, remove_overlap
    from spider_compose.splits.parts import SplitRows, ThreeParts
    from spider_compose.splits.template import template_split
    from spider_compose.splits.three_way import Fractions, three_parts
    from spider_compose.splits.tmcd import tmcd_split

# Name -> module, imported when first asked for: a template split needs no numpy, a report no search.
_HOME = {
    "DivergenceReport": "divergence",
    "Fractions": "three_way",
    "OverlapRows": "overlap",
    "SplitRows": "parts",
    "ThreeParts": "parts",
    "clause_key": "overlap",
    "divergence_report": "divergence",
    "length_split": "length",
    "random_split": "at_random",
    "remove_overlap": "overlap",
    "template_split": "template",
    "three_parts": "three_way",
    "tmcd_split": "tmcd",
}

__all__ = [
    "DivergenceReport",
    "Fractions",
    "OverlapRows",
    "SplitRows",
    "ThreeParts",
    "clause_key",
    "divergence_report",
    "length_split",
    "random_split",
    "remove_overlap",
    "template_split",
    "three_parts",
    "tmcd_split",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
