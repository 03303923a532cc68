"""The terminal: text of any origin, streams of any kind."""

from __future__ import annotations

import subprocess
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spider_compose.terminal import visible, visible_lines

STEERING = {"Cc", "Cf", "Cs", "Zl", "Zp"}


@given(st.text(), st.none() | st.integers(1, 30))
def test_any_text_is_one_line_that_steers_nothing(text: str, most: int | None) -> None:
    shown = visible(text, most)
    assert not {unicodedata.category(character) for character in shown} & STEERING
    assert most is None or len(shown) <= most


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("one\n  two\n\x1b[2Jthree", "one\n  two\n\\x1b[2Jthree"),
        ("a\r\nb\t c\n", "a\nb c\n"),
        ("\u202eright to left", "\\u202eright to left"),
        ("", ""),
    ],
)
def test_lines_and_their_indentation_stay(text: str, shown: str) -> None:
    assert visible_lines(text) == shown


@pytest.mark.parametrize("program", ["spider_compose", "spider_compose.stef"])
@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_a_closed_stream_ends_no_program(program: str, closed: str) -> None:
    done = subprocess.run(
        ["sh", "-c", f'"{sys.executable}" -m {program} --version {closed}'], capture_output=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")
