"""Where the leaderboard reads: a folder of reports, and the models on the Hub with results of a benchmark.

A file that is no report costs nothing but itself: it is named among what is left out, with the reason.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from spider_compose.errors import HubError, MissingExtraError, ReportError
from spider_compose.experiments.cells import MODELS
from spider_compose.experiments.reports import Report, number, read_report, report_paths
from spider_compose.hub.benchmark import TASKS
from spider_compose.hub.board import Board, Entry, HubResult, LeftOut, make_board
from spider_compose.hub.refusals import Told, check_address

MAX_BYTES = 50_000_000
"""Of a report: ours have 100 kB for 200 items."""

HUB_SECONDS = 600
"""How long what the Hub has said is not asked again."""

_REPOSITORY = re.compile(r"(?=.{1,96}$)\w(?:[\w.-]*\w)?/\w(?:[\w.-]*\w)?", re.ASCII)

Read = tuple[list[Entry], list[HubResult], list[LeftOut]]


def read_folder(folder: Path) -> Read:
    """The reports of a folder.

    Raises:
        ReportError: there is no such folder.
    """
    if not folder.is_dir():
        raise ReportError(f"no folder with reports at {folder}: `spider-compose experiment run` writes it.")
    entries, left_out = [], []
    for name, path in report_paths(folder).items():
        try:
            entries.append(Entry(name, _read(path)))
        except ReportError as error:
            left_out.append(LeftOut(name, str(error).replace(str(path), name)))
    return entries, [], left_out


def read_benchmark(dataset_id: str, endpoint: str | None = None) -> Read:
    """The models on the Hub that have results of a benchmark.

    Of a model whose repository has a `report.json` with the same score, as `push model` writes it, that is
    read; of others the score in `.eval_results` alone.

    Args:
        dataset_id: owner/name of the benchmark.
        endpoint: address of the Hub, if it is not the usual one.

    Raises:
        HubError: the Hub cannot be reached, or has no such benchmark.
        OptionError: the endpoint is no address.
        MissingExtraError: huggingface_hub is missing.
    """
    check_benchmark_name(dataset_id)
    try:
        from huggingface_hub import HfApi, constants
    except ImportError as error:
        raise MissingExtraError(
            "results on the Hub need huggingface_hub: pip install 'spider-compose[spaces]'"
        ) from error
    api = HfApi(endpoint=check_address(endpoint or constants.ENDPOINT), library_name="spider_compose")
    with Told(api.endpoint, dataset_id, reading=True)("reading the benchmark's results"):
        # Fine-tuned models too, and each once: the list has a line for each task.
        listed = api.get_dataset_leaderboard(dataset_id, base_model_only=False)
    entries: list[Entry] = []
    results: list[HubResult] = []
    left_out: list[LeftOut] = []
    for model_id in dict.fromkeys(str(entry.model_id) for entry in listed):
        try:
            with Told(api.endpoint, model_id, reading=True)("reading its results"):
                scores = _scores(api, model_id, dataset_id)
                found = _report_of(api, model_id, scores)
        except HubError as error:
            left_out.append(LeftOut(model_id, str(error)))
            continue
        if isinstance(found, Entry):
            entries.append(found)
            del scores[found.report.identity.experiment]
        elif found is not None:
            left_out.append(found)
        results += [HubResult(model_id, task, value) for task, value in scores.items()]
    return entries, results, left_out


def check_benchmark_name(dataset_id: str) -> None:
    """Whether a benchmark is named as owner/name.

    Raises:
        HubError: it is not.
    """
    if not _REPOSITORY.fullmatch(dataset_id):
        raise HubError(f"a benchmark is a dataset on the Hub, as owner/name, but got {dataset_id!r}.")


def _scores(api: Any, model_id: str, dataset_id: str) -> dict[str, float]:
    """BLEU-4 of a model by task of the benchmark."""
    tasks = {task.id for task in TASKS}
    found = {}
    for result in api.model_info(model_id, expand=["evalResults"]).eval_results or ():
        if result.dataset_id == dataset_id and result.task_id in tasks:
            value = number(result.value)
            if value is None or not 0 <= value <= 100:
                raise HubError(f"the score of {result.task_id} is {result.value!r:.40}, not 0 to 100")
            found[result.task_id] = value
    if not found:
        raise HubError("no result of a task of the benchmark")
    return found


def _report_of(api: Any, model_id: str, scores: dict[str, float]) -> Entry | LeftOut | None:
    """The report in a model's repository, if it says what `.eval_results` says; None where there is none."""
    where = f"{model_id}, report.json"
    listed = api.get_paths_info(model_id, ["report.json"])
    if not listed:
        return None
    if getattr(listed[0], "size", 0) > MAX_BYTES:  # asked before it is fetched: the disk is the Space's
        return LeftOut(where, f"it has more than {MAX_BYTES:,} bytes; the score of .eval_results is shown")
    try:
        report = _read(Path(api.hf_hub_download(model_id, "report.json")))
    except ReportError:
        return LeftOut(where, "it cannot be read; the score of .eval_results is shown")
    score, experiment = report.score("bleu"), report.identity.experiment
    if score is None or round(score, 2) != scores.get(experiment):
        told = (
            f"it says {score} for {experiment}, .eval_results {scores.get(experiment)}; the latter is shown"
        )
        return LeftOut(where, told)
    # The paper's models of one owner are one entrant, whatever their repositories are called: each
    # repository has one experiment.
    own = report.identity.model in MODELS
    name = f"{model_id.partition('/')[0]}/{report.identity.model}" if own else model_id
    return Entry(model_id, replace(report, identity=replace(report.identity, model=name)))


