"""The repository of a dataset, from a folder that `spider-compose build` or `split` has written.

    README.md               the card, with the repository's name in its examples
    CONFIG/SPLIT.parquet    the rows, as they were built
    eval.yaml               which tests of it are a benchmark (`spider_compose.hub.benchmark`)
    signature.json          what moved the rows, and the checksum of each file

It is a built folder again: downloaded, it can be read, split and published like the one it came from.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from string import Template
from typing import Any

from spider_compose.errors import SourceError
from spider_compose.hub.benchmark import TASKS, write_benchmark
from spider_compose.hub.repository import sha256

SIGNATURE_FILE = "signature.json"
BUILT_FORMAT = "spider_compose hub folder 1"
"""`spider_compose.dataset.hub_folder.FORMAT`; a test holds them together."""

_LOADED = re.compile(r'(?<=load_dataset\(")[^"\n]*(?=")')
"""Where the card's examples say what is loaded: a folder before, the repository then."""

_BENCHMARK = Template(
    """\
## Benchmark

`eval.yaml` registers these tests as a benchmark of the Hub. Leaderboards rank corpus BLEU-4.

| task | rows | measures |
| --- | --- | --- |
$rows

Any model of the Hub is measured with `spider-compose evaluate MODEL`, a language model also with
`inspect eval hf/$repo/$first --model ...`, whose scorers are exact match and word F1. A score counts once it
stands in `.eval_results` of the model's repository: `spider-compose push model ... --dataset $repo`
writes it there, as a pull request (`--pr`) where the repository is someone else's.

"""
)

_SECTION = re.compile(r"^## Benchmark\n.*?(?=^## )", re.MULTILINE | re.DOTALL)


def write_dataset(source: Path, folder: Path, repo_id: str) -> None:
    """Write the repository of a dataset.

    Args:
        source: a built folder.
        folder: where to; it is there and empty.
        repo_id: owner/name of the repository.

    Raises:
        SourceError: the source is no built folder, or was changed since it was built.
    """
    content = _signature(source)
    for path, known in content["files"].items():
        copied = folder / path
        copied.parent.mkdir(parents=True, exist_ok=True)
        try:
            shutil.copyfile(source / path, copied)
        except OSError as error:
            raise SourceError(f"cannot read {source / path}: {error.strerror}. Build it again.") from error
        if sha256(copied) != known:
            raise SourceError(f"{source / path} has changed since it was built. Build it again.")
    registered = write_benchmark(folder, repo_id) is not None
    card = folder / "README.md"
    try:
        built_card = card.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise SourceError(f"{source / card.name} is not UTF-8. Build it again.") from None
    text = _card(built_card, content, repo_id, registered)
    card.write_text(text, encoding="utf-8", newline="\n")
    files = {p.relative_to(folder).as_posix(): sha256(p) for p in sorted(folder.rglob("*")) if p.is_file()}
    text = json.dumps({**content, "files": files}, indent=2, ensure_ascii=False)
    (folder / SIGNATURE_FILE).write_text(text + "\n", encoding="utf-8", newline="\n")


def _card(card: str, content: Mapping[str, Any], repo_id: str, registered: bool) -> str:
    """The built folder's card, with the repository in its examples and a section on the benchmark."""
    card = _SECTION.sub("", _LOADED.sub(repo_id, card))
    if not registered:
        return card
    tasks = [task for task in TASKS if f"{task.config}/{task.split}.parquet" in content["files"]]
    rows = "\n".join(
        f"| `{task.id}` | `{task.config}`, {task.split} | {task.measures[:1].upper()}{task.measures[1:]} |"
        for task in tasks
    )
    section = _BENCHMARK.substitute(rows=rows, repo=repo_id, first=tasks[0].id)
    before, limits, after = card.partition("## Known limits\n")
    return f"{before}{section}{limits}{after}"


def _signature(source: Path) -> dict[str, Any]:
    path = source / SIGNATURE_FILE
    try:
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        built = content["format"] == BUILT_FORMAT and "README.md" in dict(content["files"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        built = False
    if not built:
        raise SourceError(
            f"{source} is no dataset that this version has built: name a folder written by "
            "`spider-compose build` or `spider-compose split`."
        )
    inside = source.resolve()
    for name in content["files"]:
        if not name.isprintable():  # nor could a file be called so
            raise SourceError(f"{path} names {name!r:.80}, which is no name of a file.")
        if not (source / name).resolve().is_relative_to(inside):
            raise SourceError(f"{path} names {name}, which is outside the folder.")
    return content
