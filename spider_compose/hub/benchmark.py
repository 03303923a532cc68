"""`eval.yaml`: registers a dataset repository as a benchmark of the Hub.

Documented at https://huggingface.co/docs/hub/eval-results ("Registering a Benchmark") and
https://inspect.aisi.org.uk/tasks.html ("Hugging Face"): each task is a leaderboard of its own, and
`inspect eval hf/OWNER/NAME/TASK --model ...` runs it on any language model. `schemas/eval.schema.json` says
the same as a JSON Schema.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spider_compose.errors import MissingExtraError
from spider_compose.evaluation.prompt import Prompt

BENCHMARK_FILE = "eval.yaml"

FRAMEWORK = "inspect-ai"
"""Of the list that the Hub keeps (huggingface.js, packages/tasks/src/eval.ts)."""

VALUE = "corpus BLEU-4 by sacrebleu, in percent"
"""What the leaderboards rank."""


@dataclass(frozen=True)
class BenchmarkTask:
    """One leaderboard.

    Attributes:
        id: `task_id` of its results; also the experiment of our reports.
        config: of the dataset.
        measures: in words.
    """

    id: str
    config: str
    measures: str
    split: str = "test"


TASKS = (
    BenchmarkTask("compose", "compose", "experiment 1, all training pairs"),
    BenchmarkTask(
        "compose_no_overlap", "compose_no_overlap", "experiment 2, no training pair with a clause of the test"
    ),
    BenchmarkTask("spider_tmcd", "spider_tmcd", "whole pairs, compounds that training lacks (TMCD)"),
    BenchmarkTask("spider_template", "spider_template", "whole pairs, templates that training lacks"),
)


def benchmark(configs: Collection[str], repo_id: str) -> dict[str, Any]:
    """What `eval.yaml` says.

    Args:
        configs: those of the dataset that have a test split.
        repo_id: owner/name of the repository.
    """
    tasks = [task for task in TASKS if task.config in configs]
    measured = "; ".join(f"{task.id}: {task.measures}" for task in tasks)
    return {
        "name": f"SpiderCompose ({repo_id})",
        "description": (
            "Compositional generalisation of SQL-to-text models (Chen et al. 2024): SQL or some clauses "
            f"of it in, an English question out. Tasks: {measured}. Leaderboards rank {VALUE}, which "
            "`spider-compose evaluate` reports; the scorers below are exact match and word F1."
        ),
        "evaluation_framework": FRAMEWORK,
        "tasks": [_entry(task) for task in tasks],
    }


def _entry(task: BenchmarkTask) -> dict[str, Any]:
    # In the template of inspect-ai the row's input is {prompt}; its own braces would be places as well.
    template = Prompt.read().text.replace("{query}", "{prompt}")
    return {
        "id": task.id,
        "config": task.config,
        "split": task.split,
        "field_spec": {"input": "query", "target": "question"},
        "solvers": [{"name": "prompt_template", "args": {"template": template}}, {"name": "generate"}],
        "scorers": [{"name": "exact"}, {"name": "f1"}],
    }


def write_benchmark(folder: Path, repo_id: str) -> Path | None:
    """Write `eval.yaml` into the folder of a dataset repository.

    Args:
        folder: with the rows in `CONFIG/SPLIT.parquet`.
        repo_id: owner/name of the repository.

    Returns:
        The file; None, and nothing is written, where no config of a task has a test split.

    Raises:
        MissingExtraError: no YAML writer is installed.
        OSError: the folder cannot be written.
    """
    there = {task.config for task in TASKS if (folder / task.config / f"{task.split}.parquet").is_file()}
    if not there:
        return None
    path = folder / BENCHMARK_FILE
    path.write_text(to_yaml(benchmark(there, repo_id)), encoding="utf-8", newline="\n")
    return path


def to_yaml(content: Any) -> str:
    """YAML as a person would write it: keys in their order, texts of several lines as blocks.

    Raises:
        MissingExtraError: no YAML writer is installed.
    """
    try:
        import yaml
    except ImportError as error:
        raise MissingExtraError("this needs PyYAML: pip install 'spider-compose[hub]'") from error

    class Dumper(yaml.SafeDumper):  # type: ignore[misc]
        pass

    def text(dumper: Any, value: str) -> Any:
        return dumper.represent_scalar(
            "tag:yaml.org,2002:str", value, style="|" if "\n" in value.strip() else None
        )

    Dumper.add_representer(str, text)
    return str(yaml.dump(content, Dumper=Dumper, sort_keys=False, allow_unicode=True, width=110))
