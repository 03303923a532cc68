"""Seq2SeqTrainer with an order of batches that can be repeated, a clock, and a stop that can be resumed."""

from __future__ import annotations

import json
import shutil
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError
from torch.utils.data import Sampler, SequentialSampler
from transformers import Seq2SeqTrainer, TrainerCallback, TrainerState

from spider_compose.errors import OutputError

_BATCHES_SORTED_TOGETHER = 50


class LengthSampler(Sampler[int]):
    """Pairs of like length together, in an order that depends on seed and epoch alone.

    The library's sampler by length draws from the process's global generator: processes whose dropout has
    used it unequally would draw other orders, and so see some pairs twice and others never. It also sorts by
    the source alone, which leaves half the target's places to padding in SpiderCompose. Sorted by source in
    steps of four pieces and by target within, a batch holds 1.14 and 1.45 places per piece.

    Args:
        source_lengths: pieces of each source.
        target_lengths: pieces of each target.
        batch_size: pairs of one step of the weights, over all processes and accumulated batches.
    """

    def __init__(
        self, source_lengths: Sequence[int], target_lengths: Sequence[int], batch_size: int, seed: int
    ) -> None:
        targets = np.asarray(target_lengths)
        self.lengths = np.asarray(source_lengths) // 4 * (targets.max(initial=0) + 1) + targets
        self.batch_size = batch_size
        self.seed = seed
        self.epoch = 0

    def __len__(self) -> int:
        return len(self.lengths)

    def set_epoch(self, epoch: int) -> None:
        """Choose the epoch whose order comes next; accelerate calls this."""
        self.epoch = epoch

    def __iter__(self) -> Iterator[int]:
        generator = np.random.default_rng([self.seed, self.epoch])
        order = generator.permutation(len(self.lengths))
        width = self.batch_size * _BATCHES_SORTED_TOGETHER
        sorted_order = np.concatenate(
            [
                chunk[np.argsort(self.lengths[chunk], kind="stable")]
                for chunk in np.split(order, range(width, len(order), width))
            ]
        )
        # The short batch stays last, so that the others are cut where this sampler cut them.
        whole = len(order) // self.batch_size * self.batch_size
        batches = sorted_order[:whole].reshape(-1, self.batch_size)
        yield from batches[generator.permutation(len(batches))].ravel().tolist()
        yield from sorted_order[whole:].tolist()


class SQLToTextTrainer(Seq2SeqTrainer):
    """Trains one of the five models, or any seq2seq model of the Hub, on encoded pairs.

    Log entries carry `cpu_seconds` and `wall_seconds`, the time of this process over all its resumed runs.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._cpu_before = self._wall_before = 0.0
        # Neither goes back or jumps when somebody sets the clock.
        self._cpu_started, self._wall_started = time.process_time(), time.monotonic()

    @property
    def cpu_seconds(self) -> float:
        """CPU seconds of this run and of those that it resumed, up to their last checkpoints."""
        return self._cpu_before + time.process_time() - self._cpu_started

    @property
    def wall_seconds(self) -> float:
        """Seconds that passed in this run and in those that it resumed, up to their last checkpoints."""
        return self._wall_before + time.monotonic() - self._wall_started

    def log(self, logs: dict[str, float], start_time: float | None = None) -> None:
        """Add the clocks."""
        clocks = {"cpu_seconds": round(self.cpu_seconds, 2), "wall_seconds": round(self.wall_seconds, 2)}
        super().log({**logs, **clocks}, start_time)

    def train(self, resume_from_checkpoint: str | bool | None = None, **kwargs: Any) -> Any:
        """As in the base class; the clocks go on where the checkpoint's stood."""
        if isinstance(resume_from_checkpoint, str):
            self._cpu_before = _seconds_at(resume_from_checkpoint, "cpu_seconds")
            self._wall_before = _seconds_at(resume_from_checkpoint, "wall_seconds")
        return super().train(resume_from_checkpoint=resume_from_checkpoint, **kwargs)

    def _save_checkpoint(self, model: Any, trial: Any) -> None:
        """As in the base class; where it fails, nothing half is left, and the error says what to do.

        Raises:
            OutputError: the disk is full, say; torch's own words for that are "unexpected pos".
        """
        try:
            super()._save_checkpoint(model, trial)
        except (OSError, RuntimeError, SafetensorError) as error:
            path = Path(self.args.output_dir) / f"checkpoint-{self.state.global_step}"
            free = shutil.disk_usage(path.parent).free if path.parent.is_dir() else 0
            shutil.rmtree(path, ignore_errors=True)
            reason = (str(error).strip() or type(error).__name__).splitlines()[0]
            raise OutputError(
                f"{path} cannot be saved, with {free / 1e6:,.1f} MB free: {reason}. Make room; the same "
                "command goes on from the checkpoint before."
            ) from error

    def _get_train_sampler(self, train_dataset: Any = None) -> Sampler[int]:
        rows = self.train_dataset if train_dataset is None else train_dataset
        # What moves the weights at once, so that a step is the same pairs however it is shared out.
        step = self.args.train_batch_size * self.args.world_size * self.args.gradient_accumulation_steps
        sources, targets = ([len(row[name]) for row in rows] for name in ("input_ids", "labels"))
        return LengthSampler(sources, targets, step, self.args.seed)

    def _get_eval_sampler(self, eval_dataset: Any) -> Sampler[int]:
        # In order: predictions must stand beside their rows.
        return SequentialSampler(eval_dataset)

    def evaluation_loop(self, *args: Any, **kwargs: Any) -> Any:
        """Drop the pairs that fill up the last batch of several processes; the base class keeps them."""
        self.gather_function = self.accelerator.gather_for_metrics
        return super().evaluation_loop(*args, **kwargs)

    def prediction_step(
        self,
        model: Any,
        inputs: dict[str, Any],
        prediction_loss_only: bool,
        ignore_keys: list[str] | None = None,
        **gen_kwargs: Any,
    ) -> tuple[Any, Any, Any]:
        """Generate, without the base class's second pass for a loss that nothing reads."""
        if prediction_loss_only or not self.args.predict_with_generate:
            return super().prediction_step(model, inputs, prediction_loss_only, ignore_keys)
        inputs = self._prepare_inputs(inputs)
        labels = inputs.pop("labels", None)
        options = {k: v for k, v in {**self._gen_kwargs, **gen_kwargs}.items() if v is not None}
        with torch.no_grad():
            generated = self.accelerator.unwrap_model(self.model).generate(**inputs, **options)
        return None, generated, labels


