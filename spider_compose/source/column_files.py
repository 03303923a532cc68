"""Adapter: any corpus with the columns db_id, query and question, or others named by option.

A folder with `train.*` and `validation.*` (or `dev.*`) as .json, .jsonl, .csv or .parquet, whole or in shards
as on the Hub (`train-00000-of-00002.parquet`), in the folder itself or, as in Hub repositories, in its
subfolder `spider` or `data`. Schemas (tables.json; or schema.csv, schema.sql or schema.sqlite, one database
each) are optional; they lie beside the files or, for a subfolder or shards, in the folder above. One file
alone is all training rows. A `test.*` is not read: the test split is made from the validation part.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from spider_compose.errors import SourceError
from spider_compose.source.corpus import Corpus
from spider_compose.source.files import SourceFile
from spider_compose.source.reading import Reading
from spider_compose.source.records import SourceSplit
from spider_compose.source.releases import SPIDER
from spider_compose.source.rows import FORMATS, SAME_COLUMNS, Columns, RawRow, read_rows
from spider_compose.source.schemas import NO_SCHEMAS, Schemas, find_schemas

NAME = "columns"
OPTIONS: tuple[str, ...] = ("schemas", "columns", "database")
SUBFOLDERS = ("", "spider", "data")
LOOKED_FOR = (
    f"train.* and validation.* or dev.* (* = {', '.join(FORMATS)}; also -00000-of-00001 before the dot)"
)

_PARTS: dict[str, SourceSplit] = {"train": "train", "validation": "validation", "dev": "validation"}
_NAME = re.compile(
    rf"(?P<part>train|validation|dev|test)(-(?P<shard>\d{{5}})-of-(?P<shards>\d{{5}}))?\.({'|'.join(FORMATS)})"
)


def recognise(path: Path) -> bool:
    """Whether the path is a file, or a folder that holds a part under a known name."""
    return path.is_file() or _folder_of_parts(path) is not None


def read(path: Path, reading: Reading) -> Corpus:
    """Read the files of each part.

    Raises:
        SourceError: a file is broken, a shard is missing, or it is not clear which files make up a part.
    """
    columns = Columns(reading.columns, reading.database)
    if path.is_file():
        file = SourceFile.read(path)
        tables = find_schemas(reading.schemas, [path.parent], reading.dialect)
        return corpus_of_files(path.stem, {"train": [file]}, tables, columns=columns)
    folder = _folder_of_parts(path)
    assert folder is not None, "read() follows recognise()"
    found = _paths_by_part(folder)
    notes = [
        f"{name.name} is not read: the test split is made from the validation part"
        for name in found.pop("test", [])
    ]
    if "validation" in found and "dev" in found:
        names = ", ".join(name.name for name in found["validation"] + found["dev"])
        raise SourceError(f"{folder} has more than one file for the validation part: {names}. Keep one.")
    parts = {_PARTS[part]: _checked_shards(folder, paths) for part, paths in found.items()}
    files = {part: [SourceFile.read(shard) for shard in shards] for part, shards in parts.items()}
    as_on_the_hub = all("-of-" in file.name for shards in parts.values() for file in shards)
    # The folder above belongs to the corpus only where the files are the Hub's or lie in a subfolder.
    above = [folder.parent] if folder != path or as_on_the_hub else []
    tables = find_schemas(reading.schemas, [folder, *above], reading.dialect)
    corpus = corpus_of_files(path.resolve().name, files, tables, notes, columns)
    return replace(corpus, expected=SPIDER) if as_on_the_hub else corpus


def corpus_of_files(
    name: str,
    files: Mapping[SourceSplit, list[SourceFile]],
    schemas: Schemas,
    notes: list[str] | None = None,
    columns: Columns = SAME_COLUMNS,
) -> Corpus:
    """A corpus from the files of each part, in their order."""
    parts: dict[SourceSplit, list[RawRow]] = {
        part: [row for file in shards for row in read_rows(file, columns)] for part, shards in files.items()
    }
    absent = [f"no {part} part" for part in _PARTS.values() if part not in files]
    read_files = [file for shards in files.values() for file in shards]
    return Corpus(
        name=name,
        parts=parts,
        files=tuple(read_files),
        schemas=schemas,
        notes=(*(notes or ()), *dict.fromkeys(absent), *(() if schemas.by_name else (NO_SCHEMAS,))),
    )


def _folder_of_parts(path: Path) -> Path | None:
    folders = [path / name for name in SUBFOLDERS if (path / name).is_dir()]
    return next((folder for folder in folders if _paths_by_part(folder).keys() & _PARTS.keys()), None)


def _paths_by_part(folder: Path) -> dict[str, list[Path]]:
    paths: dict[str, list[Path]] = {}
    try:
        entries = sorted(folder.iterdir())
    except OSError as error:
        raise SourceError(f"cannot list {folder}: {error.strerror}. Check its permissions.") from error
    for path in entries:
        match = _NAME.fullmatch(path.name)
        if match and path.is_file():
            paths.setdefault(match["part"], []).append(path)
    return paths


def _checked_shards(folder: Path, paths: list[Path]) -> list[Path]:
    """The files of one part if they are one whole set of shards, or one file."""
    names = ", ".join(path.name for path in paths)
    matches = [match for match in map(_NAME.fullmatch, [path.name for path in paths]) if match]
    part, shards = matches[0]["part"], matches[0]["shards"]
    sets = {(match["shards"], path.suffix) for match, path in zip(matches, paths, strict=True)}
    if len(sets) > 1:
        raise SourceError(f"{folder} has more than one file for the {part} part: {names}. Keep one.")
    if shards is not None and [int(match["shard"]) for match in matches] != list(range(int(shards))):
        raise SourceError(
            f"{folder}: the {part} part should be {int(shards)} files numbered from 0, but there are only "
            f"{names}. Download the rest."
        )
    return paths
