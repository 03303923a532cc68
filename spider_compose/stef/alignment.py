"""Question and query side by side: which words meet which names, the filters' state (pipeline step 4)."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import cached_property

from spider_compose.stef.matching import ValueIndex, WordIndex
from spider_compose.stef.normalization import TURNS, is_number, meets, opposed, stem, values_meet
from spider_compose.stef.rules import ApplicationRules
from spider_compose.stef.specification.items import Definition, Filter, Span, Specification
from spider_compose.stef.specification.sql import SqlSpecification
from spider_compose.stef.tolerance import Tolerance, tolerances

# Findings about a condition that says the contrary of what is asked.
CONTRADICTIONS = frozenset("operator_differs pattern_differs negation_missing state_differs".split())

# Filter states and their points (section on filter status).
FILTER_POINTS = {
    "fully_applied": 5,
    "fully_applied_with_extras": 4,
    "partially_applied": 3,
    "not_applied": 0,
}


@dataclass(frozen=True)
class Finding:
    """One thing held against a query.

    Attributes:
        rule: the rule that found it.
        message: what is wrong, for people.
        question: characters of the question it is about; the whole question where it lacks the thing.
        sql: characters of the query it is about; the whole query where it lacks the thing.
        amount: how much of it, where that can be counted.
    """

    rule: str
    message: str
    question: Span
    sql: Span
    amount: float = 1.0


@dataclass(frozen=True)
class Match:
    """A part of the question and the part of the query that answers it."""

    kind: str
    question: Span
    sql: Span


@dataclass(frozen=True)
class Pair:
    """Two specifications with what joins them; the checks of a judge read it.

    Attributes:
        question: of the enriched question where there is one, else of the user's.
        tolerances: what is forgiven.
    """

    question: Specification
    sql: SqlSpecification
    rules: ApplicationRules = field(default_factory=ApplicationRules)

    @cached_property
    def tolerances(self) -> tuple[Tolerance, ...]:
        """What the tolerance rules forgive in this query."""
        return tolerances(self.question, self.sql, self.rules, self.rules.disabled_rules)

    def forgiven(self, rule: str, span: Span) -> bool:
        """Whether a tolerance rule forgives this part of the query."""
        return any(t.rule == rule and t.span == span for t in self.tolerances)

    @cached_property
    def _asked(self) -> dict[str, Span | None]:
        return {}

    def asked(self, word: str) -> Span | None:
        """Where the question speaks of a name's stem, directly or through a column mapping."""
        if word not in self._asked:
            self._asked[word] = self._find(word)
        return self._asked[word]

    def _find(self, word: str) -> Span | None:
        if (span := self.question.words.get(word)) is not None:
            return span
        if (other := self._question_words.meeting(word)) is not None:
            return self.question.words[other]
        for _, phrase, columns in self.rules.column_words:
            if any(word in column for column in columns):
                found = [self.question.words.get(w) for w in phrase]
                if all(found):
                    return found[0]
        return None

    def asked_words(self, words: Iterable[str]) -> Span | None:
        """Where the question speaks of any of these stems."""
        return next((span for word in sorted(words) if (span := self.asked(word)) is not None), None)

    def asked_contrary(self, words: Iterable[str]) -> bool:
        """Whether the question speaks of the contrary of any of these stems: "unplanned" of `planned`."""
        return any(f"{turn}{word}" in self.question.words for word in words for turn in TURNS)

    @cached_property
    def _names(self) -> dict[str, Span | None]:
        return {}

    def named(self, word: str) -> Span | None:
        """Where the query has a name that meets a word of the question."""
        if word not in self._names:
            other = word if word in self.sql.words else self._sql_words.meeting(word)
            self._names[word] = None if other is None else self.sql.words[other]
        return self._names[word]

    @cached_property
    def _values(self) -> dict[tuple[str, bool], bool]:
        return {}

    def value_asked(self, value: str, column: bool) -> bool:
        """Whether the question asks for a value of the query; `column`: whether it speaks of its column."""
        if (value, column) not in self._values:
            self._values[value, column] = _value_asked(self, value, column)
        return self._values[value, column]

    @cached_property
    def _question_words(self) -> WordIndex:
        return WordIndex(self.question.words)

    @cached_property
    def _sql_words(self) -> WordIndex:
        return WordIndex(self.sql.words)

    @cached_property
    def literals(self) -> ValueIndex[Span]:
        """The values of the query's conditions, with their places."""
        return ValueIndex(self.sql.literals)

    @cached_property
    def literal_words(self) -> tuple[tuple[frozenset[str], Span, bool], ...]:
        """(stems, place, whether it is a number) of every value of the query's conditions."""
        return tuple(
            (frozenset(map(stem, re.findall(r"\w+", value))), span, is_number(value))
            for value, span in self.sql.literals
        )

    @cached_property
    def literal_digits(self) -> tuple[tuple[str, list[str], Span], ...]:
        """(value, numbers in it, place) of every value of the query's conditions."""
        return tuple((value, re.findall(r"\d+", value), span) for value, span in self.sql.literals)

    @cached_property
    def holders(self) -> ValueIndex[Filter]:
        """The values of the query's conditions, with the condition each."""
        return ValueIndex((value, item) for item in self.sql.filters for value in item.values)

    @cached_property
    def given(self) -> ValueIndex[Filter | Definition]:
        """The values that the question gives, with the filter or definition each."""
        items: list[Filter | Definition] = [*self.question.filters, *self.question.definitions]
        return ValueIndex((value, item) for item in items for value in item.values)

    @cached_property
    def given_numbers(self) -> frozenset[str]:
        """The numbers in the dates and numbers that the question gives."""
        kinds = ("date", "number")
        return frozenset(
            written
            for f in self.question.filters
            if f.kind in kinds
            for v in f.values
            for n in re.findall(r"\d+", v)
            for written in {n, n.lstrip("0")}  # May is 05 and 5
        )

    @cached_property
    def spare(self) -> list[Filter]:
        """Conditions whose values the question does not give."""
        return _spare(self)

    @cached_property
    def filters(self) -> FilterAlignment:
        """The filters of both sides, aligned."""
        return align_filters(self)


