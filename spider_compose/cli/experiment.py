"""`spider-compose experiment run|status|report|cards`: the grid of section 5, and what came out of it."""

from __future__ import annotations

import argparse
import json
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from spider_compose.cli.options import SOURCE_HELP
from spider_compose.errors import OptionError, OutputError
from spider_compose.terminal import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from spider_compose.experiments.cells import Cell
    from spider_compose.experiments.figures import Results
    from spider_compose.experiments.grid import Grid

FAILED = 1

REPORTS = "trainers/reports"
RUNS = "runs"
CARDS = "model_cards"


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "experiment",
        help="train the grid of models, experiments and seeds, and report the paper's tables",
        description="Train a grid of models, experiments and seeds cell by cell, and write the paper's "
        "tables from the reports of the cells.",
    )
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    _add_run(actions)
    _add_status(actions)
    _add_report(actions)
    _add_cards(actions)


def _add_run(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = actions.add_parser(
        "run",
        help="train the cells of a grid in order",
        description="Train the cells of a grid in order, each as a program of its own. A cell that is done "
        "is passed over, one that was stopped or killed goes on from its checkpoint, one that fails is named "
        "and the others go on (exit code 1). Ctrl-C lets running cells save a checkpoint; a second Ctrl-C "
        "does not.",
    )
    _add_grid(parser)
    parser.add_argument("--source", default="bundled", help=f"{SOURCE_HELP} (default: %(default)s)")
    parser.add_argument(
        "--workers", type=_count, default=1, metavar="N", help="cells at a time (default: %(default)s)"
    )
    parser.add_argument(
        "--threads", type=_count, default=1, metavar="N", help="threads of each cell (default: %(default)s)"
    )
    parser.add_argument(
        "--nice",
        type=int,
        choices=range(20),
        default=5,
        metavar="N",
        help="how much cells stand back for other programs, 0 to 19 (default: %(default)s)",
    )
    parser.add_argument(
        "--time-limit",
        type=_minutes,
        metavar="MIN",
        help="stop all after so many minutes; running cells save a checkpoint (default: none)",
    )
    parser.add_argument(
        "--grace",
        type=_minutes,
        default=2.0,
        metavar="MIN",
        help="minutes a stopped cell has for its checkpoint before it is killed (default: %(default)g)",
    )
    parser.set_defaults(run=run)


def _add_status(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = actions.add_parser(
        "status",
        help="how far the cells of a grid are",
        description="Which cells of a grid are done, running (with epoch and BLEU so far), stopped, failed "
        "or waiting.",
    )
    _add_grid(parser)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=status)


def _add_report(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = actions.add_parser(
        "report",
        help="findings and tables from the reports of the cells",
        description="What the paper found and whether it holds here, its tables 9 to 11, error analysis, and "
        "paired significance, from the reports of the cells. Cells without a report are named, and empty.",
    )
    _add_reports(parser)
    parser.add_argument(
        "--ratings",
        metavar="FILE",
        help="ratings.json of `rate import`: fills the human score and the average",
    )
    parser.add_argument("--html", metavar="FILE", help="write one page with pictures and all tables too")
    parser.add_argument("--markdown", metavar="FILE", help="write the tables as Markdown too")
    parser.add_argument(
        "--samples",
        type=_count,
        default=1000,
        metavar="N",
        help="resamples of each paired test (default: %(default)s)",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=report)


def _add_cards(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = actions.add_parser(
        "cards",
        help="model cards from the reports of the cells",
        description="Write a model card for every model and experiment that has a report; every figure on it "
        "comes from the reports.",
    )
    _add_reports(parser)
    parser.add_argument("--ratings", metavar="FILE", help="ratings.json of `rate import`")
    parser.add_argument(
        "--out", default=CARDS, metavar="FOLDER", help="folder of the cards (default: %(default)s)"
    )
    parser.set_defaults(run=cards)


def _add_grid(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "grid", metavar="GRID", help="the grid, a YAML file such as trainers/experiments.yaml"
    )
    parser.add_argument(
        "--runs", default=RUNS, metavar="FOLDER", help="folder of the runs (default: %(default)s)"
    )
    _add_reports(parser)
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="NAME=VALUES",
        help="only cells with these values, such as model=rgt,abs or experiment=compose or seed=1; may be "
        "given again",
    )


def _add_reports(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--reports", default=REPORTS, metavar="FOLDER", help="folder of the reports (default: %(default)s)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Train."""
    _need_posix()
    from spider_compose.experiments.runner import RunOptions, run_cells

    grid, cells = _grid_and_cells(arguments)
    options = RunOptions(
        runs=Path(arguments.runs),
        reports=Path(arguments.reports),
        source=arguments.source,
        workers=arguments.workers,
        threads=arguments.threads,
        nice=arguments.nice,
        time_limit=None if arguments.time_limit is None else 60 * arguments.time_limit,
        grace=60 * arguments.grace,
    )
    try:
        outcome = run_cells(cells, grid.command, options, _say)
    except OSError as error:
        raise OutputError(f"cannot write {error.filename}: {error.strerror}.") from error
    told = f"{len(outcome.done)} of {len(cells)} cells done"
    if outcome.failed:
        told += f", {len(outcome.failed)} failed: {', '.join(outcome.failed)}"
    if outcome.left:
        told += f", {len(outcome.left)} left ({outcome.stopped}); the same command goes on with them"
    _say(told)
    if outcome.stopped == "interrupted":
        raise KeyboardInterrupt
    return FAILED if outcome.failed else 0


def status(arguments: argparse.Namespace) -> int:
    """Say how far the cells are."""
    _need_posix()
    from spider_compose.experiments.status import render, statuses

    _, cells = _grid_and_cells(arguments)
    found = statuses(cells, Path(arguments.runs), Path(arguments.reports))
    if arguments.json:
        print(json.dumps([one.to_dict() for one in found], indent=1, ensure_ascii=False))
    else:
        print(render(found))
    return 0


def report(arguments: argparse.Namespace) -> int:
    """Findings and tables."""
    from spider_compose.experiments.report import ExperimentReport

    found = ExperimentReport(_results(arguments, arguments.samples))
    if arguments.html:
        from spider_compose.cli.experiment_page import render_page

        _write(Path(arguments.html), render_page(found))
    if arguments.markdown:
        _write(Path(arguments.markdown), found.markdown())
    if arguments.json:
        print(json.dumps(found.to_dict(), indent=1, ensure_ascii=False))
    else:
        print("\n".join(map(visible_line, found.text().split("\n"))))
    return 0


def cards(arguments: argparse.Namespace) -> int:
    """Write model cards."""
    from spider_compose.experiments.model_cards import write_cards

    results = _results(arguments)
    try:
        written = write_cards(results, Path(arguments.out))
    except OSError as error:
        raise OutputError(f"cannot write {error.filename}: {error.strerror}.") from error
    for path in written:
        _say(str(path))
    for system in results.rated_without_report:
        print(visible_line(f"rated, but without a report here: {system}"), file=sys.stderr)
    return 0


def _results(arguments: argparse.Namespace, samples: int = 1000) -> Results:
    from spider_compose.experiments.figures import Results, read_ratings
    from spider_compose.experiments.reports import no_report, read_reports

    folder = Path(arguments.reports)
    reports = read_reports(folder)
    if not reports:
        raise no_report(folder)
    ratings = read_ratings(Path(arguments.ratings)) if arguments.ratings else None
    return Results(reports, ratings, samples)


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise OutputError(
            f"cannot write {path}: {error.strerror}. Name a file in a folder that exists."
        ) from error


def _grid_and_cells(arguments: argparse.Namespace) -> tuple[Grid, Sequence[Cell]]:
    from spider_compose.experiments.grid import read_grid

    grid = read_grid(arguments.grid)
    conditions: dict[str, list[str]] = {}
    for given in arguments.only:
        name, equals, values = given.partition("=")
        if not equals or not values:
            raise OptionError(f"`only` must be NAME=VALUES, such as model=rgt, but got {given!r}.")
        conditions.setdefault(name.strip(), []).extend(value.strip() for value in values.split(","))
    return grid, grid.only(conditions)


def _say(line: str) -> None:
    print(visible_line(line), flush=True)


def visible_line(line: str) -> str:
    """A line whose spaces stay and whose steering characters do not."""
    return "".join(character if character == " " else visible(character) for character in line.expandtabs())


def _need_posix() -> None:
    if sys.platform == "win32":
        raise OptionError("`run` and `status` lock cells as Linux and macOS do; they do not work on Windows.")


def _count(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number, 1 or more, but got {text!r}")
    return int(text)


def _minutes(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value >= 0):
        raise argparse.ArgumentTypeError(f"expected minutes, 0 or more, but got {text!r}")
    return value
