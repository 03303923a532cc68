"""The terms both specifications are written in; every item carries its characters in the source."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple


class Span(NamedTuple):
    """Characters [start, end) of a source text."""

    start: int
    end: int

    def of(self, text: str) -> str:
        """The text it covers."""
        return text[self.start : self.end]


@dataclass(frozen=True)
class Projection:
    """One thing to return.

    Attributes:
        words: stems of its names (see `normalization.name_words`).
        functions: aggregate functions in it, upper case.
        star: whether it is `*`.
        aggregated: whether every column in it stands inside an aggregate.
        optional: in a question, whether a later sentence may have taken its place ("What is ...? List ...").
    """

    words: frozenset[str]
    span: Span
    functions: tuple[str, ...] = ()
    star: bool = False
    aggregated: bool = False
    optional: bool = False


@dataclass(frozen=True)
class Aggregation:
    """One aggregate: COUNT, SUM, AVG, MAX, MIN, or another function's name.

    Attributes:
        words: stems of what it is taken of.
        counts: whether it counts by other means, as SUM(CASE ...) and the like do.
    """

    function: str
    words: frozenset[str]
    span: Span
    distinct: bool = False
    counts: bool = False


@dataclass(frozen=True)
class Filter:
    """One condition.

    Attributes:
        words: stems of the names it speaks of; empty where the question names none.
        operator: =, !=, <, <=, >, >=, between, like, null, in, exists; in a question also "" for a bare
            literal.
        values: folded literals (see `normalization.fold_value`), in order.
        kind: "string", "number", "date", "relative" (a date kept symbolic), "null", "subquery", "columns"; in
            a question also "state" (an adjective: "active users").
        negated: whether it excludes what it names.
        strong: in a question, whether the literal must occur (quoted or a number), not merely may.
        pattern: where in the text the value stands: "prefix", "suffix", "contains", "equal"; "" where that is
            open.
        choice: in a query, the number of the OR whose side it is; 0 where it must hold, -1 where it stands
            deeper below an OR.
        excluded: in a query, whether it stands in a sub-query whose rows are excluded.
    """

    words: frozenset[str]
    operator: str
    values: tuple[str, ...]
    kind: str
    span: Span
    negated: bool = False
    strong: bool = True
    pattern: str = ""
    choice: int = 0
    excluded: bool = False


@dataclass(frozen=True)
class Grouping:
    """One key of a grouping."""

    words: frozenset[str]
    span: Span


@dataclass(frozen=True)
class Order:
    """One key of an order.

    Attributes:
        direction: "asc", "desc", or None where the text leaves it open.
        superlative: whether it picks the extreme (with LIMIT, MAX or MIN) instead of sorting a list.
    """

    words: frozenset[str]
    direction: str | None
    span: Span
    superlative: bool = False


@dataclass(frozen=True)
class Limit:
    """A number of rows; None where it is no plain number."""

    count: int | None
    span: Span


@dataclass(frozen=True)
class Mark:
    """A sign without parts: a negation, a distinct, a set operation, a percentage; `kind` says more."""

    kind: str
    span: Span


@dataclass(frozen=True)
class Definition:
    """A statement of what a phrase means: "X refers to Y = 'v'".

    Attributes:
        words: stems of the phrase.
        names: stems of each identifier in its expression.
        values: folded literals in it, in order.
        functions: functions in it, upper case.
    """

    words: frozenset[str]
    names: tuple[frozenset[str], ...]
    values: tuple[str, ...]
    functions: tuple[str, ...]
    span: Span


@dataclass(frozen=True)
class Specification:
    """What a text asks for, or what a query does.

    Attributes:
        text: the source that all spans count in.
        words: stem -> its first span, over the whole text (a query: over all its names).
    """

    text: str
    projections: tuple[Projection, ...] = ()
    aggregations: tuple[Aggregation, ...] = ()
    filters: tuple[Filter, ...] = ()
    grouping: tuple[Grouping, ...] = ()
    order: tuple[Order, ...] = ()
    limit: Limit | None = None
    set_operations: tuple[Mark, ...] = ()
    negations: tuple[Mark, ...] = ()
    distinct: tuple[Mark, ...] = ()
    percentages: tuple[Mark, ...] = ()
    definitions: tuple[Definition, ...] = ()
    words: dict[str, Span] = field(default_factory=dict)

    @property
    def whole(self) -> Span:
        """The span of the whole text, named where a thing is absent from it."""
        return Span(0, len(self.text))

    def as_dict(self) -> dict[str, Any]:
        """The items as plain JSON values, for people and for `stef explain`."""
        hidden = ("text", "words", "part")
        return {f.name: plain(getattr(self, f.name)) for f in fields(self) if f.name not in hidden}


def plain(value: Any) -> Any:
    """An item, or a collection of items, as JSON values with a stable order."""
    if isinstance(value, Span):
        return list(value)
    if isinstance(value, (frozenset, set)):
        return sorted(value)
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if hasattr(value, "__dataclass_fields__"):
        return {f.name: plain(getattr(value, f.name)) for f in fields(value)}
    return value
