"""STEF: scores text-to-SQL in production without a schema, a reference query, a database or a model.

    from spider_compose.stef import score_rows

    row = {"question": "How many singers are from France?", "sql": "SELECT COUNT(*) FROM singer"}
    for result in score_rows([row]):
        print(result.score, result.band, [reason.message for reason in result.reasons])

After Arif and Singh 2026, "Agent-Agnostic Evaluation of SQL Accuracy in Production Text-to-SQL Systems".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from spider_compose.stef.enrichment import Enrichment, validate_enrichment
    from spider_compose.stef.judges import Judge, Judgement
    from spider_compose.stef.rules import ApplicationRules, RulesError
    from spider_compose.stef.score import Result, Scorer, Summary, score_rows

__all__ = [
    "ApplicationRules",
    "Enrichment",
    "Judge",
    "Judgement",
    "Result",
    "RulesError",
    "Scorer",
    "Summary",
    "score_rows",
    "validate_enrichment",
]

_PLACES = {
    "ApplicationRules": "rules",
    "RulesError": "rules",
    "Enrichment": "enrichment",
    "validate_enrichment": "enrichment",
    "Judge": "judges",
    "Judgement": "judges",
}


def __getattr__(name: str) -> Any:
    """Public names, loaded when used: the command line's help needs none of them."""
    from importlib import import_module

    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"spider_compose.stef.{_PLACES.get(name, 'score')}"), name)
