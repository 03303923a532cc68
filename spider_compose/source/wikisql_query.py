"""WikiSQL's queries as SQL that parses: one table, one column, perhaps an aggregate, conditions with AND.

The corpus itself has no SQL: its own files hold indices, and text2sql-data writes headings of web tables as
names (`SELECT COUNT TABLEalias0.POPULATION_(2011)_FIELD FROM TABLE AS TABLEalias0 WHERE NO._FIELD = var0`).
Both become `SELECT COUNT("Population (2011)") FROM "table" WHERE "No." = 3`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from spider_compose.source.variables import number_or_text
from spider_compose.sql.schema import Column, Schema, Table, readable_name

AGGREGATES = ("", "MAX", "MIN", "COUNT", "SUM", "AVG")
OPERATORS = ("=", ">", "<")
TABLE = "table"

_QUERY = re.compile(
    rf"SELECT (?:(?P<aggregate>{'|'.join(AGGREGATES[1:])}) )?(?P<column>\S+) "
    r"FROM (?:TABLE AS TABLEalias0|table)(?: WHERE (?P<conditions>.+?))?(?: ;)?"
)
_CONDITION = re.compile(r"(?P<column>\S+) (?P<operator>[=<>]) (?P<value>.+)")
_VARIABLE = re.compile(r"(?P<quote>\"?)\b(?P<name>var\d+)\b(?P=quote)")


@dataclass(frozen=True)
class WikiSqlQuery:
    """One query.

    Attributes:
        aggregate: one of `AGGREGATES`.
        column: heading of the column asked for.
        conditions: (heading, operator, value) of each.
    """

    aggregate: str
    column: str
    conditions: tuple[tuple[str, str, str], ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """The headings that it names."""
        return (self.column, *(column for column, _, _ in self.conditions))

    def sql(self) -> str:
        """The query as SQL; a text that is a number is written as one.

        >>> print(WikiSqlQuery("COUNT", "Home Team", (("No.", ">", "3"), ("City", "=", "Rome"))).sql())
        SELECT COUNT("Home Team") FROM "table" WHERE "No." > 3 AND "City" = 'Rome'
        """
        column = _name(self.column)
        asked = f"{self.aggregate}({column})" if self.aggregate else column
        conditions = " AND ".join(
            f"{_name(column)} {operator} {number_or_text(value, _TEXT)}"
            for column, operator, value in self.conditions
        )
        return f"SELECT {asked} FROM {_name(TABLE)}" + (f" WHERE {conditions}" if conditions else "")


_TEXT = "'"


def _name(heading: str) -> str:
    return '"' + heading.replace('"', '""') + '"'


def read_text2sql(query: str, values: Mapping[str, str]) -> WikiSqlQuery | None:
    """Read a query as text2sql-data writes it; None where it is another.

    Args:
        values: of its variables; a condition without one makes it another.
    """
    found = _QUERY.fullmatch(query.strip())
    if found is None:
        return None
    conditions = []
    for text in (found["conditions"] or "").split(" AND ") if found["conditions"] else []:
        condition = _CONDITION.fullmatch(text)
        if condition is None:
            return None
        # A value may hold signs around its variables, as in the score `"var0" = var1`.
        named = [found["name"] for found in _VARIABLE.finditer(condition["value"])]
        if not named or not values.keys() >= set(named):
            return None
        value = _VARIABLE.sub(lambda found: values[found["name"]], condition["value"])
        conditions.append((_heading(condition["column"]), condition["operator"], value))
    return WikiSqlQuery(found["aggregate"] or "", _heading(found["column"]), tuple(conditions))


def _heading(name: str) -> str:
    return name.removeprefix("TABLEalias0.").removesuffix("_FIELD")


def table_schema(db_id: str, headings: Sequence[str], types: Sequence[str] = ()) -> Schema:
    """The schema of one web table. A heading without letters and digits is its own words."""
    columns = (
        Column(heading, readable_name(heading) or heading, types[place] if place < len(types) else "text")
        for place, heading in enumerate(headings)
        if heading.strip()
    )
    return Schema(db_id, (Table(TABLE, TABLE, tuple(columns)),))
