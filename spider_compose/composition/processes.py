"""Work in batches, shared among processes where the system can fork."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

_Result = TypeVar("_Result")

# Inherited by the forked processes: functions that close over a whole corpus need not be sent to them.
_work: Callable[[Any], Any] | None = None


def in_order(
    work: Callable[[int], _Result], tasks: Sequence[int], workers: int, prepare: Callable[[], object]
) -> Iterator[_Result]:
    """The results of all tasks, in their order.

    Args:
        work: must give the same result in any process.
        workers: processes to share the tasks; one does them here, as do all where there is no fork.
        prepare: called once before the processes are made, for what they should inherit and for errors that
            should be raised here.
    """
    global _work
    if workers <= 1 or len(tasks) <= 1 or "fork" not in multiprocessing.get_all_start_methods():
        yield from map(work, tasks)
        return
    prepare()
    _work = work
    try:
        with multiprocessing.get_context("fork").Pool(min(workers, len(tasks)), _ends_when_told) as pool:
            yield from pool.imap(_do, tasks)
            pool.close()  # they end by themselves; `terminate` would kill them where they stand
            pool.join()
    finally:
        _work = None


def _ends_when_told() -> None:
    """SIGTERM ends the process, whatever the program it was forked from does on it."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _do(task: int) -> Any:
    assert _work is not None
    return _work(task)
