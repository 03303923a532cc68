"""TMCD to the end: annealed exchanges of many rows at once, under exact divergence.

With a + b fixed for every compound (a in train, b in rest), the shared sum of a^0.1 b^0.9 is concave in b:
the best splits have each compound in one part as far as the atoms allow, and rows that share compounds have
to move together. Single swaps cannot get there, since the first row of such a group moves at a loss. So a
round

1. ranks the queries of `rest` by the exact change of the shared sum, per row, if all their rows went to
   `train`, and moves the best until `batch` rows have moved;
2. ranks the queries of `train` in the same way against the new counts, and moves as many rows to `rest`,
   skipping rows that hold the last occurrence of an atom in `train`.

Noise is added to the ranks, and noise and batch shrink from round to round (annealing; the batch is what the
temperature is scaled for). A last descent without noise keeps only rounds that raise D. The best split seen
counts.

Rows with the same query are interchangeable, so the state is the number of rows of each distinct query in
`rest`. The number of rounds is fixed, so time and memory are proportional to the compounds of the corpus.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING

from spider_compose.errors import MissingExtraError
from spider_compose.splits.compounds import Analysis

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]
    Floats = NDArray[np.float64]

ROUNDS = 600
BATCH = (0.2, 0.002)
"""Rows exchanged in the first and the last round, as a share of `rest`; in between geometric."""
NOISE = (3.0, 0.03)
"""Scale of the noise in the first and the last round, in units of 1 / rows of `rest` of a relative change."""
# Ranks are compared in whole ticks, so that the last bit of a sum decides on no machine.
_TICKS = 1e9


def maximise(
    analysis: Analysis, train: Sequence[int], rest: Sequence[int], seed: int
) -> tuple[list[int], list[int]]:
    """Raise the divergence of a split whose `rest` has no atom that `train` lacks.

    Args:
        analysis: the corpus.
        train: positions in `analysis.rows`; and rest: the others. Sizes stay.
        seed: of the noise.

    Returns:
        Both parts, in ascending order.

    Raises:
        MissingExtraError: numpy is not installed.
    """
    if find_spec("numpy") is None:
        raise MissingExtraError(
            "method 'max' needs numpy. Install it with: pip install 'spider-compose[data]'"
        )
    state = _State(analysis, rest)
    size = len(rest)
    noise = _Noise(seed)
    best, kept = state.divergence(), state.held.copy()
    for step in range(ROUNDS):
        done = step / (ROUNDS - 1)
        batch = max(1, round(size * _between(BATCH, done)))
        if not state.exchange(batch, noise, _between(NOISE, done)):
            continue
        if (divergence := state.divergence()) > best:
            best, kept = divergence, state.held.copy()
    state.set(kept)
    batch = max(1, size // 10)
    for _ in range(ROUNDS):
        if not batch:
            break
        if state.exchange(batch) and (divergence := state.divergence()) > best:
            best, kept = divergence, state.held.copy()
        else:
            state.set(kept)
            batch //= 2
    return state.rows(analysis)


def _between(ends: tuple[float, float], done: float) -> float:
    first, last = ends
    return math.exp(math.log(first) + done * math.log(last / first))


class _Noise:
    """Gumbel noise, the same numbers on every machine and with every numpy.

    Of numpy only the frozen generator is used, and for whole numbers; the logarithms are Python's.
    """

    def __init__(self, seed: int) -> None:
        import numpy as np

        steps = 1 << 14
        self.values = np.array([-math.log(-math.log((step + 0.5) / steps)) for step in range(steps)])
        self.generator = np.random.RandomState(seed % 2**32)

    def take(self, size: int) -> Floats:
        """`size` values."""
        return self.values[self.generator.randint(len(self.values), size=size)]


class _Lists:
    """Lists of whole numbers, one per query, laid end to end."""

    def __init__(self, lists: Sequence[Sequence[int]]) -> None:
        import numpy as np

        self.lengths = np.array([len(values) for values in lists], dtype=np.int64)
        self.starts = np.cumsum(self.lengths) - self.lengths
        total = int(self.lengths.sum())
        self.numbers = np.arange(total)
        self.values = np.fromiter(
            (value for values in lists for value in values), dtype=np.int64, count=total
        )

    def places(self, queries: Integers) -> tuple[Integers, Integers, Integers]:
        """Places of the queries' values, where each query begins among them, and the lengths."""
        import numpy as np

        lengths = self.lengths[queries]
        begins = np.cumsum(lengths) - lengths
        places = np.repeat(self.starts[queries] - begins, lengths)
        places += self.numbers[: len(places)]
        return places, begins, lengths


