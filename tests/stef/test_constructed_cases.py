"""Constructed cases: right answers all score, and each strictly above its broken twin."""

from __future__ import annotations

import importlib.util
import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest

from spider_compose.stef import Result, score_rows

pytest.importorskip("spacy")


def _table() -> list[tuple[Any, ...]]:
    # The tests are no package: the table beside this file is loaded by its path.
    spec = importlib.util.spec_from_file_location(
        "constructed_cases", Path(__file__).with_name("constructed_cases.py")
    )
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.expanded()


TABLE = _table()


@pytest.fixture(scope="module")
def results() -> dict[int, tuple[Result, Result]]:
    """Both results of every case, scored together for each set of rules."""
    groups = defaultdict(list)
    for number, (*_, rules) in enumerate(TABLE):
        groups[json.dumps(rules, sort_keys=True)].append(number)
    found = {}
    for rules, numbers in groups.items():
        rows = [{"question": TABLE[n][2], "sql": sql} for n in numbers for sql in TABLE[n][3:5]]
        scored = list(score_rows(rows, json.loads(rules)))
        found.update({n: (scored[2 * i], scored[2 * i + 1]) for i, n in enumerate(numbers)})
    return found


def test_the_table_is_large_and_broad() -> None:
    assert len(TABLE) >= 150
    assert len(Counter(rule for rule, *_ in TABLE)) >= 25
    assert len({dialect for _, dialect, *_ in TABLE}) >= 7


@pytest.mark.parametrize("number", range(len(TABLE)), ids=lambda n: f"{TABLE[n][0]}-{TABLE[n][1]}-{n}")
def test_right_scores_above_its_broken_twin(number: int, results: dict[int, tuple[Result, Result]]) -> None:
    right, broken = results[number]
    assert right.score is not None, right.message
    assert broken.score is not None, broken.message
    assert right.score > broken.score, (TABLE[number], right.reasons, broken.reasons)
    assert right.p_correct >= broken.p_correct
