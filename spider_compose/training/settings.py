"""Everything that moves a run: read from YAML and the command line, checked before anything is loaded."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from hashlib import sha256
from pathlib import Path
from typing import Any

from spider_compose.errors import OptionError, choose
from spider_compose.yaml_file import read_yaml_mapping, told_value

PAPER_MODELS = ("bilstm", "abs", "rel", "treelstm", "rgt")
"""The five encoders; any other name of a model is a folder or a Hub repository of a seq2seq model."""

EXPERIMENTS = {
    "compose": "compose",  # experiment 1: all training pairs
    "compose_no_overlap": "compose_no_overlap",  # experiment 2: none that shares a clause with the test split
    "compose_control": "compose",  # as many pairs dropped as in experiment 2, but at random
    "spider_template": "spider_template",
    "spider_tmcd": "spider_tmcd",
    "spider": "spider",
    "spider_length": "spider_length",
    "spider_random": "spider_random",
    "compose_paper": "compose_paper",
}
"""Experiment -> config of the dataset."""

MIXED_PRECISION = ("no", "bf16", "fp16")
SCHEDULES = ("inverse_sqrt", "linear", "cosine", "constant_with_warmup")

# Transformers diverge at the rate that suits an LSTM.
_LEARNING_RATES = {"bilstm": 3e-3, "treelstm": 3e-3, "abs": 2e-3, "rel": 2e-3, "rgt": 2e-3}
_PRETRAINED_LEARNING_RATE = 1e-4


@dataclass(frozen=True)
class TrainingSettings:
    """One run. The defaults are those of every report unless a configuration file says otherwise.

    Attributes:
        model: one of `PAPER_MODELS`, or a folder or Hub repository of a seq2seq model such as T5 or BART.
        size: preset of the five, "small" or "paper".
        model_options: fields of the model's configuration that replace the preset's.
        experiment: a key of `EXPERIMENTS`.
        source: where the pairs come from, as in `load_dataset("spider_compose", source=...)`.
        source_options: further options of `load_dataset`, such as `dialect` or `aligner`.
        seed: of initialisation, order of the batches, dropout, and the pairs that a control drops.
        epochs: passes over the training pairs at most.
        patience: epochs without a better BLEU on validation before training stops; 0 never stops early.
        batch_size: pairs per device and step.
        gradient_accumulation: steps that are added up before weights move.
        learning_rate: the highest; None takes 3e-3 for the LSTMs, 2e-3 for the transformers, 1e-4 for models
            of the Hub.
        schedule: what the rate does after `warmup_steps`: "inverse_sqrt" falls slowly, whatever the number of
            epochs, and suits stopping early; "linear" and "cosine" fall to 0 at the last epoch.
        weight_decay: of AdamW.
        max_grad_norm: length that longer gradients are cut to; 0 cuts none.
        label_smoothing: share of the loss spread over the vocabulary, in [0, 1).
        vocab_size: pieces of the tokenizer that is trained on the training split (not for models of the Hub).
        validation_items: validation pairs that choose the best epoch, drawn with a fixed seed; 0 takes all.
        num_beams: beams for the test split; validation is greedy.
        max_new_tokens: pieces of an output at most.
        source_prefix: text before the SQL, for models of the Hub alone.
        mixed_precision: "no", "bf16" or "fp16", on CUDA devices alone.
        processes: processes that must take part, or None for any number. `accelerate launch --cpu
            --num_processes 2` runs one without a word; this makes it an error.
        report_to: "tensorboard" and "trackio", or nothing.
    """

    model: str = "bilstm"
    size: str = "small"
    model_options: Mapping[str, Any] = field(default_factory=dict)
    experiment: str = "compose"
    source: str = "bundled"
    source_options: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 1
    epochs: int = 30
    patience: int = 4
    batch_size: int = 64
    gradient_accumulation: int = 1
    learning_rate: float | None = None
    schedule: str = "inverse_sqrt"
    warmup_steps: int = 400
    weight_decay: float = 0.0
    max_grad_norm: float = 1.0
    label_smoothing: float = 0.0
    vocab_size: int = 2500
    validation_items: int = 400
    num_beams: int = 4
    max_new_tokens: int = 100
    source_prefix: str = ""
    mixed_precision: str = "no"
    processes: int | None = None
    report_to: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Check every value.

        Raises:
            OptionError: a value is outside its range.
        """
        choose("experiment", self.experiment, EXPERIMENTS)
        choose("size", self.size, ("small", "paper"))
        choose("schedule", self.schedule, SCHEDULES)
        choose("mixed_precision", self.mixed_precision, MIXED_PRECISION)
        for tracker in self.report_to:
            choose("report_to", tracker, ("tensorboard", "trackio"))
        for name, (least, most) in _RANGES.items():
            if getattr(self, name) is not None or name not in _MAY_BE_NONE:
                _check_number(name, getattr(self, name), least, most)
        if not 0 <= self.label_smoothing < 1:
            raise OptionError(f"`label_smoothing` must be in [0, 1), but got {self.label_smoothing!r}.")
        for name in ("model", "source"):
            value = getattr(self, name)
            if not isinstance(value, str) or not value or "\0" in value:
                raise OptionError(f"`{name}` must be a name, but got {told_value(value)}.")
        if not isinstance(self.source_prefix, str):
            raise OptionError(f"`source_prefix` must be a text, but got {told_value(self.source_prefix)}.")
        for name in ("model_options", "source_options"):
            _check_options(name, getattr(self, name))
        if not self.is_paper_model and self.model_options:
            raise OptionError(
                f"`model_options` are fields of the five models' configurations ({', '.join(PAPER_MODELS)}); "
                f"{self.model!r} brings its own configuration."
            )
        if self.is_paper_model and self.source_prefix:
            raise OptionError("`source_prefix` is for models of the Hub; the five models read SQL alone.")

    @property
    def is_paper_model(self) -> bool:
        """Whether it is one of the five."""
        return self.model in PAPER_MODELS

    @property
    def rate(self) -> float:
        """The highest learning rate."""
        if self.learning_rate is not None:
            return self.learning_rate
        return _LEARNING_RATES.get(self.model, _PRETRAINED_LEARNING_RATE)

    @property
    def config(self) -> str:
        """The dataset's config that the experiment reads."""
        return EXPERIMENTS[self.experiment]

    def to_dict(self, source: bool = True) -> dict[str, Any]:
        """As plain JSON; what moves no number (`processes`, `report_to`) is left out.

        Args:
            source: keep `source`, which may be a folder's path; reports have its rows' signature instead.
        """
        given = asdict(self) | {"learning_rate": self.rate}
        for name in ("processes", "report_to", *([] if source else ["source"])):
            del given[name]
        return {name: dict(value) if isinstance(value, Mapping) else value for name, value in given.items()}

    def digest(self) -> str:
        """A short hash of everything that moves a number, but the source: signatures name its rows."""
        text = json.dumps(self.to_dict(source=False), sort_keys=True, default=str)
        return sha256(text.encode()).hexdigest()[:12]

    @classmethod
    def from_mapping(cls, given: Mapping[str, Any], where: str = "settings") -> TrainingSettings:
        """Settings from a parsed file.

        Args:
            where: the file's name, for messages.

        Raises:
            OptionError: an unknown name, or a value outside its range.
        """
        names = [entry.name for entry in fields(cls)]
        try:
            for name in given:
                choose("setting", name, names)
            values = dict(given)
            if values.get("mixed_precision") is False:  # YAML's `no`
                values["mixed_precision"] = "no"
            if "report_to" in values:
                values["report_to"] = _trackers(values["report_to"])
            return cls(**values)
        except OptionError as error:
            raise OptionError(f"{where}: {error}") from None


