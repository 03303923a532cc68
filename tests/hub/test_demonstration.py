"""The demonstration of the STEF score: what is marked, what is listed, and texts of anyone as text."""

from __future__ import annotations

import re
from html import unescape

import pytest

pytest.importorskip("spacy", reason="the extra `metric` is not installed")

from spider_compose.hub.demonstration import DIALECTS, EXAMPLES, explain, marked, style
from spider_compose.sql.clauses import sql_dialect
from spider_compose.stef import Scorer
from spider_compose.stef.specification.items import Span


def text_of(markup: str) -> str:
    return unescape(re.sub(r"<[^>]*>", "", markup))


def test_what_is_lost_is_marked() -> None:
    sql = "SELECT COUNT(*) FROM singer WHERE country = 'France'"
    shown = explain("How many singers from 'France' are older than 30?", "", sql)
    assert '<mark class="lost">older than 30<sup>1</sup></mark>' in shown.markup
    assert unescape(shown.markup).count("<mark class=\"ok\">'France'</mark>") == 2
    text = text_of(shown.markup)
    assert "80.0 of 100 good" in text and "partially applied" in text
    assert "Filters 3 + verdict 5 = 8 of 10 points; confidence 0.86, so times 1." in text
    assert "−20.0 no condition of the query holds 'older than 30'" in text
    assert "the whole query literal_missing" in text
    assert shown.details["result"]["score"] == 80.0 and shown.details["signature"] in text


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example[2][:40])
def test_examples_agree_with_the_score(example: tuple[str, str, str]) -> None:
    question, enriched, sql = example
    shown = explain(*example)
    row = {"question": question, "enriched_question": enriched or None, "sql": sql}
    [result] = Scorer().score_rows([row])
    text = text_of(shown.markup)
    assert f"{result.score:.1f} of 100 {result.band}" in text
    for reason in result.reasons:
        assert f"−{reason.points:.1f} {reason.message}" in text
    assert ("Enriched question" in text) == bool(enriched)


def test_examples_show_each_kind_of_outcome() -> None:
    found = [explain(*example).details["result"] for example in EXAMPLES]
    assert found[0]["score"] == 100 and all(one["reasons"] for one in found[1:])
    assert len({one["band"] for one in found}) >= 3


EVIL = "<img src=x onerror=hit()>${hit()}{{hit}}<script>hit()</script>"


@pytest.mark.parametrize(
    "texts",
    [
        (f"How many {EVIL} singers?", "", f"SELECT count(*) FROM singer WHERE name = '{EVIL}'"),
        (f"How many {EVIL} singers?", f"How many {EVIL} singers and {EVIL}?", f"SELECT '{EVIL}'"),
        (EVIL, EVIL, EVIL),
        ("", "", f"SELECT {EVIL}"),
    ],
    ids=["values", "enriched", "no query", "no question"],
)
def test_texts_are_text(texts: tuple[str, str, str]) -> None:
    markup = explain(*texts).markup
    assert not re.search(r"<(?:img|script)\b", markup)
    tags = set(re.findall(r"</?([a-z0-9]+)", markup))
    assert tags <= set("div p b span dl dt dd section h3 pre mark sup ol li ul small code".split())


@pytest.mark.parametrize(
    ("question", "sql", "dialect", "said"),
    [
        ("", "SELECT 1", "auto", "The row has no question"),
        ("How many?", "", "auto", "The row has no SQL"),
        ("How many?", "DROP TABLE singer", "auto", "is no query"),
        ("How many?", "SELECT FROM WHERE", "auto", "No dialect that was tried parses the SQL"),
        ("How many?", "SELECT 1", "klingon", "The row's dialect is unknown"),
        ("How many?" * 5000, "SELECT 1", "auto", "The question is longer than any question"),
    ],
    ids=["no question", "no sql", "no query", "syntax", "dialect", "long"],
)
def test_unscored_says_why(question: str, sql: str, dialect: str, said: str) -> None:
    shown = explain(question, "", sql, dialect)
    assert "no score" in shown.markup and said in text_of(shown.markup)
    assert shown.details["result"]["score"] is None


@pytest.mark.parametrize(
    ("matched", "lost", "expected"),
    [
        ([], [], "a&lt;bcd"),
        ([Span(0, 2)], [], '<mark class="ok">a&lt;</mark>bcd'),
        ([Span(0, 5)], [Span(1, 2)],
         '<mark class="ok">a</mark><mark class="lost">&lt;<sup>1</sup></mark>'
         '<mark class="ok">bcd</mark>'),
        ([], [Span(0, 3), Span(2, 5)],
         '<mark class="lost">a&lt;</mark><mark class="lost">b<sup>1</sup></mark>'
         '<mark class="lost">cd<sup>2</sup></mark>'),
        ([], [None, Span(3, 9)], 'a&lt;b<mark class="lost">cd<sup>2</sup></mark>'),
    ],
    ids=["none", "matched", "lost wins", "overlap", "whole and beyond"],
)  # fmt: skip
def test_marked(matched: list[Span], lost: list[Span | None], expected: str) -> None:
    assert marked("a<bcd", matched, lost) == expected


def test_nothing_to_mark() -> None:
    assert marked("", [], []) == ""


def test_dialects_are_known() -> None:
    for name in DIALECTS[1:]:
        sql_dialect(name)


def test_classes_have_rules() -> None:
    used = set(
        " ".join(re.findall(r'class="([^"]+)"', "".join(explain(*one).markup for one in EXAMPLES))).split()
    )
    assert {name for name in used if name.startswith("stef")} <= set(re.findall(r"\.([\w-]+)", style()))
