"""`stef prompt`: what a judge that reads is asked about one row."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from spider_compose.errors import OptionError


def register(commands: Any) -> None:
    """Add the command."""
    command = commands.add_parser(
        "prompt", help="show what a model is asked about one row", description=__doc__
    )
    command.add_argument("--question", required=True, help="the user's question")
    command.add_argument("--enriched-question", help="the agent's enriched question")
    command.add_argument("--sql", required=True, help="the query; - reads it from stdin")
    command.add_argument("--rules", metavar="PATH", help="application rules (R_app), a JSON file")
    command.add_argument("--dialect", help="SQL dialect (default: that of the rules, or auto)")
    command.add_argument(
        "--prompt", default="verdict", metavar="NAME", help="verdict, label, or a file of your own"
    )
    command.add_argument("--json", action="store_true", help="print the messages as JSON")
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the messages; the nonce is another one each time."""
    from dataclasses import replace

    from spider_compose.stef.judges.prompt import Prompt, TooLongError
    from spider_compose.stef.judges.protocol import Request
    from spider_compose.stef.rules import ApplicationRules
    from spider_compose.stef.score import Scorer

    rules = ApplicationRules.read(options.rules)
    if options.dialect:
        rules = replace(rules, dialect=options.dialect)
    prompt = Prompt.read(options.prompt)
    sql = sys.stdin.read() if options.sql == "-" else options.sql
    row = {"question": options.question, "enriched_question": options.enriched_question, "sql": sql}
    (explained,) = Scorer(rules).explain_rows([row])
    if explained.pair is None:
        raise OptionError(f"no judge is asked about this row: {explained.result.message}")
    request = Request(options.question, options.enriched_question, sql, explained.pair)
    try:
        messages = prompt.render(request)
    except TooLongError as error:
        raise OptionError(f"no judge is asked about this row: {error}") from error
    if options.json:
        print(json.dumps({"version": prompt.version, "messages": messages}, indent=2, ensure_ascii=False))
    else:
        print(f"prompt {prompt.version}")
        for message in messages:
            print(f"\n[{message['role']}]\n{message['content']}")
    return 0
