"""RGT: a relation-aware graph transformer over the query's tree (Ma et al. 2021).

Two streams, structural nodes and leaves. In each block the structural nodes attend to each other by depth
(DRD) and schema (DBS), the leaves by relative position (RPR) and by the current state of their lowest common
ancestor (LCA), and each structural node then takes in the leaves under it.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.nn import functional as F
from transformers.modeling_layers import GradientCheckpointingLayer

from spider_compose.models.encoder import SourceEncoder, complete_sequence
from spider_compose.models.outputs import SQLToTextEncoderOutput
from spider_compose.models.rgt.configuration_rgt import RgtConfig
from spider_compose.models.sql_to_text import SQLToTextModel
from spider_compose.models.transformer import (
    Relation,
    RelationTable,
    TransformerLayer,
    max_pool,
    relative_positions,
)


class PairedRelations(nn.Module):
    """Two kinds of relations as keys and values of one attention layer.

    The paper concatenates the vectors of a pair's two relations and projects them to the head size, then to
    keys and values. A projection of a concatenation is a sum of projections, so each kind keeps a table of
    its own.
    """

    def __init__(self, first_size: int, second_size: int, head_size: int) -> None:
        super().__init__()
        self.sizes = [first_size, second_size]
        self.joint = nn.Linear(first_size + second_size, head_size)
        self.keys = nn.Linear(head_size, head_size, bias=False)
        self.values = nn.Linear(head_size, head_size, bias=False)

    def tables(self, first: torch.Tensor, second: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Both kinds' vectors at head size; their sum is the joint projection."""
        first_weight, second_weight = self.joint.weight.split(self.sizes, dim=1)
        return F.linear(first, first_weight, self.joint.bias), F.linear(second, second_weight)

    def relation(self, index: torch.Tensor, table: torch.Tensor) -> Relation:
        """A table as keys and values."""
        return Relation(index, self.keys(table), self.values(table))


