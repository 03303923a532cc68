"""Which rows a scored folder has: 16 bytes of identity and 16 of content for each, in sorted arrays."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Digests = NDArray[np.bytes_]

_WIDTH = "S16"
_RECENT = 100_000  # rows that stand in a dict, which takes eight times the room, before they are sorted in


@dataclass
class Identities:
    """Identity -> content of many rows, in 32 bytes each.

    numpy's fixed texts end at their last byte that is not 0, on both sides alike, so digests compare as they
    are.
    """

    _keys: Digests = field(default_factory=lambda: np.empty(0, _WIDTH))
    _contents: Digests = field(default_factory=lambda: np.empty(0, _WIDTH))
    _recent: dict[bytes, bytes] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self._keys) + len(self._recent)

    def get(self, identity: bytes) -> bytes | None:
        """The content of a row, or None where it is not there."""
        recent = self._recent.get(identity)
        if recent is not None:
            return recent
        place = int(np.searchsorted(self._keys, np.bytes_(identity)))
        if place == len(self._keys) or self._keys[place] != identity.rstrip(b"\0"):
            return None
        return bytes(self._contents[place]).ljust(16, b"\0")

    def add(self, identity: bytes, content: bytes) -> None:
        """Put in a row that is not there."""
        self._recent[identity] = content
        if len(self._recent) >= _RECENT:
            self._merge()

    def _merge(self) -> None:
        keys = np.concatenate([self._keys, np.array(list(self._recent), _WIDTH)])
        contents = np.concatenate([self._contents, np.array(list(self._recent.values()), _WIDTH)])
        order = np.argsort(keys, kind="stable")
        self._keys, self._contents, self._recent = keys[order], contents[order], {}
