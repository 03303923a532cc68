"""Make `load_dataset("spider_compose", ...)` find the builder in this package, from any folder.

`datasets` has loaded no scripts since 4.0 and has no public way to add a builder under a name. Adding the
name to `datasets.packaged_modules._PACKAGED_DATASETS_MODULES` is not enough: such a name is found first, but
its factory then searches the current folder for data files, which fails where there are none and pulls every
stray csv or json file into the cache key where there are; it also drops `revision` without a word.

The cure is one seam: `datasets.load.dataset_module_factory`, the function that turns a path into a module.
It is wrapped so that exactly the name `"spider_compose"` gives our builder, with `revision` handed on;
every other path goes through untouched, `"./spider_compose"` (a folder) and `"someone/spider_compose"`
included. No file is looked for and no request is made for our name. Builder classes, registries and the
other functions of `datasets` stay as they are.

`datasets` takes a second to import, so it is not imported here. Where it is already loaded it is wrapped at
once; else a finder on `sys.meta_path`, which answers for `datasets.load` alone, does so right after that
module has run (again if it is reloaded). Doing all this twice changes nothing.

Checked with datasets 3.6.0, 4.0.0, 4.8.5, 5.0.0, 5.1.0 and 5.2.0 (tests/dataset/test_registration.py).
"""

from __future__ import annotations

import functools
import importlib
import importlib.abc
import importlib.machinery
import inspect
import sys
import warnings
from collections.abc import Sequence
from dataclasses import fields
from types import ModuleType
from typing import Any

from spider_compose.errors import SpiderComposeError

NAME = "spider_compose"
BUILDER_MODULE = "spider_compose.dataset.builder"

_SEAM = "dataset_module_factory"
_MARK = "_gives_spider_compose"


def install() -> None:
    """Register the name now if `datasets` is loaded, and whenever it is loaded later."""
    if not any(hasattr(finder, _MARK) for finder in sys.meta_path):
        sys.meta_path.insert(0, _AfterDatasetsLoad())
    if "datasets.load" in sys.modules:
        _register_or_warn(importlib.import_module("datasets.load"))  # waits if another thread is importing it


def register(load: ModuleType) -> None:
    """Wrap the module factory of `datasets.load`; a second call changes nothing.

    Args:
        load: the module `datasets.load`.

    Raises:
        SpiderComposeError: the internals are not those this was written for.
    """
    original = getattr(load, _SEAM, None)
    if hasattr(original, _MARK):
        return
    _check_internals(load)
    wrapped = _wrap(original, load)
    setattr(load, _SEAM, wrapped)
    # datasets.inspect holds its own reference when it was imported before us.
    inspect_module = sys.modules.get("datasets.inspect")
    if getattr(inspect_module, _SEAM, None) is original:
        setattr(inspect_module, _SEAM, wrapped)


def _wrap(original: Any, load: ModuleType) -> Any:
    signature = inspect.signature(original)

    @functools.wraps(original)
    def dataset_module_factory(path: Any, *args: Any, **kwargs: Any) -> Any:
        if path != NAME:
            return original(path, *args, **kwargs)
        builder_kwargs = {"dataset_name": NAME}
        revision = signature.bind(path, *args, **kwargs).arguments.get("revision")
        if revision is not None:
            builder_kwargs["revision"] = str(revision)
        return load.DatasetModule(BUILDER_MODULE, "", builder_kwargs)  # no hash: our config id holds it all

    setattr(dataset_module_factory, _MARK, True)
    return dataset_module_factory


def _check_internals(load: ModuleType) -> None:
    try:
        parameters = list(inspect.signature(getattr(load, _SEAM)).parameters)
        module_fields = [field.name for field in fields(load.DatasetModule)]
        uses_seam = _SEAM in load.load_dataset_builder.__code__.co_names
        as_expected = (
            parameters[0] == "path"
            and "revision" in parameters
            and module_fields[:3] == ["module_path", "hash", "builder_kwargs"]
            and uses_seam
        )
    except (AttributeError, TypeError, ValueError, IndexError):
        as_expected = False
    if not as_expected:
        version = getattr(sys.modules.get("datasets"), "__version__", None) or getattr(
            load, "__version__", "?"
        )
        raise SpiderComposeError(
            f'load_dataset("{NAME}") is not available: datasets {version} finds its builders in another way '
            "than versions 3.6 to 5.2 do. Write the dataset once with `spider-compose build --out FOLDER`; "
            "load_dataset(FOLDER) reads it with every version."
        )


def _register_or_warn(load: ModuleType) -> None:
    # `import datasets` belongs to the user: it must work whatever we find in it.
    try:
        register(load)
    except SpiderComposeError as error:
        warnings.warn(str(error), RuntimeWarning, stacklevel=2)


class _AfterDatasetsLoad(importlib.abc.MetaPathFinder):
    """Registers the name when `datasets.load` has run; finds it where the other finders do."""

    _gives_spider_compose = True

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != "datasets.load":
            return None
        for finder in sys.meta_path:
            if hasattr(finder, _MARK) or not hasattr(finder, "find_spec"):
                continue
            spec = finder.find_spec(fullname, path, target)
            if spec is not None:
                _run_after(spec.loader)
                return spec
        return None


def _run_after(loader: Any) -> None:
    """Let `loader` register the name once it has run its module; its type and its other methods stay."""
    run = getattr(loader, "exec_module", None)
    if run is None:
        return

    def exec_module(module: ModuleType) -> None:
        run(module)
        _register_or_warn(module)

    loader.exec_module = exec_module