@dataclass(frozen=True)
class FilterAlignment:
    """Which required filters the query applies, and which it adds.

    Attributes:
        status: one of `FILTER_POINTS`.
        required: number of filters that the question requires.
        matches: those applied.
        missing: findings for those that are not, or not as asked.
        extras: findings for filters nobody asked for.
        benign: filters nobody asked for that the application rules call benign.
    """

    status: str
    required: int
    matches: tuple[Match, ...]
    missing: tuple[Finding, ...]
    extras: tuple[Finding, ...]
    benign: tuple[Match, ...]

    @property
    def points(self) -> int:
        """Points of the status, with the one for extras that are all benign."""
        return FILTER_POINTS[self.status]

    @property
    def bonus(self) -> int:
        """1 if there are extra filters and the application rules call all of them benign."""
        return int(bool(self.benign) and self.status == "fully_applied_with_extras" and not self.extras)


def align_filters(pair: Pair) -> FilterAlignment:
    """Align the filters of both specifications (section on filter status).

    A filter of the question is applied if a condition of the query holds its value with an operator that says
    the same. Critical, so that nothing counts as applied: every required filter is missing, or what the
    question excludes is not excluded (ours).
    """
    question, sql = pair.question, pair.sql
    matches: list[Match] = []
    missing: list[Finding] = []
    for wanted in question.filters:
        if wanted.kind == "state":
            _state(pair, wanted, matches, missing)
            continue
        answer = _answer(pair, wanted)
        if answer is None:
            if wanted.strong:
                missing.append(_missing("literal_missing", wanted, sql, question))
            elif wanted.kind == "string" and not _said_elsewhere(pair, wanted):
                missing.append(_missing(_absent_name(pair, wanted), wanted, sql, question))
            continue
        against = [
            *_operator(pair, wanted),
            *_bounds(pair, wanted),
            *_place(pair, wanted),
            *_side(pair, wanted),
            *_ago(pair, wanted),
        ]
        if not any(finding.rule in CONTRADICTIONS for finding in against):
            matches.append(Match("filter", wanted.span, answer))
        missing += against
    for definition in question.definitions:
        found, lost = _definition_values(pair, definition)
        matches += found
        missing += lost
    missing += _averages(pair)
    missing += _negation(pair)
    extras, benign = _extras(pair)
    return FilterAlignment(
        _status(len(matches), missing, bool(extras or benign)),
        len(matches) + len(missing),
        tuple(matches),
        tuple(missing),
        tuple(extras),
        tuple(benign),
    )


