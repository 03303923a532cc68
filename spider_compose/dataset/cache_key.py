"""The key under which `datasets` caches the rows of a config: everything that moves them, and nothing else.

Kept out of `builder.py`, in whose namespace datasets replaces `open`, `pathlib.Path` and `os.path` by its own
for streaming.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from spider_compose.composition.build import code_hash
from spider_compose.dataset.configs import ConfigSpec
from spider_compose.dataset.tables import SplitOptions, table_settings
from spider_compose.source.records import Source


def cache_key(
    spec: ConfigSpec,
    source: Source,
    given: Mapping[str, Any],
    splits: SplitOptions,
    features: Mapping[str, Any] | None = None,
) -> str:
    """Hash over all that moves the rows of a config.

    Two folders with the same files give the same key, whatever they are called.

    Args:
        spec: the config.
        source: its fingerprint counts.
        given: build options given by hand; those that the config does not look at do not count.
        splits: likewise.
        features: other features that the caller asked for, as a dict.

    Returns:
        16 hexadecimal digits.
    """
    moves: dict[str, Any] = {
        "fingerprint": source.fingerprint,
        "strict": spec.build_options(given).strict,  # rows built without it may have left some out
        "code": [code_hash(), _dataset_code_hash()],
        "features": features,
        "settings": table_settings(spec, replace(source, name=""), given, splits),
    }
    # `repr`: a value that JSON does not know, such as numpy's integers, is refused where it is used.
    return hashlib.sha256(json.dumps(moves, sort_keys=True, default=repr).encode()).hexdigest()[:16]


@cache
def _dataset_code_hash() -> str:
    """Hash of the code of this package and of the splits; that of the pipeline comes from there."""
    digest = hashlib.sha256()
    here = Path(__file__).parent
    for path in (*sorted(here.glob("*.py")), *sorted((here.parent / "splits").glob("*.py"))):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()
