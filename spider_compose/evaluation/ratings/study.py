"""What is rated, by whom and in which order; and the key that knows whose sentence is whose.

Raters see a sheet with an item code, a database, SQL and a sentence. All systems are rated on the same rows
of the test data. Systems that say the same of a row share one item: it is rated once and counts for each.
"""

from __future__ import annotations

import hashlib
import json
import random
import reprlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from spider_compose.errors import OptionError, RatingError
from spider_compose.evaluation.ratings.predictions import System
from spider_compose.evaluation.ratings.scale import HIGHEST, LOWEST

FORMAT = 1
REFERENCE = "reference"  # the system that stands for the reference questions
MOST_RATERS = 1000


@dataclass(frozen=True)
class StudyOptions:
    """What a study depends on, beside the predictions.

    Attributes:
        items: rows of the test data, at most; each gives an item per different sentence.
        seed: of the choice of rows and of every order.
        raters: sheets, each with an order of its own; at most `MOST_RATERS`.
        reference: whether the reference questions are rated too, unmarked among the others.
        repeats: items that come twice, unmarked, to see whether raters agree with themselves.
    """

    items: int = 100
    seed: int = 1
    raters: int = 3
    reference: bool = False
    repeats: int = 0

    def __post_init__(self) -> None:
        for name, least in (("items", 1), ("raters", 1), ("repeats", 0), ("seed", None)):
            value = getattr(self, name)
            if type(value) is not int:
                raise OptionError(f"`{name}` must be a whole number, but got {_told(value)}.")
            if least is not None and value < least:
                raise OptionError(f"`{name}` must be {least} or more, but got {value}.")
        if self.raters > MOST_RATERS:
            raise OptionError(f"`raters` must be {MOST_RATERS} at most, but got {_told(self.raters)}.")
        if type(self.reference) is not bool:
            raise OptionError(f"`reference` must be true or false, but got {_told(self.reference)}.")


@dataclass(frozen=True)
class Item:
    """One sentence to rate.

    Attributes:
        code: what a sheet calls it; says nothing of row or system.
        id: the row of the test data.
        systems: whose sentence it is; empty for a repeat.
        repeats: the code of the item that this one is again, or None.
    """

    code: str
    id: str
    systems: tuple[str, ...]
    repeats: str | None = None


