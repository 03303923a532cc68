"""A log that `datasets` reads: of the Hub, a folder of data files, or one that `save_to_disk` wrote."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from spider_compose.errors import MissingExtraError, SpiderComposeError, choose
from spider_compose.stef.monitoring.formats import RawRow


def dataset_rows(name: str, config: str | None, split: str) -> Iterator[RawRow]:
    """The rows of a dataset, streamed where it is not on this machine.

    Args:
        name: of a dataset on the Hub, or a folder.
        config: which of its configurations, where it has several.
        split: which of its splits.

    Raises:
        MissingExtraError: `datasets` is not installed.
        SpiderComposeError: the dataset cannot be read.
    """
    try:
        import datasets
    except ImportError as error:
        raise MissingExtraError(
            "reading a dataset needs datasets: pip install 'spider-compose[data]'"
        ) from error
    try:
        rows: Any
        if _saved(Path(name)):
            rows = datasets.load_from_disk(name)
            if isinstance(rows, dict):
                rows = rows[choose("--split", split, sorted(rows))]
        else:
            rows = datasets.load_dataset(name, config, split=split, streaming=True)
        for number, values in enumerate(rows, start=1):
            yield RawRow(number, values)
    except SpiderComposeError:
        raise
    except Exception as error:  # the library's own errors have no common family
        raise SpiderComposeError(
            f"cannot read the dataset {name!r} (config {config!r}, split {split!r}): "
            f"{type(error).__name__}: {str(error)[:300]}"
        ) from error


def _saved(folder: Path) -> bool:
    return (folder / "state.json").is_file() or (folder / "dataset_dict.json").is_file()