_MOST = 2**31 - 1
"""Of whole numbers, where nothing else sets the bound: what the libraries count in."""

_RANGES: dict[str, tuple[float, float]] = {
    "seed": (0, 2**32 - 1),  # numpy's
    "epochs": (1, _MOST), "patience": (0, _MOST), "batch_size": (1, _MOST),
    "gradient_accumulation": (1, _MOST), "warmup_steps": (0, _MOST), "vocab_size": (323, _MOST),
    "validation_items": (0, _MOST), "num_beams": (1, _MOST), "max_new_tokens": (1, _MOST),
    "processes": (1, _MOST), "learning_rate": (0.0, float("inf")), "weight_decay": (0.0, float("inf")),
    "max_grad_norm": (0.0, float("inf")), "label_smoothing": (0.0, float("inf")),
}  # fmt: skip
_MAY_BE_NONE = {"processes", "learning_rate"}

# `source_options` may not say what settings say themselves.
_SAID_ELSEWHERE = {"source": "source", "config_name": "experiment", "name": "experiment"}


def _check_number(name: str, value: Any, least: float, most: float) -> None:
    kinds = (int,) if isinstance(least, int) else (int, float)
    if isinstance(value, bool) or not isinstance(value, kinds) or not least <= value < float("inf"):
        kind = "a whole number" if kinds == (int,) else "a number"
        raise OptionError(f"`{name}` must be {kind} of at least {least}, but got {told_value(value)}.")
    if value > most:
        raise OptionError(f"`{name}` must be at most {most:,}, but got {told_value(value)}.")


def _check_options(name: str, value: Any) -> None:
    if not isinstance(value, Mapping):
        raise OptionError(f"`{name}` must be a mapping, but got {told_value(value)}.")
    for option, given in value.items():
        if not isinstance(option, str):
            raise OptionError(f"`{name}`: an option's name must be a text, but got {told_value(option)}.")
        if name == "source_options" and option in _SAID_ELSEWHERE:
            raise OptionError(
                f"`source_options` must not hold {option!r}: the setting `{_SAID_ELSEWHERE[option]}` says it."
            )
        try:
            json.dumps(given, allow_nan=False)
        except (TypeError, ValueError, RecursionError):
            raise OptionError(
                f"`{name}`: {option!r} must be a number, text, list or mapping, but got {told_value(given)}."
            ) from None


def _trackers(value: Any) -> tuple[Any, ...]:
    """The trackers of `report_to`: a name or a list of them; nothing, `no` and `none` are none."""
    if value in (None, False):
        return ()
    if not isinstance(value, (str, list, tuple)):
        raise OptionError(f"`report_to` must be a list of trackers, but got {told_value(value)}.")
    return tuple(name for name in ([value] if isinstance(value, str) else value) if name != "none")


def read_settings(path: str | Path | None, **given: Any) -> TrainingSettings:
    """Settings from a YAML file, with those given by hand in their place.

    Args:
        path: the file; None for the defaults alone.
        given: settings by name; None leaves the file's.

    Raises:
        OptionError: the file is missing, is no YAML mapping, or holds a bad setting.
    """
    loaded = {} if path is None else read_yaml_mapping(path, "settings")
    chosen = {name: value for name, value in given.items() if value is not None}
    return TrainingSettings.from_mapping({**loaded, **chosen}, str(path or "settings"))
