"""Whose a run's folder is: one run's, with the settings and on the pairs it was begun with."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from spider_compose.errors import OutputError
from spider_compose.inference.report import REPORT_FORMAT, write_whole
from spider_compose.training.checkpoints import last_checkpoint
from spider_compose.training.settings import TrainingSettings

_SETTINGS = "settings.json"
_ANOTHER = "Choose another folder, or remove this one."


@contextmanager
def held(folder: Path, is_main_process: bool) -> Iterator[None]:
    """Make the folder, and keep other programs from training in it; the system lets go at any end.

    Args:
        is_main_process: of several processes of one run the first one holds it.

    Raises:
        OutputError: another program trains here, or the folder cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = (folder / "train.lock").open("a")
    except OSError as error:
        raise OutputError(f"{folder} cannot be written: {error.strerror}. Choose another folder.") from None
    with file:
        if is_main_process and sys.platform != "win32":
            import fcntl

            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise OutputError(
                    f"another program is training in {folder}. Wait for it, or choose another folder."
                ) from None
            except OSError:
                pass  # a file system without locks
        yield


def check_settings(folder: Path, settings: TrainingSettings) -> None:
    """Refuse a folder with a run of other settings.

    A run that failed before its first checkpoint holds no place.

    Raises:
        OutputError: the folder holds a run with other settings.
    """
    stamp, asked = folder / _SETTINGS, _as_json(settings.to_dict())
    if stamp.exists() and ((folder / "report.json").exists() or last_checkpoint(folder / "checkpoints")):
        given = _read(stamp)
        if given is None:
            raise OutputError(f"{stamp} cannot be read, so that it is not known what was begun. {_ANOTHER}")
        moved = sorted(name for name in {*asked, *given} if given.get(name) != asked.get(name))
        if moved:
            raise OutputError(f"{folder} holds a run with other settings ({', '.join(moved)}). {_ANOTHER}")


def finished(folder: Path, settings: TrainingSettings, data: str) -> dict[str, Any] | None:
    """The report of a finished run of these settings on these pairs, or None where there is something to do.

    A report that was cut short is written anew, and so is one whose model or predictions are gone.

    Args:
        data: signature of the pairs.

    Raises:
        OutputError: the report is another's, or of another version; or what belongs to it is gone for good.
    """
    path = folder / "report.json"
    report = _read(path)
    if report is None:
        return None
    if report.get("format") != REPORT_FORMAT:
        raise OutputError(
            f"{path}: expected a report of format {REPORT_FORMAT}, but got {report.get('format')!r}. "
            f"{_ANOTHER}"
        )
    dataset = report.get("dataset")
    found = {
        **{name: report.get(name) for name in ("model", "experiment", "seed", "training")},
        "data": dataset.get("signature") if isinstance(dataset, dict) else None,
    }
    asked = {
        "model": settings.model,
        "experiment": settings.experiment,
        "seed": settings.seed,
        "training": _as_json(settings.to_dict(source=False)),
        "data": data,
    }
    moved = [name for name in asked if found[name] != asked[name]]
    if moved:
        raise OutputError(f"{path} is the report of another run: {', '.join(moved)} differ. {_ANOTHER}")
    lost = [name for name in ("model", "predictions.jsonl") if not (folder / name).exists()]
    if lost and last_checkpoint(folder / "checkpoints") is None:
        raise OutputError(
            f"{folder} holds a report, but not {' and '.join(lost)}, nor a checkpoint to make it from. Put "
            "back what is gone, or remove the report to train anew."
        )
    return None if lost else report


def check_begun(
    folder: Path, settings: TrainingSettings, going_on: bool, is_main_process: bool, **now: Any
) -> None:
    """Refuse to go on with what no setting says but moves every number; then write down what is begun.

    Args:
        settings: of the run, written down as well.
        going_on: whether there is a checkpoint; without one, anything may be begun.
        now: signature of the data, number of processes.

    Raises:
        OutputError: one of them is another than when the run was begun, or it is not known any more.
    """
    path = folder / "begun.json"
    before = _read(path) if going_on else now
    if before is None:
        raise OutputError(f"{path} cannot be read, so that it is not known what was begun. {_ANOTHER}")
    for name, value in now.items():
        if before.get(name, value) != value:
            raise OutputError(
                f"{folder} holds a run with other {name}: {before[name]} then, {value} now. {_ANOTHER}"
            )
    if is_main_process:
        write_whole(folder / _SETTINGS, json.dumps(settings.to_dict(), indent=1) + "\n")
        write_whole(path, json.dumps(now, indent=1) + "\n")


def _as_json(content: dict[str, Any]) -> dict[str, Any]:
    """The same as it comes back from a file: lists for tuples."""
    read: dict[str, Any] = json.loads(json.dumps(content))
    return read


def _read(path: Path) -> dict[str, Any] | None:
    """A JSON object, or None where there is none that can be read."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) else None
