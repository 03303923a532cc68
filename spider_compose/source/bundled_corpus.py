"""The corpus that comes with the package, written for it."""

from __future__ import annotations

from dataclasses import replace

from spider_compose import __version__
from spider_compose.errors import SourceError
from spider_compose.source.column_files import corpus_of_files
from spider_compose.source.corpus import Corpus
from spider_compose.source.files import SourceFile
from spider_compose.source.reading import Reading
from spider_compose.source.schemas import TABLES, Schemas, find_schemas, read_tables

NAME = "bundled"
OPTIONS: tuple[str, ...] = ("schemas",)
LICENSE = "CC BY-SA 4.0"
ATTRIBUTION = "The bundled corpus of SpiderCompose: the SpiderCompose authors, CC BY-SA 4.0"


def read(reading: Reading) -> Corpus:
    """Read the bundled corpus.

    Raises:
        SourceError: the installed package lacks its files.
    """
    corpus = corpus_of_files(
        NAME,
        {"train": [_resource("train.json")], "validation": [_resource("validation.json")]},
        find_schemas(reading.schemas, [], reading.dialect) if reading.schemas else _own_schemas(),
    )
    return replace(corpus, release=f"{NAME} ({__version__})", license=LICENSE, attribution=ATTRIBUTION)


def _own_schemas() -> Schemas:
    tables = _resource(TABLES)
    return Schemas(read_tables(tables), (tables,))


def _resource(name: str) -> SourceFile:
    from importlib.resources import files  # imports archive modules that no other source needs

    resource = files("spider_compose.source") / "bundled" / name
    try:
        return SourceFile(name, resource.read_bytes()).checked()
    except OSError:
        raise SourceError(
            f"the installed package lacks its bundled corpus ({resource}). Install it again."
        ) from None
