"""R_app, an application's own rules: a JSON document, checked against `application_rules.schema.json`.

They say what a schema would: which column a word means, how values are spelt, what a metric is, which
filters the application adds by itself. Everything is optional; `{}` is valid.
"""

from __future__ import annotations

import fnmatch
import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Any

from spider_compose.errors import SpiderComposeError
from spider_compose.stef.normalization import fold_value, name_words, stem
from spider_compose.stef.specification.items import Filter

SCHEMA_NAME = "application_rules.schema.json"


class RulesError(SpiderComposeError, ValueError):
    """Application rules that do not follow their schema.

    Attributes:
        path: where in the document, as `$.benign_filters[0].operator`.
    """

    def __init__(self, message: str, path: str = "$") -> None:
        super().__init__(f"{path}: {message}")
        self.path = path


@dataclass(frozen=True)
class BenignFilter:
    """A filter the application may add unasked; `*` stands for anything, a pattern may hold it too.

    >>> from spider_compose.stef.specification.sql import read_sql
    >>> (item,) = read_sql("SELECT name FROM users WHERE is_deleted = 0").filters
    >>> BenignFilter("is_deleted", "=", "0").covers(item)
    True
    """

    column: str = "*"
    operator: str = "*"
    value: str = "*"

    def covers(self, item: Filter) -> bool:
        """Whether a filter of a query is this one."""
        names = frozenset(name_words(self.column))
        column = self.column == "*" or (bool(names) and names <= item.words)
        if not column and "*" in self.column:
            column = any(fnmatch.fnmatch(word, self.column.lower()) for word in item.words)
        operator = self.operator in ("*", item.operator) or (
            self.operator == "is null" and item.operator == "null"
        )
        if self.operator == "!=":
            operator = item.negated
        pattern = fold_value(self.value) if "*" not in self.value else self.value.lower()
        value = self.value == "*" or (
            bool(item.values) and all(fnmatch.fnmatch(v, pattern) for v in item.values)
        )
        return column and operator and value


@dataclass(frozen=True)
class ApplicationRules:
    """R_app (section on application rules).

    Attributes:
        dialect: the SQL dialect of the database, or "auto".
        lambda_min: from this LIMIT on an unasked limit is a safety limit (1000 in the paper).
        column_mappings: phrase of the questions -> columns that stand for it.
        value_synonyms: word of the questions -> values it is stored as.
        metrics: name of a metric -> its SQL expression.
        benign_filters: filters the application adds by itself.
        default_order: columns the application orders by where nobody asks for an order.
        disabled_rules: names of rules to switch off: of the question, of tolerance, of the judge.
        notes: sentences for a judge that reads; the default judge ignores them.
    """

    dialect: str = "auto"
    lambda_min: int = 1000
    column_mappings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    value_synonyms: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    metrics: Mapping[str, str] = field(default_factory=dict)
    benign_filters: tuple[BenignFilter, ...] = ()
    default_order: tuple[str, ...] = ()
    disabled_rules: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "dialect", self.dialect.strip().lower())

    @classmethod
    def from_dict(cls, document: Any) -> ApplicationRules:
        """Rules from a parsed JSON document.

        Raises:
            RulesError: the document breaks the schema; the message has the path and the nearest valid name.
        """
        check(document, schema())
        given = {key: value for key, value in document.items() if not key.startswith("$")}
        many = ("column_mappings", "value_synonyms")
        for key in many:
            if key in given:
                given[key] = {k: (v,) if isinstance(v, str) else tuple(v) for k, v in given[key].items()}
        if "benign_filters" in given:
            given["benign_filters"] = tuple(
                BenignFilter(**{k: v if isinstance(v, str) else json.dumps(v) for k, v in item.items()})
                for item in given["benign_filters"]
            )
        for key in ("default_order", "notes"):
            if key in given:
                given[key] = tuple(given[key])
        if "disabled_rules" in given:
            given["disabled_rules"] = frozenset(given["disabled_rules"])
        return cls(**given)

    @classmethod
    def read(cls, source: ApplicationRules | Mapping[str, Any] | str | Path | None) -> ApplicationRules:
        """Rules from what a caller has: rules, a dict, the path of a JSON file, or None for none.

        Raises:
            RulesError: the file is no JSON or breaks the schema.
        """
        if source is None:
            return cls()
        if isinstance(source, ApplicationRules):
            return source
        if isinstance(source, Mapping):
            return cls.from_dict(dict(source))
        if not isinstance(source, (str, Path)):
            raise RulesError(f"expected rules, a dict or the path of a JSON file, but got {_shown(source)}")
        path = Path(source)
        try:
            document = json.loads(path.read_text(encoding="utf-8-sig"), object_pairs_hook=_Names)
        except OSError as error:
            raise RulesError(f"cannot read {path}: {error.strerror or error}") from error
        except (ValueError, RecursionError) as error:  # of JSON, UTF-8, an endless number, a path with a null
            raise RulesError(f"{path} is not JSON: {error}") from error
        _check_names(document)
        return cls.from_dict(document)

    def as_dict(self) -> dict[str, Any]:
        """The JSON document these rules are, with every default written out."""
        return {
            "dialect": self.dialect,
            "lambda_min": self.lambda_min,
            "column_mappings": {k: list(v) for k, v in self.column_mappings.items()},
            "value_synonyms": {k: list(v) for k, v in self.value_synonyms.items()},
            "metrics": dict(self.metrics),
            "benign_filters": [vars(item) for item in self.benign_filters],
            "default_order": list(self.default_order),
            "disabled_rules": sorted(self.disabled_rules),
            "notes": list(self.notes),
        }

    @cached_property
    def digest(self) -> str:
        """Eight hexadecimal digits that change with every rule, for the signature."""
        return hashlib.sha256(json.dumps(self.as_dict(), sort_keys=True).encode()).hexdigest()[:8]

    @cached_property
    def column_words(self) -> tuple[tuple[str, frozenset[str], tuple[frozenset[str], ...]], ...]:
        """(name, stems of the phrase, stems of each column) of every column mapping and metric."""
        import re

        mapped = [(phrase, columns) for phrase, columns in self.column_mappings.items()]
        mapped += [
            (name, tuple(w for w in re.findall(r"[A-Za-z_]\w*(?!\w*\s*\()", formula)))
            for name, formula in self.metrics.items()
        ]
        return tuple(
            (
                phrase,
                frozenset(map(stem, phrase.lower().split())),
                tuple(frozenset(name_words(c)) for c in columns),
            )
            for phrase, columns in mapped
        )

    @cached_property
    def values(self) -> tuple[tuple[str, str, tuple[str, ...]], ...]:
        """(name, folded word, folded stored values) of every value synonym."""
        return tuple(
            (word, fold_value(word), tuple(map(fold_value, v))) for word, v in self.value_synonyms.items()
        )

    @cached_property
    def metric_functions(self) -> tuple[tuple[str, frozenset[str], frozenset[str]], ...]:
        """(name, stems of the name, functions of its formula) of every metric."""
        import re

        return tuple(
            (
                name,
                frozenset(map(stem, name.lower().split())),
                frozenset(f.upper() for f in re.findall(r"(\w+)\s*\(", formula)),
            )
            for name, formula in self.metrics.items()
        )


