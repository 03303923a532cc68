"""Sections 3 and 4: from a source to the dataset's rows."""

from __future__ import annotations

import dataclasses
import json

import pytest

from spider_compose.composition import build as build_module
from spider_compose.composition.build import BuildOptions, build, compose_row, signature, split_of
from spider_compose.errors import OptionError, SourceError
from spider_compose.source import read_source
from spider_compose.source.records import LeftOut, Source, SourcePair

TRAIN = [
    ("ships", "SELECT name FROM ship WHERE tons > 500", "Which ships weigh more than 500 tons?"),
    ("ships", "SELECT name FROM ship WHERE tons > 500", "Which ships weigh more than 500 tons?"),
    (
        "ships",
        "SELECT flag, count(*) FROM ship WHERE built < 1990 GROUP BY flag ORDER BY count(*) DESC",
        "For ships built before 1990, count the ships of each flag, most ships first.",
    ),
]
VALIDATION = [
    (
        "ports",
        "SELECT name FROM port WHERE depth > 10 ORDER BY depth",
        "List ports deeper than 10 metres by depth.",
    ),
    ("ports", "SELECT count(*) FROM port", "How many ports are there?"),
]


def corpus(train: list[tuple[str, str, str]] = TRAIN, **changes: object) -> Source:
    parts = {"train": train, "validation": VALIDATION}
    pairs = {
        part: tuple(SourcePair(part, row, *values) for row, values in enumerate(rows))  # type: ignore[arg-type]
        for part, rows in parts.items()
    }
    return dataclasses.replace(Source("ships", None, "f" * 64, pairs), **changes)  # type: ignore[arg-type]


def test_parts_counts_and_deduplication() -> None:
    made = build(corpus())
    # Two equal pairs of 2 clauses give 3 recombinations each, the one of 4 gives 4 + 6 to training and 5 to
    # validation; of the validation part 6 go to training and 1 to test, and 1.
    assert {split: counts.before_deduplication for split, counts in made.counts.items()} == {
        "train": 3 + 3 + 4 + 6 + 6 + 1,
        "validation": 5,
        "test": 1,
    }
    assert made.counts["train"].pairs == 3 + 4 + 6 + 6 + 1
    assert made.counts["validation"].by_clauses == {3: 4, 4: 1}
    assert {split: len(rows) for split, rows in made.pairs.items()} == {
        split: counts.pairs for split, counts in made.counts.items()
    }


@pytest.mark.parametrize(("deduplicate", "train"), [("none", 23), ("train", 20), ("all", 20)])
def test_deduplicate(deduplicate: str, train: int) -> None:
    made = build(corpus(), BuildOptions(deduplicate=deduplicate))
    assert len(made.pairs["train"]) == train
    texts = [(row["query"], row["question"]) for row in made.pairs["train"]]
    assert (len(set(texts)) == len(texts)) is (deduplicate != "none")


def test_rows_are_traceable_and_whole() -> None:
    source = corpus()
    made = build(source, BuildOptions(deduplicate="none"))
    assert len({row["id"] for rows in made.pairs.values() for row in rows}) == 23 + 5 + 1
    for split, rows in made.pairs.items():
        for row in rows:
            origin = source.pairs[row["source_split"]][row["source_row"]]
            alignment = made.alignments[row["source_split"]][row["source_row"]]
            assert (origin.db_id, origin.question, origin.query) == (
                row["db_id"], alignment["question"], alignment["query"]
            )  # fmt: skip
            assert row["clause_types"] == [alignment["clause_types"][i] for i in row["clause_subset"]]
            assert row["query"] == " ".join(alignment["clause_sql"][i] for i in row["clause_subset"])
            assert split == split_of(row["source_split"], row["num_clauses"])
            if row["num_clauses"] == len(alignment["clause_types"]):
                assert (row["question"], row["query"]) == (origin.question, origin.query)


def test_alignment_rows_hold_the_questions_own_characters() -> None:
    for rows in build(corpus()).alignments.values():
        for row in rows:
            assert [row["question"][a:b] for a, b in row["token_spans"]] == row["tokens"]
            assert len(row["tags"]) == len(row["tokens"])
            assert len(row["clause_types"]) == len(row["clause_sql"]) == len(row["fragments"])
            assert sorted({i for ids in row["clause_token_ids"] for i in ids}) == list(
                range(len(row["tokens"]))
            )
            singles = [pair["question"] for pair in compose_row(row) if pair["num_clauses"] == 1]
            assert singles == row["fragments"]


