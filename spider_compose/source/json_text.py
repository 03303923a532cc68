"""JSON as the standard has it: no NaN, no key twice, and every error with its place."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any

from spider_compose.errors import SourceError
from spider_compose.source.files import SourceFile

# Strings are matched first, so that a NaN inside one is passed over.
_STRING_OR_CONSTANT = re.compile(r'"(?:[^"\\]|\\.)*"|(?P<constant>NaN|-?Infinity)', re.DOTALL)


def parse_list(file: SourceFile) -> list[Any]:
    """Parse a .json file that holds one list.

    Raises:
        SourceError: it is cut short, not JSON, or not a list; with file, line and character.
    """
    value = _parse(file.text(), file, first_line=1, one_object_per_line_hint=True)
    if not isinstance(value, list):
        keys = f" with the keys {_some(list(value))}" if isinstance(value, dict) else ""
        raise SourceError(
            f"{file.name} must hold a JSON list of rows, but holds {_kind(value)}{keys}. "
            "Write the list itself, one object per row."
        )
    if not value:
        raise SourceError(f"{file.name} holds an empty list; at least one row is needed.")
    return value


def parse_lines(file: SourceFile) -> list[tuple[int, Any]]:
    """Parse a .jsonl file; returns (line, value) with lines from 1, blank lines passed over.

    Raises:
        SourceError: a line is not JSON; with file, line and character.
    """
    # Only "\n" ends a line: U+2028 and its like may stand inside a JSON string.
    lines = enumerate(file.text().split("\n"), start=1)
    values = [(line, _parse(text, file, first_line=line)) for line, text in lines if text.strip()]
    if not values:
        raise SourceError(f"{file.name} holds only blank lines; at least one row is needed.")
    return values


def _parse(text: str, file: SourceFile, *, first_line: int, one_object_per_line_hint: bool = False) -> Any:
    repeated: list[tuple[dict[str, Any], str]] = []

    def build(items: list[tuple[str, Any]]) -> dict[str, Any]:
        value = dict(items)
        if len(value) < len(items):
            key, _ = Counter(key for key, _ in items).most_common(1)[0]
            repeated.append((value, key))
        return value

    def place(position: int) -> str:
        line, character = first_line + text.count("\n", 0, position), position - text.rfind("\n", 0, position)
        return f"{file.name}, line {line}, character {character}"

    def refuse(constant: str) -> None:
        found = (match for match in _STRING_OR_CONSTANT.finditer(text) if match["constant"])
        position = next(match.start() for match in found)
        raise SourceError(f"{place(position)}: {constant} is not JSON. Write null, or leave the row out.")

    try:
        value = json.loads(text, object_pairs_hook=build, parse_constant=refuse)
    except json.JSONDecodeError as error:
        hint = "The file may be cut short: copy or download it again."
        if one_object_per_line_hint and error.msg == "Extra data":
            hint = "A file with one object per line must be named .jsonl."
        elif text[error.pos :].strip() and not error.msg.startswith("Unterminated string"):
            hint = "Mend it there, or copy the file again."
        raise SourceError(f"{place(error.pos)}: not valid JSON ({error.msg}). {hint}") from None
    except (RecursionError, ValueError) as error:  # nested too deep; a number of thousands of digits
        raise SourceError(f"{file.name}: not readable as JSON ({error}). Is this the right file?") from None
    for owner, key in repeated:
        raise SourceError(
            f"{_repeated_place(owner, value, file, first_line)}: the key {key!r} stands twice in one object, "
            "so its value is not certain. Keep one."
        )
    return value


def _repeated_place(owner: dict[str, Any], value: Any, file: SourceFile, first_line: int) -> str:
    if isinstance(value, list):
        row = next((row for row, item in enumerate(value) if item is owner), None)
        return file.name if row is None else f"{file.name}, row {row} (counted from 0)"
    return f"{file.name}, line {first_line}"


def _kind(value: object) -> str:
    names = {dict: "an object", str: "a text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")


def _some(names: list[str], most: int = 8) -> str:
    return str(names[:most])[:-1] + (", ...]" if len(names) > most else "]")
