"""SQL in, English out: one call, in any dialect, with or without a schema; and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="the extra `models` is not installed")
pytest.importorskip("transformers", reason="the extra `models` is not installed")

import torch
from transformers import PreTrainedConfig

from spider_compose.errors import ClauseError, OptionError, SourceError
from spider_compose.models import Translator
from spider_compose.sql.schema import Schema
from spider_compose.tokenization.tokenizer import SQLTokenizer

Make = Callable[..., Any]

ENTRY = {
    "db_id": "music", "table_names_original": ["sgr"], "table_names": ["singer"],
    "column_names_original": [[-1, "*"], [0, "nm"]], "column_names": [[-1, "*"], [0, "full name"]],
}  # fmt: skip


@pytest.fixture(params=["bilstm", "rgt"])
def model(request: pytest.FixtureRequest, make_model: Make, tokenizer: Any) -> Any:
    made = make_model(request.param)
    made.tokenizer = tokenizer
    made.generation_config.max_new_tokens = 6
    return made


def test_one_and_many(model: Any) -> None:
    queries = ["SELECT nm FROM sgr", "WHERE nm = 'x'", "SELECT count(*) FROM sgr UNION SELECT nm FROM sgr"]
    said = model.translate(queries)
    assert isinstance(said, list) and [model.translate(query) for query in queries] == said
    assert model.translate(queries, batch_size=1) == said
    assert model.translate([]) == []


def test_schema_as_object_or_entry(model: Any) -> None:
    one = model.translate("SELECT nm FROM sgr", Schema.from_tables_json(ENTRY))
    assert model.translate("SELECT nm FROM sgr", ENTRY) == one


def test_dialects(model: Any) -> None:
    expected = model.translate("SELECT nm FROM sgr LIMIT 3")
    assert model.translate("SELECT TOP 3 [nm] FROM [sgr]", dialect="tsql") == expected
    assert model.translate("SELECT `nm` FROM `sgr` LIMIT 3", dialect="mysql") == expected


def test_generation_arguments(model: Any) -> None:
    assert len(model.translate("SELECT nm FROM sgr", num_beams=3, num_return_sequences=3)) == 3


def test_mode_is_kept(model: Any) -> None:
    """Translating is never random by dropout, and leaves a model in training as it was."""
    expected = model.translate("SELECT nm FROM sgr")
    model.train()
    assert model.translate("SELECT nm FROM sgr") == expected
    assert model.training


def test_mode_is_kept_when_it_fails(model: Any) -> None:
    """Also of a model of which a part is frozen in evaluation mode."""
    model.train()
    model.encoder.eval()
    modes = [module.training for module in model.modules()]
    model.translate("SELECT nm FROM sgr")
    with pytest.raises(ValueError, match="no_such_option"):
        model.translate("SELECT nm FROM sgr", no_such_option=1)
    assert [module.training for module in model.modules()] == modes


def test_long_input(model: Any) -> None:
    """10,000 tokens: cut with a warning; beyond the parser's limit refused."""
    assert isinstance(
        model.translate("SELECT nm FROM sgr WHERE " + " OR ".join("nm = 1" for _ in range(2500))), str
    )
    with pytest.raises(ClauseError, match="at most 100,000 characters"):
        model.translate("SELECT nm FROM sgr WHERE " + " OR ".join("nm = 1" for _ in range(20_000)))


BAD: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"sql": ""}, ClauseError, "empty"),
    ({"sql": "SELECT nm FROM sgr WHERE"}, ClauseError, "parse"),
    ({"sql": "Who sings?"}, ClauseError, "expected one query"),
    ({"sql": 3}, OptionError, "must be a text"),
    ({"sql": ["SELECT 1", None]}, OptionError, "list of texts"),
    ({"sql": "SELECT 1", "schema": "music"}, OptionError, "Schema"),
    ({"sql": "SELECT 1", "schema": {"db_id": "music"}}, SourceError, "music"),
    ({"sql": "SELECT 1", "dialect": "sqlit"}, OptionError, "sqlite"),
    ({"sql": "SELECT 1", "batch_size": 0}, OptionError, "batch_size"),
    ({"sql": "SELECT 1", "batch_size": 1.5}, OptionError, "batch_size"),
    ({"sql": "SELECT '\ud83d'"}, OptionError, "Unicode text"),
    ({"sql": ["SELECT 1", "Who sings?"]}, ClauseError, "query 2 of 2: expected one query"),
]


@pytest.mark.parametrize(("arguments", "error", "says"), BAD, ids=[str(case[0])[:40] for case in BAD])
def test_bad_input(arguments: dict[str, Any], error: type[Exception], says: str, model: Any) -> None:
    with pytest.raises(error, match=says):
        model.translate(**arguments)


def test_translator(model: Any, tokenizer: Any) -> None:
    assert Translator(model, tokenizer)("SELECT nm FROM sgr") == model.translate("SELECT nm FROM sgr")


def test_no_tokenizer(make_model: Make) -> None:
    with pytest.raises(OptionError, match=r"`model\.tokenizer`"):
        make_model("abs").translate("SELECT 1")


def test_a_folder_without_tokenizer(model: Any, tmp_path: Path) -> None:
    model.save_pretrained(tmp_path)
    with pytest.raises(OptionError, match="no tokenizer can be loaded"):
        Translator.from_pretrained(str(tmp_path))
    with pytest.raises(OptionError, match="no tokenizer can be loaded"):
        type(model).from_pretrained(tmp_path).translate("SELECT 1")


def test_the_folder_of_a_run(model: Any, tmp_path: Path) -> None:
    model.save_pretrained(tmp_path / "model")
    with pytest.raises(OptionError, match=f"its model is {tmp_path / 'model'}"):
        Translator.from_pretrained(str(tmp_path))


def test_a_tokenizer_of_another_model(model: Any) -> None:
    pairs = [{"query": "SELECT 1", "question": f"number {i} {i * 7919}?"} for i in range(200)]
    other = SQLTokenizer.train(pairs, vocab_size=model.config.vocab_size + 40)
    assert len(other) > model.config.vocab_size
    with pytest.raises(OptionError, match="tokenizer that the model was trained with"):
        Translator(model, other)


def test_a_model_of_another_kind(tokenizer: Any) -> None:
    other: Any = torch.nn.Linear(1, 1)
    other.config = PreTrainedConfig()
    with pytest.raises(OptionError, match="reads SQL, but got Linear"):
        Translator(other, tokenizer)