def _status(applied: int, missing: list[Finding], extras: bool) -> str:
    # A bare name may be a value spelt otherwise in the data, an adjective no condition: the judge weighs
    # them, the status does not.
    certain = [f for f in missing if f.rule not in ("name_missing", "state_missing")]
    if any(f.rule == "negation_missing" for f in missing) or (certain and not applied):
        return "not_applied"
    if certain:
        return "partially_applied"
    return "fully_applied_with_extras" if extras else "fully_applied"


def _missing(rule: str, wanted: Filter, sql: SqlSpecification, question: Specification) -> Finding:
    near = _altered(wanted, sql) or _other_number(wanted, sql)
    shown = wanted.span.of(question.text)
    if near is not None:
        return Finding(
            "literal_altered", f"{shown!r} is written {near.of(sql.text)} in the query", wanted.span, near
        )
    return Finding(rule, f"no condition of the query holds {shown!r}", wanted.span, sql.whole)


def _other_number(wanted: Filter, sql: SqlSpecification) -> Span | None:
    """The condition that compares what the question compares, with another number."""
    if wanted.kind != "number":
        return None
    for item in sql.filters:
        if item.kind == "number" and item.operator == wanted.operator and item.words & wanted.words:
            return item.span
    return None


def _altered(wanted: Filter, sql: SqlSpecification) -> Span | None:
    """The value of the query that looks like the wanted one, cut or misspelt."""
    one = wanted.values[0]
    if wanted.kind != "string" or is_number(one):
        return None
    start = one[:4] if len(one) > 4 else None
    for other, span in sql.literals:
        if len(other) >= 3 and (one in other or other in one or other[:4] == start) and not is_number(other):
            return span
    return None


def _answer(pair: Pair, wanted: Filter) -> Span | None:
    """Where the query holds the value of a filter of the question."""
    sql = pair.sql
    spans = [_value(pair, value) for value in wanted.values]
    if all(spans):
        return spans[0]
    if wanted.operator == "between" and any(spans):
        return next(s for s in spans if s)  # `_bounds` looks at the other
    if wanted.kind == "relative":
        if (ago := _AGO.search(sql.text)) is not None:
            return Span(*ago.span())
        return next(
            (
                f.span
                for f in sql.filters
                if f.words & {"date", "time", "day", "month", "year"} or f.kind == "columns"
            ),
            None,
        )
    value = wanted.values[0]
    if sql.limit is not None and str(sql.limit.count) == value:
        return sql.limit.span
    if wanted.kind == "number" and wanted.operator in (">", ">=", "<", "<=") and is_number(value):
        shifted = _neighbours(value)
        return next((s for v, s in sql.literals if v in shifted), None)
    if wanted.kind == "number" and value in ("1", "2"):  # "two kinds of": a join or INTERSECT may say it
        return sql.whole if sql.set_operations or sql.selects > 1 or sql.grouped else None
    return None