class _Names(dict[str, Any]):
    """A JSON object that remembers the names it has twice, of which JSON keeps the last."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        seen: set[str] = set()
        self.twice = [name for name, _ in pairs if name in seen or seen.add(name)]  # type: ignore[func-returns-value]


def _check_names(value: Any, path: str = "$") -> None:
    """No object has a name twice.

    Raises:
        RulesError: one has, with its path.
    """
    if isinstance(value, _Names) and value.twice:
        raise RulesError("the name stands there twice; keep one", _place(path, value.twice[0]))
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        _check_names(item, _place(path, key) if isinstance(key, str) else f"{path}[{key}]")


def _place(path: str, key: str) -> str:
    return f"{path}.{key}" if key.isidentifier() or key.startswith("$") else f"{path}[{key!r}]"


def schema() -> dict[str, Any]:
    """The published JSON Schema of application rules."""
    text = resources.files("spider_compose.stef").joinpath(SCHEMA_NAME).read_text(encoding="utf-8")
    document: dict[str, Any] = json.loads(text)
    return document


_TYPES: dict[str, Any] = {
    "object": dict,
    "array": list,
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
}


def check(value: Any, rule: Mapping[str, Any], path: str = "$") -> None:
    """Check a value against the part of JSON Schema that our own schema uses.

    Raises:
        RulesError: at the first fault, with its path.
    """
    kinds = rule.get("type")
    if kinds:
        names = [kinds] if isinstance(kinds, str) else kinds
        fits = any(
            isinstance(value, _TYPES[n]) and not (n in ("integer", "number") and isinstance(value, bool))
            for n in names
        )
        if not fits:
            raise RulesError(f"expected {' or '.join(names)}, but got {_shown(value)}", path)
    if "enum" in rule and value not in rule["enum"]:
        raise RulesError(
            f"expected one of {rule['enum']}, but got {_shown(value)}{_nearest(value, rule['enum'])}", path
        )
    if "minimum" in rule and value < rule["minimum"]:
        raise RulesError(f"expected at least {rule['minimum']}, but got {value}", path)
    if rule.get("minLength") and isinstance(value, str) and not value.strip():
        raise RulesError("expected a text, but got an empty one", path)
    if isinstance(value, dict):
        _check_object(value, rule, path)
    if isinstance(value, list):
        for position, item in enumerate(value):
            check(item, rule.get("items", {}), f"{path}[{position}]")


def _check_object(value: dict[str, Any], rule: Mapping[str, Any], path: str) -> None:
    properties, more = rule.get("properties", {}), rule.get("additionalProperties", True)
    for key, item in value.items():
        place = _place(path, str(key))
        check(key, {"type": "string", **rule.get("propertyNames", {})}, place)
        if key in properties:
            check(item, properties[key], place)
        elif more is False:
            raise RulesError(
                f"unknown name {key!r}{_nearest(key, properties)}; valid are {sorted(properties)}", path
            )
        elif isinstance(more, Mapping):
            check(item, more, place)


def _nearest(value: Any, names: Iterable[str]) -> str:
    near = get_close_matches(str(value), [str(name) for name in names], n=1, cutoff=0.5)
    return f". Did you mean {near[0]!r}?" if near else ""


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 60 else text[:57] + "..."
