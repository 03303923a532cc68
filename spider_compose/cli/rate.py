"""`spider-compose rate export|import`: people's ratings, the third figure of the paper's tables."""

from __future__ import annotations

import argparse
import json
import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spider_compose.errors import OutputError, RatingError
from spider_compose.terminal import visible

if TYPE_CHECKING:
    from collections.abc import Iterable

    from spider_compose.evaluation.ratings.predictions import System
    from spider_compose.evaluation.ratings.study import Study


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command and its two halves."""
    parser = commands.add_parser(
        "rate",
        help="have people rate translations: blind sheets out, scores in",
        description="Write blind rating sheets for the predictions of systems, and add up the ratings.",
    )
    halves = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    _add_export(halves)
    _add_import(halves)


def _add_export(halves: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = halves.add_parser(
        "export",
        help="write a blind, shuffled sheet for each rater",
        description="Write FOLDER/sheets with a page and a CSV for each rater, and FOLDER/key.json, which "
        "says whose sentence is whose: keep it from the raters. All systems are rated on the same rows.",
    )
    parser.add_argument(
        "predictions",
        nargs="+",
        metavar="PREDICTIONS.jsonl",
        help="of one system each, which is called like the folder of its predictions.jsonl or like its file",
    )
    parser.add_argument("--out", "--output", metavar="FOLDER", required=True, help="a new folder")
    _add_number(parser, "items", "rows of the test data, each with a sentence per system (default: 100)")
    _add_number(parser, "seed", "of the choice of rows and of the orders (default: 1)")
    _add_number(parser, "raters", "sheets, each in an order of its own (default: 3)")
    _add_number(parser, "repeats", "control: sentences that come twice, unmarked (default: 0)")
    parser.add_argument(
        "--reference",
        action="store_true",
        default=argparse.SUPPRESS,
        help="control: rate the reference questions too, unmarked",
    )
    parser.set_defaults(run=export)


def _add_number(parser: argparse.ArgumentParser, name: str, text: str) -> None:
    parser.add_argument(f"--{name}", metavar="N", type=int, default=argparse.SUPPRESS, help=text)


def _add_import(halves: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = halves.add_parser(
        "import",
        help="add up the ratings of filled sheets",
        description="Read filled sheets, whole or in part, and write the score of each system, its interval "
        "and the raters' agreement.",
    )
    parser.add_argument(
        "sheets", nargs="+", metavar="SHEET.csv", help="from the page or a spreadsheet, a rater each"
    )
    parser.add_argument("--key", metavar="FILE", required=True, help="the key.json that export wrote")
    parser.add_argument(
        "--out", "--output", metavar="FILE", default="ratings.json", help="(default: %(default)s)"
    )
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.set_defaults(run=import_)


def export(arguments: argparse.Namespace) -> int:
    """Read predictions, blind them, write sheets and key."""
    from dataclasses import fields

    from spider_compose.evaluation.ratings.study import StudyOptions, make_study

    names = [field.name for field in fields(StudyOptions) if field.name in arguments]
    options = StudyOptions(**{name: getattr(arguments, name) for name in names})
    folder = _new_folder(arguments.out)
    systems = [_system(Path(path)) for path in arguments.predictions]
    study = make_study(systems, options)
    _write_study(study, folder)
    print(_exported(study, folder))
    return 0


def _new_folder(name: str) -> Path:
    """Refuse a folder that holds anything: sheets in it may have been filled."""
    folder = Path(name)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise OutputError(
            f"{folder} is there already, and ratings of its sheets need its key. Name a new folder."
        )
    return folder


def _system(path: Path) -> System:
    from spider_compose.evaluation.ratings.predictions import read_system, system_name
    from spider_compose.source.files import SourceFile
    from spider_compose.source.json_text import parse_lines

    return read_system(system_name(path), str(path), parse_lines(SourceFile.read(path, str(path))))


def _write_study(study: Study, folder: Path) -> None:
    from spider_compose.cli.rating_page import render_sheet
    from spider_compose.evaluation.ratings.scale import guidelines_text
    from spider_compose.evaluation.ratings.sheet_csv import write_sheet

    files = {"sheets/guidelines.txt": guidelines_text().encode()}
    for rater in range(1, study.key.options.raters + 1):
        files[f"sheets/rater{rater}.csv"] = write_sheet(study, rater)
        files[f"sheets/rater{rater}.html"] = render_sheet(study, rater).encode(errors="replace")
    files["key.json"] = _json(study.key.to_dict())
    for name, data in files.items():
        _write(folder / name, data)


def _exported(study: Study, folder: Path) -> str:
    key, raters = study.key, study.key.options.raters
    lines = [
        f"systems  {', '.join(key.systems)}",
        f"rows     {study.num_rows:,} of the test data"
        + (f"; {study.not_shared:,} left out that some systems lack" if study.not_shared else ""),
        f"items    {len(key.items):,} to rate, for each of {raters} rater{'s' * (raters > 1)}",
        f"sheets   {folder / 'sheets'}: give each rater one page, or one CSV with the guidelines",
        f"key      {folder / 'key.json'}: keep it from the raters",
    ]
    return "\n".join(lines)


def import_(arguments: argparse.Namespace) -> int:
    """Read filled sheets, add up, write and report."""
    from spider_compose.evaluation.ratings.results import summarize
    from spider_compose.evaluation.ratings.sheet_csv import read_sheet
    from spider_compose.evaluation.ratings.study import Key

    _refuse_input(arguments.out, [arguments.key, *arguments.sheets])
    key = Key.from_dict(_parsed(arguments.key), arguments.key)
    result = summarize(key, [read_sheet(_read(name), name, key) for name in arguments.sheets])
    _write(Path(arguments.out), _json(result))
    if arguments.json:
        print(json.dumps(result, indent=2))
    else:
        print(f"{render(result)}\nwritten    {arguments.out}")
    return 0


def _refuse_input(out: str, inputs: Iterable[str]) -> None:
    """Refuse to write over what people have filled, by whatever name or link it is called."""
    for name in inputs:
        with suppress(OSError):  # what is not there is refused when it is read
            if Path(out).is_file() and os.path.samefile(out, name):
                raise OutputError(
                    f"the ratings would be written over {name}, which they come from. Name another file as "
                    "`--out`."
                )


def render(result: dict[str, Any]) -> str:
    """The ratings for people."""
    systems = {visible(name): system for name, system in result["systems"].items()}
    width = max(len("system"), *map(len, systems))
    lines = [f"{'system':{width}}  human score  95 % interval  mean  rows  ratings"]
    lines += [_system_line(name, system, width) for name, system in systems.items()]
    lines.append("")
    for sheet in result["sheets"]:
        partly = "" if sheet["rated"] == sheet["items"] else " (not finished)"
        mean = "" if sheet["mean"] is None else f", mean {sheet['mean']:.2f}"
        lines.append(f"rater {sheet['rater']:<4} {sheet['rated']} of {sheet['items']} rated{mean}{partly}")
    lines.append(
        f"agreement  Krippendorff's alpha {_number(result['alpha'])} (ordinal), "
        f"{_number(result['alpha_interval'])} (interval)"
    )
    lines += _controls(result["controls"])
    return "\n".join([*lines, f"signature  {result['signature']}"])


def _system_line(name: str, system: dict[str, Any], width: int) -> str:
    if system["mean"] is None:
        return f"{name:{width}}  not rated"
    interval = f"{system['low']:.1f} to {system['high']:.1f}"
    return (
        f"{name:{width}}  {system['percent']:9.1f} %  {interval:>13}  {system['mean']:4.2f}  "
        f"{system['num_items']:4}  {system['num_ratings']:7}"
    )


def _controls(controls: dict[str, Any]) -> list[str]:
    lines = []
    reference, repeats = controls["reference"], controls["repeats"]
    if reference and reference["mean"] is not None:
        lines.append(
            f"reference  {reference['percent']:.1f} % (mean {reference['mean']:.2f}, "
            f"{reference['num_items']} rows): what the questions of the data themselves are given"
        )
    if repeats and repeats["num_pairs"]:
        lines.append(
            f"repeats    {repeats['same']:.0f} % of {repeats['num_pairs']} rated the same again, "
            f"{repeats['mean_difference']:.2f} apart on average"
        )
    return lines


def _number(value: float | None) -> str:
    return "not defined" if value is None else f"{value:.3f}"


def _parsed(name: str) -> object:
    data = _read(name)
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise RatingError(
            f"{name} is not JSON ({error}). Name the key.json that `rate export` wrote."
        ) from None


def _read(name: str) -> bytes:
    try:
        return Path(name).read_bytes()
    except OSError as error:
        raise RatingError(f"cannot read {name}: {error.strerror}. Check the path.") from None


def _json(content: dict[str, Any]) -> bytes:
    return (json.dumps(content, indent=1) + "\n").encode()


def _write(path: Path, data: bytes) -> None:
    from spider_compose.experiments.reports import write_whole

    try:
        if path.is_relative_to("/dev") or (path.exists() and not path.is_file()):
            path.write_bytes(data)  # a pipe or the terminal, such as /dev/stdout
        else:
            write_whole(Path(os.path.realpath(path)), data)  # a link stays one
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror}. Name another place.") from None
