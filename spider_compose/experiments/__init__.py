"""The experiments of section 5: a grid of models, experiments and seeds, run cell by cell, and what came out.

A cell is one training. It runs as a program of its own (`python -m spider_compose.training`) and leaves a
report in JSON; all that stands here reads reports, so that tables, findings and cards need no torch.
"""

from __future__ import annotations

from spider_compose.experiments.cells import EXPERIMENTS, MODELS, Cell
from spider_compose.experiments.grid import Grid, read_grid

__all__ = ["EXPERIMENTS", "MODELS", "Cell", "Grid", "read_grid"]
