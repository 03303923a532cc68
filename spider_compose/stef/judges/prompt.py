"""Prompts: files with placeholders, versioned, overridable without code.

A file has notes, one of them `version: NAME`, then a line `[system]` with what the model is told and a line
`[user]` with what it is asked. `{{name}}` is filled in; the names are those of `PLACEHOLDERS`.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from importlib import resources
from pathlib import Path

from spider_compose.errors import OptionError, SpiderComposeError
from spider_compose.stef.judges.protocol import Request
from spider_compose.stef.judges.quoting import QUOTING, as_data, fresh_nonce, numbered, quote_sql
from spider_compose.stef.rules import ApplicationRules

# What a prompt may name.
PLACEHOLDERS = (
    "question", "enriched_question", "sql", "comments", "literals", "rules", "dialect", "lambda_min", "nonce",
)  # fmt: skip
NEEDED = ("question", "sql", "nonce")

# Longest texts a judge is asked about, in characters. A part of a query cannot be judged, so that a longer
# one gets no verdict.
MAX_SQL = 8_000
MAX_QUESTION = 4_000
MAX_RULES = 8_000

_PLACEHOLDER = re.compile(r"\{\{\s*(\w+)\s*\}\}")
_BRACES = re.compile(r"\{\{([^{}\n]*)\}\}")

Message = dict[str, str]


class TooLongError(Exception):
    """A row is longer than a judge is asked about; the message says what and how long."""


@dataclass(frozen=True)
class Prompt:
    """A prompt file.

    Attributes:
        system: what the model is told.
        user: what it is asked.
        name: the file's name and version.
    """

    system: str
    user: str
    name: str = "prompt"
    nonce: Callable[[], str] = field(default=fresh_nonce, compare=False)

    @classmethod
    def read(cls, source: str | Path) -> Prompt:
        """The prompt of that name in the package ("verdict", "label"), or of a file.

        Raises:
            SpiderComposeError: there is no such file, or it lacks a section.
            OptionError: it names an unknown placeholder, or lacks one that a judge cannot do without.
        """
        own = resources.files("spider_compose.stef.judges").joinpath("prompts", f"{source}.txt")
        try:
            packaged = str(source).isidentifier() and own.is_file()
            text = (own if packaged else Path(source)).read_text(encoding="utf-8-sig")
        except (OSError, ValueError) as error:
            raise SpiderComposeError(f"cannot read the prompt {source}: {error}") from error
        return cls.from_text(text, Path(str(source)).stem)

    @classmethod
    def from_text(cls, text: str, name: str = "prompt") -> Prompt:
        """The prompt in a file's text; see the module."""
        parts = re.split(r"^\[(system|user)\]\s*\n", text, flags=re.MULTILINE)
        if parts[1::2] != ["system", "user"]:
            raise SpiderComposeError(
                f"prompt {name}: expected a line [system] and then a line [user], "
                f"but got {parts[1::2] or 'neither'}"
            )
        named = {name.strip() for name in _BRACES.findall(parts[2] + parts[4])}
        if unknown := sorted(named - set(PLACEHOLDERS)):
            raise OptionError(
                f"prompt {name}: unknown placeholders {unknown}; valid are {list(PLACEHOLDERS)}"
            )
        if missing := [n for n in NEEDED if n not in named]:
            raise OptionError(
                f"prompt {name}: expected the placeholders {list(NEEDED)}, but it lacks {missing}"
            )
        version = re.search(r"^version:\s*(\S+)", parts[0], re.MULTILINE)
        return cls(parts[2].strip(), parts[4].strip(), f"{name}-{version[1]}" if version else name)

    @cached_property
    def version(self) -> str:
        """Name, version and a digest of every letter and of how rows are quoted, for cache and signature."""
        digest = hashlib.sha256(f"{QUOTING}\0{self.system}\0{self.user}".encode()).hexdigest()[:8]
        return f"{re.sub(r'[^A-Za-z0-9_.-]', '_', self.name)}-{digest}"

    def render(self, request: Request, nonce: str | None = None) -> list[Message]:
        """The messages for one row.

        Args:
            nonce: delimiter of this request; None draws a fresh one.

        Raises:
            TooLongError: the question, the query or the rules are longer than a judge is asked about.
        """
        values = _values(request)
        given = "\n".join(values.values())
        drawn = nonce or self.nonce()
        while drawn in given:  # an attacker who guesses it gains nothing
            drawn = fresh_nonce()
        values["nonce"] = drawn
        # One pass: what is filled in is never read for placeholders.
        filled = [_PLACEHOLDER.sub(lambda m: values[m[1]], text) for text in (self.system, self.user)]
        return [{"role": "system", "content": filled[0]}, {"role": "user", "content": filled[1]}]


def inputs(request: Request) -> tuple[str, ...]:
    """Everything of a row that a prompt may show, for the key of a cache and a bound nonce."""
    return (
        request.question,
        request.enriched_question or "",
        request.sql,
        request.pair.sql.dialect,
        request.pair.rules.digest,
    )


def _values(request: Request) -> dict[str, str]:
    quoted = quote_sql(request.sql, request.pair.sql.dialect, request.pair.sql.part)
    rules = stated_rules(request.pair.rules)
    enriched = request.enriched_question
    for name, text, limit in (
        ("question", request.question, MAX_QUESTION),
        ("enriched question", enriched or "", MAX_QUESTION),
        ("query without its comments and long literals", quoted.code, MAX_SQL),
        ("application rules", rules, MAX_RULES),
    ):
        if len(text) > limit:
            raise TooLongError(f"the {name} has {len(text):,} characters; a judge reads at most {limit:,}")
    return {
        "question": as_data(request.question),
        "enriched_question": as_data(enriched) if enriched else "(none)",
        "sql": as_data(quoted.code),
        "comments": numbered(quoted.comments, "(none)"),
        "literals": numbered(quoted.literals, "(none)"),
        "rules": as_data(rules),
        "dialect": request.pair.sql.dialect,
        "lambda_min": str(request.pair.rules.lambda_min),
    }


def stated_rules(rules: ApplicationRules) -> str:
    """R_app as the JSON document it is, without the parts that say nothing (section on application rules)."""
    default = ApplicationRules().as_dict()
    shown = {k: v for k, v in rules.as_dict().items() if v != default[k] and k != "disabled_rules"}
    return json.dumps(shown, ensure_ascii=False, indent=1) if shown else "(none)"
