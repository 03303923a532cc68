"""What is not held against a query (pipeline step 6): four rules, applied before any check of the judge.

Each rule looks at a pair of specifications and says which parts of the query it forgives. Each has a name
that `disabled_rules` of the application rules switches off.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

from spider_compose.stef.normalization import name_words
from spider_compose.stef.rules import ApplicationRules
from spider_compose.stef.specification.items import Span, Specification
from spider_compose.stef.specification.sql import SqlSpecification


@dataclass(frozen=True)
class Tolerance:
    """One part of a query that is forgiven.

    Attributes:
        rule: name of the tolerance rule.
        span: the part, in the query.
        message: why, for people.
    """

    rule: str
    span: Span
    message: str


ToleranceRule = Callable[[Specification, SqlSpecification, ApplicationRules], Iterator[Tolerance]]


def required_group_by(
    question: Specification, sql: SqlSpecification, rules: ApplicationRules
) -> Iterator[Tolerance]:
    """Section "tolerance", required GROUP BY: aggregates beside plain columns need it, asked for or not.

    >>> from spider_compose.stef.specification.sql import read_sql
    >>> sql = read_sql("SELECT country, COUNT(*) FROM singer GROUP BY country")
    >>> [t.span for t in required_group_by(Specification(""), sql, ApplicationRules())]
    [Span(start=46, end=53)]
    """
    plain = [p for p in sql.projections if not p.functions and not p.star]
    aggregated = any(p.functions for p in sql.projections) or bool(sql.aggregations)
    for key in sql.grouping:
        if aggregated and plain:
            yield Tolerance(
                "required_group_by", key.span, "aggregates beside plain columns need their GROUP BY"
            )


def benign_group_by(
    question: Specification, sql: SqlSpecification, rules: ApplicationRules
) -> Iterator[Tolerance]:
    """Section "tolerance", benign GROUP BY: a key that WHERE fixes to one value makes one group.

    >>> from spider_compose.stef.specification.sql import read_sql
    >>> sql = read_sql("SELECT AVG(age) FROM singer WHERE country = 'France' GROUP BY country")
    >>> [t.rule for t in benign_group_by(Specification(""), sql, ApplicationRules())]
    ['benign_group_by']
    """
    fixed = [f.words for f in sql.filters if f.operator == "=" and len(f.values) == 1 and not f.negated]
    for key in sql.grouping:
        if key.words in fixed:
            yield Tolerance("benign_group_by", key.span, "WHERE leaves one value of this key")


def default_order(
    question: Specification, sql: SqlSpecification, rules: ApplicationRules
) -> Iterator[Tolerance]:
    """Section "tolerance", ORDER BY: a sensible order is accepted unless the question asks for one.

    Sensible: by an aggregate, by what is shown or grouped by, or by the application's default order.

    >>> from spider_compose.stef.specification.sql import read_sql
    >>> sql = read_sql("SELECT country, COUNT(*) AS n FROM singer GROUP BY country ORDER BY n DESC")
    >>> [t.rule for t in default_order(Specification(""), sql, ApplicationRules())]
    ['default_order']
    """
    if question.order:
        return
    shown = [p.words for p in sql.projections] + [g.words for g in sql.grouping]
    defaults = [frozenset(name_words(key.split()[0])) for key in rules.default_order if key.split()]
    aggregates = [a.words for a in sql.aggregations]
    for key in sql.order:
        sensible = any(key.words <= words or words <= key.words for words in shown + aggregates)
        if sensible or key.words in defaults or not key.words:
            yield Tolerance("default_order", key.span, "a sensible order where none is asked for")


def safety_limit(
    question: Specification, sql: SqlSpecification, rules: ApplicationRules
) -> Iterator[Tolerance]:
    """Section "tolerance", LIMIT: from lambda_min on an unasked limit only protects the application.

    >>> from spider_compose.stef.specification.sql import read_sql
    >>> queries = [read_sql(f"SELECT a FROM t LIMIT {n}") for n in (999, 1000)]
    >>> [len(list(safety_limit(Specification(""), sql, ApplicationRules()))) for sql in queries]
    [0, 1]
    """
    if sql.limit is not None and question.limit is None and (sql.limit.count or 0) >= rules.lambda_min:
        yield Tolerance("safety_limit", sql.limit.span, f"a limit of at least {rules.lambda_min} is no top-k")


TOLERANCE_RULES: tuple[ToleranceRule, ...] = (required_group_by, benign_group_by, default_order, safety_limit)


def tolerances(
    question: Specification, sql: SqlSpecification, rules: ApplicationRules, disabled: Collection[str] = ()
) -> tuple[Tolerance, ...]:
    """Everything in a query that is forgiven, in the order of the rules."""
    return tuple(
        t for rule in TOLERANCE_RULES if rule.__name__ not in disabled for t in rule(question, sql, rules)
    )
