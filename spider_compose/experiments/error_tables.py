"""The error analysis of section 5.2: what is wrong with the outputs, by kind, clause and clause pattern."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from spider_compose.experiments.cells import model_title
from spider_compose.experiments.figures import Figure, Results
from spider_compose.experiments.paper_tables import (
    FIRST,
    RANGES,
    SECOND,
    experiment_title,
    items_note,
    told_counts,
)
from spider_compose.experiments.reports import number
from spider_compose.experiments.tables import Entry, Table, figure_entry

SHOWN_PATTERNS = 12
"""How many clause patterns a table shows, the most frequent first."""

_KINDS = {
    "empty_output": "no words at all",
    "cut_short": "cut short",
    "repeated_words": "repeated words",
    "missing_clause": "a clause is missing",
    "extra_clause": "a clause too many",
    "wrong_column": "wrong column",
    "wrong_value": "wrong value or number",
    "wrong_aggregate": "wrong aggregate",
    "wrong_direction": "wrong direction of sorting",
    "wrong_comparison": "wrong comparison",
    "wrong_negation": "wrong negation",
    "lost_words": "lost words",
}
"""Kinds of errors as tables name them; `evaluation.error_kinds` says what each means."""


def error_tables(results: Results) -> list[Table]:
    """What is wrong with the outputs, by kind, by missing clause and by clause pattern."""
    tables = []
    for experiment in (FIRST, SECOND):
        title = experiment_title(experiment)
        models = [model for model in results.models if results.of(model, experiment)]
        if not models:
            continue
        heads = tuple(model_title(model) for model in models)
        kinds = _kinds(results, models, experiment)
        if kinds:
            rows = tuple(
                (
                    Entry(_KINDS.get(kind, kind.replace("_", " "))),
                    *(figure_entry(_share(results, model, experiment, kind), digits=1) for model in models),
                )
                for kind in kinds
            )
            others = {"right": "num_exact", "wrong, of no kind": "unexplained"}
            rows += tuple(
                (
                    Entry(title),
                    *(
                        figure_entry(_share_of(results, model, experiment, name), digits=1)
                        for model in models
                    ),
                )
                for title, name in others.items()
            )
            notes = (
                "Percent of test items with an error of the kind; an item may have several. Right: "
                "normalised exact match. Of no kind: good paraphrases among them. The kinds are found by "
                "rules over words, no reading.",
                RANGES,
                *items_note(results, (experiment,)),
            )
            tables.append(
                Table(f"errors_{experiment}", f"Errors by kind, {title}", ("error", *heads), rows, notes)
            )
        tables += _missing_types(results, models, experiment)
        tables += _kinds_by_part(results, models, experiment)
        patterns = results.parts(experiment, "by_clause_pattern")
        if patterns:
            shown = sorted(patterns, key=lambda name: (-max(patterns[name]), name))[:SHOWN_PATTERNS]
            rows = tuple(
                (
                    Entry(name.replace("+", " + ")),
                    Entry(told_counts(patterns[name])),
                    *(
                        figure_entry(
                            results.part(model, experiment, "by_clause_pattern", name, "bleu"), digits=1
                        )
                        for model in models
                    ),
                )
                for name in shown
            )
            left = [name for name in patterns if name not in shown]
            count = sum(max(patterns[name]) for name in left)
            notes = (RANGES,) + (
                (f"{len(left)} rarer patterns, {count} items in all, are not shown.",) if left else ()
            )
            tables.append(
                Table(
                    f"patterns_{experiment}",
                    f"BLEU by clause pattern, {title}",
                    ("clauses", "items", *heads),
                    rows,
                    notes,
                )
            )
    return tables


def error_kinds(results: Results, model: str, experiment: str) -> dict[str, Figure]:
    """Percent of a model's items with an error, by kind in words, the most frequent first."""
    shares = {
        _KINDS.get(kind, kind.replace("_", " ")): _share(results, model, experiment, kind)
        for kind in _kinds(results, [model], experiment)
    }
    return dict(sorted(shares.items(), key=lambda entry: -(entry[1].mean or 0)))


def _kinds(results: Results, models: Iterable[str], experiment: str) -> list[str]:
    kinds: dict[str, None] = {}
    for model in models:
        for report in results.of(model, experiment).values():
            found = report.part("error_analysis").get("kinds")
            if isinstance(found, Mapping):
                kinds |= dict.fromkeys(found)
    return list(kinds)


