"""Grid files: order, settings, and one clear error for each way of being wrong."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from spider_compose.errors import OptionError
from spider_compose.experiments.cells import EXPERIMENTS, MODELS
from spider_compose.experiments.grid import COMMAND, Grid, read_grid

REPOSITORY = Path(__file__).resolve().parents[2]


@pytest.fixture
def read(tmp_path: Path) -> Callable[[Any], Grid]:
    def read_content(content: Any) -> Grid:
        path = tmp_path / "grid.yaml"
        path.write_text(content if isinstance(content, str) else yaml.safe_dump(content), encoding="utf-8")
        return read_grid(path)

    return read_content


def test_order_is_seed_experiment_model_in_a_block(read: Callable[[Any], Grid]) -> None:
    grid = read(
        {
            "models": ["rgt", "abs"],
            "cells": [
                {"experiments": ["spider", "compose"], "seeds": [2, 1]},
                {"experiments": ["compose"], "seeds": [3], "models": ["google-t5/t5-small"]},
            ],
        }
    )
    assert [cell.name for cell in grid.cells] == [
        "rgt-spider-seed2",
        "abs-spider-seed2",
        "rgt-compose-seed2",
        "abs-compose-seed2",
        "rgt-spider-seed1",
        "abs-spider-seed1",
        "rgt-compose-seed1",
        "abs-compose-seed1",
        "google-t5_t5-small-compose-seed3",
    ]
    assert grid.command == COMMAND


def test_settings_of_file_grid_and_block(read: Callable[[Any], Grid], tmp_path: Path) -> None:
    (tmp_path / "rgt.yaml").write_text("{model: rgt, seed: 9, epochs: 1, batch_size: 8, patience: 2}")
    grid = read(
        {
            "config": "{model}.yaml",
            "settings": {"epochs": 5, "batch_size": 16},
            "models": ["rgt"],
            "cells": [
                {"experiments": ["compose"], "seeds": [1], "settings": {"epochs": 7}},
                {"experiments": ["spider"], "seeds": [1]},
            ],
        }
    )
    assert [dict(cell.settings) for cell in grid.cells] == [
        {"epochs": 7, "batch_size": 16, "patience": 2},
        {"epochs": 5, "batch_size": 16, "patience": 2},
    ]


BLOCK = {"experiments": ["compose"], "seeds": [1]}


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ({"cels": [BLOCK]}, "unknown key 'cels'; there are command, .* Did you mean 'cells'"),
        ({}, "`cells` must be a list of blocks, but got None"),
        ({"cells": []}, "`cells` must be a list of blocks"),
        ({"cells": ["compose"]}, "block 1: a mapping with experiments and seeds"),
        ({"cells": [BLOCK, {"experiment": ["compose"]}]}, "block 2: unknown key 'experiment'.*'experiments'"),
        ({"cells": [{"experiments": ["compose"]}]}, "block 1: `seeds` is missing"),
        ({"cells": [{**BLOCK, "seeds": 1}]}, "`cells, block 1, seeds` must be a list with something in it"),
        ({"cells": [{**BLOCK, "seeds": [True]}]}, "whole numbers, 0 to 4294967295, but got True"),
        ({"cells": [{**BLOCK, "seeds": [-1]}]}, "whole numbers, 0 to 4294967295, but got -1"),
        ({"cells": [{**BLOCK, "seeds": [2**32]}]}, "0 to 4294967295, but got 4294967296"),
        ({"cells": [{**BLOCK, "seeds": [10**20]}]}, "0 to 4294967295, but got 1000"),
        ({"cells": [{**BLOCK, "experiments": ["compsoe"]}]}, "Did you mean 'compose'"),
        ({"cells": [{**BLOCK, "models": ["rgtt"]}]}, "Did you mean 'rgt'"),
        ({"cells": [BLOCK], "models": []}, "`models` must be a list with something in it"),
        ({"cells": [BLOCK, BLOCK]}, "block 2: bilstm-compose-seed1 stands in the grid twice"),
        ({"cells": [BLOCK], "settings": ["epochs"]}, "`settings` must be names and values"),
        ({"cells": [{"experiments": ["compose"], "seeds": [1], "models": ["a/b_c", "a_b/c"]}]}, "grid twice"),
        ({"cells": [BLOCK], "settings": {"seed": 1}}, "`seed` is said by the cell"),
        (
            {"cells": [{**BLOCK, "settings": {"source": "x"}}]},
            "block 1, settings: `source` is said by `--sou",
        ),
        ({"cells": [BLOCK], "command": "python x"}, "`command` must be a list with something in it"),
        ({"cells": [BLOCK], "command": ["python", 1]}, "`command` must be a list of words"),
        ({"cells": [BLOCK], "config": "no.yaml"}, "cannot read .*no.yaml: No such file"),
        ({"cells": [BLOCK], "config": 3}, "`config` must be a file's name"),
        ("settings: {d: 2020-01-01}\ncells: [{experiments: [compose], seeds: [1]}]", "Write other values"),
        # What no program can be given as an argument: a null ends it, half a character has no bytes.
        ({"cells": [BLOCK], "models": ["a/\0"]}, r"`models`: no program can be given 'a/\\x00'"),
        ({"cells": [{**BLOCK, "models": ["a/\0"]}]}, "`cells, block 1, models`: no program can be given"),
        ({"cells": [BLOCK], "command": ["python", "\0"]}, "`command`: no program can be given"),
        (
            'settings: {x: "\\ud800"}\ncells: [{experiments: [compose], seeds: [1]}]',
            "`settings` holds half a character",
        ),
        ('models: ["a/\\ud800"]\ncells: [{experiments: [compose], seeds: [1]}]', "no program can be given"),
        ("cells: [", "is no YAML that can be read: line 1"),
        ("- 1", "must hold a grid as names and values"),
        ("", "`cells` must be a list of blocks, but got None"),
    ],
)
def test_what_is_wrong_is_said(read: Callable[[Any], Grid], content: Any, says: str) -> None:
    with pytest.raises(OptionError, match=says) as raised:
        read(content)
    assert ".yaml" in str(raised.value)  # where


def test_only(read: Callable[[Any], Grid]) -> None:
    grid = read({"cells": [{"experiments": ["compose", "spider"], "seeds": [1, 2]}]})
    assert [cell.name for cell in grid.only({"model": ["rgt", "abs"], "seed": ["2"]})] == [
        "abs-compose-seed2",
        "rgt-compose-seed2",
        "abs-spider-seed2",
        "rgt-spider-seed2",
    ]
    assert grid.only({}) == grid.cells
    for conditions, says in [
        ({"modell": ["rgt"]}, "Did you mean 'model'"),
        ({"experiment": ["spidr"]}, "Did you mean 'spider'"),
        ({"seed": ["3"]}, r"must be one of \['1', '2'\]"),
    ]:
        with pytest.raises(OptionError, match=says):
            grid.only(conditions)


def test_the_grid_of_the_paper_has_what_is_needed_most_first() -> None:
    cells = [cell.identity for cell in read_grid(REPOSITORY / "trainers" / "experiments.yaml").cells]
    assert len(cells) == len(set(cells)) == 5 * (3 + 3 + 2 * 2)
    firsts = ["compose", "compose_no_overlap", "compose_control"]
    assert [cell.experiment for cell in cells[:15]] == [name for name in firsts for _ in MODELS]
    assert {cell.seed for cell in cells[:30]} == {1}
    assert {cell.experiment for cell in cells[15:30]} == {"spider_template", "spider_tmcd", "spider"}
    assert {(cell.experiment, cell.seed) for cell in cells[30:]} == {
        (name, seed) for name in ("compose", "compose_no_overlap") for seed in (2, 3)
    }
    assert {cell.experiment for cell in cells} <= set(EXPERIMENTS)