def _read(path: Path) -> Report:
    try:
        size = path.stat().st_size
    except OSError as error:
        raise ReportError(f"cannot read the report {path}: {error.strerror}.") from error
    if size > MAX_BYTES:
        raise ReportError(f"{path} has {size:,} bytes; a report has {MAX_BYTES:,} at most.")
    return read_report(path)


@dataclass
class BoardSource:
    """A board that is read again when something has changed.

    Attributes:
        folder: of reports.
        benchmark: owner/name on the Hub, or None.
        endpoint: address of the Hub, if it is not the usual one.
        clock: seconds.
    """

    folder: Path
    benchmark: str | None = None
    endpoint: str | None = None
    clock: Callable[[], float] = time.monotonic
    _made: tuple[object, Board] | None = field(default=None, repr=False)
    _hub: tuple[float, Read] | None = field(default=None, repr=False)

    def board(self) -> Board:
        """The board as it is now.

        Raises:
            ReportError: there is no such folder.
        """
        hub = self._read_hub()
        state = (self._state(), hub)
        if self._made is None or self._made[0] != state:
            here = read_folder(self.folder)
            board = make_board(here[0] + hub[0], here[1] + hub[1], here[2] + hub[2])
            self._made = state, board
        return self._made[1]

    def _state(self) -> tuple[tuple[str, int, int], ...]:
        """Which files there are: their names, sizes and times."""
        found = []
        for name, path in report_paths(self.folder).items():
            try:
                status = path.stat()
            except OSError:  # removed meanwhile, or a link to nothing
                found.append((name, -1, -1))
            else:
                found.append((name, status.st_size, status.st_mtime_ns))
        return tuple(found)

    def _read_hub(self) -> Read:
        if self.benchmark is None:
            return [], [], []
        if self._hub is None or self.clock() - self._hub[0] > HUB_SECONDS:
            try:
                found = read_benchmark(self.benchmark, self.endpoint)
            except HubError as error:  # the reports are shown all the same
                found = ([], [], [LeftOut(self.benchmark, str(error))])
            self._hub = self.clock(), found
        return self._hub[1]
