"""Configuration of the TreeLSTM model."""

from typing import ClassVar

from huggingface_hub.dataclasses import strict

from spider_compose.models.configuration import SQLToTextConfig


@strict
class TreeLSTMConfig(SQLToTextConfig):
    """A child-sum TreeLSTM over the query's tree.

    Args:
        embedding_size: width of the vectors of pieces, labels and node types.
        hidden_size: width of the node states.
        structure_vocab_size: labels of structural nodes, padding included.
        num_types: node types, padding included.
    """

    model_type = "spider_compose_treelstm"
    source_form: ClassVar[str] = "tree"

    structure_vocab_size: int = 37
    num_types: int = 14

    def validate_architecture(self) -> None:
        """As the base class, and vocabularies that hold something."""
        super().validate_architecture()
        for name in ("structure_vocab_size", "num_types"):
            if getattr(self, name) < 2:
                raise ValueError(f"`{name}` must be at least 2, but got {getattr(self, name)}.")
