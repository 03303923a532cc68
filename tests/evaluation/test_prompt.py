from __future__ import annotations

from pathlib import Path

import pytest

from spider_compose.errors import OptionError
from spider_compose.evaluation.prompt import Prompt


def test_own_prompt() -> None:
    prompt = Prompt.read()
    assert prompt.filled({"query": "SELECT 1"}).endswith("SQL: SELECT 1")
    assert not prompt.needs_schema


def test_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "prompt.txt"
    path.write_text("{schema}\n\nSay {query} of {db_id} as {json: 1}\n", encoding="utf-8")
    prompt = Prompt.read(path)
    assert prompt.needs_schema
    filled = prompt.filled({"query": "{db_id} \\1", "db_id": "shop", "schema": "t(a)"})
    assert filled == "t(a)\n\nSay {db_id} \\1 of shop as {json: 1}"


def test_the_digest_is_of_the_text() -> None:
    assert Prompt("{query}").digest != Prompt("{query} ").digest
    assert Prompt.read().digest == Prompt.read().digest


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("Say it.", r"no \{query\}", id="no SQL"),
        pytest.param("{query} means {question}", r"holds \{question\}", id="the answer in the question"),
        pytest.param("{Query}", r"no \{query\}", id="case"),
    ],
)
def test_refused(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "prompt.txt"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(OptionError, match=message):
        Prompt.read(path)


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=r"cannot read the prompt .*none.txt: No such file"):
        Prompt.read(tmp_path / "none.txt")
    (tmp_path / "latin").write_bytes(b"{query} \xe9")
    with pytest.raises(OptionError, match="UTF-8"):
        Prompt.read(tmp_path / "latin")
