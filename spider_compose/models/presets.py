"""Sizes with a name: `paper` as published, `small` for training on a CPU."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from spider_compose.errors import choose
from spider_compose.models.auto import MODELS
from spider_compose.models.configuration import SQLToTextConfig

PRESETS = ("paper", "small")

# The defaults of the configurations are the paper's sizes. Small models leave out input feeding, which costs
# a loop over the steps of training.
_SMALL: dict[str, Any] = {
    "embedding_size": 128,
    "hidden_size": 128,
    "decoder_hidden_size": 128,
    "input_feeding": False,
}
_SMALL_TRANSFORMER: dict[str, Any] = {
    **_SMALL, "intermediate_size": 512, "num_hidden_layers": 2, "num_attention_heads": 4,
}  # fmt: skip
_SMALL_BY_MODEL: dict[str, dict[str, Any]] = {
    "bilstm": _SMALL,
    "abs": _SMALL_TRANSFORMER,
    "rel": _SMALL_TRANSFORMER,
    "treelstm": _SMALL,
    "rgt": {**_SMALL_TRANSFORMER, "structure_embedding_size": 64},
}


def preset(model: str, size: str = "small", **overrides: Any) -> SQLToTextConfig:
    """A configuration by name.

    Args:
        model: "bilstm", "abs", "rel", "treelstm" or "rgt".
        size: "paper" (Ma et al. 2021) or "small" (1.5 to 2 million parameters).
        overrides: any field of the configuration, such as `vocab_size=len(tokenizer)`.

    Raises:
        OptionError: there is no such model or size, or the model's configuration has no such field.
    """
    choose("model", model, MODELS)
    choose("size", size, PRESETS)
    config_class, _ = MODELS[model]
    for name in overrides:  # transformers keeps any, and a misspelt size would change nothing
        choose("field", name, [field.name for field in fields(config_class)])
    return config_class(**((_SMALL_BY_MODEL[model] if size == "small" else {}) | overrides))
