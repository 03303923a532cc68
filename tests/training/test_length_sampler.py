"""The order of pairs: every pair once, the same in every process, like lengths together."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch")
from hypothesis import given
from hypothesis import strategies as st

from spider_compose.training.trainer import LengthSampler

LENGTHS = st.lists(st.tuples(st.integers(1, 60), st.integers(1, 40)), max_size=300)


def sampler(lengths: list[tuple[int, int]], batch: int, seed: int = 1) -> LengthSampler:
    return LengthSampler([source for source, _ in lengths], [target for _, target in lengths], batch, seed)


@given(LENGTHS, st.integers(1, 9), st.integers(0, 5), st.integers(0, 3))
def test_every_pair_once(lengths: list[tuple[int, int]], batch: int, seed: int, epoch: int) -> None:
    first, second = sampler(lengths, batch, seed), sampler(lengths, batch, seed)
    first.set_epoch(epoch)
    second.set_epoch(epoch)
    order = list(first)
    assert sorted(order) == list(range(len(lengths))) and len(first) == len(lengths)
    assert order == list(second), "another process draws another order"


def test_order_moves_with_epoch_and_seed() -> None:
    lengths = [(number % 30 + 1, number % 7 + 1) for number in range(200)]
    one = sampler(lengths, 8)
    first = list(one)
    one.set_epoch(1)
    assert first != list(one)
    assert first != list(sampler(lengths, 8, seed=2))


def test_batches_hold_little_padding() -> None:
    """Less than a third of the padding of an order at random, in both source and target."""
    generator = np.random.default_rng(0)
    sources = generator.integers(3, 60, 3000)
    targets = (sources * generator.uniform(0.4, 0.8, 3000)).astype(int) + 1

    def padding(order: np.ndarray, lengths: np.ndarray) -> float:
        batches = lengths[order].reshape(-1, 50)
        return float(batches.max(axis=1).sum() * 50 / lengths.sum() - 1)

    ours = np.array(list(LengthSampler(sources.tolist(), targets.tolist(), 50, 1)))
    random = generator.permutation(3000)
    for lengths in (sources, targets):
        assert padding(ours, lengths) < padding(random, lengths) / 3
