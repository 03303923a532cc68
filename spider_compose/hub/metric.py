"""The repository of the metric: a Space from which `evaluate.load("OWNER/NAME")` takes the module.

    stef.py                        the module, `metrics/stef/stef.py`
    README.md                      the metric's card, under both headers, the Space's and the card's
    app.py, requirements.txt       the demonstration

`evaluate` reads the module NAME.py of a Space OWNER/NAME, so the module has that name too.
"""

from __future__ import annotations

import re
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from spider_compose.errors import HubError, MissingExtraError
from spider_compose.hub.space import copy_app
from spider_compose.stef.metric_install import shell

_HEADER = re.compile(r"\A---\n(.*?)\n---\n", re.DOTALL)
_LOADED = 'evaluate.load("stef")'

_OF_THE_SPACE = frozenset("__main__ app gradio huggingface_hub numpy spacy sqlglot".split())
"""Modules of the Space, some of which need not be installed here."""


def write_metric(folder: Path, repo_id: str, spaces: Path | None = None) -> None:
    """Write the repository of the metric.

    Args:
        folder: where to; it is there and empty.
        repo_id: owner/name of the repository.
        spaces: folder of the apps, if it is not the package's.

    Raises:
        MissingExtraError: a part of the metric is not installed.
        HubError: the app is not there, or could not run beside a module of the repository's name.
    """
    module, own = shell(), repo_id.rpartition("/")[2]
    if "." in own:
        raise HubError(f"evaluate.load could not import {own}.py: name a repository without a dot.")
    if own != module.stem and _is_module(own):
        raise HubError(f"{own}.py would hide the module {own} from the Space's app: name another repository.")
    copy_app("stef", folder, spaces)
    # evaluate.load("owner/name") reads name.py, so the module is there under both names.
    for name in {module.name, f"{own}.py"}:
        shutil.copyfile(module, folder / name)
    card = module.with_name("README.md")
    if not card.is_file():
        raise MissingExtraError(f"the metric's card is missing: expected {card}; reinstall spider-compose")
    app = folder / "README.md"
    text = _merged(app.read_text(encoding="utf-8"), card.read_text(encoding="utf-8"))
    app.write_text(_for_hub(text, repo_id), encoding="utf-8", newline="\n")


def _is_module(name: str) -> bool:
    """Whether a program could import a module of this name."""
    if name in _OF_THE_SPACE or name in sys.stdlib_module_names:
        return True
    found = find_spec(name) if name.isidentifier() else None
    return found is not None and found.origin is not None  # else it is any folder of that name


def _merged(app: str, card: str) -> str:
    """The metric's card, then the app's, under both headers; the app's holds where they differ."""
    import yaml

    of_app, of_card = _header(app), _header(card)
    tags = dict.fromkeys([*of_app.get("tags", ()), *of_card.get("tags", ())])
    header = {**of_card, **of_app, "tags": list(tags)}
    parts = [_HEADER.sub("", text).strip() for text in (card, app)]
    top = yaml.safe_dump(header, sort_keys=False, allow_unicode=True, width=1000)
    return f"---\n{top}---\n\n" + "\n\n".join(part for part in parts if part) + "\n"


def _for_hub(card: str, repo_id: str) -> str:
    """The card's example with the module of the repository, whose name needs no installing."""
    lines = [line for line in card.split("\n") if not line.startswith("stef install-metric")]
    return "\n".join(lines).replace(_LOADED, f'evaluate.load("{repo_id}")')


def _header(card: str) -> dict[str, Any]:
    import yaml

    found = _HEADER.match(card)
    return dict(yaml.safe_load(found[1])) if found else {}
