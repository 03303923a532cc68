"""Adapter: text2sql-data (Finegan-Dollak et al. 2018), one JSON file per corpus.

A list of queries, each with the sentences that ask it:

    {"query-split": "train", "sql": ["SELECT ... = 'city_name0' ;", ...],
     "variables": [{"name": "city_name0", "example": "boston", ...}],
     "sentences": [{"question-split": "train", "text": "flights to city_name0",
                    "variables": {"city_name0": "denver"}}]}

Variables are filled in from the sentence's own values; what a sentence has no value for (it doesn't say it)
from the example of the query. The first SQL is the reference, the others are kept as `other_queries`. The
statement's final `;` is no part of a clause and left out. Each corpus has one database, named like its file,
whose tables stand in `NAME-schema.csv`; only WikiSQL has one per question. Files may be packed by bzip2, as
WikiSQL's is.
"""

from __future__ import annotations

import bz2
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from spider_compose.errors import OptionError, SourceError
from spider_compose.source import text2sql_corpora
from spider_compose.source.corpus import Corpus
from spider_compose.source.files import SourceFile
from spider_compose.source.json_text import parse_list
from spider_compose.source.own_parts import divide
from spider_compose.source.reading import Reading
from spider_compose.source.rows import RawRow
from spider_compose.source.schemas import NO_SCHEMAS, Schemas, find_schemas, read_schema_file
from spider_compose.source.variables import fill_query, fill_sentence
from spider_compose.source.wikisql_query import read_text2sql, table_schema

NAME = "text2sql"
OPTIONS: tuple[str, ...] = ("schemas", "own_split", "held_out", "database")
MAX_UNPACKED = 1 << 30
"""Bytes of a packed file at most: WikiSQL has 65 million, a small file can be made to hold any number."""

_ENDINGS = (".json", ".json.bz2")
# Every entry has them; a quote before the name that is no escape tells a key from a text.
_KEYS = (b'"question-split"', b'"query-split"')
_HEAD = 1 << 16
_BZIP2 = b"BZh"
_NO_SPLIT = ("", "N/A")

_Placed = tuple[str | None, RawRow]


def recognise(path: Path) -> bool:
    """Whether the path is such a file, or a folder that holds one."""
    return bool(_corpus_files(path))


def read(path: Path, reading: Reading) -> Corpus:
    """Read the one corpus there.

    Raises:
        SourceError: there are several, or none; the file is broken.
        OptionError: the corpus has no split of the kind asked for, or no such part.
    """
    paths = _corpus_files(path)
    if len(paths) != 1:
        found = f"several ({', '.join(one.name for one in paths)})" if paths else "none"
        raise SourceError(
            f"{path} must hold one corpus in the format of text2sql-data, but holds {found}. Give the path "
            "of one file."
        )
    file = _unpacked(paths[0])
    stem = file.name.removesuffix(".json")
    name = reading.database or stem
    entries = parse_list(file)
    rows: list[_Placed] = []
    headings: dict[str, dict[str, None]] = {}
    for number, entry in enumerate(entries):
        rows += _rows(f"{file.name}, query {number}", entry, name, reading.own_split, headings)
    parts = divide(rows, reading.held_out)
    schemas = _schemas(paths[0].parent, stem, name, reading, headings)
    known = text2sql_corpora.known(stem, entries)
    return Corpus(
        name=known.name if known else stem,
        parts=parts.parts,
        files=(file,),
        schemas=schemas,
        release=known.release if known else None,
        license=known.license if known else None,
        attribution=known.attribution if known else None,
        notes=(*parts.notes, *(() if schemas.by_name else (NO_SCHEMAS,))),
        extra=("other_queries",) if any(row.other_queries for _, row in rows) else (),
    )


def _corpus_files(path: Path) -> list[Path]:
    try:
        candidates = [path] if path.is_file() else sorted(path.iterdir())
        return [one for one in candidates if one.name.endswith(_ENDINGS) and one.is_file() and _is_one(one)]
    except OSError:  # the adapters after this one say what cannot be read
        return []


def _is_one(path: Path) -> bool:
    try:
        with bz2.open(path) if path.suffix == ".bz2" else path.open("rb") as file:
            head = file.read(_HEAD)
    except (EOFError, OSError) as error:
        # Broken bzip2: `read` says so. What cannot be opened is for the adapters after this one to tell.
        return path.suffix == ".bz2" and not getattr(error, "errno", None) and path.stat().st_size > 0
    return any(key in head for key in _KEYS)


def _unpacked(path: Path) -> SourceFile:
    file = SourceFile.read(path)
    if path.suffix != ".bz2":
        return file
    try:
        unpacker = bz2.BZ2Decompressor()
        data = unpacker.decompress(file.data, MAX_UNPACKED + 1)
        while unpacker.eof and unpacker.unused_data.startswith(_BZIP2):  # several streams, one file
            rest, unpacker = unpacker.unused_data, bz2.BZ2Decompressor()
            data += unpacker.decompress(rest, MAX_UNPACKED + 1 - len(data))
    except (OSError, EOFError, ValueError) as error:
        raise _not_unpacked(path, str(error)) from None
    if len(data) > MAX_UNPACKED:
        raise _not_unpacked(path, f"it holds more than {MAX_UNPACKED:,} bytes")
    if not unpacker.eof:
        raise _not_unpacked(path, "its end is missing")
    return SourceFile(path.stem, data).checked()


