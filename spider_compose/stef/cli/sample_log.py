"""`stef sample-log OUT.jsonl`: three simulated agents, two months, one gets worse on a known day."""

from __future__ import annotations

import argparse
import json
from typing import Any


def register(commands: Any) -> None:
    """Add the command."""
    command = commands.add_parser(
        "sample-log",
        help="write a log to try the other commands on",
        description="Write a log of three simulated agents, A, B and C, over July and August 2026. B gets "
        "worse on 2026-08-12. The questions are those of the bundled corpus with other values and wordings; "
        "`planted` names what is wrong with a row.",
    )
    command.add_argument("out", metavar="OUT.jsonl", help="the file to write")
    command.add_argument("--rows", type=int, default=3600, help="how many rows (default: 3600)")
    command.add_argument("--seed", type=int, default=1, help="same seed, same bytes (default: 1)")
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write the log."""
    from spider_compose.stef.cli.score import output
    from spider_compose.stef.monitoring.sample.log import sample_rows

    rows = sample_rows(options.rows, options.seed)
    with output(options.out) as out:
        for row in rows:
            print(json.dumps(row, ensure_ascii=False), file=out)
    return 0