def _value(pair: Pair, value: str) -> Span | None:
    """Where the query holds a value, as it is, as a synonym of the application, or as a part of a date."""
    sql = pair.sql
    if (span := next(pair.literals.meeting(value), None)) is not None:
        return span
    if is_number(value) and len(value) == 1 and (span := pair.literals.equal(f"0{value}")) is not None:
        return span
    for _, word, stored in pair.rules.values:
        if values_meet(word, value):
            for held, span in sql.literals:
                if held in stored:
                    return span
    if re.fullmatch(r"\d{4}-\d\d(-\d\d)?", value):
        parts = value.split("-")
        for held, digits, span in pair.literal_digits:
            if (
                held == "".join(parts)
                or digits[: len(parts)] == parts
                or (digits and digits == parts[: len(digits)])
            ):
                return span
        return None
    words = [stem(w) for w in re.findall(r"\w+", value)]
    if words and not is_number(value):
        wanted = frozenset(words)
        for held_words, span, number in pair.literal_words:
            if held_words and not number and (held_words <= wanted or wanted <= held_words):
                # part of a name: "Lewis Hamilton" may be two conditions
                return span if wanted <= frozenset().union(*(w for w, _, _ in pair.literal_words)) else None
    match = re.search(r"'[^']*'", pair.sql.text) if value and not sql.literals else None
    if match or (len(value) > 2 and not is_number(value)):
        place = sql.text.lower().find(f"'{value}'")  # a value shown or computed with, not compared
        if place >= 0:
            return Span(place, place + len(value) + 2)
    return None


def _spare(pair: Pair) -> list[Filter]:
    """Conditions whose values the question does not give: one may spell a name of it in the data's way."""
    return [
        f
        for f in pair.sql.filters
        if f.values
        and f.operator in ("=", "like", "in", "!=")
        and not any(getattr(g, "kind", "") != "state" for v in f.values for g in pair.given.meeting(v))
    ]


def _absent_name(pair: Pair, wanted: Filter) -> str:
    """How a bare name is missing: nothing can stand for it, another value does, or perhaps a code does."""
    shown = wanted.span.of(pair.question.text)
    if pair.question.definitions or "_" in shown or shown in ("No", "Nos", "ID", "USD", "EUR", "GBP", "US"):
        return "name_missing"  # the definitions say what to look for; a name of the data itself
    spare = [f for f in pair.spare if f.kind in ("string", "number")]
    if not spare:
        return "name_unapplied"
    values = [v for f in spare for v in f.values]
    codes = any(len(v) <= 3 or is_number(v) or v[:1] == wanted.values[0][:1] for v in values)
    return "name_missing" if codes else "name_replaced"


_TRUE = frozenset(("1", "t", "true", "y", "yes"))
_FALSE = frozenset(("0", "f", "false", "n", "no"))


def _polarity(item: Filter, word: str) -> bool | None:
    """Whether a condition says that a state holds, that it does not, or nothing about it (None)."""
    if not item.values and item.operator not in ("", "null"):
        return None
    for turned, found in ((False, meets), (True, opposed)):
        if any(found(word, stem(w)) for v in item.values for w in v.split()):
            return item.negated == turned
    for turned, found in ((True, opposed), (False, meets)):
        if not any(found(word, w) for w in item.words):
            continue
        values = set(item.values)
        if item.operator == "null" or not values:
            return item.negated != turned if item.operator == "null" else item.negated == turned
        if item.operator in ("=", "in", "!="):
            if values <= _TRUE:
                return item.negated == turned
            if values <= _FALSE:
                return item.negated != turned
        return None
    codes = {v for v in item.values if len(v) == 1 and v.isalpha()}
    if codes and word[:1] in codes:
        return not item.negated
    return None