def test_rows_that_cannot_be_used_are_named_and_the_rest_goes_on() -> None:
    before = LeftOut("train", 9, "empty question", "train row 9: empty question")
    made = build(corpus([*TRAIN, ("ships", "SELECT FROM WHERE", "What?")], left_out=(before,)))
    assert made.left_out[0] == before
    assert (made.left_out[1].split, made.left_out[1].row) == ("train", 3)
    assert made.left_out[1].reason == "the query cannot be cut into clauses"
    assert "train row 3 (ships): does not parse" in made.left_out[1].detail
    assert made.counts["train"].pairs == 20


def test_strict_stops_at_the_first() -> None:
    with pytest.raises(SourceError, match=r"train row 3 \(ships\): expected one query"):
        build(corpus([*TRAIN, ("ships", "DROP TABLE ship", "Drop it.")]), BuildOptions(strict=True))


def test_no_usable_row_is_an_error() -> None:
    source = Source(
        "none", None, "f" * 64, {"train": (SourcePair("train", 0, "d", "DROP TABLE t", "Drop it."),)}
    )
    with pytest.raises(
        SourceError, match=r"no row of the source 'none' can be used \(1 left out\).*train row 0"
    ):
        build(source)


def test_same_input_same_rows() -> None:
    first, second = build(corpus()), build(corpus())
    assert json.dumps([first.alignments, first.pairs]) == json.dumps([second.alignments, second.pairs])


def test_processes_share_the_work_without_moving_a_row() -> None:
    source = read_source("bundled")  # three batches
    alone, shared = build(source), build(source, workers=2)
    assert (alone.alignments, alone.pairs, alone.signature) == (
        shared.alignments,
        shared.pairs,
        shared.signature,
    )


def test_an_error_in_a_process_reaches_the_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise SourceError("from the other process")

    monkeypatch.setattr(build_module, "all_alignments", fail)
    with pytest.raises(SourceError, match="from the other process"):
        build(read_source("bundled"), workers=2)


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("aligner", "keywords", "Did you mean 'keyword'"),
        ("deduplicate", "training", "Did you mean 'train'"),
        ("dialect", "sqlitee", "sqlite"),
        ("spacy_model", "en_core_web_xs", "pip install"),
    ],
)
def test_wrong_options(option: str, value: str, message: str) -> None:
    with pytest.raises((OptionError, ImportError), match=message):
        build(corpus(), BuildOptions(**{option: value}))


def test_signature_holds_all_that_moves_the_rows() -> None:
    base = signature(corpus(), BuildOptions())
    assert signature(corpus(), BuildOptions(strict=True)) == base  # stops sooner, moves no row
    for options in (
        BuildOptions(dialect="mysql"),
        BuildOptions(deduplicate="none"),
        BuildOptions(aligner="keyword"),
        BuildOptions(resolve_aliases=False),
    ):
        assert signature(corpus(), options) != base
    assert signature(corpus(fingerprint="e" * 64), BuildOptions()) != base
    for part in (
        "sqlglot:",
        "spacy:",
        "en_core_web_sm",
        "code:",
        "version:",
        "aligner:segment",
        "aliases:resolved",
        "source:ships",
    ):
        assert part in base


def test_clauses_without_their_from_name_tables() -> None:
    row = {
        "source_split": "train", "source_row": 0, "db_id": "d", "question": "a b c",
        "tokens": ["a", "b", "c"],
        "token_spans": [[0, 1], [2, 3], [4, 5]], "clause_types": ["SELECT", "WHERE", "ORDER BY"],
        "clause_sql": ["SELECT T1.x FROM t AS T1", "WHERE T1.y = 1", "ORDER BY T1.z"],
        "clause_token_ids": [[0], [1], [2]], "joining_ids": [], "alignment_confidence": 0.5,
    }  # fmt: skip
    resolved = {pair["id"]: pair["query"] for pair in compose_row(row, BuildOptions(resolve_aliases=True))}
    assert resolved["train-0-12"] == "WHERE t.y = 1 ORDER BY t.z"
    assert resolved["train-0-01"] == "SELECT T1.x FROM t AS T1 WHERE T1.y = 1"
    kept = {pair["id"]: pair["query"] for pair in compose_row(row, BuildOptions(resolve_aliases=False))}
    assert kept["train-0-12"] == "WHERE T1.y = 1 ORDER BY T1.z"