class _State:
    """How many rows of each query are in `rest`, and the counts that follow.

    Attributes:
        size: rows of `rest`, between exchanges.
        rows_of: rows by query.
        held: of these, the ones in `rest`.
        in_rest: occurrences by compound in `rest`; total: in both parts.
        atoms_in_train: rows of `train` that hold each atom.
    """

    def __init__(self, analysis: Analysis, rest: Sequence[int]) -> None:
        import numpy as np

        self.size = len(rest)
        queries = np.array(analysis.query_ids, dtype=np.int64)
        number = len(analysis.features)
        self.compounds = _Lists([entry.compounds for entry in analysis.features])
        self.multiplicity = _Lists([entry.counts for entry in analysis.features]).values
        self.atoms = _Lists([entry.atoms for entry in analysis.features])
        self.atom_lists = [entry.atoms for entry in analysis.features]
        self.mass = np.array([sum(entry.counts) for entry in analysis.features], dtype=np.int64)
        self.rows_of = np.bincount(queries, minlength=number)
        self.sizes = len(analysis.compounds), len(analysis.atoms)
        self.total = self._occurrences(self.rows_of)
        powers = range(int(self.total.max()) + 1)
        self.train_power = np.array([count**0.1 for count in powers])
        self.rest_power = np.array([count**0.9 for count in powers])
        self.set(np.bincount(queries[list(rest)], minlength=number))

    def _occurrences(self, rows: Integers) -> Integers:
        import numpy as np

        weights = self.multiplicity * np.repeat(rows, self.compounds.lengths)
        return np.bincount(self.compounds.values, weights=weights, minlength=self.sizes[0]).astype(np.int64)

    def set(self, held: Integers) -> None:
        """Start from `held`."""
        import numpy as np

        self.held = held.copy()
        self.in_rest = self._occurrences(held)
        weights = np.repeat(self.rows_of - held, self.atoms.lengths)
        self.atoms_in_train = np.bincount(self.atoms.values, weights=weights, minlength=self.sizes[1]).astype(
            np.int64
        )

    def _terms(self) -> Floats:
        terms: Floats = self.train_power[self.total - self.in_rest] * self.rest_power[self.in_rest]
        return terms

    def divergence(self) -> float:
        """D between `train` and `rest`."""
        rest = int(self.in_rest.sum())
        train = int(self.total.sum()) - rest
        return float(1 - self._terms().sum() / (train**0.1 * rest**0.9)) if train and rest else 0.0

    def exchange(self, batch: int, noise: _Noise | None = None, scale: float = 0.0) -> bool:
        """Move up to `batch` rows each way.

        Returns:
            False, with nothing changed, where `train` cannot spare as many rows as it gets.
        """
        held, atoms = self.held.copy(), self.atoms_in_train.copy()
        in_rest = self.in_rest.copy()
        moved = self._to_train(batch, noise, scale)
        if self._to_rest(moved, noise, scale):
            return True
        self.held, self.atoms_in_train, self.in_rest = held, atoms, in_rest
        return False

    def _to_train(self, batch: int, noise: _Noise | None, scale: float) -> int:
        import numpy as np

        queries = np.flatnonzero(self.held)
        movable = self.held[queries]
        order = self._ranked(queries, -movable, noise, scale)
        before = np.cumsum(movable[order]) - movable[order]
        order = order[before < batch]
        rows = np.minimum(movable[order], batch - before[: len(order)])
        self._move(queries[order], -rows)
        return int(rows.sum())

    def _to_rest(self, batch: int, noise: _Noise | None, scale: float) -> bool:
        import numpy as np

        queries = np.flatnonzero(self.held < self.rows_of)
        places, begins, _ = self.atoms.places(queries)
        spare = np.minimum.reduceat(self.atoms_in_train[self.atoms.values[places]], begins) - 1
        movable = np.minimum(self.rows_of[queries] - self.held[queries], spare)
        queries, movable = queries[movable > 0], movable[movable > 0]
        if not len(queries):
            return False
        order = self._ranked(queries, movable, noise, scale)
        atoms = self.atoms_in_train.tolist()
        chosen: list[int] = []
        rows: list[int] = []
        for query, most in zip(queries[order].tolist(), movable[order].tolist(), strict=True):
            own = self.atom_lists[query]
            count = min(most, batch, min([atoms[atom] for atom in own]) - 1)
            if count <= 0:
                continue
            for atom in own:
                atoms[atom] -= count
            chosen.append(query)
            rows.append(count)
            batch -= count
            if not batch:
                break
        self._move(np.array(chosen, dtype=np.int64), np.array(rows, dtype=np.int64))
        return not batch

    def _ranked(self, queries: Integers, rows: Integers, noise: _Noise | None, scale: float) -> Integers:
        """Indices into `queries`, those first whose move of `rows` lowers the shared part most per row.

        The sum over compounds changes exactly; the sizes it is divided by, to first order.
        """
        import numpy as np

        places, begins, lengths = self.compounds.places(queries)
        compounds = self.compounds.values[places]
        after = self.in_rest[compounds]
        after += self.multiplicity[places] * np.repeat(rows, lengths)
        terms = self._terms()
        change = self.train_power[self.total[compounds] - after] * self.rest_power[after] - terms[compounds]
        rest = max(1, int(self.in_rest.sum()))
        train = max(1, int(self.total.sum()) - rest)
        score = np.add.reduceat(change, begins) / (terms.sum() or 1.0)  # 0 while `rest` shares nothing
        score += self.mass[queries] * rows * (0.1 / train - 0.9 / rest)
        score /= np.abs(rows)
        score *= self.size
        if noise:
            score += noise.take(len(score)) * scale
        order: Integers = np.argsort(np.rint(score * _TICKS).astype(np.int64), kind="stable")
        return order

    def _move(self, queries: Integers, rows: Integers) -> None:
        """Move `rows` of each of `queries` to `rest`; to `train` where negative."""
        import numpy as np

        self.held[queries] += rows
        places, _, lengths = self.compounds.places(queries)
        np.add.at(
            self.in_rest, self.compounds.values[places], self.multiplicity[places] * np.repeat(rows, lengths)
        )
        places, _, lengths = self.atoms.places(queries)
        np.subtract.at(self.atoms_in_train, self.atoms.values[places], np.repeat(rows, lengths))

    def rows(self, analysis: Analysis) -> tuple[list[int], list[int]]:
        """Positions of both parts; of rows with one query, the later ones are in `rest`."""
        left = (self.rows_of - self.held).tolist()
        train: list[int] = []
        rest: list[int] = []
        for position, query in enumerate(analysis.query_ids):
            if left[query]:
                left[query] -= 1
                train.append(position)
            else:
                rest.append(position)
        return train, rest