def _state(pair: Pair, wanted: Filter, matches: list[Match], missing: list[Finding]) -> None:
    """A state of the question: held by a condition, turned round by it, or nowhere."""
    word, sql = wanted.values[0], pair.sql
    said = [(f, p) for f in sql.filters if not f.excluded and (p := _polarity(f, stem(word))) is not None]
    shown = wanted.span.of(pair.question.text)
    wrong = next((f for f, p in said if p == wanted.negated), None)
    if any(p != wanted.negated for _, p in said):
        place = next(f.span for f, p in said if p != wanted.negated)
        matches.append(Match("state", wanted.span, place))
    elif wrong is not None and not any(f.excluded for f in sql.filters) and not _doubled(pair, wanted):
        message = f"{wrong.span.of(sql.text)!r} says the contrary of {shown!r}"
        missing.append(Finding("state_differs", message, wanted.span, wrong.span))
    elif wanted.strong and not _named_state(pair, stem(word)):
        spare = [f for f in pair.spare if f.kind in ("string", "number")]
        if not spare and not any(f.kind in ("null", "columns") for f in sql.filters):
            missing.append(
                Finding("state_unapplied", f"no condition is about {shown!r}", wanted.span, sql.whole)
            )
    elif (
        not wanted.strong
        and not pair.question.definitions
        and not _named_state(pair, stem(word))
        and not pair.spare
    ):
        missing.append(
            Finding("state_missing", f"nothing in the query is about {shown!r}", wanted.span, sql.whole)
        )


def _doubled(pair: Pair, wanted: Filter) -> bool:
    """Whether the question speaks of a state and of its opposite, so that a condition may be of either."""
    word = stem(wanted.values[0])
    return any(opposed(word, other) for other in pair.question.words)


def _named_state(pair: Pair, word: str) -> bool:
    if pair.named(word) is not None or any(opposed(word, other) for other in pair.sql.words):
        return True
    if any(word in d.words for d in pair.question.definitions):
        return True
    return any(word[:4] in value for value, _ in pair.sql.literals)


def _bounds(pair: Pair, wanted: Filter) -> Iterator[Finding]:
    """A range that the query bounds on one side only, elsewhere, or not inside but outside."""
    if wanted.operator != "between":
        return
    shown = wanted.span.of(pair.question.text)
    for value in wanted.values:
        near = {value, *(_neighbours(value) if is_number(value) else ())}
        if _value(pair, value) is None and not any(held in near for held, _ in pair.sql.literals):
            yield Finding(
                "bound_missing", f"no condition bounds {shown!r} at {value}", wanted.span, pair.sql.whole
            )
    low, high = (
        [f for f in pair.sql.filters if f.values == (value,) and f.operator in _OPPOSITE]
        for value in wanted.values
    )
    turned = [f for f in low if _sign(f)[0] == "<"] + [f for f in high if _sign(f)[0] == ">"]
    held = [f for f in pair.sql.filters if f.operator == "between" and set(f.values) & set(wanted.values)]
    turned += [f for f in held if f.negated and not f.excluded]
    if turned and not any(f.excluded for f in turned) and not pair.question.negations:
        yield Finding("operator_differs", f"{shown!r} is turned round", wanted.span, turned[0].span)


def _place(pair: Pair, wanted: Filter) -> Iterator[Finding]:
    """A value at another place of the text than asked for: "starts with A" as '%A'."""
    if not wanted.pattern:
        return
    found = [f for value in wanted.values for f in pair.holders.meeting(value)]
    if not found or any(f.pattern in ("", wanted.pattern) for f in found):
        return
    shown = wanted.span.of(pair.question.text)
    yield Finding(
        "pattern_differs",
        f"{shown!r} asks for {wanted.pattern}, the query has {found[0].span.of(pair.sql.text)}",
        wanted.span,
        found[0].span,
    )


_BETWEEN = re.compile(
    r"(?:\s+|,|'s)*(?:(?!(?:and|but|who|that|which|whose|while|yet)\b)[\w'-]+[\s,'\"]+){0,6}['\"]?", re.I
)


