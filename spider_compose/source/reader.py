"""One reader for every source."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from spider_compose.errors import OptionError, SourceError, choose
from spider_compose.source import (
    bird,
    bundled_corpus,
    column_files,
    hub,
    release_folder,
    text2sql,
    wikisql,
)
from spider_compose.source.corpus import Adapter, Corpus
from spider_compose.source.files import fingerprint
from spider_compose.source.pairs import check_rows
from spider_compose.source.reading import Reading, parse_columns, parse_parts
from spider_compose.source.records import LeftOut, Source, SourcePair, SourceSplit
from spider_compose.source.releases import SPIDER, describe, differences, nearest_release, schema_difference

# By the name that `format` takes. Asked in this order: train_spider.json beside a dev.json is Spider, not a
# corpus without a training part, and any file may have columns.
FORMATS: dict[str, Adapter] = {
    release_folder.NAME: release_folder,
    text2sql.NAME: text2sql,
    wikisql.NAME: wikisql,
    bird.NAME: bird,
    column_files.NAME: column_files,
}
ADAPTERS: tuple[Adapter, ...] = tuple(FORMATS.values())

PARTS: tuple[SourceSplit, ...] = ("train", "validation")


def read_source(
    source: str | os.PathLike[str] = "bundled",
    *,
    revision: str | None = None,
    dialect: str = "sqlite",
    strict: bool = False,
    schemas: str | os.PathLike[str] | None = None,
    format: str | None = None,
    own_split: str = "question",
    held_out: str | None = None,
    columns: str | Mapping[str, str] | None = None,
    database: str | None = None,
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
            - a corpus of text2sql-data: its JSON file (.json or .json.bz2), or a folder with one;
            - a folder with WikiSQL's own files, train.jsonl and train.tables.jsonl and so on;
            - a folder with BIRD's train.json, dev.json, or both; or one of them, all training;
            - a corpus of your own with the columns db_id, query, question: a folder with train.* and
              validation.* (or dev.*) as .json, .jsonl, .csv or .parquet, tables.json optional; or one such
              file, all training.
        revision: commit, branch or tag, for the Hub alone. `Source.revision` holds the commit.
        dialect: the SQL dialect of the queries, a name that sqlglot knows. Texts are not parsed here, so the
            name is checked and nothing else.
        strict: raise at the first row that cannot be used.
        schemas: in place of those beside the files: a file in the format of Spider's tables.json, or, for
            one database, a CSV of text2sql-data, a SQLite file or a DDL script; or a folder with any. Where
            there are schemas, rows of other databases are left out.
        format: "spider", "text2sql", "wikisql", "bird" or "columns", for files that are not recognised.
        own_split: "question" or "query": which of the two splits of text2sql-data makes the parts.
        held_out: names of the corpus's own parts (of text2sql-data and WikiSQL), between commas, that become
            the validation part, from which the test split is made; by default test, else dev, else the last
            fold.
        columns: what a corpus of your own calls the columns, as "query=SQL,question=utterance" or a mapping.
        database: the `db_id` of all rows, for a corpus with one database and no such column.

    Returns:
        The corpus, with both parts in `pairs` (one may be empty).

    Raises:
        SourceError: nothing to read there, a file is broken or lacks a column, no row can be used; with
            `strict`, any row cannot be used.
        OptionError: an unknown dialect, format, split, part or column, or a revision for a source that is not
            on the Hub.
        MissingExtraError: Parquet or the Hub, and pyarrow or huggingface_hub is not installed.
    """
    _check_dialect(dialect)
    for name, value in (("source", source), ("schemas", schemas)):
        if not isinstance(value, str | os.PathLike | None) or (value is None and name == "source"):
            raise OptionError(f"`{name}` must be a name or a path, but got {value!r}.")
    try:
        reading = Reading(
            schemas=None if schemas is None else _local_path(schemas),
            dialect=dialect,
            own_split=own_split,
            held_out=parse_parts(held_out),
            columns=parse_columns(columns),
            database=database,
        )
        adapters = ADAPTERS if format is None else (FORMATS[choose("format", format, FORMATS)],)
        corpus, commit = _read_corpus(source, revision, reading, adapters)
    except OSError as error:  # a folder that may not be entered; a working folder that is gone
        raise SourceError(
            f"cannot read {error.filename or source}: {error.strerror or error}. Check its permissions."
        ) from error
    return _checked_source(corpus, commit, strict, reading)


def _check_dialect(dialect: str) -> None:
    from sqlglot import Dialect

    try:
        Dialect.get_or_raise(dialect)
    except (ValueError, AttributeError, TypeError) as error:
        raise OptionError(f"`dialect` must be one that sqlglot knows, but got {dialect!r}: {error}") from None


