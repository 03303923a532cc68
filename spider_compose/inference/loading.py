"""A model from a folder or from the Hub: which kind it is, whether it may be run here, and what it is."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any

from spider_compose.errors import MissingExtraError, OptionError
from spider_compose.evaluation.prompt import Prompt
from spider_compose.inference.settings import EvaluationSettings

OWN, SEQ2SEQ, CAUSAL = "sql-to-text", "seq2seq", "causal"
"""Kinds of models: the five, other encoders with decoders, decoders alone."""

_DESCRIBING = ("*.json", "*.safetensors", "*.model", "*.txt", "*.jinja")
"""Files of a model's folder that move what it writes; `gguf_file` is added where one is named."""


_LONGEST_LINE = 300
"""Characters of an error: torch lists all that it can do."""

_SAID = {"model": str, "experiment": str, "seed": int, "training": dict, "signature": str}
"""What is taken from the report of a training."""


@dataclass(frozen=True)
class Identity:
    """Which model it is, wherever it lies.

    Attributes:
        name: on the Hub, or of the folder, or of the training that made it.
        version: commit on the Hub, or a hash of the folder's files.
        training: the report of the run that made it, where that lies beside it; empty otherwise.
    """

    name: str
    version: str
    training: dict[str, Any]


@dataclass(frozen=True)
class Described:
    """A model that has not been loaded yet."""

    identity: Identity
    config: Any
    kind: str


def describe(settings: EvaluationSettings) -> Described:
    """Read a model's configuration, and nothing of its weights but their hash.

    Raises:
        OptionError: there is no such model, it is the folder of a run, or it needs code of its own.
        MissingExtraError: torch or transformers is missing.
    """
    # Registers the five, and says what is missing where transformers is: it comes first.
    import_module("spider_compose.models")
    from transformers import AutoConfig

    from spider_compose.models.translation import check_model_folder

    folder = Path(settings.model)
    if folder.exists() and not folder.is_dir():
        raise OptionError(f"`model` must be a folder or a repository on the Hub, but {folder} is a file.")
    check_model_folder(settings.model)
    try:
        config = AutoConfig.from_pretrained(settings.model, **_where(settings))
    except Exception as error:  # whatever a library makes of a file that anyone may have written
        raise _unloadable(settings.model, error) from None
    if hasattr(config, "source_form"):
        kind = OWN
    else:
        kind = SEQ2SEQ if getattr(config, "is_encoder_decoder", False) else CAUSAL
    _check_options(settings, kind)
    if folder.is_dir():
        identity = _of_folder(folder, settings.gguf_file)
    else:
        identity = Identity(settings.model, str(getattr(config, "_commit_hash", None) or "main"), {})
    return Described(identity, config, kind)


def load(settings: EvaluationSettings, described: Described, device: Any) -> tuple[Any, Any]:
    """The model, ready to generate, and its tokenizer.

    Raises:
        OptionError: the weights are missing, are pickles, or are not those of a model that generates.
    """
    import torch
    from transformers import AutoModelForCausalLM, AutoModelForSeq2SeqLM, AutoTokenizer

    auto = AutoModelForCausalLM if described.kind == CAUSAL else AutoModelForSeq2SeqLM
    # Safetensors alone: a pickle runs what its author wrote when it is opened.
    weights = {} if settings.gguf_file else {"use_safetensors": True}
    try:
        tokenizer = AutoTokenizer.from_pretrained(settings.model, **_where(settings))
        model, found = auto.from_pretrained(
            settings.model,
            dtype=getattr(torch, settings.dtype),
            output_loading_info=True,
            **weights,
            **_where(settings),
        )
    except Exception as error:  # of tokenizers and safetensors too, which have no base of their own
        raise _unloadable(settings.model, error) from None
    if lost := sorted(found["missing_keys"]):
        raise OptionError(
            f"{described.identity.name} is no model that writes text: its files lack {len(lost)} of the "
            f"weights that {type(model).__name__} needs, {lost[0]!r} among them."
        )
    return model.to(device).eval(), tokenizer


def choose_device(name: str | None) -> Any:
    """The device of a name, or the first accelerator.

    Raises:
        OptionError: this machine has no such device.
    """
    import torch

    if name is None:
        accelerators = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
        name = next((kind for kind, there in accelerators.items() if there), "cpu")
    try:
        device = torch.device(name)
        torch.empty(1, device=device).tolist()  # not on "meta", which holds no numbers
    except Exception as error:  # some kinds want a module of their own
        raise OptionError(
            f"`device` must be one of this machine, but {name!r} is not: {first_line(error)}"
        ) from None
    return device


def _where(settings: EvaluationSettings) -> dict[str, Any]:
    given = {"revision": settings.revision, "gguf_file": settings.gguf_file}
    return {name: value for name, value in given.items() if value is not None}


def _check_options(settings: EvaluationSettings, kind: str) -> None:
    """Options that would do nothing are refused."""
    if settings.source_prefix and kind != SEQ2SEQ:
        raise OptionError(f"`source_prefix` is for seq2seq models of the Hub; {settings.model} is {kind}.")
    if settings.sql is not None and kind == OWN:
        raise OptionError("`sql` is for models of the Hub; the five read the query's canonical text or tree.")
    if kind != CAUSAL and (settings.chat is not None or settings.prompt != Prompt.read()):
        raise OptionError(f"a prompt is for causal models; {settings.model} is {kind}.")


def _of_folder(folder: Path, gguf_file: str | None) -> Identity:
    found = {path for pattern in _DESCRIBING for path in folder.glob(pattern)}
    files = sorted(path for path in found if path.name != "report.json")  # published with it, moves no text
    if gguf_file:
        files.append(folder / gguf_file)
    digest = sha256()
    for path in files:
        digest.update(path.name.encode())
        with path.open("rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
    training = _training_report(folder)
    name = str(training.get("model") or folder.resolve().name)
    if gguf_file:
        name = gguf_file.removesuffix(".gguf")
    return Identity(name, digest.hexdigest()[:12], training)


def _training_report(folder: Path) -> dict[str, Any]:
    """The report of the training that made it: beside the `model` folder of a run, or published with it."""
    folder = folder.resolve()
    beside = [folder.parent / "report.json"] if folder.name == "model" else []
    for path in (*beside, folder / "report.json"):
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            continue
        if isinstance(found, dict) and all(isinstance(found.get(name), kind) for name, kind in _SAID.items()):
            return found
    return {}


def _unloadable(model: str, error: Exception) -> OptionError | MissingExtraError:
    reason = first_line(error)
    if isinstance(error, ImportError):
        return MissingExtraError(f"{model} cannot be loaded: {reason}")
    if "trust_remote_code" in str(error):
        reason = "it needs code of its own, which is not run here"
    elif "safetensors" in str(error):
        reason = (
            "it has no weights in safetensors, and pickles are not opened here. Convert it: "
            "https://huggingface.co/spaces/safetensors/convert"
        )
    return OptionError(
        f"`model` must be a folder or a repository on the Hub with a model, but {model!r} "
        f"cannot be loaded: {reason}"
    )


def first_line(error: Exception) -> str:
    """What a library says of an error, in one line that can be read."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    line = re.sub(r"\s+", " ", lines[0])
    return line if len(line) <= _LONGEST_LINE else f"{line[:_LONGEST_LINE]} ..."
