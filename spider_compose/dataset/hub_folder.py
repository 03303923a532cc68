"""Write a build as a folder that `load_dataset(FOLDER)` reads, here or pushed to the Hub.

    FOLDER/README.md                  dataset card: configs, columns, counts, licence
    FOLDER/signature.json             what moved the numbers, the counts, rows left out, checksum of each file
    FOLDER/CONFIG/SPLIT.parquet       the rows; an empty split has no file

Everything is written to a hidden folder beside it, which takes the name when all of it is there: what bears
the name is whole. The same build gives the same bytes (with the same pyarrow, which signs its files).
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import secrets
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from spider_compose.dataset.configs import CONFIGS, composed_config
from spider_compose.dataset.features import arrow_schema
from spider_compose.dataset.tables import ConfigTable, Tables, why_empty
from spider_compose.errors import OutputError

if TYPE_CHECKING:
    from spider_compose.composition.build import Build
    from spider_compose.source.records import Source

_logger = logging.getLogger(__name__)

SIGNATURE_FILE = "signature.json"
FORMAT = "spider_compose hub folder 1"

_LEFTOVER_AGE = 3600
"""Seconds after which the hidden folder of a writer that was killed is cleared away."""


@dataclass(frozen=True)
class SplitFile:
    """One Parquet file.

    Attributes:
        split: name of the split.
        path: relative to the folder, with `/`.
        num_rows: rows in it.
        num_bytes: size of the rows in memory (Arrow).
        file_bytes: size of the file.
    """

    split: str
    path: str
    num_rows: int
    num_bytes: int
    file_bytes: int


def build_tables(build: Build) -> tuple[ConfigTable, ...]:
    """The tables that every folder of a build has: its pairs (the default), its alignments, its source."""
    given = asdict(build.options)
    spec, _ = composed_config(given)
    return (
        ConfigTable(spec, build.pairs, build.signature, build.left_out),
        ConfigTable(CONFIGS["alignment"], build.alignments, build.signature, build.left_out),
        Tables(build.source, given).table(CONFIGS["spider"]),
    )


def write_hub_folder(
    build: Build, folder: str | os.PathLike[str], *, also: Sequence[ConfigTable] = (), force: bool = False
) -> Path:
    """Write a build as a Hub folder.

    Args:
        build: what to write.
        also: tables of further configs, from the same source.
        folder: where. It may be absent, empty, or an unchanged folder that this function wrote before, which
            is replaced.
        force: replace any other folder too, with all that is in it.

    Returns:
        The folder as an absolute path.

    Raises:
        OutputError: the folder holds something else, or cannot be written. Nothing has changed then.
    """
    return write_tables((*build_tables(build), *also), build.source, folder, build=build, force=force)


def write_tables(
    tables: Sequence[ConfigTable],
    source: Source,
    folder: str | os.PathLike[str],
    *,
    build: Build | None = None,
    given: Mapping[str, Any] = MappingProxyType({}),
    force: bool = False,
) -> Path:
    """Write tables of one source as a Hub folder; see `write_hub_folder`.

    Args:
        tables: the configs; the first is the default.
        source: what they were made from.
        build: the build behind the first, whose counts the card then shows.
        given: without a build, the build options that were given by hand.
    """
    from spider_compose.dataset.card import render_card

    target = check_target(folder, force=force)
    options = asdict(build.options) if build else dict(given)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with _hidden_sibling(target) as partial:
            files = {table.spec.name: _write_splits(table, source, partial) for table in tables}
            _write_text(partial / "README.md", render_card(tables, files, source, build))
            _write_text(partial / SIGNATURE_FILE, _signature_json(tables, source, build, options, partial))
            _take_name(partial, target)
    except OSError as error:
        raise _unwritable(target, error.strerror or str(error)) from error
    return target


def check_target(folder: str | os.PathLike[str], *, force: bool = False) -> Path:
    """Say whether `write_hub_folder` would refuse a folder, before there is anything to write.

    Returns:
        The folder as an absolute path.

    Raises:
        OutputError: it holds something else, or nothing can be written there.
    """
    target = Path(os.path.expanduser(folder))  # Path.expanduser raises where there is no such user
    try:
        target = target.resolve()
        _check_target(target, force)
        nearest = next((parent for parent in target.parents if parent.exists()), target)
        if not nearest.is_dir():
            raise _unwritable(target, f"{nearest} is a file")
        if not os.access(nearest, os.W_OK):
            raise _unwritable(target, f"Permission denied in {nearest}")
    except OSError as error:
        raise _unwritable(target, error.strerror or str(error)) from error
    return target


def _unwritable(target: Path, reason: str) -> OutputError:
    return OutputError(f"cannot write {target}: {reason}. Name a folder where you may write.")


def _write_splits(made: ConfigTable, source: Source, folder: Path) -> list[SplitFile]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    spec = made.spec
    (folder / spec.name).mkdir()
    schema = arrow_schema(spec.kind, spec.extra(source.extra))
    written = []
    for split in spec.splits:
        rows = made.rows.get(split, [])
        if not rows:  # load_dataset stops at a split without rows
            reason = why_empty(spec, split, source)
            _logger.warning("config %s: split %s has no rows and is left out: %s", spec.name, split, reason)
            continue
        table = pa.Table.from_pylist(rows, schema=schema)
        path = folder / spec.name / f"{split}.parquet"
        # All that moves bytes is named, so that another pyarrow's defaults do not.
        pq.write_table(
            table,
            path,
            compression="zstd",
            compression_level=9,
            row_group_size=10_000,
            version="2.6",
            data_page_version="1.0",
            use_dictionary=True,
            write_statistics=True,
            store_schema=True,
        )
        written.append(
            SplitFile(split, f"{spec.name}/{split}.parquet", len(rows), table.nbytes, path.stat().st_size)
        )
    if not written:
        raise OutputError(f"the build has no rows for config {spec.name!r}: nothing to write.")
    return written


def _signature_json(
    tables: Sequence[ConfigTable],
    source: Source,
    build: Build | None,
    options: dict[str, Any],
    folder: Path,
) -> str:
    content = {
        "format": FORMAT,
        "signature": tables[0].signature,
        "configs": {table.spec.name: table.signature for table in tables},
        "options": options,
        "source": {
            "name": source.name,
            "release": source.release,
            "revision": source.revision,
            "fingerprint": source.fingerprint,
            "rows": dict(source.row_counts),
        },
        "counts": {split: asdict(counts) for split, counts in build.counts.items()} if build else {},
        "left_out": [asdict(row) for row in dict.fromkeys(row for table in tables for row in table.left_out)],
        "files": _checksums(folder),
    }
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def _checksums(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path != folder / SIGNATURE_FILE
    }


def _write_text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")


def _check_target(target: Path, force: bool) -> None:
    if target == Path.cwd() or target in Path.cwd().parents or os.path.ismount(target):
        raise OutputError(
            f"{target} cannot be replaced as a whole while it is in use. Name a folder inside it."
        )
    if not target.exists() or (force and target.is_dir()):
        return
    if not target.is_dir():
        raise OutputError(f"{target} is a file. Name a folder.")
    if any(target.iterdir()):
        _check_former_build(target)


def _check_former_build(target: Path) -> None:
    try:
        former: dict[str, Any] = json.loads((target / SIGNATURE_FILE).read_text(encoding="utf-8"))
        known = dict(former["files"]) if former["format"] == FORMAT else None
    except (FileNotFoundError, ValueError, KeyError, TypeError, RecursionError):
        known = None
    if known is None:
        raise OutputError(
            f"{target} is not empty and was not written by SpiderCompose. Name another folder, or replace it "
            "with all that is in it (force)."
        )
    found = _checksums(target)
    changed = sorted(name for name in known.keys() | found.keys() if known.get(name) != found.get(name))
    if changed:
        raise OutputError(
            f"{target} has changed since it was written: {', '.join(changed[:5])}"
            f"{f' and {len(changed) - 5} more' if len(changed) > 5 else ''}. Name another folder, or replace "
            "it with all that is in it (force)."
        )


@contextmanager
def _hidden_sibling(target: Path) -> Iterator[Path]:
    """A new hidden folder beside `target`, gone at the end unless it was renamed."""
    prefix = f".{target.name}.incomplete-"
    for path in target.parent.iterdir():
        if path.name.startswith(prefix) and time.time() - path.stat().st_mtime > _LEFTOVER_AGE:
            shutil.rmtree(path, ignore_errors=True)
    partial = target.parent / f"{prefix}{secrets.token_hex(4)}"  # two writers never share one
    partial.mkdir()
    try:
        yield partial
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _take_name(partial: Path, target: Path) -> None:
    if not target.exists():
        partial.rename(target)
        return
    former = target.parent / f"{partial.name}-former"
    target.rename(former)
    try:
        partial.rename(target)
    except OSError:
        former.rename(target)
        raise
    shutil.rmtree(former, ignore_errors=True)
