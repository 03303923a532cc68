"""BiLSTM: a bidirectional LSTM over the canonical SQL (Graves and Schmidhuber 2005)."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from spider_compose.models.bilstm.configuration_bilstm import BiLSTMConfig
from spider_compose.models.decoder import run_lstm
from spider_compose.models.encoder import SourceEncoder, complete_sequence
from spider_compose.models.outputs import SQLToTextEncoderOutput
from spider_compose.models.sql_to_text import SQLToTextModel


class BiLSTMEncoder(SourceEncoder):
    """States and last states of both directions, added; padding is never read.

    The second direction reads each row turned round at its own length. So padding stands behind every row in
    both directions, and torch's fused LSTM applies; packed sequences would go step by step, three times
    slower on a CPU.
    """

    def __init__(self, config: BiLSTMConfig) -> None:
        super().__init__(config, [config.hidden_size], config.hidden_size)
        sizes = [config.embedding_size] + [2 * config.hidden_size] * (config.num_hidden_layers - 1)
        self.rightward = nn.ModuleList(nn.LSTM(size, config.hidden_size, batch_first=True) for size in sizes)
        self.leftward = nn.ModuleList(nn.LSTM(size, config.hidden_size, batch_first=True) for size in sizes)

    def forward(
        self,
        input_ids: torch.Tensor,
        attention_mask: torch.Tensor | None = None,
        copy_mask: torch.Tensor | None = None,
        **unused: Any,
    ) -> SQLToTextEncoderOutput:
        """Encode; `unused` is what `generate` tells any encoder."""
        attention_mask, copy_mask = complete_sequence(input_ids, attention_mask, copy_mask)
        lengths = attention_mask.sum(1, keepdim=True)
        positions = torch.arange(input_ids.shape[1], device=input_ids.device).expand_as(input_ids)
        turned = torch.where(positions < lengths, lengths - 1 - positions, positions)
        inputs = self.embed_tokens(input_ids)
        for rightward, leftward in zip(self.rightward, self.leftward, strict=True):
            inputs = self.dropout(inputs)
            right, _ = run_lstm(rightward, inputs)
            left, _ = run_lstm(leftward, _turn(inputs, turned))
            inputs = torch.cat([right, _turn(left, turned)], dim=-1)
        # Of the right-to-left states too the last is at the row's length, before they are turned back.
        last = (right + left).gather(1, (lengths - 1)[..., None].expand(-1, -1, right.shape[-1]))[:, 0]
        return SQLToTextEncoderOutput(
            last_hidden_state=self.dropout(right + _turn(left, turned)),
            attention_mask=attention_mask,
            source_ids=input_ids,
            copy_mask=copy_mask,
            initial_hidden=last,
            initial_cell=last,
        )


def _turn(states: torch.Tensor, order: torch.Tensor) -> torch.Tensor:
    return states.gather(1, order[..., None].expand_as(states))


class BiLSTMForSQLToText(SQLToTextModel):
    """BiLSTM encoder, LSTM decoder with attention and copying."""

    config_class = BiLSTMConfig
    encoder_class = BiLSTMEncoder
    _no_split_modules = ["BiLSTMEncoder", "LSTMDecoder", "PointerGenerator"]  # noqa: RUF012
