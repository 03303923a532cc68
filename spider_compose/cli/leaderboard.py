"""`spider-compose leaderboard`: the leaderboard on this machine, on local reports."""

from __future__ import annotations

import argparse
import sys
import threading
import warnings
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from spider_compose.errors import MissingExtraError, OptionError
from spider_compose.terminal import visible

if TYPE_CHECKING:
    from spider_compose.hub.board_reading import BoardSource

REPORTS = "trainers/reports"
HOST = "127.0.0.1"


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "leaderboard",
        help="open the leaderboard in a browser, on local reports",
        description="Serve the leaderboard on this machine: scores of experiment 1 and 2 and their "
        "difference, from reports of `experiment run` and `evaluate`. Reports that come while it runs are "
        "shown when the page is loaded again. Ctrl-C ends it.",
        epilog="Needs pip install 'spider-compose[spaces]'.",
    )
    parser.add_argument(
        "--reports", default=REPORTS, metavar="DIR", help="folder of reports (default: %(default)s)"
    )
    parser.add_argument(
        "--benchmark",
        metavar="OWNER/NAME",
        help="also show the models on the Hub that have results of this dataset's benchmark",
    )
    parser.add_argument(
        "--endpoint", metavar="URL", help="of the Hub (default: HF_ENDPOINT, or huggingface.co)"
    )
    parser.add_argument(
        "--port", type=int, metavar="N", help="of this machine (default: the first free one from 7860 on)"
    )
    parser.add_argument("--open", action="store_true", help="open a browser")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Serve until Ctrl-C."""
    if arguments.port is not None and not 1 <= arguments.port <= 65535:
        raise OptionError(f"`port` must be 1 to 65535, but got {arguments.port}.")
    for name in ("gradio", "numpy", "huggingface_hub"):
        if find_spec(name) is None:
            raise MissingExtraError(
                f"the leaderboard needs {name}, which is not installed: pip install 'spider-compose[spaces]'"
            )
    from spider_compose.hub.board_reading import BoardSource, check_benchmark_name

    if arguments.benchmark:
        check_benchmark_name(arguments.benchmark)
    source = BoardSource(Path(arguments.reports).expanduser(), arguments.benchmark, arguments.endpoint)
    board = source.board()  # a folder that is not there is told before Gradio is loaded
    for one in board.left_out:
        print(visible(f"left out: {one.where}: {one.reason}"), file=sys.stderr)
    _serve(source, arguments.port, open_browser=arguments.open)
    return 0


def _serve(source: BoardSource, port: int | None, *, open_browser: bool) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of Gradio's own libraries
        from spider_compose.hub.spaces.leaderboard.app import LOOK, build
    app = build(source)
    try:
        _, url, _ = app.launch(
            server_name=HOST, server_port=port, inbrowser=open_browser, prevent_thread_lock=True, quiet=True,
            share=False, **LOOK,
        )  # fmt: skip
    except OSError as error:
        raise OptionError(
            f"port {port} of this machine is taken: name another (--port), or none."
            if port
            else f"the leaderboard cannot be served: {error}."
        ) from error
    try:
        print(f"{url}  (Ctrl-C ends it)", flush=True)
        threading.Event().wait()
    finally:
        app.close(verbose=False)
