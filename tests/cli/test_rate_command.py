"""`spider-compose rate`: from predictions to ratings.json, and what it refuses."""

from __future__ import annotations

import csv
import errno
import io
import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from spider_compose.cli.rate import render
from spider_compose.evaluation.ratings.study import StudyOptions

Cli = Callable[..., Any]
RUNS = ("rgt-compose-seed1", "abs-compose-seed1")


@pytest.fixture
def predictions(tmp_path: Path) -> list[Path]:
    """Two runs over ten rows."""
    files = []
    for run in RUNS:
        rows = [
            {
                "id": f"r{row}",
                "db_id": "zoo",
                "query": f"SELECT {row}",
                "question": f"q{row}",
                "prediction": f"{run} {row}",
            }
            for row in range(10)
        ]
        file = tmp_path / "runs" / run / "predictions.jsonl"
        file.parent.mkdir(parents=True)
        file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        files.append(file)
    return files


def fill(sheet: Path, rate: Callable[[dict[str, str]], str], to: Path) -> Path:
    """Fill a sheet like a spreadsheet with semicolons."""
    rows = list(csv.DictReader(io.StringIO(sheet.read_bytes().decode("utf-8-sig"), newline="")))
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]), delimiter=";")
    writer.writeheader()
    writer.writerows({**row, "rating": rate(row)} for row in rows)
    to.write_text(out.getvalue(), encoding="utf-8-sig", newline="")
    return to


def test_round_trip(cli: Cli, predictions: list[Path], tmp_path: Path) -> None:
    out = tmp_path / "study"
    result = cli(
        "rate",
        "export",
        *predictions,
        "--out",
        out,
        "--items",
        8,
        "--raters",
        2,
        "--repeats",
        2,
        "--reference",
    )
    assert result.code == 0, result.err
    assert "items    26 to rate, for each of 2 raters" in result.out
    assert sorted(path.name for path in (out / "sheets").iterdir()) == [
        "guidelines.txt",
        *("rater1.csv", "rater1.html", "rater2.csv", "rater2.html"),
    ]
    filled = [
        fill(
            out / "sheets" / "rater1.csv",
            lambda row: "5" if "rgt" in row["sentence"] else "2",
            tmp_path / "1.csv",
        ),
        fill(
            out / "sheets" / "rater2.csv",
            lambda row: "4" if "rgt" in row["sentence"] else "",
            tmp_path / "2.csv",
        ),
    ]
    file = tmp_path / "ratings.json"
    result = cli("rate", "import", *filled, "--key", out / "key.json", "--out", file)
    assert result.code == 0, result.err
    ratings = json.loads(file.read_text("utf-8"))
    rgt, other = (ratings["systems"][run] for run in RUNS)
    assert (rgt["mean"], rgt["percent"], rgt["num_items"], rgt["num_ratings"]) == (4.5, 87.5, 8, 16)
    assert (other["mean"], other["percent"], other["num_items"], other["num_ratings"]) == (2, 25, 8, 8)
    assert ratings["raters"] == 2
    assert "rgt-compose-seed1       87.5 %" in result.out
    assert "(not finished)" in result.out and "rater 1    26 of 26 rated, mean" in result.out
    again = cli("rate", "import", *filled, "--key", out / "key.json", "--out", file, "--json")
    assert json.loads(again.out) == ratings


def test_same_inputs_same_bytes(cli: Cli, predictions: list[Path], tmp_path: Path) -> None:
    for name in ("a", "b"):
        assert cli("rate", "export", *predictions, "--out", tmp_path / name).code == 0
    files = [path.relative_to(tmp_path / "a") for path in (tmp_path / "a").rglob("*") if path.is_file()]
    assert len(files) == 8
    for file in files:
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()


def test_only_the_key_knows_the_systems(cli: Cli, predictions: list[Path], tmp_path: Path) -> None:
    for file, run in zip(predictions, RUNS, strict=True):
        file.write_text(file.read_text("utf-8").replace(f'"{run} ', '"said '), encoding="utf-8")
    assert cli("rate", "export", *predictions, "--out", tmp_path / "study").code == 0
    for path in (tmp_path / "study" / "sheets").iterdir():
        assert not [run for run in RUNS if run in path.read_text("utf-8")]
    assert RUNS[0] in (tmp_path / "study" / "key.json").read_text("utf-8")


def test_a_folder_with_sheets_is_not_touched(cli: Cli, predictions: list[Path], tmp_path: Path) -> None:
    folder = tmp_path / "study"
    assert cli("rate", "export", *predictions, "--out", folder).code == 0
    filled = folder / "sheets" / "rater1.csv"
    filled.write_text("precious", encoding="utf-8")
    result = cli("rate", "export", *predictions, "--out", folder)
    assert (result.code, filled.read_text("utf-8")) == (2, "precious")
    assert "is there already" in result.err


