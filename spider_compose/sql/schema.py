"""Database schemas in Spider's `tables.json` format, and readable words for names."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from spider_compose.errors import SourceError


def readable_name(name: str) -> str:
    """Split an identifier at `_`, other signs, digits and case changes, in any script.

    >>> readable_name("Home_Town"), readable_name("homeTown"), readable_name("HTTPServer2")
    ('home town', 'home town', 'http server 2')
    """
    # One code point per letter where Unicode has one, so that `é` never splits from its accent.
    name = unicodedata.normalize("NFC", name)
    spelled = "".join(
        (" " if _starts_word(name, at) else "") + letter if _is_word_part(letter) else " "
        for at, letter in enumerate(name)
    )
    return " ".join(spelled.lower().split()) or name.lower()


def _is_word_part(letter: str) -> bool:
    # Marks (category M) are vowels in many scripts; `str.isalnum` leaves them out.
    return letter.isalnum() or unicodedata.category(letter).startswith("M")


def _starts_word(name: str, at: int) -> bool:
    """Whether a new word starts at this letter by digits or case, as in `homeTown`, `HTTPServer`, `Q4`."""
    if at == 0:
        return False
    before, letter, after = name[at - 1], name[at], name[at + 1 : at + 3]
    if before.isdigit() != letter.isdigit():
        return True
    if not letter.isupper():
        return False
    if not before.isupper():
        return True
    # `HTTPServer` breaks before its last capital, a plural such as `userIDs` doesn't.
    plural = after[:1] == "s" and not after[1:].islower()
    return after[:1].islower() and not plural


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

        Args:
            entry: `db_id`, `table_names_original`, `table_names`, `column_names_original` and `column_names`;
                `column_types`, `primary_keys` and `foreign_keys` may be missing. Columns are
                `[table index, name]`, table index -1 for `*`; keys are column indices. Empty readable
                names are made from the identifiers.

        Raises:
            SourceError: a field is missing, has another type or length, or an index points outside.
        """
        if not isinstance(entry, Mapping):
            raise SourceError(f"a schema must be an object, but got {type(entry).__name__}.")
        db_id = entry.get("db_id")
        if not isinstance(db_id, str) or not db_id.strip():
            raise SourceError(f"a schema's db_id must be a non-empty text, but got {db_id!r}.")
        try:
            return _read_entry(db_id, entry)
        except _FormatError as error:
            raise SourceError(
                f"schema {db_id!r} is not in the format of Spider's tables.json: {error}."
            ) from None

    @cached_property
    def _table_words(self) -> dict[str, str]:
        return {table.name.lower(): table.words for table in self.tables}

    @cached_property
    def _column_words(self) -> dict[str, frozenset[str]]:
        words: dict[str, set[str]] = {}
        for table in self.tables:
            for column in table.columns:
                words.setdefault(column.name.lower(), set()).add(column.words)
        return {name: frozenset(found) for name, found in words.items()}

    @cached_property
    def _columns(self) -> dict[str, dict[str, Column]]:
        return {
            table.name.lower(): {column.name.lower(): column for column in table.columns}
            for table in self.tables
        }

    @cached_property
    def _foreign_keys(self) -> frozenset[tuple[tuple[str, str], tuple[str, str]]]:
        return frozenset(
            ((one[0].lower(), one[1].lower()), (other[0].lower(), other[1].lower()))
            for one, other in self.foreign_keys
        )

    @cached_property
    def _linked_tables(self) -> frozenset[tuple[str, str]]:
        return frozenset((one[0], other[0]) for one, other in self._foreign_keys)

    def refers(self, column: tuple[str, str], other: tuple[str, str]) -> bool:
        """Whether the first (table, column), lower case, is a foreign key to the second."""
        return (column, other) in self._foreign_keys

    def links(self, table: str, other: str) -> bool:
        """Whether some column of the first table, lower case, is a foreign key to the second."""
        return (table, other) in self._linked_tables

    @property
    def table_names(self) -> Collection[str]:
        """Names of the tables, lower case."""
        return self._columns.keys()

    def find_column(self, table: str, name: str) -> Column | None:
        """The column of this table, whatever the case, or None."""
        return self._columns.get(table.lower(), {}).get(name.lower())

    def tables_with(self, column: str) -> list[str]:
        """Names of the tables that hold a column of this name, lower case, in schema order."""
        name = column.lower()
        return [table for table, columns in self._columns.items() if name in columns]

    def table_words(self, name: str) -> str:
        """Readable words of a table, whatever the case; names the schema does not hold are split."""
        return self._table_words.get(name.lower()) or readable_name(name)

    def column_words(self, name: str) -> frozenset[str]:
        """Readable forms of a column name, one per different wording in the schema's tables."""
        return self._column_words.get(name.lower()) or frozenset({readable_name(name)})


