"""Adapter: BIRD (Li et al. 2023), JSON with `SQL` in place of `query` and with `evidence`.

    [{"db_id": "...", "question": "...", "evidence": "...", "SQL": "SELECT ...", ...}, ...]

A folder with `train.json` and `dev.json`, or either; schemas in `train_tables.json` and `dev_tables.json`
beside them, or wherever `schemas` says: the folder `dev_databases` does. A single file is all training rows.
`evidence`, what one must know to write the SQL, is kept with the pair.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from spider_compose.source.corpus import Corpus
from spider_compose.source.files import SourceFile
from spider_compose.source.json_text import parse_list
from spider_compose.source.reading import Reading
from spider_compose.source.records import SourceSplit
from spider_compose.source.rows import Columns, RawRow, read_rows
from spider_compose.source.schemas import NO_SCHEMAS, TABLES, Schemas, find_schemas, merged, read_schema_file

NAME = "bird"
OPTIONS: tuple[str, ...] = ("schemas", "columns", "database")
PARTS: dict[SourceSplit, str] = {"train": "train", "validation": "dev"}
COLUMNS = {"query": "SQL"}

_HEAD = 1 << 14
# The first row up to the end of its object; quotes in texts are escaped, so these are its keys.
_KEYS = (b'"SQL"', b'"evidence"', b'"db_id"', b'"question"')
_OURS = re.compile(rb'"query"\s*:')


def recognise(path: Path) -> bool:
    """Whether the path is such a file, or a folder that holds one."""
    return bool(_files(path))


def read(path: Path, reading: Reading) -> Corpus:
    """Read the parts that are there.

    Raises:
        SourceError: a file is broken.
    """
    files = {part: SourceFile.read(one) for part, one in _files(path).items()}
    columns = Columns({**COLUMNS, **reading.columns}, reading.database)
    parts = {part: _with_evidence(file, read_rows(file, columns)) for part, file in files.items()}
    folder = path.parent if path.is_file() else path
    schemas = _schemas(folder, reading)
    absent = [f"no {part} part" for part in PARTS if part not in files]
    return Corpus(
        name=path.stem if path.is_file() else path.resolve().name,
        parts=parts,
        files=tuple(files.values()),
        schemas=schemas,
        notes=(*absent, *(() if schemas.by_name else (NO_SCHEMAS,))),
        extra=("evidence",),
    )


def _files(path: Path) -> dict[SourceSplit, Path]:
    if path.is_file():
        return {"train": path} if _is_one(path) else {}
    found = {part: path / f"{name}.json" for part, name in PARTS.items()}
    return {part: one for part, one in found.items() if one.is_file() and _is_one(one)}


def _is_one(path: Path) -> bool:
    if path.suffix.lower() != ".json":
        return False
    try:
        with path.open("rb") as file:
            first = file.read(_HEAD).partition(b"}")[0]
    except OSError:  # the adapters after this one say what cannot be read
        return False
    return all(key in first for key in _KEYS) and not _OURS.search(first)


def _with_evidence(file: SourceFile, rows: list[RawRow]) -> list[RawRow]:
    made = []
    for row, content in zip(rows, parse_list(file), strict=True):
        evidence = content.get("evidence") if isinstance(content, dict) else None
        made.append(replace(row, evidence=evidence if isinstance(evidence, str) else ""))
    return made


def _schemas(folder: Path, reading: Reading) -> Schemas:
    own = [folder / f"{name}_{TABLES}" for name in PARTS.values()]
    there = [path for path in own if path.is_file()]
    if reading.schemas is None and there:
        return merged(read_schema_file(path) for path in there)
    return find_schemas(reading.schemas, [folder], reading.dialect)
