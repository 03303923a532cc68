"""Whether the enriched question keeps what the user asked (pipeline step 1); needs no SQL.

Both questions are read into specifications; their items are compared kind by kind. An item is kept, lost,
changed (lost, and another of its kind added) or added. Definitions an agent adds are what enrichment is for:
they are listed and cost nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from spider_compose.stef.normalization import stem, values_meet
from spider_compose.stef.specification.items import Span, Specification, plain

# How much an item counts in the quality, by kind; a lost negation turns the question round.
KIND_WEIGHTS = {
    "literal": 2.0, "number": 2.0, "date": 2.0, "comparison": 2.0, "negation": 3.0, "aggregate": 2.0,
    "top_k": 2.0,
    "superlative": 2.0, "order": 1.0, "grouping": 1.0, "distinct": 1.0, "percentage": 1.0, "word": 0.5,
}  # fmt: skip


@dataclass(frozen=True)
class Difference:
    """One item of the two questions.

    Attributes:
        kind: a name of `KIND_WEIGHTS`, or "definition".
        fate: "kept", "lost", "added" or "changed".
        text: what it says in the user's question, or in the enriched one where it was added.
        question: its characters in the user's question, or None.
        enriched: its characters in the enriched question, or None.
    """

    kind: str
    fate: str
    text: str
    question: Span | None
    enriched: Span | None


@dataclass(frozen=True)
class Enrichment:
    """What an enriched question made of the user's.

    Attributes:
        quality: 0 to 1, share of what was asked that is kept, by weight; 1 where nothing was lost or changed.
        differences: every item, in the order of the user's question, then what was added.
    """

    quality: float
    differences: tuple[Difference, ...]

    def of(self, fate: str) -> tuple[Difference, ...]:
        """The items of one fate."""
        return tuple(d for d in self.differences if d.fate == fate)

    def sentences(self) -> list[str]:
        """What a person should look at: everything lost, changed or added, one line each."""
        return [
            f"{d.fate}: {d.kind} {d.text!r}"
            for d in self.differences
            if d.fate != "kept" and d.kind != "word"
        ] + [
            f"{d.fate}: {d.kind} {d.text!r}"
            for d in self.differences
            if d.fate == "lost" and d.kind == "word"
        ]

    def losses(self) -> list[str]:
        """What was lost or changed, one line each."""
        return [f"{d.fate}: {d.kind} {d.text!r}" for d in (*self.of("lost"), *self.of("changed"))]

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {
            "quality": round(self.quality, 4),
            **{f: [plain(d) for d in self.of(f)] for f in ("kept", "lost", "changed", "added")},
        }


@dataclass(frozen=True)
class _Item:
    kind: str
    key: str
    span: Span


def compare_questions(question: Specification, enriched: Specification) -> Enrichment:
    """Compare the user's question with the enriched one."""
    ours, theirs = list(_items(question)), list(_items(enriched))
    found: list[Difference] = []
    lost: list[_Item] = []
    rest = list(theirs)
    for item in ours:
        match = next((o for o in rest if o.kind == item.kind and _same(item, o)), None)
        if match is None:
            lost.append(item)
        else:
            rest.remove(match)
            found.append(Difference(item.kind, "kept", item.span.of(question.text), item.span, match.span))
    text = enriched.text.lower()
    for item in lost:
        if item.kind in ("literal", "number", "date", "word") and _spoken(item.key, text, enriched):
            found.append(Difference(item.kind, "kept", item.span.of(question.text), item.span, None))
            continue
        other = next((o for o in rest if o.kind == item.kind and item.kind not in ("word", "literal")), None)
        if other is not None:
            rest.remove(other)
        fate = "changed" if other is not None else "lost"
        found.append(
            Difference(item.kind, fate, item.span.of(question.text), item.span, other.span if other else None)
        )
    found.sort(key=lambda d: d.question or Span(1 << 30, 0))
    asked = set(question.words)
    for item in rest:
        if item.kind != "word" and not (item.kind == "literal" and set(map(stem, item.key.split())) <= asked):
            found.append(Difference(item.kind, "added", item.span.of(enriched.text), None, item.span))
    for definition in enriched.definitions:
        found.append(
            Difference(
                "definition", "added", definition.span.of(enriched.text).strip(), None, definition.span
            )
        )
    return Enrichment(_quality(found), tuple(found))


def validate_enrichment(question: str, enriched: str, spacy_model: str = "en_core_web_sm") -> Enrichment:
    """Compare two questions given as texts (pipeline step 1).

    Raises:
        MissingExtraError: spaCy or the model is not installed.
    """
    from spider_compose.language import load_model
    from spider_compose.stef.specification.question import read_question

    model = load_model(spacy_model)
    start = question.rstrip()
    if start and enriched.startswith(start):  # only added to: what follows are definitions
        doc = model(start)
        return compare_questions(read_question(doc), read_question(doc, enriched[len(start) :]))
    return compare_questions(read_question(model(question)), read_question(model(enriched)))


def _quality(found: list[Difference]) -> float:
    """Kept weight over all weight; a negation or a number added out of nothing counts half."""
    kept = sum(KIND_WEIGHTS[d.kind] for d in found if d.fate == "kept")
    lost = sum(KIND_WEIGHTS[d.kind] for d in found if d.fate in ("lost", "changed"))
    added = sum(
        KIND_WEIGHTS[d.kind] / 2
        for d in found
        if d.fate == "added" and d.kind in ("negation", "top_k", "comparison")
    )
    total = kept + lost + added
    return kept / total if total else 1.0


def _same(one: _Item, other: _Item) -> bool:
    return one.key == other.key or (one.kind in ("literal", "date") and values_meet(one.key, other.key))


def _spoken(key: str, text: str, enriched: Specification) -> bool:
    """Whether the enriched question has a value in other clothes: inside a definition, or as a word."""
    whole = re.search(rf"(?<!\w){re.escape(key)}(?!\w)", text) is not None
    return whole or (bool(key.split()) and all(stem(word) in enriched.words for word in key.split()))


def _items(spec: Specification) -> Iterator[_Item]:
    """The comparable items of a specification."""
    for item in spec.filters:
        if item.kind == "state":
            continue  # words, as far as two questions go
        if item.kind in ("date", "relative"):
            yield _Item("date", " ".join(item.values), item.span)
        elif item.operator in (">", ">=", "<", "<=", "between"):
            yield _Item("comparison", f"{item.operator} {' '.join(item.values)}", item.span)
        else:
            yield _Item("number" if item.kind == "number" else "literal", " ".join(item.values), item.span)
    for mark in spec.negations[:1]:
        yield _Item("negation", "not", mark.span)
    seen: set[str] = set()
    for aggregation in spec.aggregations:
        if aggregation.function not in seen:
            seen.add(aggregation.function)
            yield _Item("aggregate", aggregation.function, aggregation.span)
    if spec.limit is not None:
        yield _Item("top_k", str(spec.limit.count), spec.limit.span)
    for order in spec.order:
        if order.superlative and order.span.of(spec.text).lower() in ("top", "bottom"):
            continue  # the top-k above says it
        kind = "superlative" if order.superlative else "order"
        yield _Item(kind, f"{order.direction}", order.span)
    for grouping in spec.grouping[:1]:
        yield _Item("grouping", "each", grouping.span)
    for mark in spec.distinct[:1]:
        yield _Item("distinct", "distinct", mark.span)
    for mark in spec.percentages[:1]:
        yield _Item("percentage", "percentage", mark.span)
    for projection in spec.projections:
        for word in sorted(projection.words):
            yield _Item("word", word, spec.words.get(word, projection.span))
