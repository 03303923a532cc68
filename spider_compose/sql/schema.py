"""Database schemas in Spider's `tables.json` format, and readable words for names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_]+")


def readable_name(name: str) -> str:
    """Split an identifier at `_` and case changes: `Home_Town` and `homeTown` -> `home town`."""
    return " ".join(word.lower() for word in _WORD.findall(name)) or name.lower()


@dataclass(frozen=True)
class Column:
    """One column. `name` is the identifier in SQL, `words` how a person would say it."""

    name: str
    words: str
    type: str = "text"
    is_primary_key: bool = False


@dataclass(frozen=True)
class Table:
    """One table with its columns in schema order."""

    name: str
    words: str
    columns: tuple[Column, ...] = ()


@dataclass(frozen=True)
class Schema:
    """One database.

    Attributes:
        foreign_keys: pairs of (table, column) names, referring side first.
    """

    db_id: str
    tables: tuple[Table, ...] = ()
    foreign_keys: tuple[tuple[tuple[str, str], tuple[str, str]], ...] = ()

    @classmethod
    def from_tables_json(cls, entry: Mapping[str, Any]) -> Schema:
        """Read one entry of Spider's `tables.json`.

        Raises:
            SourceError: a field is missing or an index points outside the schema.
        """
        from spider_compose.errors import SourceError

        db_id = str(entry.get("db_id", "?"))
        try:
            names = list(entry["column_names_original"])
            words = [text for _, text in entry["column_names"]]
            types = list(entry.get("column_types") or ["text"] * len(names))
            primary = set()
            for key in entry.get("primary_keys") or []:
                primary.update(key if isinstance(key, list) else [key])
            columns: list[list[Column]] = [[] for _ in entry["table_names_original"]]
            for index, (table, name) in enumerate(names):
                if table >= 0:
                    columns[table].append(
                        Column(name, str(words[index]).lower(), str(types[index]), index in primary)
                    )
            tables = tuple(
                Table(name, str(text).lower(), tuple(own))
                for name, text, own in zip(
                    entry["table_names_original"], entry["table_names"], columns, strict=True
                )
            )

            def place(index: int) -> tuple[str, str]:
                table, name = names[index]
                return tables[table].name, name

            keys = tuple((place(a), place(b)) for a, b in entry.get("foreign_keys") or [])
        except (KeyError, IndexError, TypeError, ValueError) as error:
            raise SourceError(
                f"schema {db_id!r} is not in the format of Spider's tables.json: {error!r}. Expected "
                "table_names, table_names_original, column_names, column_names_original with matching lengths."
            ) from error
        return cls(db_id, tables, keys)

    def table_words(self, name: str) -> str:
        """Readable words of a table; names the schema does not hold are split."""
        for table in self.tables:
            if table.name.lower() == name.lower():
                return table.words
        return readable_name(name)

    def column_words(self, name: str) -> frozenset[str]:
        """Readable forms of a column name, one per different wording in the schema's tables."""
        found = frozenset(
            column.words
            for table in self.tables
            for column in table.columns
            if column.name.lower() == name.lower()
        )
        return found or frozenset({readable_name(name)})
