"""How `generate` and the models meet: the state of an LSTM instead of keys and values, and encoding once."""

from __future__ import annotations

from typing import Any

import torch
from transformers import GenerationConfig, GenerationMixin

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

    def _prepare_generation_config(
        self, generation_config: GenerationConfig | None, **kwargs: Any
    ) -> tuple[GenerationConfig, dict[str, Any]]:
        """A caller's `max_length` holds; transformers lets the model's own `max_new_tokens` overrule it."""
        prepared, rest = super()._prepare_generation_config(generation_config, **kwargs)
        asked = {**(generation_config.to_dict() if generation_config else {}), **kwargs}
        if asked.get("max_length") is not None and asked.get("max_new_tokens") is None:
            prepared.max_new_tokens = None
        return prepared, rest

    def prepare_inputs_for_generation(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """As ever, without the tokenizer that comes with `stop_strings`: it is nothing for `forward`."""
        inputs: dict[str, Any] = super().prepare_inputs_for_generation(*args, **kwargs)
        inputs.pop("tokenizer", None)
        return inputs

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
            # A copy: the caller may have given the encoder's output, and go on to use it.
            outputs = kept["encoder_outputs"]
            kept["encoder_outputs"] = type(outputs)(**outputs)
            for holder in (kept, kept["encoder_outputs"]):
                for name, value in holder.items():
                    if isinstance(value, torch.Tensor):
                        holder[name] = value.repeat_interleave(expand_size, dim=0)
            if input_ids is not None:
                input_ids = input_ids.repeat_interleave(expand_size, dim=0)
        return input_ids, kept
