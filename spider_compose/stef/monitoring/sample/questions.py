"""What people ask in the sample log: the bundled corpus, with other values and other wordings."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import resources
from typing import Any

import sqlglot
from sqlglot import exp

_OPENERS = ("Please: ", "For the weekly report: ", "Quick question. ", "Hi! ", "Following up: ")
_ENDINGS = (" Thanks!", " I need it today.", " It is for a slide.")


@dataclass(frozen=True)
class Asked:
    """A question with the right query.

    Attributes:
        values: texts that stand once in the question and as a literal in the query.
    """

    database: str
    question: str
    tree: exp.Expr
    values: tuple[str, ...]

    def with_value(self, value: str, other: str) -> Asked:
        """The same question about another value, in both texts."""
        tree = replace_literal(self.tree, value, other)
        values = tuple(other if known == value else known for known in self.values)
        return Asked(self.database, replace_word(self.question, value, other), tree, values)


@dataclass(frozen=True)
class Corpus:
    """The bundled pairs, and the values and readable names of their databases."""

    pairs: tuple[Asked, ...]
    names: dict[str, dict[str, str]]

    @cached_property
    def columns(self) -> dict[str, list[list[str]]]:
        """The text columns of each database, as lists of values."""
        return {database: list(_text_columns(database)) for database in self.names}

    def ask(self, rng: random.Random) -> Asked:
        """A question as somebody might ask it: often with another value, sometimes in another wording."""
        asked = rng.choice(self.pairs)
        for value in asked.values:
            other = self.other_value(asked.database, value, rng)
            if rng.random() < 0.6 and other and other not in asked.question:
                asked = asked.with_value(value, other)
        return Asked(asked.database, _worded(asked.question, rng), asked.tree, asked.values)

    def other_value(self, database: str, value: str, rng: random.Random) -> str | None:
        """Another value that could stand in the place of this one, if one is known."""
        if value.isdecimal():
            number = int(value)
            if 1900 <= number <= 2100:
                return str(number + rng.choice((-4, -3, -2, -1, 1, 2, 3, 4)))
            return str(
                max(2, round(number * rng.choice((0.5, 0.75, 1.5, 2, 3)))) if number > 3 else number + 2
            )
        column = next((values for values in self.columns[database] if value in values), [])
        others = [other for other in column if other != value and _PLAIN.fullmatch(other)]
        return rng.choice(others) if others else None

    def readable(self, asked: Asked) -> list[tuple[str, str]]:
        """Readable name and identifier of the query's columns, where they differ."""
        names = self.names[asked.database]
        columns = dict.fromkeys(column.name for column in asked.tree.find_all(exp.Column))
        found = [(names.get(name.lower(), name), name) for name in columns]
        return [(said, name) for said, name in found if said.lower() != name.lower()]


_PLAIN = re.compile(r"[\w .-]+")


@cache
def bundled() -> Corpus:
    """The bundled corpus, read once."""
    pairs = [
        Asked(row["db_id"], row["question"], tree, _values(row["question"], tree))
        for part in ("train", "validation")
        for row in json.loads(_file(f"{part}.json"))
        if (tree := sqlglot.parse_one(row["query"], dialect="sqlite"))
    ]
    return Corpus(
        tuple(pairs), {schema["db_id"]: _names(schema) for schema in json.loads(_file("tables.json"))}
    )


def replace_word(text: str, word: str, other: str) -> str:
    """A text with one word, or phrase, in the place of another."""
    return re.sub(rf"(?<!\w){re.escape(word)}(?!\w)", lambda _: other, text)


def replace_literal(tree: exp.Expr, value: str, other: str) -> exp.Expr:
    """A copy of a query with one literal in the place of another."""
    tree = tree.copy()
    for literal in list(tree.find_all(exp.Literal)):
        if literal.this == value:
            literal.set("this", other)
    return tree


def _file(name: str) -> str:
    return resources.files("spider_compose").joinpath("source", "bundled", name).read_text(encoding="utf-8")


def _names(schema: dict[str, Any]) -> dict[str, str]:
    pairs = zip(schema["column_names_original"], schema["column_names"], strict=True)
    return {name.lower(): said for (_, name), (_, said) in pairs}


def _values(question: str, tree: exp.Expr) -> tuple[str, ...]:
    literals = dict.fromkeys(literal.this for literal in tree.find_all(exp.Literal))
    return tuple(
        value
        for value in literals
        if _PLAIN.fullmatch(value)
        and len(re.findall(rf"(?<!\w){re.escape(value)}(?!\w)", question)) == 1
        and len([literal for literal in tree.find_all(exp.Literal) if literal.this == value]) == 1
    )


def _text_columns(database: str) -> Iterator[list[str]]:
    for statement in sqlglot.parse(_file(f"databases/{database}.sql"), dialect="sqlite"):
        if not isinstance(statement, exp.Insert) or not isinstance(statement.expression, exp.Values):
            continue
        rows = [row.expressions for row in statement.expression.expressions]
        for column in zip(*rows, strict=False):
            values = dict.fromkeys(
                cell.this for cell in column if isinstance(cell, exp.Literal) and cell.is_string
            )
            if values:
                yield list(values)


def _worded(question: str, rng: random.Random) -> str:
    if rng.random() < 0.12:
        return rng.choice(_OPENERS) + question
    if rng.random() < 0.08:
        return question + rng.choice(_ENDINGS)
    if rng.random() < 0.08:
        return question[0].lower() + question[1:].rstrip(".?")
    return question
