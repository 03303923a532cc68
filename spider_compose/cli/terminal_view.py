"""A pair with its fragments, for a terminal."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from spider_compose.cli.plain_text import visible
from spider_compose.cli.segments import Segment, clauses_of_words, intervals, segments

# ANSI foreground colours, of the 16 that every terminal theme sets to be readable.
COLOURS = {
    "SELECT": "36",
    "WHERE": "33",
    "GROUP BY": "32",
    "ORDER BY": "35",
    "INTERSECT": "34",
    "UNION": "31",
    "EXCEPT": "91",
}
_BOLD, _DIM, _UNDERLINE = "1", "2", "4"

Paint = Callable[..., str]


def paint(text: str, *codes: str) -> str:
    """The text in a colour or style."""
    return f"\x1b[{';'.join(codes)}m{text}\x1b[0m"


def plain(text: str, *codes: str) -> str:
    """The text as it is, for NO_COLOR and files."""
    return text


def render_pair(alignments: Sequence[Mapping[str, Any]], aligners: Sequence[str], colour: bool) -> str:
    """One pair: question, clauses with their words, recombined pairs; once per aligner.

    Args:
        alignments: rows of the config `alignment`, of one pair.
        aligners: their names; shown where there are several.
    """
    style = paint if colour else plain
    first = alignments[0]
    lines = [_heading(first, style)]
    for row, name in zip(alignments, aligners, strict=True):
        lines.append("")
        if len(aligners) > 1:
            changed = "" if row is first else _difference(first, row)
            lines += [style(f"{name}{_confidence(row)}{changed}", _BOLD)]
        lines += _aligned_lines(row, style)
    return "\n".join(lines)


def _heading(row: Mapping[str, Any], style: Paint) -> str:
    place = style(f"{row['source_split']} {row['source_row']}", _BOLD)
    return f"{place}  {visible(row['db_id'])}{_confidence(row)}"


def _confidence(row: Mapping[str, Any]) -> str:
    confidence = row.get("alignment_confidence")
    return "" if confidence is None else f"  confidence {confidence:.2f}"


def _difference(first: Mapping[str, Any], row: Mapping[str, Any]) -> str:
    changed = sum(a != b for a, b in zip(clauses_of_words(first), clauses_of_words(row), strict=True))
    return "  (the same)" if not changed else f"  ({changed} word{'s' * (changed != 1)} differ)"


def _aligned_lines(row: Mapping[str, Any], style: Paint) -> list[str]:
    types: list[str] = row["clause_types"]
    width = max(map(len, types))
    shown = " ".join if style is plain else "".join
    lines = [
        "  " + shown(_segment(segment, types, style) for segment in segments(row) if _shown(segment, style)),
        "",
    ]
    for clause, kind in enumerate(types):
        name = style(kind.ljust(width), COLOURS[kind], _BOLD)
        ids = row["clause_token_ids"][clause]
        tagged = [
            visible(token) for token, tag in zip(row["tokens"], row["tags"], strict=True) if tag == clause
        ]
        lines += [
            f"  {name}  {style(visible(row['clause_sql'][clause]), COLOURS[kind])}",
            f"  {' ' * width}  {visible(row['fragments'][clause]) or '(no words)'}",
            style(
                f"  {' ' * width}  words {intervals(ids) or 'none'}; tagged: {', '.join(tagged) or 'none'}",
                _DIM,
            ),
        ]
    return [*lines, "", *_recombined_lines(row, style)]


def _shown(segment: Segment, style: Paint) -> bool:
    # Without colours the brackets part the segments, and the spaces between them would only double theirs.
    return style is not plain or bool(segment.text.strip())


def _segment(segment: Segment, types: Sequence[str], style: Paint) -> str:
    # A gap is one space here, whatever white space it holds.
    text = visible(segment.text) if segment.text.strip() else " "
    if not segment.clauses:
        return text
    kinds = [types[clause] for clause in segment.clauses]
    if style is plain:
        return f"[{'+'.join(kinds)}: {text}]"
    return style(text, COLOURS[kinds[0]], *([_UNDERLINE] if len(kinds) > 1 else []))


def _recombined_lines(row: Mapping[str, Any], style: Paint) -> list[str]:
    from spider_compose.composition.build import compose_row

    pairs = list(compose_row(row))
    lines = [f"  {len(pairs)} recombined pair{'s' * (len(pairs) != 1)}"]
    for pair in pairs:
        text = visible(pair["question"]) or "(no words: left out)"
        lines += [
            style("  - ", _DIM) + _coloured_sql(row, pair["clause_subset"], style),
            f"    {text}",
        ]
    return lines


def _coloured_sql(row: Mapping[str, Any], subset: Sequence[int], style: Paint) -> str:
    return " ".join(
        style(visible(row["clause_sql"][clause]), COLOURS[row["clause_types"][clause]]) for clause in subset
    )


def legend(colour: bool) -> str:
    """What the colours mean; without colours the brackets say it."""
    if not colour:
        return ""
    names = "  ".join(paint(kind, code, _BOLD) for kind, code in COLOURS.items())
    return f"{names}  {paint('shared', _UNDERLINE)}"
