"""The judge "hub" against services that are slow, huge or hostile, and documents that are no judge."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from email.utils import format_datetime
from typing import Any

import pytest

pytest.importorskip("huggingface_hub")

from spider_compose.errors import OptionError, SpiderComposeError
from spider_compose.stef.judges.asking import Backoff, retry_after
from spider_compose.stef.judges.budget import Budget, BudgetError, Prices
from spider_compose.stef.judges.cascade import CascadeJudge
from spider_compose.stef.judges.configuration import Shared, make_judge
from spider_compose.stef.judges.hub import HubJudge
from spider_compose.stef.judges.prompt import Prompt
from spider_compose.stef.judges.rules import RulesJudge
from spider_compose.stef.judges.vote import VoteJudge

FAST = Backoff(0.01, 0.5)
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"


def judge_of(server: Any, **options: Any) -> HubJudge:
    given = {"backoff": FAST, "budget": Budget(), "retries": 1, "reasks": 1, **options}
    return HubJudge(base_url=server.url, model="m", **given)


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HF_TOKEN", "STEF_JUDGE_KEY"):
        monkeypatch.delenv(name, raising=False)


def usable(server: Any) -> dict[str, Any]:
    """Name -> a reply that is an answer all the same."""
    body = server.verdict().body()
    half = len(body) // 2
    chunks = b"".join(b"%x\r\n%s\r\n" % (len(p), p) for p in (body[:half], body[half:])) + b"0\r\n\r\n"
    length = b"Content-Length: %d\r\n\r\n" % len(body)
    usage = json.loads(body)
    return {
        "in chunks": server.Reply(wire=[(0, HEAD + b"Transfer-Encoding: chunked\r\n\r\n"), (0.05, chunks)]),
        "byte for byte": server.Reply(wire=[(0, HEAD + length), *((0.0005, bytes([b])) for b in body)]),
        "until it closes": server.Reply(wire=[(0, HEAD + b"\r\n" + body)]),
        "usage is negative": server.Reply(
            raw=json.dumps({**usage, "usage": {"prompt_tokens": -9, "completion_tokens": -9}}).encode()
        ),
        "usage is infinite": server.Reply(
            raw=body.replace(b'"prompt_tokens": 100', b'"prompt_tokens": 1e999')
        ),
        "usage is a text": server.Reply(
            raw=body.replace(b'"prompt_tokens": 100', b'"prompt_tokens": "many"')
        ),
        "usage is null": server.Reply(raw=json.dumps({**usage, "usage": None}).encode()),
        "more fields": server.Reply(raw=json.dumps({**usage, "x": [{"y": None}]}).encode()),
    }


USABLE = [
    "in chunks", "byte for byte", "until it closes", "usage is negative", "usage is infinite",
    "usage is a text", "usage is null", "more fields",
]  # fmt: skip


@pytest.mark.parametrize("name", USABLE)
def test_an_answer_that_comes_oddly_counts(name: str, server: Any, request_for: Callable[..., Any]) -> None:
    server.replies(usable(server)[name])
    judge = judge_of(server)
    (found,) = judge.judge([request_for()])
    assert (found.verdict, found.confidence) == ("correct", 0.9) and len(server.asked) == 1
    assert judge.budget.read >= 100 and judge.budget.written >= 0


def unusable(server: Any) -> dict[str, Any]:
    """Name -> a reply that is none; each is tried again once."""
    body = server.verdict().body()
    reply = server.Reply
    cut = b"%x\r\n%s\r\n" % (len(body), body[: len(body) // 2])
    return {
        "drips for ever": reply(wire=[(0, HEAD + b"Content-Length: 999\r\n\r\n"), *[(0.3, b" ")] * 8]),
        "head drips": reply(wire=[(0.3, bytes([b])) for b in b"HTTP/1.1 2"]),
        "cut chunk": reply(wire=[(0, HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + cut)]),
        "cut body": reply(wire=[(0, HEAD + b"Content-Length: 99999\r\n\r\n" + body)]),
        "no HTTP": reply(wire=[(0, b"SSH-2.0-OpenSSH_9.2\r\n")]),
        "not UTF-8": reply(raw=b'{"choices": [{"message": {"content": "\xff\xfe"}}]}'),
        "body is null": reply(raw=b"null"),
        "body is a list": reply(raw=b"[1]"),
        "body is a number": reply(raw=b"NaN"),
        "body is a text": reply(raw=b'"correct"'),
        "choices are a text": reply(raw=b'{"choices": "correct"}'),
        "choices are null": reply(raw=b'{"choices": null}'),
        "choice is null": reply(raw=b'{"choices": [null]}'),
        "message is a text": reply(raw=b'{"choices": [{"message": "correct"}]}'),
        "content is a list": reply(raw=b'{"choices": [{"message": {"content": [{"text": "x"}]}}]}'),
        "nested deeply": reply(raw=b"[" * 100_000),
        "huge": reply("x" * 5_000_000),
        "brackets": reply('{"a":' * 200_000),
        "thoughts": reply("<think>" * 50_000),
        "redirect in a circle": reply(status=307, headers={"Location": "/v1/chat/completions"}),
    }


UNUSABLE = [
    "drips for ever", "head drips", "cut chunk", "cut body", "no HTTP", "not UTF-8", "body is null",
    "body is a list", "body is a number", "body is a text", "choices are a text", "choices are null",
    "choice is null", "message is a text", "content is a list", "nested deeply", "huge", "brackets",
    "thoughts", "redirect in a circle",
]  # fmt: skip


@pytest.mark.parametrize("name", UNUSABLE)
def test_no_answer_is_named_and_holds_nothing_up(
    name: str, server: Any, request_for: Callable[..., Any]
) -> None:
    bad = unusable(server)[name]
    server.script = lambda body, n: bad if "attack" in str(body["messages"]) else server.verdict()
    judge = judge_of(server, structured=False, timeout=1.0 if "drip" in name else 60.0)
    rows = [request_for(question="attack"), *(request_for(question=f"{n}?") for n in range(5))]
    found = judge.judge(rows)
    assert found[0].verdict is None and found[0].reason and len(found[0].reason) < 400
    assert "\n" not in found[0].reason and found[0].without.verdict is not None
    assert [j.verdict for j in found[1:]] == ["correct"] * 5
    asked = sum("attack" in str(body["messages"]) for body in server.asked)
    assert asked == 2 or name == "redirect in a circle"


def test_a_redirect_to_another_server_takes_no_key_along(
    server: Any, request_for: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STEF_JUDGE_KEY", "sk-key-of-the-first")
    there = server.url.replace("127.0.0.1", "localhost") + "/there"
    server.script = lambda body, number: (
        server.Reply(status=307, headers={"Location": there}) if number == 0 else server.verdict()
    )
    judge_of(server).judge([request_for()])
    assert server.authorizations[0] == "Bearer sk-key-of-the-first"
    assert "sk-key-of-the-first" not in str(server.authorizations[1:])


NOW = datetime.now(timezone.utc)
TIMES = [
    ("0", 0.0), ("-5", 0.0), (" 2 ", 2.0), ("1.5", 1.5), ("nan", None), ("", None), ("soon", None),
    (format_datetime(NOW - timedelta(days=1), usegmt=True), 0.0),
    ("Wed, 99 Foo 2015 07:28:00 GMT", None), ("Mon, 01 Jan 2001 00:00:00 +999999", None),
    ("Fri, 31 Dec 99999 23:59:59 GMT", None), ("Fri, 31 Dec 1999 23:59:59", None),
]  # fmt: skip


@pytest.mark.parametrize(("value", "seconds"), TIMES, ids=[ascii(v) for v, _ in TIMES])
def test_retry_after_is_read_or_left(value: str, seconds: float | None) -> None:
    assert retry_after(value) == seconds


def test_retry_after_a_date() -> None:
    found = retry_after(format_datetime(datetime.now(timezone.utc) + timedelta(seconds=30), usegmt=True))
    assert found is not None and 25 <= found <= 30


@pytest.mark.parametrize("value", ["inf", "1e400", "1e12", "Fri, 31 Dec 9999 23:59:59 GMT"])
def test_an_absurd_wait_is_not_waited(value: str, server: Any, request_for: Callable[..., Any]) -> None:
    server.replies(server.Reply(status=429, headers={"Retry-After": value}))
    (found,) = judge_of(server).judge([request_for()])
    assert found.verdict is None and "seconds" in found.reason and len(server.asked) == 1


@pytest.mark.parametrize(
    ("status", "rest"), [(401, True), (402, True), (404, True), (403, False), (413, False)]
)
def test_a_refusal_in_the_middle_of_a_run(
    status: int, rest: bool, server: Any, request_for: Callable[..., Any]
) -> None:
    server.script = lambda body, number: (
        server.verdict() if number < 3 or number > 3 else server.Reply("no", status=status)
    )
    judge = judge_of(server, concurrency=1, structured=False)
    found = judge.judge([request_for(question=f"{n}?") for n in range(8)])
    good = [j.verdict == "correct" for j in found]
    assert good == [True] * 3 + [False] + [not rest] * 4
    assert all(str(status) in j.reason for j, fine in zip(found, good, strict=True) if not fine)
    assert len(server.asked) == (4 if rest else 8)


@pytest.mark.parametrize("key", ["sk-with\nnewline", "sk-with space", "sk-schl\u00fcssel", "sk-\x00zero"])
def test_a_key_no_header_can_hold_is_refused_unseen(
    key: str, server: Any, request_for: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    if "\x00" in key:  # no environment can hold it either
        with pytest.raises(ValueError, match="null"):
            monkeypatch.setenv("MY_KEY", key)
        return
    monkeypatch.setenv("MY_KEY", key)
    with pytest.raises(OptionError, match="MY_KEY") as error:
        judge_of(server, key_variable="MY_KEY").judge([request_for()])
    assert "sk-" not in repr(error.value) and not server.asked


def test_a_budget_is_kept_by_many_at_a_time(server: Any, request_for: Callable[..., Any]) -> None:
    server.script = lambda body, number: (
        server.Reply(status=500) if number % 4 == 3 else server.Reply(server.verdict().text, delay=0.02)
    )
    judge = judge_of(server, budget=Budget(requests=50), concurrency=32, retries=3)
    found = judge.judge([request_for(question=f"{n}?") for n in range(120)])
    assert len(server.asked) == judge.budget.sent == 50
    spent = [j for j in found if j.verdict is None]
    assert 0 < len(spent) < 120 and all("budget of 50 requests" in j.reason for j in spent)


def test_a_budget_is_kept_by_threads() -> None:
    budget = Budget(tokens=10_000)

    async def spend() -> int:
        def one() -> int:
            taken = 0
            for _ in range(200):
                try:
                    budget.take(10)
                except BudgetError:
                    continue
                budget.settle(10, 5, 5)
                taken += 1
            return taken

        return sum(await asyncio.gather(*(asyncio.to_thread(one) for _ in range(32))))

    assert asyncio.run(spend()) == 1000 == budget.sent
    assert budget.read + budget.written == 10_000 and budget._reserved == 0


def test_what_was_sent_in_vain_counts(server: Any, request_for: Callable[..., Any]) -> None:
    server.replies(server.Reply(server.verdict().text, delay=1.0))
    judge = judge_of(server, timeout=0.3, retries=0)
    judge.judge([request_for()])
    assert judge.budget.read > 100 and judge.budget.written == 0


@pytest.mark.parametrize(
    ("requests", "tokens", "prices"),
    [
        (-1, None, Prices()),
        (None, -1, Prices()),
        (None, None, Prices(-1.0)),
        (None, None, Prices(0.0, float("nan"))),
    ],
)
def test_bad_budgets(requests: int | None, tokens: int | None, prices: Prices) -> None:
    with pytest.raises(OptionError):
        Budget(requests, tokens, prices)


def test_a_reason_that_speaks_of_a_budget_is_a_reason(server: Any, request_for: Callable[..., Any]) -> None:
    server.replies(server.verdict("incorrect", 0.9, "the budget of the department is not asked for"))
    (found,) = CascadeJudge(judge_of(server), threshold=1.0).judge([request_for()])
    assert found.verdict == "incorrect" and found.reason.startswith("the budget of the department")


@pytest.mark.parametrize(("threshold", "asked"), [(0.0, 0), (1.0, 1)])
def test_thresholds_at_the_edges(
    threshold: float, asked: int, server: Any, request_for: Callable[..., Any]
) -> None:
    CascadeJudge(judge_of(server), threshold=threshold).judge([request_for()])
    assert len(server.asked) == asked


@pytest.mark.parametrize("threshold", [-0.1, 1.1, float("nan")])
def test_thresholds_outside(threshold: float, server: Any) -> None:
    with pytest.raises(OptionError):
        CascadeJudge(judge_of(server), threshold=threshold)


HUB = {"judge": "hub", "base_url": "http://localhost:1/v1", "model": "m"}
DOCUMENTS: list[Any] = [
    {"judge": None}, {"judge": ["hub"]}, {"judge": "cascade", "then": "hub"},
    {"judge": "cascade", "then": [1]},
    {"judge": "cascade", "then": HUB, "threshold": "0.5"}, {"judge": "cascade", "then": HUB, "most": 1.5},
    {"judge": "cascade", "then": HUB, "threshold": float("nan")},
    {"judge": "vote", "judges": "hub"}, {"judge": "vote", "judges": [1, 2]},
    {"judge": "vote", "judges": [HUB]},
    {"judge": "vote", "of": []}, {"judge": "vote", "of": HUB, "samples": "three"},
    {"judge": "vote", "of": HUB, "samples": 0}, {"judge": "vote", "of": HUB, "samples": 2.5},
    {"judge": "vote", "of": HUB, "temperature": 0}, {"judge": "vote", "of": HUB, "temperature": "hot"},
    {**HUB, "backoff": 5}, {**HUB, "backoff": {"first": -1}}, {**HUB, "backoff": {"last": 1}},
    {**HUB, "concurrency": 2.5}, {**HUB, "concurrency": True}, {**HUB, "timeout": "x"},
    {**HUB, "timeout": None},
    {**HUB, "retries": -1}, {**HUB, "max_tokens": "256"}, {**HUB, "temperature": float("nan")},
    {**HUB, "structured": "no"}, {**HUB, "seed": "x"}, {**HUB, "extra": [1]},
    {**HUB, "extra": {"stream": True}},
    {**HUB, "extra": {"api_key": "sk-12345"}}, {**HUB, "extra": {"messages": []}}, {**HUB, "headers": {}},
    {**HUB, "base_url": "http://[::1/v1"}, {**HUB, "base_url": "http://h:99999/v1"},
    {**HUB, "base_url": "http://a b/v1"}, {**HUB, "base_url": 7}, {**HUB, "base_url": "http://sk-12345@h/v1"},
    {**HUB, "base_url": "file:///etc/passwd"}, {**HUB, "base_url": "http://h/v1\nx: y"}, {**HUB, "model": 7},
    {**HUB, "prompt": 7}, {**HUB, "prompt": "/"}, {**HUB, "calibration": "/"}, {**HUB, "answer": None},
    {**HUB, "Token": "sk-12345"}, {"judge": "transformers", "model": "m", "batch_size": "8"},
    {"judge": "transformers", "model": ["m"]}, {"judge": "transformers", "model": "m", "max_length": 0},
]  # fmt: skip


@pytest.mark.parametrize("document", DOCUMENTS, ids=[json.dumps(d)[:90] for d in DOCUMENTS])
def test_documents_that_are_none(document: Any) -> None:
    with pytest.raises(SpiderComposeError) as error:
        make_judge(document, Shared(RulesJudge(), Budget()))
    assert "sk-12345" not in str(error.value)


def test_a_document_of_documents_without_end() -> None:
    document: Any = HUB
    for _ in range(5000):
        document = {"judge": "cascade", "then": document}
    with pytest.raises(SpiderComposeError, match="deep"):
        make_judge(document, Shared(RulesJudge(), Budget()))


TEMPLATE = "version: 1\n[system]\nJudge.\n[user]\n{{nonce}} {{question}} {{sql}} "
PROMPTS = [
    ("{{ rules }}", True),
    ("{{ rulez }}", False),
    ("{{}}", False),
    ("{{a b}}", False),
    ("{x}", True),
    ("{{", True),
]


@pytest.mark.parametrize(("more", "fine"), PROMPTS)
def test_braces_in_prompts(more: str, fine: bool, request_for: Callable[..., Any]) -> None:
    if not fine:
        with pytest.raises(OptionError, match="placeholders"):
            Prompt.from_text(TEMPLATE + more)
        return
    shown = Prompt.from_text(TEMPLATE + more).render(request_for())[1]["content"]
    assert "{{ rules }}" not in shown and shown.endswith({"{{ rules }}": "(none)"}.get(more, more))


def test_braces_in_a_query_are_data(request_for: Callable[..., Any]) -> None:
    sql = "SELECT COUNT(*) FROM singer WHERE country = '{{nonce}}' AND a = '{0}' AND b = '%s{{ sql }}'"
    shown = Prompt.from_text(TEMPLATE).render(request_for(sql=sql))[1]["content"]
    assert sql in shown


def test_a_vote_that_one_is_talked_into_is_bounded(server: Any, request_for: Callable[..., Any]) -> None:
    # of three samples two fall for the comment, one only sees the query
    def script(body: dict[str, Any], number: int) -> Any:
        talked = "for all" in body["messages"][1]["content"] or body["seed"] != 1
        return server.verdict("correct" if talked else "incorrect", 1.0)

    server.script = script
    votes = VoteJudge(tuple(judge_of(server, seed=n) for n in range(3)))
    (found,) = votes.judge(
        [request_for(sql="SELECT COUNT(*) FROM singer WHERE country = 'France' -- for all")]
    )
    assert "without the comments" in found.conflict and found.verdict == "potentially_incorrect"


def test_rows_wait_for_none_that_drips(server: Any, request_for: Callable[..., Any]) -> None:
    slow = server.Reply(wire=[(0, HEAD + b"Content-Length: 99\r\n\r\n"), *[(0.2, b" ")] * 20])
    server.script = lambda body, n: slow if "attack" in str(body["messages"]) else server.verdict()
    judge = judge_of(server, timeout=2.0, retries=0, concurrency=4)
    done: list[float] = []
    begin = time.monotonic()
    rows = [*(request_for(question=f"{n}?") for n in range(20)), request_for(question="attack")]
    for judgement in judge.stream(rows):
        last = judgement
        done.append(time.monotonic() - begin)
    assert last is not None and last.verdict is None and "2 seconds" in last.reason
    assert done[19] < done[20]
