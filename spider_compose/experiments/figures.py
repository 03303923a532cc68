"""Figures of the tables: means over seeds, and differences with their tests."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from statistics import fmean
from typing import Any

from spider_compose.errors import MissingExtraError, ReportError, SpiderComposeError
from spider_compose.experiments.cells import experiment_order, model_order
from spider_compose.experiments.reports import Report, number

METRICS = {"bleu": "BLEU", "human": "human", "exact_match": "exact match", "average": "average"}
"""The paper's three figures and their average, all in percent, and how tables name them."""

TESTED = ("bleu", "exact_match")
"""Metrics with statistics per item, and so with paired tests."""


@dataclass(frozen=True)
class Figure:
    """A metric of a model in an experiment, or a difference of two.

    Attributes:
        by_seed: its value, by seed; empty where nothing was measured.
        intervals: lower and upper bound (95 % of resamples of the test items), by seed.
        p_values: of differences, two-sided, by seed.
        fault: why there is no test where one was to be expected.
    """

    by_seed: Mapping[int, float] = field(default_factory=dict)
    intervals: Mapping[int, tuple[float, float]] = field(default_factory=dict)
    p_values: Mapping[int, float] = field(default_factory=dict)
    fault: str = ""

    @property
    def mean(self) -> float | None:
        """Over seeds; None where there are none."""
        return fmean(self.by_seed.values()) if self.by_seed else None

    @property
    def single(self) -> bool:
        """Whether it rests on one seed."""
        return len(self.by_seed) == 1

    @property
    def bounds(self) -> tuple[float, float] | None:
        """The range over seeds, of a single seed its interval, or None."""
        if len(self.by_seed) > 1:
            return min(self.by_seed.values()), max(self.by_seed.values())
        return next(iter(self.intervals.values()), None)

    @property
    def p_value(self) -> float | None:
        """The largest over seeds: what holds for it holds for each of them."""
        return max(self.p_values.values(), default=None)

    def significant(self, level: float = 0.05) -> bool:
        """Whether the difference is significant with every seed."""
        return bool(self.p_values) and max(self.p_values.values()) < level


