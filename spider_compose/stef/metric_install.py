"""Make `evaluate.load("stef")` find the metric without a network.

`evaluate` looks for a name on the Hub and then, also without one, among the modules it has cached. Installing
writes the metric's shell there, in the place of a module loaded before.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path

from spider_compose.errors import MissingExtraError

SHELL = "stef.py"


def shell() -> Path:
    """The metric's shell: in an installed package beside this module, in a checkout under `metrics/`.

    Raises:
        MissingExtraError: neither is there.
    """
    packaged = Path(__file__).parent / "evaluate_module" / SHELL
    checkout = Path(__file__).parents[2] / "metrics" / "stef" / SHELL
    for path in (packaged, checkout):
        if path.is_file():
            return path
    raise MissingExtraError(f"the metric's shell is missing: expected {packaged}; reinstall spider-compose")


def modules_cache(environment: Mapping[str, str] | None = None) -> Path:
    """Where `evaluate` 0.4 caches modules: HF_MODULES_CACHE, or modules/ in HF_HOME or the cache folder."""
    env = os.environ if environment is None else environment
    cache = env.get("XDG_CACHE_HOME", "~/.cache")
    home = Path(os.path.expanduser(env.get("HF_HOME", os.path.join(cache, "huggingface"))))
    return Path(env.get("HF_MODULES_CACHE", home / "modules"))


def install_metric(cache: Path | None = None) -> Path:
    """Write the metric's shell into the modules cache; the file written.

    Args:
        cache: the modules cache, if it is not where the environment says.
    """
    source = shell().read_bytes()
    target = (cache or modules_cache()) / "evaluate_modules" / "metrics" / "evaluate-metric--stef"
    # The newest folder of 64 hexadecimal digits is the one that is loaded.
    folder = target / hashlib.sha256(source).hexdigest()
    folder.mkdir(parents=True, exist_ok=True)
    for package in (target.parent.parent, target.parent, target, folder):
        (package / "__init__.py").touch()
    (folder / SHELL).write_bytes(source)
    os.utime(folder / SHELL)
    return folder / SHELL
