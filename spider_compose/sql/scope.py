"""What names mean inside one SELECT: table aliases, columns, and the aliases of its items.

Every SELECT has a scope of its own. A name it does not know is looked up in the query around it, as SQL does
for correlated queries; an alias of one SELECT is never seen by its neighbour.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from spider_compose.sql.schema import Schema, readable_name

if TYPE_CHECKING:
    from sqlglot import exp


@dataclass(frozen=True)
class TableReference:
    """A table where a FROM names it.

    Attributes:
        name: the table's own name, lower case; empty for a derived table.
        words: its readable name. A table that the same FROM names a second time is "NAME 2", because two
            columns of a self-join would read alike otherwise.
    """

    name: str = ""
    words: str = ""


UNKNOWN_TABLE = TableReference()


@dataclass
class Scope:
    """The names of one SELECT.

    Attributes:
        tables: by alias (or by name where there is no alias), lower case, in the order of FROM.
        items: by alias, lower case: the expression that a SELECT item gives a name to.
        parent: the scope of the query around.
        items_first: whether an item's alias hides a column of its name, as in ORDER BY.
    """

    schema: Schema | None = None
    parent: Scope | None = None
    tables: dict[str, TableReference] = field(default_factory=dict)
    items: dict[str, exp.Expr] = field(default_factory=dict)
    items_first: bool = False

    def add_table(self, source: exp.Expr) -> TableReference:
        """Take in one source of FROM: a table, or a derived table with an alias."""
        from sqlglot import exp

        alias = source.alias.lower()
        name = source.name.lower() if isinstance(source, exp.Table) else ""
        words = self._table_words(name) if name else ""
        same = sum(table.name == name for table in self.tables.values()) if name else 0
        reference = TableReference(name, f"{words} {same + 1}" if same else words)
        self.tables[alias or name or f"({len(self.tables)})"] = reference
        return reference

    def _table_words(self, name: str) -> str:
        return self.schema.table_words(name) if self.schema else readable_name(name)

    def column_words(self, table: str, column: str) -> str:
        """Readable name of a column; of one outside the schema, its name split into words."""
        found = self.schema.find_column(table, column) if self.schema and table else None
        return found.words if found else readable_name(column)

    def resolve(self, column: str, qualifier: str) -> TableReference:
        """The table that a column belongs to, `UNKNOWN_TABLE` if nothing says which.

        Clauses without their FROM have no tables: there the schema decides, where only one of its tables
        holds such a column.
        """
        column, qualifier = column.lower(), qualifier.lower()
        scope: Scope | None = self
        while scope is not None:
            if qualifier and qualifier in scope.tables:
                return scope.tables[qualifier]
            if not qualifier and (found := scope._holder(column)):
                return found
            scope = scope.parent
        if not qualifier and len(self.tables) == 1:
            return next(iter(self.tables.values()))
        if self.schema:
            named = [qualifier] if qualifier in self.schema.table_names else self.schema.tables_with(column)
            if len(named) == 1:
                return TableReference(named[0], self._table_words(named[0]))
        return UNKNOWN_TABLE

    def _holder(self, column: str) -> TableReference | None:
        """The first table of this FROM that holds the column by the schema."""
        if not self.schema:
            return None
        for reference in self.tables.values():
            if reference.name and self.schema.find_column(reference.name, column):
                return reference
        return None

    def item(self, name: str) -> exp.Expr | None:
        """The SELECT item that has this alias, if the alias holds here."""
        found = self.items.get(name.lower())
        hidden = not self.items_first and self._holder(name.lower()) is not None
        return None if hidden else found

    def of_order(self) -> Scope:
        """The same names in ORDER BY."""
        return replace(self, items_first=True)

    def without_items(self) -> Scope:
        """The same tables for places where SELECT's aliases do not hold yet: SELECT itself, FROM, WHERE."""
        return replace(self, items={})

    def is_column(self, name: str) -> bool:
        """Whether the schema, or an item's alias, has this name; with no schema anything may be a column."""
        return self.schema is None or bool(self.schema.tables_with(name)) or name.lower() in self.items
