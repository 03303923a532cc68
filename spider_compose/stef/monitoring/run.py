"""One run over a log: what is new gets its score, in this process or in several, and goes to the folder."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from itertools import chain, tee
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from spider_compose.errors import OptionError, SpiderComposeError
from spider_compose.language import BATCH_SIZE
from spider_compose.stef.judges.rules import RulesJudge
from spider_compose.stef.monitoring.log import Log, LogRow
from spider_compose.stef.monitoring.store import ScoreStore, scored_table
from spider_compose.stef.score import PassedOver, Result, Scorer

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

# Batches that wait for a worker, for each of them: enough that none waits for the log.
_AHEAD = 3


@dataclass(frozen=True)
class Batch:
    """Rows that are read together, and which of them are new.

    Attributes:
        rows: all of them.
        new: one mark for each.
    """

    rows: Sequence[LogRow]
    new: Sequence[bool]

    def given(self) -> list[dict[str, Any]]:
        """The rows as the score takes them."""
        return [
            dict(row.fields) if new else PassedOver(row.fields)
            for row, new in zip(self.rows, self.new, strict=True)
        ]

    def table(self, results: Iterable[Result], signature: str) -> pa.Table:
        """The new rows with their results."""
        marked = zip(self.rows, self.new, results, strict=True)
        found = [(row, result) for row, new, result in marked if new]
        return scored_table([row for row, _ in found], [result for _, result in found], signature)


def new_batches(batches: Iterable[list[LogRow]], store: ScoreStore) -> Iterator[Batch]:
    """The batches that have a row the folder has not; the others are passed over whole."""
    for rows in batches:
        new = [store.take(row) for row in rows]
        if any(new):
            yield Batch(rows, new)


def score_log(
    log: Log,
    scorer: Scorer,
    store: ScoreStore,
    workers: int = 1,
    progress: Callable[[ScoreStore], None] | None = None,
) -> None:
    """Score what is new in a log.

    Args:
        log: the rows.
        scorer: scores them.
        store: where the scores go.
        workers: processes; 1 stays in this one. Results are the same for any number.
        progress: called after each batch.

    Raises:
        OptionError: `workers` is below 1, or above 1 with a judge that asks a model.
        SpiderComposeError: the log cannot be read, or a worker died.
        OutputError: the folder cannot be written.
    """
    if workers < 1:
        raise OptionError(f"`workers` must be at least 1, but got {workers}")
    batches = new_batches(log.batches(), store)
    tables = _here(batches, scorer, store) if workers == 1 else _in_workers(batches, scorer, workers)
    for table in tables:
        store.add(table)
        if progress is not None:
            progress(store)


def _here(batches: Iterable[Batch], scorer: Scorer, store: ScoreStore) -> Iterator[pa.Table]:
    """Scored rows, in tables of a batch at most; smaller where a judge is slow and a part is due."""
    first, second = tee(batches)
    rows = chain.from_iterable(zip(batch.rows, batch.new, strict=True) for batch in first)
    results = scorer.score_batches(batch.given() for batch in second)
    held: list[tuple[LogRow, Result]] = []
    for (row, new), result in zip(rows, results, strict=True):
        if new:
            held.append((row, result))
        if len(held) == BATCH_SIZE or (held and store.due):
            yield _table(held, scorer.signature)
            held = []
    if held:
        yield _table(held, scorer.signature)


def _table(scored: Sequence[tuple[LogRow, Result]], signature: str) -> pa.Table:
    return scored_table([row for row, _ in scored], [result for _, result in scored], signature)


def _in_workers(batches: Iterable[Batch], scorer: Scorer, workers: int) -> Iterator[pa.Table]:
    """Scored rows, a table for each batch, in the order of the batches."""
    from multiprocessing import get_context

    if not isinstance(scorer.judge, RulesJudge):
        raise OptionError(
            f"`workers` must be 1 with a judge that asks a model, but got {workers}: such a judge waits more "
            "than it computes, and has one budget; raise `--concurrency` instead"
        )
    # A fresh interpreter each: a fork would copy the threads' locks of pyarrow in whatever state they are.
    context = get_context("spawn")
    open_while_wanted, wanted = context.Pipe(duplex=False)
    pool = ProcessPoolExecutor(workers, context, _start_worker, (scorer, open_while_wanted))
    waiting: list[Future[pa.Table]] = []
    try:
        for batch in batches:
            waiting.append(_submit(pool, batch))
            if len(waiting) > workers * _AHEAD:
                yield waiting.pop(0).result()
        while waiting:
            yield waiting.pop(0).result()
    except BrokenProcessPool as error:
        # The pool ends those it knew when one died, and waits for ever for one that it was just starting.
        wanted.close()
        raise SpiderComposeError(
            "a worker died (killed, or out of memory); what was written stays: run the same command again, "
            "with fewer `--workers` if memory is short, and it does the rest"
        ) from error
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
        wanted.close()
        open_while_wanted.close()


def _submit(pool: ProcessPoolExecutor, batch: Batch) -> Future[pa.Table]:
    try:
        return pool.submit(_score_batch, batch)
    except OSError as error:  # no memory for another process, or one died while the next was started
        raise BrokenProcessPool(str(error)) from error


_scorer: Scorer | None = None


def _start_worker(scorer: Scorer, open_while_wanted: Connection) -> None:
    """Keep the scorer, and end when the parent does: it may be killed without a word to its workers.

    Args:
        scorer: scores what the worker is given.
        open_while_wanted: the parent closes its other end when the worker is to end at once.
    """
    global _scorer
    _scorer = scorer
    import signal
    from multiprocessing import parent_process
    from multiprocessing.connection import wait
    from threading import Thread

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to the parent as well, which ends the pool
    parent = parent_process()
    if parent is not None:
        watched: list[Any] = [parent.sentinel, open_while_wanted]
        Thread(target=lambda: (wait(watched), os._exit(1)), daemon=True).start()


def _score_batch(batch: Batch) -> pa.Table:
    """One batch, in a worker."""
    if _scorer is None:
        raise RuntimeError("the worker was not started")
    return batch.table(_scorer.score_batches([batch.given()]), _scorer.signature)
