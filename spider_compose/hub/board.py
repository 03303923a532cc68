"""The leaderboard as values: who takes part, with which scores, in which order.

An entrant is a model in one size. Its figures are those of `experiments`: means over seeds, intervals over
test items, and the difference of experiment 1 and 2 with its paired test.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from spider_compose.errors import HubError, choose
from spider_compose.experiments.cells import MODELS, experiment_order, model_order, model_title
from spider_compose.experiments.figures import TESTED, Figure, Results
from spider_compose.experiments.paper_tables import FIRST, SECOND
from spider_compose.experiments.reports import Report, number
from spider_compose.hub.eval_results import task_of

METRICS = {
    "bleu": "BLEU-4",
    "bleu_multi_reference": "BLEU-4, several references",
    "exact_match": "exact match",
    "normalized_exact_match": "exact match, normalised",
    "chrf": "chrF",
}
"""All in percent, higher is better."""

OWN, SEQ2SEQ, CAUSAL, NOT_SAID = "sql-to-text", "seq2seq", "causal", "not said"
KINDS = {
    OWN: "the paper's five",
    SEQ2SEQ: "pretrained seq2seq",
    CAUSAL: "language model",
    NOT_SAID: "not said",
}
"""Kinds of models, and how the page calls them."""

DIFFERENCE, NAME = "difference", "model"
"""What standings can be ordered by, beside the configs: the least loss first, or the name."""


@dataclass(frozen=True)
class Entry:
    """A report and where it is from.

    Attributes:
        where: a file, or a repository on the Hub.
        report: its model is named as the board shows it.
    """

    where: str
    report: Report


@dataclass(frozen=True)
class HubResult:
    """A score of `.eval_results` without a report: BLEU-4 in percent, and nothing else."""

    model: str
    experiment: str
    bleu: float


@dataclass(frozen=True)
class LeftOut:
    """What is not on the board.

    Attributes:
        where: a file, or a repository on the Hub.
        reason: a sentence.
    """

    where: str
    reason: str


@dataclass(frozen=True)
class Entrant:
    """A model in one size.

    Attributes:
        name: of the model.
        kind: one of `KINDS`.
        size: as the report says, or "not said".
        parameters: how many, or None.
        results: its reports.
        scores: BLEU-4 by experiment, where the Hub has no report.
        wheres: where its reports are from.
    """

    name: str
    kind: str
    size: str
    parameters: float | None
    results: Results
    scores: Mapping[str, float] = field(default_factory=dict)
    wheres: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """The model as the paper writes it."""
        return model_title(self.name)

    def figure(self, config: str, metric: str) -> Figure:
        """A score; empty where there is none."""
        found = self.results.figure(self.name, config, metric)
        if found.mean is None and metric == "bleu" and config in self.scores:
            return Figure({0: self.scores[config]})
        return found

    def difference(self, metric: str) -> Figure:
        """Experiment 1 minus experiment 2, where the model was trained for each of them.

        A model that was not would answer the same test twice.
        """
        if not self.trained:
            return Figure()
        return self.results.difference((self.name, FIRST), (self.name, SECOND), metric)

    @cached_property
    def trained(self) -> bool:
        """Whether it was trained on the dataset, as far as its reports say."""
        return bool(self.results.reports) and all(map(_trained, self.results.reports))


@dataclass(frozen=True)
class Board:
    """Everything that is known.

    Attributes:
        entrants: by name and size, the paper's models first.
        left_out: what is not on it, and why.
    """

    entrants: tuple[Entrant, ...]
    left_out: tuple[LeftOut, ...] = ()

    @cached_property
    def configs(self) -> list[str]:
        """Experiments 1 and 2, and every other that has a score."""
        there = {FIRST, SECOND}
        for one in self.entrants:
            there.update(one.results.experiments, one.scores)
        return sorted(there, key=experiment_order)

    @cached_property
    def kinds(self) -> list[str]:
        """Kinds of models that take part."""
        return [kind for kind in KINDS if any(one.kind == kind for one in self.entrants)]

    @cached_property
    def sizes(self) -> list[str]:
        """Sizes that take part."""
        return sorted({one.size for one in self.entrants})


@dataclass(frozen=True)
class Choice:
    """What is shown of a board.

    Attributes:
        metric: one of `METRICS`.
        configs: columns; experiments 1 and 2 where empty.
        kinds: of models; all where empty.
        sizes: of models; all where empty.
        order: a config, best score first; or `DIFFERENCE`, the least first; or `NAME`.
    """

    metric: str = "bleu"
    configs: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    sizes: tuple[str, ...] = ()
    order: str = FIRST

    def __post_init__(self) -> None:
        choose("metric", self.metric, METRICS)
        if not self.configs:
            object.__setattr__(self, "configs", (FIRST, SECOND))
        object.__setattr__(self, "configs", tuple(sorted(set(self.configs), key=experiment_order)))

    @property
    def tested(self) -> bool:
        """Whether differences of the metric have a test."""
        return self.metric in TESTED

    @property
    def both(self) -> bool:
        """Whether the difference of the experiments is shown."""
        return {FIRST, SECOND} <= set(self.configs)


@dataclass(frozen=True)
class Standing:
    """A row of the table.

    Attributes:
        rank: 1 is best; None without the score that the order asks for, or in the order of names.
        figures: by config.
        difference: experiment 1 minus experiment 2.
    """

    rank: int | None
    entrant: Entrant
    figures: Mapping[str, Figure]
    difference: Figure


def standings(board: Board, choice: Choice) -> list[Standing]:
    """The rows of the table, those without the score that the order asks for last."""
    found = []
    for entrant in board.entrants:
        if choice.kinds and entrant.kind not in choice.kinds:
            continue
        if choice.sizes and entrant.size not in choice.sizes:
            continue
        figures = {config: entrant.figure(config, choice.metric) for config in choice.configs}
        if any(figure.mean is not None for figure in figures.values()):
            difference = entrant.difference(choice.metric) if choice.both else Figure()
            found.append(Standing(None, entrant, figures, difference))
    if choice.order == NAME:
        return found

    def key(one: Standing) -> tuple[bool, float]:
        if choice.order == DIFFERENCE:
            value = one.difference.mean
            return value is None, abs(value or 0)
        value = one.entrant.figure(choice.order, choice.metric).mean
        return value is None, -(value or 0)

    ordered = sorted(found, key=key)  # keeps the order of names where scores are equal
    keys = [key(one) for one in ordered]
    ranks = [None if missing else keys.index((missing, value)) + 1 for missing, value in keys]
    return [replace(one, rank=rank) for one, rank in zip(ordered, ranks, strict=True)]


def make_board(
    entries: Iterable[Entry], results: Iterable[HubResult] = (), left_out: Iterable[LeftOut] = ()
) -> Board:
    """Make a board of reports and results.

    Reports that cannot be compared with the others are left out: of some rows alone, of other test data, of
    a model that was trained for another experiment, or a second one of the same training.
    """
    known, outside = _comparable(list(entries))
    grouped: dict[tuple[str, str], list[Entry]] = {}
    for entry in known:
        grouped.setdefault((entry.report.identity.model, _size(entry.report)), []).append(entry)
    scores: dict[str, dict[str, float]] = {}
    for result in results:
        scores.setdefault(result.model, {})[result.experiment] = result.bleu
    entrants = [_entrant(name, size, group, scores.pop(name, {})) for (name, size), group in grouped.items()]
    entrants += [
        Entrant(name, NOT_SAID, NOT_SAID, None, Results(()), found, (name,)) for name, found in scores.items()
    ]
    entrants.sort(key=lambda one: (model_order(one.name), one.size))
    return Board(tuple(entrants), (*left_out, *outside))


def _comparable(entries: Sequence[Entry]) -> tuple[list[Entry], list[LeftOut]]:
    """Reports that can stand side by side, and the others."""
    kept: dict[Any, Entry] = {}
    outside = []
    for entry in entries:
        key = (entry.report.identity, _size(entry.report))
        reason = _fault(entry.report)
        if not reason and key in kept:
            reason = f"a second report of the same model, size, experiment and seed, after {kept[key].where}"
        if reason:
            outside.append(LeftOut(entry.where, reason))
        else:
            kept[key] = entry
    data: dict[str, Counter[str]] = {}
    for entry in kept.values():
        data.setdefault(entry.report.identity.experiment, Counter())[_data(entry.report)] += 1
    # Equal counts: the first that was read.
    usual = {experiment: counts.most_common(1)[0][0] for experiment, counts in data.items()}
    found = []
    for entry in kept.values():
        if _data(entry.report) == usual[entry.report.identity.experiment]:
            found.append(entry)
        else:
            told = f"other test data ({_data(entry.report)}) than most reports of the experiment"
            outside.append(LeftOut(entry.where, told))
    return found, outside


def _fault(report: Report) -> str:
    """Why a report cannot stand on the board; nothing where it can."""
    try:
        task_of(report.content)
    except HubError as error:
        return str(error).rstrip(".")
    trained = report.part("trained").get("experiment")
    if trained is not None and trained != report.identity.experiment:
        return f"trained for {trained}, but tested on {report.identity.experiment}: a result of neither"
    scores = {metric: report.score(metric) for metric in METRICS}
    if scores["bleu"] is None:
        return "it lacks the score of BLEU-4"
    wrong = [name for name, score in scores.items() if score is not None and not 0 <= score <= 100]
    return f"{METRICS[wrong[0]]} is {scores[wrong[0]]:g}, not 0 to 100" if wrong else ""


def _entrant(name: str, size: str, entries: Sequence[Entry], scores: Mapping[str, float]) -> Entrant:
    reports = [entry.report for entry in entries]
    return Entrant(
        name,
        _kind(reports[0]),
        size,
        number(reports[0].content.get("num_parameters")),
        Results(reports),
        scores,
        wheres=tuple(entry.where for entry in entries),
    )


def _kind(report: Report) -> str:
    said = report.content.get("model_kind")
    if isinstance(said, str) and said in KINDS:
        return said
    if report.identity.model.rpartition("/")[2] in MODELS:
        return OWN
    return SEQ2SEQ if _trained(report) else NOT_SAID  # what else this package trains


def _size(report: Report) -> str:
    return report.text("size") or NOT_SAID


def _trained(report: Report) -> bool:
    """Whether its model was trained for its experiment; the report of a training needs not say so."""
    return report.content.get("kind") != "evaluation" or bool(report.part("trained"))


def _data(report: Report) -> str:
    return str(report.part("dataset").get("signature"))