@dataclass(frozen=True)
class Key:
    """What turns ratings of items into ratings of systems; no rater sees it.

    Attributes:
        study: its name, from a digest of all that is rated.
        systems: in the order they were given; with `REFERENCE` last, where it is rated.
        items: by code.
    """

    study: str
    options: StudyOptions
    systems: tuple[str, ...]
    items: tuple[Item, ...]

    def sheet(self, rater: int) -> str:
        """The name of a rater's sheet; a letter first, so that no spreadsheet takes it for a number."""
        return f"{self.study}-r{rater}"

    def order(self, rater: int) -> list[Item]:
        """The items in the order of one rater, from 1; a repeat comes in the other half of the sheet."""
        rng = random.Random(f"{self.options.seed} order {rater}")
        again = {item.repeats for item in self.items if item.repeats}
        once = [item for item in self.items if not item.repeats and item.code not in again]
        rng.shuffle(once)
        middle = len(once) // 2
        first = [*once[:middle], *(item for item in self.items if item.code in again)]
        second = [*once[middle:], *(item for item in self.items if item.repeats)]
        rng.shuffle(first)
        rng.shuffle(second)
        return first + second

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready, without any text of the data."""
        items = [
            {"code": item.code, "id": item.id, "systems": list(item.systems)}
            if item.repeats is None
            else {"code": item.code, "id": item.id, "repeats": item.repeats}
            for item in self.items
        ]
        return {
            "format": FORMAT,
            "study": self.study,
            "scale": [LOWEST, HIGHEST],
            "options": asdict(self.options),
            "systems": list(self.systems),
            "items": items,
        }

    @classmethod
    def from_dict(cls, content: object, file: str) -> Key:
        """The key that `to_dict` gave.

        Args:
            content: parsed JSON.
            file: for messages.

        Raises:
            RatingError: it is no key, one of another format or scale, or damaged; with the place.
        """
        if not isinstance(content, dict) or content.get("format") != FORMAT or "study" not in content:
            raise RatingError(
                f"{file} is no key of format {FORMAT}. Name the key.json that `rate export` wrote."
            )
        try:
            if content.get("scale") != [LOWEST, HIGHEST]:
                raise _Damage(f"`scale` must be {[LOWEST, HIGHEST]}, but got {_told(content.get('scale'))}")
            key = cls(
                study=_text_of(content, "study"),
                options=_options(content.get("options")),
                systems=_texts_of(content, "systems"),
                items=_items(content.get("items")),
            )
            key._check()
        except (_Damage, OptionError) as error:
            raise RatingError(
                f"{file} is a damaged key: {str(error).rstrip('.')}. Take it as `rate export` wrote it."
            ) from None
        return key

    def _check(self) -> None:
        """Refuse items that name what is not there, or what another item is called."""
        codes: set[str] = set()
        said: set[tuple[str, str]] = set()
        firsts = {item.code for item in self.items if item.repeats is None}
        for place, item in enumerate(self.items, start=1):
            where = f"items, item {place}:"
            if item.code in codes:
                raise _Damage(f"{where} the code {item.code!r} stands twice")
            own = {(item.id, system) for system in item.systems}
            if twice := said & own:
                raise _Damage(f"{where} it is the second sentence of {min(twice)[1]!r} for {item.id!r}")
            codes.add(item.code)
            said |= own
            if item.repeats is not None and item.repeats not in firsts:
                raise _Damage(f"{where} it repeats {item.repeats!r}, which is not there")
            if unknown := set(item.systems) - set(self.systems):
                raise _Damage(f"{where} {min(unknown)!r} is none of the systems")


class _Damage(ValueError):
    """What is wrong with a key."""


def _told(value: object) -> str:
    """A value for a message, however large or deep it is."""
    return f"{reprlib.repr(value):.80}"


def _options(content: object) -> StudyOptions:
    names = {field.name for field in fields(StudyOptions)}
    if not isinstance(content, dict) or set(content) != names:
        raise _Damage(f"`options` must hold {', '.join(sorted(names))}, but got {_told(content)}")
    return StudyOptions(**content)


def _items(content: object) -> tuple[Item, ...]:
    if not isinstance(content, list) or not all(isinstance(row, dict) for row in content):
        raise _Damage(f"`items` must be a list of objects, but got {_told(content)}")
    found = []
    for place, row in enumerate(content, start=1):
        where = f"items, item {place}: "
        again = _text_of(row, "repeats", where) if "repeats" in row else None
        own = () if again is not None else _texts_of(row, "systems", where)
        found.append(Item(_text_of(row, "code", where), _text_of(row, "id", where), own, again))
    return tuple(found)


def _text_of(content: Mapping[str, Any], name: str, where: str = "") -> str:
    value = content.get(name)
    if not isinstance(value, str) or not value:
        raise _Damage(f"{where}`{name}` must be a text, but got {_told(value)}")
    return value


def _texts_of(content: Mapping[str, Any], name: str, where: str = "") -> tuple[str, ...]:
    value = content.get(name)
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise _Damage(f"{where}`{name}` must be a list of texts, but got {_told(value)}")
    if len(set(value)) < len(value):
        raise _Damage(f"{where}`{name}` must name each once, but got {_told(value)}")
    return tuple(value)


@dataclass(frozen=True)
class Text:
    """What a rater sees of an item."""

    db_id: str
    query: str
    sentence: str


@dataclass(frozen=True)
class Study:
    """A key, and the texts of its items by code.

    Attributes:
        num_rows: of the test data that are rated.
        not_shared: rows that some systems lack, and that are therefore not rated.
    """

    key: Key
    texts: Mapping[str, Text]
    num_rows: int
    not_shared: int


def make_study(systems: Sequence[System], options: StudyOptions = StudyOptions()) -> Study:
    """Choose rows and blind them.

    Raises:
        OptionError: two systems of one name, or more repeats than half of the items.
        RatingError: no row that all systems have, or a row that differs between them.
    """
    names = _names(systems, options)
    shared, not_shared = _shared_ids(systems)
    _check_rows(systems, shared)
    rng = random.Random(f"{options.seed} rows")
    rows = rng.sample(shared, min(options.items, len(shared)))
    sentences = [(row, *said) for row in rows for said in _sentences(systems, row, options).items()]
    if options.repeats > len(sentences) // 2:
        raise OptionError(
            f"`repeats` must be at most {len(sentences) // 2}, half of the items, but got {options.repeats}."
        )
    places = list(range(len(sentences) + options.repeats))
    rng.shuffle(places)  # so that a code does not tell a repeat from a first time
    width = len(str(len(places)))
    codes = [f"i{place + 1:0{width}}" for place in places]
    items = [Item(code, row, said) for code, (row, _, said) in zip(codes, sentences, strict=False)]
    texts = {
        code: _text(systems[0], row, sentence)
        for code, (row, sentence, _) in zip(codes, sentences, strict=False)
    }
    for code, first in zip(codes[len(items) :], rng.sample(items, options.repeats), strict=True):
        items.append(Item(code, first.id, (), first.code))
        texts[code] = texts[first.code]
    items.sort(key=lambda item: item.code)
    key = Key(_name(names, options, items, texts), options, names, tuple(items))
    return Study(key, texts, len(rows), not_shared)


def _names(systems: Sequence[System], options: StudyOptions) -> tuple[str, ...]:
    names = [system.name for system in systems] + [REFERENCE] * options.reference
    if repeated := sorted({name for name in names if names.count(name) > 1}):
        raise OptionError(
            f"every system needs a name of its own, but {repeated[0]!r} stands twice. A system is called "
            "like the folder of its predictions.jsonl, or like its file."
        )
    return tuple(names)


def _shared_ids(systems: Sequence[System]) -> tuple[list[str], int]:
    ids = [set(system.predictions) for system in systems]
    shared = set.intersection(*ids)
    if not shared:
        raise RatingError(
            "no row of the test data has a prediction by all systems "
            f"({', '.join(system.name for system in systems)}), so they cannot be rated on the same rows. "
            "Export systems of one test set together."
        )
    return sorted(shared), len(set.union(*ids) - shared)


def _check_rows(systems: Sequence[System], ids: Sequence[str]) -> None:
    first = systems[0]
    for system in systems[1:]:
        for row in ids:
            one, other = first.predictions[row], system.predictions[row]
            if (one.db_id, one.query, one.question) != (other.db_id, other.query, other.question):
                raise RatingError(
                    f"the row {row!r} is not the same for {first.name} and {system.name}: database, query or "
                    "question differ. Export systems of one test set together."
                )


def _sentences(systems: Sequence[System], row: str, options: StudyOptions) -> dict[str, tuple[str, ...]]:
    """Who says what of a row."""
    said: dict[str, tuple[str, ...]] = {}
    for system in systems:
        sentence = system.predictions[row].prediction.strip()
        said[sentence] = (*said.get(sentence, ()), system.name)
    if options.reference:
        sentence = systems[0].predictions[row].question.strip()
        said[sentence] = (*said.get(sentence, ()), REFERENCE)
    return said


def _text(system: System, row: str, sentence: str) -> Text:
    found = system.predictions[row]
    return Text(found.db_id, found.query, sentence)


def _name(
    names: Sequence[str], options: StudyOptions, items: Sequence[Item], texts: Mapping[str, Text]
) -> str:
    rated = [asdict(options), names, [(asdict(item), asdict(texts[item.code])) for item in items]]
    digest = hashlib.sha256(json.dumps(rated, sort_keys=True).encode()).hexdigest()
    return f"s{digest[:8]}"
