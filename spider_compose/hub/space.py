"""The repositories of the two Spaces: the metric, with a demonstration, and the leaderboard.

The app's files lie in `spaces/stef` and `spaces/leaderboard` beside this module: `app.py`,
`requirements.txt`, and `README.md`, whose YAML header says how the Space runs.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from spider_compose.errors import HubError

SPACES = Path(__file__).parent / "spaces"

_LEFT_OUT = ("__pycache__", "*.pyc", ".*")


def copy_app(name: str, folder: Path, spaces: Path | None = None) -> None:
    """Copy the files of a Space's app.

    Args:
        name: "stef" or "leaderboard".
        folder: where to; it is there.
        spaces: folder of all apps, if it is not the package's.

    Raises:
        HubError: the app is not there.
    """
    source = (spaces or SPACES) / name
    if not (source / "app.py").is_file():
        raise HubError(
            f"the app of the Space is missing: expected {source / 'app.py'}; reinstall spider-compose."
        )
    shutil.copytree(source, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns(*_LEFT_OUT))
