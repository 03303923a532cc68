"""The grid: a YAML file that says which cells there are, in which order, and with which settings.

```yaml
command: [python, -m, spider_compose.training]   # the training program; this is the default
config: configs/{model}_small.yaml               # settings of every cell: a file beside this one, and
settings: {epochs: 50}                           # single ones that go before it
models: [bilstm, rgt]                            # of blocks that name none; default: the paper's five
cells:
  - {experiments: [compose, compose_no_overlap], seeds: [1]}
  - {experiments: [spider], seeds: [1, 2], models: [rgt], settings: {epochs: 30}}
```

Blocks are run from the top; in a block, seed after seed, experiment after experiment, model after model.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from spider_compose.errors import OptionError, choose
from spider_compose.experiments.cells import EXPERIMENTS, MODELS, Cell, Identity
from spider_compose.experiments.reports import is_text
from spider_compose.yaml_file import read_yaml_mapping, told_value

COMMAND = ("python", "-m", "spider_compose.training")
"""The training program; `python` stands for the interpreter that runs the grid."""

LARGEST_SEED = 2**32 - 1
"""What generators of random numbers take (numpy's)."""

_KEYS = ("command", "config", "settings", "models", "cells")
_BLOCK_KEYS = ("experiments", "seeds", "models", "settings")

# The cell says these; as a setting they could say something else. `--source` is the same for all cells.
_OF_THE_CELL = ("model", "experiment", "seed")
_SAID_ELSEWHERE = {**dict.fromkeys(_OF_THE_CELL, "the cell"), "source": "`--source`"}


@dataclass(frozen=True)
class Grid:
    """What a grid file says.

    Attributes:
        path: the file.
        cells: in the order they are run.
        command: the training program and its first arguments.
    """

    path: Path
    cells: tuple[Cell, ...]
    command: tuple[str, ...] = COMMAND

    def only(self, conditions: Mapping[str, Sequence[str]]) -> tuple[Cell, ...]:
        """The cells that meet all conditions.

        Args:
            conditions: values by name, such as `{"model": ["rgt", "abs"]}`; one of them must hold.

        Raises:
            OptionError: no cell of the grid has such a value.
        """
        for name, values in conditions.items():
            choose("only", name, _OF_THE_CELL)
            known = list(dict.fromkeys(str(getattr(cell.identity, name)) for cell in self.cells))
            for value in values:
                choose(f"only {name}", value, known)
        return tuple(
            cell
            for cell in self.cells
            if all(str(getattr(cell.identity, name)) in values for name, values in conditions.items())
        )


def read_grid(path: str | Path) -> Grid:
    """Read a grid file.

    Raises:
        OptionError: it is not there, is no YAML, or holds what a grid has no place for.
        MissingExtraError: no YAML reader is installed.
    """
    path = Path(path)
    content = read_yaml_mapping(path, "a grid")
    _refuse_unknown(path, "", content, _KEYS)
    models = _models(path, "models", content.get("models", list(MODELS)))
    settings = _settings(path, "settings", content.get("settings", {}))
    blocks = content.get("cells")
    if not isinstance(blocks, list) or not blocks:
        raise OptionError(f"{path}: `cells` must be a list of blocks, but got {told_value(blocks)}.")
    configs = {model: _config(path, content.get("config"), model) for model in models}
    cells: dict[str, Cell] = {}
    for number, block in enumerate(blocks, start=1):
        where = f"cells, block {number}"
        if not isinstance(block, Mapping):
            raise OptionError(
                f"{path}: {where}: a mapping with experiments and seeds, got {told_value(block)}."
            )
        _refuse_unknown(path, where, block, _BLOCK_KEYS)
        if missing := [key for key in ("experiments", "seeds") if key not in block]:
            raise OptionError(f"{path}: {where}: `{missing[0]}` is missing.")
        own = _settings(path, f"{where}, settings", block.get("settings", {}))
        in_block = _models(path, f"{where}, models", block.get("models", models))
        for model in in_block:
            if model not in configs:
                configs[model] = _config(path, content.get("config"), model)
        for identity in _identities(path, where, block, in_block):
            # By name: models that differ in signs alone would share a folder.
            if identity.name in cells:
                raise OptionError(f"{path}: {where}: {identity.name} stands in the grid twice.")
            cells[identity.name] = Cell(identity, {**configs[identity.model], **settings, **own})
    return Grid(path, tuple(cells.values()), _command(path, content.get("command", list(COMMAND))))


def _identities(
    path: Path, where: str, block: Mapping[str, Any], models: Sequence[str]
) -> Iterable[Identity]:
    experiments = _list(path, f"{where}, experiments", block["experiments"])
    for name in experiments:
        _choose(path, f"{where}, experiments", name, EXPERIMENTS)
    seeds = _list(path, f"{where}, seeds", block["seeds"])
    for seed in seeds:
        if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed <= LARGEST_SEED:
            raise OptionError(
                f"{path}: {where}, seeds: whole numbers, 0 to {LARGEST_SEED}, but got {told_value(seed)}."
            )
    for seed in seeds:
        for experiment in experiments:
            for model in models:
                yield Identity(model, experiment, seed)


def _models(path: Path, where: str, value: Any) -> list[str]:
    models = _list(path, where, value)
    for model in models:
        # A folder or a model of the Hub has a slash; what has none is one of the five, or a slip of the pen.
        if not (isinstance(model, str) and "/" in model):
            _choose(path, where, model, MODELS)
        _refuse_unspeakable(path, where, model)
    return models


def _choose(path: Path, where: str, value: Any, valid: Iterable[str]) -> None:
    try:
        choose(where, value, valid)
    except OptionError as error:
        raise OptionError(f"{path}: {error}") from None


def _list(path: Path, where: str, value: Any) -> list[Any]:
    if not isinstance(value, list) or not value:
        raise OptionError(
            f"{path}: `{where}` must be a list with something in it, but got {told_value(value)}."
        )
    return value


def _command(path: Path, value: Any) -> tuple[str, ...]:
    words = _list(path, "command", value)
    if not all(isinstance(word, str) for word in words):
        raise OptionError(f"{path}: `command` must be a list of words, but got {told_value(value)}.")
    for word in words:
        _refuse_unspeakable(path, "command", word)
    return tuple(words)


def _refuse_unspeakable(path: Path, where: str, word: str) -> None:
    """Refuse a word that no program can be given: with a null, or half a character."""
    if "\0" in word or not is_text(word):
        raise OptionError(
            f"{path}: `{where}`: no program can be given {told_value(word)}. Write it otherwise."
        )


def _settings(path: Path, where: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise OptionError(f"{path}: `{where}` must be names and values, but got {told_value(value)}.")
    if not is_text(value):
        raise OptionError(f"{path}: `{where}` holds half a character, which no file in UTF-8 can hold.")
    if named := [key for key in _SAID_ELSEWHERE if key in value]:
        raise OptionError(
            f"{path}: {where}: `{named[0]}` is said by {_SAID_ELSEWHERE[named[0]]}, not by a setting."
        )
    return dict(value)


def _config(path: Path, value: Any, model: str) -> dict[str, Any]:
    """Settings of a model from the file that `config` names; what is said elsewhere is passed over."""
    if value is None:
        return {}
    if not isinstance(value, str):
        raise OptionError(f"{path}: `config` must be a file's name, but got {told_value(value)}.")
    file = path.parent / value.replace("{model}", model.replace("/", "_"))
    content = read_yaml_mapping(file, "settings")
    kept = {key: item for key, item in content.items() if key not in _SAID_ELSEWHERE}
    return _settings(file, "settings", kept)


def _refuse_unknown(path: Path, where: str, mapping: Mapping[Any, Any], known: Sequence[str]) -> None:
    for key in mapping:
        if key not in known:
            near = get_close_matches(str(key), known, n=1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            place = f"{where}: " if where else ""
            raise OptionError(f"{path}: {place}unknown key {key!r}; there are {', '.join(known)}.{hint}")
