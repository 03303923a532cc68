"""Copying: a distribution, in log space, equal to the formula written out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("torch", reason="the extra `models` is not installed")
pytest.importorskip("transformers", reason="the extra `models` is not installed")

import torch

from spider_compose.models.pointer_generator import PointerGeneratorOutput, sequence_loss

NAMES = ["bilstm", "abs", "rel", "treelstm", "rgt"]
Make = Callable[..., Any]


@pytest.mark.parametrize("name", NAMES)
def test_distributions_sum_to_one(name: str, make_model: Make, make_batch: Make) -> None:
    model = make_model(name)
    output = model(**make_batch(model), output_attentions=True)
    ones = torch.ones(output.logits.shape[:2])
    assert torch.allclose(output.logits.exp().sum(-1), ones, atol=1e-5)
    assert torch.allclose(output.copy_attentions.sum(-1), ones, atol=1e-5)
    for attention in output.cross_attentions:
        assert torch.allclose(attention.sum(-1), ones, atol=1e-5)


@pytest.mark.parametrize("name", NAMES)
def test_mixture_equals_the_formula(name: str, make_model: Make, make_batch: Make) -> None:
    """p = g * vocabulary + (1 - g) * copy, added up position by position; only copyable pieces gain."""
    model = make_model(name)
    batch = make_batch(model, slice(0, 5))
    output = model(**batch, output_attentions=True)
    encoded = model.encoder(**{key: value for key, value in batch.items() if key != "labels"})
    hidden: dict[str, torch.Tensor] = {}
    handle = model.pointer_generator.vocabulary.register_forward_hook(
        lambda module, inputs, result: hidden.update(logits=result)
    )
    model(**batch)
    handle.remove()
    gate = output.generation_gate[..., None]
    expected = gate * hidden["logits"].view_as(output.logits).softmax(-1)
    for row in range(5):
        for position, (piece, copied) in enumerate(
            zip(encoded.source_ids[row], encoded.copy_mask[row], strict=True)
        ):
            if copied:
                expected[row, :, piece] += (1 - gate[row, :, 0]) * output.copy_attentions[row, :, position]
    assert torch.allclose(output.logits.exp(), expected, atol=1e-5)
    assert not output.copy_attentions[encoded.copy_mask[:, None].expand_as(output.copy_attentions) == 0].any()


@pytest.mark.parametrize("name", ["bilstm", "rgt"])
def test_nothing_to_copy(name: str, make_model: Make, make_batch: Make) -> None:
    """A source without copyable pieces generates; gradients stay finite."""
    model = make_model(name).train()
    batch = make_batch(model, slice(0, 3))
    batch["copy_mask"] = torch.zeros_like(batch["copy_mask"])
    model.train()(**batch).loss.backward()
    assert all(value.grad is None or torch.isfinite(value.grad).all() for value in model.parameters())
    output = model.eval()(**batch, output_attentions=True)
    assert torch.allclose(output.generation_gate, torch.ones_like(output.generation_gate))
    assert torch.allclose(output.logits.exp().sum(-1), torch.ones(output.logits.shape[:2]), atol=1e-5)


def test_extreme_scores_stay_finite(make_model: Make, make_batch: Make) -> None:
    """What probabilities lose outside log space: a sure gate and a piece of no probability."""
    model = make_model("abs").train()
    batch = make_batch(model, slice(0, 3))
    with torch.no_grad():
        model.pointer_generator.gate.bias.fill_(-200.0)
        model.pointer_generator.vocabulary.weight.mul_(500.0)
    model(**batch).loss.backward()
    assert torch.isfinite(model.eval()(**batch).logits).all()
    assert all(torch.isfinite(value.grad).all() for value in model.parameters() if value.grad is not None)


@pytest.mark.parametrize("input_feeding", [True, False])
def test_coverage_is_the_attention_so_far(input_feeding: bool, make_model: Make, make_batch: Make) -> None:
    """Copying sees what earlier steps attended to, in one pass as step by step."""
    model = make_model("bilstm", input_feeding=input_feeding)
    batch = make_batch(model, slice(0, 3))
    seen: list[torch.Tensor] = []
    model.pointer_generator.coverage.register_forward_hook(
        lambda module, inputs, result: seen.append(inputs[0])
    )
    attention = model(**batch, output_attentions=True).cross_attentions[0]
    for step in range(attention.shape[1]):
        assert torch.allclose(seen[0][:, step], attention[:, :step].sum(1), atol=1e-5)


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("name", NAMES)
def test_weights_of_any_precision(name: str, dtype: torch.dtype, make_model: Make, make_batch: Make) -> None:
    """Distributions stay in single precision, sum to 1, and train."""
    model = make_model(name)
    batch = make_batch(model, slice(0, 4))
    expected = model(**batch).loss
    model.to(dtype)
    output = model(**batch)
    assert output.logits.dtype is torch.float32
    assert torch.allclose(output.logits.exp().sum(-1), torch.ones(output.logits.shape[:2]), atol=1e-3)
    assert torch.allclose(output.loss, expected, rtol=0.02)
    model.train()(**batch).loss.backward()
    assert all(torch.isfinite(value.grad).all() for value in model.parameters() if value.grad is not None)


def test_without_copying(make_model: Make, make_batch: Make) -> None:
    model = make_model("rel", copying=False, coverage=False)
    output = model(**make_batch(model), output_attentions=True)
    assert output.copy_attentions is None and output.generation_gate is None
    assert not any(key.startswith("pointer_generator.query") for key in model.state_dict())


def random_prediction(copying: bool) -> PointerGeneratorOutput:
    weights, gate = torch.rand(2, 4, 3).softmax(-1), torch.randn(2, 4)
    return PointerGeneratorOutput(
        torch.randn(2, 4, 7),
        torch.nn.Identity(),
        weights if copying else None,
        gate if copying else None,
        torch.randint(0, 7, (2, 3)),
    )


@pytest.mark.parametrize("copying", [True, False])
def test_loss(copying: bool) -> None:
    """Per counted piece; label smoothing as torch defines it; a step's total where the trainer gives it."""
    predicted = random_prediction(copying)
    labels = torch.tensor([[1, 2, 3, -100], [6, -100, -100, -100]])
    for smoothing in (0.0, 0.1):
        expected = torch.nn.functional.cross_entropy(
            predicted.log_probs().flatten(0, 1),
            labels.flatten(),
            ignore_index=-100,
            label_smoothing=smoothing,
        )
        assert torch.allclose(sequence_loss(predicted, labels, smoothing), expected, atol=1e-5)
    assert torch.allclose(
        sequence_loss(predicted, labels, num_items_in_batch=8), sequence_loss(predicted, labels) / 2
    )


def test_label_smoothing_is_for_training(make_model: Make, make_batch: Make) -> None:
    plain, smooth = make_model("abs", dropout=0.0), make_model("abs", dropout=0.0, label_smoothing=0.2)
    smooth.load_state_dict(plain.state_dict())
    batch = make_batch(plain, slice(0, 4))
    assert torch.equal(plain(**batch).loss, smooth(**batch).loss)
    assert smooth.train()(**batch).loss > plain.train()(**batch).loss
