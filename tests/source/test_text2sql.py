"""The format of text2sql-data: variables, splits, several SQL, and every way a file can be broken."""

from __future__ import annotations

import bz2
import copy
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from spider_compose.errors import OptionError, SourceError
from spider_compose.source import Source, read_source, text2sql, text2sql_corpora
from spider_compose.source.text2sql_corpora import KnownCorpus, content_checksum
from spider_compose.source.variables import fill_query, fill_sentence
from spider_compose.source.wikisql_query import read_text2sql
from spider_compose.sql.clauses import split_clauses

Entry = dict[str, Any]


def entry(sql: list[str], sentences: list[Entry], variables: list[Entry] | None = None) -> Entry:
    return {"query-split": "train", "sql": sql, "variables": variables or [], "sentences": sentences}


def sentence(text: str, split: str = "train", **variables: str) -> Entry:
    return {"question-split": split, "text": text, "variables": variables}


def variable(name: str, example: str = "") -> Entry:
    return {"name": name, "example": example, "location": "both", "type": "x"}


BOATS = [
    entry(
        [
            'SELECT BOATalias0.NAME FROM BOAT AS BOATalias0 WHERE BOATalias0.PORT = "port0" ;',
            'SELECT NAME FROM BOAT WHERE PORT LIKE "%port0%" ;',
        ],
        [
            sentence("which boats lie in port0 ?", port0="cork"),
            sentence("boats of port0", "dev", port0="st. john's"),
            sentence("boats in port0 ?", "test", port0=""),
        ],
        [variable("port0", "galway")],
    ),
    entry(
        ["SELECT COUNT( * ) FROM BOAT AS BOATalias0 WHERE BOATalias0.LENGTH > length0 ;"],
        [sentence("how many boats are longer than length0 ?", "exclude", length0="12.5")],
        [variable("length0", "9")],
    )
    | {"query-split": "test"},
]

SCHEMA = (
    "Table Name, Field Name, Is Primary Key, Is Foreign Key, Type\nBOAT, NAME, y, n, text\n-, -, -, -, -\n"
)


def write(folder: Path, entries: object, name: str = "boats") -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / f"{name}.json"
    path.write_text(json.dumps(entries), encoding="utf-8")
    return path


def texts(source: Source, part: str) -> list[tuple[str, str]]:
    return [(pair.query, pair.question) for pair in source.pairs[part]]


def test_variables_splits_and_further_queries(tmp_path: Path) -> None:
    write(tmp_path, BOATS)
    (tmp_path / "boats-schema.csv").write_text(SCHEMA, encoding="utf-8")
    source = read_source(tmp_path)
    select = "SELECT BOATalias0.NAME FROM BOAT AS BOATalias0 WHERE BOATalias0.PORT = "
    assert texts(source, "train") == [
        (f'{select}"cork"', "which boats lie in cork ?"),
        (f'{select}"st. john\'s"', "boats of st. john's"),
    ]
    assert texts(source, "validation") == [(f'{select}"galway"', "boats in galway ?")], (
        "an example for no value"
    )
    assert source.pairs["train"][0].other_queries == ('SELECT NAME FROM BOAT WHERE PORT LIKE "%cork%"',)
    assert source.extra == ("other_queries",)
    assert {pair.db_id for part in source.pairs.values() for pair in part} == {"boats"}
    assert source.schema("boats").find_column("boat", "name") is not None
    assert source.notes == (
        "train: the corpus's dev (1), train (1)",
        "validation: the corpus's test (1)",
        "1 rows are not read: the corpus excludes them from this split",
    )
    assert (source.name, source.release, source.license, source.left_out) == ("boats", None, None, ())


def test_query_split(tmp_path: Path) -> None:
    path = write(tmp_path, BOATS)
    source = read_source(path, own_split="query")
    assert source.row_counts == {"train": 3, "validation": 1}
    assert texts(source, "validation")[0][0].endswith("BOATalias0.LENGTH > 12.5")
    assert source.fingerprint != read_source(path).fingerprint


