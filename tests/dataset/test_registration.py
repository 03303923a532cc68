"""`load_dataset("spider_compose")` from anywhere.

The same file was run with datasets 3.6.0, 4.0.0, 4.8.5, 5.0.0, 5.1.0 and 5.2.0; here it runs with the
installed version.
"""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

import spider_compose
from spider_compose.dataset import registration
from spider_compose.dataset.configs import CONFIGS, DEFAULT_CONFIG
from spider_compose.errors import SpiderComposeError

Run = Callable[..., "subprocess.CompletedProcess[str]"]

REPOSITORY = Path(__file__).parents[2]

IMPORTS = {
    "package first": "import spider_compose, datasets; load_dataset = datasets.load_dataset",
    "datasets first": "import datasets, spider_compose; load_dataset = datasets.load_dataset",
    "function taken before": "from datasets import load_dataset; import datasets, spider_compose",
    "function taken after": "import spider_compose; from datasets import load_dataset; import datasets",
    "package reloaded": """
import importlib, datasets, spider_compose
importlib.reload(spider_compose)
load_dataset = datasets.load_dataset""",
    "package imported anew": """
import sys, spider_compose
for name in [name for name in sys.modules if name.startswith("spider_compose")]:
    del sys.modules[name]
import spider_compose, datasets
load_dataset = datasets.load_dataset""",
    "datasets.load reloaded": """
import importlib, spider_compose, datasets.load
importlib.reload(datasets.load)
load_dataset = datasets.load.load_dataset""",
}

LOAD = """
{imports}
import json, os, sys
def key():
    return datasets.load_dataset_builder("spider_compose", "compose", source=sys.argv[1]).config_id
loaded, key_here = load_dataset("spider_compose", "compose", source=sys.argv[1]), key()
os.chdir(sys.argv[2])
print(json.dumps({{
    "rows": {{split: len(rows) for split, rows in loaded.items()}},
    "same key in an empty folder": key_here == key(),
    "configs": datasets.get_dataset_config_names("spider_compose"),
    "default": datasets.get_dataset_default_config_name("spider_compose"),
    "splits": datasets.get_dataset_split_names("spider_compose", "alignment", source=sys.argv[1]),
    "finders": sum(hasattr(finder, "_gives_spider_compose") for finder in sys.meta_path),
}}))
"""


def _empty(folder: Path) -> None: ...


def _stray_files(folder: Path) -> None:
    (folder / "train.csv").write_text("a,b\n1,2\n")
    (folder / "notes.json").write_text('{"a": 1}\n')
    (folder / "broken.parquet").write_bytes(b"PAR1")
    (folder / "data").mkdir()
    (folder / "data" / "test.jsonl").write_text('{"a": 1}\n')


def _read_only(folder: Path) -> None:
    folder.chmod(0o555)


def _namesake_folder(folder: Path) -> None:
    (folder / "spider_compose").mkdir()
    (folder / "spider_compose" / "train.csv").write_text("a,b\n1,2\n")


FOLDERS = {
    "empty": _empty,
    "stray files": _stray_files,
    "read-only": _read_only,
    "a data folder of our name": _namesake_folder,
}


Load = Callable[[str, Path], "dict[str, object]"]


@pytest.fixture(scope="module")
def load(run_python: Run, tiny: Path, tmp_path_factory: pytest.TempPathFactory) -> Load:
    def load(imports: str, folder: Path) -> dict[str, object]:
        empty = tmp_path_factory.mktemp("empty")
        completed = run_python("-c", LOAD.format(imports=IMPORTS[imports]), tiny, empty, cwd=folder)
        assert completed.returncode == 0, completed.stderr
        return json.loads(completed.stdout.splitlines()[-1])

    return load


