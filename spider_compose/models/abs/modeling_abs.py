"""ABS: a transformer with sinusoidal absolute positions over the canonical SQL (Vaswani et al. 2017)."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import nn

from spider_compose.models.abs.configuration_abs import AbsConfig
from spider_compose.models.encoder import SourceEncoder, complete_sequence, pooled_output
from spider_compose.models.outputs import SQLToTextEncoderOutput
from spider_compose.models.sql_to_text import SQLToTextModel
from spider_compose.models.transformer import TransformerLayer


class AbsEncoder(SourceEncoder):
    """Layers with a norm before each part and one at the end."""

    def __init__(self, config: AbsConfig) -> None:
        width = config.hidden_size
        super().__init__(config, [width], width)
        self.projection = nn.Linear(config.embedding_size, width)
        self.layers = nn.ModuleList(
            TransformerLayer(width, config.intermediate_size, config.num_attention_heads, config.dropout)
            for _ in range(config.num_hidden_layers)
        )
        self.norm = nn.LayerNorm(width)

    def forward(
        self,
        input_ids: torch.Tensor,
        attention_mask: torch.Tensor | None = None,
        copy_mask: torch.Tensor | None = None,
        **unused: Any,
    ) -> SQLToTextEncoderOutput:
        """Encode; `unused` is what `generate` tells any encoder."""
        attention_mask, copy_mask = complete_sequence(input_ids, attention_mask, copy_mask)
        states = self.projection(self.embed_tokens(input_ids))
        states = self.dropout(states + sinusoids(states.shape[1], states.shape[2], states))
        mask = attention_mask[:, None, None].bool()
        for layer in self.layers:
            states = layer(states, mask)
        return pooled_output(self.norm(states), attention_mask, input_ids, copy_mask)


def sinusoids(length: int, width: int, like: torch.Tensor) -> torch.Tensor:
    """Sines beside cosines of the positions, of shape `(length, width)`; any length."""
    rates = torch.arange(0, width, 2, device=like.device) * (-math.log(10_000.0) / width)
    angles = torch.arange(length, device=like.device)[:, None] * rates.exp()
    return torch.cat([angles.sin(), angles.cos()], dim=-1).to(like.dtype)


class AbsForSQLToText(SQLToTextModel):
    """Transformer encoder with absolute positions, LSTM decoder with attention and copying."""

    config_class = AbsConfig
    encoder_class = AbsEncoder
    supports_gradient_checkpointing = True
    _supports_sdpa = True
    _no_split_modules = ["TransformerLayer", "LSTMDecoder", "PointerGenerator"]  # noqa: RUF012
