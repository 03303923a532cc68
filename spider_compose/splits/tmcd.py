"""TMCD split (Shaw et al. 2021, section 4): the most compound divergence, no unseen atom.

Both methods keep the constraint that every atom of the held-out part occurs in train. `published` is the
published tool's search, row for row; it stalls early. `max` goes on with exact divergence and batches of
swaps (`tmcd_max.py`).
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from heapq import heapify, heappop, heappush
from itertools import chain

from spider_compose.errors import OptionError, SourceError, choose
from spider_compose.splits.compounds import Analysis, Features, analyse
from spider_compose.splits.parts import (
    Row,
    SplitRows,
    check_seed,
    check_train_size,
    make_signature,
    queries_to_split,
)
from spider_compose.splits.text import normalize_query, sqlparse_version

METHODS = ("published", "max")
TRAIN_POWER = 0.1
REST_POWER = 0.9
MAX_SWAPS = 10_000


def tmcd_split(
    rows: Sequence[Row],
    train_size: int,
    seed: int = 1,
    method: str = "published",
    grammar: str = "auto",
    dialect: str = "sqlite",
) -> SplitRows:
    """Split a corpus so that its parts share atoms but differ in compounds.

    Args:
        rows: with text in `query`.
        train_size: rows of `train`, from 1 to the number of rows that parse - 1.
        seed: of the first shuffle, from which both methods start.
        method: "published" or "max".
        grammar: of the compounds: "spider", "sqlglot" or "auto" (see `compounds.analyse`).
        dialect: of sqlglot.

    Returns:
        The split; rows that do not parse are in `left_out`.

    Raises:
        SourceError: the corpus is empty, has one row, or all its queries are equal.
        OptionError: an option is out of range, or `train_size` rows cannot hold every atom of the others.
    """
    choose("method", method, METHODS)
    check_seed(seed)
    queries_to_split(rows)
    return split_analysis(rows, analyse(rows, grammar, dialect), train_size, seed, method, dialect)


def split_analysis(
    rows: Sequence[Row], analysis: Analysis, train_size: int, seed: int, method: str, dialect: str
) -> SplitRows:
    """`tmcd_split` of a corpus that is analysed already."""
    train, rest = tmcd_positions(analysis, train_size, seed, method)
    numbers = [analysis.rows[position] for position in (*train, *rest)]
    numbers = lowest_first(rows, numbers)
    return SplitRows(
        train=tuple(numbers[: len(train)]),
        rest=tuple(sorted(numbers[len(train) :])),
        left_out=analysis.left_out,
        signature=make_signature(
            split="tmcd",
            method=method,
            seed=seed,
            rows=len(analysis.rows),
            train_size=train_size,
            **grammar_settings(analysis, dialect),
        ),
    )


def grammar_settings(analysis: Analysis, dialect: str) -> dict[str, str]:
    """The settings behind the atoms and compounds, for signatures."""
    settings = {"grammar": analysis.grammar}
    if analysis.grammar == "sqlglot":
        from spider_compose.splits.sqlglot_tree import sqlglot_version

        settings |= {"dialect": dialect, "sqlglot": sqlglot_version()}
    return {**settings, "sqlparse": sqlparse_version()}


def tmcd_positions(
    analysis: Analysis, train_size: int, seed: int, method: str
) -> tuple[list[int], list[int]]:
    """Both parts as positions in `analysis.rows`."""
    if len(analysis.features) < 2:
        raise SourceError(
            f"expected at least 2 different queries that the {analysis.grammar} grammar reads, but it reads "
            f"{len(analysis.features)}; {len(analysis.left_out)} rows are left out, the first: "
            f"{analysis.left_out[0].detail}"
        )
    check_train_size(train_size, len(analysis.rows))
    order = list(range(len(analysis.rows)))
    random.Random(seed).shuffle(order)
    features = [analysis.features[query] for query in analysis.query_ids]
    train, rest = balance_atoms([row.atoms for row in features], order[:train_size], order[train_size:])
    if method == "max":
        from spider_compose.splits.tmcd_max import maximise

        return maximise(analysis, train, rest, seed)
    return _Search(features, train, rest, len(analysis.compounds)).run()


def lowest_first(rows: Sequence[Row], numbers: Sequence[int]) -> list[int]:
    """Let rows that are the same stand in ascending order.

    Rows equal in database, query and question, case and white space aside, are one to the published tool,
    which writes text and no row numbers: which of them is in train says nothing.
    """
    keys = {
        number: tuple(
            normalize_query(str(rows[number].get(name, ""))) for name in ("db_id", "query", "question")
        )
        for number in numbers
    }
    equal: dict[tuple[str, ...], list[int]] = {}
    for number in sorted(numbers, reverse=True):
        equal.setdefault(keys[number], []).append(number)
    return [equal[keys[number]].pop() for number in numbers]


def balance_atoms(
    atoms: Sequence[Sequence[int]], train: list[int], rest: list[int]
) -> tuple[list[int], list[int]]:
    """Exchange rows until every atom of `rest` occurs in `train`.

    Each step takes the first row of `train` all of whose atoms also occur in other rows of `train`, and the
    first row of `rest` with an atom that `train` lacks, and appends each to the other list. Each step adds an
    atom to `train` and takes none away, so there are at most as many steps as atoms.

    Args:
        atoms: distinct atoms by row position.
        train: positions, in order; and rest: the others.

    Returns:
        Both lists after the exchanges.

    Raises:
        OptionError: no row of `train` can be spared.
    """
    count = Counter(atom for row in train for atom in atoms[row])
    # The sum of the rows that hold an atom: where one row holds it, the sum is that row.
    holders: Counter[int] = Counter()
    for row in train:
        for atom in atoms[row]:
            holders[atom] += row
    sole = {row: sum(count[atom] == 1 for atom in atoms[row]) for row in train}
    spare = [(place, row) for place, row in enumerate(train) if not sole[row]]
    heapify(spare)
    place_of = {row: place for place, row in enumerate(train)}
    added: list[int] = []
    dropped: list[int] = []
    kept: list[int] = []
    for row in rest:
        if all(count[atom] for atom in atoms[row]):
            kept.append(row)
            continue
        while spare and (sole[spare[0][1]] or spare[0][1] not in place_of):  # no longer so, or listed twice
            heappop(spare)
        if not spare:
            raise OptionError(
                f"`train_size`: {len(train)} rows cannot hold every atom (token) of the other {len(rest)}; "
                "take more"
            )
        out = heappop(spare)[1]
        del place_of[out]
        for atom in atoms[out]:
            count[atom] -= 1
            holders[atom] -= out
            if count[atom] == 1:
                sole[holders[atom]] += 1
        sole[row] = 0
        place_of[row] = len(train) + len(added)
        for atom in atoms[row]:
            if count[atom] == 1:
                other = holders[atom]
                sole[other] -= 1
                if not sole[other]:
                    heappush(spare, (place_of[other], other))
            count[atom] += 1
            holders[atom] += row
            sole[row] += count[atom] == 1
        if not sole[row]:
            heappush(spare, (place_of[row], row))
        added.append(row)
        dropped.append(out)
    return [row for row in [*train, *added] if row in place_of], [*kept, *dropped]


class _Search:
    """The published search, with the departures from exact arithmetic that define its rows.

    The estimate of D after a move takes each distinct compound of the row once, whatever its multiplicity;
    and the second scan of a step starts from the D before the step's first move, so its numerator is out of
    date there.
    """

    def __init__(
        self, features: Sequence[Features], train: list[int], rest: list[int], compounds: int
    ) -> None:
        self.features = features
        self.parts = (train, rest)
        self.counts = ([0] * compounds, [0] * compounds)
        self.sums = [0, 0]
        for side, rows in enumerate(self.parts):
            for row in rows:
                self._add(row, side, 1)
        self.atoms = Counter(atom for row in train for atom in features[row].atoms)
        top = max(map(sum, zip(*self.counts, strict=True))) + 2
        self.train_power: list[float] = [count**TRAIN_POWER for count in range(top)]
        self.rest_power: list[float] = [count**REST_POWER for count in range(top)]

    def run(self) -> tuple[list[int], list[int]]:
        """Swap rows until a scan finds none, or `MAX_SWAPS` times."""
        train, rest = self.parts
        start = [0, 0]
        for _ in range(MAX_SWAPS):
            divergence = self._divergence()
            first = self._scan(0, start[0], divergence)
            if first is None:
                break
            self._move(train[first], 0)
            second = self._scan(1, start[1], divergence)
            if second is None:
                break
            self._move(rest[second], 1)
            self.atoms.subtract(self.features[train[first]].atoms)
            self.atoms.update(self.features[rest[second]].atoms)
            train[first], rest[second] = rest[second], train[first]
            start = [first + 1, second + 1]
        return train, rest

    def _divergence(self) -> float:
        train_power, rest_power = self.train_power, self.rest_power
        shared = sum(
            train_power[in_train] * rest_power[in_rest]
            for in_train, in_rest in zip(*self.counts, strict=True)
            if in_train
        )
        return 1 - shared / self._size(0)

    def _size(self, moved: int) -> float:
        """What the shared sum is divided by, with `moved` more compounds in `rest`."""
        size: float = (self.sums[0] - moved) ** TRAIN_POWER * (self.sums[1] + moved) ** REST_POWER
        return size

    def _scan(self, side: int, start: int, divergence: float) -> int | None:
        """Position in part `side` of the first row whose move is estimated to raise `divergence`."""
        rows = self.parts[side]
        sign = 1 if side == 0 else -1
        shared = (1 - divergence) * self._size(0)
        changes = _Changes(self, sign)
        for position in chain(range(start, len(rows)), range(min(start, len(rows)))):
            row = self.features[rows[position]]
            if side == 0 and any(self.atoms[atom] <= 1 for atom in row.atoms):
                continue
            moved = sign * len(row.compounds)
            after = shared + sum([changes[compound] for compound in row.compounds])
            if 1 - after / self._size(moved) > divergence:
                return position
        return None

    def _move(self, row: int, side: int) -> None:
        self._add(row, side, -1)
        self._add(row, 1 - side, 1)

    def _add(self, row: int, side: int, sign: int) -> None:
        counts = self.counts[side]
        features = self.features[row]
        for compound, count in zip(features.compounds, features.counts, strict=True):
            counts[compound] += sign * count
        self.sums[side] += sign * sum(features.counts)


class _Changes(dict[int, float]):
    """Change of each compound's term of the shared sum when one of it moves; worked out when asked for."""

    def __init__(self, search: _Search, sign: int) -> None:
        super().__init__()
        self.search = search
        self.sign = sign

    def __missing__(self, compound: int) -> float:
        search = self.search
        in_train, in_rest = search.counts[0][compound], search.counts[1][compound]
        train_power, rest_power = search.train_power, search.rest_power
        before = train_power[in_train] * rest_power[in_rest]
        change = train_power[in_train - self.sign] * rest_power[in_rest + self.sign] - before
        self[compound] = change
        return change
