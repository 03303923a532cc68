"""`stef fit FILE`: fit the judge's weights to your own labelled queries."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from spider_compose.errors import SpiderComposeError
from spider_compose.stef.cli import rows as row_files


def register(commands: Any) -> None:
    """Add the command."""
    command = commands.add_parser(
        "fit", help="fit the judge's weights to labelled queries", description=__doc__
    )
    command.add_argument(
        "file", metavar="FILE", help="as for `stef score`, with a column `correct` (true or false)"
    )
    row_files.add_arguments(command)
    command.add_argument(
        "--dialects",
        nargs="+",
        default=["auto"],
        help="dialects to read the rows in; the weight of a row is shared among them",
    )
    command.add_argument(
        "--strength", type=float, help="pull of the prior weights (default: that of the table)"
    )
    command.add_argument(
        "--table", metavar="PATH", help="weights document with the priors (default: the package's)"
    )
    command.add_argument("--output", metavar="PATH", required=True, help="where to write the weights")
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Fit and write the weights."""
    from spider_compose.stef.fit import examples, fingerprint, fit, table, weights

    labelled = labelled_rows(options)
    found = examples(labelled, options.dialects)
    document = fit(found, table(options.table), options.strength)
    document["fitted_on"] = {
        "rows": len(labelled),
        "examples": len(found),
        "fingerprint": fingerprint(labelled),
        "dialects": options.dialects,
    }
    Path(options.output).write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    print(f"stef: {len(found)} examples; judge signature rules-{weights(document).digest}", file=sys.stderr)
    return 0


def labelled_rows(options: argparse.Namespace) -> list[dict[str, Any]]:
    """The rows of the file, with their labels.

    Raises:
        SpiderComposeError: a row has no label, or all have the same.
    """
    rows = list(row_files.read_rows(options, Path(options.file)))
    missing = next((n for n, row in enumerate(rows) if _label(row) is None), None)
    if not rows or missing is not None:
        raise SpiderComposeError(
            f"{options.file}: expected a column `correct` of true or false, but row {missing or 0} has none"
        )
    labelled = [{**row, "correct": _label(row)} for row in rows]
    if len({row["correct"] for row in labelled}) < 2:
        raise SpiderComposeError(f"{options.file}: expected right and wrong queries, but got only one kind")
    return labelled


def _label(row: dict[str, Any]) -> bool | None:
    value = row.get("correct")
    if isinstance(value, bool):
        return value
    return {"true": True, "1": True, "false": False, "0": False}.get(str(value).strip().lower())
