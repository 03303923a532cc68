"""Configuration of the RGT model."""

from typing import ClassVar

from huggingface_hub.dataclasses import strict

from spider_compose.models.configuration import SQLToTextConfig, check_heads, check_layers


@strict
class RgtConfig(SQLToTextConfig):
    """A relation-aware graph transformer over the query's tree.

    Args:
        embedding_size: width of the vectors of pieces and of leaf types.
        hidden_size: width of the leaves' stream, a multiple of `num_attention_heads`.
        intermediate_size: width of its feed-forward parts.
        structure_embedding_size: width of the vectors of labels and of structural types.
        structure_hidden_size: width of the structural nodes' stream, a multiple of the heads too.
        structure_intermediate_size: width of its feed-forward parts.
        num_hidden_layers: blocks, each a layer of both streams and the flow from leaves up.
        num_attention_heads: heads of each layer.
        max_relative_position: leaves further apart than this are one relation.
        structure_vocab_size: labels of structural nodes, padding included.
        num_types: node types, padding included.
        num_depth_relations: relations of depth between structural nodes (DRD).
        num_database_relations: relations of the schema between them (DBS).
    """

    model_type = "spider_compose_rgt"
    source_form: ClassVar[str] = "tree"

    hidden_size: int = 512
    intermediate_size: int = 2048
    structure_embedding_size: int = 100
    structure_hidden_size: int = 64
    structure_intermediate_size: int = 256
    num_hidden_layers: int = 6
    num_attention_heads: int = 8
    max_relative_position: int = 4
    structure_vocab_size: int = 37
    num_types: int = 14
    num_depth_relations: int = 10
    num_database_relations: int = 11

    def validate_architecture(self) -> None:
        """As the base class, and widths that heads can share."""
        super().validate_architecture()
        check_layers(self)
        for name in ("hidden_size", "structure_hidden_size"):
            check_heads(getattr(self, name), self.num_attention_heads, name)
        for name in ("structure_embedding_size", "structure_intermediate_size", "max_relative_position"):
            if getattr(self, name) < 1:
                raise ValueError(f"`{name}` must be at least 1, but got {getattr(self, name)}.")
        for name in ("structure_vocab_size", "num_types"):
            if getattr(self, name) < 2:
                raise ValueError(f"`{name}` must be at least 2, but got {getattr(self, name)}.")
