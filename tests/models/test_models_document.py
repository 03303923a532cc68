"""The code of docs/models.md runs; it needs torch, so the other documents run elsewhere."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="the extra `models` is not installed")
pytest.importorskip("transformers", reason="the extra `models` is not installed")

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "models.md"


def test_code_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```py\n(.*?)^```$", DOCUMENT.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    assert len(blocks) == 2
    variables: dict[str, Any] = {}
    for block in blocks:
        exec(compile(block, DOCUMENT.name, "exec"), variables)
    assert (tmp_path / "my_model" / "modeling_rgt.py").exists()
    assert len(variables["translator"](["SELECT 1", "SELECT 2"])) == 2
