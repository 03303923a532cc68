"""Question and query side by side: which words meet which names, the filters' state (pipeline step 4)."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import cached_property

from spider_compose.stef.normalization import is_number, meets, stem, values_meet
from spider_compose.stef.rules import ApplicationRules
from spider_compose.stef.specification.items import Definition, Filter, Span, Specification
from spider_compose.stef.specification.sql import SqlSpecification
from spider_compose.stef.tolerance import Tolerance, tolerances

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
        for other, place in self.question.words.items():
            if meets(word, other):
                return place
        for _, phrase, columns in self.rules.column_words:
            if any(word in column for column in columns):
                found = [self.question.words.get(w) for w in phrase]
                if all(found):
                    return found[0]
        return None

    def asked_words(self, words: Iterable[str]) -> Span | None:
        """Where the question speaks of any of these stems."""
        return next((span for word in sorted(words) if (span := self.asked(word)) is not None), None)

    @cached_property
    def _names(self) -> dict[str, Span | None]:
        return {}

    def named(self, word: str) -> Span | None:
        """Where the query has a name that meets a word of the question."""
        if word not in self._names:
            found = self.sql.words.get(word)
            self._names[word] = found or next((s for w, s in self.sql.words.items() if meets(w, word)), None)
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
        answer = _answer(pair, wanted)
        if answer is None:
            if wanted.strong:
                missing.append(_missing("literal_missing", wanted, sql, question))
            elif wanted.kind == "string" and not _said_elsewhere(pair, wanted):
                missing.append(_missing("name_missing", wanted, sql, question))
        else:
            matches.append(Match("filter", wanted.span, answer))
            missing += _operator(pair, wanted)
    for definition in question.definitions:
        found, lost = _definition_values(pair, definition)
        matches += found
        missing += lost
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
    # A bare name may be a value spelt otherwise in the data: the judge weighs it, the status does not.
    certain = [f for f in missing if f.rule != "name_missing"]
    if any(f.rule == "negation_missing" for f in missing) or (certain and not applied):
        return "not_applied"
    if certain:
        return "partially_applied"
    return "fully_applied_with_extras" if extras else "fully_applied"


def _missing(rule: str, wanted: Filter, sql: SqlSpecification, question: Specification) -> Finding:
    near = next((span for value, span in sql.literals if _altered(wanted, value)), None) or _other_number(
        wanted, sql
    )
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


def _altered(wanted: Filter, value: str) -> bool:
    """Whether a value of the query looks like the wanted one, cut or misspelt."""
    one, other = wanted.values[0], value
    if wanted.kind != "string" or is_number(one) or is_number(other) or len(other) < 3:
        return False
    return one in other or other in one or (len(one) > 4 and one[:4] == other[:4])


def _answer(pair: Pair, wanted: Filter) -> Span | None:
    """Where the query holds the value of a filter of the question."""
    sql = pair.sql
    spans = [_value(pair, value) for value in wanted.values]
    if all(spans):
        return spans[0]
    if wanted.operator == "between" and any(spans):
        return next(s for s in spans if s)  # a bound may be shifted by one
    if wanted.kind == "relative":
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
    for held, span in sql.literals:
        if values_meet(value, held) or (is_number(value) and len(held) <= 2 and held.lstrip("0") == value):
            return span
    for _, word, stored in pair.rules.values:
        if values_meet(word, value):
            for held, span in sql.literals:
                if held in stored:
                    return span
    if re.fullmatch(r"\d{4}-\d\d(-\d\d)?", value):
        parts = value.split("-")
        for held, span in sql.literals:
            digits = re.findall(r"\d+", held)
            if (
                held == "".join(parts)
                or digits[: len(parts)] == parts
                or (digits and digits == parts[: len(digits)])
            ):
                return span
        return None
    words = [stem(w) for w in re.findall(r"\w+", value)]
    if words and not is_number(value):
        for held, span in sql.literals:
            parts_held = [stem(w) for w in re.findall(r"\w+", held)]
            if (
                parts_held
                and (set(parts_held) <= set(words) or set(words) <= set(parts_held))
                and not is_number(held)
            ):
                # part of a name: "Lewis Hamilton" may be two conditions
                return (
                    span
                    if set(words) <= {p for v, _ in sql.literals for p in map(stem, re.findall(r"\w+", v))}
                    else None
                )
    match = re.search(r"'[^']*'", pair.sql.text) if value and not sql.literals else None
    if match or (len(value) > 2 and not is_number(value)):
        place = sql.text.lower().find(f"'{value}'")  # a value shown or computed with, not compared
        if place >= 0:
            return Span(place, place + len(value) + 2)
    return None


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
    return any(v[:1] == wanted.values[0][:1] for v, _ in pair.sql.literals)


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
    if not found or wanted.negated or any(_same_sign(f, wanted.operator) for f in found):
        return  # a negation nearby may turn the comparison round
    item = found[0]
    shown = wanted.span.of(pair.question.text)
    strict = item.operator[0] == wanted.operator[0]
    yield Finding(
        "bound_differs" if strict else "operator_differs",
        f"{shown!r} asks for {wanted.operator}, the query has {item.operator}",
        wanted.span,
        item.span,
    )


def _same_sign(item: Filter, operator: str) -> bool:
    actual = item.operator
    if item.negated:
        actual = {">": "<=", ">=": "<", "<": ">=", "<=": ">"}.get(actual, actual)
    return actual == operator


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


# Conditions that may stand for a negation without one: IS NULL, = 0, < 1, a false flag, an outer join.
def _negation(pair: Pair) -> Iterator[Finding]:
    question, sql = pair.question, pair.sql
    if not question.negations or sql.negations or sql.outer_joins:
        return
    if any(
        f.operator in ("null", "<", "<=") or set(f.values) & {"0", "f", "false", "no", "n", "none"}
        for f in sql.filters
    ):
        return
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
        return bool(pair.question.negations) or any(
            "null" in d.span.of(pair.question.text).lower() for d in pair.question.definitions
        )
    if not item.values:
        return True  # joins, sub-queries and comparisons of columns
    column = pair.asked_words(item.words) is not None
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
    for wanted in question.filters:
        if any(values_meet(value, v) for v in wanted.values):
            return True
        if wanted.kind in ("date", "number") and any(
            set(re.findall(r"\d+", value)) & set(re.findall(r"\d+", v)) for v in wanted.values
        ):
            return True
        if wanted.kind == "relative":
            return True
    for definition in question.definitions:
        if any(values_meet(value, v) for v in definition.values):
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
    return bool(words) and all(w in question.words or pair.asked(w) or _close(w, question) for w in words)


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
