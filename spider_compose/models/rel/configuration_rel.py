"""Configuration of the REL model: ABS with relative positions instead of absolute ones."""

from huggingface_hub.dataclasses import strict

from spider_compose.models.configuration import SQLToTextConfig, check_heads, check_layers


@strict
class RelConfig(SQLToTextConfig):
    """A transformer over the canonical SQL with relative positions.

    Args:
        hidden_size: width of the layers, a multiple of `num_attention_heads`.
        intermediate_size: width of the feed-forward parts.
        num_hidden_layers: layers.
        num_attention_heads: heads of each.
        max_relative_position: positions further apart than this are one relation.
    """

    model_type = "spider_compose_rel"

    hidden_size: int = 512
    intermediate_size: int = 2048
    num_hidden_layers: int = 6
    num_attention_heads: int = 8
    max_relative_position: int = 4

    def validate_architecture(self) -> None:
        """As the base class, and a width that heads can share."""
        super().validate_architecture()
        check_layers(self)
        check_heads(self.hidden_size, self.num_attention_heads, "hidden_size")
        if self.max_relative_position < 1:
            raise ValueError(
                f"`max_relative_position` must be at least 1, but got {self.max_relative_position}."
            )
