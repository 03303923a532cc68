"""Every model, trained to know 32 pairs by heart, saved and loaded through every door."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="the extra `models` is not installed")
pytest.importorskip("transformers", reason="the extra `models` is not installed")
pytest.importorskip("sacrebleu", reason="the extra `models` is not installed")

import sacrebleu
import torch
from transformers import AutoConfig, AutoModelForSeq2SeqLM, AutoTokenizer

from spider_compose.errors import OutputError
from spider_compose.models import MODELS, Translator, save_with_code
from spider_compose.tokenization.tokenizer import SQLTokenizer

NAMES = ["bilstm", "abs", "rel", "treelstm", "rgt"]
MAX_STEPS = 300
Make = Callable[..., Any]


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_overfit_save_load(
    name: str, make_model: Make, make_batch: Make, tokenizer: SQLTokenizer, tmp_path: Path
) -> None:
    """32 pairs by heart (BLEU above 95, more than 90 % exact), then the same outputs after loading."""
    model = make_model(name, embedding_size=64, hidden_size=96, decoder_hidden_size=96).train()
    batch = make_batch(model)
    optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
    for _ in range(MAX_STEPS):
        loss = model(**batch).loss
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if loss < 0.02:
            break
    model.eval()
    model.tokenizer = tokenizer
    questions = [question for _, question in pairs_of(make_batch)]
    said = model.translate([query for query, _ in pairs_of(make_batch)])
    assert sacrebleu.corpus_bleu(said, [questions]).score > 95
    assert sum(one == other for one, other in zip(said, questions, strict=True)) > 0.9 * 32

    save_with_code(model, tokenizer, tmp_path)
    expected = model(**batch).logits
    config = AutoConfig.from_pretrained(tmp_path)
    assert type(config) is MODELS[name][0] and config.to_dict()["auto_map"]
    for loaded in (
        MODELS[name][1].from_pretrained(tmp_path),
        AutoModelForSeq2SeqLM.from_pretrained(tmp_path),
    ):
        assert type(loaded) is MODELS[name][1] and not loaded.training
        assert torch.allclose(loaded(**batch).logits, expected, atol=1e-5)
        assert loaded.translate("SELECT count(*) FROM concert") == model.translate(
            "SELECT count(*) FROM concert"
        )
    assert isinstance(AutoTokenizer.from_pretrained(tmp_path), SQLTokenizer)
    assert (
        Translator.from_pretrained(str(tmp_path))("SELECT count(*) FROM stadium")
        == "How many stadiums are there?"
    )


def pairs_of(make_batch: Make) -> list[tuple[str, str]]:
    """The 32 pairs that `make_batch` encodes."""
    pairs: list[tuple[str, str]] = make_batch.__globals__["PAIRS"]  # type: ignore[attr-defined]
    return pairs


# Runs where this package cannot be imported: all code comes from the folder.
REMOTE = """
import json, sys
sys.modules["spider_compose"] = None
import torch
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

folder, batch_file = sys.argv[1:]
model = AutoModelForSeq2SeqLM.from_pretrained(folder, trust_remote_code=True)
model.tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=True)
batch = {name: torch.tensor(values) for name, values in json.load(open(batch_file)).items()}
said = model.translate("SELECT age FROM singer ORDER BY age", max_new_tokens=8, num_beams=2)
print(json.dumps({"logits": model(**batch).logits.sum(-1).tolist(), "said": said, "module":
type(model).__module__}))
"""


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_remote_code(
    name: str, make_model: Make, make_batch: Make, tokenizer: SQLTokenizer, tmp_path: Path
) -> None:
    """A folder with `auto_map` gives the same outputs where the package is not installed."""
    model = make_model(name)
    model.tokenizer = tokenizer
    save_with_code(model, tokenizer, tmp_path / "model")
    batch = make_batch(model, slice(0, 3))
    (tmp_path / "batch.json").write_text(json.dumps({key: value.tolist() for key, value in batch.items()}))
    (tmp_path / "remote.py").write_text(REMOTE)
    done = subprocess.run(
        [sys.executable, tmp_path / "remote.py", tmp_path / "model", tmp_path / "batch.json"],
        capture_output=True, text=True, check=False, cwd=tmp_path,
        env={"HF_HOME": str(tmp_path / "home"), "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["module"].startswith("transformers_modules")
    assert torch.allclose(torch.tensor(found["logits"]), model(**batch).logits.sum(-1), rtol=1e-5)
    assert found["said"] == model.translate(
        "SELECT age FROM singer ORDER BY age", max_new_tokens=8, num_beams=2
    )


def test_saved_code_is_whole(make_model: Make, tokenizer: SQLTokenizer, tmp_path: Path) -> None:
    """No file of the folder imports this package, and every relative import is there."""
    save_with_code(make_model("rgt"), tokenizer, tmp_path)
    files = {path.stem: path.read_text("utf-8") for path in tmp_path.glob("*.py")}
    assert {"modeling_rgt", "configuration_rgt", "tokenizer", "tree"} <= set(files)
    for text in files.values():
        for line in text.splitlines():
            words = line.split()
            if words[:1] == ["from"] and words[2:3] == ["import"]:
                assert not words[1].startswith("spider_compose")
                assert not words[1].startswith(".") or words[1][1:] in files


@pytest.mark.parametrize("name", NAMES)
def test_other_vocabulary_size(name: str, make_model: Make, make_batch: Make, tmp_path: Path) -> None:
    """Table and output layer are resized together; what was known keeps its scores; the model is saved."""
    model = make_model(name)
    batch = make_batch(model, slice(0, 3))
    before = model.pointer_generator.vocabulary(torch.ones(1, 48))
    size = model.config.vocab_size
    model.resize_token_embeddings(size + 80)
    logits = model(**batch).logits
    assert logits.shape[-1] == model.config.vocab_size == size + 80
    assert torch.equal(model.pointer_generator.vocabulary(torch.ones(1, 48))[:, :size], before)
    batch["labels"][batch["labels"] >= 0] = size + 70  # a new piece can be a target, and an input
    model.train()(**batch).loss.backward()
    model.save_pretrained(tmp_path)
    loaded = MODELS[name][1].from_pretrained(tmp_path)
    assert torch.allclose(loaded(**batch).logits, model.eval()(**batch).logits, atol=1e-5)


def test_saving_over_a_file(make_model: Make, tokenizer: SQLTokenizer, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="is a file"):
        save_with_code(make_model("abs"), tokenizer, tmp_path / "file")


@pytest.mark.parametrize("name", NAMES)
def test_device_map(name: str, make_model: Make, make_batch: Make, tmp_path: Path) -> None:
    pytest.importorskip("accelerate", reason="the extra `models` is not installed")
    model = make_model(name)
    model.save_pretrained(tmp_path)
    loaded = MODELS[name][1].from_pretrained(tmp_path, device_map="auto")
    batch = make_batch(model, slice(0, 3))
    assert torch.allclose(loaded(**batch).logits, model(**batch).logits, atol=1e-5)
