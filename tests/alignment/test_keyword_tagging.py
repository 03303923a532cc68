"""Keyword tagging: plain tags, then each adjustment rule with its docstring's example."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from spider_compose.alignment.keyword_tagging import (
    ADJUSTMENTS,
    Rule,
    Tagging,
    contested_words,
    end_of_sentence,
    group_keys_need_a_marker,
    keyword_tagging,
    openers_join_next,
    opening_words,
    question_sentence,
    quoted_values,
    relative_clauses,
    weak_words_between,
)

S, W, G, O = "SELECT", "WHERE", "GROUP BY", "ORDER BY"  # noqa: E741
WEAK, FUNCTION, COLUMN, VALUE = 0.6, 1.5, 2.0, 4.0


@dataclass(frozen=True)
class Case:
    """A rule on one question.

    Attributes:
        tags: one character per word before the rule: a clause index, or "-" for none.
        evidence: by word, its evidence for each clause; none where it isn't named.
        after: as `tags`, after the rule.
    """

    name: str
    rule: Rule
    question: str
    types: tuple[str, ...]
    tags: str
    after: str
    evidence: dict[str, tuple[float, ...]] = field(default_factory=dict)


CASES = [
    Case(
        "opening words say SELECT",
        opening_words,
        "What is the name of the singer from France",
        (S, W),
        "01-01-0-1",
        "0000000-1",
        {
            "What": (WEAK, 0),
            "is": (0, WEAK),
            "name": (COLUMN, 0),
            "of": (0, WEAK),
            "singer": (1.0, 0),
            "France": (0, VALUE),
        },
    ),
    Case(
        "up to a word that names another clause",
        opening_words,
        "What age",
        (S, W),
        "01",
        "01",
        {"What": (WEAK, 0), "age": (0, COLUMN)},
    ),
    Case(
        "a marker of GROUP BY ends the opening",
        opening_words,
        "For each singer the name",
        (S, G),
        "1-0-0",
        "1-0-0",
        {"For": (0, WEAK), "each": (0, WEAK), "singer": (1.0, 0), "name": (COLUMN, 0)},
    ),
    Case(
        "a contested word goes with the word before",
        contested_words,
        "singers whose age is above",
        (S, W),
        "01-11",
        "01111",
        {"singers": (1.0, 0), "whose": (0, WEAK), "age": (1.0, 1.0), "above": (0, FUNCTION)},
    ),
    Case(
        "or with the word behind, where only that claims it",
        contested_words,
        "names age above",
        (S, W, O),
        "0-1",
        "011",
        {"age": (0, 1.0, 1.0)},
    ),
    Case(
        "a quotation is not divided",
        quoted_values,
        'on " Sky Radio " now',
        (S, W),
        "00110-",
        "01111-",
        {"Sky": (0, VALUE)},
    ),
    Case(
        "a quotation that says nothing stays untagged",
        quoted_values,
        'on " Sky Radio "',
        (S, W),
        "0----",
        "0----",
    ),
    Case(
        "a weak word between two of one clause",
        weak_words_between,
        "highest in number",
        (S, W, O),
        "212",
        "222",
        {"in": (0, WEAK, 0)},
    ),
    Case(
        "a strong word stays",
        weak_words_between,
        "highest age number",
        (S, W, O),
        "212",
        "212",
        {"age": (0, COLUMN, 0)},
    ),
    Case(
        "openers go with what follows",
        openers_join_next,
        "singers who are from France",
        (S, W),
        "0---1",
        "01111",
    ),
    Case(
        "an opener that speaks for SELECT stays",
        openers_join_next,
        "singers in concerts France",
        (S, W),
        "0001",
        "0001",
        {"in": (WEAK, 0)},
    ),
    Case(
        "a group's key without a marker is SELECT's",
        group_keys_need_a_marker,
        "Which country has the most singers",
        (S, G, O),
        "01--20",
        "00--20",
        {"country": (1.0, 1.0, 0)},
    ),
    Case(
        "a HAVING keeps GROUP BY's words",
        group_keys_need_a_marker,
        "countries with more than 3",
        (S, G),
        "01111",
        "01111",
        {"more": (0, FUNCTION), "3": (0, VALUE)},
    ),
    Case(
        "the key follows its marker",
        group_keys_need_a_marker,
        "for each singer name",
        (S, G),
        "1100",
        "1111",
        {"for": (0, WEAK), "each": (0, WEAK), "singer": (1.0, 1.0), "name": (1.0, 1.0)},
    ),
    Case(
        "a relative clause restricts",
        relative_clauses,
        "the students who have done treatment with cost",
        (S, W),
        "0000-0-1",
        "00111111",
        {"students": (1.0, 0), "treatment": (1.0, 0)},
    ),
    Case(
        "not beyond its sentence",
        relative_clauses,
        "the students who sing . Age",
        (S, W),
        "0000-1",
        "0000-1",
    ),
    Case(
        "a restriction runs to the end",
        end_of_sentence,
        "the course with most students enrolled ?",
        (S, O),
        "00110--",
        "0011111",
        {"students": (1.0, 0)},
    ),
    Case(
        "but not over a column of SELECT",
        end_of_sentence,
        "with most students their names",
        (S, O),
        "11000",
        "11000",
        {"names": (COLUMN, 0)},
    ),
    Case(
        "a later sentence that asks is SELECT's",
        question_sentence,
        "Which professionals live in Indiana ? List their ids .",
        (S, W),
        "00-11-0-0-",
        "1111110000",
    ),
    Case(
        "one that doesn't ask changes nothing",
        question_sentence,
        "Which live in Indiana ? They sing .",
        (S, W),
        "0-11-0--",
        "0-11-0--",
    ),
]


def codes(tags: list[int]) -> str:
    return "".join("-" if tag < 0 else str(tag) for tag in tags)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.rule.__name__}: {case.name}")
def test_rule(case: Case, words_of: Callable[..., Any]) -> None:
    words = words_of(case.question)
    assert len(words) == len(case.tags) == len(case.after), [word.text for word in words]
    evidence = [
        [case.evidence.get(word.text, (0.0,) * 9)[clause] for word in words]
        for clause in range(len(case.types))
    ]
    tagging = Tagging(words, case.types, evidence, [-1 if code == "-" else int(code) for code in case.tags])
    case.rule(tagging)
    assert codes(tagging.tags) == case.after


def test_every_rule_has_cases_a_reason_and_an_example() -> None:
    assert {case.rule for case in CASES} == set(ADJUSTMENTS)
    for rule in ADJUSTMENTS:
        assert rule.__doc__ is not None
        assert "Reason:" in rule.__doc__ and "Example:" in rule.__doc__


def test_plain_tags_come_first(words_of: Callable[..., Any]) -> None:
    words = words_of("name country")
    assert keyword_tagging(words, [S, W], [[COLUMN, 0.0], [0.0, COLUMN]]) == (0, 1)


def test_one_clause_says_everything(words_of: Callable[..., Any]) -> None:
    assert keyword_tagging(words_of("a b c"), [S], [[0.0, 0.0, 0.0]]) == (0, 0, 0)


WHOLE = [
    (
        "Show the names of singers in descending order of age.",
        "SELECT name FROM singer ORDER BY age DESC",
        "in descending order of age .",
    ),
    (
        "What are the names of the singers who are not from France?",
        "SELECT name FROM singer WHERE country != 'France'",
        "who are not from France ?",
    ),
    (
        "How many concerts are there for each stadium?",
        "SELECT count(*), stadium_id FROM concert GROUP BY stadium_id",
        "are there for each stadium ?",
    ),
]


@pytest.mark.parametrize(("question", "query", "last"), WHOLE)
def test_whole_aligner(
    question: str, query: str, last: str, read_pair: Callable[..., Any], said: Any
) -> None:
    from spider_compose.alignment import ALIGNERS

    words, candidates = read_pair(question, query)
    assert said(words, ALIGNERS["keyword"](words, candidates).clause_token_ids[-1]) == last
