"""What the five encoders share: the table of pieces, masks that were left out, pooling of states."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import nn

from spider_compose.models.configuration import SQLToTextConfig
from spider_compose.models.outputs import SQLToTextEncoderOutput
from spider_compose.models.transformer import max_pool


class SourceEncoder(nn.Module):
    """Base of the encoders.

    Attributes:
        memory_sizes: widths of the streams that the decoder attends to; it copies from the first.
        initial_size: width of what the decoder's first state is made from.
        embed_tokens: vectors of pieces, which the decoder reads too.
    """

    main_input_name = "input_ids"  # where `generate` looks

    def __init__(self, config: SQLToTextConfig, memory_sizes: Sequence[int], initial_size: int) -> None:
        super().__init__()
        self.memory_sizes = list(memory_sizes)
        self.initial_size = initial_size
        self.embed_tokens = nn.Embedding(config.vocab_size, config.embedding_size, config.pad_token_id)
        self.dropout = nn.Dropout(config.dropout)


def complete_sequence(
    input_ids: torch.Tensor, attention_mask: torch.Tensor | None, copy_mask: torch.Tensor | None
) -> tuple[torch.Tensor, torch.Tensor]:
    """Both masks: without one everything is read, and nothing may be copied."""
    if attention_mask is None:
        attention_mask = torch.ones_like(input_ids)
    if copy_mask is None:
        copy_mask = torch.zeros_like(input_ids)
    return attention_mask, copy_mask


def pooled_output(
    states: torch.Tensor, attention_mask: torch.Tensor, input_ids: torch.Tensor, copy_mask: torch.Tensor
) -> SQLToTextEncoderOutput:
    """A transformer's states; the decoder starts from their maximum."""
    pooled = max_pool(states, attention_mask)
    return SQLToTextEncoderOutput(
        last_hidden_state=states,
        attention_mask=attention_mask,
        source_ids=input_ids,
        copy_mask=copy_mask,
        initial_hidden=pooled,
        initial_cell=pooled,
    )
