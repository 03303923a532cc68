"""Files as they were read, and their text."""

from __future__ import annotations

import codecs
import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from spider_compose.errors import SourceError


@dataclass(frozen=True)
class SourceFile:
    """One file's bytes.

    Attributes:
        name: its name without the folder, so that the fingerprint is the same wherever the corpus lies.
    """

    name: str
    data: bytes = field(repr=False)

    @classmethod
    def read(cls, path: Path, name: str | None = None) -> SourceFile:
        """Read a file whole.

        Raises:
            SourceError: it cannot be read, or is empty.
        """
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            raise SourceError(f"no such file: {path}. Check the path.") from None
        except OSError as error:
            raise SourceError(
                f"cannot read {path}: {error.strerror or error}. Check its permissions."
            ) from error
        return cls(name or path.name, data).checked()

    def checked(self) -> SourceFile:
        """Return this file, or raise a SourceError if it holds nothing or only a pointer to its content."""
        if not self.data:
            raise SourceError(f"{self.name} is empty (0 bytes). Copy or download it again.")
        if self.data.startswith(b"version https://git-lfs"):
            raise SourceError(
                f"{self.name} is a Git LFS pointer, not the file. Fetch it with `git lfs pull`."
            )
        return self

    @property
    def extension(self) -> str:
        """The name's ending in lower case, without the dot."""
        return self.name.rpartition(".")[2].lower()

    @cached_property
    def sha256(self) -> str:
        """SHA-256 of the bytes, in hexadecimal."""
        return hashlib.sha256(self.data).hexdigest()

    def text(self) -> str:
        """The file as UTF-8 text, without a byte order mark.

        Raises:
            SourceError: the bytes are not UTF-8.
        """
        try:
            return self.data.removeprefix(codecs.BOM_UTF8).decode("utf-8")
        except UnicodeDecodeError as error:
            skipped = len(codecs.BOM_UTF8) if self.data.startswith(codecs.BOM_UTF8) else 0
            position = error.start + skipped
            utf16 = self.data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
            raise SourceError(
                f"{self.name} is not UTF-8: byte 0x{self.data[position]:02x} at position {position}"
                f"{' (it looks like UTF-16)' if utf16 else ''}. Save it as UTF-8."
            ) from None


def fingerprint(files: Iterable[SourceFile], revision: str | None, moved: str = "") -> str:
    """SHA-256 over names and bytes of all files read, in any order, the Hub revision, and how they were read.

    Args:
        moved: what of the reading is not the default, as text.
    """
    digest = hashlib.sha256(f"revision {revision}\n".encode())
    if moved:
        digest.update(f"read as {moved}\n".encode("utf-8", "surrogateescape"))
    for name, content in sorted((file.name, file.sha256) for file in files):
        digest.update(f"{content} {name}\n".encode("utf-8", "surrogateescape"))
    return digest.hexdigest()
