"""The command line of the score: `stef score`, `explain`, `prompt`, `calibrate`, `fit` and others.

JSON goes to stdout, everything for people to stderr; bad input ends with its message and exit code 2.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Sequence
from contextlib import suppress

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
    _survive_any_output()
    options = parser().parse_args(arguments)
    try:
        code: int = options.run(options)
        sys.stdout.flush()
    except SpiderComposeError as error:
        # It may quote a file: lines stay, what steers a terminal does not.
        lines = str(error).split("\n")
        print("stef: " + "\n".join(compare.printable(line, 10_000) for line in lines), file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("stef: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        _drop_what_is_left()  # the reader has enough ("stef score ... | head")
        return 141
    except OSError as error:
        place = f"cannot open {error.filename}" if error.filename else "cannot read or write"
        print(f"stef: {compare.printable(place)}: {error.strerror or error}", file=sys.stderr)
        if not error.filename:
            _drop_what_is_left()  # standard output on a full disk, say
        return 2
    return code


def _drop_what_is_left() -> None:
    """What is still in the buffer must not raise again when the interpreter ends."""
    with suppress(OSError, ValueError):  # a stream without a number
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _survive_any_output() -> None:
    """Where a stream is closed (`>&-`), what is written goes nowhere; letters it lacks become escapes."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115 (open as long as the program runs)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
