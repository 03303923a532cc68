"""Datasets on the Hugging Face Hub: one download of the files that the adapters read."""

from __future__ import annotations

import re
from pathlib import Path

from spider_compose.errors import MissingExtraError, SourceError
from spider_compose.source.rows import FORMATS

SPIDER_REPOSITORY = "xlangai/spider"

_REPOSITORY = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*", re.ASCII)
_COMMIT = re.compile(r"[0-9a-f]{40}")
# fnmatch patterns, where * runs over slashes: the parts by name, nothing else of a large repository.
_PATTERNS = [f"*{part}*.{ending}" for part in ("train", "validation", "dev") for ending in FORMATS] + [
    "*tables.json"
]


def recognise(name: str) -> bool:
    """Whether a name has the form of a Hub repository, `owner/name`."""
    return _REPOSITORY.fullmatch(name) is not None


def download(repository: str, revision: str | None) -> tuple[Path, str]:
    """Download the files of a dataset repository, or find them in the local cache.

    Args:
        repository: `owner/name`.
        revision: a commit, branch or tag; None for the main branch.

    Returns:
        The folder, and the commit that the revision stands for.

    Raises:
        SourceError: the Hub is out of reach, or has no such repository or revision.
        MissingExtraError: huggingface_hub is not installed.
    """
    try:
        from huggingface_hub import snapshot_download
    except ImportError as error:
        raise MissingExtraError(
            f"{repository}: reading from the Hub needs huggingface_hub. "
            "Install it with: pip install 'spider-compose[data]'"
        ) from error
    try:
        folder = snapshot_download(
            repository, repo_type="dataset", revision=revision, allow_patterns=_PATTERNS
        )
    except Exception as error:  # its HTTP library, and so the exceptions, change between versions
        raise SourceError(_message(repository, revision, error)) from error
    path = Path(folder)
    # The cache names a snapshot's folder by its commit.
    return path, path.name if _COMMIT.fullmatch(path.name) else str(revision)


def _message(repository: str, revision: str | None, error: Exception) -> str:
    at = f" at revision {revision!r}" if revision else ""
    kind = type(error).__name__
    if kind == "RevisionNotFoundError":
        advice = "Check `revision` (a commit, branch or tag)."
    elif kind in ("RepositoryNotFoundError", "GatedRepoError"):
        advice = "Check the name, and `hf auth login` if it is private or gated."
    else:
        advice = (
            "Check the connection and HF_HUB_OFFLINE, or download it elsewhere with `hf download "
            f"{repository} --repo-type dataset --local-dir FOLDER` and give FOLDER as the source."
        )
    reason = str(error).strip().splitlines()[0][:200] if str(error).strip() else ""
    return (
        f"cannot get the dataset {repository!r}{at} from the Hub ({kind}: {reason}). {advice} "
        f"(There is no local folder {repository!r} either.)"
    )
