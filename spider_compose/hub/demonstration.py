"""The demonstration of the STEF score: one question and one query in, the score with its reasons out.

The markup goes into a page of Gradio, whose colours `demonstration.css` takes. Question and query are text
that anyone may have written.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any

from spider_compose.page.markup import Markup, element, join
from spider_compose.stef.alignment import FILTER_POINTS, Pair
from spider_compose.stef.explanation import as_json
from spider_compose.stef.judges.protocol import VERDICT_POINTS
from spider_compose.stef.rules import ApplicationRules
from spider_compose.stef.score import UNSCORED, Explained, Reason, Result, Scorer, penalty
from spider_compose.stef.specification.items import Span

DIALECTS = (
    "auto", "sqlite", "postgres", "mysql", "tsql", "oracle", "bigquery", "snowflake", "redshift",
    "databricks", "duckdb", "clickhouse", "trino",
)  # fmt: skip
"""Those that are offered, by sqlglot's names."""

FILTER_STATES = {
    "fully_applied": "fully applied",
    "fully_applied_with_extras": "fully applied, with extras",
    "partially_applied": "partially applied",
    "not_applied": "not applied",
}

EXAMPLES = (
    ("How many singers from 'France' are older than 30?", "",
     "SELECT COUNT(*) FROM singer WHERE country = 'France' AND age > 30"),
    ("How many singers from 'France' are older than 30?", "",
     "SELECT COUNT(*) FROM singer WHERE country = 'France'"),
    ("Show the names of the 5 youngest singers.", "",
     "SELECT name FROM singer ORDER BY age DESC LIMIT 5"),
    ("What is the average salary per department?", "",
     "SELECT department, MAX(salary) FROM employee WHERE active = 1 GROUP BY department"),
    ("How many orders were placed in 2023?",
     "How many orders that are not 'cancelled' were placed in 2024?",
     "SELECT COUNT(*) FROM orders WHERE year = 2024 AND status <> 'cancelled'"),
)  # fmt: skip
"""Question, enriched question, query: a right one, and what goes wrong."""


@dataclass(frozen=True)
class Shown:
    """What the page shows.

    Attributes:
        markup: the explanation.
        details: the same with both specifications and the alignment, as JSON.
    """

    markup: Markup
    details: dict[str, Any]


def explain(question: str, enriched_question: str, sql: str, dialect: str = "auto") -> Shown:
    """Score a query and show why.

    Args:
        question: the user's.
        enriched_question: what an agent made of it; empty where there is none.
        sql: the query.
        dialect: of the query, by sqlglot's names, or "auto".
    """
    scorer = Scorer(ApplicationRules())
    row = {
        "question": question,
        "enriched_question": enriched_question or None,
        "sql": sql,
        "dialect": "" if dialect == "auto" else dialect,
    }
    explained = next(iter(scorer.explain_rows([row])))
    markup = render_explained(explained, scorer.signature)
    return Shown(markup, {**as_json(explained), "signature": scorer.signature})


def render_explained(explained: Explained, signature: str) -> Markup:
    """The score, what it is made of, both texts with their spans marked, and a list of lost points."""
    result, pair = explained.result, explained.pair
    if result.score is None or pair is None:
        parts = [_unscored(result), _enrichment(result)]
    else:
        parts = [_score(result), _sum(result, pair), _texts(result, pair), _reasons(result, pair)]
        parts += [_forgiven(result), _enrichment(result)]
    return element(
        "div",
        *(part for part in parts if part),
        element("p", signature, class_="stef-signature"),
        class_="stef",
    )


def _unscored(result: Result) -> Markup:
    told = UNSCORED.get(result.unscored or "", result.unscored or "")
    return join(
        element("p", element("b", "no score", class_="stef-score"), class_="stef-top", role="status"),
        element("p", f"{told[:1].upper()}{told[1:]}: {result.message[:300]}" if result.message else told),
    )


def _score(result: Result) -> Markup:
    p_correct = "" if result.p_correct is None else f"{result.p_correct:.2f}"
    facts = (
        ("Filters", FILTER_STATES.get(result.filter_status or "", result.filter_status or "")),
        ("Verdict", (result.verdict or "").replace("_", " ")),
        ("Confidence", "" if result.confidence is None else f"{result.confidence:.2f}"),
        ("Probability that it is right", p_correct),
        ("Read as", result.dialect or ""),
    )
    return join(
        element(
            "p",
            element("b", f"{result.score or 0:.1f}", class_="stef-score"),
            " of 100 ",
            element("span", result.band or "", class_=f"stef-band {result.band}"),
            class_="stef-top",
            role="status",
        ),
        element(
            "dl",
            *(element("div", element("dt", name), element("dd", told)) for name, told in facts if told),
            class_="stef-facts",
        ),
    )


