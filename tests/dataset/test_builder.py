from __future__ import annotations

import json
import logging
import pickle
import re
import shutil
import signal
import subprocess
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import datasets
import pytest
from datasets import load_dataset, load_dataset_builder

import spider_compose  # noqa: F401 (registers the name)
from spider_compose.composition.build import Build, BuildOptions
from spider_compose.dataset.builder import SpiderComposeConfig
from spider_compose.dataset.configs import CONFIGS, DEFAULT_CONFIG
from spider_compose.errors import OptionError, SourceError

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="module")
def load(tiny: Path, cache: str) -> Callable[..., Any]:
    def load(config: str | None = None, **options: Any) -> Any:
        return load_dataset("spider_compose", config, **{"source": str(tiny), "cache_dir": cache, **options})

    return load


def test_rows_are_those_of_the_build(load: Callable[..., Any], tiny_build: Build) -> None:
    assert {split: rows.to_list() for split, rows in load().items()} == tiny_build.pairs
    assert {split: rows.to_list() for split, rows in load("alignment").items()} == tiny_build.alignments


def test_the_original_keeps_its_rows(load: Callable[..., Any], tiny: Path) -> None:
    loaded = load("spider")
    for split, file in (("train", "train_spider.json"), ("validation", "dev.json")):
        rows = json.loads((tiny / file).read_text(encoding="utf-8"))
        for number, (found, row) in enumerate(zip(loaded[split].to_list(), rows, strict=True)):
            assert {name: found[name] for name in row} == row
            assert (found["source_split"], found["source_row"]) == (split, number)
            assert len(found["clause_subset"]) == len(found["clause_types"]) == found["num_clauses"]


def test_default_config(load: Callable[..., Any]) -> None:
    assert load(split="train").config_name == DEFAULT_CONFIG


def test_every_pair_is_traced_to_its_source(load: Callable[..., Any]) -> None:
    original = load("spider")
    for pair in load("compose_paper", split="train+validation+test"):
        row = original[pair["source_split"]][pair["source_row"]]
        assert row["db_id"] == pair["db_id"]
        assert len(pair["clause_subset"]) == len(pair["clause_types"]) == pair["num_clauses"]


@pytest.mark.parametrize("config", CONFIGS)
def test_streaming_gives_the_same_rows(config: str, load: Callable[..., Any]) -> None:
    loaded, streamed = load(config), load(config, streaming=True)
    assert {split: list(rows) for split, rows in streamed.items()} == {
        split: rows.to_list() for split, rows in loaded.items()
    }
    assert streamed["train"].features == loaded["train"].features


def test_ways_of_asking(load: Callable[..., Any]) -> None:
    whole = load(split="train")
    assert load(split="train[:10%]").to_list() == whole.to_list()[: round(len(whole) / 10)]
    assert load(split="train", num_proc=2).to_list() == whole.to_list()
    assert load(split="train", download_mode="force_redownload").to_list() == whole.to_list()


def test_pathlib_source(load: Callable[..., Any], tiny: Path) -> None:
    assert load(source=tiny, split="train").num_rows == load(split="train").num_rows


WRONG = {
    "config": ({"config": "compose_papr"}, OptionError, "Did you mean 'compose_paper'?"),
    "option": ({"alinger": "keyword"}, OptionError, "but got 'alinger'. Did you mean 'aligner'?"),
    "aligner": ({"aligner": "keywords"}, OptionError, "Did you mean 'keyword'?"),
    "deduplicate": ({"deduplicate": "trian"}, OptionError, "Did you mean 'train'?"),
    "dialect": ({"dialect": "sqlit"}, OptionError, "sqlit"),
    "source": ({"source": "no/such/folder"}, SourceError, "no such source"),
    "revision": ({"revision": "main"}, OptionError, "`revision` is for datasets on the Hub"),
    "data_files": ({"data_files": "train.csv"}, OptionError, "`data_files` is not an option"),
    "data_dir": ({"data_dir": "data"}, OptionError, "`data_dir` is not an option"),
    "private field": ({"_source": "x"}, OptionError, "but got '_source'"),
}


@pytest.mark.parametrize(("arguments", "error", "message"), WRONG.values(), ids=WRONG)
def test_wrong_arguments_give_one_clear_error(
    arguments: dict[str, Any], error: type[Exception], message: str, load: Callable[..., Any]
) -> None:
    with pytest.raises(error, match=re.escape(message)) as caught:
        load(**arguments)
    assert "\n" not in str(caught.value)


def test_every_option_of_the_build_can_be_given() -> None:
    assert {field.name for field in fields(BuildOptions)} <= {
        field.name for field in fields(SpiderComposeConfig)
    }
    config = SpiderComposeConfig(name=DEFAULT_CONFIG)
    assert CONFIGS[DEFAULT_CONFIG].build_options(config.given()) == BuildOptions()


