from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from spider_compose.evaluation.ratings.predictions import Prediction, System


def _system(name: str, sentences: Sequence[str], first: int = 0) -> System:
    rows = {
        f"r{first + row}": Prediction(
            f"r{first + row}", "harbour", f"SELECT {first + row}", f"question {row}", said
        )
        for row, said in enumerate(sentences)
    }
    return System(name, rows)


@pytest.fixture(scope="session")
def system() -> Callable[..., System]:
    """A system that says these sentences of the rows r0, r1, ..."""
    return _system
