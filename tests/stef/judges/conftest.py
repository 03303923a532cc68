"""A scripted server that speaks OpenAI's way on loopback, and requests that need no spaCy."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from spider_compose.stef.alignment import Pair
from spider_compose.stef.judges.protocol import Request
from spider_compose.stef.rules import ApplicationRules
from spider_compose.stef.specification.items import Aggregation, Filter, Span, Specification
from spider_compose.stef.specification.sql import read_sql


@dataclass
class Reply:
    """What the server answers once.

    Attributes:
        text: the model's message, or None for a reply without one.
        status: of HTTP; other than 200 it answers an error.
        delay: seconds before it answers.
        drop: close the connection in place of an answer.
        raw: bytes of the body in place of a proper one.
        wire: (seconds to wait, bytes) in place of a whole answer, head included; then the connection ends.
        logprobs: token -> log probability, in place of a message.
    """

    text: str | None = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    drop: bool = False
    raw: bytes | None = None
    wire: Sequence[tuple[float, bytes]] = ()
    logprobs: Mapping[str, float] | None = None

    def body(self) -> bytes:
        if self.raw is not None:
            return self.raw
        if self.status != 200:
            return json.dumps({"error": {"message": self.text or "no"}}).encode()
        choice: dict[str, Any] = {"index": 0, "finish_reason": "stop"}
        choice["message"] = {"role": "assistant", "content": self.text}
        if self.logprobs is not None:
            top = [{"token": t, "logprob": p, "bytes": None} for t, p in self.logprobs.items()]
            choice["logprobs"] = {"content": [{**top[0], "top_logprobs": top}]}
        usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
        return json.dumps(
            {
                "id": "x",
                "object": "chat.completion",
                "created": 0,
                "model": "m",
                "choices": [choice],
                "usage": usage,
            }
        ).encode()


def verdict(name: str = "correct", confidence: float = 0.9, reason: str = "it fits") -> Reply:
    """A proper answer."""
    return Reply(json.dumps({"reason": reason, "verdict": name, "confidence": confidence}))


@dataclass
class Server:
    """The running server.

    Attributes:
        script: (body of a request, its number) -> reply; may be changed at any time.
        asked: bodies of all requests.
        authorizations: their Authorization headers.
        most_at_once: greatest number of requests in work at a time.
    """

    url: str
    script: Callable[[dict[str, Any], int], Reply] = lambda body, number: verdict()
    asked: list[dict[str, Any]] = field(default_factory=list)
    authorizations: list[str | None] = field(default_factory=list)
    at_once: int = 0
    most_at_once: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    Reply = Reply
    verdict = staticmethod(verdict)

    def replies(self, *replies: Reply) -> None:
        """Answer with these, then with the last one for good."""
        self.script = lambda body, number: replies[min(number, len(replies) - 1)]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    # The tests keep huggingface_hub off the network, which for it includes loopback.
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with found.lock:
                number = len(found.asked)
                found.asked.append(body)
                found.authorizations.append(self.headers.get("Authorization"))
                found.at_once += 1
                found.most_at_once = max(found.most_at_once, found.at_once)
            try:
                reply = found.script(body, number)
                time.sleep(reply.delay)
                if reply.drop:
                    self.close_connection = True
                    self.connection.close()
                    return
                if reply.wire:
                    self.close_connection = True
                    for pause, part in reply.wire:
                        time.sleep(pause)
                        self.wfile.write(part)
                        self.wfile.flush()
                    return
                data = reply.body()
                self.send_response(reply.status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(data)
            except OSError:
                pass  # the client has gone
            finally:
                with found.lock:
                    found.at_once -= 1

        def log_message(self, *arguments: Any) -> None:
            pass

    class Quiet(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 128

        def handle_error(self, *arguments: Any) -> None:
            pass  # connections that the script closed

    running = Quiet(("127.0.0.1", 0), Handler)
    found = Server(f"http://127.0.0.1:{running.server_address[1]}/v1")
    thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield found
    running.shutdown()
    running.server_close()


QUESTION = "How many singers are from 'France'?"
COUNT = Aggregation("COUNT", frozenset({"singer"}), Span(0, 8))
FRANCE = Filter(frozenset(), "=", ("france",), "string", Span(26, 34))


def make_request(
    sql: str = "SELECT COUNT(*) FROM singer WHERE country = 'France'",
    question: str = QUESTION,
    enriched: str | None = None,
    rules: ApplicationRules | None = None,
) -> Request:
    """A request whose question was read by hand, so that no spaCy is needed; it asks for 'France'."""
    words = {word: Span(0, 3) for word in ("singer", "country")}
    asked = Specification(question, aggregations=(COUNT,), filters=(FRANCE,), words=words)
    return Request(question, enriched, sql, Pair(asked, read_sql(sql, "sqlite"), rules or ApplicationRules()))


@pytest.fixture
def request_for() -> Callable[..., Request]:
    return make_request
