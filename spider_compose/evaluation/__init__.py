"""Scores of generated questions, comparisons between models, and error analysis (section 5.2).

The names load their modules when they are used: reading ratings needs neither numpy nor sacrebleu.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from spider_compose.evaluation.error_report import error_analysis
    from spider_compose.evaluation.scoring import compare, score

__all__ = ["compare", "error_analysis", "score"]

_MODULES = {"compare": "scoring", "error_analysis": "error_report", "score": "scoring"}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
