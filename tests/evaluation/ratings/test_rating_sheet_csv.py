"""Sheets as CSV: out as spreadsheets want them, in as spreadsheets give them back."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spider_compose.errors import RatingError
from spider_compose.evaluation.ratings.predictions import System
from spider_compose.evaluation.ratings.sheet_csv import protect, read_sheet, unprotect, write_sheet
from spider_compose.evaluation.ratings.study import Study, StudyOptions, make_study

SENTENCES = ["=1+1", 'says "so"; and\nmore', "Größe – 漢字", ""]


@pytest.fixture(scope="module")
def study(system: Callable[..., System]) -> Study:
    return make_study([system("rgt", SENTENCES)], StudyOptions(raters=2))


@pytest.fixture(scope="module")
def codes(study: Study) -> list[str]:
    return [item.code for item in study.key.order(1)]


def table(study: Study, ratings: list[str], codes: list[str]) -> list[list[str]]:
    sheet = study.key.sheet(1)
    return [
        ["sheet", "item", "rating"],
        *([sheet, code, rating] for code, rating in zip(codes, ratings, strict=True)),
    ]


def text_of(rows: list[list[str]], delimiter: str = ",", end: str = "\n") -> str:
    return "".join(delimiter.join(row) + end for row in rows)


def test_a_sheet_holds_the_texts_and_no_system(study: Study) -> None:
    data = write_sheet(study, 1)
    header = b'\xef\xbb\xbf"sheet","item","rating","database","sql","sentence"\r\n'
    assert data.startswith(header), "a mark for Excel, all cells in quotes, ends of line as in RFC 4180"
    rows = list(csv.DictReader(io.StringIO(data.decode("utf-8-sig"), newline="")))
    assert sorted(unprotect(row["sentence"]) for row in rows) == sorted(SENTENCES)
    assert {row["rating"] for row in rows} == {""}
    assert b"rgt" not in data and b"question" not in data
    assert [row["item"] for row in rows] == [item.code for item in study.key.order(1)]


def test_an_unfilled_sheet_reads_as_no_ratings(study: Study) -> None:
    for rater in (1, 2):
        found = read_sheet(write_sheet(study, rater), "x.csv", study.key)
        assert (found.rater, found.ratings) == (rater, {})


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=["LF", "CRLF", "CR"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_forms_of_csv(study: Study, codes: list[str], delimiter: str, end: str, encoding: str) -> None:
    data = text_of(table(study, ["5", "", "1", "3"], codes), delimiter, end).encode(encoding)
    found = read_sheet(data, "x.csv", study.key)
    assert found.ratings == {codes[0]: 5, codes[2]: 1, codes[3]: 3}


@pytest.mark.parametrize(
    "change",
    [
        lambda rows: [rows[0], *reversed(rows[1:])],
        lambda rows: [row[::-1] for row in rows],
        lambda rows: [[f" {cell} " for cell in row] for row in rows],
        lambda rows: [[*row, "my own note"] for row in rows],
        lambda rows: [["SHEET", "Item", "Rating"], *rows[1:]],
        lambda rows: [*rows, ["", "", ""], []],
        lambda rows: [["sep=,"], *rows],
        lambda rows: [[cell if cell != "5" else "5.0" for cell in row] for row in rows],
        lambda rows: [[f'"{cell}"' for cell in row] for row in rows],
    ],
    ids=["sorted", "columns", "spaces", "notes", "capitals", "empty rows", "sep", "decimals", "quotes"],
)
def test_what_spreadsheets_and_people_do(
    study: Study, codes: list[str], change: Callable[[list[list[str]]], list[list[str]]]
) -> None:
    rows = change(table(study, ["5", "4", "3", "5"], codes))
    found = read_sheet(text_of(rows).encode(), "x.csv", study.key)
    assert found.ratings == dict(zip(codes, [5, 4, 3, 5], strict=True))


def test_an_edited_sheet_in_a_western_code_page(study: Study, codes: list[str]) -> None:
    rows = [["sheet", "item", "rating", "sentence"], [study.key.sheet(1), codes[0], "4", "Größe"]]
    assert read_sheet(text_of(rows, ";").encode("cp1252"), "x.csv", study.key).ratings == {codes[0]: 4}


def test_missing_rows_are_not_rated(study: Study, codes: list[str]) -> None:
    rows = table(study, ["5", "4", "3", "5"], codes)[:2]
    assert read_sheet(text_of(rows).encode(), "x.csv", study.key).ratings == {codes[0]: 5}


@pytest.mark.parametrize(
    "rating", ["0", "6", "55", "-1", "4.5", "good", "n/a", "4 5", "1e0", "²", "9" * 5000]
)
def test_a_value_outside_the_scale(study: Study, codes: list[str], rating: str) -> None:
    rows = table(study, ["5", "", rating, "x"], codes)
    with pytest.raises(RatingError, match=r"x\.csv, row 4: a rating must be a whole number from 1 to 5"):
        read_sheet(text_of(rows).encode(), "x.csv", study.key)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda rows: [*rows, [rows[1][0], "i9", "3"]], r"row 6: the sheet has no item 'i9'"),
        (lambda rows: [*rows, rows[2]], r"row 6: the item i\d stands in row 3 already"),
        (
            lambda rows: [rows[0], ["s00000000-r1", *rows[1][1:]]],
            r"row 2: expected one of the sheets .*-r1 to .*-r2",
        ),
        (lambda rows: [rows[0], [rows[1][0][:-1] + "3", *rows[1][1:]]], r"row 2: expected one of the sheets"),
        (
            lambda rows: [*rows[:3], [rows[3][0][:-1] + "2", *rows[3][1:]]],
            r"row 4: this is a row of the sheet .*-r2",
        ),
        (
            lambda rows: [["sheet", "item", "score"], *rows[1:]],
            r"row 1: expected the columns sheet, item, rating",
        ),
        (
            lambda rows: [[*row[:3], "rating" if at == 0 else "", *row[3:]] for at, row in enumerate(rows)],
            r"row 1: the column rating is there 2 times",
        ),
        (lambda rows: rows[:1], r"has no rows below its header"),
        (lambda rows: [], r"row 1: expected the columns"),
        (lambda rows: [*rows[:2], ['"' + rows[2][0], *rows[2][1:]]], r"below row 2: not readable as CSV"),
    ],
    ids=[
        "item",
        "twice",
        "study",
        "rater",
        "mixed",
        "columns",
        "two ratings",
        "no rows",
        "empty",
        "open quote",
    ],
)
def test_refusals(
    study: Study, codes: list[str], change: Callable[[list[list[str]]], list[list[str]]], says: str
) -> None:
    rows = change(table(study, ["5", "4", "3", "5"], codes))
    with pytest.raises(RatingError, match=rf"^x\.csv.*{says}"):
        read_sheet(text_of(rows).encode(), "x.csv", study.key)


@pytest.mark.parametrize(
    "text", ["=1+1", "+1", "-1", "@x", "\t=1", "  =1", "\r=1", "＝1", "'=1", "'quoted'", "''", "'"]
)
def test_formulas_are_protected(text: str) -> None:
    assert protect(text) == f"'{text}"


@pytest.mark.parametrize("text", ["", "names", "a=b", "SELECT -1", "5", "it's"])
def test_other_texts_stay_as_they_are(text: str) -> None:
    assert protect(text) == text


@given(st.text(st.sampled_from("'=+-@ \t\nab＝"), max_size=6))
def test_protection_is_taken_away_again(text: str) -> None:
    assert unprotect(protect(text)) == text


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(study: Study, data: bytes) -> None:
    try:
        read_sheet(data, "x.csv", study.key)
    except RatingError as error:
        assert str(error).startswith("x.csv")
