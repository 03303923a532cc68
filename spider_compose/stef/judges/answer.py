"""What a language model answers, read tolerantly and never guessed (pipeline step 5).

A text counts as an answer when it holds one of the four verdicts and a confidence in [0, 1]; anything else is
unusable, with the reason, and the model is asked again.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from spider_compose.stef.judges.protocol import VERDICT_POINTS

# Letters stand for the verdicts where a model answers with one token.
LABELS = dict(zip("ABCD", VERDICT_POINTS, strict=True))

# Longest reason that is kept: one line for people.
MAX_REASON = 200

# For servers that can be held to a schema. The reason comes first, so that the verdict follows from it.
ANSWER_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "reason": {"type": "string", "maxLength": MAX_REASON},
        "verdict": {"type": "string", "enum": list(VERDICT_POINTS)},
        "confidence": {"type": "number", "minimum": 0, "maximum": 1},
    },
    "required": ["reason", "verdict", "confidence"],
    "additionalProperties": False,
}


class AnswerError(Exception):
    """A model's text holds no usable answer; the message says why."""


@dataclass(frozen=True)
class Answer:
    """A model's answer to one row.

    Attributes:
        verdict: one of `VERDICT_POINTS`.
        confidence: gamma in [0, 1]: how sure it is of the verdict's side.
        belief: its probability in [0, 1] that the query is right; not calibrated.
        reason: one line for people.
    """

    verdict: str
    confidence: float
    belief: float
    reason: str = ""

    @classmethod
    def stated(cls, verdict: str, confidence: float, reason: str = "") -> Answer:
        """An answer in words; the belief lies between even odds and what the verdict's points say.

        >>> Answer.stated("correct", 0.9).belief, Answer.stated("incorrect", 0.9).belief
        (0.95, 0.05)
        """
        belief = 0.5 + (VERDICT_POINTS[verdict] / 5 - 0.5) * confidence
        return cls(verdict, confidence, round(belief, 6), one_line(reason))

    @classmethod
    def from_probabilities(cls, probabilities: Mapping[str, float]) -> Answer:
        """An answer by the probabilities of the four verdicts (any positive scale).

        The side that is more probable decides, then the more probable verdict of that side; the confidence is
        the probability of the side.

        >>> answer = Answer.from_probabilities(
        ...     {"correct": 0.3, "probably_correct": 0.4, "potentially_incorrect": 0.2, "incorrect": 0.1}
        ... )
        >>> answer.verdict, round(answer.confidence, 3), round(answer.belief, 3)
        ('probably_correct', 0.7, 0.62)

        Raises:
            AnswerError: no verdict has a probability.
        """
        total = math.fsum(probabilities.values())
        if not (math.isfinite(total) and total > 0):
            raise AnswerError("none of the four labels has a probability")
        share = {verdict: probabilities.get(verdict, 0.0) / total for verdict in VERDICT_POINTS}
        right = share["correct"] + share["probably_correct"]
        side = [v for v, points in VERDICT_POINTS.items() if (points > 2) == (right > 0.5)]
        verdict = max(side, key=share.__getitem__)
        belief = math.fsum(p * VERDICT_POINTS[v] / 5 for v, p in share.items())
        shown = ", ".join(f"{v} {p:.2f}" for v, p in share.items())
        return cls(verdict, round(max(right, 1 - right), 6), round(belief, 6), f"probabilities: {shown}")

    def as_json(self) -> str:
        """One line of JSON, for a cache."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Answer:
        """The answer of `as_json`.

        Raises:
            ValueError, TypeError: the text is none.
        """
        found = cls(**json.loads(text))
        if found.verdict not in VERDICT_POINTS or not (0 <= found.confidence <= 1 and 0 <= found.belief <= 1):
            raise ValueError(f"expected a verdict and numbers in [0, 1], but got {_shown(found)}")
        return found


def one_line(text: Any) -> str:
    """A reason as one printable line of at most `MAX_REASON` characters."""
    line = " ".join("".join(c if c.isprintable() else " " for c in str(text)).split())
    return line if len(line) <= MAX_REASON else line[: MAX_REASON - 3] + "..."


# Longest text that is looked through, and signs that may open an object in it: models say it in a few hundred
# characters, and a text made of brackets alone would hold up all other rows.
MAX_ANSWER = 100_000
MAX_OBJECTS = 100


def read_answer(text: Any) -> Answer:
    """The answer in a model's text: JSON alone, in prose or in a code fence.

    >>> read_answer('Sure! {"reason": "fits", "verdict": "Probably correct", "confidence": "80%"}')
    Answer(verdict='probably_correct', confidence=0.8, belief=0.58, reason='fits')

    Raises:
        AnswerError: it is empty or cut, has no or several verdicts, or a confidence outside [0, 1].
    """
    if not isinstance(text, str) or not text.strip():
        raise AnswerError("the answer is empty")
    if len(text) > MAX_ANSWER:
        raise AnswerError(f"the answer has {len(text):,} characters; at most {MAX_ANSWER:,} are read")
    # What a model thought before its answer; some templates open the thoughts in the prompt.
    thought = text.lower().rfind("</think>")
    found = _objects(text if thought < 0 else text[thought + len("</think>") :])
    if not found:
        raise AnswerError(f"no JSON object with a verdict in {_shown(text)}")
    answers = [_answer(values) for values in found]
    # A model that repeats a text of the row may repeat a verdict planted in it.
    if len({(answer.verdict, answer.confidence) for answer in answers}) > 1:
        raise AnswerError(f"several answers that differ in {_shown(text)}")
    return answers[-1]


def _objects(text: str) -> list[dict[str, Any]]:
    """Every JSON object in a text that has a verdict, also those within others."""
    found: list[dict[str, Any]] = []
    decoder, place = json.JSONDecoder(object_pairs_hook=lambda pairs: _object(pairs, found)), 0
    for _ in range(MAX_OBJECTS):
        if (place := text.find("{", place)) < 0:
            return found
        known = len(found)
        try:
            _, place = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            del found[known:]  # parts of an object that is cut
            place += 1
    raise AnswerError(f"too many brackets in {_shown(text)}")


def _object(pairs: list[tuple[str, Any]], found: list[dict[str, Any]]) -> dict[str, Any]:
    """An object by its names in lower case; one with a verdict is noted."""
    values: dict[str, Any] = {}
    twice = ""
    for name, value in pairs:
        known = name.strip().lower()
        if known in values and values[known] != value:
            twice = name
        values[known] = value
    if "verdict" in values:
        if twice:
            raise AnswerError(f"{_shown(twice)} stands twice in one object")
        found.append(values)
    return values


def _answer(values: Mapping[str, Any]) -> Answer:
    verdict = re.sub(r"[\s-]+", "_", str(values["verdict"]).strip(" \t\n.!\"'`").lower())
    if verdict not in VERDICT_POINTS:
        raise AnswerError(f"the verdict is none of {', '.join(VERDICT_POINTS)}: {_shown(values['verdict'])}")
    return Answer.stated(verdict, _confidence(values.get("confidence")), values.get("reason", ""))


def _confidence(value: Any) -> float:
    """A number in [0, 1], or percent that say so: 7 may be of 10 or of 100, so it is neither."""
    scale = 1.0
    if isinstance(value, str):
        text = value.strip()
        if text.endswith("%"):
            text, scale = text[:-1], 100.0
        try:
            value = float(text)
        except ValueError:
            value = None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise AnswerError("the confidence is no number")
    if not 0 <= value <= scale:  # NaN too
        raise AnswerError(f"the confidence is not in [0, 1]: {_shown(value)}")
    return float(value) / scale


def read_labels(logprobs: Mapping[str, float]) -> Answer:
    """The answer in the log probabilities of the first token of a model's answer.

    Args:
        logprobs: token -> log probability, the likeliest ones.

    Raises:
        AnswerError: none of the letters A to D is among them.
    """
    found: dict[str, float] = {}
    for token, logprob in logprobs.items():
        verdict = LABELS.get(token.strip(" \n\u2581\u0120").upper())
        if verdict is not None and isinstance(logprob, (int, float)) and logprob <= 0:
            found[verdict] = found.get(verdict, 0.0) + math.exp(logprob)
    return Answer.from_probabilities(found)


def _shown(value: Any) -> str:
    text = one_line(value)
    return repr(text if len(text) <= 60 else text[:57] + "...")
