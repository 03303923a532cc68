"""What encoders and models return."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from transformers.utils import ModelOutput

from spider_compose.models.decoder import DecoderState


@dataclass
class SQLToTextEncoderOutput(ModelOutput):
    """What the decoder needs of an encoded batch; every tensor has the batch first.

    Attributes:
        last_hidden_state: of shape `(batch_size, source_length, hidden_size)`: tokens, leaves, or all nodes.
        attention_mask: of shape `(batch_size, source_length)`, 1 where a state is no padding.
        source_ids: of shape `(batch_size, source_length)`: the vocabulary ids that copying reaches.
        copy_mask: of shape `(batch_size, source_length)`, 1 where the id may be copied.
        initial_hidden: of shape `(batch_size, initial_size)`: what the decoder's first state is made from.
        initial_cell: of the same shape.
        structure_hidden_state: of shape `(batch_size, num_structures, structure_hidden_size)`, of RGT only.
        structure_mask: of shape `(batch_size, num_structures)`, with it.
    """

    last_hidden_state: torch.Tensor | None = None
    attention_mask: torch.Tensor | None = None
    source_ids: torch.Tensor | None = None
    copy_mask: torch.Tensor | None = None
    initial_hidden: torch.Tensor | None = None
    initial_cell: torch.Tensor | None = None
    structure_hidden_state: torch.Tensor | None = None
    structure_mask: torch.Tensor | None = None


@dataclass
class SQLToTextOutput(ModelOutput):
    """One forward pass.

    Attributes:
        loss: mean negative log-likelihood per target piece, if `labels` were given.
        logits: of shape `(batch_size, target_length, vocab_size)`: log-probabilities, copying included; None
            in training with `labels`, where only the loss is needed.
        cache: the decoder's state after the last piece.
        cross_attentions: one tensor per attended stream, of shape `(batch_size, target_length,
            source_length)`, if `output_attentions`.
        copy_attentions: of shape `(batch_size, target_length, source_length)`: where a copied piece would
            come from, if `output_attentions` and the model copies.
        generation_gate: of shape `(batch_size, target_length)`: probability of generating, not copying, with
            it.
        encoder_last_hidden_state: as in the encoder's output.
        decoder_hidden_states: None; `generate` asks for it, and for `decoder_attentions`: an LSTM has
            neither.
    """

    loss: torch.Tensor | None = None
    logits: torch.Tensor | None = None
    cache: DecoderState | None = None
    cross_attentions: tuple[torch.Tensor, ...] | None = None
    copy_attentions: torch.Tensor | None = None
    generation_gate: torch.Tensor | None = None
    encoder_last_hidden_state: torch.Tensor | None = None
    decoder_hidden_states: tuple[torch.Tensor, ...] | None = None
    decoder_attentions: tuple[torch.Tensor, ...] | None = None
