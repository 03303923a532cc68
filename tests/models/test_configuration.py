"""Presets, sizes, refused combinations, and the Auto classes."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("torch", reason="the extra `models` is not installed")
pytest.importorskip("transformers", reason="the extra `models` is not installed")

from transformers import AutoConfig, AutoModelForSeq2SeqLM

from spider_compose.errors import OptionError
from spider_compose.models import MODELS, PRESETS, preset
from spider_compose.tokenization.relations import NUM_STRUCTURE_RELATIONS
from spider_compose.tokenization.tokenizer import DEFAULT_VOCAB_SIZE, NUM_TYPES

NAMES = ["bilstm", "abs", "rel", "treelstm", "rgt"]
Make = Callable[..., Any]

# Millions of parameters of the first implementation. Its vocabulary was about a third of ours.
PUBLISHED = {"bilstm": 4.1, "abs": 21.9, "rel": 21.9, "treelstm": 3.4, "rgt": 22.7}


def test_names() -> None:
    assert list(MODELS) == NAMES and PRESETS == ("paper", "small")


@pytest.mark.parametrize("name", NAMES)
def test_sizes(name: str) -> None:
    millions = {}
    for size in PRESETS:
        model = AutoModelForSeq2SeqLM.from_config(preset(name, size))
        assert type(model) is MODELS[name][1]
        millions[size] = model.num_parameters() / 1e6
    outside_vocabulary = (DEFAULT_VOCAB_SIZE - 1_256) * (2 * 300 + 1) / 1e6
    assert abs(millions["paper"] - outside_vocabulary - PUBLISHED[name]) < 0.5
    assert 1 < millions["small"] < 2


@pytest.mark.parametrize("name", NAMES)
def test_round_trip(name: str, tmp_path: Any) -> None:
    config = preset(name, "small", dropout=0.25, vocab_size=500)
    config.save_pretrained(tmp_path)
    loaded = AutoConfig.from_pretrained(tmp_path)
    assert type(loaded) is type(config) and loaded.to_diff_dict() == config.to_diff_dict()
    assert loaded.source_form == ("tree" if name in ("treelstm", "rgt") else "sequence")
    assert loaded.is_encoder_decoder


def test_vocabularies_fit_the_tokenizer(tokenizer: Any) -> None:
    for name in ("treelstm", "rgt"):
        config: Any = preset(name)
        assert config.structure_vocab_size == len(tokenizer.structure_ids) + 1
        assert config.num_types == NUM_TYPES
    assert config.num_depth_relations * config.num_database_relations == NUM_STRUCTURE_RELATIONS
    assert config.vocab_size == DEFAULT_VOCAB_SIZE


WRONG = [
    ("abs", {"hidden_size": 50, "num_attention_heads": 4}, "hidden_size.*multiple of the number.*50 and 4"),
    ("abs", {"hidden_size": 9, "num_attention_heads": 3}, "even"),
    ("rgt", {"structure_hidden_size": 30}, "structure_hidden_size.*multiple"),
    ("rel", {"max_relative_position": 0}, "max_relative_position.*at least 1"),
    ("rel", {"num_hidden_layers": 0}, "num_hidden_layers.*at least 1"),
    ("bilstm", {"dropout": 1.0}, r"dropout.*\[0, 1\)"),
    ("bilstm", {"label_smoothing": -0.1}, r"label_smoothing.*\[0, 1\)"),
    ("bilstm", {"vocab_size": 0}, "vocab_size.*at least 1"),
    ("treelstm", {"copying": False}, "coverage.*copying"),
    ("treelstm", {"num_types": 1}, "num_types.*at least 2"),
    ("bilstm", {"eos_token_id": 5000}, "special token ids"),
    ("bilstm", {"tie_word_embeddings": True}, "tie_word_embeddings.*contexts"),
    ("bilstm", {"vocab_size": 500.0}, "vocab_size"),
    ("treelstm", {"hidden_size": "64"}, "hidden_size"),
    ("abs", {"num_hidden_layers": 2.5}, "num_hidden_layers"),
    ("rel", {"max_relative_position": None}, "max_relative_position"),
    ("rgt", {"structure_embedding_size": 8.0}, "structure_embedding_size"),
    ("bilstm", {"dropout": "0.1"}, "dropout"),
    ("bilstm", {"input_feeding": "no"}, "input_feeding"),
    ("bilstm", {"eos_token_id": [2, 3]}, "eos_token_id"),
    ("bilstm", {"is_encoder_decoder": False}, "is_encoder_decoder"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "fields", "says"), WRONG, ids=[str(case[1]) for case in WRONG])
def test_wrong_combinations(name: str, fields: dict[str, Any], says: str) -> None:
    with pytest.raises(Exception, match=f"(?s){says}"):
        preset(name, "paper", **fields)


def test_unknown_names() -> None:
    with pytest.raises(OptionError, match="Did you mean 'bilstm'"):
        preset("bilstn")
    with pytest.raises(OptionError, match="Did you mean 'small'"):
        preset("rgt", "smal")


@pytest.mark.parametrize(
    ("name", "field", "hint"),
    [
        ("rgt", "hiden_size", "hidden_size"),
        ("abs", "label_smooting", "label_smoothing"),
        ("treelstm", "intermediate_size", None),
        ("bilstm", "num_attention_heads", None),
    ],
)
def test_unknown_fields(name: str, field: str, hint: str | None) -> None:
    """transformers would keep them, and train another model than was asked for."""
    with pytest.raises(OptionError, match=f"`field`.*{field}" + (f".*Did you mean '{hint}'" if hint else "")):
        preset(name, "small", **{field: 0.1})


def test_wrong_inputs(make_model: Make, make_batch: Make) -> None:
    sequences, trees = make_batch(make_model("abs"), [0]), make_batch(make_model("rgt"), [0])
    with pytest.raises(OptionError, match="form 'tree'"):
        make_model("rgt")(**sequences)
    with pytest.raises(OptionError, match="form 'sequence'"):
        make_model("abs")(labels=trees["labels"])
    with pytest.raises(OptionError, match="`labels` or `decoder_input_ids`"):
        make_model("rgt")(**{key: value for key, value in trees.items() if key != "labels"})


def test_missing_extra() -> None:
    """Without torch: one sentence with the line that installs it; the rest of the package works."""
    program = (
        "import sys; sys.modules['torch'] = None\n"
        "import spider_compose.sql.tree\n"
        "try:\n    import spider_compose.models\n"
        "except ImportError as error:\n    print(type(error).__name__, error)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "MissingExtraError" in done.stdout and "pip install 'spider-compose[models]'" in done.stdout