def _denied(question: Specification, wanted: Filter) -> bool:
    """Whether a negation stands right before a value: "not from France", "other than 'x'"."""
    return any(
        mark.span.end <= wanted.span.start
        and not mark.span.of(question.text).lower().startswith("non")
        and _BETWEEN.fullmatch(question.text, mark.span.end, wanted.span.start) is not None
        for mark in question.negations
    )


def _side(pair: Pair, wanted: Filter) -> Iterator[Finding]:
    """A value that is to be excluded and stands in a plain condition, while another is excluded."""
    if wanted.kind not in ("string", "number") or wanted.operator not in ("=", "", "like"):
        return
    sql = pair.sql
    if not sql.negations or not _denied(pair.question, wanted):
        return
    held = [f for value in wanted.values for f in pair.holders.meeting(value)]
    if not held or any(f.negated or f.excluded for f in held):
        return
    if all(f.values and f.kind in ("string", "number") for f in sql.filters if _excludes(f)) and not (
        sql.outer_joins or any(m.kind == "EXCEPT" for m in sql.set_operations)
    ):
        shown = wanted.span.of(pair.question.text)
        yield Finding("negation_missing", f"the query does not exclude {shown!r}", wanted.span, held[0].span)


def _said_elsewhere(pair: Pair, wanted: Filter) -> bool:
    """Whether a bare name is no value: the query has it as a name, or a definition or synonym explains it."""
    words = {stem(w) for w in re.findall(r"\w+", wanted.values[0])}
    if any(pair.named(word) for word in words):
        return True
    if any(
        words & d.words or words & {stem(w) for v in d.values for w in v.split()}
        for d in pair.question.definitions
    ):
        return True
    # "French singers": the query may say France, F, or a code
    return any(v[:1] == wanted.values[0][:1] for f in pair.spare for v in f.values)


_OPPOSITE = {">": "<", ">=": "<", "<": ">", "<=": ">"}


def _operator(pair: Pair, wanted: Filter) -> Iterator[Finding]:
    """A comparison turned round, or off by its bound."""
    if wanted.operator not in _OPPOSITE:
        return
    found = [
        f
        for f in pair.sql.filters
        if wanted.values[0] in f.values and f.operator in ("<", "<=", ">", ">=", "=", "!=")
    ]
    if not found or any(f.excluded for f in found):
        return
    operator = wanted.operator
    if wanted.negated:  # "not older than 30"
        operator = _COMPLEMENT[operator]
        if any(_excludes(f) for f in pair.sql.filters if f not in found) or any(
            m.kind == "EXCEPT" for m in pair.sql.set_operations
        ):
            return
    if any(_sign(f) == operator for f in found):
        return
    item = found[0]
    shown = wanted.span.of(pair.question.text)
    yield Finding(
        "bound_differs" if _sign(item)[0] == operator[0] else "operator_differs",
        f"{shown!r} asks for {operator}, the query has {_sign(item)}",
        wanted.span,
        item.span,
    )


_COMPLEMENT = {">": "<=", ">=": "<", "<": ">=", "<=": ">"}


def _sign(item: Filter) -> str:
    """The operator of a comparison, with a NOT before it taken in."""
    return _COMPLEMENT.get(item.operator, item.operator) if item.negated else item.operator


_AVERAGE = re.compile(
    r"\b(?:(?:more|greater|higher|larger|bigger|longer|older|taller|heavier|later|better|faster|(?P<less>less|"
    r"fewer|lower|smaller|shorter|younger|lighter|earlier|slower|cheaper))\s+than|over|above|exceed\w*|"
    r"(?P<below>below|under))\s+(?:the\s+|its\s+|their\s+)?(?:overall\s+)?(?:average|mean)\b",
    re.I,
)


