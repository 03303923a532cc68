"""`.eval_results/*.yaml` against the documented specification, as in hub/schemas/eval_results.schema.json.

https://huggingface.co/docs/hub/eval-results and
https://github.com/huggingface/hub-docs/blob/main/eval_results.yaml
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("huggingface_hub", reason="the extra `hub` is not installed")
pytest.importorskip("yaml", reason="the extra `hub` is not installed")
pytest.importorskip("jsonschema", reason="the extra `dev` is not installed")

import jsonschema
import yaml
from huggingface_hub import parse_eval_result_entries
from huggingface_hub.repocard_data import model_index_to_eval_results

from spider_compose.errors import HubError
from spider_compose.hub.eval_results import eval_results, model_index, write_eval_results

BENCHMARK = "owner/spider-compose"
Make = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def check() -> Callable[[Any], None]:
    text = (resources.files("spider_compose.hub") / "schemas" / "eval_results.schema.json").read_text()
    schema = json.loads(text)
    validator = jsonschema.Draft202012Validator(schema)
    validator.check_schema(schema)
    return validator.validate


def test_it_conforms(tmp_path: Path, make_report: Make, check: Callable[[Any], None]) -> None:
    path = write_eval_results(
        tmp_path, make_report(bleu=31.256), BENCHMARK,
        revision="5503434", date="2026-01-15", source_url="https://huggingface.co/a/b", source_name="Report",
    )  # fmt: skip
    assert path == tmp_path / ".eval_results" / "spider-compose_compose.yaml"
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    check(content)
    (entry,) = parse_eval_result_entries(content)  # as the Hub's own client reads it
    assert (entry.dataset_id, entry.task_id, entry.value) == (BENCHMARK, "compose", 31.26)
    assert (entry.dataset_revision, entry.date) == ("5503434", "2026-01-15")
    assert entry.source_url == "https://huggingface.co/a/b"


def test_the_required_alone(make_report: Make, check: Callable[[Any], None]) -> None:
    content = eval_results(make_report("compose_no_overlap"), BENCHMARK)
    check(content)
    assert set(content[0]) == {"dataset", "value", "notes"}
    assert content[0]["dataset"] == {"id": BENCHMARK, "task_id": "compose_no_overlap"}


def test_every_figure_is_of_the_report(make_report: Make) -> None:
    """Another report, other figures: none is written down here."""
    for bleu in (12.5, 47.25):
        (found,) = eval_results(make_report(bleu=bleu), BENCHMARK)
        assert found["value"] == bleu
        for told in (f"{bleu - 3:.2f} to {bleu + 3:.2f}", "nrefs:1|case:mixed", "20 items", "Spider 1.0"):
            assert told in found["notes"]


DOCUMENTED = [
    {
        "dataset": {"id": "cais/hle", "task_id": "default", "revision": "5503434"},
        "value": 20.90,
        "verifyToken": "eyJ",
        "date": "2025-01-15T10:30:00Z",
        "source": {"url": "https://huggingface.co/spaces/a/b", "name": "Eval traces", "user": "a"},
        "notes": "no-tools",
    },
    {"dataset": {"id": "Idavidrein/gpqa", "task_id": "gpqa_diamond"}, "value": 0.412},
]


def test_schema_takes_the_examples_of_the_documentation(check: Callable[[Any], None]) -> None:
    check(DOCUMENTED)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        pytest.param(["value"], None, id="no value"),
        pytest.param(["value"], "20.9", id="value as text"),
        pytest.param(["dataset", "task_id"], None, id="no task"),
        pytest.param(["dataset", "id"], "hle", id="no owner"),
        pytest.param(["source", "url"], None, id="source without address"),
        pytest.param(["date"], 20250115, id="date as number"),
        pytest.param(["metric"], "bleu", id="another field"),
    ],
)
def test_schema_sees_a_breach(path: list[str], value: Any, check: Callable[[Any], None]) -> None:
    content: Any = copy.deepcopy(DOCUMENTED)
    place = content[0]
    for step in path[:-1]:
        place = place[step]
    if value is None:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    with pytest.raises(jsonschema.ValidationError):
        check(content)


@pytest.mark.parametrize("experiment", ["compose_control", "spider", "spider_random", "compose_paper"])
def test_no_leaderboard_no_result(experiment: str, make_report: Make, tmp_path: Path) -> None:
    assert write_eval_results(tmp_path, make_report(experiment), BENCHMARK) is None
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("dataset", "message"),
    [
        pytest.param(
            {"split": "validation"}, "is the test split, but the report is of validation", id="split"
        ),
        pytest.param({"split": "test", "split_pairs": 6012}, "20 of the 6012 rows", id="some rows alone"),
    ],
)
def test_no_result_of_something_else(dataset: dict[str, Any], message: str, make_report: Make) -> None:
    with pytest.raises(HubError, match=message):
        eval_results(make_report(dataset=dataset), BENCHMARK)


@pytest.mark.parametrize(
    ("changes", "benchmark", "message"),
    [
        pytest.param({}, "spider-compose", "as owner/name", id="no owner"),
        pytest.param({"metrics": {"bleu": {}}}, BENCHMARK, "lacks the score of bleu", id="no score"),
        pytest.param({"metrics": [1]}, BENCHMARK, "lacks the score of bleu", id="no mapping"),
        pytest.param({"metrics": {"bleu": {"score": "9"}}}, BENCHMARK, "lacks the score", id="a text"),
        pytest.param({"metrics": {"bleu": {"score": float("nan")}}}, BENCHMARK, "lacks the score", id="NaN"),
        pytest.param({"metrics": {"bleu": {"score": 1e9}}}, BENCHMARK, "must be 0 to 100, but", id="huge"),
        pytest.param({"metrics": {"bleu": {"score": -1}}}, BENCHMARK, "must be 0 to 100, but", id="low"),
    ],
)
def test_refused(changes: dict[str, Any], benchmark: str, message: str, make_report: Make) -> None:
    with pytest.raises(HubError, match=message):
        eval_results(make_report(**changes), benchmark)


ODD: list[Any] = [None, True, "x", [], [1], {"a": 1}, float("nan"), 10**400, "a\n---\n- b: c"]


@pytest.mark.parametrize(
    "path",
    [
        ["dataset"], ["dataset", "signature"], ["metrics", "bleu", "low"], ["metrics", "bleu", "high"],
        ["metrics", "bleu", "signature"], ["metrics", "exact_match"], ["metrics", "exact_match", "score"],
        ["metrics", "chrf"],
    ],
    ids=".".join,
)  # fmt: skip
def test_what_a_hand_has_written_beside_the_score(
    path: list[str], make_report: Make, check: Callable[[Any], None], tmp_path: Path
) -> None:
    for value in ODD:
        report = make_report()
        place = report
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = value
        written = write_eval_results(tmp_path, report, BENCHMARK)
        assert written is not None
        found = yaml.safe_load(written.read_text(encoding="utf-8"))
        check(found)
        assert [entry["value"] for entry in found] == [31.25]


@pytest.mark.parametrize("name", ["config", "split"])
def test_an_odd_dataset_in_the_model_index(name: str, make_report: Make) -> None:
    for value in ODD[:-1]:
        if isinstance(value, str):
            continue
        (entry,) = model_index(make_report(dataset={name: value}), BENCHMARK)
        assert name not in entry["results"][0]["dataset"] or name == "split"


def test_model_index(make_report: Make) -> None:
    index = model_index(make_report(bleu=40.0), BENCHMARK)
    name, results = model_index_to_eval_results(index)
    assert name == "rgt"
    assert {(found.metric_name, found.metric_value) for found in results} == {
        ("BLEU-4", 40.0), ("exact match", 6.5), ("chrF", 52.75),
    }  # fmt: skip
    assert {found.dataset_type for found in results} == {BENCHMARK}
    assert {(found.dataset_config, found.dataset_split) for found in results} == {("compose", "test")}
