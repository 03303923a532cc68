"""Reading back what `spider-compose build` has written."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spider_compose.errors import MissingExtraError, OptionError, SourceError

if TYPE_CHECKING:
    from spider_compose.composition.build import BuildOptions

_ALIGNMENT = "alignment"
_CONTENT = ("signature", "source", "options", "files", "counts", "left_out")


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

    def alignments(self) -> dict[str, list[dict[str, Any]]]:
        """Rows of the config `alignment` by part of the source."""
        from spider_compose.dataset.features import ALIGNMENT_COLUMNS

        return self._rows(_ALIGNMENT, [column.name for column in ALIGNMENT_COLUMNS])

    def pairs(self, columns: list[str]) -> dict[str, list[dict[str, Any]]]:
        """Some columns of the recombined pairs by part of the dataset."""
        from dataclasses import asdict

        from spider_compose.dataset.configs import composed_config

        spec, _ = composed_config(asdict(self.options))
        return self._rows(spec.name, columns)

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
        rows: list[dict[str, Any]] = file.read(columns=columns).to_pylist()
        return rows


def built_folder(name: str) -> BuiltFolder | None:
    """The built folder of that name; None where it is something else, such as a source.

    Raises:
        SourceError: the folder was built by another version that wrote other files.
    """
    from spider_compose.dataset.hub_folder import FORMAT, SIGNATURE_FILE

    path = Path(name).expanduser()
    try:
        content = json.loads((path / SIGNATURE_FILE).read_text(encoding="utf-8"))
        found = content["format"]
    except (OSError, ValueError, KeyError, TypeError):
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