def _averages(pair: Pair) -> Iterator[Finding]:
    """More than the average, compared the other way round."""
    asked = _AVERAGE.search(pair.question.text)
    if asked is None or pair.question.negations:
        return
    sign = "<" if asked["less"] or asked["below"] else ">"
    text = pair.sql.text
    # The column stands first; `(SELECT AVG ...) < x` is written rarely and is left alone.
    held = [
        f
        for f in pair.sql.filters
        if f.kind == "subquery"
        and f.operator in _OPPOSITE
        and re.search(r"[<>]=?\s*\(\s*select\s+avg\b", f.span.of(text), re.I)
    ]
    if held and all(_sign(f)[0] != sign for f in held):
        message = f"{asked[0]!r} asks for {sign}, the query has {_sign(held[0])}"
        yield Finding("operator_differs", message, Span(*asked.span()), held[0].span)


_AGO = re.compile(
    r"(?P<sign>[<>])=?[\s(]*(?:(?:current_(?:date|timestamp)(?:\(\))?|now\(\)|sysdate|getdate\(\)|curdate\(\))"
    r"\s*-|(?:date|datetime)\(\s*'now'\s*,\s*'-|(?:date|datetime|timestamp)_sub\(|dateadd\(\s*\w+\s*,\s*-)",
    re.I,
)


def _ago(pair: Pair, wanted: Filter) -> Iterator[Finding]:
    """The last 30 days, as what lies before them."""
    if wanted.kind != "relative" or pair.question.negations or wanted.values[0].split()[0] not in _LAST:
        return
    found = list(_AGO.finditer(pair.sql.text))
    if found and all(match["sign"] == "<" for match in found):
        shown = wanted.span.of(pair.question.text)
        yield Finding(
            "operator_differs",
            f"{shown!r} is turned round by {found[0][0]!r}",
            wanted.span,
            Span(*found[0].span()),
        )


_LAST = frozenset(("last", "past", "previous"))


def _definition_values(pair: Pair, definition: Definition) -> tuple[list[Match], list[Finding]]:
    found, lost = [], []
    for value in definition.values:
        span = _value(pair, value)
        if span is None and len(value) <= 3 and is_number(value):
            text = re.search(rf"(?<![\w.]){re.escape(value)}(?![\w.])", pair.sql.text)
            span = Span(*text.span()) if text else None
        if span is not None:
            found.append(Match("definition", definition.span, span))
        else:
            shown = definition.span.of(pair.question.text).strip()
            message = f"no condition of the query holds {value!r} of {shown!r}"
            lost.append(Finding("definition_value_missing", message, definition.span, pair.sql.whole))
    return found, lost


def _excludes(item: Filter) -> bool:
    """Whether a condition excludes: with a NOT, or as IS NULL, = 0, < 1 or a false flag do without one."""
    if item.operator == "null":
        return not item.negated
    return item.negated or bool(set(item.values) & {"0", "f", "false", "no", "n", "none", ""})


def _negation(pair: Pair) -> Iterator[Finding]:
    question, sql = pair.question, pair.sql
    if not question.negations or any(_excludes(f) for f in sql.filters):
        return
    if any(mark.kind == "EXCEPT" for mark in sql.set_operations):
        return
    if sql.outer_joins and not any(f.operator == "null" for f in sql.filters):
        return  # COUNT of the partners, perhaps
    if any(f.operator in ("<", "<=") and set(f.values) <= {"0", "1"} for f in sql.filters):
        return
    if any(f.negated for f in question.filters):
        return  # "not older than 30", "not active": looked at with their condition
    if any(opposed(stem(v), word) for f in sql.filters for v in f.values for word in question.words):
        return  # status = 'inactive'
    definitions = [
        d
        for d in question.definitions
        if re.search(r"!|<>|<|\bnot\b|= ?0|null", d.span.of(question.text), re.I)
    ]
    if question.definitions and not definitions:
        return  # the definitions say how to exclude, without a negation
    mark = question.negations[0]
    yield Finding(
        "negation_missing",
        f"nothing in the query excludes what {mark.span.of(question.text)!r} excludes",
        mark.span,
        sql.whole,
    )


