"""All 28,042 pairs of SpiderCompose, before duplicates are dropped, through both forms and the collator."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the extra `models` is not installed")
pytest.importorskip("transformers", reason="the extra `models` is not installed")
pytest.importorskip("spacy", reason="the extra `data` is not installed")

from spider_compose.composition.build import BuildOptions, build
from spider_compose.source import read_source
from spider_compose.tokenization.collator import SQLToTextCollator
from spider_compose.tokenization.tokenizer import SQLTokenizer


@pytest.mark.slow
def test_all_of_compose(shared_path: Callable[[str], Path]) -> None:
    source = read_source(str(shared_path("spider")))
    pairs = build(source, BuildOptions(deduplicate="none")).pairs
    assert sum(len(rows) for rows in pairs.values()) == 28_042
    tokenizer = SQLTokenizer.train(pairs["train"], source.schemas)
    for form in ("sequence", "tree"):
        collator = SQLToTextCollator(tokenizer, form)
        for rows in pairs.values():
            encoded = [
                tokenizer.encode_pair(row["query"], row["question"], source.schemas[row["db_id"]], form=form)
                for row in rows
            ]
            assert max(len(row["input_ids"]) for row in encoded) < tokenizer.max_source_length
            for start in range(0, len(encoded), 64):
                batch = collator(encoded[start : start + 64])
                assert len(batch["input_ids"]) == len(batch["labels"]) <= 64
