from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from datasets import (
    Dataset,
    get_dataset_config_names,
    get_dataset_default_config_name,
    load_dataset,
)

from spider_compose.composition.build import Build
from spider_compose.dataset import hub_folder
from spider_compose.dataset.configs import composed_config
from spider_compose.dataset.features import features
from spider_compose.dataset.hub_folder import SIGNATURE_FILE, build_tables, write_hub_folder
from spider_compose.errors import OutputError

Run = Callable[..., "subprocess.CompletedProcess[str]"]

CONFIGS = {"compose": "pairs", "alignment": "alignment", "spider": "pairs"}


@pytest.fixture
def folder(tiny_build: Build, tmp_path: Path) -> Path:
    return write_hub_folder(tiny_build, tmp_path / "spider_compose")


def _bytes(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


@pytest.mark.parametrize("config", CONFIGS)
def test_round_trip(config: str, folder: Path, tiny_build: Build, tmp_path: Path) -> None:
    loaded = load_dataset(str(folder), config, cache_dir=str(tmp_path / "cache"))
    expected = next(table.rows for table in build_tables(tiny_build) if table.spec.name == config)
    for split, rows in loaded.items():
        assert rows.to_list() == expected[split]
        assert rows.features == features(CONFIGS[config])


def test_the_folder_names_its_configs(folder: Path, tmp_path: Path) -> None:
    assert get_dataset_config_names(str(folder)) == list(CONFIGS)
    assert get_dataset_default_config_name(str(folder)) == "compose"
    loaded = load_dataset(str(folder), cache_dir=str(tmp_path / "cache"))
    assert list(loaded) == ["train", "validation", "test"]
    assert loaded["train"].config_name == "compose"


def test_relative_path_beside_the_registered_name(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tiny: Path
) -> None:
    monkeypatch.chdir(folder.parent)
    native = load_dataset("./spider_compose", cache_dir=str(tmp_path / "cache"))
    built = load_dataset("spider_compose", source=str(tiny), cache_dir=str(tmp_path / "cache"))
    assert {split: rows.to_list() for split, rows in native.items()} == {
        split: rows.to_list() for split, rows in built.items()
    }


@pytest.mark.parametrize("config", CONFIGS)
def test_each_file_names_its_features(config: str, folder: Path, tmp_path: Path) -> None:
    path = folder / config / "train.parquet"
    assert set(pq.read_schema(path).metadata) == {b"huggingface"}
    loaded = Dataset.from_parquet(str(path), cache_dir=str(tmp_path / "cache"))
    assert loaded.features == features(CONFIGS[config])


def test_same_build_same_bytes(folder: Path, tiny_build: Build, tmp_path: Path) -> None:
    assert _bytes(write_hub_folder(tiny_build, tmp_path / "again")) == _bytes(folder)


def test_another_process_writes_the_same_bytes(
    folder: Path, run_python: Run, tiny: Path, tmp_path: Path
) -> None:
    code = (
        "import sys; from spider_compose.composition.build import build; "
        "from spider_compose.source import read_source; "
        "from spider_compose.dataset.hub_folder import write_hub_folder; "
        "write_hub_folder(build(read_source(sys.argv[1])), sys.argv[2])"
    )
    completed = run_python(
        "-c", code, tiny, tmp_path / "other", cwd=tmp_path, environment={"PYTHONHASHSEED": "7"}
    )
    assert completed.returncode == 0, completed.stderr
    assert _bytes(tmp_path / "other") == _bytes(folder)


def test_signature_file(folder: Path, tiny_build: Build) -> None:
    written = json.loads((folder / SIGNATURE_FILE).read_text(encoding="utf-8"))
    assert written["signature"] == tiny_build.signature
    assert written["source"]["fingerprint"] == tiny_build.source.fingerprint
    assert written["counts"]["train"]["pairs"] == len(tiny_build.pairs["train"])
    assert written["files"] == {
        name: hashlib.sha256(content).hexdigest()
        for name, content in sorted(_bytes(folder).items())
        if name != SIGNATURE_FILE
    }


def test_a_split_without_rows_has_no_file(tiny_build: Build, tmp_path: Path) -> None:
    build = replace(tiny_build, pairs={**tiny_build.pairs, "test": []})
    folder = write_hub_folder(build, tmp_path / "out")
    assert not (folder / "compose" / "test.parquet").exists()
    assert list(load_dataset(str(folder), cache_dir=str(tmp_path / "cache"))) == ["train", "validation"]


def test_a_build_without_rows_is_refused(tiny_build: Build, tmp_path: Path) -> None:
    build = replace(tiny_build, pairs={"train": [], "validation": [], "test": []})
    with pytest.raises(OutputError, match="no rows for config 'compose'"):
        write_hub_folder(build, tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_an_aligner_without_a_config_gets_a_name() -> None:
    assert composed_config()[0].name == "compose"
    assert composed_config({"aligner": "keyword"})[0].name == "compose_paper"
    spec, options = composed_config({"aligner": "keyword", "resolve_aliases": True})
    assert (spec.name, options.resolve_aliases) == ("compose_keyword_tables", True)
    assert composed_config({"resolve_aliases": False})[0].name == "compose_segment_aliases"


def test_an_empty_folder_and_a_former_build_are_replaced(tiny_build: Build, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    folder = write_hub_folder(tiny_build, tmp_path / "out")
    write_hub_folder(replace(tiny_build, signature="another build"), folder)
    assert json.loads((folder / SIGNATURE_FILE).read_text(encoding="utf-8"))["signature"] == "another build"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def _foreign(folder: Path) -> None:
    (folder / SIGNATURE_FILE).unlink()


def _broken_signature(folder: Path) -> None:
    (folder / SIGNATURE_FILE).write_text("{")


def _deep_signature(folder: Path) -> None:
    (folder / SIGNATURE_FILE).write_text("[" * 100_000)


def _signature_of_other_types(folder: Path) -> None:
    (folder / SIGNATURE_FILE).write_text(json.dumps({"format": hub_folder.FORMAT, "files": [1]}))


def _other_program(folder: Path) -> None:
    (folder / SIGNATURE_FILE).write_text('{"format": "another", "files": {}}')


def _added(folder: Path) -> None:
    (folder / "notes.txt").write_text("mine")


def _edited(folder: Path) -> None:
    with (folder / "README.md").open("a") as card:
        card.write("mine")


def _removed(folder: Path) -> None:
    (folder / "spider" / "train.parquet").unlink()


REFUSED = {
    "foreign": (_foreign, "was not written by SpiderCompose"),
    "broken signature": (_broken_signature, "was not written by SpiderCompose"),
    "deep signature": (_deep_signature, "was not written by SpiderCompose"),
    "signature of other types": (_signature_of_other_types, "was not written by SpiderCompose"),
    "other program": (_other_program, "was not written by SpiderCompose"),
    "file added": (_added, "has changed since it was written: notes.txt"),
    "file edited": (_edited, "has changed since it was written: README.md"),
    "file removed": (_removed, "has changed since it was written: spider/train.parquet"),
}


@pytest.mark.parametrize(("change", "message"), REFUSED.values(), ids=REFUSED)
def test_other_folders_are_replaced_only_by_force(
    change: Callable[[Path], None], message: str, folder: Path, tiny_build: Build
) -> None:
    whole = _bytes(folder)
    change(folder)
    changed = _bytes(folder)
    with pytest.raises(OutputError, match=message):
        write_hub_folder(tiny_build, folder)
    assert _bytes(folder) == changed
    write_hub_folder(tiny_build, folder, force=True)
    assert _bytes(folder) == whole


@pytest.mark.parametrize("target", [".", "..", "file", "file/below"])
def test_places_that_cannot_be_written(
    target: str, tiny_build: Build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "file").write_text("mine")
    monkeypatch.chdir(tmp_path / "here")
    with pytest.raises(OutputError) as caught:
        write_hub_folder(tiny_build, target, force=True)
    assert str(tmp_path) in str(caught.value)
    assert _bytes(tmp_path) == {"here/file": b"mine"}


def test_unwritable_parent(tiny_build: Build, tmp_path: Path) -> None:
    (parent := tmp_path / "parent").mkdir()
    parent.chmod(0o555)
    if os.access(parent, os.W_OK):
        pytest.skip("this user may write anywhere")
    with pytest.raises(OutputError, match="Permission denied"):
        write_hub_folder(tiny_build, parent / "out")


def test_a_failure_half_way_leaves_the_former_build(
    folder: Path, tiny_build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, write = _bytes(folder), pq.write_table

    def full_disk(table: Any, path: Path, **options: Any) -> None:
        if "alignment" in str(path):
            raise OSError(28, "No space left on device")
        write(table, path, **options)

    monkeypatch.setattr(pq, "write_table", full_disk)
    with pytest.raises(OutputError, match="No space left on device"):
        write_hub_folder(tiny_build, folder)
    assert _bytes(folder) == before
    assert [path.name for path in folder.parent.iterdir()] == ["spider_compose"]


def test_a_failed_swap_gives_the_former_build_its_name_back(
    folder: Path, tiny_build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, rename = _bytes(folder), Path.rename

    def fail_for_the_new_one(self: Path, target: Path) -> Path:
        if self.name.startswith(".spider_compose.incomplete-") and not self.name.endswith("-former"):
            raise OSError(16, "Device or resource busy")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", fail_for_the_new_one)
    with pytest.raises(OutputError, match="busy"):
        write_hub_folder(tiny_build, folder)
    assert _bytes(folder) == before


def test_killed_half_way(run_python: Run, tiny: Path, tmp_path: Path, tiny_build: Build) -> None:
    killed_before_the_card = """
import os, signal, sys
from spider_compose.composition.build import build
from spider_compose.dataset import card
from spider_compose.dataset.hub_folder import write_hub_folder
from spider_compose.source import read_source
card.render_card = lambda *arguments: os.kill(os.getpid(), signal.SIGKILL)
write_hub_folder(build(read_source(sys.argv[1])), sys.argv[2])
"""
    completed = run_python("-c", killed_before_the_card, tiny, tmp_path / "out", cwd=tmp_path)
    assert completed.returncode == -signal.SIGKILL, completed.stderr
    (leftover,) = tmp_path.iterdir()
    assert leftover.name.startswith(".out.incomplete-")
    # A writer that is still at work is left alone; an old leftover goes.
    write_hub_folder(tiny_build, tmp_path / "out")
    assert leftover.exists()
    old = time.time() - hub_folder._LEFTOVER_AGE - 60
    os.utime(leftover, (old, old))
    write_hub_folder(tiny_build, tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
