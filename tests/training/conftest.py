"""A corpus of one's own, small enough to train on in seconds, and settings of tiny models."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

TINY: dict[str, dict[str, Any]] = {
    "bilstm": {"embedding_size": 16, "hidden_size": 16, "decoder_hidden_size": 16},
    "rgt": {
        "embedding_size": 16, "hidden_size": 16, "decoder_hidden_size": 16, "intermediate_size": 32,
        "num_hidden_layers": 1, "num_attention_heads": 2, "structure_embedding_size": 8,
        "structure_hidden_size": 8, "structure_intermediate_size": 16,
    },
}  # fmt: skip

THINGS = ["singer", "ferry", "museum", "farmer"]
TRAITS = ["age", "size", "price", "rank"]


def own_pairs(part: str) -> list[dict[str, str]]:
    """40 or 24 pairs over two databases, of one to three clauses."""
    rows = []
    for number in range(10 if part == "train" else 6):
        thing, trait = THINGS[number % 4], TRAITS[number // 4 % 4]
        other, limit = TRAITS[(number + 1) % 4], 3 * number + 2
        database = "shop" if number % 2 else "harbour"
        select, where, order = (
            f"SELECT name FROM {thing}",
            f"WHERE {trait} > {limit}",
            f"ORDER BY {other}",
        )
        rows += [
            {"db_id": database, "query": query, "question": question}
            for query, question in (
                (select, f"What is the name of each {thing}?"),
                (f"{select} {where}", f"What is the name of each {thing} with {trait} above {limit}?"),
                (f"{select} {order}", f"What is the name of each {thing}, ordered by {other}?"),
                (
                    f"{select} {where} {order}",
                    f"What is the name of each {thing} with {trait} above {limit}, ordered by {other}?",
                ),
            )
        ]
    return rows


@pytest.fixture(scope="session")
def own_corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of pairs in JSON Lines, without schemas. `compose_no_overlap` and `spider` work on it too."""
    folder = tmp_path_factory.mktemp("corpus")
    for part in ("train", "validation"):
        rows = own_pairs(part)
        if part == "validation":
            # The test split of recombined pairs takes four clauses and more.
            rows += [
                {
                    "db_id": "shop",
                    "query": f"SELECT name FROM {thing} WHERE price > 7 GROUP BY name ORDER BY age",
                    "question": f"For each name, which {thing} has a price above 7, ordered by age?",
                }
                for thing in THINGS
            ]
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / f"{part}.jsonl").write_text(lines, encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def tiny(own_corpus: Path) -> Callable[..., Any]:
    """Settings of a run of seconds; any of them may be given."""
    from spider_compose.training.settings import TrainingSettings

    def make(**given: Any) -> TrainingSettings:
        model = given.get("model", "bilstm")
        values: dict[str, Any] = {
            "model": model, "source": str(own_corpus), "vocab_size": 400, "epochs": 3, "batch_size": 8,
            "warmup_steps": 2, "num_beams": 2, "max_new_tokens": 24, "model_options": TINY.get(model, {}),
        }  # fmt: skip
        return TrainingSettings(**(values | given))

    return make
