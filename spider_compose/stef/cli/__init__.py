"""The command line of the score: `stef score`, `explain`, `prompt`, `calibrate`, `fit` and others.

JSON goes to stdout, everything for people to stderr; bad input ends with its message and exit code 2.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from spider_compose import __version__
from spider_compose.errors import SpiderComposeError
from spider_compose.stef.cli import (
    calibrate,
    compare,
    explain,
    fit,
    install_metric,
    monitor,
    prompt,
    report,
    sample_log,
    score,
    validate_rules,
)
from spider_compose.terminal import drop_what_is_left, survive_any_output, visible, visible_lines

COMMANDS = (
    score,
    report,
    compare,
    monitor,
    explain,
    prompt,
    validate_rules,
    calibrate,
    fit,
    install_metric,
    sample_log,
)


def parser() -> argparse.ArgumentParser:
    """The parser of all commands."""
    top = argparse.ArgumentParser(prog="stef", description="Score SQL that an agent wrote for a question.")
    top.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    commands = top.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for command in COMMANDS:
        command.register(commands)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit code."""
    survive_any_output()
    options = parser().parse_args(arguments)
    try:
        code: int = options.run(options)
        sys.stdout.flush()
    except SpiderComposeError as error:
        print(f"stef: {visible_lines(str(error))}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("stef: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        drop_what_is_left()  # the reader has enough ("stef score ... | head")
        return 141
    except OSError as error:
        place = f"cannot open {error.filename}" if error.filename else "cannot read or write"
        print(f"stef: {visible(place, 500)}: {error.strerror or error}", file=sys.stderr)
        if not error.filename:
            drop_what_is_left()  # standard output on a full disk, say
        return 2
    return code
