"""The rows of a dataset config, with what reads them needs and a signature of what they say."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from spider_compose.evaluation.items import COLUMNS
from spider_compose.sql.schema import Schema

Row = dict[str, Any]
Rows = list[Row]


@dataclass(frozen=True)
class ConfigData:
    """A config of the dataset, built from one source.

    Attributes:
        parts: rows by split; a split without rows is empty.
        schemas: by database; empty where the source has none.
        signature: source, config and a hash of all rows.
    """

    parts: Mapping[str, Rows]
    schemas: Mapping[str, Schema]
    signature: str
    dialect: str = "sqlite"


def read_config(config: str, source: str, options: Mapping[str, Any]) -> ConfigData:
    """Build a config, or take it from the cache of `datasets`.

    Args:
        options: further options of `load_dataset("spider_compose", ...)`, such as `dialect`.

    Raises:
        SourceError: the source is missing, cut short or has the wrong columns.
        OptionError: an option of the source is outside its range.
    """
    from spider_compose.dataset.builder import SpiderCompose
    from spider_compose.dataset.configs import SPLITS

    builder = SpiderCompose(config_name=config, source=source, **options)
    builder.download_and_prepare()
    loaded = builder.as_dataset()
    parts: dict[str, Rows] = {name: [] for name in SPLITS}  # a dataset leaves out splits without rows
    parts |= {
        name: part.select_columns([c for c in COLUMNS if c in part.column_names]).to_list()
        for name, part in loaded.items()
    }
    read = builder.config.read_source()
    signature = f"{read.release or read.name}/{config}@{_digest(parts)}"
    return ConfigData(parts, read.schemas, signature, builder.config.dialect)


def sample(rows: Rows, size: int, seed: int) -> Rows:
    """`size` rows in their order, or all of them."""
    if size >= len(rows):
        return rows
    return [rows[place] for place in sorted(random.Random(seed).sample(range(len(rows)), size))]


def _digest(parts: Mapping[str, Rows]) -> str:
    """A short hash of what the rows say: the same rows, however they were made, have the same."""
    text = json.dumps(
        {
            part: [[row["db_id"], row["query"], row["question"]] for row in rows]
            for part, rows in parts.items()
        },
        sort_keys=True,
    )
    return sha256(text.encode()).hexdigest()[:12]