def test_every_option_is_documented() -> None:
    own = {field.name for field in fields(SpiderComposeConfig) if field.init} - {
        field.name for field in fields(datasets.BuilderConfig)
    }
    described = re.findall(r"^        (\w+): ", SpiderComposeConfig.__doc__ or "", flags=re.MULTILINE)
    assert sorted(described) == sorted(own)


def test_strict_errors_reach_the_user_as_they_are(tiny: Path, tmp_path: Path, cache: str) -> None:
    corpus = _corpus(tiny, tmp_path, query="SELECT FROM WHERE (")
    with pytest.raises(SourceError, match="train row 0"):
        load_dataset("spider_compose", source=str(corpus), strict=True, cache_dir=cache)


def test_rows_left_out_are_named(
    tiny: Path, tmp_path: Path, cache: str, caplog: pytest.LogCaptureFixture
) -> None:
    corpus = _corpus(tiny, tmp_path, query="SELECT FROM WHERE (")
    with caplog.at_level(logging.WARNING):
        load_dataset("spider_compose", source=str(corpus), cache_dir=cache)
    assert "left out: 1, the query cannot be cut into clauses. The first: train row 0 (" in caplog.text


def test_a_split_without_rows_is_left_out(
    tiny: Path, tmp_path: Path, cache: str, caplog: pytest.LogCaptureFixture
) -> None:
    (corpus := tmp_path / "corpus").mkdir()
    shutil.copy(tiny / "train_spider.json", corpus / "train.json")
    with caplog.at_level(logging.WARNING):
        loaded = load_dataset("spider_compose", source=str(corpus), cache_dir=cache)
        original = load_dataset("spider_compose", "spider", source=str(corpus), cache_dir=cache)
    assert (list(loaded), list(original)) == (["train", "validation"], ["train"])
    assert "split test has no rows" in caplog.text


def test_a_pickled_builder_builds_the_same(tiny: Path, tmp_path: Path, tiny_build: Build) -> None:
    builder = load_dataset_builder("spider_compose", source=str(tiny), cache_dir=str(tmp_path))
    copied = pickle.loads(pickle.dumps(builder))  # noqa: S301 (our own bytes)
    assert copied.config_id == builder.config_id
    copied.download_and_prepare()
    assert copied.as_dataset("train").to_list() == tiny_build.pairs["train"]


def test_a_pickled_builder_refuses_a_source_that_has_changed(tiny: Path, tmp_path: Path) -> None:
    corpus = _corpus(tiny, tmp_path)
    builder = load_dataset_builder("spider_compose", source=str(corpus), cache_dir=str(tmp_path / "cache"))
    stored = pickle.dumps(builder)
    _corpus(tiny, tmp_path, query="SELECT 1")
    with pytest.raises(SourceError, match="has changed since"):
        pickle.loads(stored).download_and_prepare()  # noqa: S301 (our own bytes)


def test_builders_do_not_share_a_source() -> None:
    first, second = (load_dataset_builder("spider_compose", "spider") for _ in range(2))
    assert first.config is not second.config
    assert first.builder_configs["spider"]._source is None


def test_a_build_killed_half_way_is_not_taken_for_whole(
    run_python: Run, tiny: Path, tmp_path: Path, tiny_build: Build
) -> None:
    killed_at_the_second_split = """
import os, signal, sys, datasets, spider_compose
from spider_compose.dataset.builder import SpiderCompose
generate = SpiderCompose._generate_tables
def stop(self, split):
    if split == "validation":
        os.kill(os.getpid(), signal.SIGKILL)
    yield from generate(self, split)
SpiderCompose._generate_tables = stop
datasets.load_dataset("spider_compose", source=sys.argv[1], cache_dir=sys.argv[2])
"""
    completed = run_python("-c", killed_at_the_second_split, tiny, tmp_path / "cache", cwd=tmp_path)
    assert completed.returncode == -signal.SIGKILL, completed.stderr
    assert list((tmp_path / "cache").rglob("*-train*.arrow")), "the first split was written"
    loaded = load_dataset("spider_compose", source=str(tiny), cache_dir=str(tmp_path / "cache"))
    assert {split: rows.to_list() for split, rows in loaded.items()} == tiny_build.pairs


def _corpus(tiny: Path, folder: Path, query: str | None = None) -> Path:
    """A copy of the tiny corpus, with another query in its first row if one is given."""
    corpus = folder / "corpus"
    shutil.copytree(tiny, corpus, dirs_exist_ok=True)
    if query is not None:
        rows = json.loads((corpus / "train_spider.json").read_text(encoding="utf-8"))
        rows[0]["query"] = query
        (corpus / "train_spider.json").write_text(json.dumps(rows), encoding="utf-8")
    return corpus
