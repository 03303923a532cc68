"""How `generate` and the models meet: the state of an LSTM instead of keys and values, and encoding once."""

from __future__ import annotations

from typing import Any

import torch
from transformers import GenerationMixin

# Arguments of `forward` that describe the source.
SOURCE_FIELDS = (
    "input_ids", "attention_mask", "copy_mask", "leaf_types", "leaf_parents", "structure_ids",
    "structure_mask", "structure_types", "structure_parents", "structure_heights", "structure_spans",
    "structure_relations", "leaf_ancestors",
)  # fmt: skip

# The longest question of SpiderCompose has 74 pieces; sentences end themselves long before.
DEFAULT_MAX_NEW_TOKENS = 100


class SQLToTextGenerationMixin(GenerationMixin):
    """`generate` for models whose decoder is an LSTM.

    All strategies that need no attention cache work: greedy, beam search, sampling, and their mixtures,
    batched. Beam search reorders the state through `DecoderState.reorder_cache`.
    """

    @classmethod
    def _supports_default_dynamic_cache(cls) -> bool:
        """No: the first forward pass makes the state itself."""
        return False

    @staticmethod
    def _expand_inputs_for_generation(
        expand_size: int = 1,
        is_encoder_decoder: bool = False,
        input_ids: torch.Tensor | None = None,
        **model_kwargs: Any,
    ) -> tuple[torch.Tensor | None, dict[str, Any]]:
        """Repeat rows for beams. What only the encoder reads is dropped first: it has been read by now."""
        kept = {name: value for name, value in model_kwargs.items() if name not in SOURCE_FIELDS}
        if expand_size > 1:
            for holder in (kept, kept["encoder_outputs"]):
                for name, value in holder.items():
                    if isinstance(value, torch.Tensor):
                        holder[name] = value.repeat_interleave(expand_size, dim=0)
            if input_ids is not None:
                input_ids = input_ids.repeat_interleave(expand_size, dim=0)
        return input_ids, kept
