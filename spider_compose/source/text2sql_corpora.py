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


KNOWN: dict[str, KnownCorpus] = {
    corpus.name: corpus
    for corpus in (
        KnownCorpus(
            "academic",
            "Academic",
            196,
            "be74b7cbd1fea179d7fb5387f3fc943229c1626250d77a498021c19ba5c00e86",
        ),
        KnownCorpus(
            "advising",
            "Advising",
            4_387,
            "785e6392b5939ea3285e2dba6e396a7fe36aa510ef586f92b63db1c8019c389a",
            "CC BY 4.0",
        ),
        KnownCorpus(
            "atis",
            "ATIS",
            5_280,
            "495d29941d9e2b8d298ec5222c059ff0e027074fed869fa4e1f9d30ac98263cd",
        ),
        KnownCorpus(
            "geography",
            "GeoQuery",
            877,
            "ece96441b47ec62b4f909e8d51903b16cb1534a148e519ea86c2ce77be6ef740",
        ),
        KnownCorpus(
            "imdb",
            "IMDB",
            131,
            "b3764470985168c73081f966f6cdc90ceb0f024af33cbc879e64985cb38bf5a0",
        ),
        KnownCorpus(
            "restaurants",
            "Restaurants",
            378,
            "d7858be763d7f47abac698d6b64dfdd70e9ab0b29df374c9d0315003da0c8a64",
        ),
        KnownCorpus(
            "scholar",
            "Scholar",
            817,
            "ed5ff46b53fde32063fbd607bd88eba533f13a8ad62b08e1314aa112e28eef72",
        ),
        KnownCorpus(
            "wikisql",
            "WikiSQL",
            80_654,
            "bfbe1e41ec54dbb5fd889fd69ea39f4c21bf5982fe452b842323599290ebd507",
            "BSD",
        ),
        KnownCorpus(
            "yelp",
            "Yelp",
            128,
            "ec38e805b672bf271297033c4591090f2323a4b4420ec36a279d22f60bc9211e",
        ),
    )
}


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
