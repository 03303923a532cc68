"""The options that name a judge, shared by the commands that ask one."""

from __future__ import annotations

import argparse
import sys
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from spider_compose.stef.judges.budget import Budget
    from spider_compose.stef.judges.protocol import Judge
    from spider_compose.stef.judges.rules import RulesJudge

# Seconds between two lines of progress.
EVERY = 5.0

# Option -> name in the judge's document.
_FIELDS = {
    "judge_model": "model",
    "judge_url": "base_url",
    "judge_prompt": "prompt",
    "calibration": "calibration",
    "concurrency": "concurrency",
}


def add_judge_arguments(command: argparse.ArgumentParser) -> None:
    """The options of the judge."""
    command.add_argument(
        "--judge",
        default="rules",
        help="rules, hub, transformers, vote or cascade, or a JSON file that describes one (default: rules)",
    )
    command.add_argument("--judge-model", metavar="NAME", help="model of the judge")
    command.add_argument(
        "--judge-url",
        metavar="URL",
        help="address of an OpenAI-compatible server, as http://localhost:8000/v1",
    )
    command.add_argument("--judge-prompt", metavar="PATH", help="a prompt file of your own")
    command.add_argument("--calibration", metavar="PATH", help="written by `stef calibrate`")
    command.add_argument("--concurrency", type=int, metavar="N", help="requests at a time")
    command.add_argument(
        "--judge-cache",
        metavar="PATH",
        help="keep answers in this file; a run that is killed goes on from it",
    )
    command.add_argument("--max-requests", type=int, metavar="N", help="most requests to a model")
    command.add_argument("--max-tokens", type=int, metavar="N", help="most tokens, read and written")
    command.add_argument(
        "--prices", nargs=2, type=float, default=(0.0, 0.0), metavar=("READ", "WRITTEN"),
        help="price of a million tokens, to tell what it costs",
    )  # fmt: skip
    command.add_argument("--no-progress", action="store_true", help="no lines of progress on stderr")


def document(options: argparse.Namespace) -> dict[str, Any]:
    """The judge's document that the options describe.

    An option of a model goes to the model of a cascade.
    """
    from spider_compose.stef.judges.configuration import read_document

    found = read_document(options.judge)
    given = {name: getattr(options, option) for option, name in _FIELDS.items()}
    given = {name: value for name, value in given.items() if value is not None}
    if found.get("judge") == "cascade" and given:
        found["then"] = {"judge": "hub", **found.get("then", {}), **given}
    elif found.get("judge") == "vote" and given:
        found["of"] = {"judge": "hub", **found.get("of", {}), **given}
    else:
        found |= given
    return found


def judge(options: argparse.Namespace, rules: RulesJudge) -> tuple[Judge, Budget]:
    """The judge the options describe, and what it spends."""
    from spider_compose.stef.judges.budget import Budget, Prices
    from spider_compose.stef.judges.cache import AnswerCache
    from spider_compose.stef.judges.configuration import Shared, make_judge

    budget = Budget(options.max_requests, options.max_tokens, Prices(*options.prices))
    cache = AnswerCache(options.judge_cache) if options.judge_cache else None
    progress = None if options.no_progress else Progress()
    return make_judge(document(options), Shared(rules, budget, cache, progress)), budget


class Progress:
    """Says now and then, on stderr, how far a judge is and what it has cost."""

    def __init__(self) -> None:
        self._next = time.monotonic() + EVERY

    def __call__(self, budget: Budget) -> None:
        """After each row."""
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + EVERY
            print(f"stef: judge: {budget.line()}", file=sys.stderr, flush=True)
