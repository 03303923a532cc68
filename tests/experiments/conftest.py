"""Grids that run the stand-in of the training program, and folders for them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from spider_compose.experiments.cells import Identity
from spider_compose.experiments.figures import Results
from spider_compose.experiments.grid import Grid, read_grid
from spider_compose.experiments.reports import Report, in_order

PROGRAM = Path(__file__).resolve().parent.parent / "fixtures" / "training_program" / "train.py"


@pytest.fixture
def write_grid(tmp_path: Path) -> Callable[..., Path]:
    """Write a grid of the stand-in; `blocks` are (experiments, settings), other keys replace the grid's."""

    def write(*blocks: tuple[list[str], Mapping[str, Any]], **content: Any) -> Path:
        grid = {
            "command": ["python", str(PROGRAM)],
            "models": ["bilstm"],
            "cells": [
                {"experiments": experiments, "seeds": [1], "settings": dict(settings)}
                for experiments, settings in blocks
            ],
            **content,
        }
        path = tmp_path / "grid.yaml"
        path.write_text(yaml.safe_dump(grid), encoding="utf-8")
        return path

    return write


@pytest.fixture
def grid(write_grid: Callable[..., Path]) -> Callable[..., Grid]:
    """Read a grid of the stand-in, from blocks of (experiments, settings)."""
    return lambda *blocks, **content: read_grid(write_grid(*blocks, **content))


@pytest.fixture
def log_of() -> Callable[[Path], list[float]]:
    """Epochs in the log of a cell."""
    return lambda folder: [
        json.loads(line)["epoch"] for line in (folder / "log.jsonl").read_text("utf-8").splitlines()
    ]


def _items(num_items: int, right: float, exact: float, start: int = 0) -> dict[str, Any]:
    """Statistics of items of ten words: a share of them right, a share of the items exact."""
    statistics = []
    for item in range(num_items):
        words = 10 if item < exact * num_items else round(10 * right) - (item % 2)
        totals = [10, 9, 8, 7]
        statistics.append([10, 10, *(max(0, words - order) for order in range(4)), *totals])
    whole = [int(item < exact * num_items) for item in range(num_items)]
    ids = [f"row-{start + item}" for item in range(num_items)]
    return {"ids": ids, "bleu": statistics, "exact": whole, "normalized": whole}


def _report(
    model: str, experiment: str, seed: int, bleu: float, exact: float = 4.0, **changes: Any
) -> dict[str, Any]:
    """A report by hand; its scores are those given, its items roughly so."""
    spread = 0 if experiment == "compose" else 0.5
    return {
        "format": 1,
        "model": model,
        "size": "small",
        "experiment": experiment,
        "seed": seed,
        "dataset": {
            "config": experiment,
            "signature": "source:spider-1.0|aligner:segment",
            "train_pairs": 25_442,
            "validation_pairs": 1_584,
            "test_pairs": 40,
        },
        "num_parameters": 3_412_345,
        "configuration": {"hidden_size": 128},
        "training": {"model": model, "source": "spider_folder", "epochs": 30, "learning_rate": 0.002},
        "epochs": 12.0,
        "steps": 4_800,
        "best_epoch": 7.0,
        "stopped": "early",
        "cpu_seconds": 1_800.0,
        "wall_seconds": 2_000.0,
        "curve": [
            {
                "epoch": float(epoch),
                "step": 400 * epoch,
                "train_loss": 5 / epoch,
                "validation_bleu": 3.0 * epoch,
            }
            for epoch in range(1, 13)
        ],
        "metrics": {
            "num_items": 40,
            "bleu": {"score": bleu, "low": bleu - 3, "high": bleu + 3, "signature": "nrefs:1|case:mixed"},
            "bleu_multi_reference": {"score": bleu + 1, "low": bleu - 2, "high": bleu + 4},
            "exact_match": {"score": exact, "low": max(0, exact - 2), "high": exact + 2},
            "normalized_exact_match": {"score": exact + 1, "low": exact, "high": exact + 3},
            "chrf": {"score": bleu + 20, "low": bleu + 18, "high": bleu + 22},
            "by_num_clauses": {
                "3": {"num_items": 30, "bleu": bleu + spread, "exact_match": exact},
                "4": {"num_items": 10, "bleu": bleu - 5, "exact_match": 0.0},
            },
            "by_clause_pattern": {
                "SELECT+WHERE+ORDER BY": {"num_items": 30, "bleu": bleu + spread, "exact_match": exact},
                "SELECT+WHERE+GROUP BY+ORDER BY": {"num_items": 10, "bleu": bleu - 5, "exact_match": 0.0},
            },
        },
        "items": _items(40, bleu / 100, exact / 100),
        "error_analysis": {
            "num_items": 40,
            "num_exact": 3,
            "kinds": {
                "missing_clause": {"items": 8, "share": 20.0, "ids": ["row-1"]},
                "wrong_column": {"items": None, "share": None, "ids": []},
                "lost_words": {"items": 4, "share": 10.0, "ids": []},
            },
            "unexplained": {"items": 20, "share": 50.0, "ids": []},
            "by_num_clauses": {
                "3": {"num_items": 30, "kinds": {"missing_clause": 3, "wrong_column": None, "lost_words": 0}},
                "4": {"num_items": 10, "kinds": {"missing_clause": 5, "wrong_column": None, "lost_words": 4}},
            },
            "by_clause_pattern": {},
            "missing_clause_types": {
                "WHERE": {"clauses": 40, "judged": 20, "missing": 5},
                "EXCEPT": {"clauses": 1, "judged": 0, "missing": 0},
            },
        },
        "num_items": 40,
        "signature": f"model:{model}|experiment:{experiment}|seed:{seed}",
        **changes,
    }


@pytest.fixture(scope="session")
def report() -> Callable[..., dict[str, Any]]:
    """Make the content of a report by hand."""
    return _report


@pytest.fixture(scope="session")
def results() -> Callable[..., Results]:
    """Results of reports by hand, with few resamples."""

    def make(*contents: Mapping[str, Any], ratings: Mapping[str, Any] | None = None) -> Results:
        reports = [
            Report(content, Identity(content["model"], content["experiment"], content["seed"]))
            for content in contents
        ]
        return Results(in_order(reports), ratings, samples=200)

    return make


# BLEU of experiment 1, experiment 2 and the control, of a world in which the paper is right.
PAPER_IS_RIGHT = {
    "bilstm": (60, 30, 55),
    "abs": (62, 32, 58),
    "rel": (61, 31, 57),
    "treelstm": (50, 25, 46),
    "rgt": (55, 40, 52),
}


@pytest.fixture(scope="session")
def as_in_the_paper() -> list[dict[str, Any]]:
    """Reports of a world in which all findings hold."""
    return [
        _report(model, experiment, 1, bleu, exact)
        for model, scores in PAPER_IS_RIGHT.items()
        for experiment, bleu, exact in zip(
            ("compose", "compose_no_overlap", "compose_control"), scores, (10.0, 0.0, 8.0), strict=True
        )
    ]
