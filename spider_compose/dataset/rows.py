"""The rows of each kind of config, taken from a build."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from spider_compose.composition.build import Build
    from spider_compose.source.records import Source


def source_rows(source: Source, split: str) -> list[dict[str, Any]]:
    """The source's own pairs of one split, each with its place there."""
    return [
        {
            "db_id": pair.db_id,
            "query": pair.query,
            "question": pair.question,
            "source_split": pair.split,
            "source_row": pair.row,
        }
        for pair in source.pairs.get(split, ())
    ]


def build_rows(build: Build, kind: str, split: str) -> list[dict[str, Any]]:
    """The rows of one split; none where the build has no such split.

    Args:
        build: what was built.
        kind: "pairs", "alignment" or "spider", as in `ConfigSpec.kind`.
        split: name of the split.
    """
    if kind == "spider":
        return source_rows(build.source, split)
    return (build.pairs if kind == "pairs" else build.alignments).get(split, [])
