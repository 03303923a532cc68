"""What a report says of a model on a split, and the files beside it: of a training and of an evaluation."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import spider_compose
from spider_compose.inference.data import Rows
from spider_compose.sql.schema import Schema

REPORT_FORMAT = 1

_SIZES = ("size", "num_", "dropout", "input_feeding", "copying", "coverage", "d_model", "d_ff", "d_kv")


def measured(
    predictions: Sequence[str], rows: Rows, schemas: Mapping[str, Schema], dialect: str
) -> dict[str, Any]:
    """The part of a report with the scores: `metrics`, `items`, `error_analysis`, `num_items`.

    Raises:
        EvaluationError: see `score`.
    """
    from spider_compose.evaluation import error_analysis, score

    metrics = score(predictions, rows, dialect=dialect)
    items = metrics.pop("items")
    return {
        "metrics": metrics,
        "items": items,
        "error_analysis": error_analysis(predictions, rows, schemas or None, dialect=dialect),
        "num_items": len(predictions),
    }


def sizes(config: Any) -> dict[str, Any]:
    """What sets a model's size and parts, of its configuration."""
    held = config.to_diff_dict() | {name: getattr(config, name) for name in vars(config) if "size" in name}
    return {
        name: value
        for name, value in sorted(held.items())
        if any(part in name for part in _SIZES) and isinstance(value, (int, float, bool))
    }


def signature(parts: Mapping[str, Any], bleu: str) -> str:
    """One line: what moved a number, the libraries that do, and how BLEU was counted."""
    import torch

    told = {
        **parts,
        "threads": torch.get_num_threads(),
        **{name: metadata.version(name) for name in ("torch", "transformers", "tokenizers", "sqlglot")},
        "version": spider_compose.__version__,
        "bleu": bleu,
    }
    return "||".join(f"{name}:{value}" for name, value in told.items())


def prediction_lines(rows: Rows, predictions: Sequence[str]) -> str:
    """`predictions.jsonl`: an object per row."""
    return "".join(
        json.dumps(
            {**{key: row[key] for key in ("id", "db_id", "query", "question")}, "prediction": text},
            ensure_ascii=False,
        )
        + "\n"
        for row, text in zip(rows, predictions, strict=True)
    )


def write_whole(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
