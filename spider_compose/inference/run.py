"""One evaluation: rows, model, texts, report. Killed at any moment, it goes on with the rows left."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spider_compose.errors import ClauseError, OptionError, OutputError, SourceError
from spider_compose.inference.answers import Answer, AnswerFile, check_same
from spider_compose.inference.data import ConfigData, Rows, read_config, sample
from spider_compose.inference.loading import OWN, Described, choose_device, describe, first_line, load
from spider_compose.inference.report import (
    REPORT_FORMAT,
    measured,
    prediction_lines,
    signature,
    sizes,
    write_whole,
)
from spider_compose.inference.settings import EvaluationSettings
from spider_compose.inference.text import by_source_length

KIND = "evaluation"

_LIMIT_SEED = 0
# What may be another when an evaluation goes on: a smaller batch after one that did not fit, say.
_MAY_MOVE = ("batch_size", "device")

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Files:
    """Where an evaluation writes; `report.json` has its predictions in `predictions.jsonl` beside it.

    Attributes:
        report: any other name, such as `t5.json`, has them in `t5.predictions.jsonl`.
    """

    report: Path

    @property
    def predictions(self) -> Path:
        """A row a line, in the order of the dataset."""
        stem = self.report.stem
        return self.report.with_name("predictions.jsonl" if stem == "report" else f"{stem}.predictions.jsonl")

    @property
    def answers(self) -> Path:
        """Rows that are done, while the evaluation runs."""
        return self.report.with_name(f"{self.predictions.name}.partial")


def evaluate(
    settings: EvaluationSettings,
    report: str | Path,
    say: Callable[[str], None] = lambda line: None,
    progress: Progress = lambda done, total: None,
) -> dict[str, Any]:
    """Run a model on a split, score what it says, and write the report and its predictions.

    A finished evaluation is not repeated; one that was stopped goes on with the rows that are left.

    Args:
        report: the report's file.
        say: receives a line at each stage.
        progress: receives the number of rows that are done, and of all, after each batch.

    Returns:
        The report.

    Raises:
        OptionError: there is no such model, or a setting does not suit it or this machine.
        OutputError: the report's file is of another evaluation, or cannot be written.
        SourceError: the source gives no rows for the split.
        MissingExtraError: a library is missing.
    """
    files = Files(Path(report))
    started = time.time(), time.process_time()
    described = describe(settings)
    device = choose_device(settings.device)
    data = read_config(settings.config, settings.source, settings.source_options)
    rows = _rows(settings, data)
    subject = _subject(settings, described, data)
    finished = _finished(files.report, subject)
    if finished is not None and files.predictions.is_file():
        say(f"{files.report}: already finished")
        return finished
    with AnswerFile(files.answers, subject) as answers:
        say(f"{described.identity.name} ({described.kind}) on {len(rows):,} rows of {data.signature}")
        if answers.answers:
            say(f"{len(answers.answers):,} rows are done already")
        model, generation = _answer_all(settings, described, data, rows, device, answers, say, progress)
        found = [answers.answers[row["id"]] for row in rows]
        made = _report(settings, described, data, rows, found, model, generation, started)
        write_whole(files.predictions, prediction_lines(rows, [answer.text for answer in found]))
        write_whole(files.report, json.dumps(made, indent=1) + "\n")
        files.answers.unlink(missing_ok=True)
    return made


def _rows(settings: EvaluationSettings, data: ConfigData) -> Rows:
    rows = data.parts.get(settings.split) or []
    if not rows:
        there = [name for name, part in data.parts.items() if part]
        raise SourceError(
            f"source {settings.source!r} gives no {settings.split} rows for config {settings.config!r}; "
            f"it has {', '.join(there) or 'none at all'}."
        )
    return sample(rows, settings.limit, _LIMIT_SEED) if settings.limit else rows


def _subject(settings: EvaluationSettings, described: Described, data: ConfigData) -> dict[str, Any]:
    """What is evaluated: files of another subject are refused."""
    given = {name: value for name, value in settings.to_dict().items() if name not in _MAY_MOVE}
    identity = described.identity
    return {"model": identity.name, "version": identity.version, "data": data.signature, **given}


def _finished(report: Path, subject: Mapping[str, Any]) -> dict[str, Any] | None:
    """The report of the same evaluation; an error if there is another's."""
    if report.exists() and not report.is_file():  # a folder; a device might be read for ever
        raise OutputError(f"{report} is no file. Name another --out.")
    try:
        found = json.loads(report.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as error:
        raise OutputError(f"{report} cannot be read as a report: {error}. Name another --out.") from None
    content: dict[str, Any] = found if isinstance(found, dict) else {}
    evaluation, dataset = content.get("evaluation"), content.get("dataset")
    if content.get("kind") != KIND or not isinstance(evaluation, dict) or not isinstance(dataset, dict):
        raise OutputError(f"{report} is no report of an evaluation. Name another --out.")
    check_same(
        {
            **evaluation,
            "model": content.get("model"),
            "version": content.get("version"),
            "data": dataset.get("signature"),
        },
        subject,
        report,
    )
    return content


def _answer_all(
    settings: EvaluationSettings,
    described: Described,
    data: ConfigData,
    rows: Rows,
    device: Any,
    answers: AnswerFile,
    say: Callable[[str], None],
    progress: Progress,
) -> tuple[Any, dict[str, Any]]:
    """Fill the file; returns the model and how it searched."""
    import torch

    from spider_compose.inference.generators import (
        CUT,
        UnreadableRowError,
        generate,
        make_generator,
        prepare_generation,
    )

    model, tokenizer = load(settings, described, device)
    generator = make_generator(settings, described, model, tokenizer, data)
    generation = prepare_generation(settings, generator, described.kind)
    readable, encoded = [], []
    for row in rows:
        try:
            encoded.append(generator.encode(row))
            readable.append(row)
        except UnreadableRowError as error:
            answers.add([Answer(row["id"], "", str(error))])
        except ClauseError as error:  # its message quotes the SQL, which reports do not hold
            say(f"row {row['id']!r}: {error}")
            answers.add([Answer(row["id"], "", "the SQL does not parse")])
    for places in _batches(encoded, settings.batch_size):
        # Whole batches, so that a row is padded alike whether or not the evaluation was stopped before.
        if any(readable[place]["id"] not in answers.answers for place in places):
            batch = [encoded[place] for place in places]
            try:
                texts = generate(generator, batch)
            except torch.OutOfMemoryError:
                raise OptionError(
                    f"a batch of {len(batch)} rows does not fit into the memory of {device}. The same "
                    "command with a smaller --batch-size goes on."
                ) from None
            except (RuntimeError, ValueError, TypeError, IndexError) as error:  # its own settings, say
                raise OptionError(
                    f"{described.identity.name} cannot write a text with these settings: {first_line(error)}"
                ) from error
            answers.add(
                Answer(
                    readable[place]["id"],
                    text,
                    "longer than the model can read; its beginning was read" if features.get(CUT) else None,
                )
                for place, text, features in zip(places, texts, batch, strict=True)
            )
        progress(len(answers.answers), len(rows))
    return model, generation


def _batches(encoded: Sequence[Mapping[str, Any]], size: int) -> Iterator[list[int]]:
    """Places of rows of like length; the longest first, so that memory that is too small shows at once."""
    order = by_source_length(encoded)[::-1]
    for start in range(0, len(order), size):
        yield order[start : start + size]


def _report(
    settings: EvaluationSettings,
    described: Described,
    data: ConfigData,
    rows: Rows,
    answers: Sequence[Answer],
    model: Any,
    generation: Mapping[str, Any],
    started: tuple[float, float],
) -> dict[str, Any]:
    identity, training = described.identity, described.identity.training
    problems: dict[str, list[str]] = {}
    for answer in answers:
        if answer.problem is not None:
            problems.setdefault(answer.problem, []).append(answer.id)
    found = measured([answer.text for answer in answers], rows, data.schemas, data.dialect)
    return {
        "format": REPORT_FORMAT,
        "kind": KIND,
        "model": identity.name,
        "version": identity.version,
        "model_kind": described.kind,
        "size": training.get("size"),
        "experiment": settings.config,
        "seed": training.get("seed", 0),
        "trained": {"experiment": training["experiment"], "signature": training["signature"]}
        if training
        else None,
        "dataset": {
            "config": settings.config,
            "split": settings.split,
            "signature": data.signature,
            "split_pairs": len(data.parts[settings.split]),
            f"{settings.split}_pairs": len(rows),
        },
        "num_parameters": model.num_parameters(),
        "configuration": sizes(model.config),
        "evaluation": settings.to_dict(),
        "generation": dict(generation),
        "device": str(model.device),
        "cpu_seconds": round(time.process_time() - started[1], 1),
        "wall_seconds": round(time.time() - started[0], 1),
        **found,
        "problems": {reason: {"items": len(ids), "ids": ids} for reason, ids in problems.items()},
        "signature": _signature(settings, described, data, model, generation, found),
    }


def _signature(
    settings: EvaluationSettings,
    described: Described,
    data: ConfigData,
    model: Any,
    generation: Mapping[str, Any],
    found: Mapping[str, Any],
) -> str:
    parts = {
        "model": f"{described.identity.name}@{described.identity.version}",
        "data": data.signature,
        "split": settings.split if not settings.limit else f"{settings.split}/{found['num_items']}",
        "settings": settings.digest(),
        "beams": generation.get("num_beams", 1),
        "batch": settings.batch_size,
        "dtype": settings.dtype,
        "device": model.device.type,
    }
    if described.kind != OWN:
        parts["sql"] = settings.sql or ("canonical" if model.config.is_encoder_decoder else "written")
    return signature(parts, found["metrics"]["bleu"]["signature"])
