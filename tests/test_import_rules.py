"""The layers of the package: who may import whom, read from the source with `ast`."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent
PACKAGE = "spider_compose"

# What each part of the package may import of the others, itself always included. A chain of layers, each
# knowing those below it, and beside it branches that know nothing of the dataset.
CHAIN = ["errors", "yaml_file", "language", "sql", "source", "alignment", "composition", "splits", "dataset"]
ALLOWED: dict[str, set[str]] = {part: set(CHAIN[:place]) for place, part in enumerate(CHAIN)} | {
    "tokenization": {"errors", "sql"},
    "models": {"errors", "sql", "tokenization"},
    "evaluation": {"errors", "sql", "alignment"},  # alignment: which words say a clause
    "experiments": {"errors", "yaml_file", "sql", "evaluation"},
    "inference": {*CHAIN, "tokenization", "models", "evaluation"},
    "training": {*CHAIN, "tokenization", "models", "evaluation", "inference"},
    "stef": {"errors", "language", "sql", "page", "terminal"},
    "page": set(),
    "terminal": set(),  # what the two programs share
    # prompt, cards and reports, the metric and its demonstration, markup of the Spaces
    "hub": {"errors", "evaluation", "experiments", "stef", "page"},
    "__main__": {"cli"},
    "cli": {
        *CHAIN,
        "tokenization",
        "models",
        "evaluation",
        "experiments",
        "inference",
        "stef",
        "page",
        "terminal",
        "hub",
    },
}

# Programs stand on the package, never the other way round. `python -m spider_compose` is the one door to cli.
NEVER_IMPORTED = {f"{PACKAGE}.cli", "trainers", "metrics", "loading_script"}
DOOR = f"{PACKAGE}.__main__"

# Heavy or framework libraries, and the only places that know them (module names and their children).
CONFINED: dict[str, set[str]] = {
    "torch": {
        f"{PACKAGE}.tokenization.collator",
        f"{PACKAGE}.models",
        f"{PACKAGE}.inference",
        f"{PACKAGE}.training",
        f"{PACKAGE}.stef.judges.local",
        "trainers",
        "benchmarks.models",
        "benchmarks.peers.opennmt_lstm",
    },
    "datasets": {
        f"{PACKAGE}.dataset",
        f"{PACKAGE}.stef.monitoring.hub_log",
        "loading_script",
        "trainers",
        "metrics",  # features
    },
    "evaluate": {"metrics"},
    "gradio": {f"{PACKAGE}.hub.spaces"},
    "ray": {f"{PACKAGE}.stef.ray", "benchmarks.monitoring"},
}

VAGUE = {"util", "utils", "helper", "helpers", "common", "misc"}


@dataclass(frozen=True)
class Import:
    """One imported module, absolute, with the line that asks for it."""

    name: str
    line: int


def within(module: str, place: str) -> bool:
    """Whether `module` is `place` or lies in it."""
    return module == place or module.startswith(place + ".")


def imports(source: str, module: str, is_package: bool = False) -> Iterator[Import]:
    """All imports of a module, inside functions and under TYPE_CHECKING too.

    `from a import b` counts as `a.b`, because b may be a module.
    """
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(alias.name, node.lineno)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parents = module.split(".")
                parents = parents[: len(parents) - node.level + is_package]
                base = ".".join([*parents, base] if base else parents)
            for alias in node.names:
                yield Import(base if alias.name == "*" else f"{base}.{alias.name}", node.lineno)
        elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            # importlib.import_module("x"), __import__("x"): the lazy doors.
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if name in {"import_module", "__import__"} and isinstance(node.args[0].value, str):
                yield Import(node.args[0].value, node.lineno)


def violations(source: str, module: str, is_package: bool = False) -> list[str]:
    """What a module imports against the rules, one sentence each."""
    found = [f"{module}: name it after what it holds" for part in module.split(".") if part in VAGUE]
    own = module.split(".")[1] if within(module, PACKAGE) and "." in module else None
    if own is not None and own not in ALLOWED:
        found.append(f"{module}: {own} has no place in the layers; give it one in {Path(__file__).name}")
    for imported in imports(source, module, is_package):
        where = f"{module}:{imported.line} imports {imported.name}"
        if within(imported.name, PACKAGE) and "." in imported.name:
            other = imported.name.split(".")[1]
            if own in ALLOWED and other in ALLOWED and other not in {own, *ALLOWED[own]}:
                found.append(f"{where}: {own} may import {sorted(ALLOWED[own]) or 'nothing'} of {PACKAGE}")
        for program in NEVER_IMPORTED:
            if within(imported.name, program) and not within(module, program) and module != DOOR:
                found.append(f"{where}: nothing imports {program}")
        for library, places in CONFINED.items():
            if within(imported.name, library) and not any(within(module, place) for place in places):
                found.append(f"{where}: {library} belongs in {sorted(places)}")
    return found


def modules() -> Iterable[tuple[str, bool, Path]]:
    """Every module outside the tests: its dotted name, whether it is a package, and its file."""
    for folder in (PACKAGE, "loading_script", "metrics", "trainers", "benchmarks"):
        for path in sorted((REPOSITORY / folder).rglob("*.py")):
            parts = path.relative_to(REPOSITORY).with_suffix("").parts
            is_package = parts[-1] == "__init__"
            yield ".".join(parts[:-1] if is_package else parts), is_package, path


def test_layers_are_kept() -> None:
    checked = [(violations(path.read_text("utf-8"), name, package)) for name, package, path in modules()]
    assert len(checked) > 10, "the walk over the repository finds too few modules"
    assert not (broken := [line for lines in checked for line in lines]), "\n".join(broken)


def test_library_names_are_not_shadowed() -> None:
    """A top-level script named like a library would be found before it when run from its folder."""
    taken = {*sys.stdlib_module_names, "datasets", "evaluate", "spider_compose", "spacy", "sqlglot", "torch"}
    programs = [path for name, _, path in modules() if not within(name, PACKAGE)]
    assert not (shadows := [str(path) for path in programs if path.stem in taken - {"__init__"}]), shadows


# Made-up modules that break one rule each: the checker must see every one of them, and say why.
BROKEN = [
    # upwards in the chain, by every form of import
    ("spider_compose.sql.clauses", "from spider_compose.source import read_source", "sql may import"),
    ("spider_compose.source.spider", "import spider_compose.dataset.builder", "source may import"),
    ("spider_compose.sql.clauses", "from spider_compose import dataset", "sql may import"),
    ("spider_compose.alignment.evidence", "from ..splits import compose", "alignment may import"),
    ("spider_compose.splits.text", "def f():\n import spider_compose.dataset", "splits may import"),
    ("spider_compose.sql.x", "import_module('spider_compose.splits')", "sql may import"),
    ("spider_compose.errors", "from spider_compose.sql import schema", "errors may import nothing"),
    # branches that know nothing of the dataset
    ("spider_compose.stef.score", "import spider_compose.source", "stef may import"),
    ("spider_compose.stef.score", "from spider_compose.alignment import words", "stef may import"),
    ("spider_compose.language", "from spider_compose.sql import schema", "language may import"),
    ("spider_compose.evaluation.bleu", "import spider_compose.dataset", "evaluation may import"),
    # programs
    ("spider_compose.dataset.card", "from spider_compose.cli import main", "nothing imports"),
    ("spider_compose", "from spider_compose import cli", "nothing imports spider_compose.cli"),
    ("spider_compose.dataset.x", "import loading_script.load", "nothing imports loading_script"),
    ("spider_compose.stef.score", "from metrics import stef", "nothing imports metrics"),
    ("spider_compose.models.auto", "import trainers", "nothing imports trainers"),
    # libraries outside their place
    ("spider_compose.composition.records", "import datasets", "datasets belongs in"),
    ("spider_compose.stef.monitoring.log", "import datasets", "datasets belongs in"),
    ("spider_compose.stef.monitoring.run", "import ray.data", "ray belongs in"),
    ("spider_compose.cli.build", "from datasets import load_dataset", "datasets belongs in"),
    ("spider_compose.evaluation.bleu", "import evaluate", "evaluate belongs in"),
    ("spider_compose.dataset.builder", "import torch.nn as nn", "torch belongs in"),
    ("spider_compose.tokenization.tokenizer", "from torch import Tensor", "torch belongs in"),
    # names
    ("spider_compose.sql.utils", "", "name it after what it holds"),
    ("spider_compose.common.text", "", "name it after what it holds"),
    ("spider_compose.extras.text", "", "has no place in the layers"),
]

KEPT = [
    ("spider_compose.splits.compose", "from spider_compose.composition.records import Pair"),
    ("spider_compose.sql.clauses", "from .schema import Schema\nfrom spider_compose.sql import schema"),
    ("spider_compose.sql.clauses", "from spider_compose.errors import ClauseError"),
    ("spider_compose.dataset.card", "from spider_compose import __version__"),
    ("spider_compose.dataset.builder", "import datasets"),
    ("loading_script.load", "from datasets import GeneratorBasedBuilder"),
    ("spider_compose.sql.x", "import torchless, datasetsx"),  # names that only begin alike
    ("spider_compose.tokenization.collator", "import torch"),
    ("spider_compose.models.rgt.modeling_rgt", "from torch import nn"),
    ("spider_compose.cli.build", "from spider_compose.dataset.builder import write"),
    ("spider_compose.cli", "from spider_compose.cli import build"),
    ("spider_compose.__main__", "from spider_compose.cli import main"),
]


@pytest.mark.parametrize(("module", "source", "says"), BROKEN)
def test_checker_sees_a_violation(module: str, source: str, says: str) -> None:
    found = violations(source, module)
    assert any(says in line for line in found), found


@pytest.mark.parametrize(("module", "source"), KEPT)
def test_checker_lets_pass(module: str, source: str) -> None:
    assert violations(source, module) == []


def test_relative_import_in_a_package() -> None:
    """In `__init__` one dot is the package itself, in a module its parent."""
    assert [i.name for i in imports("from . import x", "spider_compose.sql", is_package=True)] == [
        "spider_compose.sql.x"
    ]
    assert [i.name for i in imports("from . import x", "spider_compose.sql.y")] == ["spider_compose.sql.x"]
