"""Figures of the tables: means over seeds, and differences with their tests."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from statistics import fmean
from typing import Any

from spider_compose.errors import MissingExtraError, ReportError, SpiderComposeError
from spider_compose.experiments.cells import Identity, experiment_order, model_order
from spider_compose.experiments.reports import Report, is_text, number

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

    def of_seeds(self, seeds: Collection[int]) -> Figure:
        """The same over some seeds alone."""
        return Figure(
            {seed: value for seed, value in self.by_seed.items() if seed in seeds},
            {seed: bounds for seed, bounds in self.intervals.items() if seed in seeds},
            {seed: value for seed, value in self.p_values.items() if seed in seeds},
            self.fault,
        )

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
        self._compared: dict[tuple[Identity, Identity], dict[str, Any]] = {}

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

    def parts(self, experiment: str, division: str) -> dict[str, set[int]]:
        """The parts of an experiment's test items, and how many items each has.

        Returns:
            The numbers by part: one, unless reports were made on different test items.
        """
        found: dict[str, set[int]] = {}
        for report in self.reports:
            if report.identity.experiment == experiment:
                for name, part in report.metric(division).items():
                    count = number(part.get("num_items")) if isinstance(part, Mapping) else None
                    found.setdefault(name, set()).add(int(count or 0))
        return found

    @cached_property
    def rated_without_report(self) -> list[str]:
        """Systems that were rated and that no report is of."""
        names = {report.name for report in self.reports}
        return [system for system in (self.ratings or {}).get("systems", {}) if system not in names]

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
        cells = (first.identity, second.identity)
        if cells not in self._compared:
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
            self._compared[cells] = compare(*results, samples=self.samples)
        return self._compared[cells]

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
        ReportError: the file is missing, or holds no ratings, or such as nobody can have given.
    """
    from spider_compose.evaluation.ratings.study import FORMAT

    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ReportError(f"cannot read the ratings {path}: {error.strerror}.") from error
    except (ValueError, RecursionError) as error:
        raise ReportError(f"{path} holds no ratings: it is no JSON ({error}).") from error
    systems = content.get("systems") if isinstance(content, dict) and is_text(content) else None
    if not isinstance(systems, dict) or not all(isinstance(one, dict) for one in systems.values()):
        raise ReportError(f"{path} holds no ratings: expected what `spider-compose rate import` writes.")
    if content.get("format") != FORMAT:
        raise ReportError(f"{path}: expected ratings of format {FORMAT}, got {content.get('format')!r:.80}.")
    raters = content.get("raters")
    if type(raters) is not int or raters < 0:
        raise _not_rated(path, "raters", "a whole number, 0 or more", raters)
    _check_range(path, "alpha", content.get("alpha"), -math.inf, 1)
    for name, system in systems.items():
        for figure in ("percent", "low", "high"):
            _check_range(path, f"{figure}` of the system `{name}", system.get(figure), 0, 100)
        low, high = _bounds(system) or (0, 100)
        if low > high:
            raise _not_rated(path, f"high` of the system `{name}", f"`low`, {low:g}, or more", high)
    return dict(content)


def _check_range(path: Path, name: str, value: Any, low: float, high: float) -> None:
    if value is None:
        return
    found = number(value)
    if found is None or not low <= found <= high:
        bounds = f"{low:g} to {high:g}" if math.isfinite(low) else f"{high:g} at most"
        raise _not_rated(path, name, f"a number, {bounds}, or null", value)


def _not_rated(path: Path, name: str, expected: str, value: Any) -> ReportError:
    return ReportError(
        f"{path}: `{name}` must be {expected}, but got {value!r:.80}. Take the ratings as "
        "`spider-compose rate import` wrote them."
    )


def holm(p_values: Mapping[Any, float], level: float = 0.05) -> set[Any]:
    """Which of several tests stay significant when all are made at once (Holm 1979)."""
    kept = set()
    for place, name in enumerate(sorted(p_values, key=lambda name: p_values[name])):
        if p_values[name] * (len(p_values) - place) >= level:
            break
        kept.add(name)
    return kept
