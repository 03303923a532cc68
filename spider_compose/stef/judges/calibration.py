"""Calibration: from what a judge believes to how often it is right, fitted on labelled rows.

What a model states is usually too high. Two maps: `isotonic`, rising steps, read off between their points,
for some hundred rows or more; `temperature`, one slope and one shift of the log odds, for fewer.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from spider_compose.errors import SpiderComposeError, choose

METHODS = ("isotonic", "temperature")

# Beliefs and probabilities stay this far from 0 and 1: no judge is certain.
LEAST = 0.01

# Fewer rows say nothing; how many say enough is for the table of agreement to tell.
LEAST_ROWS = 10


@dataclass(frozen=True)
class Calibration:
    """A rising map from belief to probability.

    Attributes:
        method: "isotonic" or "temperature".
        points: (belief, probability), rising, read off linearly; of temperature: (slope, shift) alone.
        judge: signature of the judge it was fitted for, without calibration.
        rows: labelled rows it stands on.
        fingerprint: digest of these rows.
    """

    method: str
    points: tuple[tuple[float, float], ...]
    judge: str = ""
    rows: int = 0
    fingerprint: str = ""

    def __call__(self, belief: float) -> float:
        """The probability in [0, 1] that the query is right."""
        if self.method == "temperature":
            slope, shift = self.points[0]
            return _clipped(1 / (1 + math.exp(-(slope * _odds(belief) + shift))))
        below = [point for point in self.points if point[0] <= belief]
        above = [point for point in self.points if point[0] >= belief]
        if not below or not above:
            return (above or below)[0 if above else -1][1]
        (left, low), (right, high) = below[-1], above[0]
        return low if right == left else low + (high - low) * (belief - left) / (right - left)

    def _is_rising(self) -> bool:
        """Whether the map is one: finite, from beliefs to probabilities, never falling."""
        if not all(math.isfinite(number) for point in self.points for number in point):
            return False
        if self.method == "temperature":
            return len(self.points) == 1 and self.points[0][0] >= 0
        inside = all(0 <= number <= 1 for point in self.points for number in point)
        return inside and all(
            x <= u and y <= v for (x, y), (u, v) in zip(self.points, self.points[1:], strict=False)
        )

    @cached_property
    def digest(self) -> str:
        """Eight hexadecimal digits that change with the map and its judge, for the signature."""
        return hashlib.sha256(json.dumps([self.method, self.points, self.judge]).encode()).hexdigest()[:8]

    def write(self, path: str | Path) -> None:
        """Write it as JSON."""
        document = {"format": 1, **asdict(self), "signature": self.digest}
        Path(path).write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")

    @classmethod
    def read(cls, path: str | Path) -> Calibration:
        """The calibration of a file.

        Raises:
            SpiderComposeError: it cannot be read or is no calibration, or was changed by hand.
        """
        try:
            document: Mapping[str, Any] = json.loads(Path(path).read_text(encoding="utf-8"))
            points = tuple((float(x), float(y)) for x, y in document["points"])
            method = choose("method", document["method"], METHODS)
            found = cls(
                method, points, str(document["judge"]), int(document["rows"]), document["fingerprint"]
            )
            signed = document["signature"] == found.digest
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise SpiderComposeError(f"cannot read a calibration from {path}: {error!r}") from error
        if not points or not signed or not found._is_rising():
            raise SpiderComposeError(f"the calibration {path} does not match its signature; fit it again")
        return found


def fit(
    beliefs: Sequence[float], labels: Sequence[bool], method: str = "isotonic", judge: str = ""
) -> Calibration:
    """Fit a calibration.

    Args:
        beliefs: of a judge, by row.
        labels: whether the row's query is right.

    Raises:
        SpiderComposeError: there are not both right and wrong rows.
    """
    choose("method", method, METHODS)
    if len(set(labels)) < 2:
        raise SpiderComposeError("a calibration needs right and wrong rows, but got only one kind")
    if len(labels) < LEAST_ROWS:
        raise SpiderComposeError(f"a calibration needs {LEAST_ROWS} rows or more, but got {len(labels)}")
    if not all(0 <= belief <= 1 for belief in beliefs):  # NaN too
        raise SpiderComposeError("a calibration needs beliefs from 0 to 1")
    points = _isotonic(beliefs, labels) if method == "isotonic" else (_temperature(beliefs, labels),)
    rows = json.dumps([list(beliefs), [bool(label) for label in labels]])
    return Calibration(method, points, judge, len(labels), hashlib.sha256(rows.encode()).hexdigest()[:12])


def _isotonic(beliefs: Sequence[float], labels: Sequence[bool]) -> tuple[tuple[float, float], ...]:
    """Pool adjacent violators; each block gives the points of its first and its last belief."""
    counts: dict[float, tuple[int, int]] = {}
    for belief, label in zip(beliefs, labels, strict=True):
        right, rows = counts.get(belief, (0, 0))
        counts[belief] = (right + bool(label), rows + 1)
    blocks: list[tuple[float, float, int, int]] = []  # first belief, last belief, right, rows
    for belief in sorted(counts):
        first, (right, rows) = belief, counts[belief]
        while blocks and blocks[-1][2] * rows >= right * blocks[-1][3]:
            first, _, more_right, more_rows = blocks.pop()
            right, rows = right + more_right, rows + more_rows
        blocks.append((first, belief, right, rows))
    points: list[tuple[float, float]] = []
    for first, last, right, rows in blocks:
        p = round(_clipped((right + 0.5) / (rows + 1)), 6)  # half a row of each kind: few rows prove little
        p = max(p, points[-1][1]) if points else p
        points += [(first, p)] if first == last else [(first, p), (last, p)]
    return tuple(points)


def _temperature(beliefs: Sequence[float], labels: Sequence[bool]) -> tuple[float, float]:
    """Slope (one over the temperature) and shift, by Newton's method with a slight pull to (1, 0)."""
    odds = [_odds(belief) for belief in beliefs]
    slope, shift = 1.0, 0.0

    def loss(slope: float, shift: float) -> float:
        lost = (math.log1p(math.exp(-abs(z := slope * x + shift))) + max(z, 0.0) - z * y for x, y in rows)
        return math.fsum(lost) + ((slope - 1) ** 2 + shift**2) / 2

    rows = list(zip(odds, map(float, labels), strict=True))
    for _ in range(100):
        p = [1 / (1 + math.exp(-max(-500.0, min(500.0, slope * x + shift)))) for x, _ in rows]
        g0 = math.fsum((q - y) * x for q, (x, y) in zip(p, rows, strict=True)) + slope - 1
        g1 = math.fsum(q - y for q, (_, y) in zip(p, rows, strict=True)) + shift
        h00 = math.fsum(q * (1 - q) * x * x for q, (x, _) in zip(p, rows, strict=True)) + 1
        h01 = math.fsum(q * (1 - q) * x for q, (x, _) in zip(p, rows, strict=True))
        h11 = math.fsum(q * (1 - q) for q in p) + 1
        determinant = h00 * h11 - h01 * h01
        step = ((h11 * g0 - h01 * g1) / determinant, (h00 * g1 - h01 * g0) / determinant)
        if abs(step[0]) + abs(step[1]) < 1e-9:
            break
        share, before = 1.0, loss(slope, shift)
        # A full step may overshoot where beliefs are near 0 or 1.
        while loss(slope - share * step[0], shift - share * step[1]) > before and share > 1e-6:
            share /= 2
        slope, shift = slope - share * step[0], shift - share * step[1]
    # A judge that is right the less the surer it is gets one probability for all: the map must not fall.
    flat = (0.0, round(_odds(sum(labels) / len(labels)), 6))
    return (round(slope, 6), round(shift, 6)) if slope > 0 else flat


def _clipped(p: float) -> float:
    return min(1 - LEAST, max(LEAST, p))


def _odds(p: float) -> float:
    p = _clipped(p)
    return math.log(p / (1 - p))