def _read_corpus(
    source: str | os.PathLike[str], revision: str | None, reading: Reading, adapters: Iterable[Adapter]
) -> tuple[Corpus, str | None]:
    """The corpus, and the commit it has on the Hub."""
    bundled = source == bundled_corpus.NAME
    path = _local_path(source)
    # A Path is always local; a name may stand for more.
    if isinstance(source, str) and not bundled and hub.recognise(source) and not _exists(path):
        folder, commit = hub.download(source, revision)
        read = _read_path(folder, reading, adapters, f"the Hub's {source}")
        corpus = replace(read, name=source, expected=None)
        if source == hub.SPIDER_REPOSITORY:
            corpus = replace(corpus, expected=SPIDER, license=SPIDER.license, attribution=SPIDER.attribution)
        return corpus, commit
    if revision is not None:
        raise OptionError(f"`revision` is for datasets on the Hub; {str(source)!r} is not one. Leave it out.")
    if bundled:
        reading.check_used("the bundled corpus", bundled_corpus.OPTIONS)
        return bundled_corpus.read(reading), None
    if not str(source) or not _exists(path):
        raise SourceError(
            f"no such source: {str(source)[:200]!r}. Expected {bundled_corpus.NAME!r}, an existing folder or "
            f"file, or a dataset on the Hub as 'owner/name'. Looked in {path.absolute().parent}."
        )
    return _read_path(path, reading, adapters, str(path)), None


def _local_path(name: str | os.PathLike[str]) -> Path:
    return Path(os.path.expanduser(name))  # Path.expanduser raises where there is no such user


def _exists(path: Path) -> bool:
    try:
        return path.is_file() or path.is_dir()
    except (OSError, ValueError):  # a name that no file can have: too long, or with a zero byte
        return False


def _read_path(path: Path, reading: Reading, adapters: Iterable[Adapter], origin: str) -> Corpus:
    for adapter in adapters:
        if adapter.recognise(path):
            reading.check_used(f"{origin} (format {adapter.NAME!r})", adapter.OPTIONS)
            return adapter.read(path, reading)
    if path.is_file():
        asked = ", ".join(name for name, adapter in FORMATS.items() if adapter in tuple(adapters))
        raise SourceError(f"{origin} is not in the format {asked}. Name another `format`, or none.")
    there = sorted(entry.name + "/" * entry.is_dir() for entry in path.iterdir())
    listing = ", ".join(there[:12]) + (f" and {len(there) - 12} more" if len(there) > 12 else "")
    raise SourceError(
        f"{origin} holds no known corpus. Looked for {release_folder.PARTS['train']} (Spider's official "
        f"release), a JSON file of text2sql-data, train.jsonl with train.tables.jsonl (WikiSQL), or "
        f"{column_files.LOOKED_FOR}, also in {' or '.join(column_files.SUBFOLDERS[1:])}. "
        f"There: {listing or 'nothing'}. Check the path, or rename the files."
    )


def _checked_source(corpus: Corpus, commit: str | None, strict: bool, reading: Reading) -> Source:
    pairs: dict[str, tuple[SourcePair, ...]] = {}
    left_out: list[LeftOut] = []
    schemas = corpus.schemas.named_for(_databases(corpus))
    files = (*corpus.files, *corpus.schemas.files)
    for part in PARTS:
        pairs[part], faulty = check_rows(part, corpus.parts.get(part, ()), schemas, strict)
        left_out.extend(faulty)
    if not any(pairs.values()):
        reason = (
            f"all {len(left_out):,} were left out. The first: {left_out[0].detail}"
            if left_out
            else f"there is none in it ({'; '.join(corpus.notes)}). Check that these are the files."
        )
        raise SourceError(f"{corpus.name} has no usable row: {reason}")
    # A corpus that shares a whole part with a known release is that release, changed: its licence stays.
    near = nearest_release(corpus.parts)
    known = near or corpus.expected
    unlike = differences(known, corpus.parts) if known else ()
    matched = None if unlike else known
    return Source(
        name=matched.name if matched else corpus.name,
        release=describe(matched, files) if matched else corpus.release,
        fingerprint=fingerprint(files, commit, reading.moved()),
        pairs=pairs,
        schemas=schemas,
        left_out=tuple(left_out),
        row_counts={part: len(corpus.parts.get(part, ())) for part in PARTS},
        revision=commit,
        license=near.license if near else corpus.license,
        attribution=near.attribution if near else corpus.attribution,
        notes=(*corpus.notes, *unlike, *(schema_difference(known, files) if known else ())),
        extra=corpus.extra,
    )


def _databases(corpus: Corpus) -> set[str]:
    """Names of the databases that the rows speak of, faulty rows left out."""
    rows = (row.values()[0] for part in corpus.parts.values() for row in part if row.fault is None)
    return {name for name in rows if isinstance(name, str) and name.strip()}