def _extras(pair: Pair) -> tuple[list[Finding], list[Match]]:
    """Conditions of the query that nothing in the question supports."""
    extras, benign = [], []
    for item in pair.sql.filters:
        if not _supported(pair, item):
            cover = next((b for b in pair.rules.benign_filters if b.covers(item)), None)
            if cover is not None:
                benign.append(Match("benign_filter", pair.question.whole, item.span))
                continue
            rule = "extra_null_filter" if item.operator == "null" else "extra_filter"
            message = f"nobody asked for the condition {item.span.of(pair.sql.text)!r}"
            extras.append(Finding(rule, message, pair.question.whole, item.span))
    return extras, benign


_BOOLEANS = {"0", "1", "t", "f", "true", "false", "y", "n", "yes", "no"}


def _supported(pair: Pair, item: Filter) -> bool:
    """Whether the question asks for a condition: it holds its values, or they need no asking."""
    if item.operator == "null":
        if item.negated and pair.asked_words(item.words) is not None:
            return True  # "that have an email"
        return bool(pair.question.negations) or any(
            "null" in d.span.of(pair.question.text).lower() for d in pair.question.definitions
        )
    if not item.values:
        return True  # joins, sub-queries and comparisons of columns
    column = pair.asked_words(item.words) is not None or pair.asked_contrary(item.words)
    if item.operator == "=" and not column and item.kind == "number" and set(item.values) <= {"0", "1"}:
        return False  # a flag nobody spoke of, as in is_deleted = 0
    return all(pair.value_asked(value, column) for value in item.values)


def _value_asked(pair: Pair, value: str, column: bool) -> bool:
    question = pair.question
    if value in _BOOLEANS and column:
        return True
    if value == "2" and re.search(r"\b(?:both|two|pairs?|twice)\b", question.text, re.I):
        return True
    if not value:
        return bool(question.negations)
    if next(pair.given.meeting(value), None) is not None:
        return True
    if pair.given_numbers and pair.given_numbers.intersection(re.findall(r"\d+", value)):
        return True
    if any(wanted.kind == "relative" for wanted in question.filters):
        return True
    for _, word, stored in pair.rules.values:
        if value in stored and any(meets(stem(w), q) for w in word.split() for q in question.words):
            return True
    if is_number(value):
        return re.search(rf"(?<!\d){re.escape(value)}(?!\d)", question.text) is not None or _shifted(
            question, value
        )
    words = [stem(w) for w in re.findall(r"\w+", value)]
    if len(value) <= 2:  # a code: M of "male"
        return any(word.startswith(value) for word in question.words)
    # Misspelt words cost time: hundreds of words are not held against hundreds of values for them.
    fuzzy = len(question.words) * len(pair.sql.literals) < 20_000
    return bool(words) and all(
        w in question.words or pair.asked(w) or (fuzzy and _close(w, question)) for w in words
    )


def _neighbours(value: str) -> set[str]:
    """The whole numbers beside a number; none beside one too great for a float."""
    number = float(value)
    return {str(int(number) + 1), str(int(number) - 1)} if math.isfinite(number) else set()


def _shifted(question: Specification, value: str) -> bool:
    """Whether a bound is the asked one moved by one: "more than 2" as >= 3."""
    near = _neighbours(value)
    if value in ("0", "1"):
        return True  # "any", "no", "only one", "some"
    return any(set(f.values) & near for f in question.filters if f.kind == "number")


def _close(word: str, question: Specification) -> bool:
    """Whether the question has nearly this word: "french" for "france", "carribean" for "caribbean"."""
    size = 4 if len(word) > 4 else 3
    for other, span in question.words.items():
        if other[:size] == word[:size]:
            return True
        if other[:2] == word[:2] and question.text[span.start].isupper() and span.start > 0:
            return True
        if (
            len(word) > 4
            and abs(len(word) - len(other)) < 3
            and SequenceMatcher(None, word, other).ratio() > 0.8
        ):
            return True
    return False
