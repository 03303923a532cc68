"""A repository's folder before it is uploaded: its card, its files, its weights, and no secrets."""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Iterator
from pathlib import Path

from spider_compose.errors import HubError
from spider_compose.hub.card_rules import card_problems
from spider_compose.hub.repository import Artefact, RepositoryFile, repository_files

# Formats that run code when they are read, or may: none is ever published.
_PICKLES = frozenset(".bin .pt .pth .ckpt .pkl .pickle .joblib .npy .npz .dill .h5 .keras .marisa".split())

# Zip is what torch.save writes.
_MAGIC = {b"PK\x03\x04": "a zip archive", **{bytes((0x80, protocol)): "a pickle" for protocol in range(2, 6)}}

_TEXTS = frozenset(
    ".md .py .json .jsonl .yaml .yml .txt .toml .cfg .csv .jinja .css .js .html .svg".split()
) | {""}
_BINARY = frozenset({".safetensors", ".parquet", ".model"})
"""What else is published: weights, rows, and the vocabulary of a tokenizer by sentencepiece."""

# Keys by their documented forms. A false alarm costs a look; a key that is out has to be revoked.
_SECRETS = {
    "a token of the Hub": re.compile(rb"\bhf_[A-Za-z0-9]{30,}"),
    "a key of OpenAI or Anthropic": re.compile(rb"\bsk-(?:ant-|proj-)?[A-Za-z0-9_-]{32,}"),
    "a token of GitHub": re.compile(rb"\b(?:gh[pousr]_[A-Za-z0-9]{36}|github_pat_[A-Za-z0-9_]{60,})"),
    "a key of AWS": re.compile(rb"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"),
    "a private key": re.compile(rb"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----"),
}

MAX_FILE_BYTES = 50 * 10**9
"""The Hub's hard limit for one file."""

_MAX_HEADER_BYTES = 100_000_000


def check_folder(folder: Path, artefact: Artefact, *, token: str | None = None) -> tuple[RepositoryFile, ...]:
    """Check the folder of a repository.

    Args:
        folder: what would be uploaded.
        artefact: what it is.
        token: which must not stand in any file.

    Returns:
        Its files.

    Raises:
        HubError: with everything that is wrong.
    """
    files = repository_files(folder)
    problems = list(_problems(files, artefact, token))
    if problems:
        raise HubError(f"{folder} cannot be published: {'; '.join(problems)}.")
    return files


def _problems(files: tuple[RepositoryFile, ...], artefact: Artefact, token: str | None) -> Iterator[str]:
    paths = {file.path: file for file in files}
    for path in artefact.required:
        if path not in paths:
            yield f"{path} is missing"
    for file in files:
        yield from _file_problems(file, token)
    if "README.md" in paths:
        try:
            card = paths["README.md"].local.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            yield "README.md is not UTF-8"
        else:
            yield from card_problems(card, artefact.repo_type, tuple(paths))
    if artefact.name == "model" and not any(path.endswith(".safetensors") for path in paths):
        yield "there are no weights (*.safetensors)"
    if artefact.name == "dataset" and not any(path.endswith(".parquet") for path in paths):
        yield "there are no rows (*.parquet)"


def _file_problems(file: RepositoryFile, token: str | None) -> Iterator[str]:
    suffix = file.local.suffix.lower()
    if suffix in _PICKLES:
        yield f"{file.path} may run code when it is read; only safetensors, Parquet and texts are published"
    elif suffix == ".safetensors":
        yield from _safetensors_problems(file)
    elif suffix == ".parquet":
        yield from _parquet_problems(file)
    elif suffix in _TEXTS:
        yield from _text_problems(file, token)
    elif suffix not in _BINARY:
        yield f"{file.path} is of a kind that is not published; texts, safetensors and Parquet are"
    yield from _disguised(file)
    if file.size > MAX_FILE_BYTES:
        yield f"{file.path} has {file.size:,} bytes; the Hub takes {MAX_FILE_BYTES:,}"


def _disguised(file: RepositoryFile) -> Iterator[str]:
    """A pickle runs code under any name, if its reader goes by what is in it."""
    with file.local.open("rb") as opened:
        begins = opened.read(4)
    for magic, what in _MAGIC.items():
        if begins.startswith(magic):
            yield f"{file.path} is {what} by its content, and may run code when it is read"


def _safetensors_problems(file: RepositoryFile) -> Iterator[str]:
    """Read the header: a JSON object of tensors that lie one after the other up to the end of the file."""
    with file.local.open("rb") as opened:
        start = opened.read(8)
        length = struct.unpack("<Q", start)[0] if len(start) == 8 else -1
        if not 0 < length <= min(file.size - 8, _MAX_HEADER_BYTES):
            yield f"{file.path} is cut off or no safetensors file"
            return
        try:
            header = json.loads(opened.read(length))
            ends = [int(entry["data_offsets"][1]) for name, entry in header.items() if name != "__metadata__"]
        except (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError):
            yield f"{file.path} has a header that cannot be read"
            return
    if not ends or 8 + length + max(ends) != file.size:
        yield f"{file.path} has {file.size:,} bytes, not the {8 + length + max(ends, default=0):,} it names"


def _parquet_problems(file: RepositoryFile) -> Iterator[str]:
    with file.local.open("rb") as opened:
        begins = opened.read(4)
        opened.seek(max(0, file.size - 4))
        ends = opened.read(4)
    if file.size < 12 or begins != b"PAR1" or ends != b"PAR1":
        yield f"{file.path} is cut off or no Parquet file"


def _text_problems(file: RepositoryFile, token: str | None) -> Iterator[str]:
    content = file.local.read_bytes()
    for what, pattern in _SECRETS.items():
        if found := pattern.search(content):
            line = content.count(b"\n", 0, found.start()) + 1
            yield f"{file.path}, line {line}, holds what looks like {what}; remove and revoke it"
    if token and token.encode() in content:
        yield f"{file.path} holds the token you are logged in with; remove and revoke it"
    if file.local.suffix.lower() == ".json":
        try:
            json.loads(content, parse_constant=_no_number)
        except (ValueError, RecursionError) as error:
            yield f"{file.path} is no JSON ({error})"


def _no_number(name: str) -> None:
    """Python alone reads NaN and Infinity.

    Raises:
        ValueError: always.
    """
    raise ValueError(f"it holds {name}, which JSON does not know")