def test_surrogates_and_signs_are_written(cli: Cli, predictions: list[Path], tmp_path: Path) -> None:
    file = predictions[0]
    file.write_text(
        file.read_text("utf-8").replace("rgt-compose-seed1 1", r"\ud800 \u0000 x"), encoding="utf-8"
    )
    assert cli("rate", "export", file, "--out", tmp_path / "study").code == 0


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "no such file"),
        ("", "is empty"),
        ("{", "predictions.jsonl, line 1, character"),
        ("[1]", "line 1: expected an object"),
        ('{"id": "1"}', "line 1: `db_id` must be a text, but got the fields ['id']"),
        (
            '{"id": 1, "db_id": "a", "query": "b", "question": "c", "prediction": "d"}',
            "line 1: `id` must be a text, but got 1",
        ),
        (
            '{"id": "1", "db_id": "a", "query": "b", "question": "c", "prediction": "d"}\n' * 2,
            "line 2: the id '1' stands twice",
        ),
    ],
    ids=["missing", "empty", "no JSON", "list", "field", "type", "twice"],
)
def test_bad_predictions(cli: Cli, tmp_path: Path, content: str | None, says: str) -> None:
    file = tmp_path / "predictions.jsonl"
    if content is not None:
        file.write_text(content, encoding="utf-8")
    result = cli("rate", "export", file, "--out", tmp_path / "study")
    assert (result.code, result.out) == (2, "")
    assert says in result.err
    assert not (tmp_path / "study").exists()


def test_bad_imports(cli: Cli, predictions: list[Path], tmp_path: Path) -> None:
    folder = tmp_path / "study"
    assert cli("rate", "export", *predictions, "--out", folder).code == 0
    sheet, key, out = folder / "sheets" / "rater1.csv", folder / "key.json", tmp_path / "ratings.json"
    (tmp_path / "no.json").write_text("{", encoding="utf-8")
    (tmp_path / "deep.json").write_text("[" * 100_000, encoding="utf-8")
    for sheets, key_file, says in [
        ([sheet], key, "no rating in"),
        ([tmp_path / "nowhere.csv"], key, "cannot read"),
        ([sheet], tmp_path / "nowhere.json", "spider-compose: cannot read"),
        ([sheet], tmp_path / "no.json", "is not JSON"),
        ([sheet], tmp_path / "deep.json", "is not JSON"),
        ([sheet], tmp_path, "spider-compose: cannot read"),
        ([folder / "sheets" / "rater1.html"], key, "row 1: expected the columns sheet, item, rating"),
    ]:
        result = cli("rate", "import", *sheets, "--key", key_file, "--out", out)
        assert (result.code, result.out, says in result.err) == (2, "", True), result.err
    assert not out.exists(), "without ratings there is no result"


@pytest.fixture
def filled(cli: Cli, predictions: list[Path], tmp_path: Path) -> tuple[Path, Path]:
    """A filled sheet, and its key."""
    folder = tmp_path / "study"
    assert cli("rate", "export", *predictions, "--out", folder).code == 0
    return fill(
        folder / "sheets" / "rater1.csv", lambda row: "4", tmp_path / "filled.csv"
    ), folder / "key.json"


@pytest.mark.parametrize("called", ["itself", "dotted", "link", "hard link"])
@pytest.mark.parametrize("place", [0, 1], ids=["sheet", "key"])
def test_ratings_are_not_written_over_what_they_come_from(
    cli: Cli, filled: tuple[Path, Path], tmp_path: Path, place: int, called: str
) -> None:
    sheet, key = filled
    before, out = filled[place].read_bytes(), filled[place]
    if called == "dotted":
        out = out.parent / ".." / out.parent.name / out.name
    elif called != "itself":
        out = tmp_path / "ratings.json"
        if called == "link":
            out.symlink_to(filled[place])
        else:
            out.hardlink_to(filled[place])
    result = cli("rate", "import", sheet, "--key", key, "--out", out)
    assert (result.code, result.out) == (2, "")
    assert f"would be written over {filled[place]}" in result.err
    assert filled[place].read_bytes() == before


def test_ratings_are_written_whole_or_not(
    cli: Cli, filled: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sheet, key = filled
    out = tmp_path / "ratings.json"
    out.write_text("those before", encoding="utf-8")
    link = tmp_path / "link.json"
    link.symlink_to(out)

    def half(path: Path, data: bytes) -> None:
        with path.open("wb") as file:
            file.write(data[: len(data) // 2])
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "write_bytes", half)
        result = cli("rate", "import", sheet, "--key", key, "--out", link)
    assert result.code == 2 and f"cannot write {link}: No space left" in result.err
    assert out.read_text("utf-8") == "those before"
    assert not list(tmp_path.glob("*.tmp")) and not list(tmp_path.glob(".*.tmp"))
    assert cli("rate", "import", sheet, "--key", key, "--out", link).code == 0
    assert link.is_symlink() and json.loads(out.read_text("utf-8"))["raters"] == 1


def test_ratings_go_through_a_pipe(filled: tuple[Path, Path]) -> None:
    """`/dev/stdout` is written to, not replaced by a file."""
    sheet, key = filled
    command = [sys.executable, "-m", "spider_compose", "rate", "import", str(sheet), "--key", str(key)]
    done = subprocess.run([*command, "--out", "/dev/stdout"], capture_output=True, text=True, check=True)
    assert json.JSONDecoder().raw_decode(done.stdout)[0]["raters"] == 1


def test_every_option_has_a_flag_that_repeats_its_default(cli: Cli) -> None:
    text = " ".join(cli("rate", "export", "--help").out.split())
    for field in fields(StudyOptions):
        assert f"--{field.name}" in text
        if field.type == "int":
            assert f"(default: {field.default})" in text.split(f"--{field.name} N ")[-1][:120]


def test_a_system_that_nobody_rated_has_no_number() -> None:
    empty = dict.fromkeys(("mean", "percent", "low", "high")) | {"num_items": 0, "num_ratings": 0}
    controls = {"reference": None, "repeats": None}
    result = {"systems": {"rgt": empty}, "sheets": [], "alpha": None, "alpha_interval": None}
    text = render({**result, "controls": controls, "signature": "s"})
    assert "rgt     not rated" in text and "alpha not defined" in text
