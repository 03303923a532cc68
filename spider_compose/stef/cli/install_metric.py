"""`stef install-metric`: let `evaluate.load("stef")` find the metric, without a network too."""

from __future__ import annotations

import argparse
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any


def register(commands: Any) -> None:
    """Add the command."""
    command = commands.add_parser(
        "install-metric", help='let evaluate.load("stef") find the metric', description=__doc__
    )
    command.add_argument(
        "--cache",
        type=Path,
        metavar="FOLDER",
        help="the modules cache of `evaluate` (default: by HF_MODULES_CACHE, HF_HOME)",
    )
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Install the metric's shell: its path goes to stdout, what comes next to stderr."""
    from spider_compose.stef.metric_install import install_metric

    print(install_metric(options.cache), flush=True)
    where = f"with HF_MODULES_CACHE={options.cache} " if options.cache else ""
    print(f'stef: in Python, {where}evaluate.load("stef") finds the metric, offline too', file=sys.stderr)
    if find_spec("evaluate") is None:
        print(
            "stef: the package `evaluate` is not installed in this environment: "
            "pip install 'spider-compose[metric]'",
            file=sys.stderr,
        )
    return 0
