"""A rater's sheet as CSV: written so that spreadsheets show it rightly, read as spreadsheets give it back.

A cell that a spreadsheet would take for a formula gets an apostrophe in front, which reading takes away.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass

from spider_compose.errors import RatingError
from spider_compose.evaluation.ratings.scale import HIGHEST, LOWEST
from spider_compose.evaluation.ratings.study import Key, Study

COLUMNS = ("sheet", "item", "rating", "database", "sql", "sentence")
_NEEDED = COLUMNS[:3]

# What opens a formula, in its wide forms too, and what spreadsheets drop before looking for one. The
# apostrophe is here so that a text's own is told from ours.
_FORMULA = re.compile(r"\s*[=+\-@＝＋－＠']")

_WHOLE_NUMBER = re.compile(r"0*(\d)(?:[.,]0*)?")  # a spreadsheet may make 4 into 4.0 or 4,0


@dataclass(frozen=True)
class ReturnedSheet:
    """The ratings of one rater.

    Attributes:
        file: it came from.
        rater: 1 and up.
        ratings: by item code, those that were given.
    """

    file: str
    rater: int
    ratings: dict[str, int]


def protect(text: str) -> str:
    """The text as a cell that no spreadsheet runs.

    >>> protect("=1+1"), protect("names of singers")
    ("'=1+1", 'names of singers')
    """
    return f"'{text}" if _FORMULA.match(text) else text


def unprotect(cell: str) -> str:
    """The text that `protect` was given."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell, 1) else cell


def write_sheet(study: Study, rater: int) -> bytes:
    """One rater's sheet: UTF-8 with a byte order mark, by which Excel knows it, and every cell in quotes."""
    file = io.StringIO()
    writer = csv.writer(file, quoting=csv.QUOTE_ALL)  # a comma or semicolon opens no cell of its own
    writer.writerow(COLUMNS)
    for item in study.key.order(rater):
        text = study.texts[item.code]
        cells = (study.key.sheet(rater), item.code, "", text.db_id, text.query, text.sentence)
        writer.writerow(map(protect, cells))
    return codecs.BOM_UTF8 + file.getvalue().encode(errors="replace")


def read_sheet(data: bytes, file: str, key: Key) -> ReturnedSheet:
    """Read a sheet, from the page or out of a spreadsheet.

    Comma, semicolon or tab between cells, any line ends, any order of rows and columns, columns of one's own,
    and missing rows are all read; texts are not compared.

    Args:
        file: for messages.

    Raises:
        RatingError: no such sheet, a sheet of another study, an unknown or repeated item, or a value outside
            the scale; with file and row as a spreadsheet counts them.
    """
    known = {item.code for item in key.items}
    sheets = {key.sheet(rater): rater for rater in range(1, key.options.raters + 1)}
    ratings: dict[str, int] = {}
    seen: dict[str, int] = {}
    sheet: str | None = None
    for row, cells in _rows(data, file):
        where = f"{file}, row {row}"
        if cells["sheet"] not in sheets:
            raise RatingError(
                f"{where}: expected one of the sheets {key.sheet(1)} to {key.sheet(key.options.raters)}, but "
                f"got {cells['sheet']!r:.40}. Is this the key of another study?"
            )
        if sheet not in (None, cells["sheet"]):
            raise RatingError(
                f"{where}: this is a row of the sheet {cells['sheet']}, those above are of {sheet}. Give "
                "every rater's sheet as a file of its own."
            )
        sheet, code = cells["sheet"], cells["item"]
        if code not in known:
            raise RatingError(f"{where}: the sheet has no item {code!r:.40}. Write the codes as they were.")
        if code in seen:
            raise RatingError(f"{where}: the item {code} stands in row {seen[code]} already. Keep one.")
        seen[code] = row
        rating = _rating(cells["rating"], where)
        if rating is not None:
            ratings[code] = rating
    if sheet is None:
        raise RatingError(f"{file} has no rows below its header. Name a sheet with ratings.")
    return ReturnedSheet(file, sheets[sheet], ratings)


def _rating(cell: str, where: str) -> int | None:
    if not cell:
        return None
    found = _WHOLE_NUMBER.fullmatch(cell)
    if found is None or not LOWEST <= int(found[1]) <= HIGHEST:
        raise RatingError(
            f"{where}: a rating must be a whole number from {LOWEST} to {HIGHEST}, or empty for none, but "
            f"got {cell!r:.40}."
        )
    return int(found[1])


def _rows(data: bytes, file: str) -> Iterator[tuple[int, dict[str, str]]]:
    """Row numbers as a spreadsheet counts them, and the needed cells by column; no empty rows."""
    text = _decode(data)
    if text.lower().startswith("sep="):  # Excel's own line, which it does not count
        text = text.partition("\n")[2]
    delimiter, places = _header(text, file)
    records = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    row = 0
    try:
        for row, record in enumerate(records, start=1):
            cells = [unprotect(cell.strip()) for cell in record]
            if row > 1 and any(cells):
                yield row, {name: cells[at] if at < len(cells) else "" for name, at in places.items()}
    except csv.Error as error:
        raise RatingError(
            f"{file}, below row {row}: not readable as CSV ({error}). Save the sheet as CSV again."
        ) from None


def _decode(data: bytes) -> str:
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", errors="replace")  # Excel's "Unicode text"
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")  # Excel's plain CSV: all that is read here is ASCII


def _header(text: str, file: str) -> tuple[str, dict[str, int]]:
    """The delimiter under which the first row has the needed columns, and their places."""
    first = (text.splitlines() or [""])[0]
    for delimiter in ",;\t":
        names = [cell.strip().lower() for cell in next(csv.reader([first], delimiter=delimiter), [])]
        if set(_NEEDED) <= set(names):
            if twice := [name for name in _NEEDED if names.count(name) > 1]:
                raise RatingError(
                    f"{file}, row 1: the column {twice[0]} is there {names.count(twice[0])} times. Keep one, "
                    "and give the others another name."
                )
            return delimiter, {name: names.index(name) for name in _NEEDED}
    raise RatingError(
        f"{file}, row 1: expected the columns {', '.join(_NEEDED)}, but got {first!r:.120}. Name a CSV file "
        "that the page or a spreadsheet has saved."
    )
