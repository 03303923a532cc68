"""Configuration of the BiLSTM model."""

from huggingface_hub.dataclasses import strict

from spider_compose.models.configuration import SQLToTextConfig


@strict
class BiLSTMConfig(SQLToTextConfig):
    """A bidirectional LSTM over the canonical SQL.

    Args:
        hidden_size: width of each direction, and of their sum.
        num_hidden_layers: LSTM layers; above the first each reads both directions side by side.
    """

    model_type = "spider_compose_bilstm"

    num_hidden_layers: int = 1

    def validate_architecture(self) -> None:
        """As the base class, and at least one layer."""
        super().validate_architecture()
        if self.num_hidden_layers < 1:
            raise ValueError(f"`num_hidden_layers` must be at least 1, but got {self.num_hidden_layers}.")
