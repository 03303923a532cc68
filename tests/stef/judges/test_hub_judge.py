"""The judge "hub" against a scripted server: every way a service fails, and what comes of the row."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("huggingface_hub")

from spider_compose.errors import OptionError
from spider_compose.stef.judges.asking import Backoff
from spider_compose.stef.judges.budget import Budget, Prices
from spider_compose.stef.judges.cache import AnswerCache
from spider_compose.stef.judges.hub import HubJudge
from spider_compose.stef.judges.prompt import MAX_SQL

# Waits of hundredths of a second: the waits themselves are tested in test_waits_are_bounded.
FAST = Backoff(0.01, 0.5)

# Seconds for a request where one is to time out; all others have a minute, for the machine may be busy.
PATIENCE = 1.0


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HF_TOKEN", "STEF_JUDGE_KEY"):
        monkeypatch.delenv(name, raising=False)


def judge_of(server: Any, **options: Any) -> HubJudge:
    given = {"backoff": FAST, "budget": Budget(), "timeout": 60.0, **options}
    return HubJudge(base_url=server.url, model="m", **given)


def test_one_answer(server: Any, request_for: Callable[..., Any]) -> None:
    judge = judge_of(server)
    (found,) = judge.judge([request_for()])
    assert (found.verdict, found.confidence, found.reason) == ("correct", 0.9, "it fits")
    assert found.conflict == "" and found.without.verdict is not None
    body = server.asked[0]
    assert body["model"] == "m" and body["temperature"] == 0.0
    assert body["response_format"]["json_schema"]["schema"]["properties"]["verdict"]["enum"]
    assert "SELECT COUNT(*)" in body["messages"][1]["content"]
    assert judge.budget.as_dict() == {
        "answered": 1, "from_cache": 0, "failed": 0, "requests": 1, "retried": 0,
        "tokens_read": 100, "tokens_written": 10, "cost": 0.0,
    }  # fmt: skip


def failures(server: Any) -> dict[str, tuple[list[Any], int]]:
    """Name -> (replies, requests it takes until the row has its verdict)."""
    reply, fine = server.Reply, server.verdict()
    return {
        "429": ([reply(status=429), fine], 2),
        "429 with Retry-After": ([reply(status=429, headers={"Retry-After": "0.2"}), fine], 2),
        "500": ([reply(status=500), reply(status=503), fine], 3),
        "timeout": ([reply(delay=3 * PATIENCE), fine], 2),
        "disconnect": ([reply(drop=True), fine], 2),
        "cut JSON": ([reply('{"verdict": "corr'), fine], 2),
        "wrong label": ([reply('{"verdict": "yes", "confidence": 1}'), fine], 2),
        "confidence 7": ([reply('{"verdict": "correct", "confidence": 7}'), fine], 2),
        "empty text": ([reply(""), fine], 2),
        "no message": ([reply(None), fine], 2),
        "no choices": ([reply(raw=b'{"choices": []}'), fine], 2),
        "no JSON": ([reply(raw=b"<html>"), fine], 2),
        "a body that is cut": ([reply(raw=b'{"choices": [{"mess'), fine], 2),
    }


NAMES = [
    "429", "429 with Retry-After", "500", "timeout", "disconnect", "cut JSON", "wrong label",
    "confidence 7", "empty text", "no message", "no choices", "no JSON", "a body that is cut",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_a_failure_that_passes_costs_a_try(name: str, server: Any, request_for: Callable[..., Any]) -> None:
    replies, requests = failures(server)[name]
    server.replies(*replies)
    judge = judge_of(server, timeout=PATIENCE if name == "timeout" else 60.0)
    (found,) = judge.judge([request_for()])
    assert found.verdict == "correct"
    assert len(server.asked) == judge.budget.sent == requests
    assert judge.budget.retried == requests - 1


@pytest.mark.parametrize("name", NAMES)
def test_a_failure_for_good_leaves_the_row_without_a_verdict(
    name: str, server: Any, request_for: Callable[..., Any]
) -> None:
    server.replies(failures(server)[name][0][0])
    judge = judge_of(server, retries=1, reasks=1, timeout=PATIENCE if name == "timeout" else 60.0)
    (found,) = judge.judge([request_for()])
    assert found.verdict is None and found.reason and "\n" not in found.reason
    assert found.without.verdict is not None
    assert len(server.asked) == 2 and judge.budget.failed == 1


def test_an_unusable_answer_is_named_to_the_model(server: Any, request_for: Callable[..., Any]) -> None:
    server.replies(server.Reply('{"verdict": "yes", "confidence": 1}'), server.verdict())
    judge_of(server).judge([request_for()])
    assert "could not be read" in server.asked[1]["messages"][1]["content"]
    assert "could not be read" not in server.asked[0]["messages"][1]["content"]


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
def test_a_refusal_is_final(status: int, server: Any, request_for: Callable[..., Any]) -> None:
    server.replies(server.Reply("go away", status=status))
    judge = judge_of(server, structured=False, concurrency=1)
    found = judge.judge([request_for(question=f"{n}?") for n in range(5)])
    assert all(judgement.verdict is None and str(status) in judgement.reason for judgement in found)
    # a wrong key or model is wrong for all rows, a bad request for its own
    assert len(server.asked) == (1 if status in (401, 404) else 5)


def test_a_server_without_schemas_is_asked_without(server: Any, request_for: Callable[..., Any]) -> None:
    server.script = lambda body, number: (
        server.Reply("no schema", status=400) if "response_format" in body else server.verdict()
    )
    judge = judge_of(server, concurrency=1)
    found = judge.judge([request_for(question=f"{n}?") for n in range(3)])
    assert [judgement.verdict for judgement in found] == ["correct"] * 3
    assert ["response_format" in body for body in server.asked] == [True, False, False, False]


def test_label_probabilities(server: Any, request_for: Callable[..., Any]) -> None:
    server.replies(server.Reply("A", logprobs={"A": -0.2, " B": -2.3, "D": -3.0, "x": -5.0}))
    (found,) = judge_of(server, answer="label").judge([request_for()])
    assert found.verdict == "correct" and 0.9 < found.confidence < 1
    body = server.asked[0]
    assert (body["logprobs"], body["top_logprobs"], body["max_tokens"]) == (True, 20, 1)
    server.replies(server.Reply("A"))
    (found,) = judge_of(server, answer="label").judge([request_for()])
    assert found.verdict is None and "log probabilities" in found.reason


def test_order_and_bounded_concurrency(server: Any, request_for: Callable[..., Any]) -> None:
    def script(body: dict[str, Any], number: int) -> Any:
        reply = server.verdict(reason=body["messages"][1]["content"].split("number ")[1].split("?")[0])
        reply.delay = 0.05 if number % 3 else 0.0
        return reply

    server.script = script
    requests = [request_for(question=f"Which number {n}?") for n in range(60)]
    given = [None if n % 7 == 0 else request for n, request in enumerate(requests)]
    found = list(judge_of(server, concurrency=8).stream(given))
    assert [j and j.reason for j in found] == [None if n % 7 == 0 else str(n) for n in range(60)]
    assert 2 <= server.most_at_once <= 8


def test_rows_are_read_lazily(server: Any, request_for: Callable[..., Any]) -> None:
    read = 0

    def rows() -> Any:
        nonlocal read
        for n in range(5000):
            read += 1
            yield request_for(question=f"Which number {n}?")

    server.script = lambda body, number: server.Reply(status=200, delay=0.05, text=server.verdict().text)
    stream = judge_of(server, concurrency=2).stream(rows())
    next(stream)
    stream.close()  # ends the requests in work
    assert read < 1000


def test_equal_rows_are_asked_about_once(server: Any, request_for: Callable[..., Any]) -> None:
    server.script = lambda body, number: server.Reply(text=server.verdict().text, delay=0.1)
    found = judge_of(server).judge([request_for()] * 10)
    assert [j.verdict for j in found] == ["correct"] * 10 and len(server.asked) == 1


def test_cache(server: Any, request_for: Callable[..., Any], tmp_path: Path) -> None:
    cache = AnswerCache(tmp_path / "answers.sqlite")
    first = judge_of(server, cache=cache)
    before = first.judge([request_for()])
    again = judge_of(server, cache=AnswerCache(tmp_path / "answers.sqlite"))
    assert again.judge([request_for()]) == before
    assert len(server.asked) == 1 and again.budget.cached == 1 and again.budget.sent == 0
    # whatever moves an answer is asked again
    others = [replace(first, model="n"), replace(first, temperature=0.5), replace(first, sample=1)]
    for other in [*others, replace(first, answer="label", prompt=None)]:
        other.judge([request_for()])
    first.judge([request_for(sql="SELECT COUNT(*) FROM singer WHERE country = 'france'")])
    first.judge([request_for(enriched="How many?")])
    assert len(server.asked) >= 7


def test_failures_are_not_cached(server: Any, request_for: Callable[..., Any], tmp_path: Path) -> None:
    cache = AnswerCache(tmp_path / "answers.sqlite")
    server.replies(server.Reply("nothing"))
    judge = judge_of(server, cache=cache, reasks=0)
    assert judge.judge([request_for()])[0].verdict is None and len(cache) == 0
    server.replies(server.verdict())
    assert judge.judge([request_for()])[0].verdict == "correct" and len(cache) == 1


def test_budget_of_requests(server: Any, request_for: Callable[..., Any]) -> None:
    judge = judge_of(server, budget=Budget(requests=3), concurrency=1)
    found = judge.judge([request_for(question=f"{n}?") for n in range(5)])
    assert [j.verdict for j in found] == ["correct"] * 3 + [None] * 2
    assert "budget of 3 requests" in found[-1].reason and len(server.asked) == 3


def test_budget_of_tokens_is_never_passed(server: Any, request_for: Callable[..., Any]) -> None:
    budget = Budget(tokens=2500, prices=Prices(1.0, 10.0))
    found = judge_of(server, budget=budget, max_tokens=50).judge(
        [request_for(question=f"{n}?") for n in range(40)]
    )
    assert {j.verdict for j in found} == {"correct", None}
    assert budget.read + budget.written <= 2500
    assert budget.cost == pytest.approx((budget.read + 10 * budget.written) / 1e6)


@pytest.mark.parametrize(("after", "waits"), [("0.3", True), ("3600", False)], ids=["short", "long"])
def test_retry_after(after: str, waits: bool, server: Any, request_for: Callable[..., Any]) -> None:
    server.replies(server.Reply(status=429, headers={"Retry-After": after}), server.verdict())
    start = time.monotonic()
    (found,) = judge_of(server).judge([request_for()])
    if waits:
        assert found.verdict == "correct" and time.monotonic() - start >= 0.3
    else:
        assert found.verdict is None and "3600 seconds" in found.reason and len(server.asked) == 1


def test_waits_are_bounded() -> None:
    waits = Backoff(1.0, 60.0)
    for tries, low, high in [(1, 0.5, 1), (2, 1, 2), (4, 4, 8), (20, 30, 60)]:
        assert all(low <= waits.seconds(tries, None) <= high for _ in range(50))
    assert waits.seconds(1, 59.0) == 59.0 and waits.seconds(1, 61.0) is None


def test_too_long_a_row_is_not_asked_about(server: Any, request_for: Callable[..., Any]) -> None:
    names = ", ".join(f"column_{n}" for n in range(MAX_SQL // 10))
    (found,) = judge_of(server).judge([request_for(sql=f"SELECT {names} FROM t")])
    assert found.verdict is None and "characters" in found.reason and not server.asked


def test_key_comes_from_the_environment_and_goes_nowhere(
    server: Any,
    request_for: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    tmp_path: Path,
) -> None:
    key = "sk-very/secret+key-123456"
    monkeypatch.setenv("MY_KEY", key)
    caplog.set_level(logging.DEBUG)
    cache = AnswerCache(tmp_path / "answers.sqlite")
    judge = judge_of(server, key_variable="MY_KEY", cache=cache, structured=False)
    # a service that repeats the key, in a reason, an answer that cannot be read, and an error
    said = [
        server.verdict(reason=f"your key is {key}"),
        server.Reply(json.dumps({"verdict": key, "confidence": 1})),
        server.Reply(f"wrong key {key}", status=400),
        server.Reply(f"busy {key}", status=500),
    ]
    shown: list[Any] = []
    for number, reply in enumerate(said):
        server.asked.clear()
        server.replies(reply)
        limited = replace(judge, retries=1, reasks=1)
        shown += [repr(j) for j in limited.judge([request_for(question=f"{number}?")])]
    assert set(server.authorizations) == {f"Bearer {key}"}
    cache.close()
    stored = [path.read_bytes() for path in tmp_path.iterdir()]
    text = "\n".join([*shown, repr(judge), judge.signature, judge.budget.line(), caplog.text])
    assert key not in text and not any(key.encode() in data for data in stored)
    assert all(key not in json.dumps(body) for body in server.asked)
    assert "***" in text


def test_the_hubs_own_key_is_not_sent_to_other_servers(
    server: Any, request_for: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_of_the_hub")
    judge_of(server).judge([request_for()])
    assert "hf_of_the_hub" not in str(server.authorizations)


def test_offline_mode_is_named(
    server: Any, request_for: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    (found,) = judge_of(server).judge([request_for()])
    assert found.verdict is None and "HF_HUB_OFFLINE" in found.reason and not server.asked


def test_the_hub_wants_a_key(request_for: Callable[..., Any]) -> None:
    with pytest.raises(OptionError, match="HF_TOKEN"):
        HubJudge(model="org/model").judge([request_for()])


BAD = [
    ({}, "model"),
    ({"base_url": "localhost:8000"}, "address"),
    ({"base_url": "http://user:pass@localhost/v1"}, "environment"),
    ({"base_url": "http://localhost/v1?key=secret"}, "environment"),
    ({"model": "m", "concurrency": 0}, "concurrency"),
    ({"model": "m", "timeout": 0.0}, "timeout"),
    ({"model": "m", "answer": "labels"}, "Did you mean 'label'"),
]


@pytest.mark.parametrize(("options", "says"), BAD, ids=[says for _, says in BAD])
def test_bad_options(options: dict[str, Any], says: str) -> None:
    with pytest.raises(OptionError, match=says) as error:
        HubJudge(**options)
    assert "secret" not in str(error.value) and "pass@" not in str(error.value)


def test_signature_has_whatever_moves_a_verdict(server: Any) -> None:
    judge = judge_of(server)
    variants = [
        judge, replace(judge, model="n"), replace(judge, temperature=1.0), replace(judge, seed=1),
        replace(judge, structured=False), replace(judge, answer="label", prompt=None),
        replace(judge, extra={"a": 1}),
    ]  # fmt: skip
    assert len({j.signature for j in variants}) == len(variants)
    same = [replace(judge, timeout=1.0), replace(judge, concurrency=3), replace(judge, retries=0)]
    assert {j.signature for j in same} == {judge.signature}
    assert "|" not in judge.signature
