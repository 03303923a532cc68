"""What moves the cache key, and what does not."""

from __future__ import annotations

import json
import shutil
from importlib import metadata
from pathlib import Path
from typing import Any

import datasets
import numpy
import pytest
from datasets import load_dataset_builder

import spider_compose
from spider_compose.composition import build as build_module
from spider_compose.dataset import cache_key as cache_key_module
from spider_compose.dataset.configs import CONFIGS
from spider_compose.errors import OptionError


def key(source: Path, config: str = "compose_paper", **options: Any) -> str:
    return load_dataset_builder("spider_compose", config, source=str(source), **options).config_id


@pytest.fixture
def corpus(tiny: Path, tmp_path: Path) -> Path:
    shutil.copytree(tiny, tmp_path / "corpus")
    return tmp_path / "corpus"


MOVING_OPTIONS = {
    "config": {"config": "alignment"},
    "deduplicate": {"deduplicate": "none"},
    "resolve_aliases": {"resolve_aliases": True},
    "dialect": {"dialect": "postgres"},
    "strict": {"strict": True},
    "features": {"features": datasets.Features({"id": datasets.Value("string")})},
}


@pytest.mark.parametrize("options", MOVING_OPTIONS.values(), ids=MOVING_OPTIONS)
def test_options_move_the_key(options: dict[str, Any], corpus: Path) -> None:
    assert key(corpus, **options) != key(corpus)


def test_naming_a_default_does_not_move_the_key(corpus: Path) -> None:
    assert key(corpus, aligner="keyword", deduplicate="train", strict=False) == key(corpus)


def test_aligner_moves_the_key(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build_module, "ALIGNERS", {**build_module.ALIGNERS, "other": None})
    assert key(corpus, aligner="other") != key(corpus)


def test_language_model_moves_the_key(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = key(corpus)
    monkeypatch.setattr(build_module, "model_version", lambda name: (name, "3.7.1"))
    assert key(corpus) != before


@pytest.mark.parametrize("package", ["spacy", "sqlglot"])
def test_versions_move_the_key(package: str, corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before, version = key(corpus), metadata.version
    monkeypatch.setattr(metadata, "version", lambda name: "0.0.1" if name == package else version(name))
    assert key(corpus) != before


@pytest.mark.parametrize("config", CONFIGS)
def test_the_parser_moves_the_key_of_every_config(
    config: str, corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also of whole pairs: their columns name their clauses."""
    before, version = key(corpus, config), metadata.version
    monkeypatch.setattr(metadata, "version", lambda name: "0.0.1" if name == "sqlglot" else version(name))
    assert key(corpus, config) != before


def test_our_version_moves_the_key(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = key(corpus)
    monkeypatch.setattr(spider_compose, "__version__", "99.0.0")
    assert key(corpus) != before


@pytest.mark.parametrize("config", ["compose_paper", "alignment", "spider"])
@pytest.mark.parametrize(
    ("module", "function"), [(cache_key_module, "code_hash"), (cache_key_module, "_dataset_code_hash")]
)
def test_code_moves_the_key(
    module: Any, function: str, config: str, corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = key(corpus, config)
    monkeypatch.setattr(module, function, lambda: "other code")
    assert key(corpus, config) != before


def _change_question(corpus: Path) -> None:
    rows = json.loads((corpus / "dev.json").read_text(encoding="utf-8"))
    rows[-1]["question"] += " Please."
    (corpus / "dev.json").write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


def _change_schema(corpus: Path) -> None:
    text = (corpus / "tables.json").read_text(encoding="utf-8")
    (corpus / "tables.json").write_text(text.replace('"grain"', '"flour"'), encoding="utf-8")


@pytest.mark.parametrize("change", [_change_question, _change_schema], ids=["question", "schema"])
@pytest.mark.parametrize("config", ["compose_paper", "alignment", "spider"])
def test_content_at_the_same_path_moves_the_key(change: Any, config: str, corpus: Path) -> None:
    before = key(corpus, config)
    change(corpus)
    assert key(corpus, config) != before


def test_schemas_of_ones_own_move_the_key(corpus: Path, tmp_path: Path) -> None:
    shutil.copy(corpus / "tables.json", own := tmp_path / "tables.json")
    own.write_text(own.read_text(encoding="utf-8").replace('"grain"', '"flour"'), encoding="utf-8")
    assert key(corpus, schemas=str(own)) != key(corpus)


@pytest.mark.parametrize("config", ["compose_paper", "alignment", "spider"])
def test_the_path_does_not_move_the_key(config: str, corpus: Path, tmp_path: Path) -> None:
    shutil.copytree(corpus, tmp_path / "somewhere" / "else")
    assert key(tmp_path / "somewhere" / "else", config) == key(corpus, config)


def test_files_beside_the_source_do_not_move_the_key(corpus: Path) -> None:
    before = key(corpus)
    (corpus / "notes.csv").write_text("a,b\n")
    assert key(corpus) == before


def test_the_current_folder_does_not_move_the_key(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = key(corpus)
    (tmp_path / "train.csv").write_text("a,b\n1,2\n")
    monkeypatch.chdir(tmp_path)
    assert key(corpus) == before


def test_a_value_that_json_does_not_know(corpus: Path) -> None:
    seed = numpy.int64(2)
    builder = load_dataset_builder("spider_compose", "spider_random", source=str(corpus), seed=seed)
    with pytest.raises(OptionError, match="`seed` must be an integer"):
        builder.download_and_prepare()
