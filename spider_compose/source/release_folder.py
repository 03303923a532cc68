"""Adapter: the official release of Spider, a folder with train_spider.json, dev.json and tables.json.

`train_others.json` (pairs from six older corpora) is not read: the 7,000 training rows of the paper and of
the Hub are those of train_spider.json alone.
"""

from __future__ import annotations

from pathlib import Path

from spider_compose.errors import SourceError
from spider_compose.source.corpus import Corpus
from spider_compose.source.files import SourceFile
from spider_compose.source.reading import Reading
from spider_compose.source.records import SourceSplit
from spider_compose.source.releases import SPIDER
from spider_compose.source.rows import read_rows
from spider_compose.source.schemas import TABLES, find_schemas

NAME = "spider"
OPTIONS: tuple[str, ...] = ("schemas",)
PARTS: dict[SourceSplit, str] = {"train": "train_spider.json", "validation": "dev.json"}
NOT_USED = "train_others.json"


def recognise(path: Path) -> bool:
    """Whether the folder holds a training file under the release's name."""
    return any((path / name).is_file() for name in (PARTS["train"], NOT_USED))


def read(path: Path, reading: Reading) -> Corpus:
    """Read the release.

    Raises:
        SourceError: one of its files is missing or broken.
    """
    needed = [*PARTS.values(), *([] if reading.schemas else [TABLES])]
    missing = [name for name in needed if not (path / name).is_file()]
    if missing:
        other = " (or give other schemas with `schemas`)" if missing == [TABLES] else ""
        raise SourceError(
            f"{path} looks like the official release of Spider, but {', '.join(missing)} is missing. "
            f"Copy it from the release{other}."
        )
    files = {part: SourceFile.read(path / name) for part, name in PARTS.items()}
    notes = (f"{NOT_USED} is not read: Spider's 7,000 training rows are those of {PARTS['train']}",)
    return Corpus(
        name=path.resolve().name,
        parts={part: read_rows(file) for part, file in files.items()},
        files=tuple(files.values()),
        schemas=find_schemas(reading.schemas, [path], reading.dialect),
        expected=SPIDER,
        license=SPIDER.license,
        attribution=SPIDER.attribution,
        notes=notes if (path / NOT_USED).is_file() else (),
    )
