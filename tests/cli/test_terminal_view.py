from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from spider_compose.cli.selection import Row, Selection
from spider_compose.cli.terminal_view import COLOURS, legend, render_pair
from spider_compose.sql.clauses import CLAUSE_TYPES

Select = Callable[..., Selection]

ANSI = re.compile(r"\x1b\[([0-9;]*)m")


@pytest.mark.parametrize("colour", [False, True], ids=["plain", "colour"])
def test_golden(
    golden: Callable[[str, object], None], selection: Select, piers: Row, hostile: Row, colour: bool
) -> None:
    shown = selection(piers, hostile)
    text = "\n\n".join(render_pair(shown, rows, colour) for rows in shown.alignments)
    golden(f"cli/terminal_{'colour' if colour else 'plain'}.txt", f"{legend(colour)}\n\n{text}\n")


def test_every_clause_type_has_its_own_colour() -> None:
    assert list(COLOURS) == list(CLAUSE_TYPES)
    assert len(set(COLOURS.values())) == len(CLAUSE_TYPES)


def test_without_colour_there_is_no_escape(selection: Select, hostile: Row) -> None:
    assert "\x1b" not in render_pair(selection(hostile), (hostile,), colour=False)


def test_with_colour_the_only_escapes_are_our_own(selection: Select, hostile: Row) -> None:
    text = render_pair(selection(hostile), (hostile,), colour=True)
    assert "\x1b" not in ANSI.sub("", text)
    assert "\\x1b[31m" in text


def test_shared_words_are_underlined(selection: Select, piers: Row) -> None:
    question = render_pair(selection(piers), (piers,), colour=True).splitlines()[2]
    assert f"\x1b[{COLOURS['SELECT']};4mpiers\x1b[0m" in question


def test_two_aligners_are_named_and_their_difference_counted(selection: Select, piers: Row) -> None:
    other = {**piers, "clause_token_ids": [[0, 1], [2, 3, 4, 5], [6, 7, 8]], "alignment_confidence": 0.5}
    text = render_pair(selection(piers, aligners=("keyword", "segment")), (piers, other), colour=False)
    assert "\nkeyword\n" in text
    assert "\nsegment  confidence 0.50  (1 word differs)\n" in text
    same = render_pair(selection(piers, aligners=("keyword", "segment")), (piers, dict(piers)), colour=False)
    assert "\nsegment  (the same)\n" in same
