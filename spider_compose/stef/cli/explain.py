"""`stef explain`: one query, both specifications, their alignment and every point."""

from __future__ import annotations

import argparse
import io
import json
import sys
from pathlib import Path
from typing import Any

from spider_compose.stef.cli.score import add_scorer_arguments, scorer


def register(commands: Any) -> None:
    """Add the command."""
    command = commands.add_parser("explain", help="explain the score of one query", description=__doc__)
    command.add_argument("--question", required=True, help="the user's question")
    command.add_argument("--enriched-question", help="the agent's enriched question")
    command.add_argument("--sql", required=True, help="the query; - reads it from stdin")
    add_scorer_arguments(command)
    command.add_argument("--html", metavar="PATH", help="write a page with everything marked in the texts")
    command.add_argument("--json", action="store_true", help="print JSON instead of text")
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Explain the query."""
    from spider_compose.stef.explanation import as_html, as_json, as_text

    if isinstance(sys.stdout, io.TextIOWrapper):  # a terminal may lack the letters of a question
        sys.stdout.reconfigure(errors="backslashreplace")
    sql = sys.stdin.read() if options.sql == "-" else options.sql
    row = {"question": options.question, "enriched_question": options.enriched_question, "sql": sql}
    used = scorer(options)
    explained = next(iter(used.explain_rows([row])))
    if options.html:
        page = as_html(explained, row, used.signature)
        Path(options.html).write_text(page, encoding="utf-8", errors="backslashreplace")
    if options.json:
        print(json.dumps({**as_json(explained), "signature": used.signature}, indent=2, ensure_ascii=False))
    else:
        print(as_text(explained, used.signature))
    return 0
