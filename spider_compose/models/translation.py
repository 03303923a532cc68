"""SQL in, English out: `model.translate(sql)`, and `Translator`, called like a pipeline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import torch
from transformers import CONFIG_NAME

from spider_compose.errors import ClauseError, OptionError
from spider_compose.sql.schema import Schema
from spider_compose.tokenization.collator import SQLToTextCollator
from spider_compose.tokenization.tokenizer import SQLTokenizer

if TYPE_CHECKING:
    from spider_compose.models.sql_to_text import SQLToTextModel

DEFAULT_BATCH_SIZE = 32


class Translation:
    """What lets a model translate SQL by itself: it finds the tokenizer it was saved with."""

    _tokenizer: SQLTokenizer | None = None

    @property
    def tokenizer(self) -> SQLTokenizer:
        """The tokenizer, loaded from the folder or repository of the model when it is first asked for.

        Raises:
            OptionError: the model was not loaded from anywhere and was given no tokenizer, or was saved
                without one.
        """
        if self._tokenizer is None:
            name = getattr(self, "name_or_path", "")
            if not name:
                raise OptionError(
                    "this model has no tokenizer: it was made from a configuration. "
                    "Set `model.tokenizer`, or load the model from where it was saved with one."
                )
            self._tokenizer = _load_tokenizer(name)
        return self._tokenizer

    @tokenizer.setter
    def tokenizer(self, tokenizer: SQLTokenizer) -> None:
        self._tokenizer = tokenizer

    @overload
    def translate(self, sql: str, schema: Any = None, **options: Any) -> str: ...
    @overload
    def translate(self, sql: Sequence[str], schema: Any = None, **options: Any) -> list[str]: ...
    def translate(self, sql: str | Sequence[str], schema: Any = None, **options: Any) -> str | list[str]:
        """Say what one query, or several of one database, ask for.

        Args:
            sql: queries, or clauses of one.
            schema: a `Schema`, or an entry of Spider's `tables.json`; without one names are split into words.
            options: `dialect` and `batch_size` of `Translator`, and any argument of `generate`.

        Raises:
            ClauseError: a text is empty, too long or too deep, is not one query, or does not parse.
            OptionError: `dialect` or `schema` is not what it must be.
        """
        model: Any = self
        translator = Translator(model, self.tokenizer)
        return translator(sql, schema, **options)


class Translator:
    """A model with its tokenizer, called on SQL.

    translator = Translator.from_pretrained("path/of/a/model")
    translator("SELECT count(*) FROM singer")       'How many singers are there?'
    """

    def __init__(self, model: SQLToTextModel, tokenizer: SQLTokenizer) -> None:
        """Join them.

        Raises:
            OptionError: the model is none of the five, or has fewer pieces than the tokenizer.
        """
        if not hasattr(model.config, "source_form"):
            raise OptionError(f"expected a model that reads SQL, but got {type(model).__name__}.")
        if len(tokenizer) > model.config.vocab_size:
            raise OptionError(
                f"expected the tokenizer that the model was trained with, but got one of {len(tokenizer)} "
                f"pieces for a model of {model.config.vocab_size}."
            )
        self.model = model
        self.tokenizer = tokenizer
        self.collator = SQLToTextCollator(tokenizer, model.config.source_form)

    @classmethod
    def from_pretrained(cls, name_or_path: str, **options: Any) -> Translator:
        """Load a model and its tokenizer from a folder or from the Hub.

        Args:
            options: arguments of the model's `from_pretrained`, such as `device_map`.

        Raises:
            OptionError: it is the folder of a run, not of a model, or has no tokenizer.
        """
        from transformers import AutoModelForSeq2SeqLM

        check_model_folder(name_or_path)
        model = AutoModelForSeq2SeqLM.from_pretrained(name_or_path, **options)
        return cls(model, _load_tokenizer(name_or_path))

    @overload
    def __call__(self, sql: str, schema: Any = None, **options: Any) -> str: ...
    @overload
    def __call__(self, sql: Sequence[str], schema: Any = None, **options: Any) -> list[str]: ...
    @torch.no_grad()
    def __call__(
        self,
        sql: str | Sequence[str],
        schema: Schema | Mapping[str, Any] | None = None,
        *,
        dialect: str = "sqlite",
        batch_size: int = DEFAULT_BATCH_SIZE,
        **generation: Any,
    ) -> str | list[str]:
        """As `SQLToTextModel.translate`. The model's mode, training or not, is left as it was."""
        if isinstance(schema, Mapping):
            schema = Schema.from_tables_json(schema)
        if not isinstance(sql, str) and not (
            isinstance(sql, Sequence) and all(isinstance(query, str) for query in sql)
        ):
            raise OptionError(f"`sql` must be a text or a list of texts, but got {type(sql).__name__}.")
        if not isinstance(batch_size, int) or batch_size < 1:
            raise OptionError(f"`batch_size` must be at least 1, but got {batch_size}.")
        queries = [sql] if isinstance(sql, str) else list(sql)
        rows = []
        for number, query in enumerate(queries, 1):
            try:
                rows.append(
                    self.tokenizer.encode_sql(query, schema, dialect=dialect, form=self.collator.form)
                )
            except ClauseError as error:
                if isinstance(sql, str):
                    raise
                raise ClauseError(f"query {number} of {len(queries)}: {error}", error.position) from None
        texts: list[str] = []
        in_training = [module for module in self.model.modules() if module.training]
        self.model.eval()
        try:
            for start in range(0, len(rows), batch_size):
                batch = self.collator(rows[start : start + batch_size])
                batch = {name: tensor.to(self.model.device) for name, tensor in batch.items()}
                found: Any = self.model.generate(**batch, **generation)
                sequences = found if isinstance(found, torch.Tensor) else found.sequences
                several = len(sequences) // len(batch["input_ids"])  # num_return_sequences
                texts += [
                    self.tokenizer.decode_question(ids, rows[start + place // several]["slots"])
                    for place, ids in enumerate(sequences)
                ]
        finally:
            for module in in_training:
                module.training = True
        return texts[0] if isinstance(sql, str) and len(texts) == 1 else texts


def check_model_folder(name_or_path: str) -> None:
    """Tell the folder of a run from that of the model in it.

    Raises:
        OptionError: the model is in a folder of this folder.
    """
    folder = Path(name_or_path)
    if not (folder / CONFIG_NAME).is_file() and (folder / "model" / CONFIG_NAME).is_file():
        raise OptionError(f"{folder} is the folder of a run; its model is {folder / 'model'}")


def _load_tokenizer(name_or_path: str) -> SQLTokenizer:
    """The tokenizer in a model's folder or repository.

    Raises:
        OptionError: there is none.
    """
    try:
        tokenizer: SQLTokenizer = SQLTokenizer.from_pretrained(name_or_path)
    except (OSError, ValueError) as error:
        raise OptionError(
            f"no tokenizer can be loaded from {str(name_or_path)!r}: save it beside the model, with "
            "`tokenizer.save_pretrained` or `save_with_code`."
        ) from error
    return tokenizer
