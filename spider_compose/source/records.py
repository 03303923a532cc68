"""What every source is read into."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from spider_compose.sql.schema import Schema

SourceSplit = Literal["train", "validation"]

EXTRA_COLUMNS = ("other_queries", "evidence")
"""What some corpora have beside a pair, names of fields of `SourcePair`."""


@dataclass(frozen=True)
class SourcePair:
    """One (SQL, question) pair as it stands in its source.

    Attributes:
        split: the source's own part, "train" or "validation".
        row: 0-based row in that part; with `split` it traces every output row.
        other_queries: further SQL that the source has for the question; `query` is its first.
        evidence: what the source says one must know to write the SQL, as in BIRD; None where it has no such
            column.
    """

    split: SourceSplit
    row: int
    db_id: str
    query: str
    question: str
    other_queries: tuple[str, ...] = ()
    evidence: str | None = None


@dataclass(frozen=True)
class LeftOut:
    """A row that could not be used, and why.

    Attributes:
        reason: short kind, the same for all rows left out for this reason (a table key).
        detail: the full message, with the place in the row.
    """

    split: str
    row: int
    reason: str
    detail: str


@dataclass(frozen=True)
class Source:
    """A corpus read into memory.

    Attributes:
        name: what it is: "spider-1.0", "bundled", or the name of the folder.
        release: the known release its rows and checksums match, or None (named, never refused).
        fingerprint: SHA-256 over everything read (files' bytes); enters cache keys and signatures.
        revision: the commit that the Hub revision asked for stood for, where it came from the Hub.
        pairs: usable rows by part, in the source's order (rows left out leave gaps in `row`).
        schemas: by db_id; empty when the corpus has none (names are then split at `_` and case changes).
        left_out: rows that could not be read.
        row_counts: rows in the files by part, those left out included.
        notes: what a reader should know: how it differs from a known release, files not read, no schemas.
        extra: columns that its pairs have beside the three, of `EXTRA_COLUMNS`.
    """

    name: str
    release: str | None
    fingerprint: str
    pairs: Mapping[str, tuple[SourcePair, ...]]
    schemas: Mapping[str, Schema] = field(default_factory=dict)
    left_out: tuple[LeftOut, ...] = ()
    row_counts: Mapping[str, int] = field(default_factory=dict)
    revision: str | None = None
    license: str | None = None
    attribution: str | None = None
    notes: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()

    def schema(self, db_id: str) -> Schema:
        """The schema of a database, or an empty one whose names are split into words."""
        return self.schemas.get(db_id) or Schema(db_id)
