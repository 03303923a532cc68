"""The tokenizer: what comes back, what may be copied, what is cut, what is refused."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("transformers", reason="the extra `models` is not installed")

from hypothesis import given
from hypothesis import strategies as st

from spider_compose.errors import ClauseError, OptionError
from spider_compose.sql.schema import Schema
from spider_compose.tokenization.tokenizer import GLUE, NUM_SLOTS, SLOTS, SQLTokenizer

OWN = {ord(mark): "x" for mark in (GLUE, *SLOTS)}
PAIRS = [
    {
        "query": "SELECT name FROM singer WHERE age > 20",
        "question": "What are the names of singers older than 20?",
    },
    {"query": "SELECT count(*) FROM singer", "question": "How many singers are there?"},
]
TOKENIZER = SQLTokenizer.train(PAIRS, vocab_size=340)


@given(st.text(min_size=1).map(lambda text: " ".join(text.split())).filter(bool))
def test_any_text_comes_back(text: str) -> None:
    assert TOKENIZER.decode(TOKENIZER.encode_question(text), skip_special_tokens=True) == text


def test_special_pieces() -> None:
    assert TOKENIZER.convert_tokens_to_ids(["<pad>", "<s>", "</s>"]) == [0, 1, 2]
    assert TOKENIZER("How many?").input_ids == TOKENIZER.encode_question("How many?")
    assert TOKENIZER.encode_question("How many?")[-1] == TOKENIZER.eos_token_id


@pytest.mark.parametrize("mark", ["<pad>", "<s>", "</s>"])
def test_marks_in_a_text_are_text(mark: str, tmp_path: Path) -> None:
    """`<s>` is HTML too: it comes back, is copied like any value, and ends or pads nothing."""
    TOKENIZER.save_pretrained(tmp_path)
    text = f"Which page has {mark} in it?"
    for tokenizer in (TOKENIZER, SQLTokenizer.from_pretrained(tmp_path)):
        assert tokenizer.decode(tokenizer.encode_question(text), skip_special_tokens=True) == text
        assert tokenizer(text).input_ids == tokenizer.encode_question(text)
        for form in ("sequence", "tree"):
            ids = tokenizer.encode_sql(f"WHERE tag = '{mark}'", form=form)["input_ids"]
            assert min(ids) > 2


def test_use_leaves_no_trace() -> None:
    """What a tokenizer has read is not in its fingerprint: `datasets.map` finds its results again."""
    hasher = pytest.importorskip("datasets.fingerprint").Hasher
    tokenizer = SQLTokenizer.train(PAIRS, vocab_size=340)
    before = hasher.hash(tokenizer)
    for form in ("sequence", "tree"):
        tokenizer.encode_pair("SELECT count(*) FROM unseen", "How many?", form=form)
    assert hasher.hash(tokenizer) == before


def test_added_pieces_hold_at_once() -> None:
    tokenizer = SQLTokenizer.train(PAIRS, vocab_size=340)
    tokenizer.pieces("Ljubljana")
    tokenizer.add_tokens(["Ljubljana"])
    assert tokenizer.pieces("Ljubljana") == [len(tokenizer) - 1]


def test_save_and_load(tmp_path: Path) -> None:
    TOKENIZER.save_pretrained(tmp_path)
    loaded = SQLTokenizer.from_pretrained(tmp_path)
    assert loaded.max_source_length == TOKENIZER.max_source_length
    assert loaded.structure_ids == TOKENIZER.structure_ids
    for form in ("sequence", "tree"):
        one, other = (t.encode_sql("SELECT age FROM singer", form=form) for t in (TOKENIZER, loaded))
        assert {name: np.asarray(value).tolist() for name, value in one.items()} == {
            name: np.asarray(value).tolist() for name, value in other.items()
        }
    assert loaded.encode_question("a_b  ç") == TOKENIZER.encode_question("a_b  ç")


def copyable(features: dict[str, Any]) -> str:
    ids = [
        piece for piece, copied in zip(features["input_ids"], features["copy_mask"], strict=True) if copied
    ]
    return TOKENIZER.decode_question(ids, features["slots"])


def test_copy_rights_are_the_same_in_both_forms() -> None:
    """Names, numbers and values. The sequence also holds the tables of columns."""
    query = "SELECT count(homeTown) FROM t WHERE nm LIKE '%Kyoto City%' LIMIT 37"
    assert copyable(TOKENIZER.encode_sql(query)) == "t home town t t nm Kyoto City 37"
    assert copyable(TOKENIZER.encode_sql(query, form="tree")) == "home town t nm Kyoto City 37"


@pytest.mark.parametrize("form", ["sequence", "tree"])
@pytest.mark.parametrize(
    "question",
    [
        pytest.param("Who lives in Ljubljana?", id="after a space"),
        pytest.param("Who lives in 'Ljubljana'?", id="in quotes"),
        pytest.param("Ljubljana's people?", id="first, with an ending"),
        pytest.param("Who lives in (Ljubljana) or Ljubljana?", id="in brackets and again"),
    ],
)
def test_an_unseen_word_is_one_slot_in_source_and_question(form: str, question: str) -> None:
    """A value of no training pair can be copied in one step, wherever it stands in the question."""
    pair = TOKENIZER.encode_pair("WHERE name = 'Ljubljana'", question, form=form)
    slot = TOKENIZER.convert_tokens_to_ids(f" {SLOTS[pair['slots'].index('ĠLjubljana')]}")
    assert slot in pair["input_ids"] and pair["copy_mask"][list(pair["input_ids"]).index(slot)]
    assert pair["labels"].count(slot) == question.count("Ljubljana")
    assert TOKENIZER.decode_question(pair["labels"], pair["slots"]) == question
    assert TOKENIZER.decode_question([slot], []) == "", "a slot without a word says nothing"


def test_slots_are_counted_by_row_and_come_to_an_end() -> None:
    words = [f"Qx{chr(97 + number // 26)}{chr(97 + number % 26)}k" for number in range(NUM_SLOTS + 9)]
    query = "WHERE a IN (" + ", ".join(f"'{word}'" for word in words) + ")"
    question = "Is it " + " or ".join(words) + "?"
    pair = TOKENIZER.encode_pair(query, question)
    assert len(pair["slots"]) == NUM_SLOTS == len(set(pair["slots"]))
    assert TOKENIZER.decode_question(pair["labels"], pair["slots"]) == question
    again = TOKENIZER.encode_pair("WHERE b = 'Other'", "Other?")
    assert again["slots"] == ["Ġb", "ĠOther"], "a row's slots are its own"
    assert TOKENIZER.encode_question("Qxaak") == TOKENIZER("Qxaak").input_ids, "none without a source"


def test_own_marks_in_a_text_are_replaced() -> None:
    """The private characters that stand for slots cannot be brought in from outside."""
    pair = TOKENIZER.encode_pair(f"WHERE a = 'Secret{SLOTS[0]}'", f"Is it {SLOTS[0]} {GLUE} x?")
    assert TOKENIZER.decode_question(pair["labels"], pair["slots"]) == "Is it \ufffd \ufffd x?"


@given(
    st.lists(st.text(st.characters(codec="utf-8", exclude_characters="'\0%"), min_size=1), max_size=6),
    st.integers(0, 5),
)
def test_any_question_comes_back_with_its_slots(values: list[str], shift: int) -> None:
    values = [" ".join(value.translate(OWN).split()) or "x" for value in values]
    query = "WHERE " + " AND ".join(f"a = '{value}'" for value in values) if values else "SELECT a FROM b"
    question = " ".join(values[shift:] + values[:shift]) or "?"
    pair = TOKENIZER.encode_pair(query, question)
    assert TOKENIZER.decode_question(pair["labels"], pair["slots"]) == question


def test_schema_gives_the_words() -> None:
    entry = {
        "db_id": "d", "table_names_original": ["sgr"], "table_names": ["singer"],
        "column_names_original": [[-1, "*"], [0, "nm"]], "column_names": [[-1, "*"], [0, "full name"]],
    }  # fmt: skip
    schema = Schema.from_tables_json(entry)
    features = TOKENIZER.encode_sql("SELECT nm FROM sgr", schema)
    assert TOKENIZER.decode_question(features["input_ids"], features["slots"]) == (
        "select singer . full name from singer"
    )


@pytest.mark.parametrize("form", ["sequence", "tree"])
def test_long_sources_are_cut_with_a_warning(form: str, caplog: pytest.LogCaptureFixture) -> None:
    query = "SELECT a FROM t WHERE " + " AND ".join(f"column_{i} = {i}" for i in range(2500))
    with caplog.at_level(logging.WARNING):
        features = TOKENIZER.encode_sql(query, form=form)
    assert len(features["input_ids"]) <= 512
    assert "was cut" in caplog.text
    if form == "tree":
        assert len(features["structure_ids"]) <= 256
        assert features["leaf_parents"].max() < len(features["structure_ids"])
        assert features["structure_spans"].max() <= len(features["input_ids"])


@pytest.mark.parametrize("form", ["sequence", "tree"])
def test_sources_of_just_the_length_are_whole(form: str, caplog: pytest.LogCaptureFixture) -> None:
    query = "SELECT a FROM t WHERE b = 1"
    length = len(TOKENIZER.encode_sql(query, form=form)["input_ids"])
    for limit in (length, length - 1):
        tokenizer = SQLTokenizer.train(PAIRS, vocab_size=340, max_source_length=limit)
        caplog.clear()
        assert len(tokenizer.encode_sql(query, form=form)["input_ids"]) == limit
        assert bool(caplog.records) == (limit < length)


BAD = [
    ({"sql": ""}, ClauseError, "empty"),
    ({"sql": "how many singers are there"}, ClauseError, "expected one query"),
    ({"sql": "SELECT FROM"}, ClauseError, "something after SELECT|parse"),
    ({"sql": "SELECT 1", "form": "graph"}, OptionError, "form"),
    ({"sql": "SELECT 1", "dialect": "postgre"}, OptionError, "postgres"),
    ({"sql": "SELECT 1", "schema": "concert_singer"}, OptionError, "Schema"),
    ({"sql": None}, OptionError, "`sql` must be a text, but got None"),
    ({"sql": b"SELECT 1"}, OptionError, "must be a text"),
    ({"sql": "SELECT '\ud83d'"}, OptionError, "Unicode text.*character 8"),
]


@pytest.mark.parametrize(("arguments", "error", "says"), BAD, ids=[str(case[0])[:40] for case in BAD])
def test_bad_input(arguments: dict[str, Any], error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        TOKENIZER.encode_sql(**arguments)


@pytest.mark.parametrize("question", [None, 3, "half a \ude00 smile"])
def test_bad_questions(question: Any) -> None:
    with pytest.raises(OptionError, match="`question` must be"):
        TOKENIZER.encode_question(question)


BAD_ROWS: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"query": "SELECT 1"}, OptionError, "row 2: `question` must be a text, but got None"),
    ({"question": "One?"}, OptionError, "row 2: `query`"),
    ({"query": "SELECT 1", "question": "\ud83d"}, OptionError, "row 2: `question` must be Unicode"),
    ({"query": "SELECT FROM", "question": "One?"}, ClauseError, "row 2: "),
]


@pytest.mark.parametrize(("row", "error", "says"), BAD_ROWS, ids=[case[2] for case in BAD_ROWS])
def test_bad_training_rows(row: dict[str, Any], error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        SQLTokenizer.train([*PAIRS, row])


def test_bad_training_options() -> None:
    with pytest.raises(OptionError, match="323"):
        SQLTokenizer.train(PAIRS, vocab_size=100)
    with pytest.raises(OptionError, match="max_source_length"):
        SQLTokenizer.train(PAIRS, max_source_length=0)


def test_bad_length_when_loading(tmp_path: Path) -> None:
    TOKENIZER.save_pretrained(tmp_path)
    tokenizer = SQLTokenizer.from_pretrained(tmp_path, max_source_length=0)
    with pytest.raises(OptionError, match="max_source_length"):
        tokenizer.encode_sql("SELECT 1", form="tree")


@pytest.mark.slow
def test_all_of_spider(shared_path: Callable[[str], Path]) -> None:
    """Every row in both forms; every question comes back, with pieces of the training part alone."""
    parquet = pytest.importorskip("pyarrow.parquet")
    entries = json.loads(shared_path("spider/tables.json").read_text("utf-8"))
    schemas = {entry["db_id"]: Schema.from_tables_json(entry) for entry in entries}
    rows = {
        part: parquet.read_table(shared_path(f"spider/{part}-00000-of-00001.parquet")).to_pylist()
        for part in ("train", "validation")
    }
    tokenizer = SQLTokenizer.train(rows["train"], schemas)
    for row in rows["train"] + rows["validation"]:
        for form in ("sequence", "tree"):
            pair = tokenizer.encode_pair(row["query"], row["question"], schemas[row["db_id"]], form=form)
            assert 0 < len(pair["input_ids"]) < 512
        question = " ".join(row["question"].split())
        assert " ".join(tokenizer.decode_question(pair["labels"], pair["slots"]).split()) == question
