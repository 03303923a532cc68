"""The folder of a repository: what an artefact's consists of, how it is written, which files it has.

It is written to a hidden folder beside it, which takes the name when all of it is there. A mark, which is not
uploaded, has the checksum of each file: a folder that was changed by hand is not overwritten. The folder is
locked while it is written and uploaded, so that another push does not replace it meanwhile.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import secrets
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from spider_compose.errors import HubError, OutputError

MARK = ".spider-compose-push.json"
FORMAT = "spider_compose repository 1"

_LEFT_OUT = {MARK, ".git", ".cache", "__pycache__", ".DS_Store", ".ipynb_checkpoints"}
"""Names of files and folders that are never uploaded; the Hub refuses the first two folders itself."""


_YOUNG = 60
"""Seconds: a folder may have been made, and not be locked yet."""


@dataclass(frozen=True)
class Artefact:
    """A kind of thing that is published.

    Attributes:
        name: as the command line names it.
        repo_type: of its repository: "dataset", "model" or "space".
        required: files without which the repository would not work.
        mark: one of them, which repositories of other things do not have.
        owned: patterns of files that only this program writes; those on the Hub that are no longer in the
            folder are removed there. All other files there stay.
    """

    name: str
    repo_type: str
    required: tuple[str, ...]
    mark: str
    owned: tuple[str, ...]


_BOARD = "spider_compose/hub/board.py"

ARTEFACTS = {
    one.name: one
    for one in (
        Artefact("dataset", "dataset", ("README.md", "signature.json"), "signature.json", ("*.parquet",)),
        Artefact(
            "model",
            "model",
            ("README.md", "config.json", "generation_config.json", "tokenizer_config.json", "report.json"),
            "report.json",
            ("*.safetensors", "*.safetensors.index.json", "*.py"),
        ),
        Artefact(
            "metric", "space", ("README.md", "stef.py", "app.py", "requirements.txt"), "stef.py", ("*.py",)
        ),
        Artefact(
            "leaderboard",
            "space",
            ("README.md", "app.py", "requirements.txt", _BOARD),
            _BOARD,
            ("*.py",),
        ),
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
def new_folder(
    folder: Path,
    artefact: Artefact,
    write: Callable[[Path], None],
    *,
    force: bool = False,
    source: Path | None = None,
) -> Iterator[Path]:
    """Write the folder of a repository, and keep it from other pushes as long as it is used.

    Args:
        folder: absent, empty, or one that was written so and not changed since; it is replaced.
        artefact: what is written.
        write: fills the empty folder that it is given; that takes the name, unless there was an error.
        force: replace any other folder too, with all that is in it.
        source: where `write` reads; it is never replaced.

    Yields:
        The folder.

    Raises:
        OutputError: the folder holds something else, is used by another push, or cannot be written.
    """
    target = Path(os.path.abspath(os.path.expanduser(folder)))
    with ExitStack() as locks:
        try:
            _check(target, artefact, force, source)
            target.parent.mkdir(parents=True, exist_ok=True)
            _remove_left_over(target)
            partial = target.parent / f"{_partial(target)}{secrets.token_hex(4)}"
            partial.mkdir()
            locks.enter_context(_locked(partial))  # and so what it will be called
            try:
                write(partial)
                mark = {"format": FORMAT, "artefact": artefact.name, "files": checksums(partial)}
                (partial / MARK).write_text(json.dumps(mark, indent=1) + "\n", encoding="utf-8")
                if target.exists():
                    with _locked(target):
                        shutil.rmtree(target)
                partial.rename(target)
            finally:
                shutil.rmtree(partial, ignore_errors=True)
        except OSError as error:
            raise OutputError(
                f"cannot write {target}: {error.strerror or error}. Name a folder where you may write."
            ) from error
        yield target


def _partial(target: Path) -> str:
    """How the folder that is being written is called, but for its end."""
    return f".{target.name}.incomplete-"


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Keep a folder from other programs that ask; the lock goes with the program, however it ends.

    Raises:
        OutputError: another program has it.
    """
    opened = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise OutputError(
                f"another push is using {folder}. Wait for it, or name another folder (--folder)."
            ) from None
        except OSError:  # a file system without locks
            pass
        yield
    finally:
        os.close(opened)


def _remove_left_over(target: Path) -> None:
    """Remove what pushes have left that were killed while they wrote."""
    beside = [path for path in target.parent.iterdir() if path.name.startswith(_partial(target))]
    for path in beside:
        try:
            if time.time() - path.stat().st_mtime > _YOUNG:
                with _locked(path):
                    shutil.rmtree(path, ignore_errors=True)
        except (OutputError, OSError):
            continue  # it is being written, or has just been renamed


def _check(target: Path, artefact: Artefact, force: bool, source: Path | None) -> None:
    for used in (Path.cwd(), Path(os.path.expanduser("~"))):
        if target == used or target in used.parents or os.path.ismount(target):
            raise OutputError(f"{target} is in use and cannot be replaced. Name a folder inside it.")
    if not target.exists():
        return
    if not target.is_dir():
        raise OutputError(f"{target} is a file. Name a folder.")
    with _locked(target):
        fault = _fault(target, artefact)
    if fault and not force:
        raise OutputError(
            f"{target} {fault}. Name another folder (--folder), or replace it with all that is in it "
            "(--force)."
        )
    if fault and source is not None and source.resolve().is_relative_to(target.resolve()):
        raise OutputError(
            f"{target} holds {source}, which is to be published. Name another folder (--folder)."
        )


def _fault(target: Path, artefact: Artefact) -> str:
    """Why a folder may not be replaced unasked; nothing where it may."""
    if not any(target.iterdir()):
        return ""
    try:
        mark = json.loads((target / MARK).read_text(encoding="utf-8"))
        ours = mark["format"] == FORMAT and mark["artefact"] == artefact.name
        known = dict(mark["files"])
    except (FileNotFoundError, ValueError, KeyError, TypeError, RecursionError):
        ours, known = False, {}
    if not ours:
        return f"holds something else than the repository of a {artefact.name}"
    try:
        found = checksums(target)
    except HubError as error:  # a link
        return f"was changed by hand: {str(error).rstrip('.')}"
    if known != found:
        changed = sorted(path for path in known.keys() | found.keys() if known.get(path) != found.get(path))
        return f"was changed by hand ({', '.join(changed[:5])})"
    return ""


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
