"""The figures of trained models in the README, the tables and the cards are those of the reports."""

from __future__ import annotations

from pathlib import Path

import pytest

from spider_compose.experiments.cells import MODELS
from spider_compose.experiments.figures import Results
from spider_compose.experiments.model_cards import write_cards
from spider_compose.experiments.report import ExperimentReport
from spider_compose.experiments.reports import Report, read_reports

REPOSITORY = Path(__file__).resolve().parents[2]
REPORTS = REPOSITORY / "trainers" / "reports"
SEED = 1


@pytest.fixture(scope="module")
def results() -> Results:
    return Results(read_reports(REPORTS))


def _told(report: Report, metric: str) -> str:
    found = report.metric(metric)
    return f"{found['score']:.1f} [{found['low']:.1f}, {found['high']:.1f}]"


@pytest.mark.parametrize("model", MODELS)
def test_rows_of_the_models(results: Results, model: str) -> None:
    cells = [
        results.of(model, experiment)[SEED]
        for experiment in ("compose", "compose_no_overlap", "compose_control")
    ]
    scores = [report.score("bleu") for report in cells]
    assert None not in scores
    row = [
        MODELS[model],
        *(_told(report, "bleu") for report in cells[:2]),
        f"{scores[0] - scores[1]:.1f}",
        _told(cells[2], "bleu"),
        *(f"{report.score('exact_match'):.1f}" for report in cells[:2]),
    ]
    assert f"| {' | '.join(row)} |" in (REPOSITORY / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("model", MODELS)
def test_rows_of_the_baseline_splits(results: Results, model: str) -> None:
    cells = [
        results.of(model, experiment)[SEED]
        for experiment in ("compose", "spider_template", "spider_tmcd", "spider")
    ]
    row = " | ".join([MODELS[model], *(_told(report, "bleu") for report in cells)])
    assert f"| {row} |" in (REPOSITORY / "README.md").read_text(encoding="utf-8")


def test_tables(results: Results) -> None:
    """`spider-compose experiment report --markdown FILE`, below a heading of its own."""
    text = (REPORTS / "README.md").read_text(encoding="utf-8")
    assert text.partition("\n## ")[2] == ExperimentReport(results).markdown().partition("## ")[2]


def test_cards(results: Results, tmp_path: Path) -> None:
    """`spider-compose experiment cards`, of every model that has a report."""
    written = {path.name: path.read_bytes() for path in write_cards(results, tmp_path)}
    assert {path.name: path.read_bytes() for path in (REPOSITORY / "model_cards").glob("*.md")} == written
