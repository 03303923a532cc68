"""The model around an encoder: forward pass, loss, initialisation. The five classes fill in the encoder."""

from __future__ import annotations

from typing import Any, ClassVar

import torch
from torch import nn
from transformers import PreTrainedModel

from spider_compose.errors import OptionError
from spider_compose.models.configuration import SQLToTextConfig
from spider_compose.models.decoder import DecoderState, LSTMDecoder, Memory
from spider_compose.models.generation import DEFAULT_MAX_NEW_TOKENS, SQLToTextGenerationMixin
from spider_compose.models.outputs import SQLToTextEncoderOutput, SQLToTextOutput
from spider_compose.models.pointer_generator import PointerGenerator, sequence_loss
from spider_compose.models.translation import Translation


class SQLToTextModel(SQLToTextGenerationMixin, Translation, PreTrainedModel):
    """SQL in, English out. Base of the five models; `encoder_class` and `config_class` make one of them.

    An encoder has `memory_sizes` (widths of the streams it returns), `initial_size`, and `embed_tokens`, the
    table of pieces that the decoder reads too.
    """

    config_class = SQLToTextConfig
    encoder_class: ClassVar[type[nn.Module]]
    base_model_prefix = ""
    main_input_name = "input_ids"
    # Loss is divided by the pieces of a whole step, where a trainer accumulates batches.
    accepts_loss_kwargs = True

    def __init__(self, config: SQLToTextConfig) -> None:
        super().__init__(config)
        self.encoder: Any = self.encoder_class(config)
        sizes = self.encoder.memory_sizes
        self.decoder = LSTMDecoder(config, sizes, self.encoder.initial_size)
        self.pointer_generator = PointerGenerator(config, sizes[0])
        self.dropout = nn.Dropout(config.dropout)
        self.post_init()
        self.generation_config.max_new_tokens = DEFAULT_MAX_NEW_TOKENS
        self.generation_config.max_length = None

    def _init_weights(self, module: nn.Module) -> None:
        """As torch does. The default of transformers (deviation 0.02) leaves an LSTM untrained for long."""
        if hasattr(module, "reset_parameters"):
            module.reset_parameters()

    def get_encoder(self, modality: str | None = None) -> Any:
        """The encoder; there is one modality."""
        return self.encoder

    def get_input_embeddings(self) -> nn.Module:
        """The table of pieces, shared by source and target."""
        embeddings: nn.Module = self.encoder.embed_tokens
        return embeddings

    def set_input_embeddings(self, value: nn.Module) -> None:
        """Replace the table of pieces."""
        self.encoder.embed_tokens = value

    def get_output_embeddings(self) -> nn.Module:
        """The output layer, which `resize_token_embeddings` resizes with the table; they are not tied."""
        return self.pointer_generator.vocabulary

    def set_output_embeddings(self, new_embeddings: nn.Module) -> None:
        """Replace the output layer."""
        self.pointer_generator.vocabulary = new_embeddings

    def forward(
        self,
        input_ids: torch.Tensor | None = None,
        attention_mask: torch.Tensor | None = None,
        copy_mask: torch.Tensor | None = None,
        leaf_types: torch.Tensor | None = None,
        leaf_parents: torch.Tensor | None = None,
        structure_ids: torch.Tensor | None = None,
        structure_mask: torch.Tensor | None = None,
        structure_types: torch.Tensor | None = None,
        structure_parents: torch.Tensor | None = None,
        structure_heights: torch.Tensor | None = None,
        structure_spans: torch.Tensor | None = None,
        structure_relations: torch.Tensor | None = None,
        leaf_ancestors: torch.Tensor | None = None,
        decoder_input_ids: torch.Tensor | None = None,
        labels: torch.Tensor | None = None,
        encoder_outputs: SQLToTextEncoderOutput | None = None,
        cache: DecoderState | None = None,
        use_cache: bool | None = None,
        output_attentions: bool | None = None,
        output_hidden_states: bool | None = None,
        num_items_in_batch: torch.Tensor | int | None = None,
        return_dict: bool | None = None,
    ) -> SQLToTextOutput | tuple[Any, ...]:
        """One pass over sources and the questions so far.

        Args:
            input_ids: of shape `(batch_size, source_length)`: pieces of the sequence, or of the tree's
                leaves.
            attention_mask: of the same shape, 1 where `input_ids` is no padding.
            copy_mask: of the same shape, 1 where a piece may be copied; without it none may.
            leaf_types: this and all arguments up to `leaf_ancestors` describe a tree; see
                `SQLTokenizer.encode_sql`.
            decoder_input_ids: of shape `(batch_size, target_length)`; made from `labels` if these are given.
            labels: of shape `(batch_size, target_length)`, -100 where nothing is to be predicted.
            encoder_outputs: instead of all the source's arguments.
            cache: the state to go on from; then `decoder_input_ids` are the pieces not seen yet.
            use_cache: whether to return the new state.
            num_items_in_batch: target pieces to divide the loss by.

        Raises:
            OptionError: neither a source nor `encoder_outputs` is given, or neither labels nor decoder
                inputs.
        """
        if encoder_outputs is None:
            given = {
                "attention_mask": attention_mask, "copy_mask": copy_mask,
                "leaf_types": leaf_types, "leaf_parents": leaf_parents,
                "structure_ids": structure_ids, "structure_mask": structure_mask,
                "structure_types": structure_types, "structure_parents": structure_parents,
                "structure_heights": structure_heights, "structure_spans": structure_spans,
                "structure_relations": structure_relations, "leaf_ancestors": leaf_ancestors,
            }  # fmt: skip
            encoder_outputs = self._encode(input_ids, {k: v for k, v in given.items() if v is not None})
        if decoder_input_ids is None:
            if labels is None:
                raise OptionError("expected `labels` or `decoder_input_ids`, but got neither.")
            decoder_input_ids = self.prepare_decoder_input_ids_from_labels(labels)
        embeddings = self.dropout(self.encoder.embed_tokens(decoder_input_ids))
        memories = _memories(encoder_outputs)
        state = cache or self.decoder.initial_state(
            encoder_outputs.initial_hidden, encoder_outputs.initial_cell, memories
        )
        decoded = self.decoder(embeddings, memories, state)
        predicted = self.pointer_generator(
            decoded.hidden_states,
            embeddings,
            memories[0].states,
            encoder_outputs.source_ids,
            encoder_outputs.copy_mask,
            decoded.coverage,
        )
        loss = None
        if labels is not None:
            smoothing = self.config.label_smoothing if self.training else 0.0
            loss = sequence_loss(predicted, labels, smoothing, num_items_in_batch)
        wants_cache = self.config.use_cache if use_cache is None else use_cache
        output = SQLToTextOutput(
            loss=loss,
            # A training step needs the loss alone; the whole distribution would cost a tenth of it.
            logits=None if self.training and labels is not None else predicted.log_probs(),
            # In training a state would keep the whole graph alive.
            cache=decoded.state if wants_cache and labels is None else None,
            cross_attentions=decoded.attentions if output_attentions else None,
            copy_attentions=predicted.copy_attentions if output_attentions else None,
            generation_gate=_probability(predicted.gate) if output_attentions else None,
            encoder_last_hidden_state=encoder_outputs.last_hidden_state,
        )
        return output.to_tuple() if return_dict is False else output

    def _encode(
        self, input_ids: torch.Tensor | None, fields: dict[str, torch.Tensor]
    ) -> SQLToTextEncoderOutput:
        needed = ["structure_ids"] if self.config.source_form == "tree" else []
        if input_ids is None or any(name not in fields for name in needed):
            raise OptionError(
                f"{type(self).__name__} reads sources of form {self.config.source_form!r}: expected "
                f"`input_ids`{' and the fields of a tree' if needed else ''}. Make them with "
                f"SQLTokenizer.encode_sql(..., form={self.config.source_form!r}) and SQLToTextCollator."
            )
        encoded: SQLToTextEncoderOutput = self.encoder(input_ids, **fields)
        return encoded

    def prepare_decoder_input_ids_from_labels(self, labels: torch.Tensor) -> torch.Tensor:
        """Each piece's predecessor: the labels, one to the right, after the start mark."""
        inputs = labels.new_full(labels.shape, self.config.decoder_start_token_id)
        inputs[:, 1:] = labels[:, :-1]
        return inputs.masked_fill(inputs == -100, self.config.pad_token_id)


def _probability(gate: torch.Tensor | None) -> torch.Tensor | None:
    return None if gate is None else gate.sigmoid()


def _memories(encoded: SQLToTextEncoderOutput) -> list[Memory]:
    """The streams that the decoder attends to; the one it can copy from is first."""
    assert encoded.last_hidden_state is not None and encoded.attention_mask is not None
    memories = [Memory(encoded.last_hidden_state, encoded.attention_mask)]
    if encoded.structure_hidden_state is not None and encoded.structure_mask is not None:
        memories.append(Memory(encoded.structure_hidden_state, encoded.structure_mask))
    return memories
