"""The three kinds of models, each with what it reads: rows -> features -> texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import torch

from spider_compose.errors import OptionError, SpiderComposeError
from spider_compose.inference.data import ConfigData, Row
from spider_compose.inference.loading import CAUSAL, OWN, Described, first_line
from spider_compose.inference.settings import DEFAULT_BEAMS, EvaluationSettings
from spider_compose.inference.text import canonical_sql, decode
from spider_compose.sql.schema import Schema
from spider_compose.tokenization.collator import SQLToTextCollator

Features = Mapping[str, Any]

CUT = "cut"
"""A feature of rows of which the model reads the beginning alone."""


class UnreadableRowError(SpiderComposeError):
    """A model cannot read a row: the reason, in words that are the same for all such rows."""


class Generator(Protocol):
    """Writes questions."""

    @property
    def model(self) -> Any:
        """As transformers loaded it."""

    @property
    def tokenizer(self) -> Any:
        """That of the model."""

    def encode(self, row: Row) -> Features:
        """What the model reads of a row: `input_ids` and what its kind needs beside it.

        Raises:
            SpiderComposeError: the model cannot read this row.
        """

    def collate(self, encoded: Sequence[Features]) -> Mapping[str, torch.Tensor]:
        """One batch."""

    def read(self, sequences: torch.Tensor, encoded: Sequence[Features], source_length: int) -> list[str]:
        """The texts of what was generated."""


@dataclass(frozen=True)
class OwnGenerator:
    """One of the five: canonical text or tree, as in training."""

    model: Any
    tokenizer: Any
    data: ConfigData

    def encode(self, row: Row) -> Features:
        """See `Generator`."""
        schema = self.data.schemas.get(row["db_id"])
        form = self.model.config.source_form
        features: Features = self.tokenizer.encode_sql(
            row["query"], schema, dialect=self.data.dialect, form=form
        )
        return features

    def collate(self, encoded: Sequence[Features]) -> Mapping[str, torch.Tensor]:
        """See `Generator`."""
        return SQLToTextCollator(self.tokenizer, self.model.config.source_form)(encoded)

    def read(self, sequences: torch.Tensor, encoded: Sequence[Features], source_length: int) -> list[str]:
        """See `Generator`."""
        return decode(self.tokenizer, sequences.cpu().numpy(), encoded)


@dataclass(frozen=True)
class Seq2SeqGenerator:
    """T5, BART and their like: SQL as text, after a prefix."""

    model: Any
    tokenizer: Any
    data: ConfigData
    prefix: str
    is_canonical: bool

    def encode(self, row: Row) -> Features:
        """See `Generator`."""
        text = self.prefix + _sql(row, self.data, self.is_canonical)
        features = self.tokenizer(text)
        positions = getattr(self.model.config, "max_position_embeddings", None) or float("inf")
        most = min(self.tokenizer.model_max_length, positions)
        if len(features["input_ids"]) <= most:
            return {**features, CUT: False}
        return {**self.tokenizer(text, truncation=True, max_length=most), CUT: True}  # as in training

    def collate(self, encoded: Sequence[Features]) -> Mapping[str, torch.Tensor]:
        """See `Generator`."""
        padded: Mapping[str, torch.Tensor] = self.tokenizer.pad(
            [{name: row[name] for name in ("input_ids", "attention_mask")} for row in encoded],
            return_tensors="pt",
        )
        return padded

    def read(self, sequences: torch.Tensor, encoded: Sequence[Features], source_length: int) -> list[str]:
        """See `Generator`."""
        return decode(self.tokenizer, sequences.cpu().numpy(), encoded)


@dataclass(frozen=True)
class CausalGenerator:
    """A language model, asked with a prompt; of its answer the first line counts."""

    model: Any
    tokenizer: Any
    data: ConfigData
    settings: EvaluationSettings
    is_chat: bool

    def encode(self, row: Row) -> Features:
        """See `Generator`."""
        schema = self.data.schemas.get(row["db_id"])
        prompt = self.settings.prompt
        text = prompt.filled(
            {
                "query": _sql(row, self.data, self.settings.sql == "canonical"),
                "db_id": row["db_id"],
                "schema": _tables(schema) if prompt.needs_schema else "",
            }
        )
        if self.is_chat:
            ids = self._in_chat(text)
        else:
            ids = self.tokenizer(text)["input_ids"]
        positions = getattr(self.model.config, "max_position_embeddings", None) or float("inf")
        if len(ids) > positions - self.settings.max_new_tokens:
            raise UnreadableRowError(f"prompt and answer are longer than the model's {positions:,} positions")
        return {"input_ids": ids, "attention_mask": [1] * len(ids)}

    def _in_chat(self, text: str) -> Any:
        from jinja2 import TemplateError

        try:
            return self.tokenizer.apply_chat_template(
                [{"role": "user", "content": text}],
                add_generation_prompt=True,
                return_dict=False,
                sanitize_control_tokens=True,  # SQL is text, also where it spells the end of a turn
            )
        except (TemplateError, TypeError, ValueError) as error:
            raise OptionError(
                f"the model's chat template cannot be used (--no-chat goes without): {first_line(error)}"
            ) from error

    def collate(self, encoded: Sequence[Features]) -> Mapping[str, torch.Tensor]:
        """See `Generator`."""
        padded: Mapping[str, torch.Tensor] = self.tokenizer.pad(list(encoded), return_tensors="pt")
        return padded

    def read(self, sequences: torch.Tensor, encoded: Sequence[Features], source_length: int) -> list[str]:
        """See `Generator`."""
        texts = self.tokenizer.batch_decode(sequences[:, source_length:], skip_special_tokens=True)
        return [text.strip().split("\n", 1)[0].strip() for text in texts]


def make_generator(
    settings: EvaluationSettings, described: Described, model: Any, tokenizer: Any, data: ConfigData
) -> Generator:
    """The generator of a loaded model."""
    if described.kind == OWN:
        return OwnGenerator(model, tokenizer, data)
    if described.kind != CAUSAL:
        return Seq2SeqGenerator(
            model, tokenizer, data, settings.source_prefix, is_canonical=settings.sql != "written"
        )
    is_chat = bool(tokenizer.chat_template) if settings.chat is None else settings.chat
    if is_chat and not tokenizer.chat_template:
        raise OptionError(f"`chat` needs a chat template, but {described.identity.name} has none.")
    tokenizer.padding_side = "left"  # what is written follows the last token of the prompt
    tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token
    return CausalGenerator(model, tokenizer, data, settings, is_chat)


def prepare_generation(settings: EvaluationSettings, generator: Generator, kind: str) -> dict[str, Any]:
    """Set how the model searches, and return all of it that is not transformers' default.

    What its authors published beside the weights (a penalty on repetition, say) holds, but nothing is drawn
    at random.
    """
    wanted = generator.model.generation_config
    wanted.max_new_tokens, wanted.max_length = settings.max_new_tokens, None
    wanted.num_beams = settings.num_beams or (1 if kind == CAUSAL else DEFAULT_BEAMS)
    wanted.do_sample, wanted.num_return_sequences = False, 1
    for name in ("temperature", "top_p", "top_k", "min_p", "typical_p"):
        setattr(wanted, name, None)  # of sampling
    if wanted.num_beams == 1:
        wanted.early_stopping = wanted.length_penalty = None  # of beams
    if wanted.pad_token_id is None:
        wanted.pad_token_id = generator.tokenizer.pad_token_id
    held = wanted.to_diff_dict()
    return {
        name: held[name]
        for name in sorted(held)
        if name not in ("transformers_version", "_from_model_config")
    }


def generate(generator: Generator, encoded: Sequence[Features]) -> list[str]:
    """A text per row."""
    batch = {name: tensor.to(generator.model.device) for name, tensor in generator.collate(encoded).items()}
    with torch.inference_mode():
        sequences = generator.model.generate(**batch)
    return generator.read(sequences, encoded, batch["input_ids"].shape[1])


def _sql(row: Row, data: ConfigData, is_canonical: bool) -> str:
    if is_canonical:
        return canonical_sql(row["query"], data.schemas.get(row["db_id"]), data.dialect)
    query: str = row["query"]
    return query


def _tables(schema: Schema | None) -> str:
    """A table a line, with its columns."""
    if schema is None:
        raise UnreadableRowError("the prompt shows the schema, and the source has none for this database")
    return "\n".join(
        f"{table.name}({', '.join(column.name for column in table.columns)})" for table in schema.tables
    )