class UpFlow(nn.Module):
    """Each structural node attends to the leaves under it; the result is projected, added and normalised."""

    def __init__(self, leaf_width: int, width: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.heads = heads
        self.rate = dropout
        self.queries = nn.Linear(width, width, bias=False)
        self.keys_values = nn.Linear(leaf_width, 2 * width, bias=False)
        self.output = nn.Linear(width, width)
        self.norm = nn.LayerNorm(width)
        self.dropout = nn.Dropout(dropout)

    def forward(self, structures: torch.Tensor, leaves: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Of shape `(batch_size, num_structures, width)`.

        Args:
            mask: bool, of shape `(batch_size, num_structures, num_leaves)`, True where a leaf is under a
                node.
        """
        batch_size, number, width = structures.shape
        queries = self.queries(structures).view(batch_size, number, self.heads, -1).transpose(1, 2)
        projected = self.keys_values(leaves).view(batch_size, leaves.shape[1], 2, self.heads, -1)
        keys, values = projected.permute(2, 0, 3, 1, 4)
        rate = self.rate if self.training else 0.0
        # A node without leaves, padding for one, attends to all and takes in nothing.
        empty = ~mask.any(dim=-1, keepdim=True)
        attended = F.scaled_dot_product_attention(
            queries, keys, values, attn_mask=(mask | empty)[:, None], dropout_p=rate
        )
        attended = attended.transpose(1, 2).reshape(batch_size, number, width).masked_fill(empty, 0.0)
        return self.norm(structures + self.dropout(self.output(attended)))


class RgtBlock(GradientCheckpointingLayer):
    """Structural layer, leaf layer, flow from the leaves up."""

    def __init__(self, config: RgtConfig) -> None:
        super().__init__()
        heads, dropout = config.num_attention_heads, config.dropout
        head_size, structure_head_size = config.hidden_size // heads, config.structure_hidden_size // heads
        self.structure_relations = PairedRelations(
            structure_head_size, structure_head_size, structure_head_size
        )
        self.structure_layer = TransformerLayer(
            config.structure_hidden_size, config.structure_intermediate_size, heads, dropout
        )
        self.leaf_relations = PairedRelations(head_size, config.structure_hidden_size, head_size)
        self.leaf_layer = TransformerLayer(config.hidden_size, config.intermediate_size, heads, dropout)
        self.up_flow = UpFlow(config.hidden_size, config.structure_hidden_size, heads, dropout)

    def forward(
        self,
        leaves: torch.Tensor,
        structures: torch.Tensor,
        depth_table: torch.Tensor,
        database_table: torch.Tensor,
        position_table: torch.Tensor,
        structure_index: torch.Tensor,
        position_index: torch.Tensor,
        ancestors: torch.Tensor,
        leaf_mask: torch.Tensor,
        structure_mask: torch.Tensor,
        under: torch.Tensor,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """New states of leaves and of structural nodes.

        Args:
            structure_index: of shape `(batch_size, num_structures, num_structures)`: depth and schema in one.
            ancestors: of shape `(batch_size, num_leaves, num_leaves)`: positions of structural nodes.
            under: of shape `(batch_size, num_structures, num_leaves)`.
        """
        paired = self.structure_relations
        depth, database = paired.tables(depth_table, database_table)
        both = (depth[:, None] + database).flatten(0, 1)  # (depth relations * database relations, head size)
        structures = self.structure_layer(
            structures, structure_mask[:, None, None], [paired.relation(structure_index, both)]
        )
        paired = self.leaf_relations
        position, ancestor = paired.tables(position_table, structures)
        relations = [paired.relation(position_index, position), paired.relation(ancestors, ancestor)]
        leaves = self.leaf_layer(leaves, leaf_mask[:, None, None], relations)
        return leaves, self.up_flow(structures, leaves, under)


class RgtEncoder(SourceEncoder):
    """Both streams, embedded apart, with one table per kind of relation for all blocks."""

    def __init__(self, config: RgtConfig) -> None:
        width, structure_width = config.hidden_size, config.structure_hidden_size
        super().__init__(config, [width, structure_width], width + structure_width)
        heads = config.num_attention_heads
        self.clip = config.max_relative_position
        self.embed_leaf_types = nn.Embedding(config.num_types, config.embedding_size, padding_idx=0)
        self.projection = nn.Linear(2 * config.embedding_size, width)
        size = config.structure_embedding_size
        self.embed_structures = nn.Embedding(config.structure_vocab_size, size, padding_idx=0)
        self.embed_structure_types = nn.Embedding(config.num_types, size, padding_idx=0)
        self.structure_projection = nn.Linear(2 * size, structure_width)
        self.depth_relations = RelationTable(config.num_depth_relations, structure_width // heads)
        self.database_relations = RelationTable(config.num_database_relations, structure_width // heads)
        self.position_relations = RelationTable(2 * self.clip + 1, width // heads)
        self.layers = nn.ModuleList(RgtBlock(config) for _ in range(config.num_hidden_layers))
        self.norm = nn.LayerNorm(width)
        self.structure_norm = nn.LayerNorm(structure_width)

    def forward(
        self,
        input_ids: torch.Tensor,
        attention_mask: torch.Tensor | None = None,
        copy_mask: torch.Tensor | None = None,
        *,
        leaf_types: torch.Tensor,
        structure_ids: torch.Tensor,
        structure_mask: torch.Tensor,
        structure_types: torch.Tensor,
        structure_spans: torch.Tensor,
        structure_relations: torch.Tensor,
        leaf_ancestors: torch.Tensor,
        **unused: Any,
    ) -> SQLToTextEncoderOutput:
        """Encode; `unused` are the parents and heights, and what `generate` tells any encoder."""
        attention_mask, copy_mask = complete_sequence(input_ids, attention_mask, copy_mask)
        leaves = torch.cat([self.embed_tokens(input_ids), self.embed_leaf_types(leaf_types)], dim=-1)
        leaves = self.dropout(self.projection(leaves))
        structures = torch.cat(
            [self.embed_structures(structure_ids), self.embed_structure_types(structure_types)], dim=-1
        )
        structures = self.dropout(self.structure_projection(structures))
        positions = torch.arange(input_ids.shape[1], device=input_ids.device)
        under = (structure_spans[..., :1] <= positions) & (positions < structure_spans[..., 1:])
        fixed = (
            self.depth_relations.weight,
            self.database_relations.weight,
            self.position_relations.weight,
            structure_relations.long(),
            relative_positions(input_ids.shape[1], self.clip, input_ids.device),
            leaf_ancestors.long(),
            attention_mask.bool(),
            structure_mask.bool(),
            under,
        )
        for layer in self.layers:
            leaves, structures = layer(leaves, structures, *fixed)
        leaves, structures = self.norm(leaves), self.structure_norm(structures)
        pooled = torch.cat([max_pool(leaves, attention_mask), max_pool(structures, structure_mask)], dim=-1)
        return SQLToTextEncoderOutput(
            last_hidden_state=leaves,
            attention_mask=attention_mask,
            source_ids=input_ids,
            copy_mask=copy_mask,
            initial_hidden=pooled,
            initial_cell=pooled,
            structure_hidden_state=structures,
            structure_mask=structure_mask,
        )


class RgtForSQLToText(SQLToTextModel):
    """RGT encoder, LSTM decoder with attention over both streams and copying from the leaves."""

    config_class = RgtConfig
    encoder_class = RgtEncoder
    supports_gradient_checkpointing = True
    _no_split_modules = ["RgtBlock", "LSTMDecoder", "PointerGenerator"]  # noqa: RUF012
