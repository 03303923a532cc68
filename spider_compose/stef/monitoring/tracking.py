"""A report's figures for an experiment tracker: a run for each agent, a step for each day."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from typing import Any

from spider_compose.errors import MissingExtraError, SpiderComposeError, choose
from spider_compose.stef.monitoring.report import Report

TRACKERS = ("mlflow", "trackio")

_FIGURES = ("rows", "coverage", "mean", "mean_unscored_as_0", "p50", "p90", "p_correct", "enrichment_quality")


def track(report: Report, tracker: str, project: str = "stef") -> None:
    """Log a report; where to is the tracker's own setting (`MLFLOW_TRACKING_URI`, `TRACKIO_DIR`).

    Args:
        report: of `build_report`.
        tracker: a name of `TRACKERS`.
        project: the project, or MLflow's experiment.

    Raises:
        OptionError: the tracker is unknown.
        MissingExtraError: it is not installed.
        SpiderComposeError: it fails, as where its server does not answer.
    """
    log = {"mlflow": _mlflow, "trackio": _trackio}[choose("--track", tracker, TRACKERS)]
    for agent in report.agents:
        name = agent["agent"] or "(no agent)"
        settings = {"agent": name, "signature": " ".join(report.signatures), "source": report.source}
        days = [day for day in report.days if day["agent"] == agent["agent"] and day["start"]]
        steps = [(day["start"].date().toordinal(), _metrics(day, "day")) for day in days]
        try:
            log(project, name, settings, [*steps, (None, _metrics(agent, "all"))])
        except ImportError as error:
            raise MissingExtraError(f"`--track {tracker}` needs it: pip install {tracker}") from error
        except Exception as error:  # of whatever a tracker stands on
            raise SpiderComposeError(
                f"{tracker} does not take the figures of agent {name!r}: {type(error).__name__}: "
                f"{str(error)[:300]}"
            ) from error


def _metrics(figures: dict[str, Any], over: str) -> dict[str, float]:
    """The figures that have a value."""
    return dict(_values(figures, over))


def _values(figures: dict[str, Any], over: str) -> Iterator[tuple[str, float]]:
    for name in _FIGURES:
        if figures.get(name) is not None:
            yield f"{over}/{name}", float(figures[name])


Steps = list[tuple[int | None, dict[str, float]]]


def _mlflow(project: str, name: str, settings: dict[str, str], steps: Steps) -> None:
    import mlflow

    mlflow.set_experiment(project)
    with mlflow.start_run(run_name=name, nested=mlflow.active_run() is not None):
        mlflow.log_params(settings)
        for step, metrics in steps:
            mlflow.log_metrics(metrics, step=step)


def _trackio(project: str, name: str, settings: dict[str, str], steps: Steps) -> None:
    import trackio

    with redirect_stdout(sys.stderr):  # it talks where the report's JSON may go
        run = trackio.init(
            project=project, name=name, config=settings, embed=False, resume="allow", auto_log_cpu=False
        )
        for step, metrics in steps:
            run.log(metrics, step=step)
        trackio.finish()
