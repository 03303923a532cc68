"""Pre-norm transformer layers for ABS, REL and RGT, with relations of positions (Shaw et al. 2018).

Attention with relations r between positions i and j, added to keys and to values:

    score(i, j) = q_i · (k_j + a[r_ij]) / sqrt(d)          output_i = sum_j weight(i, j) (v_j + b[r_ij])

A relation is a row of a table. So q_i · a[r_ij] is one product of the queries with the table, from which each
pair gathers its entry; and sum_j weight(i, j) b[r_ij] is the weights added up per relation, times the table.
Nothing of shape `(batch_size, length, length, width)` is ever made.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import nn
from torch.nn import functional as F
from transformers.modeling_layers import GradientCheckpointingLayer


class Relation(NamedTuple):
    """One kind of relation between the positions of a stream.

    Attributes:
        index: int64, of shape `(batch_size, length, length)`, or with 1 for the batch: the table's row per
            pair.
        keys: of shape `(num_relations, head_size)`, or with a batch dimension in front.
        values: of the same shape.
    """

    index: torch.Tensor
    keys: torch.Tensor
    values: torch.Tensor

    def scores(self, queries: torch.Tensor) -> torch.Tensor:
        """What the relation adds to the scores, of shape `(batch_size, heads, length, length)`."""
        per_relation = queries @ _per_head(self.keys).transpose(-1, -2)
        return per_relation.gather(-1, self.index[:, None].expand(*queries.shape[:-1], -1))

    def outputs(self, weights: torch.Tensor) -> torch.Tensor:
        """What the relation adds to the outputs, of shape `(batch_size, heads, length, head_size)`."""
        per_relation = weights.new_zeros(*weights.shape[:-1], self.values.shape[-2])
        per_relation = per_relation.scatter_add(-1, self.index[:, None].expand_as(weights), weights)
        return per_relation @ _per_head(self.values)


def _per_head(table: torch.Tensor) -> torch.Tensor:
    """A table with a batch dimension gets one for the heads, which share it."""
    return table[:, None] if table.dim() == 3 else table


class RelationTable(nn.Embedding):
    """A vector per relation, small at first, so that content decides before relations are learned."""

    def reset_parameters(self) -> None:
        """Normal, with the deviation of a unit vector's entries."""
        nn.init.normal_(self.weight, std=self.embedding_dim**-0.5)


class RelationalAttention(nn.Module):
    """Multi-head self-attention, with or without relations."""

    def __init__(self, width: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.heads = heads
        self.dropout = dropout
        # No biases: that of the keys falls out of the softmax.
        self.queries_keys_values = nn.Linear(width, 3 * width, bias=False)
        self.output = nn.Linear(width, width)

    def forward(
        self, hidden_states: torch.Tensor, mask: torch.Tensor, relations: Sequence[Relation] = ()
    ) -> torch.Tensor:
        """Attend.

        Args:
            hidden_states: of shape `(batch_size, length, width)`.
            mask: bool, of shape `(batch_size, 1, 1, length)`, True where a state is no padding.
        """
        batch_size, length, width = hidden_states.shape
        projected = self.queries_keys_values(hidden_states)
        # (3, batch_size, heads, length, head_size)
        queries, keys, values = projected.view(batch_size, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        rate = self.dropout if self.training else 0.0
        if not relations:
            output = F.scaled_dot_product_attention(queries, keys, values, attn_mask=mask, dropout_p=rate)
        else:
            queries = queries * (width // self.heads) ** -0.5
            scores = queries @ keys.transpose(-1, -2)
            for relation in relations:
                scores = scores + relation.scores(queries)
            weights = torch.softmax(scores.masked_fill(~mask, torch.finfo(scores.dtype).min), dim=-1)
            weights = F.dropout(weights, rate, self.training)
            output = weights @ values
            for relation in relations:
                output = output + relation.outputs(weights)
        return self.output(output.transpose(1, 2).reshape(batch_size, length, width))


class TransformerLayer(GradientCheckpointingLayer):
    """Self-attention and a feed-forward part, each after a norm and added to its input."""

    def __init__(self, width: int, intermediate_size: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.attention_norm = nn.LayerNorm(width)
        self.attention = RelationalAttention(width, heads, dropout)
        self.feed_forward_norm = nn.LayerNorm(width)
        self.feed_forward = nn.Sequential(
            nn.Linear(width, intermediate_size),
            nn.ReLU(),
            nn.Dropout(dropout),
            nn.Linear(intermediate_size, width),
        )
        self.dropout = nn.Dropout(dropout)

    def forward(
        self, hidden_states: torch.Tensor, mask: torch.Tensor, relations: Sequence[Relation] = ()
    ) -> torch.Tensor:
        """Of shape `(batch_size, length, width)`, as its input; see `RelationalAttention`."""
        attended = self.attention(self.attention_norm(hidden_states), mask, relations)
        hidden_states = hidden_states + self.dropout(attended)
        return hidden_states + self.dropout(self.feed_forward(self.feed_forward_norm(hidden_states)))


def relative_positions(length: int, clip: int, device: torch.device) -> torch.Tensor:
    """How far the second position stands right of the first, clipped, from 0; `(1, length, length)`."""
    positions = torch.arange(length, device=device)
    return (positions - positions[:, None]).clamp(-clip, clip)[None] + clip


def max_pool(states: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Greatest entry over a stream's states, padding left out; of shape `(batch_size, width)`."""
    return states.masked_fill(~mask.bool()[..., None], torch.finfo(states.dtype).min).amax(dim=1)
