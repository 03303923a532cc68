"""Configuration of the ABS model."""

from huggingface_hub.dataclasses import strict

from spider_compose.models.configuration import SQLToTextConfig, check_heads, check_layers


@strict
class AbsConfig(SQLToTextConfig):
    """A transformer over the canonical SQL with absolute positions.

    Args:
        hidden_size: width of the layers, a multiple of `num_attention_heads` and even.
        intermediate_size: width of the feed-forward parts.
        num_hidden_layers: layers.
        num_attention_heads: heads of each.
    """

    model_type = "spider_compose_abs"

    hidden_size: int = 512
    intermediate_size: int = 2048
    num_hidden_layers: int = 6
    num_attention_heads: int = 8

    def validate_architecture(self) -> None:
        """As the base class, and a width that heads and sinusoids can share."""
        super().validate_architecture()
        check_layers(self)
        check_heads(self.hidden_size, self.num_attention_heads, "hidden_size")
        if self.hidden_size % 2:
            raise ValueError(f"`hidden_size` must be even for sine and cosine, but got {self.hidden_size}.")
