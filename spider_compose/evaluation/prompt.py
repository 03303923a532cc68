"""What a language model is asked: the same words here and in the benchmark that is registered on the Hub."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from importlib import resources
from pathlib import Path

from spider_compose.errors import OptionError

PLACEHOLDERS = ("query", "db_id", "schema")
"""`{query}` the SQL, `{db_id}` the name of its database, `{schema}` the tables with their columns."""

_PLACE = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class Prompt:
    """A text with placeholders.

    Attributes:
        text: as it stands in its file.
    """

    text: str

    @classmethod
    def read(cls, path: str | Path | None = None) -> Prompt:
        """The prompt in a file; None for the one that the benchmark asks.

        Raises:
            OptionError: the file cannot be read, has no `{query}`, or another word in braces.
        """
        if path is None:
            return cls(
                resources.files(__package__).joinpath("prompt.txt").read_text(encoding="utf-8").strip()
            )
        try:
            text = Path(path).read_text(encoding="utf-8").strip()
        except OSError as error:
            raise OptionError(f"cannot read the prompt {path}: {error.strerror}.") from None
        except UnicodeDecodeError:
            raise OptionError(f"the prompt {path} must be text in UTF-8.") from None
        return cls(text)

    def __post_init__(self) -> None:
        """Check the placeholders.

        Raises:
            OptionError: there is no `{query}`, or another word in braces.
        """
        found = _PLACE.findall(self.text)
        if "query" not in found:
            raise OptionError("a prompt must say where the SQL goes: it has no {query}.")
        if unknown := sorted(set(found) - set(PLACEHOLDERS)):
            raise OptionError(
                f"a prompt may hold {', '.join(f'{{{name}}}' for name in PLACEHOLDERS)}, but this one holds "
                f"{{{unknown[0]}}}."
            )

    @property
    def digest(self) -> str:
        """A short hash of the text, for signatures."""
        return sha256(self.text.encode()).hexdigest()[:8]

    @property
    def needs_schema(self) -> bool:
        """Whether it shows the tables."""
        return "{schema}" in self.text

    def filled(self, values: Mapping[str, str]) -> str:
        """The text for one row. What is filled in is not searched for placeholders.

        >>> Prompt("Say it: {query}").filled({"query": "SELECT '{db_id}'"})
        "Say it: SELECT '{db_id}'"
        """
        return _PLACE.sub(lambda match: values[match[1]], self.text)
