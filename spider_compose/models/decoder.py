"""The decoder of all five models: one LSTM layer with attention of Luong's general form over each stream."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import nn
from torch.nn import functional as F

from spider_compose.models.configuration import SQLToTextConfig


class Memory(NamedTuple):
    """One stream that the decoder attends to.

    Attributes:
        states: of shape `(batch_size, length, width)`.
        mask: of shape `(batch_size, length)`, 1 where a state is no padding.
    """

    states: torch.Tensor
    mask: torch.Tensor


class DecoderState:
    """What generation carries from step to step; `generate` hands it on under the name `cache`.

    Attributes:
        hidden: of shape `(batch_size, decoder_hidden_size)`.
        cell: of the same shape.
        context: of shape `(batch_size, context_size)`: the last step's contexts, side by side.
        coverage: of shape `(batch_size, source_length)`: attention that each position of the first stream has
            had.
        keys: the streams as attention compares them. Not reordered: the beams of a row share them.
        length: pieces decoded so far.
    """

    # What `generate` asks any cache.
    is_compileable = False
    is_croppable = False
    is_linear = (False,)

    def __init__(
        self,
        hidden: torch.Tensor,
        cell: torch.Tensor,
        context: torch.Tensor,
        coverage: torch.Tensor,
        keys: Sequence[torch.Tensor],
        length: int = 0,
    ) -> None:
        self.hidden = hidden
        self.cell = cell
        self.context = context
        self.coverage = coverage
        self.keys = tuple(keys)
        self.length = length

    def get_seq_length(self, layer_idx: int = 0) -> int:
        """Pieces decoded so far; an LSTM has no layers to ask about."""
        return self.length

    def reorder_cache(self, beam_idx: torch.Tensor) -> None:
        """Let each beam go on from the state of the beam it was chosen from.

        Args:
            beam_idx: of shape `(batch_size * num_beams,)`.
        """
        for name in ("hidden", "cell", "context", "coverage"):
            tensor: torch.Tensor = getattr(self, name)
            setattr(self, name, tensor.index_select(0, beam_idx.to(tensor.device)))


class DecoderOutput(NamedTuple):
    """Attributes as in `LSTMDecoder.forward`."""

    hidden_states: torch.Tensor
    attentions: tuple[torch.Tensor, ...]
    coverage: torch.Tensor
    state: DecoderState


class LSTMDecoder(nn.Module):
    """LSTM over the target with attention over every stream of the encoder.

    The input of a step is a projection of the previous piece and, with `input_feeding`, of the contexts it
    was chosen with. Without it no step waits for another's attention, and training runs in one go.

    Args:
        memory_sizes: widths of the streams.
        initial_size: width of what the first state is made from.
    """

    def __init__(self, config: SQLToTextConfig, memory_sizes: Sequence[int], initial_size: int) -> None:
        super().__init__()
        size = config.decoder_hidden_size
        self.input_feeding = config.input_feeding
        self.context_size = sum(memory_sizes)
        self.bridge_hidden = nn.Linear(initial_size, size)
        self.bridge_cell = nn.Linear(initial_size, size)
        self.input = nn.Linear(config.embedding_size + (self.context_size if self.input_feeding else 0), size)
        self.lstm = nn.LSTM(size, size, batch_first=True)
        # No bias: one for all positions of a stream falls out of the softmax.
        self.keys = nn.ModuleList([nn.Linear(width, size, bias=False) for width in memory_sizes])
        self.output = nn.Linear(size + self.context_size, size)
        self.dropout = nn.Dropout(config.dropout)

    def initial_state(
        self, initial_hidden: torch.Tensor, initial_cell: torch.Tensor, memories: Sequence[Memory]
    ) -> DecoderState:
        """The state before the first piece."""
        hidden = torch.tanh(self.bridge_hidden(initial_hidden))
        batch_size, length = memories[0].mask.shape
        return DecoderState(
            hidden=hidden,
            cell=self.bridge_cell(initial_cell),
            context=hidden.new_zeros(batch_size, self.context_size),
            coverage=hidden.new_zeros(batch_size, length, dtype=torch.float32),
            keys=[key(memory.states) for key, memory in zip(self.keys, memories, strict=True)],
        )

    def forward(
        self, embeddings: torch.Tensor, memories: Sequence[Memory], state: DecoderState
    ) -> DecoderOutput:
        """Decode pieces whose predecessors are known.

        Args:
            embeddings: of shape `(batch_size, target_length, embedding_size)`: the previous pieces.

        Returns:
            hidden_states: of shape `(batch_size, target_length, decoder_hidden_size)`, of LSTM and contexts.
            attentions: per stream, of shape `(batch_size, target_length, source_length)`.
            coverage: of shape `(batch_size, target_length, source_length)`: what each position of the first
                stream had before the step.
            state: the state after the last piece.
        """
        masks = [_additive_mask(memory.mask, embeddings.dtype) for memory in memories]
        run = self._step_by_step if self.input_feeding else self._at_once
        outputs, contexts, attentions, hidden, cell = run(embeddings, memories, masks, state)
        total = attentions[0].float().cumsum(1)
        before = state.coverage[:, None]
        after = DecoderState(
            hidden=hidden,
            cell=cell,
            context=contexts[:, -1],
            coverage=state.coverage + total[:, -1],
            keys=state.keys,
            length=state.length + embeddings.shape[1],
        )
        hidden_states = self.dropout(torch.tanh(self.output(torch.cat([outputs, contexts], dim=-1))))
        return DecoderOutput(hidden_states, attentions, before + total - attentions[0].float(), after)

    def _at_once(
        self,
        embeddings: torch.Tensor,
        memories: Sequence[Memory],
        masks: Sequence[torch.Tensor],
        state: DecoderState,
    ) -> _Steps:
        first = (state.hidden[None].contiguous(), state.cell[None].contiguous())
        outputs, (hidden, cell) = run_lstm(self.lstm, self.input(embeddings), first)
        found = [
            attend(outputs, key, memory.states, mask)
            for key, memory, mask in zip(state.keys, memories, masks, strict=True)
        ]
        contexts = torch.cat([context for context, _ in found], dim=-1)
        return outputs, contexts, tuple(weights for _, weights in found), hidden[0], cell[0]

    def _step_by_step(
        self,
        embeddings: torch.Tensor,
        memories: Sequence[Memory],
        masks: Sequence[torch.Tensor],
        state: DecoderState,
    ) -> _Steps:
        # Whatever does not depend on the step before is computed for all steps at once: the piece's part of
        # the projection and of the gates. Context and hidden state then go through one product per step.
        lstm = self.lstm
        piece_weight, context_weight = self.input.weight.split(
            [embeddings.shape[-1], self.context_size], dim=1
        )
        pieces = F.linear(embeddings, piece_weight, self.input.bias)
        known = F.linear(pieces, lstm.weight_ih_l0, lstm.bias_ih_l0 + lstm.bias_hh_l0).unbind(1)
        weight = torch.cat([lstm.weight_ih_l0 @ context_weight, lstm.weight_hh_l0], dim=1)
        hidden, cell, context = state.hidden, state.cell, state.context
        outputs, contexts = [], []
        attentions: list[list[torch.Tensor]] = [[] for _ in memories]
        for gates in known:
            gates = gates + F.linear(torch.cat([context, hidden], dim=-1), weight)
            into, forget, new, out = gates.chunk(4, dim=-1)
            cell = forget.sigmoid() * cell + into.sigmoid() * new.tanh()
            hidden = out.sigmoid() * cell.tanh()
            found = [
                attend(hidden[:, None], key, memory.states, mask)
                for key, memory, mask in zip(state.keys, memories, masks, strict=True)
            ]
            context = torch.cat([own[:, 0] for own, _ in found], dim=-1)
            for history, (_, weights) in zip(attentions, found, strict=True):
                history.append(weights)
            outputs.append(hidden)
            contexts.append(context)
        joined = tuple(torch.cat(history, dim=1) for history in attentions)
        return torch.stack(outputs, 1), torch.stack(contexts, 1), joined, hidden, cell


# Outputs, contexts, attentions, last hidden state, last cell.
_Steps = tuple[torch.Tensor, torch.Tensor, tuple[torch.Tensor, ...], torch.Tensor, torch.Tensor]


def run_lstm(
    lstm: nn.LSTM, inputs: torch.Tensor, state: tuple[torch.Tensor, torch.Tensor] | None = None
) -> tuple[torch.Tensor, tuple[torch.Tensor, torch.Tensor]]:
    """An LSTM over whole sequences; in its own precision on CPUs, where it refuses autocast's."""
    if inputs.device.type != "cpu" or not torch.is_autocast_enabled("cpu"):
        return lstm(inputs, state)
    with torch.autocast("cpu", enabled=False):
        dtype = lstm.weight_ih_l0.dtype
        known = None if state is None else (state[0].to(dtype), state[1].to(dtype))
        return lstm(inputs.to(dtype), known)


def attend(
    queries: torch.Tensor, keys: torch.Tensor, states: torch.Tensor, mask: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Luong's attention: contexts of shape `(batch_size, steps, width)`, and their weights."""
    weights = torch.softmax(torch.baddbmm(mask, queries, keys.transpose(1, 2)), dim=-1)
    return torch.bmm(weights, states), weights


def _additive_mask(mask: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Of shape `(batch_size, 1, length)`: 0 at states, the smallest number at padding."""
    return (mask[:, None] == 0).to(dtype) * torch.finfo(dtype).min
