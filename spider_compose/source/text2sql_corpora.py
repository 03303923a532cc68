"""The corpora of text2sql-data that are known by their content: what they are, and under which licence."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

_COLLECTION = (
    "in the format of text2sql-data: Catherine Finegan-Dollak et al., Improving Text-to-SQL Evaluation "
    "Methodology, ACL 2018, https://github.com/jkkummerfeld/text2sql-data, and the sources that it lists"
)


@dataclass(frozen=True)
class KnownCorpus:
    """One corpus.

    Attributes:
        name: of its file.
        title: what it is called.
        sentences: how many.
        content: `content_checksum` of its entries.
        license: None where the collection shares it with permission and names no licence.
    """

    name: str
    title: str
    sentences: int
    content: str
    license: str | None = None

    @property
    def release(self) -> str:
        """What it is, for signatures."""
        return f"{self.title} (text2sql-data, {self.sentences:,} sentences)"

    @property
    def attribution(self) -> str:
        """Whom to name."""
        terms = self.license or "shared there with permission, no licence is named: ask before you pass it on"
        return f"{self.title}, {_COLLECTION}; {terms}"


KNOWN: dict[str, KnownCorpus] = {corpus.name: corpus for corpus in ()}


def known(name: str, entries: Sequence[Any]) -> KnownCorpus | None:
    """The known corpus of this name, if these are its entries."""
    corpus = KNOWN.get(name)
    return corpus if corpus is not None and content_checksum(entries) == corpus.content else None


def content_checksum(entries: Sequence[Any]) -> str:
    """SHA-256 over the entries, one per line, the same however the file is set."""
    digest = hashlib.sha256()
    for entry in entries:
        digest.update(json.dumps(entry, sort_keys=True, ensure_ascii=True).encode("ascii") + b"\n")
    return digest.hexdigest()
