"""What a judge may spend, and what it has spent."""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass, field
from typing import Any

from spider_compose.errors import OptionError

# How the reason of a row begins that was not asked about for want of budget.
SPENT = "the budget of "


class BudgetError(Exception):
    """The budget does not cover another request; the message says which part of it is spent."""


@dataclass(frozen=True)
class Prices:
    """Money per million tokens, in any currency.

    Attributes:
        read: for tokens of prompts.
        written: for tokens of answers.
    """

    read: float = 0.0
    written: float = 0.0


@dataclass
class Budget:
    """A limit on requests and tokens, and the count of what was spent; shared by threads.

    Every try is a request, also one that fails. Before a request its tokens are reserved by a guess; the
    server's own count takes its place afterwards.

    Attributes:
        requests: most requests, or None.
        tokens: most tokens, read and written together, or None.
        prices: to tell what it costs.
    """

    requests: int | None = None
    tokens: int | None = None
    prices: Prices = field(default_factory=Prices)
    sent: int = field(default=0, init=False)
    read: int = field(default=0, init=False)
    written: int = field(default=0, init=False)
    retried: int = field(default=0, init=False)
    cached: int = field(default=0, init=False)
    answered: int = field(default=0, init=False)
    failed: int = field(default=0, init=False)
    _reserved: int = field(default=0, init=False, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    def __post_init__(self) -> None:
        for name, value in (("requests", self.requests), ("tokens", self.tokens)):
            if value is not None and value < 0:
                raise OptionError(f"the budget of {name} must be at least 0, but got {value}")
        if not all(0 <= price < math.inf for price in (self.prices.read, self.prices.written)):
            raise OptionError("prices must be numbers of at least 0")

    def take(self, tokens: int) -> None:
        """Count one request and reserve its tokens.

        Raises:
            BudgetError: the budget does not cover it.
        """
        with self._lock:
            if self.requests is not None and self.sent >= self.requests:
                raise BudgetError(f"{SPENT}{self.requests:,} requests is spent")
            held = self.read + self.written + self._reserved
            if self.tokens is not None and held + tokens > self.tokens:
                raise BudgetError(
                    f"{SPENT}{self.tokens:,} tokens is spent: {held:,} are gone or reserved, "
                    f"the next request may take {tokens:,}"
                )
            self.sent += 1
            self._reserved += tokens

    def settle(self, reserved: int, read: int, written: int) -> None:
        """Count what a request took in place of what was reserved for it."""
        with self._lock:
            self._reserved -= reserved
            self.read += read
            self.written += written

    def count(self, name: str) -> None:
        """One more of `retried`, `cached`, `answered` or `failed`."""
        with self._lock:
            setattr(self, name, getattr(self, name) + 1)

    @property
    def cost(self) -> float:
        """What the tokens cost so far."""
        return (self.read * self.prices.read + self.written * self.prices.written) / 1e6

    def as_dict(self) -> dict[str, Any]:
        """The counts, as JSON values."""
        return {
            "answered": self.answered,
            "from_cache": self.cached,
            "failed": self.failed,
            "requests": self.sent,
            "retried": self.retried,
            "tokens_read": self.read,
            "tokens_written": self.written,
            "cost": round(self.cost, 4),
        }

    def line(self) -> str:
        """The counts in one line, for people."""
        cost = f", cost {self.cost:.2f}" if self.cost else ""
        tokens = self.read + self.written
        return (
            f"{self.answered:,} answered ({self.cached:,} from the cache), {self.failed:,} without verdict; "
            f"{self.sent:,} requests, {self.retried:,} of them again, {tokens:,} tokens{cost}"
        )
