"""Other corpora all the way: columns that only they have, their parts, their licence on the card."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from datasets import DownloadMode, load_dataset

from spider_compose.composition.build import build
from spider_compose.dataset.hub_folder import write_hub_folder
from spider_compose.source import read_source, text2sql_corpora
from spider_compose.source.text2sql_corpora import KnownCorpus, content_checksum

BIRD = [
    {
        "db_id": "shop",
        "question": "Which dear items are sold, the newest first?",
        "evidence": "dear: price > 9",
        "SQL": "SELECT name FROM item WHERE price > 9 ORDER BY year DESC",
    },
    {"db_id": "shop", "question": "All names?", "evidence": "", "SQL": "SELECT name FROM item"},
]
TEXT2SQL = [
    {
        "query-split": "train",
        "sql": [
            "SELECT ITEMalias0.NAME FROM ITEM AS ITEMalias0 , MAKER AS MAKERalias0 "
            'WHERE MAKERalias0.CITY = "city0" '
            "AND MAKERalias0.ID = ITEMalias0.MAKER_ID GROUP BY ITEMalias0.NAME ;",
            'SELECT NAME FROM ITEM WHERE CITY = "city0" ;',
        ],
        "variables": [{"name": "city0", "example": "cork"}],
        "sentences": [
            {
                "question-split": split,
                "text": f"{verb} items made in city0 per name ?",
                "variables": {"city0": city},
            }
            for split, verb, city in (
                ("train", "which", "cork"),
                ("dev", "list", "galway"),
                ("test", "show", "rome"),
            )
        ],
    }
]


def load(source: Path, config: str, cache: Path, **options: Any) -> Any:
    return load_dataset(
        "spider_compose",
        config,
        source=str(source),
        cache_dir=str(cache),
        download_mode=DownloadMode.FORCE_REDOWNLOAD,
        **options,
    )


def write(path: Path, content: object) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


@pytest.mark.parametrize("config", ["spider", "alignment"])
def test_evidence_stands_on_whole_pairs(tmp_path: Path, config: str) -> None:
    write(tmp_path / "bird" / "train.json", BIRD)
    rows = load(tmp_path / "bird", config, tmp_path / "cache")["train"]
    assert rows["evidence"] == ["dear: price > 9", ""]
    assert "other_queries" not in rows.column_names


def test_recombined_pairs_have_no_further_columns(tmp_path: Path) -> None:
    write(tmp_path / "bird" / "train.json", BIRD)
    rows = load(tmp_path / "bird", "compose", tmp_path / "cache")
    assert {"evidence", "other_queries"}.isdisjoint(rows["train"].column_names)
    assert rows["validation"]["question"] == [BIRD[0]["question"]]


def test_text2sql_by_its_folder(tmp_path: Path) -> None:
    folder = write(tmp_path / "geoquery" / "items.json", TEXT2SQL).parent
    made = load(folder, "compose", tmp_path / "cache")
    assert made["test"]["question"] == ["show items made in rome per name ?"]
    assert made["validation"].num_rows == 2, "the development part is training"
    wheres = {row["query"] for row in made["train"] if row["clause_types"] == ["WHERE"]}
    assert 'WHERE MAKER.CITY = "rome" AND MAKER.ID = ITEM.MAKER_ID' in wheres
    pairs = load(folder, "spider", tmp_path / "cache")
    assert pairs["train"]["other_queries"][0] == ['SELECT NAME FROM ITEM WHERE CITY = "cork"']
    other = load(folder, "spider", tmp_path / "cache", held_out="dev")
    assert other["validation"]["question"] == ["list items made in galway per name ?"]


SHORT = [
    {
        "db_id": "shop",
        "question": f"Which items of {year} are sold?",
        "query": f"SELECT a FROM b WHERE c = {year}",
    }
    for year in range(2001, 2005)
]
FEW_CLAUSES = {
    "no-held-out-part": (("train",), {"test": "the source has no held-out part"}),
    "short-queries": (
        ("train", "dev"),
        {"test": "none of the 4 queries of the held-out part has three clauses and words for them"},
    ),
}


@pytest.mark.parametrize(("parts", "reasons"), FEW_CLAUSES.values(), ids=FEW_CLAUSES)
def test_a_split_without_rows_says_why(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, parts: tuple[str, ...], reasons: dict[str, str]
) -> None:
    for part in parts:
        write(tmp_path / "shop" / f"{part}.json", SHORT)
    reasons = {"validation": "none of the 4 queries of the training part", **reasons}
    told = {
        split: f"config compose: split {split} has no rows and is left out: {why}"
        for split, why in reasons.items()
    }
    with caplog.at_level("WARNING"):
        made = load(tmp_path / "shop", "compose", tmp_path / "cache")
    assert list(made) == ["train"] and all(line in caplog.text for line in told.values())
    assert "Take spider_template or spider_tmcd, which split whole queries" in caplog.text
    caplog.clear()
    with caplog.at_level("WARNING"):
        folder = write_hub_folder(build(read_source(tmp_path / "shop")), tmp_path / "built")
    assert all(line in caplog.text for line in told.values())
    assert [path.name for path in (folder / "compose").iterdir()] == ["train.parquet"]
    card = (folder / "README.md").read_text("utf-8")
    for split, reason in reasons.items():
        assert f"Split `{split}` has no rows, so it has no file: {reason}" in card
    assert list(load_dataset(str(folder), cache_dir=str(tmp_path / "cache"))) == ["train"]


def test_a_corpus_with_parts_may_hold_out_others(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    short = [{**TEXT2SQL[0], "sql": ["SELECT NAME FROM ITEM ;"], "variables": []}]
    path = write(tmp_path / "items.json", short)
    made = load(path, "compose", tmp_path / "cache")
    assert list(made) == ["train"]
    assert "Hold out others of its own parts (`held_out`), or take spider_template" in caplog.text


def test_folder_and_card(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "corpus" / "items.json", TEXT2SQL)
    known = KnownCorpus("items", "Items", 3, content_checksum(TEXT2SQL), "CC BY 4.0")
    monkeypatch.setitem(text2sql_corpora.KNOWN, "items", known)
    folder = write_hub_folder(build(read_source(path)), tmp_path / "built")
    card = (folder / "README.md").read_text("utf-8")
    header = yaml.safe_load(card.split("---\n")[1])
    assert header["license"] == "cc-by-4.0"
    assert "Source: Items (text2sql-data, 3 sentences)." in card
    assert "Items, in the format of text2sql-data: Catherine Finegan-Dollak" in card
    assert "| `other_queries` | list of string |" in card
    rows = load_dataset(str(folder), "alignment", cache_dir=str(tmp_path / "cache"))
    assert rows["train"]["other_queries"][1] == ['SELECT NAME FROM ITEM WHERE CITY = "galway"']


def test_training_reads_it(tmp_path: Path) -> None:
    """As `python -m spider_compose.training --source FOLDER` would, without torch."""
    from spider_compose.training.data import read_data
    from spider_compose.training.settings import TrainingSettings

    path = write(tmp_path / "items.json", TEXT2SQL)
    data = read_data(TrainingSettings(source=str(path), source_options={"held_out": "test"}))
    assert [row["question"] for row in data.test] == ["show items made in rome per name ?"]
    assert len(data.validation) == 2 and data.train and data.schemas == {}
