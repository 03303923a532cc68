"""`stef validate-rules RULES [--queries FILE]`: check application rules; say which never fire."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from spider_compose.stef.cli import rows as row_files


def register(commands: Any) -> None:
    """Add the command."""
    command = commands.add_parser("validate-rules", help="check application rules", description=__doc__)
    command.add_argument("rules", metavar="RULES", help="application rules (R_app), a JSON file")
    command.add_argument("--queries", metavar="FILE", help="a sample of queries: JSON Lines, CSV or Parquet")
    row_files.add_arguments(command)
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Check the rules."""
    from spider_compose.stef.rules import ApplicationRules
    from spider_compose.stef.score import Scorer

    rules = ApplicationRules.read(options.rules)
    Scorer(rules)  # checks the names of dialect and rules
    report: dict[str, Any] = {"valid": True, "rules": rules.digest}
    if options.queries:
        from spider_compose.stef.usage import rule_usage

        usage = rule_usage(rules, row_files.read_rows(options, Path(options.queries)))
        report |= {"fired": usage, "never_fired": [path for path, count in usage.items() if not count]}
        for path in report["never_fired"]:
            print(f"stef: {path} never fires on {options.queries}", file=sys.stderr)
    print(json.dumps(report, indent=2, ensure_ascii=False))
    return 0
