"""A report's scores as the Hub reads them: `.eval_results/*.yaml`, and the older `model-index` of cards.

Documented at https://huggingface.co/docs/hub/eval-results ("Adding Evaluation Results") and
https://github.com/huggingface/hub-docs/blob/main/eval_results.yaml; `schemas/eval_results.schema.json` says
the same as a JSON Schema. The files are made by `huggingface_hub`'s own `EvalResultEntry` and `EvalResult`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from spider_compose.errors import HubError, MissingExtraError
from spider_compose.experiments.reports import number
from spider_compose.hub.benchmark import TASKS, VALUE, BenchmarkTask, to_yaml

RESULTS_FOLDER = ".eval_results"

_REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+")
_METRICS = {
    "bleu": ("bleu", "BLEU-4"),
    "bleu_multi_reference": ("bleu", "BLEU-4, several references"),
    "exact_match": ("exact_match", "exact match"),
    "normalized_exact_match": ("exact_match", "normalised exact match"),
    "chrf": ("chrf", "chrF"),
}


def task_of(report: Mapping[str, Any]) -> BenchmarkTask | None:
    """The task of the benchmark that a report is of, or None: its scores belong on no leaderboard.

    Raises:
        HubError: the report is of some rows of the task alone, or of another split.
    """
    task = next((task for task in TASKS if task.id == report.get("experiment")), None)
    if task is None:
        return None
    dataset = _part(report, "dataset")
    split, whole = dataset.get("split", task.split), dataset.get("split_pairs", report.get("num_items"))
    if split != task.split:
        raise HubError(
            f"the benchmark's task {task.id} is the {task.split} split, but the report is of {split}."
        )
    if whole != report.get("num_items"):
        raise HubError(
            f"the report is of {report.get('num_items')} of the {whole} rows of the task {task.id}. Evaluate "
            "all of them (without --limit)."
        )
    return task


def eval_results(
    report: Mapping[str, Any],
    dataset_id: str,
    *,
    revision: str | None = None,
    date: str | None = None,
    source_url: str | None = None,
    source_name: str | None = None,
) -> list[dict[str, Any]]:
    """What a file of `.eval_results` says; empty where the report is of no task of the benchmark.

    Args:
        report: of a training or an evaluation.
        dataset_id: owner/name of the benchmark on the Hub.
        revision: commit of the dataset.
        date: of the evaluation, ISO 8601; without one the Hub takes the date of the commit.
        source_url: where the report and the predictions can be seen.
        source_name: what that is called.

    Raises:
        HubError: the report cannot be a result of the benchmark, or a value is not what it must be.
        MissingExtraError: huggingface_hub is missing.
    """
    try:
        from huggingface_hub import EvalResultEntry, eval_result_entries_to_yaml
    except ImportError as error:
        raise MissingExtraError(
            "results for the Hub need huggingface_hub 1.4 or newer: pip install 'spider-compose[hub]'"
        ) from error
    _check_repository(dataset_id)
    task = task_of(report)
    if task is None:
        return []
    try:
        entry = EvalResultEntry(
            dataset_id=dataset_id,
            task_id=task.id,
            value=_score(report, "bleu"),
            dataset_revision=revision,
            date=date,
            source_url=source_url,
            source_name=source_name,
            notes=_notes(report),
        )
    except ValueError as error:
        raise HubError(str(error)) from error
    return list(eval_result_entries_to_yaml([entry]))


def write_eval_results(
    folder: Path, report: Mapping[str, Any], dataset_id: str, **told: str | None
) -> Path | None:
    """Write `.eval_results/NAME_TASK.yaml` into the folder of a model repository.

    Args:
        told: `revision`, `date`, `source_url`, `source_name` of `eval_results`.

    Returns:
        The file; None, and nothing is written, where the report is of no task of the benchmark.

    Raises:
        HubError: see `eval_results`.
        OSError: the folder cannot be written.
    """
    content = eval_results(report, dataset_id, **told)
    if not content:
        return None
    name = f"{dataset_id.split('/')[-1]}_{content[0]['dataset']['task_id']}.yaml"
    path = folder / RESULTS_FOLDER / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(to_yaml(content), encoding="utf-8", newline="\n")
    return path


def model_index(report: Mapping[str, Any], dataset_id: str) -> list[dict[str, Any]]:
    """The `model-index` of a card: every metric of the report.

    Raises:
        HubError: the report lacks a score.
        MissingExtraError: huggingface_hub is missing.
    """
    try:
        from huggingface_hub import EvalResult
        from huggingface_hub.repocard_data import eval_results_to_model_index
    except ImportError as error:
        raise MissingExtraError(
            "results for the Hub need huggingface_hub: pip install 'spider-compose[hub]'"
        ) from error
    _check_repository(dataset_id)
    dataset, metrics = _part(report, "dataset"), _part(report, "metrics")
    results = [
        EvalResult(
            task_type="translation",
            task_name="SQL-to-text",
            dataset_type=dataset_id,
            dataset_name=dataset_id.split("/")[-1],
            dataset_config=_text(dataset, "config"),
            dataset_split=_text(dataset, "split") or "test",
            metric_type=kind,
            metric_name=title,
            metric_value=_score(report, name),
        )
        for name, (kind, title) in _METRICS.items()
        if name in metrics
    ]
    return list(eval_results_to_model_index(str(report["model"]), results))


def check_benchmark(dataset_id: str, config: str, split: str, limit: int | None) -> None:
    """Whether an evaluation will be a result of a benchmark.

    Raises:
        HubError: it will not; or there is no such name.
    """
    _check_repository(dataset_id)
    task = next((task for task in TASKS if task.config == config), None)
    if task is None:
        raise HubError(
            f"the benchmark has no leaderboard of the config {config!r}; it has {[t.config for t in TASKS]}."
        )
    if split != task.split or limit is not None:
        raise HubError(f"the benchmark's task {task.id} is the {task.split} split, whole.")


def _check_repository(dataset_id: str) -> None:
    if not _REPOSITORY.fullmatch(dataset_id):
        raise HubError(f"a benchmark is a dataset on the Hub, as owner/name, but got {dataset_id!r}.")


def _part(content: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """A mapping of a report, which a hand may have written; empty where it is none."""
    found = content.get(name)
    return found if isinstance(found, Mapping) else {}


def _text(content: Mapping[str, Any], name: str) -> str | None:
    found = content.get(name)
    return found if isinstance(found, str) else None


def _score(report: Mapping[str, Any], name: str) -> float:
    score = number(_part(_part(report, "metrics"), name).get("score"))
    if score is None:
        raise HubError(f"the report lacks the score of {name}; evaluate the model again.")
    if not 0 <= score <= 100:
        raise HubError(f"the score of {name} must be 0 to 100, but the report says {score:g}.")
    return round(score, 2)


def _notes(report: Mapping[str, Any]) -> str:
    """What the value is, and on what: leaderboards show one number."""
    metrics = _part(report, "metrics")
    bleu = _part(metrics, "bleu")
    low, high = number(bleu.get("low")), number(bleu.get("high"))
    exact = number(_part(metrics, "exact_match").get("score"))
    return "; ".join(
        filter(
            None,
            (
                f"{VALUE} ({bleu.get('signature')})",
                f"95 % interval {low:.2f} to {high:.2f}" if low is not None and high is not None else "",
                f"exact match {exact:.2f} %" if exact is not None else "",
                f"{report['num_items']:,} items of {_part(report, 'dataset').get('signature')}",
            ),
        )
    )