@pytest.fixture(scope="module")
def expected(load: Load, tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    return load("package first", tmp_path_factory.mktemp("first"))


def test_what_is_loaded(expected: dict[str, object]) -> None:
    assert list(expected["rows"]) == ["train", "validation", "test"]
    assert expected["configs"] == list(CONFIGS)
    assert expected["default"] == DEFAULT_CONFIG
    assert expected["splits"] == ["train", "validation"]
    assert expected["same key in an empty folder"]
    assert expected["finders"] == 1


# Each import order once, each folder once.
@pytest.mark.parametrize(
    ("imports", "folder"),
    [
        ("datasets first", "empty"),
        ("function taken before", "stray files"),
        ("function taken after", "read-only"),
        ("package reloaded", "a data folder of our name"),
        ("package imported anew", "empty"),
        ("datasets.load reloaded", "stray files"),
    ],
)
def test_import_orders_and_folders(
    imports: str, folder: str, expected: dict[str, object], load: Load, tmp_path: Path
) -> None:
    FOLDERS[folder](tmp_path)
    assert load(imports, tmp_path) == expected


def test_repository_root(expected: dict[str, object], load: Load) -> None:
    assert load("package first", REPOSITORY) == expected


def test_folder_of_our_name_is_read_natively(run_python: Run, tmp_path: Path) -> None:
    _namesake_folder(tmp_path)
    code = (
        'import spider_compose, datasets; print(datasets.load_dataset("./spider_compose", split="train")[0])'
    )
    completed = run_python("-c", code, cwd=tmp_path)
    assert completed.stdout.splitlines()[-1] == "{'a': 1, 'b': 2}", completed.stderr


def test_second_load_needs_no_language_model(
    expected: dict[str, object], run_python: Run, tiny: Path, tmp_path: Path
) -> None:
    code = (
        'import sys, spider_compose, datasets; datasets.load_dataset("spider_compose", source=sys.argv[1]); '
        'print(sorted({"spacy", "thinc", "torch"} & set(sys.modules)))'
    )
    completed = run_python("-c", code, tiny, cwd=tmp_path)
    assert completed.stdout.splitlines()[-1] == "[]", completed.stderr


def test_importing_the_package_imports_nothing_heavy(run_python: Run, tmp_path: Path) -> None:
    code = (
        "import sys, spider_compose; "
        'print(sorted({"datasets", "pyarrow", "spacy", "sqlglot", "numpy", "torch"} & set(sys.modules)))'
    )
    assert run_python("-c", code, cwd=tmp_path).stdout.strip() == "[]"


def test_installed_version_has_the_internals_we_wrap() -> None:
    import datasets.inspect
    import datasets.load

    registration._check_internals(datasets.load)
    assert hasattr(datasets.load.dataset_module_factory, "_gives_spider_compose")
    assert datasets.inspect.dataset_module_factory is datasets.load.dataset_module_factory


def _fake_load(**changes: object) -> ModuleType:
    """A module with the parts of `datasets.load` that registration looks at."""
    module = ModuleType("datasets.load")
    exec_globals = {
        "dataset_module_factory": lambda path, revision=None, **other: (path, revision, other),
        "DatasetModule": importlib.import_module("datasets.load").DatasetModule,
    }
    module.__dict__.update(exec_globals)

    def load_dataset_builder(path: str, **other: object) -> object:
        return module.dataset_module_factory(path, **other)

    module.load_dataset_builder = load_dataset_builder
    for name, value in changes.items():
        delattr(module, name) if value is None else setattr(module, name, value)
    return module


def test_other_names_go_through_untouched() -> None:
    load = _fake_load()
    registration.register(load)
    for path in ("csv", "./spider_compose", "someone/spider_compose", Path("spider_compose")):
        assert load.dataset_module_factory(path, "r", data_dir="d") == (path, "r", {"data_dir": "d"})


def test_our_name_gives_our_builder_and_hands_the_revision_on() -> None:
    load = _fake_load()
    registration.register(load)
    module = load.dataset_module_factory("spider_compose", revision="abc", data_files=None)
    assert module.module_path == "spider_compose.dataset.builder"
    assert module.builder_kwargs == {"dataset_name": "spider_compose", "revision": "abc"}
    assert "revision" not in load.dataset_module_factory(path="spider_compose").builder_kwargs


def test_registering_twice_wraps_once() -> None:
    load = _fake_load()
    registration.register(load)
    wrapped = load.dataset_module_factory
    registration.register(load)
    assert load.dataset_module_factory is wrapped


@pytest.mark.parametrize(
    "changes",
    [
        {"dataset_module_factory": None},
        {"dataset_module_factory": lambda name, revision=None: None},
        {"dataset_module_factory": lambda path: None},
        {"DatasetModule": None},
        {"DatasetModule": SimpleNamespace},
        {"load_dataset_builder": None},
        {"load_dataset_builder": lambda path: None},
    ],
    ids=[
        "no factory",
        "factory takes another name",
        "factory takes no revision",
        "no module class",
        "another module class",
        "no loader",
        "loader asks elsewhere",
    ],
)
def test_other_internals_give_one_clear_error(changes: dict[str, object]) -> None:
    load = _fake_load(**changes)
    with pytest.raises(SpiderComposeError, match=r"spider-compose build .* reads it with every version"):
        registration.register(load)


def test_other_internals_never_stop_the_import_of_datasets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "datasets.load", _fake_load(dataset_module_factory=None))
    with pytest.warns(RuntimeWarning, match="is not available"):
        importlib.reload(spider_compose)
