"""One run: data, model, training, test, report. Killed at any moment, it goes on from its last checkpoint."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from spider_compose.errors import MissingExtraError, OptionError
from spider_compose.inference.report import (
    REPORT_FORMAT,
    measured,
    prediction_lines,
    signature,
    sizes,
    write_whole,
)
from spider_compose.inference.text import by_source_length
from spider_compose.training.checkpoints import KeepBestAndLast, check_whole, last_checkpoint, trained_epochs
from spider_compose.training.data import ExperimentData, read_data
from spider_compose.training.encoding import Learner, make_learner
from spider_compose.training.run_folder import check_begun, check_settings, finished, held
from spider_compose.training.settings import TrainingSettings
from spider_compose.training.trainer import EpochLog, SQLToTextTrainer, StopWhenAsked, curve


def run(
    settings: TrainingSettings, output: str | Path, say: Callable[[str], None] = lambda line: None
) -> dict[str, Any] | None:
    """Train, test, and write `model/`, `predictions.jsonl` and `report.json` to a folder.

    A finished run is not repeated; one that was stopped goes on from its last checkpoint, with the same
    losses as if it had not been stopped.

    Args:
        output: the run's folder.
        say: receives a line per epoch.

    Returns:
        The report, or None if the run was asked to stop (SIGTERM) before its end.

    Raises:
        OutputError: the folder holds a run with other settings, of other pairs or on another number of
            processes; its checkpoint is damaged; or another program trains in it.
        OptionError: a setting does not suit this machine or this model.
        SourceError: the source gives no pairs.
    """
    from accelerate import PartialState

    folder = Path(output)
    _check_machine(settings)
    is_main_process = PartialState().is_main_process
    with held(folder, is_main_process):
        check_settings(folder, settings)
        return _train_and_test(settings, folder, say)


def _train_and_test(
    settings: TrainingSettings, folder: Path, say: Callable[[str], None]
) -> dict[str, Any] | None:
    import transformers

    if not sys.stderr.isatty():
        transformers.utils.logging.disable_progress_bar()
    # On several processes the first builds the dataset and the others read it from the cache.
    arguments = _arguments(settings, folder)
    with arguments.main_process_first(desc="dataset"):
        data = read_data(settings)
    done = finished(folder, settings, data.signature)
    if done is not None:
        say(f"{folder}: already finished")
        return done
    last = last_checkpoint(folder / "checkpoints")
    check_begun(
        folder,
        settings,
        last is not None,
        arguments.process_index == 0,
        data=data.signature,
        processes=arguments.world_size,
    )
    if last is not None:
        check_whole(last, arguments.world_size)
    if last is not None and (epochs := trained_epochs(last, settings.patience)):
        arguments.num_train_epochs = epochs
    transformers.set_seed(settings.seed)
    learner = make_learner(settings, data)
    stop = StopWhenAsked()
    trainer = _trainer(arguments, settings, learner, data, stop, folder, say)
    trainer.train(resume_from_checkpoint=None if last is None else str(last))
    if stop.asked and trainer.state.epoch < settings.epochs:
        say(f"{folder}: stopped as asked; the same command goes on")
        return None
    predictions = _predict(trainer, settings, learner, data)
    report = _report(trainer, settings, learner, data, predictions)
    if not trainer.is_world_process_zero():
        return report
    _save_model(settings, learner, folder / "model")
    write_whole(folder / "predictions.jsonl", prediction_lines(data.test, predictions))
    write_whole(folder / "report.json", json.dumps(report, indent=1) + "\n")
    return report


def _check_machine(settings: TrainingSettings) -> None:
    from importlib.util import find_spec

    import torch
    from accelerate import PartialState

    for tracker in settings.report_to:
        if find_spec(tracker) is None:
            raise MissingExtraError(
                f"`report_to` names {tracker}, which is not installed: pip install 'spider-compose[tracking]'"
            )
    if settings.mixed_precision != "no" and not torch.cuda.is_available():
        raise OptionError(
            f"`mixed_precision: {settings.mixed_precision}` needs a CUDA device, and this machine has none: "
            "torch's LSTM has no half precision on a CPU. Set it to 'no'."
        )
    found = PartialState(cpu=not _has_accelerator()).num_processes
    if settings.processes not in (None, found):
        raise OptionError(
            f"`processes` expects {settings.processes} processes, but {found} take part. On CPUs `accelerate "
            "launch --cpu --num_processes 2` starts only one; use `torchrun --nproc_per_node 2` or "
            "`accelerate launch --multi_gpu --num_processes 2`."
        )


def _has_accelerator() -> bool:
    import torch

    return bool(torch.cuda.is_available() or torch.backends.mps.is_available())


def _arguments(settings: TrainingSettings, folder: Path) -> Any:
    from transformers import Seq2SeqTrainingArguments

    return Seq2SeqTrainingArguments(
        output_dir=str(folder / "checkpoints"),
        num_train_epochs=settings.epochs,
        per_device_train_batch_size=settings.batch_size,
        per_device_eval_batch_size=settings.batch_size,
        gradient_accumulation_steps=settings.gradient_accumulation,
        learning_rate=settings.rate,
        lr_scheduler_type=settings.schedule,
        warmup_steps=settings.warmup_steps,
        weight_decay=settings.weight_decay,
        max_grad_norm=settings.max_grad_norm,
        # The five smooth inside the model, in log space, since a training step of theirs has no logits.
        label_smoothing_factor=0.0 if settings.is_paper_model else settings.label_smoothing,
        seed=settings.seed,
        bf16=settings.mixed_precision == "bf16",
        fp16=settings.mixed_precision == "fp16",
        use_cpu=not _has_accelerator(),
        eval_strategy="epoch",
        save_strategy="epoch",
        logging_strategy="epoch",
        load_best_model_at_end=True,  # KeepBestAndLast deletes the others
        metric_for_best_model="bleu",
        greater_is_better=True,
        restore_callback_states_from_checkpoint=True,  # patience goes on where it stood
        predict_with_generate=True,
        generation_num_beams=1,  # on validation, whatever a model of the Hub has as its own
        remove_unused_columns=False,  # trees are read by the collator
        label_names=["labels"],
        report_to=list(settings.report_to) or "none",
        run_name=folder.name,
        disable_tqdm=not sys.stderr.isatty(),
    )


def _trainer(
    arguments: Any,
    settings: TrainingSettings,
    learner: Learner,
    data: ExperimentData,
    stop: StopWhenAsked,
    folder: Path,
    say: Callable[[str], None],
) -> SQLToTextTrainer:
    from transformers import EarlyStoppingCallback, PrinterCallback, ProgressCallback

    encoded = learner.encode(data.validation)
    order = by_source_length(encoded)
    validation = [encoded[place] for place in order]
    references = [data.validation[place]["question"] for place in order]

    def scores(found: Any) -> dict[str, float]:
        import sacrebleu

        from spider_compose.evaluation.exact_match import exact_match

        texts = learner.decode(found.predictions, validation)
        exact = sum(exact_match(text, reference) for text, reference in zip(texts, references, strict=True))
        return {
            "bleu": sacrebleu.corpus_bleu(texts, [references]).score,
            "exact_match": 100 * exact / len(references),
        }

    patience = [EarlyStoppingCallback(settings.patience)] if settings.patience else []
    trainer = SQLToTextTrainer(
        model=learner.model,
        args=arguments,
        train_dataset=learner.encode(data.train),
        eval_dataset=validation,
        data_collator=learner.collator,
        processing_class=learner.tokenizer,
        compute_metrics=scores,
        callbacks=[*patience, stop, KeepBestAndLast(), EpochLog(folder / "log.jsonl", say)],
    )
    trainer.remove_callback(PrinterCallback)
    if arguments.disable_tqdm:
        trainer.remove_callback(ProgressCallback)
    return trainer


def _predict(
    trainer: SQLToTextTrainer, settings: TrainingSettings, learner: Learner, data: ExperimentData
) -> list[str]:
    encoded = learner.encode(data.test)
    order = by_source_length(encoded)
    trainer.compute_metrics = None
    test = [encoded[place] for place in order]
    found = trainer.predict(test, num_beams=settings.num_beams)
    texts = dict(zip(order, learner.decode(found.predictions, test), strict=True))
    return [texts[place] for place in range(len(encoded))]


def _report(
    trainer: SQLToTextTrainer,
    settings: TrainingSettings,
    learner: Learner,
    data: ExperimentData,
    predictions: list[str],
) -> dict[str, Any]:
    history = curve(trainer.state.log_history)
    best = next(entry for entry in history if entry["step"] == trainer.state.best_global_step)
    found = measured(predictions, data.test, data.schemas, data.dialect)
    epochs = round(float(trainer.state.epoch), 4)
    return {
        "format": REPORT_FORMAT,
        "model": settings.model,
        "size": settings.size if settings.is_paper_model else None,
        "experiment": settings.experiment,
        "seed": settings.seed,
        "dataset": {
            "config": settings.config,
            "signature": data.signature,
            "train_pairs": len(data.train),
            "validation_pairs": len(data.validation),
            "test_pairs": len(data.test),
        },
        "num_parameters": learner.model.num_parameters(),
        "configuration": sizes(learner.model.config),
        "training": settings.to_dict(source=False),
        "processes": trainer.args.world_size,
        "device": str(trainer.args.device),
        "epochs": epochs,
        "steps": trainer.state.global_step,
        "best_epoch": best["epoch"],
        "stopped": "epochs" if epochs >= settings.epochs else "early",
        "cpu_seconds": round(trainer.cpu_seconds, 1),
        "wall_seconds": round(trainer.wall_seconds, 1),
        "curve": history,
        **found,
        "signature": _signature(trainer, settings, learner, data, found["metrics"]["bleu"]["signature"]),
    }


def _signature(
    trainer: SQLToTextTrainer, settings: TrainingSettings, learner: Learner, data: ExperimentData, bleu: str
) -> str:
    parts = {
        "model": f"{settings.model}/{settings.size}" if settings.is_paper_model else settings.model,
        "experiment": settings.experiment,
        "seed": settings.seed,
        "data": data.signature,
        "tokenizer": learner.name,
        "settings": settings.digest(),
        "beams": settings.num_beams,
        "processes": trainer.args.world_size,
        "device": trainer.args.device.type,
    }
    return signature(parts, bleu)


def _save_model(settings: TrainingSettings, learner: Learner, folder: Path) -> None:
    # So that what it is loaded for later writes what was scored.
    learner.model.generation_config.num_beams = settings.num_beams
    if settings.is_paper_model:
        from spider_compose.models import save_with_code

        save_with_code(learner.model, learner.tokenizer, folder)
    else:
        learner.model.save_pretrained(folder)
        learner.tokenizer.save_pretrained(folder)
