"""The trainer's history as a curve."""

from __future__ import annotations

import pytest

pytest.importorskip("transformers")

from spider_compose.training.trainer import curve


def evaluation(epoch: float, step: int, bleu: float) -> dict[str, float]:
    return {"epoch": epoch, "step": step, "eval_bleu": bleu, "eval_exact_match": 1.0, "cpu_seconds": 2.5}


def test_losses_of_an_interrupted_epoch_are_weighed_by_their_steps() -> None:
    whole = curve(
        [{"loss": 2.0, "step": 10}, evaluation(1, 10, 5), {"loss": 1.0, "step": 20}, evaluation(2, 20, 6)]
    )
    parts = curve(
        [
            {"loss": 2.0, "step": 10},
            evaluation(1, 10, 5),
            {"loss": 1.6, "step": 12},  # saved here, and gone on
            {"loss": 0.85, "step": 20},
            evaluation(2, 20, 6),
        ]
    )
    assert parts == whole
    assert [entry["train_loss"] for entry in whole] == [2.0, 1.0]
    assert whole[1] == {
        "epoch": 2, "step": 20, "train_loss": 1.0, "validation_bleu": 6, "validation_exact_match": 1.0,
        "cpu_seconds": 2.5,
    }  # fmt: skip
    assert curve([]) == []
