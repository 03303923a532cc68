"""A schema, and questions read by spaCy, for the tests of alignment."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

import pytest

from spider_compose.alignment.evidence import ClauseWords, clause_words
from spider_compose.alignment.records import Word
from spider_compose.alignment.words import read_words
from spider_compose.sql.clauses import split_clauses
from spider_compose.sql.schema import Column, Schema, Table


def table(name: str, columns: str) -> Table:
    return Table(name, name, tuple(Column(column, column.replace("_", " ")) for column in columns.split()))


SCHEMA = Schema(
    "festival",
    (
        table("singer", "singer_id name age country citizenship birth_date"),
        table("concert", "concert_id name year stadium_id singer_id"),
        table("stadium", "stadium_id name capacity location"),
        table("channel", "channel_id series_name package_option language"),
        table("professional", "professional_id role_code state city first_name"),
    ),
)

WordsOf = Callable[[str], tuple[Word, ...]]
ReadPair = Callable[[str, str], tuple[tuple[Word, ...], tuple[ClauseWords, ...]]]


@cache
def _words(question: str) -> tuple[Word, ...]:
    return next(iter(read_words([question])))


@pytest.fixture(scope="session")
def words_of() -> WordsOf:
    return _words


@pytest.fixture(scope="session")
def read_pair() -> ReadPair:
    """The words of a question, and the candidate words of the clauses of its query."""

    def read(question: str, query: str) -> tuple[tuple[Word, ...], tuple[ClauseWords, ...]]:
        return _words(question), clause_words(split_clauses(query), SCHEMA)

    return read


@pytest.fixture(scope="session")
def said() -> Callable[[Sequence[Word], Sequence[int]], str]:
    """The words at these positions, joined with spaces."""
    return lambda words, ids: " ".join(words[position].text for position in ids)
