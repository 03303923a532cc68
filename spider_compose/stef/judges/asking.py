"""Asking a service about many rows at once: in order, with a bounded number at a time and ahead (async)."""

from __future__ import annotations

import asyncio
import math
import random
import threading
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager, contextmanager
from dataclasses import dataclass
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar

from spider_compose.errors import OptionError

Given = TypeVar("Given")
Got = TypeVar("Got")

# Rows read ahead of the one whose answer is waited for: while a batch of questions is parsed, answers to
# these keep coming in.
AHEAD = 512

Session = Callable[[], AbstractAsyncContextManager[Callable[[Given], Awaitable[Got]]]]


def stream_concurrently(
    items: Iterable[Given | None], session: Session[Given, Got], ahead: int = AHEAD
) -> Iterator[Got | None]:
    """One result per item, in order; None for None.

    Args:
        items: read lazily, at most `ahead` beyond the result that is yielded.
        session: opens what the items are asked in; it bounds how many are asked at a time.
    """
    with _event_loop() as run:
        opened = session()
        ask = run(opened.__aenter__()).result()
        window: deque[Future[Got] | None] = deque()
        try:
            for item in items:
                window.append(None if item is None else run(_call(ask, item)))
                while window and (len(window) > ahead or window[0] is None or window[0].done()):
                    yield _result(window.popleft())
            while window:
                yield _result(window.popleft())
        finally:
            for future in window:
                if future is not None:
                    future.cancel()
            run(opened.__aexit__(None, None, None)).result()


async def _call(ask: Callable[[Given], Awaitable[Got]], item: Given) -> Got:
    return await ask(item)


def _result(future: Future[Got] | None) -> Got | None:
    return None if future is None else future.result()


@contextmanager
def _event_loop() -> Iterator[Callable[[Coroutine[Any, Any, Any]], Future[Any]]]:
    """An event loop in a thread of its own, and the function that runs a coroutine in it."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="stef-judge", daemon=True)
    thread.start()

    def run(coroutine: Coroutine[Any, Any, Any]) -> Future[Any]:
        return asyncio.run_coroutine_threadsafe(coroutine, loop)

    try:
        yield run
    finally:
        run(_cancel_rest()).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _cancel_rest() -> None:
    rest = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in rest:
        task.cancel()
    await asyncio.gather(*rest, return_exceptions=True)


class SingleFlight:
    """Rows with one key that are asked about at the same time are asked about once."""

    def __init__(self) -> None:
        self._flying: dict[str, asyncio.Future[Any]] = {}

    async def __call__(self, key: str, ask: Callable[[], Awaitable[Any]]) -> Any:
        """What `ask` gives, or gives another caller under this key."""
        if (flying := self._flying.get(key)) is None:
            flying = self._flying[key] = asyncio.ensure_future(ask())
            flying.add_done_callback(lambda _: self._flying.pop(key, None))
        return await asyncio.shield(flying)


@dataclass(frozen=True)
class Backoff:
    """How long to wait before a request is sent again.

    Attributes:
        first: seconds before the second try; doubled for each one after it.
        longest: most seconds of one wait, also where the server names a time.
    """

    first: float = 1.0
    longest: float = 60.0

    def __post_init__(self) -> None:
        if not 0 <= self.first <= self.longest < math.inf:
            raise OptionError(
                f"`backoff` must have 0 <= first <= longest, but got {self.first} and {self.longest}"
            )

    def seconds(self, tries: int, retry_after: float | None) -> float | None:
        """Seconds to wait after so many tries, or None where the server asks for more than `longest`.

        Half of the wait is random, lest many come back at once.
        """
        own: float = min(self.longest, self.first * 2.0 ** (tries - 1)) * random.uniform(0.5, 1.0)
        if retry_after is None:
            return own
        return None if retry_after > self.longest else max(own, retry_after)


def retry_after(value: str | None) -> float | None:
    """Seconds in a Retry-After header, which has a number or a date; None where it has neither.

    >>> retry_after("3"), retry_after("soon")
    (3.0, None)
    """
    if value is None:
        return None
    try:
        seconds = float(value)
    except ValueError:
        pass
    else:
        return max(0.0, seconds) if seconds == seconds else None  # NaN is no time
    try:
        at = parsedate_to_datetime(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return max(0.0, (at - datetime.now(timezone.utc)).total_seconds()) if at.tzinfo else None
