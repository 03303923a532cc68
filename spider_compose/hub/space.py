"""The repositories of the two Spaces: the metric, with a demonstration, and the leaderboard.

The app's files lie in `spaces/stef` and `spaces/leaderboard` beside this module: `app.py`,
`requirements.txt`, and `README.md`, whose YAML header says how the Space runs. What the app imports of the
package is copied beside it, so that the Space installs nothing but packages of PyPI, and shows what the
version computes that has published it.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from spider_compose.errors import HubError

SPACES = Path(__file__).parent / "spaces"

_PACKAGE = Path(__file__).parents[1]
_ROOT = (
    "__init__.py",
    "errors.py",
    "dataset/__init__.py",
    "dataset/registration.py",
    "hub/__init__.py",
    "page",
    "sql",
)
_PARTS = {
    "stef": (*_ROOT, "language.py", "stef", "hub/demonstration.py", "hub/demonstration.css"),
    "leaderboard": (
        *_ROOT, "yaml_file.py", "evaluation", "experiments", "hub/benchmark.py", "hub/eval_results.py",
        "hub/refusals.py", "hub/board.py", "hub/board.css", "hub/board_page.py", "hub/board_reading.py",
        "hub/submission.md",
    ),
}  # fmt: skip
"""What each app imports of the package."""

_LEFT_OUT = ("__pycache__", "*.pyc", ".*")


def copy_app(name: str, folder: Path, spaces: Path | None = None) -> None:
    """Copy the files of a Space's app, and what it needs of the package.

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
    ignored = shutil.ignore_patterns(*_LEFT_OUT)
    shutil.copytree(
        source, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__init__.py", *_LEFT_OUT)
    )
    for part in _PARTS[name]:
        target = folder / _PACKAGE.name / part
        target.parent.mkdir(parents=True, exist_ok=True)
        if (_PACKAGE / part).is_dir():
            shutil.copytree(_PACKAGE / part, target, ignore=ignored)
        else:
            shutil.copyfile(_PACKAGE / part, target)
