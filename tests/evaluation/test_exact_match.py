from __future__ import annotations

import pytest

from spider_compose.evaluation.exact_match import exact_match, normalize, normalized_exact_match


@pytest.mark.parametrize(
    ("prediction", "reference", "strict", "normalized"),
    [
        pytest.param("How many pets?", "How many pets?", True, True, id="same"),
        pytest.param(" How many pets?\n", "How many pets?", True, True, id="white space at the ends"),
        pytest.param("How many  pets?", "How many pets?", False, True, id="white space inside"),
        pytest.param("how many pets?", "How many pets?", False, True, id="case"),
        pytest.param("How many pets", "How many pets ?", False, True, id="punctuation"),
        pytest.param("the students\u2019 names", "the students' names", False, True, id="curly quotes"),
        pytest.param("named 'Fido'", 'named "Fido"', False, True, id="kinds of quotes"),
        pytest.param("caf\u00e9", "cafe\u0301", False, True, id="accents composed and not"),
        pytest.param("well-known", "well known", False, True, id="hyphen"),
        pytest.param("How many pet?", "How many pets?", False, False, id="plural"),
        pytest.param("the name", "name", False, False, id="article"),
        pytest.param("age over 3.5", "age over 35", False, False, id="decimal point"),
        pytest.param("age over 3.5", "age over 3 5", False, False, id="one number or two"),
        pytest.param("over -5", "over 5", False, False, id="sign of a number"),
        pytest.param("in 2014-2015", "in 20142015", False, False, id="range"),
        pytest.param("5 %", "5", False, False, id="percent"),
        pytest.param("b a", "a b", False, False, id="order"),
        pytest.param("", "a", False, False, id="empty"),
    ],
)
def test_exact_match(prediction: str, reference: str, strict: bool, normalized: bool) -> None:
    assert exact_match(prediction, reference) is strict
    assert normalized_exact_match(prediction, reference) is normalized
    assert normalized_exact_match(reference, prediction) is normalized


@pytest.mark.parametrize("text", ["\u0130stanbul, 1,000.5?", "\u1e9e \ufb01n\u2026", "a - b -- c-1", "..."])
def test_normalize_twice_is_normalize_once(text: str) -> None:
    assert normalize(normalize(text)) == normalize(text)
