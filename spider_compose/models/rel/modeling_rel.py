"""REL: a transformer with clipped relative positions over the canonical SQL (Shaw et al. 2018)."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from spider_compose.models.encoder import SourceEncoder, complete_sequence, pooled_output
from spider_compose.models.outputs import SQLToTextEncoderOutput
from spider_compose.models.rel.configuration_rel import RelConfig
from spider_compose.models.sql_to_text import SQLToTextModel
from spider_compose.models.transformer import Relation, RelationTable, TransformerLayer, relative_positions


class RelEncoder(SourceEncoder):
    """Layers that know positions only by how far apart they are; heads and layers share the tables."""

    def __init__(self, config: RelConfig) -> None:
        width = config.hidden_size
        super().__init__(config, [width], width)
        self.clip = config.max_relative_position
        self.projection = nn.Linear(config.embedding_size, width)
        self.relation_keys = RelationTable(2 * self.clip + 1, width // config.num_attention_heads)
        self.relation_values = RelationTable(2 * self.clip + 1, width // config.num_attention_heads)
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
        states = self.dropout(self.projection(self.embed_tokens(input_ids)))
        mask = attention_mask[:, None, None].bool()
        index = relative_positions(input_ids.shape[1], self.clip, input_ids.device)
        relation = Relation(index, self.relation_keys.weight, self.relation_values.weight)
        for layer in self.layers:
            states = layer(states, mask, [relation])
        return pooled_output(self.norm(states), attention_mask, input_ids, copy_mask)


class RelForSQLToText(SQLToTextModel):
    """Transformer encoder with relative positions, LSTM decoder with attention and copying."""

    config_class = RelConfig
    encoder_class = RelEncoder
    supports_gradient_checkpointing = True
    _no_split_modules = ["TransformerLayer", "LSTMDecoder", "PointerGenerator"]  # noqa: RUF012
