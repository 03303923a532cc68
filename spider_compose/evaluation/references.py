"""Several references for one query: the questions of all rows that ask the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from spider_compose.errors import ClauseError
from spider_compose.evaluation.items import Item
from spider_compose.sql.canonical import canonical_text
from spider_compose.sql.schema import Schema


def grouped_references(
    items: Sequence[Item], schemas: Mapping[str, Schema] | None = None, dialect: str = "sqlite"
) -> tuple[list[tuple[str, ...]], int]:
    """The different questions of the rows whose database and canonical query are the same.

    Args:
        schemas: by database; where one is missing, columns without a table are told apart less well.

    Returns:
        Per item its references, its own question first, the others in the order of the rows; and the number
        of items whose query does not parse (they share references with rows of the very same text only).
    """
    canonical: dict[tuple[str, str], str | None] = {}
    for item in items:
        asked = (item.db_id, item.query)
        if asked not in canonical:
            canonical[asked] = _canonical(item, schemas, dialect)
    keys = [(item.db_id, canonical[item.db_id, item.query] or item.query) for item in items]
    unparsed = sum(canonical[item.db_id, item.query] is None for item in items)
    # Dicts keep the order of the rows and drop questions that come twice.
    groups: dict[tuple[str, str], dict[str, None]] = {}
    for key, item in zip(keys, items, strict=True):
        groups.setdefault(key, {})[item.question] = None
    references = [tuple({item.question: None} | groups[key]) for key, item in zip(keys, items, strict=True)]
    return references, unparsed


def _canonical(item: Item, schemas: Mapping[str, Schema] | None, dialect: str) -> str | None:
    try:
        return canonical_text(item.query, schemas.get(item.db_id) if schemas else None, dialect)
    except ClauseError:
        return None
