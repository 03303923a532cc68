"""The folder of a repository: what an artefact's consists of, how it is written, which files it has.

It is written to a hidden folder beside it, which takes the name when all of it is there. A mark, which is not
uploaded, has the checksum of each file: a folder that was changed by hand is not overwritten.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from spider_compose.errors import HubError, OutputError

MARK = ".spider-compose-push.json"
FORMAT = "spider_compose repository 1"

_LEFT_OUT = {MARK, ".git", ".cache", "__pycache__", ".DS_Store", ".ipynb_checkpoints"}
"""Names of files and folders that are never uploaded; the Hub refuses the first two folders itself."""


@dataclass(frozen=True)
class Artefact:
    """A kind of thing that is published.

    Attributes:
        name: as the command line names it.
        repo_type: of its repository: "dataset", "model" or "space".
        required: files without which the repository would not work.
        owned: patterns of files that only this program writes; those on the Hub that are no longer in the
            folder are removed there. All other files there stay.
    """

    name: str
    repo_type: str
    required: tuple[str, ...]
    owned: tuple[str, ...]


ARTEFACTS = {
    one.name: one
    for one in (
        Artefact("dataset", "dataset", ("README.md", "signature.json"), ("*.parquet",)),
        Artefact(
            "model",
            "model",
            ("README.md", "config.json", "generation_config.json", "tokenizer_config.json", "report.json"),
            ("*.safetensors", "*.safetensors.index.json", "*.py"),
        ),
        Artefact("metric", "space", ("README.md", "stef.py", "app.py", "requirements.txt"), ("*.py",)),
        Artefact("leaderboard", "space", ("README.md", "app.py", "requirements.txt"), ("*.py",)),
    )
}
"""By name."""


@dataclass(frozen=True)
class RepositoryFile:
    """A file of the folder.

    Attributes:
        path: in the repository, with `/`.
        local: on this machine.
        size: in bytes.
    """

    path: str
    local: Path
    size: int


def repository_files(folder: Path) -> tuple[RepositoryFile, ...]:
    """The files of a folder that belong in the repository, by path.

    Raises:
        HubError: there is no such folder, or a link in it, which might lead to files that nobody meant to
            publish.
    """
    if not folder.is_dir():
        raise HubError(f"no folder {folder}: nothing to publish.")
    found = []
    for local in sorted(folder.rglob("*")):
        relative = local.relative_to(folder)
        if _LEFT_OUT & set(relative.parts):
            continue
        if local.is_symlink():
            raise HubError(f"{local} is a link; only files that lie in the folder are published. Remove it.")
        if local.is_file():
            found.append(RepositoryFile(relative.as_posix(), local, local.stat().st_size))
    return tuple(found)


@contextmanager
def new_folder(folder: Path, artefact: Artefact, *, force: bool = False) -> Iterator[Path]:
    """Write the folder of a repository.

    Args:
        folder: absent, empty, or one that was written so and not changed since; it is replaced.
        artefact: what is written.
        force: replace any other folder too, with all that is in it.

    Yields:
        The empty folder to write to. It takes the name at the end, unless there was an error.

    Raises:
        OutputError: the folder holds something else, or cannot be written.
    """
    target = Path(os.path.abspath(os.path.expanduser(folder)))
    try:
        _check(target, artefact, force)
        target.parent.mkdir(parents=True, exist_ok=True)
        partial = target.parent / f".{target.name}.incomplete-{secrets.token_hex(4)}"
        partial.mkdir()
        try:
            yield partial
            mark = {"format": FORMAT, "artefact": artefact.name, "files": checksums(partial)}
            (partial / MARK).write_text(json.dumps(mark, indent=1) + "\n", encoding="utf-8")
            if target.exists():
                shutil.rmtree(target)
            partial.rename(target)
        finally:
            shutil.rmtree(partial, ignore_errors=True)
    except OSError as error:
        raise OutputError(
            f"cannot write {target}: {error.strerror or error}. Name a folder where you may write."
        ) from error


def _check(target: Path, artefact: Artefact, force: bool) -> None:
    if target == Path.cwd() or target in Path.cwd().parents or os.path.ismount(target):
        raise OutputError(f"{target} is in use and cannot be replaced. Name a folder inside it.")
    if not target.exists():
        return
    if not target.is_dir():
        raise OutputError(f"{target} is a file. Name a folder.")
    if force or not any(target.iterdir()):
        return
    try:
        mark = json.loads((target / MARK).read_text(encoding="utf-8"))
        ours = mark["format"] == FORMAT and mark["artefact"] == artefact.name
        known = dict(mark["files"])
    except (FileNotFoundError, ValueError, KeyError, TypeError, RecursionError):
        ours, known = False, {}
    if not ours:
        raise OutputError(
            f"{target} holds something else than the repository of a {artefact.name}. Name another folder "
            "(--folder), or replace it with all that is in it (--force)."
        )
    if known != (found := checksums(target)):
        changed = sorted(path for path in known.keys() | found.keys() if known.get(path) != found.get(path))
        raise OutputError(
            f"{target} was changed by hand ({', '.join(changed[:5])}). Name another folder (--folder), or "
            "replace it with all that is in it (--force)."
        )


def checksums(folder: Path) -> dict[str, str]:
    """SHA-256 of each file of a repository's folder."""
    return {file.path: sha256(file.local) for file in repository_files(folder)}


def sha256(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal digits."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()
