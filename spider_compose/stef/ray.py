"""The score on Ray Data, where one machine is not enough: the same rows and results as in one process.

    from spider_compose.stef.ray import Cluster, score_dataset

    log = ray.data.read_parquet("s3://bucket/log")
    scored = score_dataset(log, rules="rules.json", cluster=Cluster(actors=64))
    scored.write_parquet("s3://bucket/scores")

`score_dataset` is a stage for a pipeline of one's own. `score_log` is `stef score LOG --out DIR --ray`: tasks
read the files, actors score the batches, and this process alone writes, so that a run can be killed and
repeated like any other.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from queue import Empty, Queue
from threading import Thread
from typing import Any

from spider_compose.errors import MissingExtraError, OptionError, SpiderComposeError
from spider_compose.language import BATCH_SIZE
from spider_compose.stef.judges.configuration import read_document
from spider_compose.stef.monitoring.formats import STDIN, LogFile, RawRow
from spider_compose.stef.monitoring.identities import Identities
from spider_compose.stef.monitoring.log import DATASETS, Log, LogRow, Reading
from spider_compose.stef.monitoring.parquet_rows import table_rows
from spider_compose.stef.monitoring.run import Batch
from spider_compose.stef.monitoring.scored import SCHEMA
from spider_compose.stef.monitoring.store import ScoreStore
from spider_compose.stef.rules import ApplicationRules
from spider_compose.stef.score import Scorer

try:
    import numpy as np
    import pyarrow as pa
    import ray
    import ray.data
except ImportError as error:
    raise MissingExtraError("scoring on Ray needs it: pip install 'spider-compose[ray]'") from error


_MOST = 10_000_000  # CPUs of an actor, seconds of waiting: beyond it is a slip


@dataclass(frozen=True)
class Cluster:
    """How the work is shared out.

    Whole CPUs for the actors would leave none for the tasks that read, on a machine that has as many CPUs as
    there are actors: the job would wait for ever.

    Attributes:
        actors: scoring actors; None for one per CPU.
        actor_cpus: CPUs that each of them asks for.
        actor_gpus: GPUs likewise, for a judge with a model of its own.
        reader_cpus: CPUs that a task asks for that reads files.
        autoscaling: whether the cluster grows when asked for more than it has.
        stall_seconds: with nothing scored for so long, the run ends in an error.
    """

    actors: int | None = None
    actor_cpus: float = 0.9
    actor_gpus: float = 0.0
    reader_cpus: float = 0.1
    autoscaling: bool = False
    stall_seconds: float = 600.0

    def __post_init__(self) -> None:
        if self.actors is not None and self.actors < 1:
            raise OptionError(f"`actors` must be at least 1, but got {self.actors}")
        for name in ("actor_cpus", "reader_cpus", "stall_seconds"):
            if not 0 < getattr(self, name) <= _MOST:
                raise OptionError(
                    f"`{name}` must be above 0 and at most {_MOST:,}, but got {getattr(self, name)}"
                )
        if not 0 <= self.actor_gpus <= _MOST:
            raise OptionError(f"`actor_gpus` must be from 0 to {_MOST:,}, but got {self.actor_gpus}")

    def sized(self) -> int:
        """The number of actors, held against what the connected cluster has.

        Raises:
            OptionError: it has too little, and does not grow.
        """
        there = ray.cluster_resources()
        cpus, gpus = there.get("CPU", 0.0), there.get("GPU", 0.0)
        actors = self.actors or max(1, int(cpus))
        needed = actors * self.actor_cpus + self.reader_cpus
        for name, asked, has in (("CPUs", needed, cpus), ("GPUs", actors * self.actor_gpus, gpus)):
            if asked > has + 1e-9 and not self.autoscaling:
                raise OptionError(
                    f"{actors} actors of {self.actor_cpus:g} CPUs and {self.actor_gpus:g} GPUs and a reader "
                    f"of {self.reader_cpus:g} CPUs need {asked:g} {name}, but the cluster has {has:g}; use "
                    "fewer `--actors` or less `--actor-cpus`, or say `--autoscaling` where it grows"
                )
        return actors

    def pool(self) -> dict[str, Any]:
        """The arguments of `map_batches` for a stage of scoring actors."""
        return {
            "compute": ray.data.ActorPoolStrategy(size=self.sized()),
            "num_cpus": self.actor_cpus,
            "num_gpus": self.actor_gpus,
        }


@dataclass(frozen=True)
class Work:
    """A batch of the log on its way through the cluster.

    Attributes:
        batch: the rows; once they are scored, without their texts.
        table: the scored rows, those that are new.
        problems: as in `Log.problems`, of this batch.
        failed: as in `Log.failed`, with the last batch of a file.
    """

    batch: Batch
    table: pa.Table | None = None
    problems: Mapping[str, int] = field(default_factory=dict)
    failed: Mapping[str, str] = field(default_factory=dict)


def connect(address: str | None = None) -> None:
    """Connect to a cluster, or start Ray on this machine; nothing is reported to anyone.

    Args:
        address: of a cluster, or "auto" for the one this machine belongs to; None for that of the job that
            runs this, and else for this machine alone.

    Raises:
        SpiderComposeError: there is no cluster.
    """
    if ray.is_initialized():
        return
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        ray.init(address=address, include_dashboard=False if address is None else None, log_to_driver=False)
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise SpiderComposeError(f"cannot connect to Ray at {address or 'this machine'}: {error}") from error


def score_dataset(
    dataset: Any,
    rules: ApplicationRules | Mapping[str, Any] | str | Path | None = None,
    judge: str | Path | Mapping[str, Any] = "rules",
    reading: Reading | None = None,
    cluster: Cluster | None = None,
) -> Any:
    """Score a Ray dataset, lazily.

    Args:
        dataset: rows with a question and SQL, as `stef score` reads them.
        rules: the application's rules, as in `score_rows`.
        judge: a name or a document, as in `Scorer`; each actor has one of its own, with its own budget.
        reading: which column holds what; None for the usual names.
        cluster: how the work is shared out; None for an actor per CPU.

    Returns:
        A Ray dataset with the columns of `monitoring.scored.SCHEMA`; `origin` is "".

    Raises:
        OptionError: the cluster has too few CPUs, or an option has a value outside its range.
    """
    cluster = cluster or Cluster()
    arguments = (ApplicationRules.read(rules), read_document(judge), reading or Reading())
    return dataset.map_batches(
        _ScoreRows,
        fn_constructor_args=arguments,
        batch_size=BATCH_SIZE,
        batch_format="pyarrow",
        **cluster.pool(),
    )


def score_log(
    log: Log,
    scorer: Scorer,
    store: ScoreStore,
    cluster: Cluster | None = None,
    progress: Callable[[ScoreStore], None] | None = None,
) -> None:
    """Score what is new in a log, as `monitoring.run.score_log`, on the connected cluster.

    The files must be there for every machine of the cluster under the same path; the folder for this one.

    Raises:
        OptionError: the log is no file or folder, or the cluster has too few CPUs.
        SpiderComposeError: nothing was scored for too long, or a part of the cluster failed.
        OutputError: the folder cannot be written.
    """
    if log.source == STDIN or log.source.startswith(DATASETS):
        raise OptionError(f"on Ray a log must be a file or a folder that all machines see, not {log.source}")
    cluster = cluster or Cluster()
    here = replace(log, source=str(Path(log.source).resolve()))
    files = here.files()
    log.failed.update(here.failed)
    if any(file.once for file in files):
        raise OptionError(f"on Ray a log must be a file or a folder that all machines see, not {log.source}")
    if not files:
        return
    dataset = _dataset(here, files, scorer, store.known, cluster)
    for work in _watched(dataset, cluster):
        for name, count in work.problems.items():
            log.problems[name] = log.problems.get(name, 0) + count
        log.failed.update(work.failed)
        # Marked again here: rows of two files may be the same, and are read side by side.
        taken = [store.take(row) for row in work.batch.rows]
        new = [taken for taken, new in zip(taken, work.batch.new, strict=True) if new]
        if work.table is not None and any(new):
            store.add(work.table.filter(pa.array(new)))
        if progress is not None:
            progress(store)


def _dataset(log: Log, files: list[LogFile], scorer: Scorer, known: Identities, cluster: Cluster) -> Any:
    known_everywhere = ray.put(known)

    def read(batch: dict[str, Any]) -> Iterator[dict[str, Any]]:
        for place in batch["file"]:
            own = replace(log, problems={}, failed={})
            for work in _read(own, files[int(place)], ray.get(known_everywhere)):
                yield {"work": _objects([work])}

    places = [{"file": number} for number in range(len(files))]
    dataset = ray.data.from_items(places, override_num_blocks=max(1, len(files)))
    context = dataset.context
    context.enable_progress_bars = False
    context.execution_options.preserve_order = True  # of rows with one id the first of the log stays
    context.target_max_block_size = 1  # each batch is a block, and goes to whichever actor is free
    return dataset.map_batches(read, batch_size=1, num_cpus=cluster.reader_cpus).map_batches(
        _ScoreWork,
        fn_constructor_args=(
            scorer.rules,
            scorer.judge,
            scorer.weights,
            scorer.spacy_model,
            scorer.signature,
        ),
        batch_size=1,
        batch_format="numpy",
        **cluster.pool(),
    )


def _read(log: Log, file: LogFile, known: Identities) -> Iterator[Work]:
    """The batches of a file, and what went wrong in it."""
    for rows in log.file_batches(file):
        new = [known.get(row.identity) is None for row in rows]
        yield Work(Batch(rows, new), problems=dict(log.problems))
        log.problems.clear()
    if log.failed:
        yield Work(Batch([], []), failed=dict(log.failed))


class _ScoreWork:
    """An actor that scores batches of a log."""

    def __init__(self, rules: Any, judge: Any, weights: Any, spacy_model: str, signature: str) -> None:
        self.scorer = Scorer(rules, judge, weights, spacy_model)
        if self.scorer.signature != signature:
            raise SpiderComposeError(
                f"{ray.util.get_node_ip_address()} would score under another signature; install the same "
                f"versions on all machines:\n  here  {signature}\n  there {self.scorer.signature}"
            )

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        return {"work": _objects([self.score(work) for work in batch["work"]])}

    def score(self, work: Work) -> Work:
        batch = work.batch
        table = None
        if any(batch.new):
            table = batch.table(self.scorer.score_batches([batch.given()]), self.scorer.signature)
        light = [replace(row, fields={}) for row in batch.rows]
        return replace(work, batch=Batch(light, batch.new), table=table)


class _ScoreRows:
    """An actor that scores the rows of any dataset."""

    def __init__(self, rules: ApplicationRules, judge: Mapping[str, Any], reading: Reading) -> None:
        self.scorer = Scorer(rules, judge)
        self.log = Log("", reading)

    def __call__(self, table: pa.Table) -> pa.Table:
        self.log.reading.columns.check(table.column_names, "the dataset")
        rows: list[LogRow] = [
            self.log.read_row(RawRow(number, values), "") for number, values in enumerate(table_rows(table))
        ]
        batch = Batch(rows, [True] * len(rows))
        found = batch.table(self.scorer.score_batches([batch.given()]), self.scorer.signature)
        return found.cast(SCHEMA)


def _objects(items: list[Any]) -> Any:
    """Python values as a column of Ray's."""
    column = np.empty(len(items), dtype=object)
    column[:] = items
    return column


