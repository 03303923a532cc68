"""The command line: `spider-compose build|split|inspect|stats|experiment|evaluate|rate|push|leaderboard`.

One file per command, each with `add_parser` (cheap: `--help` imports nothing of the pipeline) and `run`.

Exit codes: 0 done; 1 `--strict` and some rows cannot be used, or a cell of an experiment failed; 2 bad input
or usage, with one message and never a traceback; 130 Ctrl-C; 141 whoever read the output has gone.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from spider_compose import __version__
from spider_compose.cli import build, evaluate, experiment, inspect, leaderboard, push, rate, split, stats
from spider_compose.errors import SpiderComposeError
from spider_compose.terminal import drop_what_is_left, survive_any_output, visible

COMMANDS = (build, split, inspect, stats, experiment, evaluate, rate, push, leaderboard)

BAD_INPUT, INTERRUPTED, NO_READER = 2, 130, 141


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line and return its exit code.

    Args:
        argv: arguments after the program's name; None for those of the process.
    """
    survive_any_output()
    try:
        arguments = _parser().parse_args(argv)
        code: int = arguments.run(arguments)
        sys.stdout.flush()
        return code
    except SystemExit as exit_:  # argparse: 0 after --help and --version, 2 on bad usage
        return exit_.code if isinstance(exit_.code, int) else BAD_INPUT
    except SpiderComposeError as error:
        print(f"spider-compose: {visible(str(error))}", file=sys.stderr)
        return BAD_INPUT
    except KeyboardInterrupt:
        print("spider-compose: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        drop_what_is_left()
        return NO_READER
    except OSError as error:  # standard output on a full disk, say
        print(f"spider-compose: {visible(str(error))}", file=sys.stderr)
        drop_what_is_left()
        return BAD_INPUT


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="spider-compose",
        description="Build SpiderCompose from Spider or any corpus of SQL and questions, and look at it.",
        epilog="exit codes: 0 done, 1 --strict and unusable rows or a failed cell, 2 bad input or usage, "
        "130 Ctrl-C",
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in COMMANDS:
        command.add_parser(commands)
    return parser