@pytest.mark.parametrize(
    ("held_out", "counts"),
    [
        pytest.param(None, (10, 1), id="last-fold"),
        pytest.param("3", (10, 1), id="one-fold"),
        pytest.param("3, 10", (9, 2), id="two-folds"),
    ],
)
def test_folds(tmp_path: Path, held_out: str | None, counts: tuple[int, int]) -> None:
    path = write(tmp_path, [entry(["SELECT a FROM b"], [sentence(f"a {n}", str(n)) for n in range(11)])])
    source = read_source(path, held_out=held_out)
    assert (source.row_counts["train"], source.row_counts["validation"]) == counts
    held = {pair.question for pair in source.pairs["validation"]}
    assert ("a 10" in held) == (held_out != "3"), "the last fold by number, not by text"


def test_bzip2_and_a_folder_of_several(tmp_path: Path) -> None:
    noise = random.Random(1).randbytes(300_000).hex()  # bzip2's first block is longer than what is looked at
    boats = [*BOATS, {"comments": noise, "sentences": []}]
    (tmp_path / "boats.json.bz2").write_bytes(bz2.compress(json.dumps(boats).encode()))
    packed = read_source(tmp_path)
    assert packed.name == "boats"
    plain = write(tmp_path, BOATS, "ships")
    with pytest.raises(SourceError, match=r"holds several \(boats.json.bz2, ships.json\)"):
        read_source(tmp_path)
    assert texts(read_source(plain), "train") == texts(packed, "train")


def test_known_corpus_has_its_licence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path, BOATS)
    corpus = KnownCorpus("boats", "Boats", 4, content_checksum(BOATS), "CC BY 4.0")
    monkeypatch.setitem(text2sql_corpora.KNOWN, "boats", corpus)
    known = read_source(path)
    assert (known.release, known.license) == ("Boats (text2sql-data, 4 sentences)", "CC BY 4.0")
    assert "Finegan-Dollak" in str(known.attribution)
    changed = copy.deepcopy(BOATS)
    changed[0]["sentences"].pop()
    assert read_source(write(tmp_path, changed)).license is None, "another content may have another licence"


def test_database_is_named_by_option(tmp_path: Path) -> None:
    source = read_source(write(tmp_path, BOATS), database="harbour")
    assert source.pairs["train"][0].db_id == "harbour"


# What is broken in the first query or its first sentence -> the reason its rows are left out.
def without(key: str) -> Callable[[list[Entry]], None]:
    return lambda entries: entries[0].pop(key)


BROKEN: dict[str, tuple[Callable[[list[Entry]], Any], str]] = {
    "no-sentences": (without("sentences"), "no sentences"),
    "no-sql": (without("sql"), "no query"),
    "empty-sql": (lambda e: e[0].update(sql=[]), "no query"),
    "sql-not-text": (lambda e: e[0].update(sql=[1]), "no query"),
    "sentence-not-object": (lambda e: e[0]["sentences"].__setitem__(0, "x"), "not an object"),
    "no-text": (lambda e: e[0]["sentences"][0].pop("text"), "no question"),
    "blank-text": (lambda e: e[0]["sentences"][0].update(text=" "), "empty question"),
    "values-not-texts": (
        lambda e: e[0]["sentences"][0].update(variables={"port0": 1}),
        "variables not readable",
    ),
    "values-a-list": (lambda e: e[0]["sentences"][0].update(variables=[]), "variables not readable"),
    "variables-not-objects": (lambda e: e[0].update(variables=["port0"]), "variables not readable"),
    "no-value": (
        lambda e: (e[0]["variables"][0].pop("example"), e[0]["sentences"][2].update(variables={})),
        "no value for a variable",
    ),
}


