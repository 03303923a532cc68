"""Grids that run the stand-in of the training program, and folders for them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from spider_compose.experiments.grid import Grid, read_grid

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
