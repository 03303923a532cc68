"""The Prometheus text and the webhook, against a server of our own on this machine."""

from __future__ import annotations

import contextlib
import json
import re
import socket
import threading
from collections.abc import Iterator
from datetime import datetime, timezone
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from spider_compose.errors import OptionError, SpiderComposeError
from spider_compose.stef.monitoring.control_chart import Excursion
from spider_compose.stef.monitoring.drift import Alarm, Settings, Stream, Watch, Window
from spider_compose.stef.monitoring.notify import prometheus_text, send, shown_address, webhook_document

NOW = datetime(2026, 8, 20, tzinfo=timezone.utc)
SECRET = "T0KEN-in-the-path"


class Server(HTTPServer):
    """Answers with the given statuses, one after the other, and keeps what came."""

    def __init__(self, *statuses: int, headers: dict[str, str] | None = None) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.statuses, self.headers, self.got = list(statuses), headers or {}, []  # type: ignore[var-annotated]

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/hook/{SECRET}?key={SECRET}"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.got.append((dict(self.headers), json.loads(body)))
        self.send_response(self.server.statuses.pop(0))
        for name, value in self.server.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def serve() -> Iterator[Any]:
    servers = []

    def start(*statuses: int, **options: Any) -> Server:
        server = Server(*statuses, **options)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        return server

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def alarm(**changed: Any) -> Alarm:
    values: dict[str, Any] = {
        "id": "0" * 16,
        "stream": {"agent": "B"},
        "measure": "score",
        "direction": "worse",
        "since": "2026-08-12",
        "detected": "2026-08-14",
        "before": 67.0,
        "after": 50.0,
        "size": -17.0,
        "questions": (700, 40),
        "height": 8.0,
        "limit": 7.0,
    }
    return Alarm(**(values | changed))


def test_webhook_takes_the_document(serve: Any) -> None:
    server, document = serve(200), webhook_document([{"id": "x"}], ["B got worse"])
    send(server.address, document, token="bearer-token")
    ((headers, body),) = server.got
    assert body == {"format": "stef alarms 1", "text": "B got worse", "alarms": [{"id": "x"}]}
    assert headers["Content-Type"] == "application/json"
    assert headers["Authorization"] == "Bearer bearer-token"


@pytest.mark.parametrize(
    ("statuses", "headers", "waits"),
    [
        ([500, 200], {}, [1]),
        ([503, 429, 204], {}, [1, 2]),
        ([429, 200], {"Retry-After": "7"}, [7]),
        ([429, 200], {"Retry-After": "900"}, [60]),
        ([429, 200], {"Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT"}, [1]),
    ],
    ids=str,
)
def test_webhook_tries_again(
    serve: Any, statuses: list[int], headers: dict[str, str], waits: list[float]
) -> None:
    server, waited = serve(*statuses, headers=headers), list[float]()
    send(server.address, {}, wait=waited.append)
    assert waited == waits and server.statuses == []


@pytest.mark.parametrize(
    ("statuses", "headers", "tried", "says"),
    [
        ([500, 500, 500], {}, 3, "HTTP status 500"),
        ([404, 200], {}, 1, "HTTP status 404"),
        ([302, 200], {"Location": "/elsewhere"}, 1, "HTTP status 302"),
    ],
    ids=["always busy", "not there", "redirect"],
)
def test_webhook_gives_up_without_a_secret(
    serve: Any, statuses: list[int], headers: dict[str, str], tried: int, says: str
) -> None:
    server = serve(*statuses, headers=headers)
    with pytest.raises(SpiderComposeError, match=says) as caught:
        send(server.address, {}, token=SECRET, wait=lambda _: None)
    assert len(server.got) == tried
    shown = f"{caught.value} {caught.value.__context__ and ''}"
    assert SECRET not in shown and "127.0.0.1" in shown


@pytest.mark.parametrize(
    ("address", "token"),
    [(None, f"{SECRET}\nX-Other: 1"), (None, f"{SECRET}\u20ac"), (f"http://.x/{SECRET}", None),
     (f"http://{'x' * 70}.org/{SECRET}", None)],
    ids=["token of two lines", "token of other letters", "empty label", "long label"],
)  # fmt: skip
def test_what_cannot_be_sent_shows_no_secret(serve: Any, address: str | None, token: str | None) -> None:
    server, waited = serve(200), list[float]()
    with pytest.raises(SpiderComposeError, match="Error") as caught:
        send(address or server.address, {}, token=token, wait=waited.append)
    assert SECRET not in str(caught.value) and server.got == [] and waited == []


def test_a_token_from_a_file_ends_with_a_line(serve: Any) -> None:
    server = serve(200)
    send(server.address, {}, token="bearer-token\n")
    assert server.got[0][0]["Authorization"] == "Bearer bearer-token"