@pytest.mark.parametrize(("breaks", "reason"), BROKEN.values(), ids=BROKEN)
def test_broken_entries_are_left_out_by_reason(
    tmp_path: Path, breaks: Callable[[list[Entry]], Any], reason: str
) -> None:
    entries = [*copy.deepcopy(BOATS), entry(["SELECT a FROM b"], [sentence("a ?")])]
    breaks(entries)
    path = write(tmp_path, entries)
    source = read_source(path)
    assert {row.reason for row in source.left_out} == {reason}
    assert source.left_out[0].detail.startswith("boats.json, query 0")
    assert ("SELECT a FROM b", "a ?") in texts(source, "train"), "the work goes on"
    with pytest.raises(SourceError, match=r"boats\.json, query 0"):
        read_source(path, strict=True)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param(b'[{"query-split": "train", ', r"boats\.json, line 1.*cut short", id="cut-short"),
        pytest.param(b'{"query-split": 1}', "must hold a JSON list", id="no-list"),
    ],
)
def test_broken_files(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "boats.json").write_bytes(content)
    with pytest.raises(SourceError, match=message):
        read_source(tmp_path)


def test_packed_file_cut_short(tmp_path: Path) -> None:
    (tmp_path / "boats.json.bz2").write_bytes(bz2.compress(json.dumps(BOATS * 9_000).encode())[:-40])
    with pytest.raises(SourceError, match="cannot be unpacked as bzip2"):
        read_source(tmp_path)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        pytest.param({"own_split": "querry"}, "own_split.*Did you mean 'query'", id="unknown-split"),
        pytest.param({"held_out": "tset"}, "held_out.*Did you mean 'test'", id="unknown-part"),
        pytest.param({"held_out": "dev,test,train"}, "must leave some", id="nothing-left"),
        pytest.param({"held_out": 3}, "must be names of parts", id="no-text"),
        pytest.param({"format": "text2sq"}, "format.*Did you mean 'text2sql'", id="unknown-format"),
        pytest.param({"database": " "}, "`database` must be a name", id="no-name"),
    ],
)
def test_options_outside_their_range(tmp_path: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        read_source(write(tmp_path, BOATS), **options)


def wiki(sql: str, sentences: list[Entry], *variables: Entry) -> Entry:
    return entry([sql], sentences, list(variables)) | {"query-split": "N/A"}


WIKI = [
    wiki(
        "SELECT COUNT TABLEalias0.POPULATION_(2011)_FIELD FROM TABLE AS TABLEalias0 WHERE NO._FIELD > var0 "
        'AND TABLEalias0.DJ\'S_FIELD = "var1" ;',
        [
            sentence("no. var0 of var1 , 5var0", var0="1", var1='the "x"')
            | {"original": 'no. 1 of the "x", 51?', "table-id": "1-10-1"}
        ],
        variable("var0", "1"),
        variable("var1"),
    ),
    wiki(
        "SELECT TABLEalias0.CITY_FIELD FROM TABLE AS TABLEalias0 ;",
        [sentence("which cities ?", "test") | {"original": "which cities?", "table-id": "1-10-1"}],
    ),
]


def test_wikisql_becomes_sql(tmp_path: Path) -> None:
    source = read_source(write(tmp_path, WIKI, "wikisql"))
    query = 'SELECT COUNT("POPULATION_(2011)") FROM "table" WHERE "NO." > 1 AND "DJ\'S" = \'the "x"\''
    assert texts(source, "train") == [(query, 'no. 1 of the "x", 51?')]
    assert texts(source, "validation") == [('SELECT "CITY" FROM "table"', "which cities?")]
    assert [clause.type for clause in split_clauses(query)] == ["SELECT", "WHERE"]
    columns = source.schema("1-10-1").tables[0].columns
    assert [(column.name, column.words) for column in columns] == [
        ("POPULATION_(2011)", "population 2011"),
        ("NO.", "no"),
        ("DJ'S", "dj s"),
        ("CITY", "city"),
    ]


@pytest.mark.parametrize(
    ("query", "filled"),
    [
        pytest.param(
            "SELECT MEN'S_35_FIELD FROM table WHERE YEAR_FIELD = var0 ;",
            """SELECT "MEN'S_35" FROM "table" WHERE "YEAR" = 7""",
            id="no-alias",
        ),
        pytest.param(
            'SELECT A_FIELD FROM table WHERE B_FIELD = "var1" = var0 ;',
            """SELECT "A" FROM "table" WHERE "B" = 'x y = 7'""",
            id="signs-in-a-value",
        ),
        pytest.param("SELECT A_FIELD FROM table WHERE B_FIELD = var2 ;", None, id="no-value"),
        pytest.param("SELECT A_FIELD FROM table WHERE B_FIELD var0 ;", None, id="no-operator"),
        pytest.param("SELECT A_FIELD , B_FIELD FROM table ;", None, id="two-columns"),
    ],
)
def test_wikisql_queries(query: str, filled: str | None) -> None:
    made = read_text2sql(query, {"var0": "7", "var1": "x y"})
    assert (made and made.sql()) == filled


def test_wikisql_value_of_another_sentence(tmp_path: Path) -> None:
    lost = sentence("points of 32 ?", var0="2") | {"original": "points of 32?", "table-id": "1-10-1"}
    kept = sentence("points of var1 ?", var0="2") | {"original": "2 points of 51?", "table-id": "1-10-1"}
    query = "SELECT TABLEalias0.A_FIELD FROM TABLE AS TABLEalias0 WHERE TABLEalias0.POINTS_FIELD = var1 ;"
    entries = [wiki(query, [kept, lost], variable("var0", "2"), variable("var1", "51"))]
    source = read_source(write(tmp_path, entries, "wikisql"))
    assert [(row.row, row.reason) for row in source.left_out] == [(1, "no value for a variable")]
    assert texts(source, "train") == [('SELECT "A" FROM "table" WHERE "POINTS" = 51', "2 points of 51?")]


def test_wikisql_has_no_query_split(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="a question split alone"):
        read_source(write(tmp_path, WIKI), own_split="query")


def test_wikisql_query_that_is_none(tmp_path: Path) -> None:
    entries = copy.deepcopy(WIKI)
    entries[0]["sql"] = ["SELECT a , b FROM TABLE AS TABLEalias0 ;"]
    source = read_source(write(tmp_path, entries))
    assert [row.reason for row in source.left_out] == ["not a query of WikiSQL"]


@pytest.mark.parametrize(
    ("query", "values", "filled"),
    [
        pytest.param('a = "x0"', {"x0": "y"}, 'a = "y"', id="quoted"),
        pytest.param("a = 'x0'", {"x0": "it's"}, "a = 'it''s'", id="quote-doubled"),
        pytest.param('a LIKE "%x0%"', {"x0": "y"}, 'a LIKE "%y%"', id="pattern"),
        pytest.param("a = x0", {"x0": "4.5"}, "a = 4.5", id="number"),
        pytest.param("a = x0", {"x0": "y z"}, 'a = "y z"', id="text-without-quotes"),
        pytest.param(
            "a = x01 AND Xalias0.x = x0", {"x0": "1"}, "a = x01 AND Xalias0.x = 1", id="whole-names"
        ),
        pytest.param('a = "x0" AND b = "y0"', {"x0": "y0", "y0": "2"}, 'a = "y0" AND b = "2"', id="once"),
        pytest.param('a = "it\'s x0"', {"x0": "y"}, 'a = "it\'s y"', id="other-quote-inside"),
        pytest.param("a = x0", {"x0": "\\1"}, 'a = "\\1"', id="backslash"),
    ],
)
def test_values_in_queries(query: str, values: dict[str, str], filled: str) -> None:
    assert fill_query(query, values) == filled


def test_values_in_sentences() -> None:
    assert fill_sentence("x0 -level x01 x0 's", {"x0": "400"}) == "400 -level x01 400 's"


def test_the_corpora_are_known(shared_path: Callable[[str], Path]) -> None:
    folder = shared_path("corpora")
    assert len(text2sql_corpora.KNOWN) == 9
    for name, corpus in text2sql_corpora.KNOWN.items():
        if name == "wikisql":
            continue  # 80,654 rows: the table in docs/corpora.md has them
        source = read_source(folder / f"{name}.json")
        excluded = 956 if name == "advising" else 0
        assert sum(source.row_counts.values()) + excluded == corpus.sentences
        assert source.release == corpus.release and source.left_out == (), name
        assert source.license == ("CC BY 4.0" if name == "advising" else None)


PACKED = bz2.compress(json.dumps(BOATS).encode())


@pytest.mark.parametrize("by_path", [True, False], ids=["file", "folder"])
@pytest.mark.parametrize(
    ("data", "message"),
    [
        pytest.param(PACKED[:-20], "its end is missing", id="cut-short"),
        pytest.param(PACKED[:12], "its end is missing", id="cut-in-the-head"),
        pytest.param(json.dumps(BOATS).encode(), "Invalid data stream", id="not-packed"),
        pytest.param(PACKED[:50] + bytes(40) + PACKED[90:], "Invalid data stream", id="changed"),
    ],
)
def test_broken_packed_file(tmp_path: Path, data: bytes, message: str, by_path: bool) -> None:
    path = tmp_path / "boats.json.bz2"
    path.write_bytes(data)
    with pytest.raises(SourceError, match=rf"boats\.json\.bz2 cannot be unpacked as bzip2: {message}"):
        read_source(path if by_path else tmp_path)


def test_packed_in_several_streams(tmp_path: Path) -> None:
    whole = json.dumps(BOATS).encode()
    path = tmp_path / "boats.json.bz2"
    path.write_bytes(bz2.compress(whole[:99]) + bz2.compress(whole[99:300]) + bz2.compress(whole[300:]))
    assert read_source(path).row_counts == {"train": 2, "validation": 1}


def test_a_packed_file_that_holds_too_much(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text2sql, "MAX_UNPACKED", 10_000)
    path = tmp_path / "boats.json.bz2"
    path.write_bytes(bz2.compress(json.dumps(BOATS).encode() + b" " * 1_000_000))
    with pytest.raises(SourceError, match=r"it holds more than 10,000 bytes"):
        read_source(path)


@pytest.mark.parametrize("name", [["port0"], {"a": 1}, 5, None], ids=["list", "object", "number", "null"])
def test_a_variable_without_a_name(tmp_path: Path, name: object) -> None:
    faulty = entry(["SELECT 1"], [sentence("one")], [{"name": name, "example": "x"}])
    source = read_source(write(tmp_path, [faulty, *BOATS]))
    assert [(row.row, row.reason) for row in source.left_out] == [(0, "variables not readable")]


def test_variables_that_are_null(tmp_path: Path) -> None:
    plain = entry(["SELECT 1"], [sentence("one") | {"variables": None}]) | {"variables": None}
    assert texts(read_source(write(tmp_path, [plain])), "train") == [("SELECT 1", "one")]


def test_a_value_that_is_a_variable_is_filled_in_once(tmp_path: Path) -> None:
    nested = entry(
        ['SELECT 1 WHERE a = "a0" AND b = "b0"'],
        [sentence("a0 and b0", a0="b0", b0="\\1 a0")],
        [variable("a0"), variable("b0")],
    )
    found = texts(read_source(write(tmp_path, [nested])), "train")
    assert found == [('SELECT 1 WHERE a = "b0" AND b = "\\1 a0"', "b0 and \\1 a0")]


def test_every_row_is_excluded(tmp_path: Path) -> None:
    path = write(tmp_path, [entry(["SELECT 1"], [sentence("one", "exclude")])])
    with pytest.raises(SourceError, match=r"no usable row: there is none in it .*1 rows are not read"):
        read_source(path)
