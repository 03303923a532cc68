"""The corpus that comes with the package, written for it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from spider_compose import __version__
from spider_compose.errors import SourceError
from spider_compose.source.column_files import corpus_of_files
from spider_compose.source.corpus import Corpus
from spider_compose.source.files import SourceFile
from spider_compose.source.schemas import TABLES, find_schemas

NAME = "bundled"
LICENSE = "CC BY-SA 4.0"
ATTRIBUTION = "The bundled corpus of SpiderCompose: the SpiderCompose authors, CC BY-SA 4.0"


def read(schemas: Path | None = None) -> Corpus:
    """Read the bundled corpus.

    Raises:
        SourceError: the installed package lacks its files.
    """
    corpus = corpus_of_files(
        NAME,
        {"train": [_resource("train.json")], "validation": [_resource("validation.json")]},
        find_schemas(schemas, []) or _resource(TABLES),
    )
    return replace(corpus, release=f"{NAME} ({__version__})", license=LICENSE, attribution=ATTRIBUTION)


def _resource(name: str) -> SourceFile:
    from importlib.resources import files  # imports archive modules that no other source needs

    resource = files("spider_compose.source") / "bundled" / name
    try:
        return SourceFile(name, resource.read_bytes()).checked()
    except OSError:
        raise SourceError(
            f"the installed package lacks its bundled corpus ({resource}). Install it again."
        ) from None
