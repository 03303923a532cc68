"""A cell of the grid: which model, trained in which experiment, from which seed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

MODELS = {"bilstm": "BiLSTM", "abs": "ABS", "rel": "REL", "treelstm": "TreeLSTM", "rgt": "RGT"}
"""The five models of the paper, and how it writes them."""

EXPERIMENTS = {
    "compose": "experiment 1: all training pairs of SpiderCompose",
    "compose_no_overlap": "experiment 2: without the training pairs that hold a clause of the test",
    "compose_control": "control: as many training pairs dropped at random as experiment 2 drops",
    "spider_template": "template split of Spider's training pairs",
    "spider_tmcd": "TMCD split of Spider's training pairs",
    "spider": "Spider as it is",
    "spider_length": "length split of Spider's training pairs",
    "spider_random": "random split of Spider's training pairs",
    "compose_paper": "SpiderCompose aligned by the paper's keyword rules",
}
"""What each experiment trains on, in the order tables list them."""

_NO_FILE_NAME = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True, order=True)
class Identity:
    """What a cell and its report have in common.

    Attributes:
        model: one of `MODELS`, or a sequence-to-sequence model: a folder, or owner/name on the Hub.
        experiment: one of `EXPERIMENTS`.
        seed: of everything random in the training.
    """

    model: str
    experiment: str
    seed: int

    @property
    def name(self) -> str:
        """The name of the cell's folder and report: `<model>-<experiment>-seed<k>`.

        >>> Identity("google-t5/t5-small", "compose", 1).name
        'google-t5_t5-small-compose-seed1'
        """
        # A report may come from anywhere and say anything: a name leads to no other folder.
        model, experiment = (_NO_FILE_NAME.sub("_", part) for part in (self.model, self.experiment))
        return f"{model.lstrip('.')}-{experiment}-seed{self.seed}"


@dataclass(frozen=True)
class Cell:
    """One training.

    Attributes:
        identity: model, experiment and seed.
        settings: all else that moves its result; the training program knows the names.
    """

    identity: Identity
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The name of its folder and report."""
        return self.identity.name


def card_name(model: str, experiment: str) -> str:
    """The file of the card of a model in an experiment, all seeds together."""
    return f"{Identity(model, experiment, 0).name.removesuffix('-seed0')}.md"


def model_title(model: str) -> str:
    """The model as the paper writes it."""
    return MODELS.get(model, model)


def experiment_order(experiment: str) -> tuple[int, str]:
    """Sorts experiments in the order of `EXPERIMENTS`, others after them."""
    names = list(EXPERIMENTS)
    return (names.index(experiment) if experiment in EXPERIMENTS else len(names), experiment)


def model_order(model: str) -> tuple[int, str]:
    """Sorts models as the paper lists them, others after them."""
    names = list(MODELS)
    return (names.index(model) if model in MODELS else len(names), model)
