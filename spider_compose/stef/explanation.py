"""One scored query for people: as text, as JSON, as a page with the spans marked."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import Any

from spider_compose.stef.alignment import Pair
from spider_compose.stef.judges.protocol import VERDICT_POINTS
from spider_compose.stef.score import Explained, Reason, Result, penalty
from spider_compose.stef.specification.items import Span, Specification, plain


def as_json(explained: Explained) -> dict[str, Any]:
    """Result, both specifications and the alignment as plain values."""
    values: dict[str, Any] = {"result": explained.result.as_dict()}
    if explained.pair is not None:
        filters = explained.pair.filters
        values["question"] = {"text": explained.pair.question.text, **explained.pair.question.as_dict()}
        values["sql"] = {"text": explained.pair.sql.text, **explained.pair.sql.as_dict()}
        values["alignment"] = {
            "filter_status": filters.status,
            "required": filters.required,
            "matches": plain(filters.matches),
            "missing": plain(filters.missing),
            "extras": plain(filters.extras),
            "benign": plain(filters.benign),
            "tolerances": plain(explained.pair.tolerances),
        }
    return values


def as_text(explained: Explained, signature: str) -> str:
    """A result with everything it stands on, for a terminal."""
    result, pair = explained.result, explained.pair
    lines: list[str] = []
    if result.score is None or pair is None:
        lines.append(f"unscored: {result.unscored}: {result.message}")
    else:
        lines += [
            f"Phi {result.score:.1f}  {result.band}   p_correct {_or_none(result.p_correct)}",
            *_sum(explained),
            *_judge(result),
        ]
        lines += [
            "",
            "Question",
            *_specification(pair.question),
            "",
            f"SQL ({result.dialect})",
            *_specification(pair.sql),
        ]
        lines += ["", "Alignment", *_alignment(pair)]
        lines += ["", "Lost points", *(_reason(reason, pair) for reason in result.reasons)]
        lines += [] if result.reasons else ["  none"]
    if result.enrichment is not None:
        lines += ["", f"Enriched question: quality {result.enrichment.quality:.2f}"]
        lines += [f"  {sentence}" for sentence in result.enrichment.sentences()] or ["  keeps everything"]
    return "\n".join([*lines, "", signature])


def _sum(explained: Explained) -> list[str]:
    """How Phi comes about."""
    result, pair = explained.result, explained.pair
    if pair is None or result.verdict is None or result.confidence is None:
        return []
    points = (pair.filters.points, VERDICT_POINTS[result.verdict], pair.filters.bonus)
    return [
        f"  filters {result.filter_status} {points[0]} + verdict {result.verdict} {points[1]}"
        f" + benign extras {points[2]} = {min(10, sum(points))} of 10;"
        f" confidence {result.confidence:.2f}, so times {penalty(result.confidence)}"
    ]


def _judge(result: Result) -> list[str]:
    """What a judge that reads said, and what speaks against it."""
    lines = [f"  judge: {result.judge_reason}"] if result.judge_reason else []
    lines += [f"  conflict: {result.judge_conflict}"] if result.judge_conflict else []
    if result.score_without_judge is not None:
        lines.append(f"  without the judge: Phi {result.score_without_judge:.1f}")
    return lines


def _or_none(value: float | None) -> str:
    return "none" if value is None else f"{value:.2f}"


def _specification(spec: Specification) -> list[str]:
    """Every item of a specification with the words it stands on."""
    lines = [f"  {spec.text.strip()}"]
    for name, items in spec.as_dict().items():
        found = getattr(spec, name)
        if name in ("columns", "literals", "tables") or not isinstance(items, (list, dict)) or not items:
            continue
        for item in found if isinstance(found, tuple) else (found,):
            if hasattr(item, "span"):
                detail = {
                    k: v
                    for k, v in plain(item).items()
                    if k not in ("span", "words") and v not in ([], None, False, True, "")
                }
                said = ", ".join(
                    f"{k} {v if not isinstance(v, list) else ' '.join(map(str, v))}"
                    for k, v in detail.items()
                )
                lines.append(f"  {name:15s} {item.span.of(spec.text)!r}" + (f"  ({said})" if said else ""))
    return lines


def _alignment(pair: Pair) -> list[str]:
    question, sql = pair.question.text, pair.sql.text
    lines = [f"  {m.kind:15s} {m.question.of(question)!r} = {m.sql.of(sql)!r}" for m in pair.filters.matches]
    lines += [f"  benign          {m.sql.of(sql)!r}" for m in pair.filters.benign]
    lines += [f"  forgiven        {t.span.of(sql)!r}: {t.rule}, {t.message}" for t in pair.tolerances]
    return lines or ["  nothing to align"]


def _reason(reason: Reason, pair: Pair) -> str:
    question, sql = _short(reason.question.of(pair.question.text)), _short(reason.sql.of(pair.sql.text))
    lines = (
        f"  -{reason.points:5.1f}  {reason.rule}: {reason.message}",
        f"          question {question!r}",
        f"          sql      {sql!r}",
    )
    return "\n".join(lines)


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 70 else text[:67] + "..."


_PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>STEF</title>
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }}
body {{ color: #222; background: #fff }}
pre {{ font: 14px/1.5 ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere }}
pre {{ background: #f6f6f6; padding: 1rem }}
mark {{ background: #ffd9d2; border-bottom: 2px solid #b3261e }}
mark.ok {{ background: #d9f2dd; border-color: #1e7b34 }}
table {{ border-collapse: collapse; width: 100% }}
td, th {{ text-align: left; padding: .3rem .6rem; border-bottom: 1px solid #ddd; vertical-align: top }}
.score {{ font-size: 2rem }}
footer {{ color: #666; font-size: .85rem; overflow-wrap: anywhere }}
</style>
<h1>STEF</h1>
{body}
<footer>{signature}</footer>
</html>
"""


