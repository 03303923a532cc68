"""Batches: shapes, padding, and what is refused."""

from __future__ import annotations

import pytest

pytest.importorskip("torch", reason="the extra `models` is not installed")
pytest.importorskip("transformers", reason="the extra `models` is not installed")

import numpy as np
import torch

from spider_compose.errors import OptionError
from spider_compose.tokenization.collator import SQLToTextCollator
from spider_compose.tokenization.tokenizer import SQLTokenizer

PAIRS = [
    {"query": "SELECT name FROM singer WHERE age > 20 ORDER BY age", "question": "Who is older than 20?"},
    {"query": "GROUP BY age", "question": "for each age"},
]
TOKENIZER = SQLTokenizer.train(PAIRS, vocab_size=360)


def rows(form: str) -> list[dict[str, object]]:
    return [TOKENIZER.encode_pair(pair["query"], pair["question"], form=form) for pair in PAIRS]


@pytest.mark.parametrize("form", ["sequence", "tree"])
def test_padding(form: str) -> None:
    batch = SQLToTextCollator(TOKENIZER, form)(rows(form))
    for number, row in enumerate(rows(form)):
        length = len(row["input_ids"])  # type: ignore[arg-type]
        assert batch["attention_mask"][number].sum() == length
        assert batch["input_ids"][number, :length].tolist() == list(row["input_ids"])  # type: ignore[call-overload]
        assert (batch["input_ids"][number, length:] == TOKENIZER.pad_token_id).all()
        labels = row["labels"]
        assert batch["labels"][number].tolist() == labels + [-100] * (batch["labels"].shape[1] - len(labels))  # type: ignore[operator,arg-type]
        if form == "tree":
            size = len(row["structure_ids"])  # type: ignore[arg-type]
            assert batch["structure_mask"][number].sum() == size
            assert (
                batch["structure_relations"][number, :size, :size].numpy() == row["structure_relations"]
            ).all()
            assert batch["leaf_ancestors"].dtype == torch.uint8
            assert tuple(batch["structure_spans"].shape[2:]) == (2,)


def test_rows_may_be_lists() -> None:
    """As a cached dataset gives them: lists, and tables flat or nested."""
    features = rows("tree")
    tables = ("structure_spans", "structure_relations", "leaf_ancestors")
    flat = [
        {name: np.ravel(value).tolist() if name in tables else list(value) for name, value in row.items()}
        for row in features
    ]
    one, other = (SQLToTextCollator(TOKENIZER, "tree")(given) for given in (features, flat))
    assert all(torch.equal(one[name], other[name]) for name in one)


def test_no_labels_when_translating() -> None:
    batch = SQLToTextCollator(TOKENIZER)([TOKENIZER.encode_sql("SELECT 1")])
    assert "labels" not in batch


def test_bad_rows() -> None:
    with pytest.raises(OptionError, match="at least one row"):
        SQLToTextCollator(TOKENIZER)([])
    with pytest.raises(OptionError, match="form='tree'"):
        SQLToTextCollator(TOKENIZER, "tree")(rows("sequence"))
    with pytest.raises(OptionError, match="form"):
        SQLToTextCollator(TOKENIZER, "trees")


@pytest.mark.parametrize("lacking", ["labels", "copy_mask", "structure_spans", "leaf_ancestors"])
def test_a_row_that_lacks_a_field(lacking: str) -> None:
    """Any row, not just the first."""
    one, other = rows("tree")
    del other[lacking]
    with pytest.raises(OptionError, match=rf"lack \['{lacking}'\]"):
        SQLToTextCollator(TOKENIZER, "tree")([one, other])
