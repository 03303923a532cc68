"""BiLSTM: a bidirectional LSTM over the canonical SQL (Graves and Schmidhuber 2005)."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from spider_compose.models.bilstm.configuration_bilstm import BiLSTMConfig
from spider_compose.models.encoder import SourceEncoder, complete_sequence
from spider_compose.models.outputs import SQLToTextEncoderOutput
from spider_compose.models.sql_to_text import SQLToTextModel


class BiLSTMEncoder(SourceEncoder):
    """States and last states of both directions, added; padding is never read."""

    def __init__(self, config: BiLSTMConfig) -> None:
        super().__init__(config, [config.hidden_size], config.hidden_size)
        self.lstm = nn.LSTM(
            config.embedding_size,
            config.hidden_size,
            config.num_hidden_layers,
            batch_first=True,
            bidirectional=True,
            dropout=config.dropout if config.num_hidden_layers > 1 else 0.0,
        )

    def forward(
        self,
        input_ids: torch.Tensor,
        attention_mask: torch.Tensor | None = None,
        copy_mask: torch.Tensor | None = None,
        **unused: Any,
    ) -> SQLToTextEncoderOutput:
        """Encode; `unused` is what `generate` tells any encoder."""
        attention_mask, copy_mask = complete_sequence(input_ids, attention_mask, copy_mask)
        embeddings = self.dropout(self.embed_tokens(input_ids))
        packed = pack_padded_sequence(
            embeddings, attention_mask.sum(1).cpu(), batch_first=True, enforce_sorted=False
        )
        states, (hidden, cell) = self.lstm(packed)
        states, _ = pad_packed_sequence(states, batch_first=True, total_length=input_ids.shape[1])
        # (batch_size, length, 2, hidden_size): the directions, not neighbouring features, are added.
        states = states.unflatten(-1, (2, -1)).sum(2)
        return SQLToTextEncoderOutput(
            last_hidden_state=self.dropout(states),
            attention_mask=attention_mask,
            source_ids=input_ids,
            copy_mask=copy_mask,
            initial_hidden=hidden[-2:].sum(0),
            initial_cell=cell[-2:].sum(0),
        )


class BiLSTMForSQLToText(SQLToTextModel):
    """BiLSTM encoder, LSTM decoder with attention and copying."""

    config_class = BiLSTMConfig
    encoder_class = BiLSTMEncoder
    _no_split_modules = ["BiLSTMEncoder", "LSTMDecoder", "PointerGenerator"]  # noqa: RUF012