def _sum(result: Result, pair: Pair) -> Markup:
    """How the score comes about."""
    if result.verdict is None or result.confidence is None:
        return Markup()
    points = (FILTER_POINTS[pair.filters.status], VERDICT_POINTS[result.verdict], pair.filters.bonus)
    told = f"Filters {points[0]} + verdict {points[1]}"
    told += f" + benign extras {points[2]}" if points[2] else ""
    told += f" = {min(10, sum(points))} of 10 points; confidence {result.confidence:.2f}, so times "
    return element("p", f"{told}{penalty(result.confidence):g}.", class_="stef-note")


def _texts(result: Result, pair: Pair) -> Markup:
    """Both texts, with what was matched and what was lost."""
    matched = [(match.question, match.sql) for match in pair.filters.matches]
    lost = [(reason.question, reason.sql) for reason in result.reasons]
    texts = ((0, "Question", pair.question), (1, "Query", pair.sql))
    return join(
        *(
            element(
                "section",
                element("h3", title),
                element(
                    "pre",
                    marked(
                        spec.text,
                        [spans[side] for spans in matched],
                        [None if spans[side] == spec.whole else spans[side] for spans in lost],
                    ),
                ),
            )
            for side, title, spec in texts
        ),
        element(
            "p",
            element("mark", "matched", class_="ok"),
            " ",
            element("mark", "lost", class_="lost"),
            " with the number of its reason below",
            class_="stef-note",
        ),
    )


def marked(text: str, matched: Sequence[Span], lost: Sequence[Span | None]) -> Markup:
    """A text with its spans marked; where both mark a character, what was lost wins.

    Args:
        lost: by reason; None where a reason is about the whole text.
    """
    numbers: list[tuple[int, ...]] = [()] * len(text)
    good = [False] * len(text)
    for span in matched:
        good[span.start : span.end] = [True] * len(text[span.start : span.end])
    for number, found in enumerate(lost, start=1):
        for place in range(found.start, min(found.end, len(text))) if found else ():
            numbers[place] += (number,)
    pieces, start = [], 0
    for place in range(1, len(text) + 1):
        here = numbers[start], good[start]
        if place < len(text) and (numbers[place], good[place]) == here:
            continue
        # The number stands where the words of its reason end.
        ended = [number for number in numbers[start] if place == len(text) or number not in numbers[place]]
        pieces.append(_piece(text[start:place], *here, ended))
        start = place
    return join(*pieces)


def _piece(text: str, reasons: tuple[int, ...], matched: bool, ended: Sequence[int]) -> Markup:
    if reasons:
        number = element("sup", ", ".join(map(str, ended))) if ended else Markup()
        return element("mark", text, number, class_="lost")
    return element("mark", text, class_="ok") if matched else join(text)


def _reasons(result: Result, pair: Pair) -> Markup:
    if not result.reasons:
        return element("p", "No points were lost.")
    return element(
        "section",
        element("h3", "Lost points"),
        element("ol", *(_reason(reason, pair) for reason in result.reasons), class_="stef-reasons"),
    )


def _reason(reason: Reason, pair: Pair) -> Markup:
    places = [
        f"the whole {name}" if span == spec.whole else f"{name}: {_short(span.of(spec.text))}"
        for name, span, spec in (
            ("question", reason.question, pair.question),
            ("query", reason.sql, pair.sql),
        )
    ]
    return element(
        "li",
        element("b", f"\N{MINUS SIGN}{reason.points:.1f}"),
        " ",
        element("span", reason.message),
        element("small", f"{'; '.join(places)} ", element("code", reason.rule)),
    )


def _forgiven(result: Result) -> Markup:
    if not result.tolerances:
        return Markup()
    items = (element("li", told) for told in result.tolerances)
    return element("section", element("h3", "Forgiven"), element("ul", *items))


def _enrichment(result: Result) -> Markup:
    if result.enrichment is None:
        return Markup()
    told = result.enrichment.sentences() or ["keeps everything that was asked"]
    return element(
        "section",
        element("h3", f"Enriched question: keeps {100 * result.enrichment.quality:.0f} % of what was asked"),
        element("ul", *(element("li", line) for line in told)),
    )


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 70 else f"{text[:69]}\N{HORIZONTAL ELLIPSIS}"


def style() -> str:
    """The style sheet of the demonstration."""
    return resources.files(__package__).joinpath("demonstration.css").read_text(encoding="utf-8")