def as_html(explained: Explained, row: Mapping[str, Any], signature: str) -> str:
    """A page that stands alone: what was lost in red, what was matched in green, every point in a table."""
    result, pair = explained.result, explained.pair
    if result.score is None or pair is None:
        reason = html.escape(f"{result.unscored}: {result.message}")
        texts = (str(row.get("question") or ""), str(row.get("sql") or "")[:20_000])
        body = f"<p class=score>unscored</p><p>{reason}</p>"
        body += "".join(f"<pre>{html.escape(text)}</pre>" for text in texts)
    else:
        whole = (pair.question.whole, pair.sql.whole)
        lost = [(r.question, r.sql) for r in result.reasons]
        matched = [(m.question, m.sql) for m in pair.filters.matches]
        marked = [
            _marked(text, [s[side] for s in lost if s[side] not in whole], [s[side] for s in matched])
            for side, text in enumerate((pair.question.text, pair.sql.text))
        ]
        rows = "".join(
            f"<tr><td>-{r.points:.1f}<td>{html.escape(r.rule)}<td>{html.escape(r.message)}"
            f"<td>{html.escape(_short(r.question.of(pair.question.text)))}<td>{html.escape(_short(r.sql.of(pair.sql.text)))}"
            for r in result.reasons
        )
        body = (
            f"<p class=score>{result.score:.1f} <small>{result.band}</small></p>"
            f"<p>p_correct {_or_none(result.p_correct)}. {html.escape(' '.join(_sum(explained)).strip())}</p>"
            f"<p>{html.escape('; '.join(line.strip() for line in _judge(result)))}</p>"
            f"<h2>Question</h2><pre>{marked[0]}</pre><h2>SQL</h2><pre>{marked[1]}</pre>"
            f"<h2>Lost points</h2><table><tr><th>points<th>rule<th>why<th>question<th>sql{rows}</table>"
        )
        body += "<h2>Specifications</h2>" + "".join(
            f"<pre>{html.escape(chr(10).join(_specification(spec)))}</pre>"
            for spec in (pair.question, pair.sql)
        )
        body += f"<h2>Alignment</h2><pre>{html.escape(chr(10).join(_alignment(pair)))}</pre>"
    if result.enrichment is not None:
        lines = (
            "".join(f"<li>{html.escape(s)}" for s in result.enrichment.sentences()) or "<li>keeps everything"
        )
        body += f"<h2>Enriched question: quality {result.enrichment.quality:.2f}</h2><ul>{lines}</ul>"
    return _PAGE.format(body=body, signature=html.escape(signature))


def _marked(text: str, lost: Sequence[Span], matched: Sequence[Span]) -> str:
    """A text with its spans marked; where both mark a character, lost wins."""
    kinds = [""] * len(text)
    for spans, kind in ((matched, "ok"), (lost, "lost")):
        for span in spans:
            kinds[span.start : span.end] = [kind] * (min(span.end, len(text)) - span.start)
    out, start = [], 0
    for place in range(1, len(text) + 1):
        if place == len(text) or kinds[place] != kinds[start]:
            piece = html.escape(text[start:place])
            out.append(f'<mark class="{kinds[start]}">{piece}</mark>' if kinds[start] else piece)
            start = place
    return "".join(out)
