from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Rows = list[dict[str, Any]]


@pytest.fixture(scope="session")
def spider_rows(shared_path: Callable[[str], Path]) -> Rows:
    """Spider's training rows."""
    parquet = pytest.importorskip("pyarrow.parquet")
    table = parquet.read_table(shared_path("spider/train-00000-of-00001.parquet"))
    return table.select(["db_id", "query", "question"]).to_pylist()  # type: ignore[no-any-return]


@pytest.fixture(scope="session")
def reference(shared_path: Callable[[str], Path]) -> Callable[[str], dict[str, Any]]:
    """Read one of the reference splits by name."""
    return lambda name: json.loads(shared_path(f"splits/{name}.json").read_text(encoding="utf-8"))  # type: ignore[no-any-return]
