"""What both programs share about the terminal they write to: a stream of any kind, and text of any origin."""

from __future__ import annotations

import io
import os
import sys
import unicodedata
from contextlib import suppress

# Control, format (text direction among them), surrogate, line and paragraph separators.
_STEERING = {"Cc", "Cf", "Cs", "Zl", "Zp"}


def visible(text: str, most: int | None = None) -> str:
    r"""The text in one line: white space becomes single spaces, steering characters their escapes.

    Args:
        text: from a corpus or a log; nothing is known of it.
        most: the characters to show, the sign for what was cut off among them; None for all.

    >>> print(visible("SELECT 1\n  FROM t"), visible("\x1b[31mred"))
    SELECT 1 FROM t \x1b[31mred
    >>> print(visible("a long question", most=7))
    a long…
    """
    shown = "".join(
        character.encode("unicode_escape").decode("ascii")
        if unicodedata.category(character) in _STEERING
        else character
        for character in " ".join(text.split())
    )
    return shown if most is None or len(shown) <= most else shown[: most - 1] + "\u2026"


def visible_lines(text: str, most: int = 10_000) -> str:
    r"""The text with each line made visible, its indentation kept; `most` is for a line.

    >>> print(visible_lines("scored files:\n  a\x07.jsonl"))
    scored files:
      a\x07.jsonl
    """
    lines = text.split("\n")
    return "\n".join(" " * (len(line) - len(line.lstrip(" "))) + visible(line, most) for line in lines)


def survive_any_output() -> None:
    """Make both streams take any text: where the output lacks a letter, its escape is written.

    Where a stream is closed (`>&-`), what is written goes nowhere.
    """
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115 (open as long as the program runs)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def drop_what_is_left() -> None:
    """Drop what standard output still holds, which would raise again when the interpreter ends."""
    with suppress(OSError, ValueError):  # a stream without a number
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