def _not_unpacked(path: Path, reason: str) -> SourceError:
    return SourceError(f"{path.name} cannot be unpacked as bzip2: {reason}. Copy or download it again.")


def _schemas(
    folder: Path, stem: str, name: str, reading: Reading, headings: Mapping[str, Mapping[str, None]]
) -> Schemas:
    own = folder / f"{stem}-schema.csv"
    if reading.schemas is None and own.is_file():
        return read_schema_file(own, name=name)
    found = find_schemas(reading.schemas, [folder], reading.dialect)
    if found.by_name or not headings:
        return found
    return Schemas({table: table_schema(table, list(named)) for table, named in headings.items()})


def _rows(
    place: str, entry: Any, database: str, own_split: str, headings: dict[str, dict[str, None]]
) -> Iterator[_Placed]:
    """The sentences of a query as rows, each with its own part; fills in the headings of WikiSQL's tables."""
    if not isinstance(entry, dict) or not isinstance(entry.get("sentences"), list):
        yield None, _faulty(place, "no sentences", "must be an object with a list of sentences")
        return
    for number, sentence in enumerate(entry["sentences"]):
        where = f"{place}, sentence {number}"
        if not isinstance(sentence, dict):
            kind = type(sentence).__name__
            yield None, _faulty(where, "not an object", f"must be an object with text, but is {kind}")
            continue
        owner = sentence if own_split == "question" else entry
        part = owner.get(f"{own_split}-split")
        if part in _NO_SPLIT and own_split == "query":
            raise OptionError(
                f"{place} has no part in a query split ({part!r}). This corpus has a question split alone: "
                "leave `own_split` out."
            )
        yield (str(part) if part else None), _row(where, entry, sentence, database, headings)


def _row(
    place: str,
    entry: dict[str, Any],
    sentence: dict[str, Any],
    database: str,
    headings: dict[str, dict[str, None]],
) -> RawRow:
    queries, text = entry.get("sql"), sentence.get("original") or sentence.get("text")
    if not isinstance(queries, list) or not queries or not _are_texts(queries):
        return _faulty(place, "no query", f"`sql` must be a list of texts, but is {queries!r:.80}")
    if not isinstance(text, str):
        return _faulty(place, "no question", f"`text` must be a text, but is {text!r:.80}")
    values = _values(entry, sentence)
    if values is None:
        return _faulty(place, "variables not readable", "`variables` must be names with texts as values")
    table = sentence.get("table-id")
    if isinstance(table, str):
        other = _value_of_another(entry, sentence, text, values)
        if other:
            detail = (
                f"the variable {other!r} has no value here, and the query's example is another sentence's"
            )
            return _faulty(place, "no value for a variable", detail)
        made = read_text2sql(queries[0], values)
        if made is None:
            return _faulty(place, "not a query of WikiSQL", f"cannot read {queries[0]!r:.200}")
        headings.setdefault(table, {}).update(dict.fromkeys(made.columns))
        return RawRow(place, {"db_id": table, "query": made.sql(), "question": text})
    filled = [fill_query(query, values).strip().removesuffix(";").rstrip() for query in queries]
    content = {"db_id": database, "query": filled[0], "question": fill_sentence(text, values)}
    return RawRow(place, content, _without_value(place, content, entry, values), tuple(filled[1:]))


def _values(entry: Mapping[str, Any], sentence: Mapping[str, Any]) -> dict[str, str] | None:
    """The value of each variable: the sentence's own where it has one, else the query's example."""
    own, declared = _given(sentence, {}), _given(entry, [])
    if not isinstance(own, dict) or not isinstance(declared, list):
        return None
    values: dict[str, object] = {}
    for variable in declared:
        if not isinstance(variable, dict) or not isinstance(variable.get("name"), str):
            return None
        values[variable["name"]] = variable.get("example")
    values |= {name: value for name, value in own.items() if value != ""}
    texts = {name: value for name, value in values.items() if value not in ("", None)}
    return {name: str(value) for name, value in texts.items()} if _are_texts(texts.values()) else None


def _given(owner: Mapping[str, Any], none: Any) -> Any:
    """The variables of a query or a sentence; `none` where it has no such field, or null."""
    given = owner.get("variables")
    return none if given is None else given


def _are_texts(values: Iterable[object]) -> bool:
    return all(isinstance(value, str) for value in values)


def _value_of_another(
    entry: Mapping[str, Any], sentence: Mapping[str, Any], text: str, values: Mapping[str, str]
) -> str | None:
    """A variable of WikiSQL whose example, shared by several sentences, says what this one doesn't."""
    if len(entry["sentences"]) == 1:
        return None
    own = _given(sentence, {})
    lent = (name for name in values if not own.get(name) and values[name].lower() not in text.lower())
    return next(lent, None)


def _without_value(
    place: str, content: Mapping[str, str], entry: Mapping[str, Any], values: Mapping[str, str]
) -> tuple[str, str] | None:
    """The fault of a row in which a declared variable still stands."""
    open_ = {variable["name"] for variable in _given(entry, [])} - values.keys()
    for column in ("query", "question"):
        for name in sorted(open_):
            if fill_sentence(content[column], {name: ""}) != content[column]:
                return (
                    "no value for a variable",
                    f"{place}: the variable {name!r} has no value, neither in the sentence nor as an example "
                    "of the query. Give it one.",
                )
    return None


def _faulty(place: str, reason: str, detail: str) -> RawRow:
    return RawRow(place, {}, (reason, f"{place}: {detail}."))
