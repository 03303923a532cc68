"""The specification of questions: every rule by an example, and its switch."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("spacy")

from spider_compose.language import load_model
from spider_compose.stef.specification.items import Specification
from spider_compose.stef.specification.question import RULES, number_word, read_question


def read(text: str, definitions: str = "", disabled: tuple[str, ...] = ()) -> Specification:
    return read_question(load_model()(text), definitions, disabled)


def shown(spec: Specification) -> list[str]:
    return [p.span.of(spec.text) for p in spec.projections]


PROJECTIONS = [
    ("Show name, country and age for all singers.", ["name", "country", "age"]),
    ("What are the names of all songs?", ["names"]),
    ("Which owner has the most dogs? List the last name.", ["last name"]),
    ("How many singers do we have?", ["many singers"]),
    ("Show titles of songs and names of singers.", ["titles", "names"]),
    ("List the title along with the year.", ["title", "year"]),
]


@pytest.mark.parametrize(("text", "expected"), PROJECTIONS, ids=[t for t, _ in PROJECTIONS])
def test_projections(text: str, expected: list[str]) -> None:
    assert shown(read(text)) == expected


FILTERS = [
    ("Who lives in 'Oslo'?", [("=", ("oslo",), "string")]),
    ("List cars with more than 5 doors.", [(">", ("5",), "number")]),
    ("List cars with at least two doors.", [(">=", ("2",), "number")]),
    ("List cars with no more than 1,000 miles.", [("<=", ("1000",), "number")]),
    ("List flats that cost 100 or more.", [(">=", ("100",), "number")]),
    ("Orders between 10 and 20 dollars.", [("between", ("10", "20"), "number")]),
    ("Orders on October 8, 2019.", [("=", ("2019-10-08",), "date")]),
    ("Orders after 3 May 2020.", [(">", ("2020-05-03",), "date")]),
    ("Orders on 9/14/2019.", [("=", ("2019-09-14",), "date")]),
    ("Orders of the last 30 days.", [("", ("last 30 day",), "relative")]),
    ("Singers from France.", [("", ("france",), "string")]),
    ("Cities with a population over 2 million.", [(">", ("2000000",), "number")]),
    ("Find the state that has exactly 7 rivers.", [("=", ("7",), "number")]),
]


@pytest.mark.parametrize(("text", "expected"), FILTERS, ids=[t for t, _ in FILTERS])
def test_filters(text: str, expected: list[Any]) -> None:
    assert [(f.operator, f.values, f.kind) for f in read(text).filters] == expected


MARKS: list[tuple[str, str, Any]] = [
    ("negations", "List singers who are not French.", ["not"]),
    ("negations", "List shops without employees.", ["without"]),
    ("negations", "List cars with no more than 5 doors.", []),
    ("negations", "Languages other than English.", ["other than"]),
    ("distinct", "How many different countries are there?", ["different"]),
    ("percentages", "What percentage of users are active?", ["percentage"]),
    ("set_operations", "Shops in both Oslo and Bergen.", ["both"]),
]


@pytest.mark.parametrize(("field", "text", "kinds"), MARKS)
def test_marks(field: str, text: str, kinds: list[str]) -> None:
    assert [mark.kind for mark in getattr(read(text), field)] == kinds


@pytest.mark.parametrize(
    ("text", "functions"),
    [
        ("How many songs are there?", ["COUNT"]),
        ("What is the total number of songs?", ["COUNT", "COUNT"]),
        ("Average and maximum age of dogs.", ["AVG", "MAX"]),
        ("What is the total amount?", ["SUM"]),
    ],
)
def test_aggregations(text: str, functions: list[str]) -> None:
    assert [a.function for a in read(text).aggregations] == functions


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("List the top 3 players.", 3),
        ("The five oldest dogs.", 5),
        ("Which three stores have the most visitors?", 3),
        ("List players with at least 3 goals.", None),
        ("Who is the oldest?", None),
    ],
)
def test_top_k(text: str, limit: int | None) -> None:
    found = read(text).limit
    assert (found.count if found else None) == limit


@pytest.mark.parametrize(
    ("text", "direction", "superlative"),
    [
        ("List names in descending order of age.", "desc", False),
        ("List names in alphabetical order.", "asc", False),
        ("List names sorted by age.", None, False),
        ("Prices sorted from highest to lowest.", "desc", False),
        ("Which city has the largest population?", "desc", True),
        ("Which team has the fewest wins?", "asc", True),
    ],
)
def test_order(text: str, direction: str | None, superlative: bool) -> None:
    assert (direction, superlative) in [(o.direction, o.superlative) for o in read(text).order]


def test_grouping() -> None:
    assert read("Average age per country.").grouping
    assert read("Total sales by region.").grouping
    assert not read("Songs sung by singers.").grouping


DEFINITIONS = [
    (" blue eyes refers to colour = 'Blue'", [["colour"]], ("blue",), ()),
    (" A3 contains the data of region", [["3", "a"]], (), ()),
    (" tallest refers to MAX(height_cm);", [["cm", "height"]], (), ("MAX",)),
    (" born after 1980 refers to year(dob) > 1980", [["birth"]], ("1980",), ()),
    (" full name refers to first_name, last_name", [["first", "name"], ["last", "name"]], (), ()),
    (" rate = `Free Meals (K-12)` / `Enrolment`", [["12", "free", "k", "meal"], ["enrolment"]], (), ()),
    (" status = 'C' stands for running", [["status"]], ("c",), ()),
]


@pytest.mark.parametrize(
    ("text", "names", "values", "functions"), DEFINITIONS, ids=[d[0].strip() for d in DEFINITIONS]
)
def test_definitions(
    text: str, names: list[list[str]], values: tuple[str, ...], functions: tuple[str, ...]
) -> None:
    (found,) = read("Which ones?", text).definitions
    assert [sorted(name) for name in found.names] == names
    assert (found.values, found.functions) == (values, functions)


@pytest.mark.parametrize(("words", "expected"), [
    ("two hundred and five dogs", (205, 4)), ("three million", (3_000_000, 2)),
    ("twenty-one", (21, 1)), ("dogs", None),
])  # fmt: skip
def test_number_words(words: str, expected: tuple[int, int] | None) -> None:
    assert number_word(words.split()) == expected


def test_every_rule_has_a_switch() -> None:
    text = (
        "Show the top 3 different names of the 2 largest open shops per city, not in 'Oslo', whose name "
        "starts with the letter K, with more than 5 "
        "and between 7 and 9 employees, opened on 2020-01-02 or in the last 3 weeks by Ada King, both big "
        "and small, the average and percentage, sorted by name."
    )
    definitions = " big refers to size = 'b'"
    whole = read(text, definitions)
    without_effect = [name for name, _ in RULES if read(text, definitions, (name,)) == whole]
    assert without_effect == []


def test_spans_are_characters_of_the_question() -> None:
    text = "How many singers older than 30 come from 'New  York'?"
    spec = read(text)
    assert [f.span.of(text) for f in spec.filters] == ["older than 30", "'New  York'"]
