"""Known releases, told by row counts and checksums whatever the files they come in."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from spider_compose.source.files import SourceFile
from spider_compose.source.records import SourceSplit
from spider_compose.source.rows import RawRow
from spider_compose.source.schemas import TABLES

SPIDER_LICENSE = "CC BY-SA 4.0"
SPIDER_ATTRIBUTION = (
    "Spider 1.0: Tao Yu et al., Spider: A Large-Scale Human-Labeled Dataset for Complex and Cross-Domain "
    "Semantic Parsing and Text-to-SQL Task, EMNLP 2018, https://yale-lily.github.io/spider, CC BY-SA 4.0"
)


@dataclass(frozen=True)
class Release:
    """One published corpus.

    Attributes:
        rows: row count by part.
        content: `content_checksum` by part, the same in every container.
        files: SHA-256 of the Hub's Parquet file by part.
        tables: SHA-256 of tables.json.
    """

    name: str
    title: str
    rows: Mapping[SourceSplit, int]
    content: Mapping[SourceSplit, str]
    files: Mapping[SourceSplit, str]
    tables: str
    license: str
    attribution: str


SPIDER = Release(
    name="spider-1.0",
    title="Spider 1.0",
    rows={"train": 7_000, "validation": 1_034},
    content={
        "train": "97e037313e1b49cd3ae7806e067007344573bf26987f353e7c6e3b9990ad60a2",
        "validation": "c78481792535d3d42d9044805e1bae354835924dadbe1ab9f88ebdffcf277bb8",
    },
    files={
        "train": "3bcc9218cb575bc20c7787914ae7b80479315187cfb1a428d75adecc3c466b7a",
        "validation": "eb29f39e7c65a8ef37f96d6b8b2926f7a2858027ef8abba9ea15e3a9d8ab6459",
    },
    tables="61bb20aa401f03164e2d7f3b16509b7b5f79cc9c943ca7bd159046df1159e2ed",
    license=SPIDER_LICENSE,
    attribution=SPIDER_ATTRIBUTION,
)

KNOWN_RELEASES = (SPIDER,)


def content_checksum(rows: Iterable[RawRow]) -> str:
    """SHA-256 over (db_id, query, question) of each row in order, one JSON list per line.

    Every row counts, also one that cannot be used, so that leaving rows out does not hide a known release.
    """
    digest = hashlib.sha256()
    for row in rows:
        # ASCII escapes: half a surrogate pair has no bytes of its own.
        digest.update(json.dumps(row.values(), ensure_ascii=True, default=str).encode("ascii") + b"\n")
    return digest.hexdigest()


def differences(release: Release, parts: Mapping[SourceSplit, Sequence[RawRow]]) -> tuple[str, ...]:
    """One line per part that is not the release's, empty if all rows are its own, in its order."""
    found = []
    for part, expected in release.rows.items():
        rows = parts.get(part, ())
        if len(rows) != expected:
            found.append(f"{part}: {len(rows):,} rows, {release.title} has {expected:,}")
        elif content_checksum(rows) != release.content[part]:
            found.append(f"{part}: {expected:,} rows as in {release.title}, but other texts or another order")
    return tuple(found)


def nearest_release(parts: Mapping[SourceSplit, Sequence[RawRow]]) -> Release | None:
    """The known release that shares at least one whole part with the corpus."""
    shared = (release for release in KNOWN_RELEASES if len(differences(release, parts)) < len(release.rows))
    return next(shared, None)


def describe(release: Release, files: Iterable[SourceFile]) -> str:
    """The name of a matched release, and whether its rows came in the published files."""
    published = set(release.files.values()) <= {file.sha256 for file in files}
    container = "the Hub's files" if published else "the same rows in other files"
    return f"{release.name} ({' + '.join(f'{rows:,}' for rows in release.rows.values())} rows, {container})"


def schema_difference(release: Release, files: Iterable[SourceFile]) -> tuple[str, ...]:
    """A note if the rows come with another tables.json than the release's (names may read differently)."""
    if any(file.name == TABLES and file.sha256 != release.tables for file in files):
        return (f"{TABLES}: not the file known for {release.title}, so names may read differently",)
    return ()