def _seconds_at(checkpoint: str, clock: str) -> float:
    state = TrainerState.load_from_json(str(Path(checkpoint) / "trainer_state.json"))
    return max((entry.get(clock, 0.0) for entry in state.log_history), default=0.0)


class StopWhenAsked(TrainerCallback):
    """On SIGTERM, saves a checkpoint after the step in progress and ends the training.

    Attributes:
        asked: whether the signal came.
    """

    def __init__(self) -> None:
        self.asked = False
        self._before: Any = None

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Listen, where signals can be heard: in the main thread."""
        try:
            self._before = signal.signal(signal.SIGTERM, self._hear)
        except ValueError:
            pass

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Stop listening: who stays in this process, and its children, must be able to end."""
        if self._before is not None:
            signal.signal(signal.SIGTERM, self._before)

    def _hear(self, number: int, frame: Any) -> None:
        self.asked = True

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Save and stop, all processes after the same step."""
        if args.world_size > 1:
            self.asked = _any_process(self.asked, args.device)
        if self.asked:
            control.should_log = True
            control.should_save = True
            control.should_training_stop = True

    def on_epoch_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """In the middle of an epoch nothing is evaluated: it would count as one more epoch when resumed."""
        if self.asked and state.epoch % 1:
            control.should_log = control.should_save = control.should_evaluate = False


def _any_process(asked: bool, device: torch.device) -> bool:
    """Whether one of the processes was asked: the signal may reach one a step before the others."""
    found = torch.tensor(int(asked), device=device)
    torch.distributed.all_reduce(found, torch.distributed.ReduceOp.MAX)
    return bool(found)


class EpochLog(TrainerCallback):
    """Writes one JSON line per evaluation to `log.jsonl`, for who watches the run, and says it."""

    def __init__(self, path: Path, say: Callable[[str], None]) -> None:
        self.path = path
        self.say = say

    def on_evaluate(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Rewrite the log from the trainer's own history, so that a resumed run never doubles a line."""
        if not state.is_world_process_zero:
            return
        entries = curve(state.log_history)
        temporary = self.path.with_suffix(".tmp")
        temporary.write_text("".join(json.dumps(entry) + "\n" for entry in entries), encoding="utf-8")
        temporary.replace(self.path)
        last = entries[-1]
        self.say(
            f"epoch {last['epoch']:g} of {args.num_train_epochs:g}: loss {last['train_loss']}, "
            f"validation BLEU {last['validation_bleu']:.2f}, "
            f"exact match {last['validation_exact_match']:.2f} %, {last['cpu_seconds']:.0f} CPU s"
        )


def curve(history: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The trainer's history as one entry per evaluation: epoch, step, losses and scores.

    `train_loss` is the mean over the steps since the entry before; a stop in the middle logs a part of it.
    """
    entries: list[dict[str, Any]] = []
    total, counted, logged_until = 0.0, 0, 0
    for logged in history:
        if "loss" in logged:
            steps = logged["step"] - logged_until
            total, counted, logged_until = total + steps * logged["loss"], counted + steps, logged["step"]
        if "eval_bleu" in logged:
            entries.append(
                {
                    "epoch": round(logged["epoch"], 4),
                    "step": logged["step"],
                    "train_loss": round(total / counted, 4) if counted else None,
                    "validation_bleu": round(logged["eval_bleu"], 4),
                    "validation_exact_match": round(logged["eval_exact_match"], 4),
                    "cpu_seconds": logged["cpu_seconds"],
                }
            )
            total, counted = 0.0, 0
    return entries