def _share(results: Results, model: str, experiment: str, kind: str) -> Figure:
    """Percent of items with an error of a kind."""
    values = {}
    for seed, report in results.of(model, experiment).items():
        analysis = report.part("error_analysis")
        kinds = analysis.get("kinds")
        found = kinds.get(kind) if isinstance(kinds, Mapping) else None
        if isinstance(found, Mapping) and (share := number(found.get("share"))) is not None:
            values[seed] = share
    return Figure(values)


def _share_of(results: Results, model: str, experiment: str, name: str) -> Figure:
    """Percent of items that an error analysis counts by a number, or by a mapping with a share."""
    values = {}
    for seed, report in results.of(model, experiment).items():
        analysis = report.part("error_analysis")
        found = analysis.get(name)
        if isinstance(found, Mapping):
            share = number(found.get("share"))
        else:
            count = number(found)
            share = None if count is None else 100 * count / report.num_items
        if share is not None:
            values[seed] = share
    return Figure(values)


def _missing_types(results: Results, models: list[str], experiment: str) -> list[Table]:
    """How often each type of clause is missing where the SQL has it."""
    shares: dict[str, dict[str, dict[int, float]]] = {}
    for model in models:
        for seed, report in results.of(model, experiment).items():
            found = report.part("error_analysis").get("missing_clause_types")
            for kind, counted in (found if isinstance(found, Mapping) else {}).items():
                if (share := _percent(counted)) is not None:
                    shares.setdefault(kind, {}).setdefault(model, {})[seed] = share
    if not shares:
        return []
    rows = tuple(
        (Entry(kind), *(figure_entry(Figure(by_model.get(model, {})), digits=1) for model in models))
        for kind, by_model in shares.items()
    )
    return [
        Table(
            f"missing_{experiment}",
            f"Missing clauses by type, {experiment_title(experiment)}",
            ("clause", *(model_title(model) for model in models)),
            rows,
            (
                "Percent of the clauses that the reference says and the output does not.",
                RANGES,
            ),
        )
    ]


def _kinds_by_part(results: Results, models: list[str], experiment: str) -> list[Table]:
    """Errors by number of clauses and by clause pattern, of all models together."""
    tables = []
    for division, name, head in (
        ("by_num_clauses", "number of clauses", "clauses"),
        ("by_clause_pattern", "clause pattern", "clauses"),
    ):
        items: dict[str, float] = {}
        counts: dict[str, dict[str, float]] = {}
        trainings = 0
        for model in models:
            for report in results.of(model, experiment).values():
                parts = report.part("error_analysis").get(division)
                trainings += isinstance(parts, Mapping)
                for part, found in (parts if isinstance(parts, Mapping) else {}).items():
                    if not isinstance(found, Mapping) or not isinstance(found.get("kinds"), Mapping):
                        continue
                    items[part] = items.get(part, 0) + (number(found.get("num_items")) or 0)
                    own = counts.setdefault(part, {})
                    for kind, count in found["kinds"].items():
                        if (value := number(count)) is not None:
                            own[kind] = own.get(kind, 0) + value
        kinds = [
            kind
            for kind in _kinds(results, models, experiment)
            if any(own.get(kind) for own in counts.values())
        ]
        shown = [part for part in sorted(items, key=lambda part: (-items[part], part)) if items[part]][
            :SHOWN_PATTERNS
        ]
        if division == "by_num_clauses":
            shown.sort(key=lambda part: (len(part), part))  # 10 after 9
        if not shown or not kinds:
            continue
        rows = tuple(
            (
                Entry(part.replace("+", " + ")),
                Entry(f"{items[part]:,.0f}"),
                *(
                    Entry(f"{100 * counts[part][kind] / items[part]:.1f}")
                    if kind in counts[part]
                    else Entry()
                    for kind in kinds
                ),
            )
            for part in shown
        )
        tables.append(
            Table(
                f"errors_{division}_{experiment}",
                f"Errors by {name}, {experiment_title(experiment)}, all models together",
                (head, "outputs", *(_KINDS.get(kind, kind.replace("_", " ")) for kind in kinds)),
                rows,
                (f"Percent of the outputs of {trainings} trainings; kinds that no output has are left out.",),
            )
        )
    return tables


def _percent(counted: Any) -> float | None:
    """The share of clauses that are missing, of those that the reference says."""
    if not isinstance(counted, Mapping):
        return None
    missing, judged = number(counted.get("missing")), number(counted.get("judged"))
    return None if missing is None or not judged else 100 * missing / judged
