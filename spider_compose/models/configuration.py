"""What all five models share in their configuration: vocabulary, decoder, copying, loss."""

# No `from __future__ import annotations` here or in the five: `strict` checks the types of fields by their
# annotations, and none of those that are strings.

from typing import Any, ClassVar

from huggingface_hub.dataclasses import strict
from transformers import PreTrainedConfig


@strict
class SQLToTextConfig(PreTrainedConfig):
    """Base of the five configurations. The defaults are the sizes of Ma et al. (2021).

    Args:
        vocab_size: pieces of the tokenizer; source and target share one table.
        embedding_size: width of a piece's vector.
        hidden_size: width of the encoder's states.
        decoder_hidden_size: width of the decoder.
        dropout: probability, in [0, 1), of embeddings, layers and decoder outputs.
        input_feeding: the decoder's next input also sees the last step's context (Luong et al. 2015). Costs a
            loop over the steps in training.
        copying: pointer-generator over the source's copyable pieces (See et al. 2017).
        coverage: the copy scores see how much each source position was attended to so far.
        label_smoothing: share of the loss, in [0, 1), spread evenly over the vocabulary.
    """

    # "sequence" or "tree": what the encoder reads.
    source_form: ClassVar[str] = "sequence"

    vocab_size: int = 2500
    embedding_size: int = 300
    hidden_size: int = 300
    decoder_hidden_size: int = 300
    dropout: float | int = 0.1
    input_feeding: bool = True
    copying: bool = True
    coverage: bool = True
    label_smoothing: float | int = 0.0
    is_encoder_decoder: bool = True
    use_cache: bool = True
    tie_word_embeddings: bool = False
    pad_token_id: int | None = 0
    bos_token_id: int | None = 1
    eos_token_id: int | None = 2
    decoder_start_token_id: int | None = 1

    def validate_architecture(self) -> None:
        """Refuse sizes and rates that no model can have, and combinations that would do nothing."""
        for name in ("vocab_size", "embedding_size", "hidden_size", "decoder_hidden_size"):
            if getattr(self, name) < 1:
                raise ValueError(f"`{name}` must be at least 1, but got {getattr(self, name)}.")
        for name in ("dropout", "label_smoothing"):
            if not 0 <= getattr(self, name) < 1:
                raise ValueError(f"`{name}` must be in [0, 1), but got {getattr(self, name)}.")
        if self.coverage and not self.copying:
            raise ValueError("`coverage` steers copying and needs `copying=True`; set `coverage=False`.")
        if self.tie_word_embeddings:
            raise ValueError(
                "`tie_word_embeddings` must be False: the output layer also sees the contexts, "
                "so its width is not that of the embeddings."
            )
        if not self.is_encoder_decoder:
            raise ValueError("`is_encoder_decoder` must be True: all five have an encoder and a decoder.")
        special = {self.pad_token_id, self.bos_token_id, self.eos_token_id, self.decoder_start_token_id}
        if bad := [token for token in special if token is None or not 0 <= token < self.vocab_size]:
            raise ValueError(f"special token ids must be in [0, {self.vocab_size}), but got {bad}.")


def check_heads(width: int, heads: int, name: str) -> None:
    """Refuse a width that attention heads cannot share.

    Raises:
        ValueError: `width` is not a multiple of `heads`.
    """
    if heads < 1 or width % heads:
        raise ValueError(
            f"`{name}` must be a multiple of the number of attention heads, but got {width} and {heads}."
        )


def check_layers(config: Any) -> None:
    """Refuse a transformer without layers or with an empty feed-forward part.

    Raises:
        ValueError: a size is below 1.
    """
    for name in ("num_hidden_layers", "intermediate_size"):
        if getattr(config, name) < 1:
            raise ValueError(f"`{name}` must be at least 1, but got {getattr(config, name)}.")
