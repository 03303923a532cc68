"""Reading back what `spider-compose build` and `spider-compose split` have written."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spider_compose.errors import MissingExtraError, OptionError, SourceError, choose

if TYPE_CHECKING:
    from spider_compose.composition.build import BuildOptions

_ALIGNMENT = "alignment"
_CONTENT = ("signature", "configs", "source", "options", "files", "counts", "left_out")


@dataclass(frozen=True)
class BuiltFolder:
    """A whole built folder.

    Attributes:
        path: where it is.
        content: its signature.json.
        options: those it was built with.
    """

    path: Path
    content: dict[str, Any]
    options: BuildOptions

    @property
    def signature(self) -> str:
        """Everything that moved its rows."""
        return str(self.content["signature"])

    @property
    def source_name(self) -> str:
        """What it was built from."""
        source = self.content["source"]
        return str(source["release"] or source["name"])

    @property
    def default_config(self) -> str:
        """The config that `load_dataset` takes when none is named."""
        return next(iter(self.content["configs"]))

    @property
    def pair_configs(self) -> list[str]:
        """The configs whose rows are pairs, in the order they were written."""
        return [name for name in self.content["configs"] if name != _ALIGNMENT]

    def config_signature(self, config: str) -> str:
        """Everything that moved a config's rows."""
        return str(self.content["configs"][config])

    def alignments(self) -> dict[str, list[dict[str, Any]]]:
        """Rows of the config `alignment` by part of the source.

        Raises:
            SourceError: the folder has no such config, or is damaged.
        """
        from spider_compose.dataset.features import ALIGNMENT_COLUMNS

        if _ALIGNMENT not in self.content["configs"]:
            raise SourceError(
                f"{self.path} has no alignments, only {', '.join(self.pair_configs)}. Name a folder "
                "written by build, or a source."
            )
        return self._rows(_ALIGNMENT, [column.name for column in ALIGNMENT_COLUMNS])

    def pairs(self, columns: list[str], config: str | None = None) -> dict[str, list[dict[str, Any]]]:
        """Some columns of a config's pairs by part of the dataset.

        Args:
            config: one of `pair_configs`; None for the default.

        Raises:
            OptionError: the folder has no such config.
            SourceError: it is damaged.
        """
        config = self.default_config if config is None else choose("config", config, self.pair_configs)
        return self._rows(config, columns)

    def _rows(self, config: str, columns: list[str]) -> dict[str, list[dict[str, Any]]]:
        prefix, ending = f"{config}/", ".parquet"
        splits = [
            name[len(prefix) : -len(ending)]
            for name in self.content["files"]
            if name.startswith(prefix) and name.endswith(ending)
        ]
        order = ("train", "validation", "test")
        return {split: self._read(f"{prefix}{split}{ending}", columns) for split in order if split in splits}

    def _read(self, name: str, columns: list[str]) -> list[dict[str, Any]]:
        try:
            import pyarrow as arrow
            from pyarrow import parquet
        except ImportError as error:
            raise MissingExtraError(
                f"reading {self.path} needs pyarrow: pip install 'spider-compose[data]'"
            ) from error
        try:
            data = (self.path / name).read_bytes()
        except OSError as error:
            raise SourceError(f"cannot read {self.path / name}: {error.strerror}. Build it again.") from None
        if hashlib.sha256(data).hexdigest() != self.content["files"][name]:
            raise SourceError(f"{self.path / name} has changed since it was built. Build it again.")
        file = parquet.ParquetFile(arrow.BufferReader(data))
        missing = [column for column in columns if column not in file.schema_arrow.names]
        if missing:
            raise _other_version(self.path / name, missing)
        # Threads of Arrow that are just being started when the program ends abort it.
        rows: list[dict[str, Any]] = file.read(columns=columns, use_threads=False).to_pylist()
        return rows


def built_folder(name: str) -> BuiltFolder | None:
    """The built folder of that name; None where it is something else, such as a source.

    Raises:
        SourceError: the folder was built by another version that wrote other files.
    """
    from spider_compose.dataset.hub_folder import FORMAT, SIGNATURE_FILE

    path = Path(os.path.expanduser(name))  # Path.expanduser raises where there is no such user
    try:
        content = json.loads((path / SIGNATURE_FILE).read_text(encoding="utf-8"))
        found = content["format"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    if found != FORMAT:
        raise SourceError(f"{path} has the format {found!r}; this version reads {FORMAT!r}. Build it again.")
    missing = [key for key in _CONTENT if key not in content]
    if missing:
        raise _other_version(path / SIGNATURE_FILE, missing)
    return BuiltFolder(path, content, _options(path, content["options"]))


def _options(path: Path, content: dict[str, Any]) -> BuildOptions:
    from spider_compose.composition.build import BuildOptions

    try:
        return BuildOptions(**content)
    except (TypeError, OptionError) as error:
        raise SourceError(f"{path} was built by another version ({error}). Build it again.") from None


def _other_version(path: Path, missing: list[str]) -> SourceError:
    return SourceError(
        f"{path} was written by another version: it lacks {', '.join(missing)}. Build it again."
    )
