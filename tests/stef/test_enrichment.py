"""Enriched questions: what they keep, lose, change and add of the user's; no SQL anywhere."""

from __future__ import annotations

import pytest

pytest.importorskip("spacy")

from spider_compose.language import load_model
from spider_compose.stef.enrichment import Enrichment, compare_questions, validate_enrichment
from spider_compose.stef.specification.question import read_question


def compare(question: str, enriched: str) -> Enrichment:
    return compare_questions(*(read_question(load_model()(text)) for text in (question, enriched)))


CHANGES = [
    ("How many users are in 'Oslo'?", "How many users are in 'Bergen'?", "lost", "literal"),
    ("List the top 5 players.", "List the top 10 players.", "changed", "top_k"),
    ("Orders with more than 5 items.", "Orders with less than 5 items.", "changed", "comparison"),
    ("Customers who are not active.", "Customers who are active.", "lost", "negation"),
    ("What is the average price?", "What is the total price?", "changed", "aggregate"),
    ("Orders on October 8, 2019.", "Orders on October 9, 2019.", "changed", "date"),
    ("Sales per region.", "Sales.", "lost", "grouping"),
    ("How many different cities?", "How many cities?", "lost", "distinct"),
    ("Names in descending order of age.", "Names in ascending order of age.", "changed", "order"),
    ("Which city has the largest area?", "Which city has an area?", "lost", "superlative"),
    ("Customers who are active.", "Customers who are not active.", "added", "negation"),
    ("What percentage of users pay?", "Which users pay?", "lost", "percentage"),
]


@pytest.mark.parametrize(
    ("question", "enriched", "fate", "kind"), CHANGES, ids=[f"{f}-{k}" for *_, f, k in CHANGES]
)
def test_changes(question: str, enriched: str, fate: str, kind: str) -> None:
    result = compare(question, enriched)
    assert kind in [d.kind for d in result.of(fate)]
    assert result.quality < 1
    assert any(line.startswith(f"{fate}: {kind}") for line in result.sentences())


KEPT = [
    ("How many users are in 'Oslo'?", "How many users are located in the city 'Oslo'?"),
    ("List the top 5 players by score.", "List the top five players by their total score."),
    ("Orders on October 8, 2019.", "Orders placed on 2019-10-08."),
    ("How many French singers?", "How many French singers? French refers to country = 'France'"),
    ("Which city has the largest area?", "Which city has the largest area? area refers to area_km2"),
]


@pytest.mark.parametrize(("question", "enriched"), KEPT)
def test_kept(question: str, enriched: str) -> None:
    result = compare(question, enriched)
    assert not [d for d in result.differences if d.fate in ("lost", "changed") and d.kind != "word"]
    assert result.quality > 0.8


def test_the_same_question_is_kept_whole() -> None:
    text = "How many singers older than 30 are not from 'France'?"
    result = compare(text, text)
    assert result.quality == 1.0
    assert {d.fate for d in result.differences} == {"kept"}


def test_definitions_are_listed_and_cost_nothing() -> None:
    result = compare("How many eligible users?", "How many eligible users? eligible refers to status = 'A'")
    assert [d.text for d in result.of("added") if d.kind == "definition"] == ["status = 'A'"]
    assert result.quality == 1.0


def test_spans_are_characters_of_both() -> None:
    question, enriched = "Orders over 50 from 'Oslo'.", "All orders over 50 dollars from the city of 'Oslo'."
    for difference in compare(question, enriched).of("kept"):
        if difference.kind in ("literal", "comparison"):
            assert difference.question.of(question) == difference.text
            assert difference.enriched.of(enriched).split()[-1].strip("'") in difference.text


def test_texts_can_be_given() -> None:
    assert validate_enrichment("List 'a'.", "List 'a'. a refers to x = 'A'").quality == 1.0
    assert validate_enrichment("List 'a'.", "List all.").quality < 1.0


def test_nothing_asked_nothing_lost() -> None:
    assert compare("?", "Anything.").quality == 1.0
