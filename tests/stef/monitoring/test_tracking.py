"""The figures of a report in an experiment tracker, read back from where it keeps them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("pyarrow")

from spider_compose.errors import MissingExtraError, OptionError, SpiderComposeError
from spider_compose.stef.monitoring.report import Report, build_report
from spider_compose.stef.monitoring.tracking import track


@pytest.fixture
def report(
    scored_rows: Callable[..., list[dict[str, Any]]],
    write_scores: Callable[[Path, list[dict[str, Any]]], Path],
    tmp_path: Path,
) -> Report:
    return build_report(write_scores(tmp_path / "scored", scored_rows(count=60, days=5)))


def test_trackio_has_a_run_for_each_agent(report: Report, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is handed over, at trackio's own names."""
    runs: dict[str, dict[str, Any]] = {}

    def init(project: str, name: str, config: dict[str, str], **settings: Any) -> Any:
        runs[name] = {"project": project, "config": config, "logged": []}
        return SimpleNamespace(log=lambda metrics, step: runs[name]["logged"].append((step, metrics)))

    monkeypatch.setitem(sys.modules, "trackio", SimpleNamespace(init=init, finish=lambda: None))
    track(report, "trackio", "ours")
    assert list(runs) == [agent["agent"] for agent in report.agents]
    for agent in report.agents:
        run = runs[agent["agent"]]
        assert run["project"] == "ours" and run["config"]["signature"] == report.signatures[0]
        assert run["logged"][-1][1]["all/mean"] == agent["mean"]
        days = [day for day in report.days if day["agent"] == agent["agent"] and day["start"]]
        assert [step for step, _ in run["logged"][:-1]] == [day["start"].date().toordinal() for day in days]


def test_mlflow_keeps_them(report: Report, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mlflow = pytest.importorskip(
        "mlflow", reason="needs MLflow: pip install mlflow-skinny sqlalchemy alembic"
    )
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow.set_tracking_uri((tmp_path / "runs").as_uri())
    track(report, "mlflow", "ours")
    client = mlflow.MlflowClient()
    found = client.search_runs([client.get_experiment_by_name("ours").experiment_id])
    assert {run.info.run_name: run.data.metrics["all/mean"] for run in found} == {
        agent["agent"]: agent["mean"] for agent in report.agents
    }


@pytest.mark.parametrize(
    ("tracker", "error"),
    [("wandb", OptionError), ("mlflow", MissingExtraError), ("trackio", MissingExtraError)],
)
def test_trackers_that_are_not_there(
    tracker: str, error: type[Exception], report: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, tracker, None)
    with pytest.raises(error):
        track(report, tracker)


def test_a_tracker_that_fails_is_one_error(report: Report, monkeypatch: pytest.MonkeyPatch) -> None:
    def init(**_: Any) -> Any:
        raise RuntimeError("the server does not answer")

    monkeypatch.setitem(sys.modules, "trackio", SimpleNamespace(init=init))
    with pytest.raises(SpiderComposeError, match=r"trackio .* 'A': RuntimeError: the server does not answer"):
        track(report, "trackio")
