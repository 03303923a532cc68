"""A model's folder with its own code, for `trust_remote_code=True` where this package is not installed.

The modules that a model and its tokenizer need are written flat into the folder, with relative imports, and
named in `auto_map`. They import sqlglot, torch, transformers and what these stand on, and nothing of this
package.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path

from spider_compose.errors import OutputError
from spider_compose.models.sql_to_text import SQLToTextModel
from spider_compose.tokenization.tokenizer import SQLTokenizer

_PACKAGE = Path(__file__).resolve().parent.parent
_IMPORT = re.compile(r"^(\s*)from spider_compose\.([\w.]+) import", re.MULTILINE)


def save_with_code(model: SQLToTextModel, tokenizer: SQLTokenizer, folder: str | Path) -> None:
    """Save a model, its tokenizer and the code of both, ready for a repository of the Hub.

    Raises:
        OutputError: the folder is a file.
    """
    folder = Path(folder)
    if folder.is_file():
        raise OutputError(f"expected a folder to save in, but {folder} is a file.")
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    classes = {"config": type(model.config), "model": type(model), "tokenizer": SQLTokenizer}
    for name, text in _modules(cls.__module__ for cls in classes.values()).items():
        (folder / name).write_text(text, encoding="utf-8")
    places = {role: f"{cls.__module__.rpartition('.')[2]}.{cls.__name__}" for role, cls in classes.items()}
    _add(
        folder / "config.json",
        {"AutoConfig": places["config"], "AutoModelForSeq2SeqLM": places["model"]},
    )
    # Two classes, slow and fast; there is no slow one.
    _add(folder / "tokenizer_config.json", {"AutoTokenizer": [None, places["tokenizer"]]})


def _modules(names: Iterable[str]) -> dict[str, str]:
    """File names and texts of these modules and of all they import of this package."""
    waiting = [name.removeprefix("spider_compose.") for name in names]
    files: dict[str, str] = {}
    while waiting:
        dotted = waiting.pop()
        name = f"{dotted.rpartition('.')[2]}.py"
        if name in files:
            continue
        text = (_PACKAGE / f"{dotted.replace('.', '/')}.py").read_text(encoding="utf-8")
        waiting += [found for _, found in _IMPORT.findall(text)]
        files[name] = _IMPORT.sub(lambda match: f"{match[1]}from .{match[2].rpartition('.')[2]} import", text)
    return files


def _add(path: Path, auto_map: dict[str, object]) -> None:
    settings = json.loads(path.read_text(encoding="utf-8"))
    settings["auto_map"] = auto_map
    path.write_text(json.dumps(settings, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
