"""Text from a corpus on a terminal: one line, and nothing that steers the terminal."""

from __future__ import annotations

import unicodedata

# Control, format (text direction among them), surrogate, line and paragraph separators.
_STEERING = {"Cc", "Cf", "Cs", "Zl", "Zp"}


def visible(text: str) -> str:
    r"""The text in one line: white space becomes single spaces, steering characters their escapes.

    >>> print(visible("SELECT 1\n  FROM t"), visible("\x1b[31mred"))
    SELECT 1 FROM t \x1b[31mred
    """
    return "".join(
        character.encode("unicode_escape").decode("ascii")
        if unicodedata.category(character) in _STEERING
        else character
        for character in " ".join(text.split())
    )
