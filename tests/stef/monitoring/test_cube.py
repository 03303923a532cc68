"""Counts for the page: the same figures from a few numbers, whatever the log's size."""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pytest

from spider_compose.stef.monitoring.aggregate import lost_points, summarize
from spider_compose.stef.monitoring.cube import OTHERS, Cube, figures


@pytest.fixture(scope="module")
def table(scored_table: Callable[..., pa.Table]) -> pa.Table:
    return scored_table()


@pytest.fixture(scope="module")
def cube(table: pa.Table) -> Cube:
    cube = Cube.count(table)
    # In two halves, as slices of a log are.
    cube.add_rules(table.slice(0, 250))
    cube.add_rules(table.slice(250))
    return cube


def test_figures_are_those_of_the_rows(table: pa.Table, cube: Cube) -> None:
    assert cube.every == "day"
    for one in summarize(table, by=("agent", "database")):
        place = cube.agents.index(one["agent"]), cube.databases.index(one["database"])
        found = figures(cube, (cell for cell in cube.cells if (cell.agent, cell.database) == place))
        assert (found.rows, found.scored, found.enriched, found.lost) == (
            one["rows"], one["scored"], one["enriched"], one["enrichment_lost"]
        )  # fmt: skip
        assert found.total / found.scored == pytest.approx(one["mean"], abs=1e-4)
        assert found.percentile(50) == pytest.approx(one["p50"], abs=1e-4)
        assert found.percentile(90) == pytest.approx(one["p90"], abs=1e-4)
        assert found.squared_error == pytest.approx(one["deviation"] ** 2 / one["scored"], abs=1e-4)
        assert found.quality / found.enriched == pytest.approx(one["enrichment_quality"], abs=1e-5)
        assert found.p_correct / found.with_p == pytest.approx(one["p_correct"], abs=1e-5)
        assert {n: found.counts["unscored", n] for n in one["unscored"]} == one["unscored"]
        assert {n: found.counts["band", n] for n in one["bands"]} == one["bands"]


@pytest.mark.parametrize("percent", [0, 1, 33.3, 50, 90, 100])
@pytest.mark.parametrize("scores", [[7.0], [0.0, 100.0], [10, 10, 20, 30, 30, 90], list(range(101))], ids=len)
def test_percentiles_are_numpys(scores: list[float], percent: float) -> None:
    found = figures(Cube((), (), "day", (), (), {}), ())
    found.scores.update(scores)
    assert found.percentile(percent) == pytest.approx(np.percentile(scores, percent))


def test_rules_of_all_slices(table: pa.Table, cube: Cube) -> None:
    expected = {one["rule"]: one["points"] for one in lost_points(table, by=())}
    assert dict(figures(cube, cube.cells).points) == pytest.approx(expected, abs=1e-3)
    assert cube.rules() == sorted(expected, key=lambda rule: -expected[rule])


def test_the_number_of_cells_is_bounded_and_nothing_is_lost(scored_rows: Callable[..., list]) -> None:
    rows = scored_rows(count=3000, days=900)
    for number, row in enumerate(rows):
        row["database"], row["agent"] = f"d{number % 60}", f"a{number % 20}"
    from spider_compose.stef.monitoring.scored import SCHEMA

    cube = Cube.count(pa.Table.from_pylist(rows, schema=SCHEMA), most_cells=500)
    assert len(cube.cells) <= 500
    assert cube.every == "year"
    assert len(cube.agents) == 12
    assert cube.agents[-1] == OTHERS
    assert cube.folded["agents"] == 20 - 11
    assert figures(cube, cube.cells).rows == 3000


def test_json_is_small_and_says_all(cube: Cube) -> None:
    values = json.loads(json.dumps(cube.as_json()))
    rows = sum(count for cell in values["cells"] for count in cell[8][1::2])
    assert rows == 600
    assert len(json.dumps(values)) < 100 * len(cube.cells)


def test_no_rows(table: pa.Table) -> None:
    cube = Cube.count(table.slice(0, 0))
    assert cube.cells == () and cube.days() is None


@pytest.mark.parametrize("agents", [1, 12, 13, 40])
def test_an_agent_may_be_called_others(agents: int, scored_table: Callable[..., pa.Table]) -> None:
    names = [OTHERS, *(f"agent {n}" for n in range(1, agents))]
    table = scored_table(count=agents * 3)
    given = pa.array([names[n % agents] for n in range(table.num_rows)])
    table = table.set_column(table.column_names.index("agent"), "agent", given)
    found = Cube.count(table)
    assert len(set(found.agents)) == len(found.agents) == min(agents, 12)
    assert found.folded == ({"agents": agents - 11} if agents > 12 else {})
    assert sum(count for cell in found.cells for count in cell.outcomes.values()) == table.num_rows