class _FormatError(Exception):
    """What is wrong with an entry; `from_tables_json` adds which one."""


def _read_entry(db_id: str, entry: Mapping[str, Any]) -> Schema:
    table_names = _texts(entry, "table_names_original")
    table_words = _texts(entry, "table_names", length=len(table_names))
    owners, names = _columns(entry, "column_names_original", len(table_names))
    _, words = _columns(entry, "column_names", len(table_names), length=len(names))
    types = (
        _texts(entry, "column_types", length=len(names))
        if entry.get("column_types")
        else ["text"] * len(names)
    )
    primary = {
        _column_index(index, owners, "primary_keys")
        for key in _list(entry, "primary_keys", optional=True)
        for index in (key if isinstance(key, list) else [key])  # a list is a key of several columns
    }

    columns: list[list[Column]] = [[] for _ in table_names]
    for index, (owner, name) in enumerate(zip(owners, names, strict=True)):
        if owner >= 0:
            columns[owner].append(Column(name, _words(words[index], name), types[index], index in primary))
    tables = tuple(
        Table(name, _words(text, name), tuple(own))
        for name, text, own in zip(table_names, table_words, columns, strict=True)
    )

    def end(index: object) -> tuple[str, str]:
        column = _column_index(index, owners, "foreign_keys")
        return table_names[owners[column]], names[column]

    keys = []
    for key in _list(entry, "foreign_keys", optional=True):
        if not isinstance(key, list) or len(key) != 2:
            raise _FormatError(f"foreign_keys must hold pairs of column indices, but got {key!r}")
        keys.append((end(key[0]), end(key[1])))
    return Schema(db_id, tables, tuple(keys))


def _words(text: str, name: str) -> str:
    return " ".join(text.lower().split()) or readable_name(name)


def _list(
    entry: Mapping[str, Any], field: str, *, length: int | None = None, optional: bool = False
) -> list[Any]:
    value = entry.get(field)
    if value is None:
        if optional:
            return []
        raise _FormatError(f"{field} is missing")
    if not isinstance(value, list):
        raise _FormatError(f"{field} must be a list, but got {type(value).__name__}")
    if length is not None and len(value) != length:
        raise _FormatError(f"{field} must have {length} entries, but has {len(value)}")
    return value


def _texts(entry: Mapping[str, Any], field: str, *, length: int | None = None) -> list[str]:
    values = _list(entry, field, length=length)
    for value in values:
        if not isinstance(value, str):
            raise _FormatError(f"{field} must hold texts, but got {value!r}")
    return values


def _columns(
    entry: Mapping[str, Any], field: str, tables: int, *, length: int | None = None
) -> tuple[list[int], list[str]]:
    """The table index and the name of every column."""
    owners, names = [], []
    for value in _list(entry, field, length=length):
        if not isinstance(value, list) or len(value) != 2 or not isinstance(value[1], str):
            raise _FormatError(f"{field} must hold [table index, name], but got {value!r}")
        if type(value[0]) is not int or not -1 <= value[0] < tables:
            raise _FormatError(f"{field}: {value!r} must point to one of {tables} tables (or be -1 for *)")
        owners.append(value[0])
        names.append(value[1])
    return owners, names


def _column_index(index: object, owners: Sequence[int], field: str) -> int:
    # A negative index, or that of `*`, would silently name another table's column.
    if type(index) is not int or not 0 <= index < len(owners) or owners[index] < 0:
        raise _FormatError(f"{field}: {index!r} must be the index of a table's column, below {len(owners)}")
    return index
