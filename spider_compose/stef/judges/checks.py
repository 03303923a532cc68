"""What the default judge looks at beyond filters: named checks on a pair of specifications (pipeline step 5).

Each check yields findings under its own name or, where it tells several faults apart, under the names in
`FAULTS`. What a finding costs is not decided here but in the weights (see `judges.rules`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import pairwise

from spider_compose.stef.alignment import Finding, Pair
from spider_compose.stef.normalization import extreme, meets, stem, values_meet
from spider_compose.stef.specification.items import Aggregation, Filter, Mark, Span

Check = Callable[[Pair], Iterator[Finding]]


def _first(spans: list[Span], whole: Span) -> Span:
    return spans[0] if spans else whole


# -- projections


def select_star(pair: Pair) -> Iterator[Finding]:
    """`SELECT *` shows every column where the question names some."""
    for projection in pair.sql.projections:
        if projection.star:
            asked = _first([p.span for p in pair.question.projections], pair.question.whole)
            yield Finding("select_star", "the query shows every column", asked, projection.span)
            return


def expected_projections(pair: Pair) -> tuple[int, int]:
    """Least and greatest number of columns the question asks for; (0, 0) where that is not clear."""
    asked = pair.question.projections
    if not asked:
        return 0, 0
    low, high = sum(not p.optional for p in asked), len(asked)
    # "full name refers to first_name, last_name"
    high += max(
        (
            len(d.names) - 1
            for d in pair.question.definitions
            if "name" in d.words and not d.values and not d.functions
        ),
        default=0,
    )
    for projection in asked:
        text = projection.span.of(pair.question.text).lower()
        if ("full name" in text and not pair.question.definitions) or re.search(
            r"full\s+$", pair.question.text[: projection.span.start].lower()
        ):
            high += 1
        if re.search(r"\b(?:names|address|details|information|coordinates|location)\b", text):
            high += 1
    if pair.question.grouping and not any(g.words & p.words for g in pair.question.grouping for p in asked):
        high += 1  # "for each country": the country may be shown
        if not any(p.functions for p in asked):
            low = min(low, len(asked))
    return low, high


def projection_count(pair: Pair) -> Iterator[Finding]:
    """More columns than asked for, or fewer."""
    low, high = expected_projections(pair)
    shown = pair.sql.projections
    if not low or any(p.star for p in shown):
        return
    asked = Span(pair.question.projections[0].span.start, pair.question.projections[-1].span.end)
    if len(shown) > high:
        extra = shown[high].span
        yield Finding(
            "projection_extra",
            f"{high} to return, the query shows {len(shown)}",
            asked,
            extra,
            len(shown) - high,
        )
    elif len(shown) < low:
        yield Finding(
            "projection_missing",
            f"{low} to return, the query shows {len(shown)}",
            asked,
            shown[0].span if shown else pair.sql.whole,
            low - len(shown),
        )


def projection_unasked(pair: Pair) -> Iterator[Finding]:
    """A column shown that the question does not speak of."""
    for projection in pair.sql.projections:
        if projection.star or projection.functions or not projection.words:
            continue
        if (
            pair.asked_words(projection.words - {"name", "id"}) is None
            and pair.asked_words(projection.words) is None
        ):
            if projection.words & {"name", "title", "label"} and len(pair.sql.projections) == 1:
                continue  # things are shown by their names
            if projection.words <= {"name", "title"} and re.search(
                r"\b(?:who|which|what)\b", pair.question.text, re.I
            ):
                continue
            shown = projection.span.of(pair.sql.text)
            yield Finding(
                "projection_unasked",
                f"the question does not speak of {shown!r}",
                pair.question.whole,
                projection.span,
            )


def projection_unmet(pair: Pair) -> Iterator[Finding]:
    """Something to return that no name in the query meets."""
    for projection in pair.question.projections:
        words = projection.words
        if projection.functions or not words or any(pair.named(w) for w in words):
            continue
        if any(words & d.words or d.words & words for d in pair.question.definitions):
            continue
        asked = projection.span.of(pair.question.text)
        yield Finding(
            "projection_unmet",
            f"no name in the query meets {asked!r}",
            projection.span,
            _first([p.span for p in pair.sql.projections], pair.sql.whole),
        )


def projection_of_condition(pair: Pair) -> Iterator[Finding]:
    """A shown column that the question names only in its conditions."""
    asked = pair.question.projections
    if not asked or pair.question.definitions:
        return
    wanted = frozenset().union(*(p.words for p in asked), *(g.words for g in pair.question.grouping))
    for projection in pair.sql.projections:
        words = projection.words
        if projection.star or projection.functions or not words or len(pair.sql.projections) < 2:
            continue
        if not any(_meets_any(word, wanted) for word in words) and pair.asked_words(words) is not None:
            shown = projection.span.of(pair.sql.text)
            yield Finding(
                "projection_of_condition",
                f"{shown!r} is asked about, not asked for",
                asked[0].span,
                projection.span,
            )


def _meets_any(word: str, others: frozenset[str]) -> bool:
    return any(meets(word, other) for other in others)


# -- aggregation and grouping


def aggregation(pair: Pair) -> Iterator[Finding]:
    """An aggregate asked for and not computed, or computed and not asked for."""
    present = {a.function for a in pair.sql.aggregations}
    picks = any(o.superlative for o in pair.sql.order)
    asked: set[str] = set()
    for item in pair.question.aggregations:
        asked.add(item.function)
        held = item.function in present or (item.function in ("MAX", "MIN") and (picks or pair.sql.order))
        held = held or _counted(pair, item)
        held = held or (item.function == "AVG" and bool(pair.sql.percentages))
        word = item.span.of(pair.question.text)
        stored = any(pair.named(stem(w)) for w in re.findall(r"\w+", word) if w.lower() not in ("how", "of"))
        if not held and (other := _other_function(pair, item)) is not None:
            yield Finding(
                "aggregate_differs",
                f"{word!r} asks for {item.function}, the query computes {other.span.of(pair.sql.text)!r}",
                item.span,
                other.span,
            )
        elif (
            not held and not stored and not pair.question.definitions
        ):  # they name functions; see `definitions`
            if item.function == "COUNT" and item.words and pair.named(min(item.words)) is not None:
                continue  # the number may be stored: "number of employees"
            yield Finding(
                "aggregate_missing",
                f"{word!r} asks for {item.function}, which the query does not compute",
                item.span,
                _first([p.span for p in pair.sql.projections], pair.sql.whole),
            )
    defined = {f for d in pair.question.definitions for f in d.functions}
    metrics = {
        f
        for _, words, functions in pair.rules.metric_functions
        if words <= set(pair.question.words)
        for f in functions
    }
    for projection in pair.sql.projections:
        for function in projection.functions:
            if function in asked | defined | metrics or function not in ("COUNT", "SUM", "AVG", "MAX", "MIN"):
                continue
            if function in ("MAX", "MIN") and (
                pair.question.order
                or re.search(r"\b(?:first|last|recent\w*|\w+est)\b", pair.question.text, re.I)
            ):
                continue
            if function in ("COUNT", "SUM") and (asked & {"COUNT", "SUM"} or pair.question.percentages):
                continue
            shown = projection.span.of(pair.sql.text)
            yield Finding(
                "aggregate_unasked", f"nobody asked for {shown!r}", pair.question.whole, projection.span
            )
            return


_AMOUNTS = frozenset("number num no count cnt quantity qty total amount times n".split())


def _counted(pair: Pair, item: Aggregation) -> bool:
    """Whether a number of things is counted by other means: SUM(CASE ...), or the SUM of a stored number."""
    if pair.question.definitions:  # they say how; see `definitions`
        return item.function in ("COUNT", "SUM") and any(
            a.function in ("COUNT", "SUM") for a in pair.sql.aggregations
        )
    if item.function == "COUNT":
        return any(
            a.function == "SUM"
            and (a.counts or a.words & (_AMOUNTS - {"amount", "total"}) or _meet(a.words, item.words))
            for a in pair.sql.aggregations
        )
    if item.function == "SUM":  # "the total of orders" may be their number
        counts = any(a.function == "COUNT" for a in pair.sql.aggregations)
        things = any(_meet(item.words, words) for words, _ in pair.sql.tables)
        return counts and (
            things or not item.words or any(a.function == "COUNT" for a in pair.question.aggregations)
        )
    return False


def _other_function(pair: Pair, item: Aggregation) -> Aggregation | None:
    """The aggregate the query shows in place of the one asked for, where neither is asked for besides."""
    functions = {p.functions for p in pair.sql.projections if p.functions}
    asked = {a.function for a in pair.question.aggregations}
    if (
        len(functions) != 1
        or pair.question.definitions
        or pair.question.percentages
        or len(pair.sql.projections) > 3
    ):
        return None
    shown = set(next(iter(functions)))
    if len(shown) != 1 or shown & asked or pair.sql.percentages or pair.rules.metrics:
        return None
    found = next((a for a in pair.sql.aggregations if {a.function} == shown), None)
    if found is None or found.function not in ("COUNT", "SUM", "AVG", "MAX", "MIN"):
        return None
    if any(_meet(found.words, frozenset((word,))) for word in ("number", "count", "total", "average")):
        return None  # the column stores it: MAX(number_of_floors)
    if item.function in ("MAX", "MIN") and pair.sql.picks and found.function not in ("MAX", "MIN"):
        return None
    return found


def _meet(one: frozenset[str], other: frozenset[str]) -> bool:
    return any(_meets_any(word, other) for word in one)


def aggregate_of_other(pair: Pair) -> Iterator[Finding]:
    """SUM, AVG, MAX or MIN of another column than the question speaks of."""
    for item in pair.question.aggregations:
        found = [a for a in pair.sql.aggregations if a.function == item.function and a.words]
        if item.function == "COUNT" or not item.words or not found or pair.question.definitions:
            continue
        if len(found) < sum(a.function == item.function for a in pair.sql.aggregations):
            continue  # one is of an expression without columns
        columns = frozenset().union(*(a.words for a in found))
        if columns & (_AMOUNTS - {"total"}):
            continue  # of a number that is counted or stored
        if _meet(columns, item.words) or any(
            c <= columns for _, _, cs in pair.rules.column_words for c in cs
        ):
            continue
        yield Finding(
            "aggregate_of_other",
            f"{item.function} is asked of {' '.join(sorted(item.words))!r}, "
            f"not of {found[0].span.of(pair.sql.text)!r}",
            item.span,
            found[0].span,
        )
        return


def subject_unmet(pair: Pair) -> Iterator[Finding]:
    """Rows counted of tables that the question does not speak of, while no name meets what it counts."""
    shown = pair.sql.projections
    counted = next((a for a in pair.question.aggregations if a.function == "COUNT" and a.words), None)
    if counted is None or any(p.words - {"count", "total", "number", "num", "cnt", "n"} for p in shown):
        return
    names = [*(words for words, _ in pair.sql.tables), *(words for words, _ in pair.sql.columns)]
    if any(_meet(counted.words, words) for words in names):
        return
    if pair.question.definitions or any(pair.asked_words(words) is not None for words in names if words):
        return
    yield Finding(
        "subject_unmet",
        f"no table or column of the query meets {counted.span.of(pair.question.text)!r} of "
        f"{' '.join(sorted(counted.words))!r}",
        counted.span,
        pair.sql.tables[0][1] if pair.sql.tables else pair.sql.whole,
    )


_CONVERSIONS = frozenset("0 1 100 60 3600 24 7 12 30 365 365.25 1000 1024 86400 1000000".split())


def constant_unasked(pair: Pair) -> Iterator[Finding]:
    """Arithmetic on what is shown with a number that the question does not give."""
    for value, span in pair.sql.constants:
        if value in _CONVERSIONS or pair.value_asked(value, False):
            continue
        if pair.question.definitions or re.search(
            r"\b(?:twice|double|half|halves|third|quarter|triple|times|increas\w+|decreas\w+|discount\w*|tax)\b",
            pair.question.text,
            re.I,
        ):
            continue
        if any(value in formula for formula in pair.rules.metrics.values()):
            continue
        yield Finding("constant_unasked", f"nobody asked to compute with {value}", pair.question.whole, span)
        return


def threshold_unasked(pair: Pair) -> Iterator[Finding]:
    """A comparison with a number that nobody gave: HAVING COUNT(*) > 1000."""
    for finding in pair.filters.extras:
        item = next((f for f in pair.sql.filters if f.span == finding.sql), None)
        if item is None or item.kind != "number" or item.operator not in (">", ">=", "<", "<=", "between"):
            continue
        shown = item.span.of(pair.sql.text)
        if set(item.values).isdisjoint(("0", "1", "2")) and "select" not in shown.lower():
            yield Finding(
                "threshold_unasked", f"nobody gave the bound of {shown!r}", pair.question.whole, item.span
            )
            return


def either_for_both(pair: Pair) -> Iterator[Finding]:
    """OR between conditions that must both hold, or AND between two of which one is enough."""
    text = pair.question.text
    choices: dict[int, list[Filter]] = {}
    for item in pair.sql.filters:
        if item.choice > 0 and item.values:
            choices.setdefault(item.choice, []).append(item)
    asked = _ORS.search(_NO_CHOICE.sub(lambda m: " " * len(m[0]), text))
    for sides in choices.values():
        if asked is not None or len({side.words for side in sides}) < len(sides) or len(sides) < 2:
            continue
        if len({side.values for side in sides}) < 2 or any(
            _meet(a.words, b.words) for a, b in pairwise(sides)
        ):
            continue  # one value in several columns, or one thing under several names
        if all(any(_supports(wanted, side) for wanted in pair.question.filters) for side in sides):
            message = "the question wants all of its conditions, the query one of them"
            yield Finding("or_for_and", message, pair.question.whole, sides[1].span)
            return
    if asked is None or choices or pair.sql.set_operations or pair.question.definitions:
        return
    before = [f for f in pair.question.filters if f.span.end <= asked.start()]
    after = [f for f in pair.question.filters if f.span.start >= asked.end()]
    if not before or not after or asked.start() - before[-1].span.end > 25:
        return
    held = [
        item
        for wanted in (before[-1], after[0])
        for item in [f for f in pair.sql.filters if _supports(wanted, f)][:1]
    ]
    if len(held) < 2 or held[0] == held[1] or pair.sql.selects > 1:
        return
    if any(f.choice or f.excluded or f.negated or f.operator in ("in", "between") for f in held):
        return  # a choice; neither one nor the other
    message = "the question wants one of its conditions, the query all of them"
    yield Finding("and_for_or", message, Span(*asked.span()), held[1].span)


_ORS = re.compile(r"\b(?:or|either|any of|at least one of|and/or)\b", re.I)
_NO_CHOICE = re.compile(
    r"\b(?:whether or not|or not|or\s+(?:more|less|fewer|above|below|over|under|higher|lower|later|earlier|"
    r"older|younger|greater|better|equal|after|before|larger|smaller))\b|\bor equal\b",
    re.I,
)


def _supports(wanted: Filter, item: Filter) -> bool:
    return any(values_meet(v, w) for v in item.values for w in wanted.values)


def grouping(pair: Pair) -> Iterator[Finding]:
    """No GROUP BY for "for each", or one that neither the question nor a tolerance rule accepts."""
    aggregated = pair.question.aggregations or pair.sql.aggregations
    if pair.question.grouping and aggregated and not pair.sql.grouped and not pair.sql.windows:
        item = pair.question.grouping[0]
        shown = item.span.of(pair.question.text)
        yield Finding("grouping_missing", f"{shown!r} asks for a grouping", item.span, pair.sql.whole)
    if pair.question.grouping or pair.question.aggregations or pair.question.order:
        return
    for key in pair.sql.grouping:
        if any(pair.forgiven(rule, key.span) for rule in ("required_group_by", "benign_group_by")):
            continue
        if any(f.kind == "number" for f in pair.question.filters):
            continue  # "at least two": HAVING needs it
        shown = key.span.of(pair.sql.text)
        yield Finding(
            "grouping_unasked", f"nobody asked for a grouping by {shown!r}", pair.question.whole, key.span
        )
        return


def grouping_by_name(pair: Pair) -> Iterator[Finding]:
    """A grouping by a name alone merges what only shares it."""
    keys = pair.sql.grouping
    if len(keys) == 1 and keys[0].words and keys[0].words & {"name", "title"} and pair.sql.joins:
        yield Finding(
            "grouping_by_name",
            f"{keys[0].span.of(pair.sql.text)!r} need not tell rows apart",
            pair.question.whole,
            keys[0].span,
        )


# -- order and limit


def ordering(pair: Pair) -> Iterator[Finding]:
    """A list to sort that is not sorted, or sorted the other way."""
    for item in pair.question.order:
        if item.superlative:
            continue
        if not pair.sql.order:
            yield Finding(
                "order_missing",
                f"{item.span.of(pair.question.text)!r} asks for an order",
                item.span,
                pair.sql.whole,
            )
        elif item.direction and all(o.direction != item.direction for o in pair.sql.order):
            found = pair.sql.order[0]
            yield Finding(
                "order_direction",
                f"asked for {item.direction}, ordered {found.direction}",
                item.span,
                found.span,
            )
        elif (
            item.direction is None
            and pair.sql.order[0].direction == "desc"
            and not any(o.superlative for o in pair.question.order)
        ):
            yield Finding(
                "order_direction_default",
                "no direction is asked for, ordered desc",
                item.span,
                pair.sql.order[0].span,
            )
    if pair.question.order or not pair.sql.order or pair.sql.limit is not None:
        return
    for key in pair.sql.order:
        if not pair.forgiven("default_order", key.span):
            yield Finding(
                "order_unasked",
                f"nobody asked for an order by {key.span.of(pair.sql.text)!r}",
                pair.question.whole,
                key.span,
            )
            return


def superlative(pair: Pair) -> Iterator[Finding]:
    """An extreme to pick that the query does not pick, or picks at the other end."""
    wanted = [o for o in pair.question.order if o.superlative]
    if not wanted:
        return
    picked, item = pair.sql.picks, wanted[0]
    text = item.span.of(pair.question.text).lower()
    if text not in ("top", "bottom") and text in pair.sql.words:
        return  # a column says it: "best finish"
    if not picked and not pair.sql.windows and not any(f.kind == "subquery" for f in pair.sql.filters):
        yield Finding(
            "superlative_missing",
            f"nothing in the query picks {item.span.of(pair.question.text)!r}",
            item.span,
            pair.sql.whole,
        )
        return
    if any(d.functions for d in pair.question.definitions):
        return  # the definition's MAX or MIN is checked on its own
    if any(o.direction for o in pair.question.order if not o.superlative):
        return  # an order besides, which is looked at by itself
    ends = (
        (extreme(o.span.of(pair.question.text).lower(), o.direction, pick.words), pick)
        for o in wanted
        for pick in picked
    )
    if picked and all(end is not None and end != pick.direction for end, pick in ends):
        message = f"{item.span.of(pair.question.text)!r} is the other end"
        yield Finding("superlative_direction", message, item.span, picked[0].span)


def limit(pair: Pair) -> Iterator[Finding]:
    """Top-k that is not cut, cut at another k, or a cut nobody asked for."""
    wanted, found = pair.question.limit, pair.sql.limit
    if wanted is not None:
        ranked = pair.sql.windows and re.search(rf"(?<!\d){wanted.count}(?!\d)", pair.sql.text)
        if found is None and not ranked and wanted.count != 1:
            yield Finding(
                "limit_missing",
                f"{wanted.span.of(pair.question.text)!r} asks for {wanted.count}",
                wanted.span,
                pair.sql.whole,
            )
        elif found is not None and found.count != wanted.count and not ranked:
            yield Finding(
                "limit_differs", f"asked for {wanted.count}, cut at {found.count}", wanted.span, found.span
            )
        return
    if found is None or pair.forgiven("safety_limit", found.span):
        return
    one = found.count == 1 and (
        pair.question.order
        or any(d.functions for d in pair.question.definitions)
        or re.search(
            r"\b(?:first|last|most|recent\w*|top|best|more|less|fewer|\w+er|or)\b", pair.question.text, re.I
        )
    )
    if not one and not re.search(rf"(?<!\d){found.count}(?!\d)", pair.question.text):
        yield Finding(
            "limit_unasked", f"nobody asked for {found.count} rows only", pair.question.whole, found.span
        )


def offset_unasked(pair: Pair) -> Iterator[Finding]:
    """Rows skipped that nobody asked to skip."""
    if pair.sql.offset is not None and not re.search(
        r"\b(?:second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|\d+(?:st|nd|rd|th)|next|skip\w*|"
        r"page|after the|following|offset|except|excluding|other than|median|runner)\b",
        pair.question.text,
        re.I,
    ):
        yield Finding("offset_unasked", "nobody asked to skip rows", pair.question.whole, pair.sql.offset)


def limit_one_of_ties(pair: Pair) -> Iterator[Finding]:
    """`LIMIT 1` answers one of several rows where the question asks for things in the plural."""
    found = pair.sql.limit
    if found is None or found.count != 1 or not pair.sql.order:
        return
    match = re.match(
        r"\W*(?:what|which|list|show|find|give)\b(?:\s+\w+){0,2}?\s+(?:are|were|all)\b",
        pair.question.text,
        re.I,
    )
    if match:
        yield Finding(
            "limit_one_of_ties", "several may be asked for, one is returned", Span(*match.span()), found.span
        )


# -- distinct, sets, negation, percentages


def distinct(pair: Pair) -> Iterator[Finding]:
    """Rows that may come twice where they must not, or are merged where nobody asked."""
    asked, found = pair.question.distinct, pair.sql.distinct
    if asked and not found and not pair.sql.grouped and not pair.sql.set_operations:
        yield Finding(
            "distinct_missing",
            f"{asked[0].span.of(pair.question.text)!r} asks for each once",
            asked[0].span,
            _first([p.span for p in pair.sql.projections], pair.sql.whole),
        )
    if found and not asked:
        rule = "distinct_count_unasked" if found[0].kind == "aggregate" else "distinct_unasked"
        yield Finding(rule, "nobody asked to merge equal rows", pair.question.whole, found[0].span)


def set_operation(pair: Pair) -> Iterator[Finding]:
    """Both one and the other by a plain AND, or a set operation nobody asked for."""
    asked, sql = pair.question.set_operations, pair.sql
    if (
        asked
        and asked[0].kind == "both"
        and not sql.set_operations
        and sql.selects == 1
        and not sql.grouped
        and sql.joins < 3
    ):
        yield Finding("set_operation_missing", "both must hold, of different rows", asked[0].span, sql.whole)
    if (
        sql.set_operations
        and not asked
        and not re.search(
            r"\b(?:and|or|not|never|without|either|also|both|as well|than)\b", pair.question.text, re.I
        )
    ):
        yield Finding(
            "set_operation_unasked",
            f"nobody asked for {sql.set_operations[0].kind}",
            pair.question.whole,
            sql.set_operations[0].span,
        )


def negation_unasked(pair: Pair) -> Iterator[Finding]:
    """The query excludes something and the question does not."""
    found = [n for n in pair.sql.negations if n.kind != "null"] + [
        Mark("null", f.span)
        for f in pair.sql.filters
        if f.operator == "null"
        and not f.negated
        and f.words
        and not pair.sql.outer_joins
        and _meet_asked(pair, f.words)
    ]
    defined = any(
        re.search(r"!|<>|\bnot\b|except|other", d.span.of(pair.question.text), re.I)
        for d in pair.question.definitions
    )
    if found and not pair.question.negations and not defined:
        if re.search(
            r"\b(?:only|different|other|else|but|fail\w*|un\w+|in\w+less|\w{3,}less|lack\w*|exclu\w+|still|yet|current\w*|"
            r"ongoing|open|pending|inactive|remaining)\b",
            pair.question.text,
            re.I,
        ):
            return
        yield Finding(
            "negation_unasked", "nobody asked to exclude anything", pair.question.whole, found[0].span
        )


def _meet_asked(pair: Pair, words: frozenset[str]) -> bool:
    """Whether the question itself has one of these words, not merely one like it."""
    return any(word in pair.question.words for word in words - {"id", "name"})


def negation_by_row(pair: Pair) -> Iterator[Finding]:
    """`<> 'x'` after a join excludes rows, not the things that have such a row."""
    sql = pair.sql
    if not pair.question.negations:
        return
    rows = [
        f
        for f in sql.filters
        if f.negated and f.kind in ("string", "number") and f.operator in ("!=", "in", "like", "=")
    ]
    if rows and sql.joins and sql.selects == 1:
        yield Finding(
            "negation_by_row",
            "this excludes rows, not what has such a row",
            pair.question.negations[0].span,
            rows[0].span,
        )


def percentage(pair: Pair) -> Iterator[Finding]:
    """A percentage or ratio without a division, or a percentage without times 100."""
    sql, asked = pair.sql, pair.question.percentages
    if not asked:
        return
    place = _first([p.span for p in sql.projections], sql.whole)
    divided = any(m.kind == "division" for m in sql.percentages)
    averaged = any(a.function == "AVG" for a in sql.aggregations)
    stored = any(pair.named(word) for word in ("percentage", "ratio", "rate"))
    if not (divided or averaged or stored):
        shown = asked[0].span.of(pair.question.text)
        yield Finding("percentage_missing", f"{shown!r} needs a division", asked[0].span, place)
    times_100 = any(m.kind == "times_100" for m in sql.percentages)
    if divided and not times_100 and asked[0].kind.startswith("percent"):
        place = _first([m.span for m in sql.percentages], sql.whole)
        yield Finding("times_100_missing", "a percentage is a ratio times 100", asked[0].span, place)


# -- definitions of the enriched question


def literal_case(pair: Pair) -> Iterator[Finding]:
    """A value written in other case than the question writes it: equality may depend on it."""
    text = pair.question.text
    lowered = text.lower()
    for item in pair.sql.filters:
        if item.kind != "string" or item.operator not in ("=", "in"):
            continue
        values = frozenset(item.values)
        for value, span in pair.sql.literals:
            if value not in values:
                continue
            raw = span.of(pair.sql.text).strip("'\"")
            if (
                raw not in text
                and raw.lower() in lowered
                and raw.upper() != raw.lower()
                and "lower" not in item.span.of(pair.sql.text).lower()
            ):
                place = lowered.index(raw.lower())
                yield Finding(
                    "literal_case",
                    f"the question writes {text[place : place + len(raw)]!r}",
                    Span(place, place + len(raw)),
                    span,
                )
                return


def definitions(pair: Pair) -> Iterator[Finding]:
    """A column or function of a definition that the query does not use."""
    names = (pair.sql.tables + pair.sql.columns)[:MOST_NAMES]
    for definition in pair.question.definitions:
        shown = definition.span.of(pair.question.text).strip()
        for wanted in definition.names:
            if wanted and not _held(pair, wanted, names):
                rule = "definition_name_unused" if len(wanted) > 1 else "definition_word_unused"
                yield Finding(
                    rule,
                    f"the query does not use {' '.join(sorted(wanted))!r} of {shown!r}",
                    definition.span,
                    pair.sql.whole,
                )
                break
        for function in definition.functions:
            if function in ("MAX", "MIN") and not _picks(pair, function):
                yield Finding(
                    "definition_function_missing",
                    f"the query does not take {function} of {shown!r}",
                    definition.span,
                    _first([o.span for o in pair.sql.order], pair.sql.whole),
                )
                break
            computed = {a.function for a in pair.sql.aggregations}
            if (
                function in ("SUM", "COUNT", "AVG")
                and function not in computed
                and not (function != "AVG" and computed & {"SUM", "COUNT", "AVG"})
            ):
                yield Finding(
                    "definition_function_missing",
                    f"the query does not take {function} of {shown!r}",
                    definition.span,
                    pair.sql.whole,
                )
                break
        if (
            "DIVIDE" in definition.functions
            and not pair.sql.percentages
            and not any(a.function == "AVG" for a in pair.sql.aggregations)
        ):
            yield Finding(
                "definition_function_missing",
                f"the query does not divide as {shown!r} says",
                definition.span,
                pair.sql.whole,
            )


# Names of a query that each name of a definition is held against: far more than people write.
MOST_NAMES = 1000


def _held(pair: Pair, wanted: frozenset[str], names: tuple[tuple[frozenset[str], Span], ...]) -> bool:
    """Whether the query has a name."""
    if any(wanted <= held or held <= wanted for held, _ in names if held):
        return True
    if any(pair.named(word) is None for word in wanted):
        return False
    return any(all(_meets_any(word, held) for word in wanted) for held, _ in names if held)


def _picks(pair: Pair, function: str) -> bool:
    if any(a.function == function for a in pair.sql.aggregations) or pair.sql.windows:
        return True
    direction = "desc" if function == "MAX" else "asc"
    return any(o.direction == direction for o in pair.sql.order)


def mappings(pair: Pair) -> Iterator[Finding]:
    """A column mapping or metric of the application rules that the query does not follow."""
    for name, phrase, columns in pair.rules.column_words:
        spans = [pair.question.words.get(w) for w in sorted(phrase)]
        if (
            name in pair.rules.column_mappings
            and all(spans)
            and not any(c <= held for c in columns for held, _ in pair.sql.columns)
        ):
            shown = ", ".join(pair.rules.column_mappings[name])
            yield Finding(
                "mapping_missing", f"{name!r} is {shown}", spans[0] or pair.question.whole, pair.sql.whole
            )
    present = {a.function for a in pair.sql.aggregations}
    for name, words, functions in pair.rules.metric_functions:
        spans = [pair.question.words.get(w) for w in sorted(words)]
        if all(spans) and functions - present:
            place = spans[0] or pair.question.whole
            yield Finding("metric_missing", f"{name!r} is {pair.rules.metrics[name]}", place, pair.sql.whole)


# -- the query by itself


# Names of the faults that reading a query finds (`SqlSpecification.faults`), with what people are told.
FAULTS = {
    "unknown_qualifier": "no table of the query has this name",
    "aggregate_in_where": "WHERE cannot hold an aggregate",
    "nested_aggregate": "an aggregate inside an aggregate",
    "missing_group_by": "an aggregate beside a plain column needs a GROUP BY",
    "count_of_many": "COUNT DISTINCT takes one column in this dialect",
    "foreign_function": "this dialect does not have it",
    "foreign_syntax": "this dialect does not parse it, another does",
    "dialect_uncertain": "SQLite, tried first, does not have it; name the `dialect` if the database does",
    "cross_join": "tables side by side without a condition",
    "concatenated_columns": "several columns are glued into one",
    "never_true": "no row can meet this",
    "always_true": "every row meets this",
    "repeated_operand": "the same query twice",
    "prose": "text around the query",
    "several_statements": "more than one statement; the first is judged",
}


def faults(pair: Pair) -> Iterator[Finding]:
    """What no reading of the question can make right."""
    seen: set[str] = set()
    for fault in pair.sql.faults:
        if (
            fault.kind == "integer_division"
            and not pair.question.percentages
            and "DIVIDE" not in pair.question.text
        ):
            continue
        if fault.kind not in seen:
            seen.add(fault.kind)
            message = FAULTS.get(fault.kind, "integers divided lose what is behind the point")
            yield Finding(fault.kind, message, pair.question.whole, fault.span)


def no_table(pair: Pair) -> Iterator[Finding]:
    """A query that reads no table answers no question about data."""
    if not pair.sql.tables:
        yield Finding("no_table", "the query reads no table", pair.question.whole, pair.sql.whole)


def idle_table(pair: Pair) -> Iterator[Finding]:
    """A joined table that only its join condition mentions."""
    for mark in pair.sql.idle_tables:
        yield Finding(
            "idle_table", f"the query takes nothing from {mark.kind!r}", pair.question.whole, mark.span
        )
        return


def column_unasked(pair: Pair) -> Iterator[Finding]:
    """A condition on a column that the question does not speak of."""
    given = {value for wanted in pair.question.filters for value in wanted.values}
    for item in pair.sql.filters:
        if not item.words or item.kind not in ("string", "number", "null") or given & set(item.values):
            continue  # a value that the question gives needs no name beside it
        if pair.asked_words(item.words) is None and not pair.asked_contrary(item.words):
            shown = item.span.of(pair.sql.text)
            yield Finding(
                "column_unasked",
                f"the question does not speak of the column of {shown!r}",
                pair.question.whole,
                item.span,
            )


# Words of comparisons, numbers and patterns: operators answer them, not names.
_FRAME = frozenset(
    "more less fewer many top bottom start begin end contain word letter two three four five six seven "
    "eight nine ten than".split()
)


def words_unmet(pair: Pair) -> Iterator[Finding]:
    """Content words of the question that nothing in the query answers; the amount is their share."""
    said = [(word, p.span) for p in pair.question.projections for word in sorted(p.words)]
    said += [(word, f.span) for f in pair.question.filters if f.kind != "state" for word in sorted(f.words)]
    said = [(word, span) for word, span in said if word not in _FRAME]
    values = [value for value, _ in pair.sql.literals]
    unmet = [(w, span) for w, span in said if pair.named(w) is None and not any(w in v for v in values)]
    if unmet:
        shown = ", ".join(dict.fromkeys(word for word, _ in unmet[:5]))
        message = f"no name of the query meets: {shown}"
        yield Finding("words_unmet", message, unmet[0][1], pair.sql.whole, len(unmet) / len(said))


def outer_join(pair: Pair) -> Iterator[Finding]:
    """An outer join keeps rows without a partner."""
    if pair.sql.outer_joins and not pair.question.negations:
        yield Finding(
            "outer_join", "an outer join keeps rows without a partner", pair.question.whole, pair.sql.whole
        )


def complexity(pair: Pair) -> Iterator[Finding]:
    """Joins and nested queries: each is one more thing to get wrong."""
    if pair.sql.joins:
        yield Finding(
            "joins", f"{pair.sql.joins} joins", pair.question.whole, pair.sql.whole, min(pair.sql.joins, 5)
        )
    # "Not" and an extreme need a nested query of their own.
    needed = min(
        pair.sql.needed_queries,
        len(pair.question.negations) + sum(o.superlative for o in pair.question.order),
    )
    nested = pair.sql.selects - 1 - needed
    if nested > 0:
        yield Finding(
            "nested_queries", f"{nested} nested queries", pair.question.whole, pair.sql.whole, min(nested, 4)
        )
    conditions = len(pair.sql.filters)
    if conditions > 2:
        yield Finding(
            "many_conditions",
            f"{conditions} conditions",
            pair.question.whole,
            pair.sql.whole,
            min(conditions - 2, 4),
        )


CHECKS: tuple[Check, ...] = (
    select_star, projection_count, projection_unasked, projection_unmet, projection_of_condition,
    aggregation, aggregate_of_other, subject_unmet, constant_unasked, threshold_unasked, grouping,
    grouping_by_name, ordering, superlative, limit, offset_unasked, limit_one_of_ties,
    distinct, either_for_both, set_operation, negation_unasked, negation_by_row, percentage, literal_case,
    definitions, mappings, faults, no_table, idle_table, column_unasked, words_unmet,
    outer_join, complexity,
)  # fmt: skip