class Results:
    """Reports with their ratings, and every figure that can be taken from them.

    Args:
        reports: of cells.
        ratings: content of a ratings.json; None where nobody has rated.
        samples: resamples of paired tests.
    """

    def __init__(
        self, reports: Sequence[Report], ratings: Mapping[str, Any] | None = None, samples: int = 1000
    ) -> None:
        self.reports = tuple(reports)
        self.ratings = ratings
        self.samples = samples
        self._compared: dict[tuple[str, str], dict[str, Any]] = {}

    @cached_property
    def models(self) -> list[str]:
        """Models with a report, as the paper lists them."""
        return sorted({report.identity.model for report in self.reports}, key=model_order)

    @cached_property
    def experiments(self) -> list[str]:
        """Experiments with a report."""
        return sorted({report.identity.experiment for report in self.reports}, key=experiment_order)

    def of(self, model: str, experiment: str) -> dict[int, Report]:
        """Reports of a model in an experiment, by seed."""
        return {
            report.identity.seed: report
            for report in self.reports
            if (report.identity.model, report.identity.experiment) == (model, experiment)
        }

    def figure(self, model: str, experiment: str, metric: str) -> Figure:
        """One of `METRICS`, or another metric of the reports, in percent."""
        values, intervals = {}, {}
        for seed, report in self.of(model, experiment).items():
            value, bounds = self._measured(report, metric)
            if value is not None:
                values[seed] = value
                if bounds is not None:
                    intervals[seed] = bounds
        return Figure(values, intervals)

    def part(self, model: str, experiment: str, division: str, name: str, metric: str) -> Figure:
        """A metric of a part of the test items.

        Args:
            division: `by_num_clauses` or `by_clause_pattern`.
            name: of the part.
            metric: `bleu` or `exact_match`; `num_items` for how many there are.
        """
        values = {}
        for seed, report in self.of(model, experiment).items():
            found = report.metric(division).get(name)
            value = number(found.get(metric)) if isinstance(found, Mapping) else None
            if value is not None:
                values[seed] = value
        return Figure(values)

    def parts(self, experiment: str, division: str) -> dict[str, int]:
        """The parts of an experiment's test items, and how many items each has."""
        found: dict[str, int] = {}
        for report in self.reports:
            if report.identity.experiment == experiment:
                for name, part in report.metric(division).items():
                    count = number(part.get("num_items")) if isinstance(part, Mapping) else None
                    found.setdefault(name, int(count or 0))
        return found

    def difference(self, first: tuple[str, str], second: tuple[str, str], metric: str) -> Figure:
        """A metric of one (model, experiment) minus that of another, over the seeds that both have.

        BLEU and exact match are tested pair by pair of items (paired approximate randomization, interval by
        paired bootstrap), where both were scored on the same items.
        """
        ours, theirs = self.figure(*first, metric), self.figure(*second, metric)
        seeds = [seed for seed in ours.by_seed if seed in theirs.by_seed]
        values = {seed: ours.by_seed[seed] - theirs.by_seed[seed] for seed in seeds}
        if metric not in TESTED:
            return Figure(values)
        intervals, p_values, fault = {}, {}, ""
        for seed in seeds:
            try:
                found = self._compare(self.of(*first)[seed], self.of(*second)[seed])[metric]
            except MissingExtraError:
                raise
            except SpiderComposeError as error:
                fault = f"{first[0]}-{first[1]} and {second[0]}-{second[1]}, seed {seed}: {error}"
                continue
            intervals[seed] = (found["low"], found["high"])
            p_values[seed] = found["p_value"]
        return Figure(values, intervals, p_values, fault)

    def _compare(self, first: Report, second: Report) -> dict[str, Any]:
        names = (first.name, second.name)
        if names not in self._compared:
            try:
                from spider_compose.evaluation.scoring import compare
            except ImportError as error:
                raise MissingExtraError(
                    "paired tests need numpy: pip install 'spider-compose[evaluation]'"
                ) from error
            results = [
                {**report.content["metrics"], "items": report.content.get("items")}
                for report in (first, second)
            ]
            self._compared[names] = compare(*results, samples=self.samples)
        return self._compared[names]

    def _measured(self, report: Report, metric: str) -> tuple[float | None, tuple[float, float] | None]:
        if metric == "human":
            return self._human(report)
        if metric == "average":
            from spider_compose.evaluation.ratings.scale import average_of_metrics

            scores = report.score("bleu"), self._human(report)[0], report.score("exact_match")
            return average_of_metrics(*scores), None
        found = report.metric(metric)
        return report.score(metric), _bounds(found)

    def _human(self, report: Report) -> tuple[float | None, tuple[float, float] | None]:
        system = (self.ratings or {}).get("systems", {}).get(report.name, {})
        return number(system.get("percent")), _bounds(system)


def _bounds(found: Mapping[str, Any]) -> tuple[float, float] | None:
    low, high = number(found.get("low")), number(found.get("high"))
    return None if low is None or high is None else (low, high)


def read_ratings(path: Path) -> dict[str, Any]:
    """Read the ratings.json of `spider-compose rate import`.

    Raises:
        ReportError: the file is missing or holds no ratings.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ReportError(f"cannot read the ratings {path}: {error.strerror}.") from error
    except ValueError as error:
        raise ReportError(f"{path} holds no ratings: it is no JSON ({error}).") from error
    systems = content.get("systems") if isinstance(content, dict) else None
    if not isinstance(systems, dict) or not all(isinstance(one, dict) for one in systems.values()):
        raise ReportError(f"{path} holds no ratings: expected what `spider-compose rate import` writes.")
    return dict(content)


def holm(p_values: Mapping[Any, float], level: float = 0.05) -> set[Any]:
    """Which of several tests stay significant when all are made at once (Holm 1979)."""
    kept = set()
    for place, name in enumerate(sorted(p_values, key=lambda name: p_values[name])):
        if p_values[name] * (len(p_values) - place) >= level:
            break
        kept.add(name)
    return kept
