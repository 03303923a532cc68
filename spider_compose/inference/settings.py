"""Everything that moves an evaluation, checked before anything is loaded."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from pathlib import PurePath
from typing import Any

from spider_compose.dataset.configs import CONFIGS, DEFAULT_CONFIG, SPLITS
from spider_compose.errors import OptionError, choose
from spider_compose.evaluation.prompt import Prompt

DTYPES = ("float32", "bfloat16", "float16")
SQL_FORMS = ("canonical", "written")

DEFAULT_BEAMS = 4
"""As in training; a causal model takes one beam."""


@dataclass(frozen=True)
class EvaluationSettings:
    """One model on one split. What is None takes what suits the kind of the model.

    Attributes:
        model: a folder, or a repository on the Hub.
        revision: of the model on the Hub: commit, branch or tag.
        gguf_file: name of a GGUF file in it, which transformers unpacks.
        config: of the dataset.
        split: of the config.
        source: where the pairs come from, as in `load_dataset("spider_compose", source=...)`.
        source_options: further options of `load_dataset`, such as `dialect`.
        limit: rows at most, drawn with a fixed seed; None takes all.
        batch_size: rows at a time. Moves a number in the last digits of a score at most, through padding.
        num_beams: None takes 4, and 1 for causal models.
        max_new_tokens: pieces of an output at most.
        source_prefix: text before the SQL, for seq2seq models of the Hub.
        prompt: for causal models.
        chat: put the prompt into the model's chat template; None does so where it has one.
        sql: what models of the Hub read, "canonical" or as "written"; None takes canonical for seq2seq
            models, which is what training gives them, and written for causal ones.
        device: as "cpu" or "cuda:0"; None takes the first accelerator.
        dtype: of the weights.
    """

    model: str
    revision: str | None = None
    gguf_file: str | None = None
    config: str = DEFAULT_CONFIG
    split: str = "test"
    source: str = "bundled"
    source_options: Mapping[str, Any] = field(default_factory=dict)
    limit: int | None = None
    batch_size: int = 32
    num_beams: int | None = None
    max_new_tokens: int = 100
    source_prefix: str = ""
    prompt: Prompt = field(default_factory=Prompt.read)
    chat: bool | None = None
    sql: str | None = None
    device: str | None = None
    dtype: str = "float32"

    def __post_init__(self) -> None:
        """Check every value.

        Raises:
            OptionError: a value is outside its range.
        """
        if not self.model:
            raise OptionError("`model` must be a folder or a repository on the Hub, but got an empty text.")
        # `alignment` has rows of another kind: one per source pair, nothing to generate from.
        choose("config", self.config, [name for name, spec in CONFIGS.items() if spec.kind == "pairs"])
        choose("split", self.split, SPLITS)
        choose("dtype", self.dtype, DTYPES)
        if self.sql is not None:
            choose("sql", self.sql, SQL_FORMS)
        for name in ("limit", "batch_size", "num_beams", "max_new_tokens"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise OptionError(f"`{name}` must be at least 1, but got {value}.")

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON, for reports: without the paths of this machine."""
        given = asdict(self) | {"prompt": self.prompt.text}
        if "schemas" in self.source_options:
            name = PurePath(self.source_options["schemas"]).name
            given["source_options"] = {**self.source_options, "schemas": name}
        return {
            name: dict(value) if isinstance(value, Mapping) else value
            for name, value in given.items()
            if name not in ("model", "source")
        }

    def digest(self) -> str:
        """A short hash of all that moves a number, but for model and source: signatures name those."""
        return sha256(json.dumps(self.to_dict(), sort_keys=True, default=str).encode()).hexdigest()[:12]
