from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest


@pytest.fixture
def make_rows() -> Callable[..., list[dict[str, Any]]]:
    """Rows of a dataset with these questions; the queries all differ unless they are given."""

    def make(questions: list[str], queries: list[str] | None = None) -> list[dict[str, Any]]:
        queries = queries or [f"SELECT name FROM pet WHERE age > {at}" for at in range(len(questions))]
        return [
            {
                "id": f"row-{at}",
                "db_id": "pets",
                "query": query,
                "question": question,
                "clause_types": ["SELECT", "WHERE"] if "WHERE" in query else ["SELECT"],
                "num_clauses": 1 + ("WHERE" in query),
            }
            for at, (question, query) in enumerate(zip(questions, queries, strict=True))
        ]

    return make
