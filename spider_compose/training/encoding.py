"""Rows -> what a model is trained on: its tokenizer, its features and its collator."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from spider_compose.errors import OptionError, choose
from spider_compose.inference.data import Rows
from spider_compose.inference.text import canonical_sql, decode
from spider_compose.training.data import ExperimentData
from spider_compose.training.settings import TrainingSettings


@dataclass(frozen=True)
class Learner:
    """A model, ready to be trained.

    Attributes:
        encode: rows -> features with `labels`, in the rows' order.
        name: of the tokenizer, for signatures.
    """

    model: Any
    tokenizer: Any
    collator: Any
    encode: Callable[[Rows], list[dict[str, Any]]]
    name: str

    def decode(self, sequences: Any, encoded: Sequence[Mapping[str, Any]]) -> list[str]:
        """Texts of generated ids; see `inference.text.decode`."""
        return decode(self.tokenizer, sequences, encoded)


def make_learner(settings: TrainingSettings, data: ExperimentData) -> Learner:
    """The model that the settings name, untrained or, from the Hub, as it was published.

    Raises:
        OptionError: the model's options are refused, or there is no such model.
    """
    learner = _paper_model(settings, data) if settings.is_paper_model else _hub_model(settings, data)
    learner.model.generation_config.max_new_tokens = settings.max_new_tokens
    learner.model.generation_config.max_length = None
    return learner


def _paper_model(settings: TrainingSettings, data: ExperimentData) -> Learner:
    from huggingface_hub.errors import StrictDataclassError

    from spider_compose.models import MODELS, preset
    from spider_compose.tokenization.collator import SQLToTextCollator
    from spider_compose.tokenization.tokenizer import SQLTokenizer

    tokenizer = SQLTokenizer.train(
        data.train, data.schemas, dialect=data.dialect, vocab_size=settings.vocab_size
    )
    known = [entry.name for entry in fields(MODELS[settings.model][0])]
    for name in settings.model_options:
        choose(f"model_options of {settings.model!r}", name, known)
    try:
        config = preset(
            settings.model,
            settings.size,
            vocab_size=len(tokenizer),
            label_smoothing=settings.label_smoothing,
            **settings.model_options,
        )
    except (TypeError, ValueError, StrictDataclassError) as error:
        raise OptionError(f"`model_options` of {settings.model!r}: {error.__cause__ or error}") from None

    def encode(rows: Rows) -> list[dict[str, Any]]:
        return [
            tokenizer.encode_pair(
                row["query"],
                row["question"],
                data.schemas.get(row["db_id"]),
                dialect=data.dialect,
                form=config.source_form,
            )
            for row in rows
        ]

    model = MODELS[settings.model][1](config)
    model.tokenizer = tokenizer
    collator = SQLToTextCollator(tokenizer, config.source_form)
    return Learner(model, tokenizer, collator, encode, f"bpe{len(tokenizer)}")


def _hub_model(settings: TrainingSettings, data: ExperimentData) -> Learner:
    from safetensors import SafetensorError
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer, DataCollatorForSeq2Seq

    try:
        tokenizer = AutoTokenizer.from_pretrained(settings.model)
        model = AutoModelForSeq2SeqLM.from_pretrained(settings.model, use_safetensors=True)  # no pickles
    except (OSError, ValueError, LookupError, TypeError, RuntimeError, SafetensorError) as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise OptionError(
            f"`model` must be one of the five, or a folder or Hub repository with a seq2seq model, but "
            f"{settings.model!r} cannot be loaded: {reason}"
        ) from None

    def encode(rows: Rows) -> list[dict[str, Any]]:
        sources = [
            settings.source_prefix + canonical_sql(row["query"], data.schemas.get(row["db_id"]), data.dialect)
            for row in rows
        ]
        questions = [row["question"] for row in rows]
        encoded = tokenizer(sources, text_target=questions, truncation=True)
        return [
            dict(zip(encoded.keys(), values, strict=True)) for values in zip(*encoded.values(), strict=True)
        ]

    collator = DataCollatorForSeq2Seq(tokenizer, model)
    return Learner(model, tokenizer, collator, encode, tokenizer.name_or_path)
