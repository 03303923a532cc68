"""A tokenizer, 32 pairs, and a tiny random model of each kind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

NAMES = ["bilstm", "abs", "rel", "treelstm", "rgt"]

# Small enough for a test, large enough to learn 32 sentences.
TINY: dict[str, Any] = {"embedding_size": 32, "hidden_size": 48, "decoder_hidden_size": 48}
TINY_TRANSFORMER: dict[str, Any] = TINY | {
    "intermediate_size": 96, "num_hidden_layers": 2, "num_attention_heads": 4,
}  # fmt: skip
TINY_BY_NAME: dict[str, dict[str, Any]] = {
    "bilstm": TINY,
    "abs": TINY_TRANSFORMER,
    "rel": TINY_TRANSFORMER,
    "treelstm": TINY,
    "rgt": TINY_TRANSFORMER
    | {"structure_embedding_size": 16, "structure_hidden_size": 16, "structure_intermediate_size": 32},
}

TABLES = ["singer", "concert", "stadium", "pet_owner"]
COLUMNS = ["name", "age", "homeTown", "capacity"]


def _pairs() -> Iterator[tuple[str, str]]:
    """32 different queries of every kind of clause, whole and in parts, each with a sentence."""
    for number, table in enumerate(TABLES):
        one, other = COLUMNS[number], COLUMNS[number - 1]
        words = table.replace("_", " ")
        yield f"SELECT {one} FROM {table}", f"List the {one} of each {words}."
        yield f"SELECT count(*) FROM {table}", f"How many {words}s are there?"
        yield f"WHERE {other} > {17 * (number + 1)}", f"with {other} above {17 * (number + 1)}"
        yield (
            f"SELECT {one} FROM {table} WHERE {other} = 'Town {number}' OR {one} IS NOT NULL",
            f"Which {words} has the {other} Town {number}, or any {one}?",
        )
        yield (
            f"GROUP BY {one} HAVING avg({other}) < {number}",
            f"for each {one} whose average {other} is below {number}",
        )
        yield (
            f"SELECT {one} FROM {table} ORDER BY {other} DESC LIMIT {number + 1}",
            f"Show the {one} of the top {number + 1} {words}s by {other}.",
        )
        yield (
            f"SELECT {one} FROM {table} EXCEPT SELECT {one} FROM {TABLES[number - 1]}",
            f"What {one} of a {words} belongs to no {TABLES[number - 1].replace('_', ' ')}?",
        )
        yield (
            f"SELECT t.{one} FROM {table} AS t JOIN {TABLES[number - 1]} AS u ON t.id = u.id "
            f"WHERE u.{other} IN (SELECT max({other}) FROM {table})",
            f"Give the {one} of every {words} that shares the highest {other}.",
        )


PAIRS = list(_pairs())
assert len(PAIRS) == 32


@pytest.fixture(scope="session")
def tokenizer() -> Any:
    from spider_compose.tokenization.tokenizer import SQLTokenizer

    return SQLTokenizer.train(
        [{"query": query, "question": question} for query, question in PAIRS], vocab_size=484
    )


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Tiny models gain nothing from threads, and the machine may be shared."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def make_model(tokenizer: Any) -> Callable[..., Any]:
    """A tiny model by name, in evaluation mode, with any field of its configuration."""
    import torch

    from spider_compose.models import MODELS

    def make(name: str, **overrides: Any) -> Any:
        config_class, model_class = MODELS[name]
        torch.manual_seed(1)
        sizes = TINY_BY_NAME[name] | {"vocab_size": len(tokenizer)}
        return model_class(config_class(**(sizes | overrides))).eval()

    return make


@pytest.fixture
def make_batch(tokenizer: Any) -> Callable[..., dict[str, Any]]:
    """Rows of `PAIRS` as a batch for a model."""
    from spider_compose.tokenization.collator import SQLToTextCollator

    def make(model: Any, rows: Any = slice(None), labels: bool = True) -> dict[str, Any]:
        form = model.config.source_form
        chosen = PAIRS[rows] if isinstance(rows, slice) else [PAIRS[row] for row in rows]
        encoded = [tokenizer.encode_pair(query, question, form=form) for query, question in chosen]
        if not labels:
            for row in encoded:
                del row["labels"]
        batch: dict[str, Any] = SQLToTextCollator(tokenizer, form)(encoded)
        return batch

    return make