def test_waits_stay_short_however_many_tries(serve: Any) -> None:
    server, waited = serve(*[500] * 1100, 200), list[float]()
    send(server.address, {}, tries=2000, wait=waited.append)
    assert len(waited) == 1100 and max(waited) == 60


def test_webhook_that_never_answers_times_out() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}/{SECRET}"
        with pytest.raises(SpiderComposeError, match=r"Timeout|timeout") as caught:
            send(address, {}, timeout=0.2, tries=2, wait=lambda _: None)
    assert SECRET not in str(caught.value)


def test_webhook_that_is_not_there() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(SpiderComposeError, match="ConnectionRefusedError"):
        send(f"http://127.0.0.1:{port}/", {}, tries=1)


@pytest.mark.parametrize(
    "address",
    [
        "file:///etc/passwd",
        "ftp://x/y",
        "example.org/hook",
        "http://",
        "http://a b/",
        "http://x:99999999/",
        "http://é/",
    ],
)
def test_address_is_checked_and_not_repeated(address: str) -> None:
    with pytest.raises(OptionError, match="http:// or https://") as caught:
        shown_address(address)
    assert address == "http://" or address not in str(caught.value)


def test_shown_address_holds_no_secret() -> None:
    assert shown_address(f"https://user:{SECRET}@hooks.example.org:8443/{SECRET}?t={SECRET}#{SECRET}") == (
        "https://hooks.example.org:8443"
    )


SAMPLE = re.compile(
    r'[a-z_]+(\{[a-z]+="(?:[^"\\\n]|\\["\\n])*"(,[a-z]+="(?:[^"\\\n]|\\["\\n])*")*\})? -?[0-9.e+-]+'
)


def test_prometheus_text() -> None:
    name = 'B"} 1\nstef_alarms_total{agent="x\\'
    watch = Watch({(name,): Stream(closed=1_786_665_600_000_000)}, [alarm(stream={"agent": name})])
    watch.streams[(name,)].waiting = {}
    watch.streams[(name,)].windows = [Window("2026-08-13", 20, 19, 0, {"score": 50.5, "coverage": None})]
    watch.streams[(name,)].charts["score"].worse = Excursion(height=3.0)
    text = prometheus_text(watch, Settings(), NOW)
    lines = text.splitlines()
    samples = [line for line in lines if not line.startswith("#")]
    assert all(SAMPLE.fullmatch(line) for line in samples), samples
    escaped = 'B\\"} 1\\nstef_alarms_total{agent=\\"x\\\\'
    assert f'stef_window_mean{{agent="{escaped}",measure="score"}} 50.5' in samples
    assert f'stef_alarms_total{{agent="{escaped}",measure="score",direction="worse"}} 1.0' in samples
    assert f'stef_alarms_total{{agent="{escaped}",measure="score",direction="better"}} 0.0' in samples
    assert f'stef_window_rows{{agent="{escaped}"}} 20.0' in samples
    (ratio,) = [line for line in samples if "cusum" in line and 'score",direction="worse"' in line]
    assert 0 < float(ratio.rsplit(" ", 1)[1]) < 1
    families = [line.split()[2] for line in lines if line.startswith("# TYPE")]
    assert len(families) == len(set(families)) and text.endswith("\n")


NAMES = ["", " ", "a b", "a\rb", "a\nb", "a\\nb", 'a"b', "a\\", "\0", "\u2028", "\x1b[31m", "é" * 3000]


def test_every_agent_keeps_a_line_of_its_own() -> None:
    """Two samples of one name are refused by Prometheus, and all the others of the file with them."""
    streams = {(name,): Stream(closed=1_786_665_600_000_000) for name in NAMES}
    text = prometheus_text(Watch(streams), Settings(), NOW)
    samples = [line.rsplit(" ", 1)[0] for line in text.split("\n") if line and not line.startswith("#")]
    assert len(samples) == len(set(samples)) > len(NAMES) and "\0" not in text
    assert all(SAMPLE.fullmatch(f"{sample} 1.0") for sample in samples)


def test_an_answer_without_end_is_not_waited_for() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def drip() -> None:
            taken, _ = server.accept()
            with taken, contextlib.suppress(OSError):
                taken.recv(1 << 16)
                taken.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
                while not ended.wait(0.02):
                    taken.sendall(b"x")

        ended = threading.Event()
        thread = threading.Thread(target=drip, daemon=True)
        thread.start()
        sender = threading.Thread(
            target=send, args=(f"http://127.0.0.1:{server.getsockname()[1]}/", {}), daemon=True
        )
        sender.start()
        sender.join(5)
        answered = not sender.is_alive()
        ended.set()
        thread.join(5)
    assert answered
