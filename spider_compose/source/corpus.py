"""What every adapter hands over.

An adapter is a module that knows one form in which corpora come on disk; `reader.ADAPTERS` lists them in the
order in which they are asked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from spider_compose.source.files import SourceFile
from spider_compose.source.reading import Reading
from spider_compose.source.records import SourceSplit
from spider_compose.source.releases import Release
from spider_compose.source.rows import RawRow
from spider_compose.source.schemas import Schemas


@dataclass(frozen=True)
class Corpus:
    """Unchecked rows with what belongs to them.

    Attributes:
        files: everything read but the schemas, for the fingerprint.
        expected: the release that the form suggests; differences from it are noted, never refused.
        extra: columns that its rows have beside the three, of `records.EXTRA_COLUMNS`.
    """

    name: str
    parts: Mapping[SourceSplit, Sequence[RawRow]]
    files: tuple[SourceFile, ...]
    schemas: Schemas = field(default_factory=Schemas)
    expected: Release | None = None
    release: str | None = None
    license: str | None = None
    attribution: str | None = None
    notes: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()


class Adapter(Protocol):
    """What an adapter's module has.

    Attributes:
        NAME: what `format` calls it.
        OPTIONS: the attributes of `Reading` that it reads, besides the dialect; others are refused.
    """

    NAME: str
    OPTIONS: tuple[str, ...]

    def recognise(self, path: Path) -> bool:
        """Whether the path holds this form, told cheaply: by names, or by how a file begins."""

    def read(self, path: Path, reading: Reading) -> Corpus:
        """Read the rows of each part and the schemas: those given, or those beside the rows."""
