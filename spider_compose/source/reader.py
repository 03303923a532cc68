"""One reader for every source."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from spider_compose.errors import OptionError, SourceError
from spider_compose.source import bundled_corpus, column_files, hub, release_folder
from spider_compose.source.corpus import Adapter, Corpus
from spider_compose.source.files import fingerprint
from spider_compose.source.pairs import check_rows
from spider_compose.source.records import LeftOut, Source, SourcePair, SourceSplit
from spider_compose.source.releases import SPIDER, describe, differences, nearest_release, schema_difference

# Asked in this order: train_spider.json beside a dev.json is Spider, not a corpus without a training part.
ADAPTERS: tuple[Adapter, ...] = (release_folder, column_files)

PARTS: tuple[SourceSplit, ...] = ("train", "validation")


def read_source(
    source: str | os.PathLike[str] = "bundled",
    *,
    revision: str | None = None,
    dialect: str = "sqlite",
    strict: bool = False,
    schemas: str | os.PathLike[str] | None = None,
) -> Source:
    """Read a corpus of (SQL, question) pairs.

    Rows that cannot be used are left out, each with its reason; every text is kept character for character.
    A known release is recognised by its row counts and checksums in any of these forms; another one is named,
    not refused.

    Args:
        source: one of
            - "bundled": the corpus in the package (a folder of that name is `Path("bundled")`);
            - a folder with the official release: train_spider.json, dev.json, tables.json; train_others.json
              is not read, as the 7,000 training rows on the Hub are those of train_spider.json;
            - a folder with the Hub's Parquet files, in any number of shards, also in a subfolder `spider` or
              `data`, tables.json optional beside them or in the folder above;
            - a dataset on the Hub, "owner/name" where no such local folder exists, as "xlangai/spider". That
              one has no tables.json: names are split into words unless `schemas` is given;
            - a corpus of your own with the columns db_id, query, question: a folder with train.* and
              validation.* (or dev.*) as .json, .jsonl, .csv or .parquet, tables.json optional; or one such
              file, all training.
        revision: commit, branch or tag, for the Hub alone. `Source.revision` holds the commit.
        dialect: the SQL dialect of the queries, a name that sqlglot knows. Texts are not parsed here, so the
            name is checked and nothing else.
        strict: raise at the first row that cannot be used.
        schemas: a file in the format of Spider's tables.json (or a folder with a tables.json), in place of
            the one beside the files. Where there are schemas, rows of other databases are left out.

    Returns:
        The corpus, with both parts in `pairs` (one may be empty).

    Raises:
        SourceError: nothing to read there, a file is broken or lacks a column, no row can be used; with
            `strict`, any row cannot be used.
        OptionError: an unknown dialect, or a revision for a source that is not on the Hub.
        MissingExtraError: Parquet or the Hub, and pyarrow or huggingface_hub is not installed.
    """
    _check_dialect(dialect)
    for name, value in (("source", source), ("schemas", schemas)):
        if not isinstance(value, str | os.PathLike | None) or (value is None and name == "source"):
            raise OptionError(f"`{name}` must be a name or a path, but got {value!r}.")
    try:
        tables = None if schemas is None else _local_path(schemas)
        corpus, commit = _read_corpus(source, revision, tables)
    except OSError as error:  # a folder that may not be entered; a working folder that is gone
        raise SourceError(
            f"cannot read {error.filename or source}: {error.strerror or error}. Check its permissions."
        ) from error
    return _checked_source(corpus, commit, strict)


def _check_dialect(dialect: str) -> None:
    from sqlglot import Dialect

    try:
        Dialect.get_or_raise(dialect)
    except (ValueError, AttributeError, TypeError) as error:
        raise OptionError(f"`dialect` must be one that sqlglot knows, but got {dialect!r}: {error}") from None


def _read_corpus(
    source: str | os.PathLike[str], revision: str | None, schemas: Path | None
) -> tuple[Corpus, str | None]:
    """The corpus, and the commit it has on the Hub."""
    bundled = source == bundled_corpus.NAME
    path = _local_path(source)
    # A Path is always local; a name may stand for more.
    if isinstance(source, str) and not bundled and hub.recognise(source) and not _exists(path):
        folder, commit = hub.download(source, revision)
        corpus = replace(_read_path(folder, schemas, f"the Hub's {source}"), name=source, expected=None)
        if source == hub.SPIDER_REPOSITORY:
            corpus = replace(corpus, expected=SPIDER, license=SPIDER.license, attribution=SPIDER.attribution)
        return corpus, commit
    if revision is not None:
        raise OptionError(f"`revision` is for datasets on the Hub; {str(source)!r} is not one. Leave it out.")
    if bundled:
        return bundled_corpus.read(schemas), None
    if not str(source) or not _exists(path):
        raise SourceError(
            f"no such source: {str(source)[:200]!r}. Expected {bundled_corpus.NAME!r}, an existing folder or "
            f"file, or a dataset on the Hub as 'owner/name'. Looked in {path.absolute().parent}."
        )
    return _read_path(path, schemas, str(path)), None


def _local_path(name: str | os.PathLike[str]) -> Path:
    return Path(os.path.expanduser(name))  # Path.expanduser raises where there is no such user


def _exists(path: Path) -> bool:
    try:
        return path.is_file() or path.is_dir()
    except (OSError, ValueError):  # a name that no file can have: too long, or with a zero byte
        return False


def _read_path(path: Path, schemas: Path | None, origin: str) -> Corpus:
    for adapter in ADAPTERS:
        if adapter.recognise(path):
            return adapter.read(path, schemas)
    there = sorted(entry.name + "/" * entry.is_dir() for entry in path.iterdir())
    listing = ", ".join(there[:12]) + (f" and {len(there) - 12} more" if len(there) > 12 else "")
    raise SourceError(
        f"{origin} holds no known corpus. Looked for {release_folder.PARTS['train']} (Spider's official "
        f"release), or {column_files.LOOKED_FOR}, also in {' or '.join(column_files.SUBFOLDERS[1:])}. "
        f"There: {listing or 'nothing'}. Check the path, or rename the files."
    )


def _checked_source(corpus: Corpus, commit: str | None, strict: bool) -> Source:
    pairs: dict[str, tuple[SourcePair, ...]] = {}
    left_out: list[LeftOut] = []
    for part in PARTS:
        pairs[part], faulty = check_rows(part, corpus.parts.get(part, ()), corpus.schemas, strict)
        left_out.extend(faulty)
    if not any(pairs.values()):
        raise SourceError(
            f"{corpus.name} has no usable row: all {len(left_out):,} were left out. "
            f"The first: {left_out[0].detail}"
        )
    # A corpus that shares a whole part with a known release is that release, changed: its licence stays.
    near = nearest_release(corpus.parts)
    known = near or corpus.expected
    unlike = differences(known, corpus.parts) if known else ()
    matched = None if unlike else known
    return Source(
        name=matched.name if matched else corpus.name,
        release=describe(matched, corpus.files) if matched else corpus.release,
        fingerprint=fingerprint(corpus.files, commit),
        pairs=pairs,
        schemas=corpus.schemas,
        left_out=tuple(left_out),
        row_counts={part: len(corpus.parts.get(part, ())) for part in PARTS},
        revision=commit,
        license=near.license if near else corpus.license,
        attribution=near.attribution if near else corpus.attribution,
        notes=(*corpus.notes, *unlike, *(schema_difference(known, corpus.files) if known else ())),
    )
