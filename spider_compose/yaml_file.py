"""YAML files that people write: settings of a training, a grid of trainings.

Training and experiments both read them, and neither may import the other. PyYAML alone takes the last of two
values without a word, reads 1e-4 as a text, and makes dates of what looks like one.
"""

from __future__ import annotations

import json
import reprlib
from pathlib import Path
from typing import Any

from spider_compose.errors import MissingExtraError, OptionError

LARGEST = 1_000_000
"""Bytes of a file at most: a larger one was written by no hand."""

_DEEPEST = 50  # mappings and lists within each other
_MOST_VALUES = 100_000  # counted where they stand: an alias counts for all that it repeats


def read_yaml_mapping(path: str | Path, what: str) -> dict[Any, Any]:
    """Names and values of a file.

    Args:
        path: the file.
        what: it should hold, for messages.

    Returns:
        The mapping, as JSON could hold it but for its own keys, which may be of any kind; empty where the
        file has no value at all.

    Raises:
        OptionError: it cannot be read, is no YAML, no mapping, holds a name twice, or a value that is no
            number, text, list or mapping.
        MissingExtraError: no YAML reader is installed.
    """
    try:
        import yaml
    except ImportError as error:
        raise MissingExtraError(f"reading {what} needs PyYAML: pip install 'spider-compose[data]'") from error
    text = _text(Path(path), what)
    try:
        content = yaml.load(text, _loader())  # a SafeLoader
    except (yaml.YAMLError, ValueError) as error:  # ValueError: a date that no calendar has
        raise OptionError(f"{path} is no YAML that can be read: {_told_problem(error)}.") from None
    except RecursionError:
        raise OptionError(f"{path}: lists and mappings stand too deep in each other.") from None
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise OptionError(f"{path} must hold {what} as names and values, but holds {told_value(content)}.")
    for name, value in content.items():
        if refused := _no_plain_value(value):
            raise OptionError(
                f"{path}: `{name}` must hold numbers, words, lists and mappings alone, but holds {refused}. "
                "Write other values (dates, say) in quotes."
            )
    return content


def told_value(value: Any) -> str:
    """A value for a message, at most 80 characters."""
    teller = reprlib.Repr()
    teller.maxother = teller.maxstring = 60
    told = teller.repr(value)
    return told if len(told) <= 80 else f"{told[:77]}..."


def _told_problem(error: Exception) -> str:
    """Line and problem in one line; PyYAML draws a picture of both."""
    mark = getattr(error, "problem_mark", None)
    if mark is None:
        return " ".join(str(error).split())
    return f"line {mark.line + 1}, column {mark.column + 1}: {getattr(error, 'problem', error)}"


def _text(path: Path, what: str) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
    except OSError as error:
        raise OptionError(f"cannot read {path}: {error.strerror}. Name a YAML file with {what}.") from None
    except ValueError as error:  # a zero byte in the name
        raise OptionError(f"{str(path)!r} is no file's name: {error}.") from None
    if len(data) > LARGEST:
        raise OptionError(
            f"{path} has more than {LARGEST:,} bytes. Name a YAML file with {what}, written by hand."
        )
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise OptionError(
            f"{path} is no text in UTF-8: {error.reason} at byte {error.start}. Name a YAML file with {what}."
        ) from None


def _loader() -> Any:
    """PyYAML's safe loader that refuses a name given twice, and knows 1e-4 for a number."""
    import re

    import yaml

    class Loader(yaml.SafeLoader):  # type: ignore[misc]  # PyYAML has no types
        def construct_mapping(self, node: Any, deep: bool = False) -> Any:
            seen: dict[Any, Any] = {}
            for key, _ in node.value:
                if key.tag == "tag:yaml.org,2002:merge":  # `<<`, whose names others may replace
                    continue
                name = self.construct_object(key, deep=True)
                if _hashable(name):
                    if name in seen:
                        raise yaml.MarkedYAMLError(
                            None, None, f"{name!r} is given twice, first in line {seen[name]}", key.start_mark
                        )
                    seen[name] = key.start_mark.line + 1
            return super().construct_mapping(node, deep)

    # YAML 1.2's rule; 1.1, which PyYAML follows, asks for a point and a sign: 1.0e-4.
    Loader.add_implicit_resolver(
        "tag:yaml.org,2002:float", re.compile(r"[-+]?[0-9]+[eE][-+]?[0-9]+\Z"), list("-+0123456789")
    )
    return Loader


def _hashable(value: Any) -> bool:
    return isinstance(value, (str, int, float, bool, type(None)))


def _no_plain_value(value: Any) -> str:
    """What of a value JSON has no place for; nothing where it can be written as JSON."""
    left = _MOST_VALUES

    def look(value: Any, depth: int) -> str:
        nonlocal left
        left -= 1
        if left < 0:
            return f"more than {_MOST_VALUES:,} values"
        if depth > _DEEPEST:
            return f"lists and mappings more than {_DEEPEST} deep"
        if isinstance(value, dict):
            if odd := [name for name in value if not isinstance(name, str)]:
                return f"the name {told_value(odd[0])}, which is no text"
            return next(filter(None, (look(inner, depth + 1) for inner in value.values())), "")
        if isinstance(value, list):
            return next(filter(None, (look(inner, depth + 1) for inner in value)), "")
        try:
            json.dumps(value, allow_nan=False)
        except (TypeError, ValueError):
            return told_value(value)
        return ""

    return look(value, 0)
