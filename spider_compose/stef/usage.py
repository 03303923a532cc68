"""Which application rules a sample of queries makes use of, for `stef validate-rules`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from spider_compose.stef.alignment import Pair
from spider_compose.stef.normalization import name_words
from spider_compose.stef.rules import ApplicationRules
from spider_compose.stef.score import Scorer


def rule_paths(rules: ApplicationRules) -> list[str]:
    """The path of every rule that can fire, in the order of the document."""
    paths = [f"$.column_mappings[{name!r}]" for name in rules.column_mappings]
    paths += [f"$.value_synonyms[{name!r}]" for name in rules.value_synonyms]
    paths += [f"$.metrics[{name!r}]" for name in rules.metrics]
    paths += [f"$.benign_filters[{number}]" for number in range(len(rules.benign_filters))]
    return paths + [f"$.default_order[{number}]" for number in range(len(rules.default_order))]


def fired(pair: Pair) -> set[str]:
    """The paths of the rules that one query makes use of."""
    rules, question, sql = pair.rules, pair.question, pair.sql
    found = set()
    for name, phrase, columns in rules.column_words:
        if phrase <= set(question.words) and any(c <= held for c in columns for held, _ in sql.columns):
            found.add(f"$.{'metrics' if name in rules.metrics else 'column_mappings'}[{name!r}]")
    for name, word, stored in rules.values:
        if set(word.split()) & set(question.words) and any(value in stored for value, _ in sql.literals):
            found.add(f"$.value_synonyms[{name!r}]")
    for number, benign in enumerate(rules.benign_filters):
        if any(benign.covers(item) for item in sql.filters):
            found.add(f"$.benign_filters[{number}]")
    for number, key in enumerate(rules.default_order):
        if any(order.words == frozenset(name_words(key.split()[0])) for order in sql.order):
            found.add(f"$.default_order[{number}]")
    return found


def rule_usage(rules: ApplicationRules, rows: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """Path of every rule -> number of rows that make use of it, 0 included."""
    counts = dict.fromkeys(rule_paths(rules), 0)
    for explained in Scorer(rules).explain_rows(rows):
        if explained.pair is not None:
            for path in fired(explained.pair):
                counts[path] += 1
    return counts
