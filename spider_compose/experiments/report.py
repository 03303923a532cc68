"""The report of all cells: findings, tables, and how they were come by, as text, Markdown and JSON."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from spider_compose.experiments import findings as findings_module
from spider_compose.experiments.error_tables import error_tables
from spider_compose.experiments.figures import Results
from spider_compose.experiments.findings import Finding, findings
from spider_compose.experiments.paper_tables import (
    further_metrics,
    significance_tables,
    table_9,
    table_10,
    table_11,
    training_table,
)
from spider_compose.experiments.tables import Table, render_markdown, render_text


@dataclass(frozen=True)
class ExperimentReport:
    """All that can be said of a set of reports."""

    results: Results

    @cached_property
    def findings(self) -> list[Finding]:
        """What the paper says, and whether it holds here."""
        return findings(self.results)

    @cached_property
    def sections(self) -> dict[str, list[Table]]:
        """Tables by the heading they stand under."""
        sections = {
            "The paper's tables": [table_9(self.results), table_10(self.results), table_11(self.results)],
            "Further metrics": [further_metrics(self.results)],
            "Models against each other": significance_tables(self.results),
            "Error analysis (section 5.2)": error_tables(self.results),
            "Trainings": [training_table(self.results)],
        }
        return {heading: tables for heading, tables in sections.items() if tables}

    @property
    def tables(self) -> list[Table]:
        """All tables."""
        return [table for tables in self.sections.values() for table in tables]

    def text(self) -> str:
        """For the terminal."""
        parts = [
            "Findings of the paper, from our reports",
            findings_module.render_text(self.findings),
            *map(render_text, self.tables),
            "\n".join(f"{report.name}: {report.text('signature')}" for report in self.results.reports),
        ]
        return "\n\n\n".join(parts)

    def markdown(self) -> str:
        """For documents."""
        parts = ["## Findings\n", findings_module.render_markdown(self.findings) + "\n"]
        for heading, tables in self.sections.items():
            parts += [f"## {heading}\n", *map(render_markdown, tables)]
        return "\n".join(parts)

    def to_dict(self) -> dict[str, Any]:
        """For programs."""
        return {
            "findings": [finding.to_dict() for finding in self.findings],
            "tables": [table.to_dict() for table in self.tables],
            "signatures": {report.name: report.text("signature") for report in self.results.reports},
        }
