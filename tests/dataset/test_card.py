from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import yaml

from spider_compose.composition.build import Build, SplitCounts
from spider_compose.dataset.card import render_card
from spider_compose.dataset.features import COLUMNS, features
from spider_compose.dataset.hub_folder import SplitFile, build_tables
from spider_compose.source.records import LeftOut


def render(build: Build, num_rows: int = 70) -> str:
    tables = build_tables(build)
    files = {
        name: [SplitFile(split, f"{name}/{split}.parquet", num_rows, 1000, 100) for split in splits]
        for name, splits in ((table.spec.name, table.spec.splits) for table in tables)
    }
    return render_card(tables, files, build.source, build)


def header(card: str) -> dict[str, Any]:
    return yaml.safe_load(card.split("---\n")[1])


def with_source(build: Build, **changes: Any) -> Build:
    return replace(build, source=replace(build.source, **changes))


def test_header(tiny_build: Build) -> None:
    card = header(render(with_source(tiny_build, license="CC BY-SA 4.0")))
    assert card["license"] == "cc-by-sa-4.0"
    assert card["language"] == ["en"]
    assert [config["config_name"] for config in card["configs"]] == ["compose", "alignment", "spider"]
    assert [config.get("default", False) for config in card["configs"]] == [True, False, False]
    assert card["configs"][0]["data_files"][0] == {"split": "train", "path": "compose/train.parquet"}
    assert card["dataset_info"][1]["splits"][0] == {"name": "train", "num_bytes": 1000, "num_examples": 70}
    assert card["dataset_info"][0]["dataset_size"] == 3000


@pytest.mark.parametrize(("index", "kind"), list(enumerate(COLUMNS)), ids=COLUMNS)
def test_features_of_the_header(index: int, kind: str, tiny_build: Build) -> None:
    from datasets import Features

    listed = header(render(tiny_build))["dataset_info"][index]["features"]
    assert Features._from_yaml_list(listed) == features(kind)


@pytest.mark.parametrize(
    ("rows", "category"), [(10, "n<1K"), (2_000, "1K<n<10K"), (20_000, "10K<n<100K"), (10**6, "n>1M")]
)
def test_size_category(rows: int, category: str, tiny_build: Build) -> None:
    assert header(render(tiny_build, rows))["size_categories"] == [category]


CHANGES: dict[str, tuple[Callable[[Build], Build], str]] = {
    "counts": (
        lambda build: replace(
            build, counts={**build.counts, "train": SplitCounts(25_001, 26_002, {1: 15_003, 2: 9_998}, 7)}
        ),
        "| train | 25,001 | 26,002 | 15,003 | 9,998 |",
    ),
    "pairs without words": (
        lambda build: replace(build, counts={"train": SplitCounts(1, 1, {1: 1}, 7)}),
        "clauses have no words: 7 pairs",
    ),
    "signature": (
        lambda build: replace(build, signature="aligner:other"),
        "compose, alignment:\n    aligner:other\n",
    ),
    "deduplication": (
        lambda build: replace(build, options=replace(build.options, deduplicate="all")),
        "dropped in: all",
    ),
    "rows left out": (
        lambda build: replace(build, left_out=(LeftOut("train", 3, "empty question", "train row 3"),)),
        "Source rows left out: 1 (1: empty question)",
    ),
    "release": (lambda build: with_source(build, release="spider-9 (2 rows)"), "Source: spider-9 (2 rows)."),
    "notes": (lambda build: with_source(build, notes=("no validation part",)), "Note: no validation part."),
    "licence": (lambda build: with_source(build, license="MIT"), "inherit its licence, MIT."),
    "no licence": (lambda build: with_source(build, license=None), "whose licence is not known"),
    "attribution": (lambda build: with_source(build, attribution="By Ann Author"), "By Ann Author"),
    "examples": (
        lambda build: replace(
            build,
            pairs={**build.pairs, "train": [{**build.pairs["train"][0], "question": "Wie viele Äpfel?"}]},
        ),
        '"question": "Wie viele Äpfel?"',
    ),
}


@pytest.mark.parametrize(("change", "text"), CHANGES.values(), ids=CHANGES)
def test_the_card_says_what_the_build_says(change: Any, text: str, tiny_build: Build) -> None:
    tiny_build = with_source(tiny_build, license="CC BY-SA 4.0", notes=())
    assert text not in render(tiny_build)
    assert text in render(change(tiny_build))


def test_the_paper_is_compared_for_its_own_source_only(tiny_build: Build) -> None:
    assert "paper" not in render(tiny_build).split("## Counts")[1].split("##")[0]
    counts = render(with_source(tiny_build, name="spider-1.0")).split("## Counts")[1].split("##")[0]
    for number in ("25,709", "1,584", "200"):
        assert number in counts
    assert header(render(with_source(tiny_build, name="spider-1.0")))["source_datasets"] == ["xlangai/spider"]


def test_every_column_is_explained(tiny_build: Build) -> None:
    card = render(tiny_build)
    for columns in COLUMNS.values():
        for column in columns:
            assert f"| `{column.name}` | " in card
            assert column.meaning in card
