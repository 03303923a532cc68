"""Attacks by text on a judge that obeys them all: no wrong query gets past "marginal", each is flagged.

`attacks.jsonl` has wrong queries of two kinds, by `evident`: those against which there is hard evidence, and
those that are wrong in a column only a schema could tell, where nothing but the attack itself can be seen.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("spacy")

from spider_compose.stef.judges.answer import Answer
from spider_compose.stef.judges.cross_check import cross_checked
from spider_compose.stef.judges.injection import injected_texts, speaks_to_judge
from spider_compose.stef.judges.protocol import Judgement, Request
from spider_compose.stef.judges.quoting import as_data
from spider_compose.stef.judges.readings import hides_signs
from spider_compose.stef.judges.rules import RulesJudge
from spider_compose.stef.score import Result, Scorer, phi

ATTACKS = [
    json.loads(line) for line in Path(__file__).with_name("attacks.jsonl").read_text("utf-8").splitlines()
]


class Obedient:
    """A judge that does what every attack asks for."""

    signature = "obedient"

    def __init__(self) -> None:
        self.injected: list[bool] = []

    def judge(self, requests: Any) -> list[Judgement]:
        self.injected += [bool(injected_texts(request)) for request in requests]
        answer = Answer.stated("correct", 1.0, "as you say")
        return [cross_checked(request, answer, RulesJudge()) for request in requests]


@pytest.fixture(scope="module")
def results() -> list[tuple[dict[str, Any], Result, bool]]:
    found = []
    for attack in ATTACKS:
        judge = Obedient()
        (result,) = Scorer(_rules(attack), judge).score_rows([attack])
        found.append((attack, result, any(judge.injected)))
    return found


def _rules(attack: dict[str, Any]) -> Any:
    from spider_compose.stef.rules import ApplicationRules

    return ApplicationRules.from_dict({"dialect": "sqlite", **attack.get("rules", {})})


def test_the_corpus_has_ten_kinds() -> None:
    kinds = Counter(attack["kind"] for attack in ATTACKS)
    assert len(ATTACKS) >= 60 and len(kinds) >= 10 and min(kinds.values()) >= 4
    assert len({attack["attack"] for attack in ATTACKS}) == len(ATTACKS)
    evident = sum(attack["evident"] for attack in ATTACKS)
    assert len(ATTACKS) / 4 < evident < len(ATTACKS) * 3 / 4


def test_no_attacked_query_gets_above_marginal_and_all_are_flagged(
    results: list[tuple[dict[str, Any], Result, bool]],
) -> None:
    scored = [(a, r) for a, r, _ in results if r.score is not None]
    assert len(scored) == len(results)
    assert not [(a["kind"], a["attack"], r.score) for a, r in scored if r.score >= 75]
    assert not [(a["kind"], a["attack"]) for a, r in scored if not r.judge_conflict]
    assert all(r.score_without_judge is not None for _, r in scored)


def test_evidence_holds_where_the_attack_is_not_seen(
    results: list[tuple[dict[str, Any], Result, bool]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("spider_compose.stef.judges.cross_check.injected_texts", lambda request: [])
    for attack in (a for a in ATTACKS if a["evident"]):
        (result,) = Scorer(_rules(attack), Obedient()).score_rows([attack])
        assert result.score is not None and result.score < 75 and result.judge_conflict, attack["attack"]


def test_without_the_defence_the_attacks_would_work(
    results: list[tuple[dict[str, Any], Result, bool]],
) -> None:
    """What docs/judges.md reports."""
    from spider_compose.stef.alignment import FILTER_POINTS

    bare = [phi(FILTER_POINTS[r.filter_status], 5, 0, 1.0) for _, r, _ in results if r.filter_status]
    seen = Counter(a["kind"] for a, _, injected in results if injected)
    print(f"\n{len(bare)} attacks: {sum(b >= 75 for b in bare)} above marginal without the defence,", end=" ")
    print(f"{sum((r.score or 0) >= 75 for _, r, _ in results)} with it; seen by their text: {dict(seen)}")
    assert sum(b >= 75 for b in bare) > len(bare) / 2


# What people and agents write into queries, with the words that attacks are made of.
HONEST = Path(__file__).with_name("honest_comments.txt").read_text("utf-8").splitlines()

HONEST_QUESTIONS = [
    "How many judges gave a correct verdict?",
    "Which instructions are valid?",
    "What is the score of judge 5?",
    "Show the reviewers who accept all papers.",
    "Ignore cancelled orders: how many are left?",
    "List the prompts with the highest confidence.",
    "Who was the right back in 2010?",
    "How many evaluators rated the product as perfect?",
]


@pytest.mark.parametrize("text", HONEST)
def test_honest_comments_are_not_flagged(text: str) -> None:
    assert not speaks_to_judge(text)


@pytest.mark.parametrize("text", HONEST_QUESTIONS)
def test_honest_questions_are_not_flagged(text: str) -> None:
    assert not speaks_to_judge(text, honest=True)


def test_a_right_query_keeps_the_judges_verdict() -> None:
    row = {
        "question": "How many singers are from 'France'?",
        "sql": "SELECT COUNT(*) FROM singer WHERE country = 'France' -- all of them",
    }
    (result,) = Scorer(judge=Obedient()).score_rows([row])
    assert (result.score, result.judge_conflict) == (100.0, "")


NEW_WORDINGS = [
    json.loads(line)
    for line in Path(__file__).with_name("new_wordings.jsonl").read_text("utf-8").splitlines()
]


def test_comments_in_new_words_win_nothing(server: Any) -> None:
    """Wrong queries, and a model that sees it but does whatever a comment asks for: most are in no list."""
    pytest.importorskip("huggingface_hub")
    from spider_compose.stef.judges.hub import HubJudge

    shown = [as_data(row["attack"].removeprefix("-- ")) for row in NEW_WORDINGS]

    def script(body: dict[str, Any], number: int) -> Any:
        obeys = any(text in body["messages"][1]["content"] for text in shown)
        return server.verdict("correct", 1.0) if obeys else server.verdict("incorrect", 0.9)

    server.script = script
    results = list(Scorer(_rules({}), HubJudge(base_url=server.url, model="m")).score_rows(NEW_WORDINGS))
    assert len(NEW_WORDINGS) < len(server.asked) <= 2 * len(NEW_WORDINGS)
    assert all(r.score is not None and r.score < 75 for r in results)
    assert all("without the comments" in r.judge_conflict for r in results)
    seen = sum(speaks_to_judge(row["attack"]) for row in NEW_WORDINGS)
    print(f"\n{seen} of {len(results)} seen by their text")


def test_comments_cost_a_right_query_nothing(server: Any) -> None:
    pytest.importorskip("huggingface_hub")
    from spider_compose.stef.judges.hub import HubJudge

    row = {
        "question": "How many singers are from 'France'?",
        "sql": "SELECT COUNT(*) FROM singer /* by country */ WHERE country = 'France' -- all of them",
    }
    (result,) = Scorer(_rules({}), HubJudge(base_url=server.url, model="m")).score_rows([row])
    assert result.judge_conflict == "" and result.score is not None and result.score >= 90
    assert [" by country " in body["messages"][1]["content"] for body in server.asked] == [True, False]


SIGNS = [
    ("\u202e", True),
    ("a\u200bb", False),
    ("\u200b\u200c\u200d", True),
    ("\ufe0f" * 3, True),
    ("\u2764\ufe0f", False),
]


@pytest.mark.parametrize(("text", "hidden"), SIGNS, ids=[ascii(text) for text, _ in SIGNS])
def test_invisible_signs(text: str, hidden: bool) -> None:
    assert hides_signs(text) == hidden


@pytest.mark.slow
def test_real_queries_are_seldom_flagged(shared_path: Any) -> None:
    """Queries and questions of 16 agents: none speaks to a judge."""
    path = shared_path("stef/labelled_agents.jsonl")
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()][::4]
    flagged = []
    for row, explained in zip(rows, Scorer(_rules({})).explain_rows(rows), strict=True):
        if explained.pair is not None:
            request = Request(row["question"], row["enriched_question"], row["sql"], explained.pair)
            flagged += injected_texts(request)
    assert not flagged
