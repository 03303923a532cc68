"""TreeLSTM: a child-sum TreeLSTM over the query's tree (Tai et al. 2015).

The trees of a batch are one forest. All its leaves are computed at once, then all nodes of height 1, of
height 2, and so on up to the roots: as many steps as the tallest tree has levels.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from spider_compose.models.encoder import SourceEncoder, complete_sequence
from spider_compose.models.outputs import SQLToTextEncoderOutput
from spider_compose.models.sql_to_text import SQLToTextModel
from spider_compose.models.treelstm.configuration_treelstm import TreeLSTMConfig


class ChildSumCell(nn.Module):
    """One cell for all nodes: gates from the node and the sum of its children, a forget gate per child."""

    def __init__(self, input_size: int, hidden_size: int) -> None:
        super().__init__()
        self.hidden_size = hidden_size
        self.input = nn.Linear(input_size, 4 * hidden_size)  # in, out, update, and forget
        self.from_children = nn.Linear(hidden_size, 3 * hidden_size, bias=False)
        self.child_forget = nn.Linear(hidden_size, hidden_size, bias=False)

    def leaves(self, gates: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """State and cell of nodes without children, from their inputs' gates."""
        return self._state(gates[..., : 3 * self.hidden_size])

    def nodes(
        self, gates: torch.Tensor, children: torch.Tensor, kept: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """State and cell of nodes with children.

        Args:
            gates: of shape `(num_nodes, 4 * hidden_size)`, from their inputs.
            children: of shape `(num_nodes, hidden_size)`: the sum of their children's states.
            kept: of the same shape: the sum of their children's cells, each after its forget gate.
        """
        return self._state(gates[:, : 3 * self.hidden_size] + self.from_children(children), kept)

    def keep(self, parent_gates: torch.Tensor, hidden: torch.Tensor, cell: torch.Tensor) -> torch.Tensor:
        """What each child's cell hands to its parent."""
        forget = parent_gates[:, 3 * self.hidden_size :] + self.child_forget(hidden)
        return forget.sigmoid() * cell

    def _state(
        self, gates: torch.Tensor, kept: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        into, out, update = gates.chunk(3, dim=-1)
        cell = into.sigmoid() * update.tanh()
        if kept is not None:
            cell = cell + kept
        return out.sigmoid() * cell.tanh(), cell


class TreeLSTMEncoder(SourceEncoder):
    """States of all nodes, leaves first; the decoder starts from the root."""

    def __init__(self, config: TreeLSTMConfig) -> None:
        super().__init__(config, [config.hidden_size], config.hidden_size)
        size = config.embedding_size
        self.embed_structures = nn.Embedding(config.structure_vocab_size, size, padding_idx=0)
        self.embed_types = nn.Embedding(config.num_types, size, padding_idx=0)
        self.cell = ChildSumCell(size, config.hidden_size)

    def forward(
        self,
        input_ids: torch.Tensor,
        attention_mask: torch.Tensor | None = None,
        copy_mask: torch.Tensor | None = None,
        *,
        leaf_types: torch.Tensor,
        leaf_parents: torch.Tensor,
        structure_ids: torch.Tensor,
        structure_mask: torch.Tensor,
        structure_types: torch.Tensor,
        structure_parents: torch.Tensor,
        structure_heights: torch.Tensor,
        **unused: Any,
    ) -> SQLToTextEncoderOutput:
        """Encode; `unused` are the relations, and what `generate` tells any encoder."""
        attention_mask, copy_mask = complete_sequence(input_ids, attention_mask, copy_mask)
        leaves = self.dropout(self.embed_tokens(input_ids) + self.embed_types(leaf_types))
        structures = self.dropout(self.embed_structures(structure_ids) + self.embed_types(structure_types))
        leaf_hidden, hidden, cell = self._forest(
            self.cell.input(leaves),
            self.cell.input(structures),
            attention_mask.bool(),
            leaf_parents,
            structure_parents,
            structure_heights.masked_fill(structure_mask == 0, 0),
        )
        nothing = torch.zeros_like(structure_ids)
        return SQLToTextEncoderOutput(
            last_hidden_state=self.dropout(torch.cat([leaf_hidden, hidden], dim=1)),
            attention_mask=torch.cat([attention_mask, structure_mask], dim=1),
            source_ids=torch.cat([input_ids, nothing], dim=1),
            copy_mask=torch.cat([copy_mask, nothing], dim=1),
            initial_hidden=hidden[:, 0],
            initial_cell=cell[:, 0],
        )

    def _forest(
        self,
        leaf_gates: torch.Tensor,
        gates: torch.Tensor,
        leaf_mask: torch.Tensor,
        leaf_parents: torch.Tensor,
        parents: torch.Tensor,
        heights: torch.Tensor,
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """States of leaves, states and cells of structural nodes; each `(batch_size, number, hidden_size)`.

        Each level hands its states up to its parents' sums, so that a level finds its own sums complete.
        """
        batch_size, num_structures, _ = gates.shape
        rows = torch.arange(batch_size, device=gates.device)[:, None] * num_structures
        flat_gates = gates.flatten(0, 1)
        leaf_hidden, leaf_cell = self.cell.leaves(leaf_gates)
        sums = flat_gates.new_zeros(batch_size * num_structures, self.cell.hidden_size)
        kept = torch.zeros_like(sums)
        above = (rows + leaf_parents)[leaf_mask]
        self._hand_up(flat_gates, sums, kept, above, leaf_hidden[leaf_mask], leaf_cell[leaf_mask])

        order = heights.flatten().argsort(stable=True)
        levels = order.split(torch.bincount(heights.flatten()).tolist())[1:]  # height 0 is padding
        above = (rows + parents).flatten()
        has_parent = (parents >= 0).flatten()
        states = []
        for level in levels:
            hidden, cell = self.cell.nodes(flat_gates[level], sums[level], kept[level])
            states.append((hidden, cell))
            inner = has_parent[level]
            self._hand_up(flat_gates, sums, kept, above[level][inner], hidden[inner], cell[inner])
        places = torch.cat(list(levels))
        shape = (batch_size, num_structures, self.cell.hidden_size)
        hidden, cell = (
            torch.zeros_like(sums).index_copy(0, places, torch.cat(found)).view(shape)
            for found in zip(*states, strict=True)
        )
        return leaf_hidden, hidden, cell

    def _hand_up(
        self,
        gates: torch.Tensor,
        sums: torch.Tensor,
        kept: torch.Tensor,
        above: torch.Tensor,
        hidden: torch.Tensor,
        cell: torch.Tensor,
    ) -> None:
        """Add children to their parents' sums, in place: nothing reads again what the sums were before."""
        sums.index_add_(0, above, hidden)
        kept.index_add_(0, above, self.cell.keep(gates[above], hidden, cell))


class TreeLSTMForSQLToText(SQLToTextModel):
    """TreeLSTM encoder, LSTM decoder with attention over all nodes and copying from the leaves."""

    config_class = TreeLSTMConfig
    encoder_class = TreeLSTMEncoder
    _no_split_modules = ["TreeLSTMEncoder", "LSTMDecoder", "PointerGenerator"]  # noqa: RUF012
