"""Answers of models: read where they say a verdict and a confidence, refused where they do not."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spider_compose.stef.judges.answer import (
    ANSWER_SCHEMA,
    MAX_REASON,
    Answer,
    AnswerError,
    read_answer,
    read_labels,
)
from spider_compose.stef.judges.protocol import VERDICT_POINTS

PROPER = '{"reason": "fits", "verdict": "correct", "confidence": 0.9}'

USABLE = [
    ("plain", PROPER, ("correct", 0.9)),
    ("code fence", f"```json\n{PROPER}\n```", ("correct", 0.9)),
    ("prose around it", f"Sure, here it is: {PROPER} Hope it helps!", ("correct", 0.9)),
    (
        "thoughts before it",
        '<think>{"verdict": "incorrect", "confidence": 1}</think>' + PROPER,
        ("correct", 0.9),
    ),
    ("said twice alike", f"{PROPER}\n{PROPER}", ("correct", 0.9)),
    ("other case", '{"verdict": " Probably Correct ", "confidence": 1}', ("probably_correct", 1.0)),
    ("percent", '{"verdict": "incorrect", "confidence": "85%"}', ("incorrect", 0.85)),
    ("number in quotes", '{"verdict": "incorrect", "confidence": "0.85"}', ("incorrect", 0.85)),
    ("other objects", '{"a": 1} ' + PROPER, ("correct", 0.9)),
    ("a brace before it", "{ well: " + PROPER, ("correct", 0.9)),
    ("within another object", f'{{"answer": {PROPER}, "n": [1]}}', ("correct", 0.9)),
    ("names in other case", '{"Verdict": "CORRECT.", "CONFIDENCE": 0.9}', ("correct", 0.9)),
    ("thoughts opened in the prompt", f"so it is wrong</think>{PROPER}", ("correct", 0.9)),
    (
        "one name twice alike",
        '{"verdict": "correct", "confidence": 0.9, "verdict": "correct"}',
        ("correct", 0.9),
    ),
    ("quotes around it", '{"verdict": "\'correct\'", "confidence": 0.9}', ("correct", 0.9)),
    ("half a character", '{"reason": "\\ud800", "verdict": "correct", "confidence": 0.9}', ("correct", 0.9)),
]

UNUSABLE = [
    ("empty", "", "empty"),
    ("white space", " \n", "empty"),
    ("none", None, "empty"),
    ("cut", '{"reason": "it fi', "no JSON object"),
    ("cut after the verdict", '{"verdict": "correct", "confi', "no JSON object"),
    ("no JSON", "The query is correct.", "no JSON object"),
    ("wrong label", '{"verdict": "right", "confidence": 1}', "verdict is none of"),
    ("label of a list", '{"verdict": ["correct"], "confidence": 1}', "verdict is none of"),
    ("confidence 7", '{"verdict": "correct", "confidence": 7}', "not in [0, 1]"),
    ("confidence below 0", '{"verdict": "correct", "confidence": -0.1}', "not in [0, 1]"),
    ("confidence NaN", '{"verdict": "correct", "confidence": NaN}', "not in [0, 1]"),
    ("confidence 101%", '{"verdict": "correct", "confidence": "101%"}', "not in [0, 1]"),
    ("confidence true", '{"verdict": "correct", "confidence": true}', "no number"),
    ("confidence in words", '{"verdict": "correct", "confidence": "high"}', "no number"),
    ("no confidence", '{"verdict": "correct"}', "no number"),
    ("confidence of 400 digits", f'{{"verdict": "correct", "confidence": 1{"0" * 400}}}', "not in [0, 1]"),
    ("confidence Infinity", '{"verdict": "correct", "confidence": Infinity}', "not in [0, 1]"),
    ("other language", '{"verdict": "richtig", "confidence": 1}', "verdict is none of"),
    ("a verdict of verdicts", f'{{"verdict": {PROPER}, "confidence": 1}}', "verdict is none of"),
    ("two names alike", '{"verdict": "incorrect", "confidence": 1, "verdict": "correct"}', "stands twice"),
    ("two names in two cases", '{"verdict": "incorrect", "confidence": 1, "Verdict": "correct"}', "twice"),
    ("one within that differs", f'{{"was": {PROPER}, "verdict": "incorrect", "confidence": 1}}', "several"),
    ("a part of what is cut", '{"a": {"verdict": "correct", "confidence": 1, "b": [', "no JSON object"),
    ("very long", "x" * 100_001, "100,001 characters"),
    ("brackets alone", "{" * 5000, "too many brackets"),
    ("thoughts alone", f"<think>{PROPER}</think>", "no JSON object"),
    ("two that differ", PROPER + '{"verdict": "incorrect", "confidence": 0.9}', "several answers"),
]


@pytest.mark.parametrize(("text", "expected"), [c[1:] for c in USABLE], ids=[c[0] for c in USABLE])
def test_usable(text: str, expected: tuple[str, float]) -> None:
    answer = read_answer(text)
    assert (answer.verdict, answer.confidence) == expected


@pytest.mark.parametrize(("text", "says"), [c[1:] for c in UNUSABLE], ids=[c[0] for c in UNUSABLE])
def test_unusable(text: str, says: str) -> None:
    with pytest.raises(AnswerError) as error:
        read_answer(text)
    assert says in str(error.value)


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    for given_text in (text, json.dumps({"verdict": text, "confidence": 0.5, "reason": text})):
        try:
            assert read_answer(given_text).verdict in VERDICT_POINTS
        except AnswerError as error:
            assert "\n" not in str(error)


def test_reason_is_one_short_line() -> None:
    answer = read_answer(json.dumps({"verdict": "correct", "confidence": 1, "reason": "a\n\x1b[31mb " * 100}))
    assert answer.reason.isprintable() and len(answer.reason) == MAX_REASON


def test_schema_has_the_four_verdicts() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.validate(json.loads(PROPER), ANSWER_SCHEMA)
    for _, text, _ in UNUSABLE[6:9]:
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(json.loads(text), ANSWER_SCHEMA)


# belief: 1 for a sure "correct", 0 for a sure "incorrect", even odds without confidence
BELIEFS = [("correct", 1, 1), ("correct", 0, 0.5), ("probably_correct", 1, 0.6), ("incorrect", 1, 0)]


@pytest.mark.parametrize(("verdict", "confidence", "belief"), BELIEFS)
def test_belief(verdict: str, confidence: float, belief: float) -> None:
    assert Answer.stated(verdict, confidence).belief == belief


LETTERS = [
    ({"A": 0.6, "B": 0.1, "C": 0.1, "D": 0.2}, "correct", 0.7),
    ({" a": 0.3, "A": 0.1, "D": 0.4, "the": 0.2}, "correct", 0.5),
    ({"B": 0.2, "C": 0.3, "\u0120D": 0.1}, "potentially_incorrect", 2 / 3),
    ({"D": 1.0}, "incorrect", 1.0),
]


@pytest.mark.parametrize(("shares", "verdict", "confidence"), LETTERS)
def test_labels(shares: dict[str, float], verdict: str, confidence: float) -> None:
    answer = read_labels({token: math.log(p) for token, p in shares.items()})
    if confidence == 0.5:  # a tie falls on the bad side
        assert VERDICT_POINTS[answer.verdict] <= 2
    else:
        assert answer.verdict == verdict
    assert answer.confidence == pytest.approx(confidence, abs=1e-6)


@pytest.mark.parametrize("logprobs", [{}, {"the": -0.1}, {"A": 5.0}, {"A": float("nan")}])
def test_labels_without_a_letter(logprobs: dict[str, float]) -> None:
    with pytest.raises(AnswerError):
        read_labels(logprobs)


def test_answers_survive_json() -> None:
    answer = Answer.stated("correct", 0.25, "why")
    assert Answer.from_json(answer.as_json()) == answer
