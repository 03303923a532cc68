"""The sample log: the same bytes for a seed, three agents, and one that gets worse on the day told."""

from __future__ import annotations

import itertools
import json
import random
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
import sqlglot

from spider_compose.errors import OptionError
from spider_compose.stef.cli import main
from spider_compose.stef.monitoring.sample.log import WORSE_AGENT, WORSE_FROM, sample_rows
from spider_compose.stef.monitoring.sample.mistakes import MISTAKES, Mistake, cut_off, with_mistake
from spider_compose.stef.monitoring.sample.questions import bundled

Rows = list[dict[str, Any]]
ROWS = 600


@pytest.fixture(scope="module")
def rows() -> Rows:
    return list(sample_rows(ROWS, seed=1))


def planted(rows: Sequence[dict[str, Any]], *kinds: str) -> float:
    return sum(bool(set(row["planted"]) & set(kinds) if kinds else row["planted"]) for row in rows) / len(
        rows
    )


def test_same_seed_same_bytes_and_no_half_written_file(tmp_path: Path) -> None:
    for name, seed in (("a", "1"), ("b", "1"), ("c", "2")):
        assert main(["sample-log", str(tmp_path / name), "--rows", "40", "--seed", seed]) == 0
    first, again, other = ((tmp_path / name).read_bytes() for name in "abc")
    assert first == again != other
    assert len([json.loads(line) for line in first.splitlines()]) == 40
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b", "c"]


def test_rows_are_whole_and_by_time(rows: Rows) -> None:
    assert len(rows) == ROWS == len({row["id"] for row in rows})
    times = [datetime.fromisoformat(row["time"].replace("Z", "+00:00")) for row in rows]
    assert [t.replace(microsecond=0) for t in times] == sorted(t.replace(microsecond=0) for t in times)
    assert times[0].date().isoformat() >= "2026-07-01"
    assert times[-1].date().isoformat() <= "2026-08-31"
    assert {row["agent"] for row in rows} == {"A", "B", "C"}
    assert len({row["question"] for row in rows}) > 300
    weekend = sum(time.weekday() >= 5 for time in times) / ROWS
    assert 0.02 < weekend < 0.18, "weekends are quiet, not empty"


def test_one_agent_gets_worse_on_the_day(rows: Rows) -> None:
    def of(agent: str, late: bool) -> Rows:
        day = WORSE_FROM.isoformat()
        return [row for row in rows if row["agent"] == agent and (row["time"] >= day) == late]

    for agent in "ABC":
        rise = planted(of(agent, True)) - planted(of(agent, False))
        assert (rise > 0.25) if agent == WORSE_AGENT else (abs(rise) < 0.15), (agent, rise)
    for kind in ("dropped_filter", "wrong_direction", "lost_value"):
        assert planted(of("B", True), kind) > planted(of("B", False), kind)


def test_some_questions_go_to_all_agents(rows: Rows) -> None:
    seconds = itertools.groupby(rows, key=lambda row: row["time"][:19])
    together = [group for _, found in seconds if len(group := list(found)) > 1]
    assert together
    for group in together:
        assert [row["agent"] for row in group] == ["A", "B", "C"]
        assert len({(row["database"], row["question"]) for row in group}) == 1


def test_what_is_planted_is_there(rows: Rows) -> None:
    counts = Counter(name for row in rows for name in row["planted"])
    assert {mistake.__name__ for mistake in MISTAKES} | {"no_sql", "broken_sql", "lost_value"} >= set(counts)
    for row in rows:
        parsed = True
        try:
            sqlglot.parse_one(row["sql"], dialect=row["dialect"])
        except sqlglot.errors.SqlglotError:  # a text may break off within quotes, too
            parsed = False
        assert parsed != bool({"no_sql", "broken_sql"} & set(row["planted"])), row
        if "lost_value" in row["planted"]:
            assert not row["enriched_question"].startswith(row["question"])
        assert "NULLS " not in row["sql"]
        assert "NULLIF" not in row["sql"]


BEFORE_AND_AFTER = {
    "dropped_filter": "SELECT a FROM t",
    "wrong_direction": "SELECT a FROM t WHERE b < 5",
    "missing_distinct": "SELECT a FROM t",
    "wrong_aggregate": "SELECT a, SUM(b) FROM t GROUP BY a",
    "wrong_value": "SELECT a FROM t WHERE c = 'Lond'",
    "missing_order": "SELECT a FROM t",
    "missing_column": "SELECT a FROM t",
    "all_columns": "SELECT * FROM t",
    "missing_grouping": "SELECT a, AVG(b) FROM t",
    "extra_filter": "SELECT a FROM t WHERE ",
}
QUERIES = {
    "dropped_filter": "SELECT a FROM t WHERE b > 5",
    "wrong_direction": "SELECT a FROM t WHERE b > 5",
    "missing_distinct": "SELECT DISTINCT a FROM t",
    "wrong_aggregate": "SELECT a, AVG(b) FROM t GROUP BY a",
    "wrong_value": "SELECT a FROM t WHERE c = 'London'",
    "missing_order": "SELECT a FROM t ORDER BY b LIMIT 1",
    "missing_column": "SELECT a, a FROM t",
    "all_columns": "SELECT a, b FROM t",
    "missing_grouping": "SELECT a, AVG(b) FROM t GROUP BY a HAVING COUNT(*) > 1",
    "extra_filter": "SELECT a FROM t",
}


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.__name__)
def test_each_mistake_does_what_its_name_says(mistake: Mistake) -> None:
    tree = sqlglot.parse_one(QUERIES[mistake.__name__])
    wrong = mistake(tree.copy(), random.Random(1))
    assert wrong is not None
    assert wrong.sql().startswith(BEFORE_AND_AFTER[mistake.__name__])
    assert wrong != tree


def test_every_query_of_the_corpus_can_go_wrong_and_stays_sql() -> None:
    rng = random.Random(2)
    for asked in bundled().pairs[::7]:
        before = asked.tree.sql()
        wrong, _ = with_mistake(asked.tree, rng)
        assert asked.tree.sql() == before, "the corpus is shared"
        assert wrong.sql() != before
        sqlglot.parse_one(wrong.sql())
        with pytest.raises(sqlglot.errors.SqlglotError):
            sqlglot.parse_one(cut_off(before, rng))


def test_values_change_in_question_and_query_alike() -> None:
    asked = next(pair for pair in bundled().pairs if "2" in pair.values)
    other = asked.with_value("2", "9")
    assert "9" in other.question and "9" in other.tree.sql()
    assert (other.question.replace("9", "2"), other.values) == (asked.question, ("9",))


@pytest.mark.parametrize("count", [-1, 0, 1_000_001, 10**12])
def test_as_many_rows_as_there_can_be(count: int) -> None:
    """Two months have no more seconds: it would look for a free one for ever."""
    with pytest.raises(OptionError, match="from 1 to 1,000,000"):
        next(sample_rows(count))
