"""`eval.yaml` against the documented specification: https://huggingface.co/docs/hub/eval-results and
https://inspect.aisi.org.uk/tasks.html#hugging-face, as written down in hub/schemas/eval.schema.json.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("yaml", reason="the extra `hub` is not installed")
pytest.importorskip("jsonschema", reason="the extra `dev` is not installed")

import jsonschema
import yaml

from spider_compose.evaluation.prompt import Prompt
from spider_compose.hub.benchmark import TASKS, benchmark, to_yaml, write_benchmark

ALL = [task.config for task in TASKS]


@pytest.fixture(scope="module")
def check() -> Callable[[Any], None]:
    schema = json.loads((resources.files("spider_compose.hub") / "schemas" / "eval.schema.json").read_text())
    validator = jsonschema.Draft202012Validator(schema)
    validator.check_schema(schema)
    return validator.validate


def dataset_folder(folder: Path, *files: str) -> Path:
    for name in files:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"PAR1")
    return folder


def test_it_conforms(tmp_path: Path, check: Callable[[Any], None]) -> None:
    folder = dataset_folder(tmp_path, *(f"{config}/test.parquet" for config in ALL))
    path = write_benchmark(folder, "owner/spider-compose")
    assert path == tmp_path / "eval.yaml"
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    check(content)
    assert [task["id"] for task in content["tasks"]] == [
        "compose", "compose_no_overlap", "spider_tmcd", "spider_template",
    ]  # fmt: skip
    assert all(task["config"] == task["id"] and task["split"] == "test" for task in content["tasks"])


# The examples of the documentation pass, and each rule of it is kept.
HLE = {
    "name": "Humanity's Last Exam",
    "description": "A multi-modal benchmark.",
    "evaluation_framework": "inspect-ai",
    "tasks": [
        {
            "id": "hle",
            "config": "default",
            "split": "test",
            "field_spec": {"input": "question", "input_image": "image", "target": "answer"},
            "solvers": [{"name": "system_message", "args": {"template": "..."}}, {"name": "generate"}],
            "scorers": [{"name": "model_graded_fact", "args": {"model": "openai/o3-mini"}}],
        }
    ],
}


def test_schema_takes_the_example_of_the_documentation(check: Callable[[Any], None]) -> None:
    check(HLE)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        pytest.param(["name"], None, id="name"),
        pytest.param(["description"], None, id="description"),
        pytest.param(["evaluation_framework"], "our-own", id="framework"),
        pytest.param(["tasks"], [], id="no task"),
        pytest.param(["tasks", 0, "id"], None, id="task without id"),
        pytest.param(["tasks", 0, "field_spec"], None, id="field_spec"),
        pytest.param(["tasks", 0, "field_spec", "target"], None, id="target"),
        pytest.param(["tasks", 0, "solvers"], [], id="no solver"),
        pytest.param(["tasks", 0, "solvers", 0, "name"], "bleu", id="solver"),
        pytest.param(["tasks", 0, "scorers", 0, "name"], "bleu", id="scorer"),
        pytest.param(["tasks", 0, "scores"], [{"name": "exact"}], id="a field inspect-ai forbids"),
        pytest.param(["metric"], "bleu", id="another field"),
    ],
)
def test_schema_sees_a_breach(path: list[Any], value: Any, check: Callable[[Any], None]) -> None:
    content: Any = copy.deepcopy(HLE)
    place = content
    for step in path[:-1]:
        place = place[step]
    if value is None:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    with pytest.raises(jsonschema.ValidationError):
        check(content)


def test_inspect_asks_what_evaluate_asks() -> None:
    """One prompt: a language model's answers are the same by either way."""
    (solver, generate) = benchmark(ALL, "owner/name")["tasks"][0]["solvers"]
    template = solver["args"]["template"]
    sql = "SELECT '{db_id}' FROM t"
    assert template.replace("{prompt}", sql) == Prompt.read().filled({"query": sql})
    assert template.count("{") == 1 and generate == {"name": "generate"}


def test_only_configs_that_are_there(tmp_path: Path) -> None:
    folder = dataset_folder(tmp_path, "compose/test.parquet", "spider_tmcd/train.parquet")
    path = write_benchmark(folder, "owner/name")
    assert path is not None
    assert [task["id"] for task in yaml.safe_load(path.read_text())["tasks"]] == ["compose"]


def test_a_dataset_without_a_task_is_no_benchmark(tmp_path: Path) -> None:
    folder = dataset_folder(tmp_path, "spider/train.parquet", "alignment/train.parquet")
    assert write_benchmark(folder, "owner/name") is None
    assert not (tmp_path / "eval.yaml").exists()


def test_the_same_bytes(tmp_path: Path) -> None:
    folder = dataset_folder(tmp_path, "compose/test.parquet")
    first = write_benchmark(folder, "owner/name")
    assert first is not None
    held = first.read_bytes()
    assert write_benchmark(folder, "owner/name") == first and first.read_bytes() == held
    assert b"\r" not in held and b"template: |" in held  # a block that a person can read


@pytest.mark.parametrize("text", ["a\nb", "a: b # c", "- x", "'\"", "{prompt}", " a\n b ", "é\n{{x}}", "yes"])
def test_yaml_gives_texts_back(text: str) -> None:
    assert yaml.safe_load(to_yaml({"text": [text]})) == {"text": [text]}
