"""`stef install-metric`: let `evaluate.load("stef")` find the metric, without a network too."""

from __future__ import annotations

import argparse
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
    """Install the metric's shell."""
    from spider_compose.stef.metric_install import install_metric

    print(install_metric(options.cache))
    return 0
