"""The output layer of all five models: generate a piece of the vocabulary, or copy one of the source.

    log p(piece) = log(exp(log g + log p_vocabulary(piece)) + exp(log(1 - g) + log p_copy(piece)))

after See et al. (2017), with everything in log space. Gate and copy scores see the current input, the output
layer sees the contexts; the first implementation was blind to both.
"""

from __future__ import annotations

from collections.abc import Callable
from types import EllipsisType
from typing import NamedTuple

import torch
from torch import nn
from torch.nn import functional as F

from spider_compose.models.configuration import SQLToTextConfig

# A label that is no target.
IGNORED = -100


class PointerGeneratorOutput(NamedTuple):
    """One distribution per step, made when it is asked for, in single precision whatever autocast says.

    Attributes:
        hidden_states: of shape `(batch_size, target_length, decoder_hidden_size)`, contexts included.
        vocabulary: the output layer, from hidden states to scores of generating. It is the costliest layer,
            so a loss applies it to the steps that count alone; half a batch's steps may be padding.
        copy_attentions: of shape `(batch_size, target_length, source_length)`, or None without copying.
        gate: of shape `(batch_size, target_length)`: score of generating against copying, or None with it.
        source_ids: of shape `(batch_size, source_length)`.
    """

    hidden_states: torch.Tensor
    vocabulary: Callable[[torch.Tensor], torch.Tensor]
    copy_attentions: torch.Tensor | None
    gate: torch.Tensor | None
    source_ids: torch.Tensor

    def log_probs(self, counted: torch.Tensor | EllipsisType = ...) -> torch.Tensor:
        """Of every piece, of shape `(batch_size, target_length, vocab_size)`.

        Args:
            counted: of shape `(batch_size, target_length)`: the steps that are wanted; the result's shape is
                then `(num_counted, vocab_size)`.
        """
        generated = F.log_softmax(self.vocabulary(self.hidden_states[counted]).float(), dim=-1)
        if self.copy_attentions is None or self.gate is None:
            return generated
        index = self.source_ids[:, None].expand_as(self.copy_attentions)[counted]
        copied = torch.zeros_like(generated).scatter_add(-1, index, self.copy_attentions[counted])
        return _mix(generated, copied, self.gate[counted][..., None])

    def label_log_probs(self, labels: torch.Tensor) -> torch.Tensor:
        """Of the labels that are no -100, of shape `(num_counted,)`: all that a loss needs."""
        counted = labels != IGNORED
        scores = self.vocabulary(self.hidden_states[counted]).float()
        generated = -F.cross_entropy(scores, labels[counted], reduction="none")
        if self.copy_attentions is None or self.gate is None:
            return generated
        matches = self.source_ids[:, None] == labels[..., None]
        return _mix(generated, (self.copy_attentions * matches).sum(-1)[counted], self.gate[counted])


def _mix(generated: torch.Tensor, copied: torch.Tensor, gate: torch.Tensor) -> torch.Tensor:
    """Logarithm of the mixture, of a log-probability and a probability."""
    # A piece that the source lacks has probability 0; the smallest number keeps its logarithm finite.
    logarithm = copied.clamp_min(torch.finfo(copied.dtype).tiny).log()
    return torch.logaddexp(F.logsigmoid(gate) + generated, F.logsigmoid(-gate) + logarithm)


class PointerGenerator(nn.Module):
    """Mixes the vocabulary's distribution with that of the source's copyable pieces.

    Args:
        memory_size: width of the states that are copied from.
    """

    def __init__(self, config: SQLToTextConfig, memory_size: int) -> None:
        super().__init__()
        size = config.decoder_hidden_size
        self.copying = config.copying
        self.vocabulary = nn.Linear(size, config.vocab_size)
        if self.copying:
            self.query = nn.Linear(size + config.embedding_size, size)
            self.key = nn.Linear(memory_size, size, bias=False)
            self.gate = nn.Linear(size + config.embedding_size, 1)
        if config.coverage:
            # Starts without effect: whether what was attended to should be copied again is learned.
            self.coverage = CoverageWeight()
        self.has_coverage = config.coverage

    def forward(
        self,
        hidden_states: torch.Tensor,
        embeddings: torch.Tensor,
        memory: torch.Tensor,
        source_ids: torch.Tensor,
        copy_mask: torch.Tensor,
        coverage: torch.Tensor,
    ) -> PointerGeneratorOutput:
        """Give each step its distribution.

        Args:
            hidden_states: of shape `(batch_size, target_length, decoder_hidden_size)`, contexts included.
            embeddings: of shape `(batch_size, target_length, embedding_size)`: the steps' inputs.
            memory: of shape `(batch_size, source_length, memory_size)`.
            source_ids: of shape `(batch_size, source_length)`.
            copy_mask: of the same shape; a row without a 1 always generates.
            coverage: of shape `(batch_size, target_length, source_length)`.
        """
        if not self.copying:
            return PointerGeneratorOutput(hidden_states, self.vocabulary, None, None, source_ids)
        inputs = torch.cat([hidden_states, embeddings], dim=-1)
        scores = torch.bmm(self.query(inputs), self.key(memory).transpose(1, 2)).float()
        if self.has_coverage:
            scores = scores + self.coverage(coverage).float()
        weights = torch.softmax(scores.masked_fill(copy_mask[:, None] == 0, -1e9), dim=-1)
        nothing_to_copy = ~copy_mask.bool().any(dim=-1)[:, None]
        gate = self.gate(inputs).float()[..., 0].masked_fill(nothing_to_copy, 1e4)
        return PointerGeneratorOutput(hidden_states, self.vocabulary, weights, gate, source_ids)


class CoverageWeight(nn.Module):
    """A learned number by which past attention moves a copy score."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(1))

    def reset_parameters(self) -> None:
        """Zero: no effect at first."""
        nn.init.zeros_(self.weight)

    def forward(self, coverage: torch.Tensor) -> torch.Tensor:
        """What coverage adds to the scores."""
        return self.weight * coverage


def sequence_loss(
    predicted: PointerGeneratorOutput,
    labels: torch.Tensor,
    label_smoothing: float = 0.0,
    num_items_in_batch: torch.Tensor | int | None = None,
) -> torch.Tensor:
    """Negative log-likelihood per target piece.

    Args:
        labels: of shape `(batch_size, target_length)`; -100 is not counted.
        num_items_in_batch: pieces to divide by, where a step has several batches; else those counted here.
    """
    losses = -predicted.label_log_probs(labels)
    if label_smoothing:
        losses = (1 - label_smoothing) * losses - label_smoothing * predicted.log_probs(
            labels != IGNORED
        ).mean(dim=-1)
    return losses.sum() / (max(len(losses), 1) if num_items_in_batch is None else num_items_in_batch)
