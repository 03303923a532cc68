"""Rows, and a tiny model of each kind; the first of them has learnt the rows."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

CHAT = (
    "{% for message in messages %}<s>{{ message['role'] }}: {{ message['content'] }}</s>{% endfor %}"
    "{% if add_generation_prompt %}<s>assistant: {% endif %}"
)


def _rows() -> list[dict[str, Any]]:
    rows = []
    for thing in ("singer", "ferry", "museum"):
        for trait in ("age", "size"):
            query, question = f"SELECT {trait} FROM {thing}", f"What is the {trait} of each {thing}?"
            kinds = ["SELECT"]
            for clause, words, kind in (
                ("", "", None),
                (f"WHERE {trait} > 3", f"with {trait} above 3", "WHERE"),
            ):
                rows.append(
                    {
                        "id": f"row-{len(rows)}",
                        "db_id": "shop",
                        "query": f"{query} {clause}".strip(),
                        "question": f"{question[:-1]} {words}".strip() + "?",
                        "clause_types": [*kinds, *([kind] if kind else [])],
                        "num_clauses": 1 + bool(kind),
                    }
                )
    return rows


@pytest.fixture(scope="session")
def rows() -> list[dict[str, Any]]:
    """Twelve rows of one and two clauses."""
    return _rows()


@pytest.fixture
def data(rows: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Put rows in the place of the dataset; called once already, with `rows`."""
    from spider_compose.inference import run
    from spider_compose.inference.data import ConfigData

    def put(given: list[dict[str, Any]]) -> None:
        held = ConfigData({"train": [], "validation": [], "test": given}, {}, "made up@1")
        monkeypatch.setattr(run, "read_config", lambda config, source, options: held)

    put(rows)
    return put


@pytest.fixture(scope="session")
def own_tokenizer() -> Any:
    from spider_compose.tokenization.tokenizer import SQLTokenizer

    return SQLTokenizer.train(_rows(), vocab_size=400)


@pytest.fixture(scope="session")
def own_model(own_tokenizer: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run: a BiLSTM that has learnt the rows, and the report of its training."""
    import torch

    from spider_compose.models import MODELS, save_with_code
    from spider_compose.tokenization.collator import SQLToTextCollator

    torch.manual_seed(1)
    config, kind = MODELS["bilstm"]
    sizes = {"embedding_size": 32, "hidden_size": 32, "decoder_hidden_size": 32, "dropout": 0.0}
    model = kind(config(**sizes, vocab_size=len(own_tokenizer), input_feeding=False))
    batch = SQLToTextCollator(own_tokenizer, "sequence")(
        [own_tokenizer.encode_pair(row["query"], row["question"]) for row in _rows()]
    )
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.02)
    for _ in range(80):
        optimizer.zero_grad()
        model(**batch).loss.backward()
        optimizer.step()
    folder = tmp_path_factory.mktemp("runs") / "bilstm-compose_no_overlap-seed7"
    save_with_code(model.eval(), own_tokenizer, folder / "model")
    report = {
        "model": "bilstm", "size": "small", "experiment": "compose_no_overlap", "seed": 7, "training": {},
        "signature": "of the training",
    }  # fmt: skip
    (folder / "report.json").write_text(json.dumps(report), encoding="utf-8")
    return folder / "model"


def _text_tokenizer(own: Any, **special: Any) -> Any:
    from transformers import PreTrainedTokenizerFast

    return PreTrainedTokenizerFast(
        tokenizer_object=own._tokenizer, pad_token="<pad>", bos_token="<s>", eos_token="</s>", **special
    )


@pytest.fixture(scope="session")
def seq2seq_model(own_tokenizer: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A T5 of large random weights: what it says depends on what it reads."""
    import torch
    from transformers import T5Config, T5ForConditionalGeneration

    torch.manual_seed(2)
    config = T5Config(
        vocab_size=len(own_tokenizer), d_model=16, d_ff=32, d_kv=8, num_layers=1, num_heads=2, pad_token_id=0,
        eos_token_id=2, decoder_start_token_id=0, initializer_factor=6.0,
    )  # fmt: skip
    folder = tmp_path_factory.mktemp("hub") / "t5-tiny"
    T5ForConditionalGeneration(config).save_pretrained(folder)
    _text_tokenizer(own_tokenizer).save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def causal_model(own_tokenizer: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Llama of large random weights, with a chat template and 512 positions."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(3)
    config = LlamaConfig(
        vocab_size=len(own_tokenizer), hidden_size=16, intermediate_size=32, num_hidden_layers=1,
        num_attention_heads=2, num_key_value_heads=2, max_position_embeddings=512, initializer_range=1.0,
        bos_token_id=1, eos_token_id=2,
    )  # fmt: skip
    folder = tmp_path_factory.mktemp("hub") / "llama-tiny"
    LlamaForCausalLM(config).save_pretrained(folder)
    tokenizer = _text_tokenizer(own_tokenizer)
    tokenizer.chat_template = CHAT
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture
def environment() -> dict[str, str]:
    """Of a program that imports this checkout."""
    repository = Path(__file__).resolve().parents[2]
    return os.environ | {"PYTHONPATH": str(repository), "OMP_NUM_THREADS": "1"}
