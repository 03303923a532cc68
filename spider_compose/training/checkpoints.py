"""The checkpoints of a run: which can be gone on from, which stay, and whether there is more to train."""

from __future__ import annotations

import json
import re
import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from transformers import TrainerCallback

from spider_compose.errors import OutputError

STATE = "trainer_state.json"
"""Written last of all: a kill, or a full disk, leaves it missing or cut."""

_NAME = re.compile(r"checkpoint-(\d+)")

_WEIGHTS = ("*.safetensors", "pytorch_model*")
# Without one of them the library goes on in silence, with other losses. DeepSpeed keeps a folder of its own.
_PARTS = (_WEIGHTS, ("optimizer*", "global_step*"), ("scheduler.pt", "global_step*"))


def last_checkpoint(folder: Path) -> Path | None:
    """The newest whole checkpoint in a folder, by its step."""
    whole = {step: path for step, path in _checkpoints(folder) if read_state(path) is not None}
    return whole[max(whole)] if whole else None


def read_state(checkpoint: Path) -> dict[str, Any] | None:
    """The trainer's state in a checkpoint, or None where the checkpoint is not whole."""
    try:
        state = json.loads((checkpoint / STATE).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(state, dict):
        return None
    parts: dict[str, Any] = {"epoch": (int, float), "global_step": int, "log_history": list}
    return state if all(isinstance(state.get(name), kind) for name, kind in parts.items()) else None


def check_whole(checkpoint: Path, processes: int = 1) -> None:
    """Hold a checkpoint that has its state against what else belongs to it: a copy may be filtered or cut.

    Args:
        processes: of the run, each of which has its own random state.

    Raises:
        OutputError: a file is missing or cut.
    """
    random = ["rng_state.pth"] if processes == 1 else [f"rng_state_{rank}.pth" for rank in range(processes)]
    for names in (*_PARTS, *((name,) for name in random)):
        if not any(path for name in names for path in checkpoint.glob(name)):
            raise _damaged(checkpoint, f"{names[0].replace('*', '')} is missing")
    check_files(checkpoint)


def check_files(checkpoint: Path) -> None:
    """See that no file of a checkpoint was cut.

    Raises:
        OutputError: one was, or there are no weights.
    """
    if not any(path for name in _WEIGHTS for path in checkpoint.glob(name)):
        raise _damaged(checkpoint, "model.safetensors is missing")
    for path in sorted(checkpoint.iterdir()):
        # What torch saves is a ZIP file, with its table of contents at the end.
        if path.suffix in (".pt", ".pth") and not zipfile.is_zipfile(path):
            raise _damaged(checkpoint, f"{path.name} was cut")
        if path.suffix == ".safetensors" and not _has_whole_weights(path):
            raise _damaged(checkpoint, f"{path.name} was cut")


def _has_whole_weights(path: Path) -> bool:
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, "pt"):  # reads the head and holds it against the length
            return True
    except (OSError, SafetensorError):
        return False


def _damaged(checkpoint: Path, what: str) -> OutputError:
    return OutputError(
        f"{checkpoint} cannot be gone on from: {what}. Put it back as it was, or remove this checkpoint: the "
        "same command then goes on from the one before it, if there is one, or trains anew."
    )


def trained_epochs(checkpoint: Path, patience: int) -> int | None:
    """How many epochs a training that had stopped early had, or None where it had not.

    One that is killed while it is tested must not train on: the library's loop would add an epoch.

    Args:
        patience: evaluations without a better one that stop it; 0 for never.
    """
    state = read_state(checkpoint) or {}
    held = state.get("stateful_callbacks", {}).get("EarlyStoppingCallback", {})
    waited = held.get("attributes", {}).get("early_stopping_patience_counter", 0)
    return round(state["epoch"]) if patience and waited >= patience else None


def _checkpoints(folder: Path) -> Iterator[tuple[int, Path]]:
    for path in folder.iterdir() if folder.is_dir() else ():
        if (found := _NAME.fullmatch(path.name)) and path.is_dir():
            yield int(found[1]), path


class KeepBestAndLast(TrainerCallback):
    """Leaves the best checkpoint and the last one.

    They are told by their steps. The library goes by the time of change, and would delete the newest when the
    clock was set back; and it remembers the best by its path, which is wrong where the folder was moved.
    """

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Find the best checkpoint where this run lies now.

        Raises:
            OutputError: it is gone or was cut, so that the epoch that was chosen could not be tested.
        """
        if not state.best_global_step:
            return
        best = Path(args.output_dir) / f"checkpoint-{state.best_global_step}"
        if not best.is_dir():
            raise OutputError(
                f"{best}, the best checkpoint so far, is not there any more. Put it back, or remove the "
                "folder of the run to train anew."
            )
        check_files(best)
        state.best_model_checkpoint = str(best)

    def on_save(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Delete the others; the state first, so that none is half there and looks whole."""
        if not args.should_save:
            return
        for step, path in _checkpoints(Path(args.output_dir)):
            if step not in (state.global_step, state.best_global_step):
                (path / STATE).unlink(missing_ok=True)
                shutil.rmtree(path, ignore_errors=True)
