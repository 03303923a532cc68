"""The pairs of an experiment: dataset config -> training, validation and test rows."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass

from spider_compose.errors import SourceError
from spider_compose.inference.data import ConfigData, Rows, read_config, sample
from spider_compose.sql.schema import Schema
from spider_compose.training.settings import EXPERIMENTS, TrainingSettings

# Not the run's seed: runs that differ in their seed are chosen and measured on the same pairs.
_VALIDATION_SEED = 0
# Of Spider's own training databases, the share whose pairs choose the best epoch.
_HELD_OUT = 0.08


@dataclass(frozen=True)
class ExperimentData:
    """What one experiment trains on and is measured by.

    Attributes:
        signature: source, config and everything that moves the rows.
    """

    train: Rows
    validation: Rows
    test: Rows
    schemas: Mapping[str, Schema]
    signature: str
    dialect: str = "sqlite"


def read_data(settings: TrainingSettings) -> ExperimentData:
    """The rows of `settings.experiment`.

    The config "spider" has no test split that anyone may see: its validation split, of other databases, is
    the test, and pairs of 8 % of the training databases choose the best epoch.

    Raises:
        SourceError: the source gives no rows for one of the three parts.
        OptionError: an option of the source is outside its range.
    """
    loaded = _load(settings, settings.config)
    parts, signature = dict(loaded.parts), loaded.signature
    if settings.experiment == "spider":
        parts["test"] = parts["validation"]
        parts["train"], parts["validation"] = _hold_out_databases(parts["train"])
    if settings.experiment == "compose_control":
        kept = len(_load(settings, EXPERIMENTS["compose_no_overlap"]).parts["train"])
        parts["train"] = sample(parts["train"], kept, settings.seed)
        signature += f"+control:{kept}:{settings.seed}"
    validation = parts["validation"]
    if settings.validation_items:
        validation = sample(validation, settings.validation_items, _VALIDATION_SEED)
    data = ExperimentData(
        parts["train"], validation, parts["test"], loaded.schemas, signature, loaded.dialect
    )
    for part in ("train", "validation", "test"):
        if not getattr(data, part):
            raise SourceError(
                f"source {settings.source!r} gives no {part} pairs for experiment {settings.experiment!r}: "
                "it is too small, or no query has enough clauses."
            )
    return data


def _load(settings: TrainingSettings, config: str) -> ConfigData:
    return read_config(config, settings.source, settings.source_options)


def _hold_out_databases(rows: Rows) -> tuple[Rows, Rows]:
    """Rows of most databases, and of a few; of a corpus with one database, some of its rows."""
    if not rows:
        return [], []
    databases = sorted({row["db_id"] for row in rows})
    units = databases if len(databases) > 1 else [row["id"] for row in rows]
    column = "db_id" if len(databases) > 1 else "id"
    number = max(1, round(len(units) * _HELD_OUT))
    held_out = set(random.Random(_VALIDATION_SEED).sample(units, number))
    return (
        [row for row in rows if row[column] not in held_out],
        [row for row in rows if row[column] in held_out],
    )
