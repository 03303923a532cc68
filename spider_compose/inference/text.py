"""Between rows, features and texts: what training and evaluation do alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from spider_compose.sql.canonical import canonical_words
from spider_compose.sql.schema import Schema
from spider_compose.sql.tree import build_tree


def canonical_sql(query: str, schema: Schema | None, dialect: str) -> str:
    """The canonical SQL that BiLSTM, ABS and REL read, as one text for models of the Hub.

    Raises:
        ClauseError: the query is empty, too long or too deep, or does not parse.
    """
    return " ".join(word.text for word in canonical_words(build_tree(query, schema, dialect)))


def by_source_length(encoded: Sequence[Mapping[str, Any]]) -> list[int]:
    """Places of the rows, shortest source first: batches of like length for evaluation."""
    return sorted(range(len(encoded)), key=lambda place: len(encoded[place]["input_ids"]))


def decode(tokenizer: Any, sequences: Any, encoded: Sequence[Mapping[str, Any]]) -> list[str]:
    """Texts of generated ids; -100, the padding between batches, is no piece.

    Args:
        encoded: the features they were generated from, in the same order.
    """
    import numpy as np

    ids = np.where(sequences == -100, tokenizer.pad_token_id, sequences)
    if hasattr(tokenizer, "decode_question"):
        texts = [
            tokenizer.decode_question(row, features["slots"])
            for row, features in zip(ids.tolist(), encoded, strict=True)
        ]
    else:
        texts = tokenizer.batch_decode(ids, skip_special_tokens=True)
    return [text.strip() for text in texts]
