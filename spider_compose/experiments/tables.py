"""A table as a value, and its forms: aligned text and Markdown (the page makes its own)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from spider_compose.experiments.figures import Figure

SINGLE = "\N{DAGGER}"
"""Marks figures that rest on one seed."""

_EN_DASH = "\N{EN DASH}"
_MINUS = "\N{MINUS SIGN}"


@dataclass(frozen=True)
class Entry:
    """What stands in one place of a table.

    Attributes:
        main: the figure or name; empty where there is none.
        detail: what belongs to it: its range or interval.
    """

    main: str = ""
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.main} {self.detail}".rstrip()


@dataclass(frozen=True)
class Table:
    """A table.

    Attributes:
        name: short, for links and JSON.
        title: what it shows.
        columns: their names; the first `heads` of them name the row.
        rows: entries.
        notes: how to read it, what is missing.
        heads: how many columns name the row.
    """

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Entry, ...], ...]
    notes: tuple[str, ...] = ()
    heads: int = field(default=1)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "name": self.name,
            "title": self.title,
            "columns": list(self.columns),
            "rows": [[str(entry) for entry in row] for row in self.rows],
            "notes": list(self.notes),
        }


def figure_entry(figure: Figure, signed: bool = False, digits: int = 2) -> Entry:
    """A mean, marked where it rests on one seed, with its interval (one seed) or its range over seeds.

    Args:
        signed: write a plus before what is above zero.
    """
    if figure.mean is None:
        return Entry()
    main = told_number(figure.mean, signed, digits) + (SINGLE if figure.single else "")
    if figure.bounds is None:
        return Entry(main)
    low, high = (told_number(bound, False, digits) for bound in figure.bounds)
    if figure.single:
        return Entry(main, f"[{low}, {high}]")
    return Entry(main, f"({low} to {high}; n={len(figure.by_seed)})")


def p_entry(figure: Figure, starred: bool = False) -> Entry:
    """A p-value."""
    if figure.p_value is None:
        return Entry()
    told = "< 0.001" if figure.p_value < 0.001 else f"{figure.p_value:.3f}"
    return Entry(told + ("*" if starred else ""))


def told_number(value: float, signed: bool = False, digits: int = 2) -> str:
    """A number with a true minus sign; what rounds to zero has no sign."""
    told = f"{value:+.{digits}f}" if signed else f"{value:.{digits}f}"
    if float(told) == 0:
        told = told.lstrip("+-")
    return told.replace("-", _MINUS)


def render_text(table: Table) -> str:
    """Aligned columns: names to the left, figures to the right; a repeated name stands once."""
    cells = [
        list(table.columns),
        *([str(entry) for entry in row] for row in _without_repetition(table)),
    ]
    widths = [max(len(row[place]) for row in cells) for place in range(len(table.columns))]
    lines = []
    for row in cells:
        parts = [
            cell.ljust(width) if place < table.heads else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(parts).rstrip())
    return "\n".join([table.title, "", *lines, *([""] if table.notes else []), *table.notes])


def render_markdown(table: Table) -> str:
    """A Markdown table, its title a heading."""
    aligned = ["---"] * table.heads + ["---:"] * (len(table.columns) - table.heads)
    lines = [table.columns, aligned]
    lines += [[str(entry) for entry in row] for row in _without_repetition(table)]
    body = "\n".join(f"| {' | '.join(escaped(cell) for cell in line)} |" for line in lines)
    notes = "\n".join(f"- {escaped(note)}" for note in table.notes)
    return f"### {escaped(table.title)}\n\n{body}\n" + (f"\n{notes}\n" if notes else "")


def _without_repetition(table: Table) -> list[list[Entry]]:
    """Rows in which a name is left out where it is that of the row before."""
    shown, before = [], [Entry()] * table.heads
    for row in table.rows:
        heads = list(row[: table.heads])
        # The last of the names says which row it is; those before it say of what group.
        kept = [
            Entry() if heads[: place + 1] == before[: place + 1] and place < table.heads - 1 else head
            for place, head in enumerate(heads)
        ]
        shown.append([*kept, *row[table.heads :]])
        before = heads
    return shown


def escaped(text: str) -> str:
    """Text that is text in Markdown too, in one line: no markup, no HTML, no cell of a table of its own."""
    for sign in "\\|<*_`":
        text = text.replace(sign, f"\\{sign}")
    return " ".join(text.replace("](", "]\\(").split())  # a link; brackets alone, as of an interval, are none


def code(text: str) -> str:
    """Text as code in a line of Markdown: what would end the code or the line is replaced."""
    return f"`{' '.join(text.replace('`', chr(39)).split())}`"


def listed(names: Sequence[str]) -> str:
    """`a, b and c`."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
