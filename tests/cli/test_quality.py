from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from spider_compose.alignment import ALIGNERS

Cli = Callable[..., "object"]


def test_all_aligners_side_by_side(cli: Cli, tiny: Path) -> None:
    result = cli("inspect", tiny, "--quality")
    assert (result.code, result.err) == (0, "")
    lines = result.out.splitlines()
    assert lines[0].split() == list(ALIGNERS)
    assert next(line for line in lines if line.startswith("full set equals")).split()[-2:] == ["100.00", "%"]
    assert [line for line in lines if line.endswith(" ")] == []
    assert [f"aligner:{name}|" in result.out for name in ALIGNERS] == [True] * len(ALIGNERS)
    assert result.out.count("|dedup:none|") == len(ALIGNERS)


@pytest.mark.parametrize(
    ("arguments", "aligners"),
    [(["--aligner", "segment"], ["segment"]), (["--compare", "segment", "keyword"], ["segment", "keyword"])],
)
def test_those_named(cli: Cli, tiny: Path, arguments: list[str], aligners: list[str]) -> None:
    quality = json.loads(cli("inspect", tiny, "--quality", "--json", *arguments).out)["quality"]
    assert list(quality) == aligners
    assert all(report["full_set_equals_question"] == 1 for report in quality.values())


def test_of_a_built_folder_its_own(cli: Cli, tiny_folder: Path) -> None:
    told = json.loads(cli("inspect", tiny_folder, "--quality", "--json").out)
    written = json.loads((tiny_folder / "signature.json").read_text("utf-8"))
    assert told["signature"] == [written["signature"]]
    assert told["quality"]["segment"]["pairs"] == sum(
        counts["pairs"] for counts in written["counts"].values()
    )


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--limit", "3"], "leave --limit out"),
        (["--db-id", "bakery", "--html", "x"], "leave --db-id, --html out"),
        (["--compare", "keyword", "segmnt"], "Did you mean 'segment'?"),
    ],
)
def test_flags_that_do_not_go_with_it(cli: Cli, tiny: Path, arguments: list[str], says: str) -> None:
    result = cli("inspect", tiny, "--quality", *arguments)
    assert (result.code, result.out) == (2, "")
    assert says in result.err
