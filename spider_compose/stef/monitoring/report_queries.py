"""Queries on the report page: what was asked, what came, what is held against it, with its words marked."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from spider_compose.page.markup import Markup, element, escape
from spider_compose.stef.monitoring.cube import OTHERS, Cube

_QUOTED = 60


def query(row: dict[str, Any], cube: Cube, day: int | None) -> Markup:
    """One query of `worst`.

    Args:
        day: of the row, in days since 1970.
    """
    read = row["enriched_question"] or row["question"]
    spans = [(r["question_start"], r["question_end"]) for r in row["reasons"]]
    asked = element("p", element("span", "asked: "), row["question"], class_="asked")
    return element(
        "article",
        element("h3", *_heading(row)),
        asked if read != row["question"] else "",
        element("p", *marked(read, spans), class_="question"),
        _sql(row),
        element("ul", *(_reason(reason, read, row["sql"]) for reason in row["reasons"]), class_="reasons"),
        *(element("p", note, class_="note") for note in _notes(row)),
        data_agent=str(_number(row["agent"], cube.agents)),
        data_database=str(_number(row["database"], cube.databases)),
        data_day=None if day is None else str(day),
    )


def _sql(row: dict[str, Any]) -> Markup:
    if not row["sql"].strip():
        return element("p", "No SQL.", class_="note")
    spans = [(reason["sql_start"], reason["sql_end"]) for reason in row["reasons"]]
    return element("pre", element("code", *marked(row["sql"], spans)))


def _heading(row: dict[str, Any]) -> Iterable[str]:
    score = "not scored" if row["score"] is None else f"{row['score']:.1f}"
    yield element("b", score, class_=f"score {row['band'] or 'none'}")
    told = [name_of(row["agent"]), row["database"], (row["time"] or "")[:16].replace("T", " ")]
    if row["score"] is None:
        told.append(row["unscored"])
    else:
        told += [
            row["filter_status"] and f"filters {row['filter_status'].replace('_', ' ')}",
            row["verdict"] and f"verdict {row['verdict'].replace('_', ' ')}",
            None if row["p_correct"] is None else f"p {row['p_correct']:.2f}",
        ]
    yield from (element("span", text) for text in (*told, row["origin"]) if text)


def _notes(row: dict[str, Any]) -> Iterable[str]:
    if row["enrichment_lost"]:
        yield "Enriched question: " + "; ".join(row["enrichment_lost"])
    for name, said in (("message", ""), ("judge_reason", "Judge: "), ("judge_conflict", "Conflict: ")):
        if row[name]:
            yield said + row[name]
    if row["tolerances"]:
        yield "Forgiven: " + "; ".join(row["tolerances"])


def _reason(reason: dict[str, Any], question: str, sql: str) -> Markup:
    said = _quoted(question, reason["question_start"], reason["question_end"])
    wrote = _quoted(sql, reason["sql_start"], reason["sql_end"])
    return element(
        "li",
        element("b", f"\N{MINUS SIGN}{reason['points']:.1f}"),
        " ",
        element("code", reason["rule"]),
        " ",
        reason["message"],
        element("span", " \N{LEFT DOUBLE QUOTATION MARK}", said, "\N{RIGHT DOUBLE QUOTATION MARK}")
        if said
        else "",
        element("span", " ", element("code", wrote)) if wrote else "",
    )


def _quoted(text: str, start: int, end: int) -> str:
    """The words of a span, unless it is nothing or everything."""
    words = " ".join(text[start:end].split())
    if not words or (start == 0 and end >= len(text.rstrip())):
        return ""
    return words if len(words) <= _QUOTED else words[: _QUOTED - 1] + "\N{HORIZONTAL ELLIPSIS}"


def marked(text: str, spans: Iterable[tuple[int, int]]) -> list[Markup]:
    """A text with spans marked; a span of everything marks nothing."""
    kept = sorted(
        (start, end) for start, end in spans if end > start and (start > 0 or end < len(text.rstrip()))
    )
    parts: list[Markup] = []
    at = 0
    while kept:
        start, end = kept.pop(0)
        while kept and kept[0][0] <= end:
            end = max(end, kept.pop(0)[1])
        parts += [escape(text[at:start]), element("mark", text[start:end])]
        at = end
    return [*parts, escape(text[at:])]


def name_of(agent: str) -> str:
    """An agent's name for people."""
    return agent or "(no agent)"


def _number(name: str, names: tuple[str, ...]) -> int:
    return names.index(name) if name in names else names.index(OTHERS)
