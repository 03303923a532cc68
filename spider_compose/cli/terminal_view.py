"""A pair with its fragments, for a terminal."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from spider_compose.cli.segments import Segment, clauses_of_words, intervals, segments, sql_parts
from spider_compose.cli.selection import Row, Selection, confidence
from spider_compose.terminal import visible

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


def render_pair(selection: Selection, alignments: Sequence[Row], colour: bool) -> str:
    """One pair: question, clauses with their words, recombined pairs; once per aligner.

    Args:
        alignments: of one pair, one per aligner.
    """
    style = paint if colour else plain
    first = alignments[0]
    lines = [_heading(first, style)]
    for row, name, pairs in zip(alignments, selection.aligners, selection.pairs(alignments), strict=True):
        lines.append("")
        if len(alignments) > 1:
            changed = "" if row is first else _difference(first, row)
            lines += [style(f"{name}{_confidence(row)}{changed}", _BOLD)]
        lines += [*_aligned_lines(row, style), "", *_recombined_lines(row, pairs, style)]
    return "\n".join(lines)


def _heading(row: Row, style: Paint) -> str:
    place = style(f"{row['source_split']} {row['source_row']}", _BOLD)
    return f"{place}  {visible(row['db_id'])}{_confidence(row)}"


def _confidence(row: Row) -> str:
    found = confidence([row])
    return "" if found is None else f"  confidence {found:.2f}"


def _difference(first: Row, row: Row) -> str:
    changed = sum(a != b for a, b in zip(clauses_of_words(first), clauses_of_words(row), strict=True))
    if not changed:
        return "  (the same)"
    return "  (1 word differs)" if changed == 1 else f"  ({changed} words differ)"


def _aligned_lines(row: Row, style: Paint) -> list[str]:
    types: list[str] = row["clause_types"]
    width = max(map(len, types))
    lines = [f"  {_question(row, style)}", ""]
    for clause, kind in enumerate(types):
        lines += [
            f"  {style(kind.ljust(width), COLOURS[kind], _BOLD)}  "
            f"{style(visible(row['clause_sql'][clause]), COLOURS[kind])}",
            f"  {' ' * width}  {visible(row['fragments'][clause]) or '(no words)'}",
            style(f"  {' ' * width}  {_word_lists(row, clause)}", _DIM),
        ]
    return lines


def _word_lists(row: Row, clause: int) -> str:
    """Intervals, tagged words, and words that only join, of one clause."""
    ids = row["clause_token_ids"][clause]
    tagged = [position for position, tag in enumerate(row["tags"]) if tag == clause]
    joining = [position for position in row["joining_ids"] if position in ids]
    lists = [f"words {intervals(ids) or 'none'}", f"tagged: {_names(row, tagged) or 'none'}"]
    return "; ".join([*lists, *([f"only joining: {_names(row, joining)}"] if joining else [])])


def _names(row: Row, positions: Sequence[int]) -> str:
    return ", ".join(visible(row["tokens"][position]) for position in positions)


def _question(row: Row, style: Paint) -> str:
    parts = segments(row)
    if style is plain:  # brackets part the segments; the gaps between them would only double their spaces
        parts = [part for part in parts if part.text.strip()]
    return (" " if style is plain else "").join(_segment(part, row["clause_types"], style) for part in parts)


def _segment(segment: Segment, types: Sequence[str], style: Paint) -> str:
    # A gap is one space here, whatever white space it holds.
    text = visible(segment.text) if segment.text.strip() else " "
    if not segment.clauses:
        return text
    kinds = [types[clause] for clause in segment.clauses]
    if style is plain:
        return f"[{'+'.join(kinds)}: {text}]"
    return style(text, COLOURS[kinds[0]], *([_UNDERLINE] if len(kinds) > 1 else []))


def _recombined_lines(row: Row, pairs: Sequence[Mapping[str, Any]], style: Paint) -> list[str]:
    lines = [f"  {len(pairs)} recombined pair{'s' * (len(pairs) != 1)}"]
    for pair, parts in zip(pairs, sql_parts(row, pairs), strict=True):
        text = visible(pair["question"]) or "(no words: left out)"
        lines += [
            style("  - ", _DIM) + " ".join(style(visible(sql), COLOURS[kind]) for kind, sql in parts),
            f"    {text}",
        ]
    return lines


def legend(colour: bool) -> str:
    """What the colours mean; without colours the brackets say it."""
    if not colour:
        return ""
    names = "  ".join(paint(kind, code, _BOLD) for kind, code in COLOURS.items())
    return f"{names}  {paint('shared', _UNDERLINE)}"
