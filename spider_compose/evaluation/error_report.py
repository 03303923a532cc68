"""The error analysis of one model's output (section 5.2): how often which kind of error, and where.

The kinds and how far to trust them are those of `error_kinds`. A report holds counts and ids, no texts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from spider_compose.errors import ClauseError, EvaluationError
from spider_compose.evaluation.error_kinds import (
    KINDS,
    RULES,
    FoundErrors,
    find_errors,
    find_text_errors,
)
from spider_compose.evaluation.exact_match import normalized_exact_match
from spider_compose.evaluation.items import Item, positions_by_length, positions_by_pattern, read_items
from spider_compose.sql.clauses import CLAUSE_TYPES, sql_dialect
from spider_compose.sql.schema import Schema

EXAMPLES = 10
"""Ids given per kind, the first in the order of the rows."""


@dataclass(frozen=True)
class _Analysed:
    item: Item
    is_exact: bool
    is_parsed: bool
    found: FoundErrors

    @property
    def is_unexplained(self) -> bool:
        return not self.is_exact and not self.found.kinds


def error_analysis(
    predictions: Sequence[str],
    rows: Sequence[Mapping[str, Any]],
    schemas: Mapping[str, Schema] | None = None,
    *,
    dialect: str = "sqlite",
) -> dict[str, Any]:
    """Count the kinds of errors in generated questions.

    Args:
        predictions: one per row, in the rows' order.
        rows: rows of a dataset split with the columns `items.COLUMNS`.
        schemas: by database, one for every row; None leaves `wrong_column` undefined.
        dialect: of the queries.

    Returns:
        `num_items`; `num_exact`, how many are right (normalised exact match), which have no errors;
        `num_unparsed`, queries that cannot be cut (their predictions are searched for text errors only);
        `kinds`, for each of `KINDS` the number of `items`, their `share` of all items in percent, and up to
        `EXAMPLES` `ids`; `unexplained` likewise, items that are not right and have no kind: among them good
        paraphrases; `by_clause_pattern` and `by_num_clauses`, the same counts in parts; and
        `missing_clause_types`, per clause type how many `clauses` there are, how many the reference says in
        words of the query (`judged`), and how many of these are `missing`. An undefined count is None.

    Raises:
        EvaluationError: see `read_items`; or `schemas` lacks a database.
        OptionError: sqlglot does not know the dialect.
    """
    sql_dialect(dialect)
    items = read_items(predictions, rows)
    if schemas is not None and (lost := sorted({item.db_id for item in items} - set(schemas))):
        raise EvaluationError(
            f"`schemas` must have every database, but lacks {len(lost)}, the first of them {lost[0]!r}. "
            "Without any schemas all kinds but `wrong_column` are found."
        )
    analysed = [_analyse(item, schemas[item.db_id] if schemas else None, dialect) for item in items]
    defined = [kind for kind in KINDS if kind != "wrong_column" or schemas is not None]

    def part(positions: list[int]) -> dict[str, Any]:
        own = [analysed[at] for at in positions]
        counts = Counter(kind for one in own for kind in one.found.kinds)
        return {
            "num_items": len(own),
            "num_exact": sum(one.is_exact for one in own),
            "kinds": {kind: counts[kind] if kind in defined else None for kind in KINDS},
            "unexplained": sum(one.is_unexplained for one in own),
        }

    return {
        "num_items": len(items),
        "num_exact": sum(one.is_exact for one in analysed),
        "num_unparsed": sum(not one.is_parsed for one in analysed),
        "kinds": {
            kind: _counted([one.item.id for one in analysed if kind in one.found.kinds], len(items))
            if kind in defined
            else {"items": None, "share": None, "ids": []}
            for kind in KINDS
        },
        "unexplained": _counted([one.item.id for one in analysed if one.is_unexplained], len(items)),
        "by_num_clauses": {str(key): part(at) for key, at in positions_by_length(items).items()},
        "by_clause_pattern": {key: part(at) for key, at in positions_by_pattern(items).items()},
        "missing_clause_types": _missing_clause_types(analysed),
        "signature": f"rules:{RULES}|schemas:{'no' if schemas is None else 'yes'}|dialect:{dialect}",
    }


def _analyse(item: Item, schema: Schema | None, dialect: str) -> _Analysed:
    is_exact = normalized_exact_match(item.prediction, item.question)
    try:
        found, is_parsed = find_errors(item.prediction, item.question, item.query, schema, dialect), True
    except ClauseError:
        found, is_parsed = find_text_errors(item.prediction, item.question), False
    if is_exact:  # a right answer has no errors, whatever its words look like
        found = FoundErrors((), found.clause_types, found.judged, (False,) * len(found.judged))
    return _Analysed(item, is_exact, is_parsed, found)


def _counted(ids: Sequence[str], num_items: int) -> dict[str, Any]:
    return {"items": len(ids), "share": round(100 * len(ids) / num_items, 4), "ids": list(ids[:EXAMPLES])}


def _missing_clause_types(analysed: Sequence[_Analysed]) -> dict[str, dict[str, int]]:
    """Per clause type that occurs, in the order of `CLAUSE_TYPES`."""
    found: dict[str, Counter[str]] = {kind: Counter() for kind in CLAUSE_TYPES}
    for one in analysed:
        clauses = zip(one.found.clause_types, one.found.judged, one.found.missing, strict=True)
        for kind, judged, missing in clauses:
            found[kind].update(clauses=1, judged=int(judged), missing=int(missing))
    return {
        kind: {name: counts[name] for name in ("clauses", "judged", "missing")}
        for kind, counts in found.items()
        if counts
    }
