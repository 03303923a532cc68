from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spider_compose.errors import SourceError
from spider_compose.sql.schema import Column, Schema, Table, readable_name

ENTRY: dict[str, Any] = {
    "db_id": "zoo",
    "table_names_original": ["Animal", "Keeper"],
    "table_names": ["animal", "keeper"],
    "column_names_original": [[-1, "*"], [0, "ID"], [0, "Nm"], [1, "ID"], [1, "animalID"]],
    "column_names": [[-1, "*"], [0, "id"], [0, "Name"], [1, "keeper id"], [1, ""]],
    "column_types": ["text", "number", "text", "number", "number"],
    "primary_keys": [1, 3],
    "foreign_keys": [[4, 1]],
}


@pytest.mark.parametrize(
    ("name", "words"),
    [
        pytest.param("Home_Town", "home town", id="underscore"),
        pytest.param("__id__", "id", id="underscores-around"),
        pytest.param("homeTown", "home town", id="camel-case"),
        pytest.param("HomeTown", "home town", id="pascal-case"),
        pytest.param("HTTPServer", "http server", id="acronym-then-word"),
        pytest.param("countryISOCode", "country iso code", id="acronym-inside"),
        pytest.param("GDP", "gdp", id="acronym-alone"),
        pytest.param("userIDs", "user ids", id="plural-acronym"),
        pytest.param("URLsAndMore", "urls and more", id="plural-acronym-inside"),
        pytest.param("UseStop", "use stop", id="capital-before-se-is-no-plural"),
        pytest.param("Q4Sales", "q 4 sales", id="digit-inside"),
        pytest.param("address2", "address 2", id="digit-at-end"),
        pytest.param("18_49_Rating", "18 49 rating", id="digits-alone"),
        pytest.param("Größe", "größe", id="umlaut-is-no-case-change"),
        pytest.param("ÉtatCivil", "état civil", id="accented-capital"),
        pytest.param("cafe\u0301Name", "café name", id="accent-as-mark"),
        pytest.param("名前", "名前", id="no-case-script"),
        pytest.param("हिन्दी_नाम", "हिन्दी नाम", id="vowel-signs"),
        pytest.param("customer-id (new)", "customer id new", id="signs"),
        pytest.param("first name", "first name", id="space"),
        pytest.param("aB", "a b", id="single-letters"),
        pytest.param("%", "%", id="signs-alone-stay"),
        pytest.param("", "", id="empty"),
    ],
)
def test_readable_name(name: str, words: str) -> None:
    assert readable_name(name) == words


@given(st.text(max_size=30))
def test_readable_name_is_lower_and_single_spaced(name: str) -> None:
    words = readable_name(name)
    assert words == words.lower()
    if any(letter.isalnum() for letter in name):
        assert words.split(" ") == words.split()


@given(st.lists(st.from_regex(r"[a-z]{2,8}", fullmatch=True), min_size=1, max_size=4))
def test_readable_name_undoes_every_joining(words: list[str]) -> None:
    expected = " ".join(words)
    assert readable_name("_".join(words)) == expected
    assert readable_name("".join(word.capitalize() for word in words)) == expected


def test_entry() -> None:
    assert Schema.from_tables_json(ENTRY) == Schema(
        "zoo",
        (
            Table("Animal", "animal", (Column("ID", "id", "number", True), Column("Nm", "name"))),
            Table(
                "Keeper",
                "keeper",
                (Column("ID", "keeper id", "number", True), Column("animalID", "animal id", "number")),
            ),
        ),
        ((("Keeper", "animalID"), ("Animal", "ID")),),
    )


def test_words_ignore_case_and_split_unknown_names() -> None:
    schema = Schema.from_tables_json(ENTRY)
    assert schema.table_words("ANIMAL") == "animal"
    assert schema.table_words("FoodStock") == "food stock"
    assert schema.column_words("id") == {"id", "keeper id"}
    assert schema.column_words("shoeSize") == {"shoe size"}
    assert Schema("none").column_words("Home_Town") == {"home town"}


def test_optional_fields_and_keys_of_several_columns() -> None:
    entry = {key: value for key, value in ENTRY.items() if key not in ("column_types", "foreign_keys")}
    schema = Schema.from_tables_json(entry | {"primary_keys": [[1, 2]]})
    assert [column.is_primary_key for column in schema.tables[0].columns] == [True, True]
    assert {column.type for table in schema.tables for column in table.columns} == {"text"}
    assert schema.foreign_keys == ()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        pytest.param({"db_id": None}, "db_id must be a non-empty text", id="no-db_id"),
        pytest.param({"db_id": " "}, "db_id must be a non-empty text", id="blank-db_id"),
        pytest.param({"table_names": None}, "table_names is missing", id="field-missing"),
        pytest.param({"table_names": "animal"}, "table_names must be a list, but got str", id="not-a-list"),
        pytest.param(
            {"table_names": ["a"]}, "table_names must have 2 entries, but has 1", id="too-few-names"
        ),
        pytest.param({"table_names": ["a", 5]}, "must hold texts, but got 5", id="name-not-text"),
        pytest.param({"column_names": [[-1, "*"]]}, "must have 5 entries, but has 1", id="too-few-columns"),
        pytest.param(
            {"column_types": ["text"] * 6}, "column_types must have 5 entries, but has 6", id="too-many-types"
        ),
        pytest.param(
            {"column_names_original": [[-1, "*"], [2, "a"]]}, "one of 2 tables", id="table-out-of-range"
        ),
        pytest.param({"column_names_original": [[-2, "a"]]}, "one of 2 tables", id="table-below-minus-one"),
        pytest.param({"column_names_original": ["ID"]}, r"must hold \[table index, name\]", id="not-a-pair"),
        pytest.param({"primary_keys": [5]}, "primary_keys: 5 must be the index", id="key-out-of-range"),
        pytest.param({"foreign_keys": [[4, 0]]}, "foreign_keys: 0 must be the index", id="key-on-star"),
        pytest.param({"foreign_keys": [[4, -1]]}, "foreign_keys: -1 must be the index", id="key-negative"),
        pytest.param({"foreign_keys": [[4, True]]}, "foreign_keys: True must be", id="key-not-a-number"),
        pytest.param({"foreign_keys": [4]}, "pairs of column indices, but got 4", id="key-not-a-pair"),
    ],
)
def test_wrong_entry(change: dict[str, Any], message: str) -> None:
    with pytest.raises(SourceError, match=message):
        Schema.from_tables_json(deepcopy(ENTRY) | change)


def test_entry_that_is_no_object() -> None:
    with pytest.raises(SourceError, match="a schema must be an object, but got list"):
        Schema.from_tables_json(["zoo"])  # type: ignore[arg-type]