def _watched(dataset: Any, cluster: Cluster) -> Iterator[Work]:
    """The batches as they come; an error where none comes for too long."""
    come: Queue[Work | BaseException | None] = Queue(maxsize=8)

    def fetch() -> None:
        try:
            for row in dataset.iter_rows():
                come.put(row["work"])
            come.put(None)
        except BaseException as error:  # goes on in the thread that waits
            come.put(error)

    Thread(target=fetch, daemon=True).start()
    while True:
        try:
            got = come.get(timeout=cluster.stall_seconds)
        except Empty:
            raise SpiderComposeError(_stalled(cluster)) from None
        if got is None:
            return
        if isinstance(got, BaseException):
            raise _cause(got) from got
        yield got


def _stalled(cluster: Cluster) -> str:
    has, free = ray.cluster_resources(), ray.available_resources()
    return (
        f"nothing was scored in {cluster.stall_seconds:g} seconds. Of {has.get('CPU', 0):g} CPUs "
        f"{free.get('CPU', 0):g} are free, of {has.get('GPU', 0):g} GPUs {free.get('GPU', 0):g}; each "
        f"actor asks for {cluster.actor_cpus:g} CPUs and {cluster.actor_gpus:g} GPUs, each reader for "
        f"{cluster.reader_cpus:g} CPUs. Other jobs may hold them, or a judge may not answer: see "
        "`ray status`. What was written stays; use fewer `--actors` or a longer `--stall-seconds` and run "
        "again"
    )


def _cause(error: BaseException) -> Exception:
    """Our own error, where one lies under Ray's."""
    under: BaseException | None = error
    while under is not None and not isinstance(under, SpiderComposeError):
        under = getattr(under, "cause", None) or under.__cause__
    return under or SpiderComposeError(f"Ray failed: {type(error).__name__}: {str(error).strip()[-500:]}")
