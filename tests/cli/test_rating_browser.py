"""The rating page in a real browser, without a screen, by keys and clicks.

Chromium speaks the DevTools protocol over two pipes (`--remote-debugging-pipe`), so that nothing has to be
installed beside it.
"""

from __future__ import annotations

import itertools
import json
import os
import select
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="no chromium on the path"),
    pytest.mark.skipif(os.name != "posix", reason="pipes of POSIX"),
]
WAIT = 60  # seconds, for a machine that has much else to do


class Browser:
    """One tab of a headless Chromium."""

    def __init__(self, folder: Path, *flags: str) -> None:
        assert CHROMIUM is not None
        self.downloads = folder / "downloads"
        self.downloads.mkdir(parents=True)
        commands, self._out = os.pipe()
        self._in, answers = os.pipe()

        def connect() -> None:  # Chromium reads its file 3 and writes its file 4
            ours = os.dup(commands), os.dup(answers)
            os.dup2(ours[0], 3)
            os.dup2(ours[1], 4)

        arguments = [
            *(
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--no-first-run",
                "--disable-background-networking",
            ),
            *("--disable-component-update", "--disable-sync", "--remote-debugging-pipe", *flags),
            f"--user-data-dir={folder / 'profile'}",
        ]
        self._process = subprocess.Popen(
            [CHROMIUM, *arguments],
            preexec_fn=connect,
            pass_fds=(3, 4),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(commands)
        os.close(answers)
        self._ids = itertools.count(1)
        self._rest = b""
        self._session: str | None = None
        self.events: list[dict[str, Any]] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        self.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(self.downloads))

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        number = next(self._ids)
        message = {"id": number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._message()
            if answer.get("id") == number:
                assert "error" not in answer, (method, answer)
                return answer["result"]

    def _message(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            assert select.select([self._in], [], [], WAIT)[0], "Chromium does not answer"
            part = os.read(self._in, 1 << 20)
            assert part, "Chromium has ended"
            self._rest += part
        found, self._rest = self._rest.split(b"\0", 1)
        message: dict[str, Any] = json.loads(found)
        if "method" in message:
            self.events.append(message)
        return message

    def run(self, expression: str) -> Any:
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def open(self, page: Path) -> None:
        self.run("globalThis.former = true")
        self.call("Page.navigate", url=page.as_uri())
        self.until("!globalThis.former && document.readyState === 'complete'")

    def until(self, expression: str) -> None:
        end = time.monotonic() + WAIT
        while not self.run(expression):
            assert time.monotonic() < end, f"never: {expression}"
            time.sleep(0.05)

    def press(self, *keys: str) -> None:
        for key in keys:
            text = {"text": "\r" if key == "Enter" else key} if len(key) == 1 or key == "Enter" else {}
            self.call("Input.dispatchKeyEvent", type="keyDown", key=key, **text)
            self.call("Input.dispatchKeyEvent", type="keyUp", key=key)

    def click(self, selector: str) -> None:
        self.run(f"document.querySelector({json.dumps(selector)}).scrollIntoView({{block: 'center'}})")
        box = self.run(
            f"(() => {{ const box = document.querySelector({json.dumps(selector)}).getBoundingClientRect();"
            "return [box.x + box.width / 2, box.y + box.height / 2]; })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=box[0], y=box[1], button="left", clickCount=1)

    def download(self) -> bytes:
        end = time.monotonic() + WAIT
        while not (files := [path for path in self.downloads.iterdir() if path.suffix == ".csv"]):
            assert time.monotonic() < end, "no download"
            time.sleep(0.05)
        return files[0].read_bytes()

    def close(self) -> None:
        try:
            self._session = None
            self.call("Browser.close")
            self._process.wait(WAIT)
        except (AssertionError, OSError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()
        os.close(self._out)
        os.close(self._in)


@pytest.fixture(scope="module")
def browser_with(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Browser]]:
    opened: list[Browser] = []

    def start(*flags: str) -> Browser:
        opened.append(Browser(tmp_path_factory.mktemp("browser"), *flags))
        return opened[-1]

    yield start
    for browser in opened:
        browser.close()


SENTENCES = [
    "=cmd|\" '/c calc'!A0",
    "Größe, <b>bold</b>\nof ships; \u202ereversed",
    "",
    "-1 + 1",
    "name the piers",
    "x",
]


@pytest.fixture
def study(cli: Callable[..., Any], tmp_path: Path) -> Path:
    """A folder of sheets: two systems, three rows, six sentences that are hard to carry."""
    for system, said in (("one", SENTENCES[:3]), ("two", SENTENCES[3:])):
        rows = [
            {
                "id": str(row),
                "db_id": "harbour",
                "query": f"SELECT '</code>', {row}",
                "question": "q",
                "prediction": text,
            }
            for row, text in enumerate(said)
        ]
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (tmp_path / f"{system}.jsonl").write_text(text, encoding="utf-8")
    files = [tmp_path / "one.jsonl", tmp_path / "two.jsonl"]
    result = cli("rate", "export", *files, "--out", tmp_path / "study", "--raters", 1)
    assert result.code == 0, result.err
    return tmp_path / "study"


COUNT = "document.getElementById('count').value"
SHOWN = "document.querySelector('article:not([hidden]) h2 span')?.textContent"
RATED = "document.querySelector('#scale [aria-pressed=true] b')?.textContent"


def test_rate_reload_save_and_import(
    browser_with: Callable[..., Browser], study: Path, cli: Callable[..., Any], tmp_path: Path
) -> None:
    browser, page = browser_with(), study / "sheets" / "rater1.html"
    browser.open(page)
    browser.press("5")
    assert browser.run(COUNT) == "0 of 6 rated", "the guidelines come first"
    browser.press("Enter")
    assert [browser.run(COUNT), browser.run(SHOWN)] == ["0 of 6 rated", "Sentence 1"]
    browser.press("5", "4", "3")
    assert [browser.run(COUNT), browser.run(SHOWN)] == ["3 of 6 rated", "Sentence 4"]
    browser.press("ArrowLeft")
    assert [browser.run(SHOWN), browser.run(RATED)] == ["Sentence 3", "3"]
    browser.press("2")  # changed, and on to the next that is not rated
    assert browser.run(SHOWN) == "Sentence 4"
    browser.press("u")  # the change is taken back
    assert [browser.run(SHOWN), browser.run(RATED)] == ["Sentence 3", "3"]
    browser.press("n")
    assert browser.run(SHOWN) == "Sentence 4"
    browser.press("9", "x")  # not on the scale
    assert browser.run(COUNT) == "3 of 6 rated"

    browser.open(page)  # again: all is there
    assert [browser.run(COUNT), browser.run(SHOWN)] == ["3 of 6 rated", "Sentence 4"]
    browser.click("#scale [data-rating='1']")
    browser.press("ArrowRight")  # leaves one out
    browser.press("2")
    assert [browser.run(COUNT), browser.run(SHOWN)] == ["5 of 6 rated", "Sentence 5"]
    browser.press("ArrowRight", "ArrowRight")
    assert browser.run("document.getElementById('left').textContent").startswith("1 not rated yet")
    browser.click("#finish .save")
    saved = browser.download()

    order = [item["item"] for item in _rows(study / "sheets" / "rater1.csv")]
    (tmp_path / "saved.csv").write_bytes(saved)
    rows = _rows(tmp_path / "saved.csv")
    assert [row["item"] for row in rows] == order
    assert [row["rating"] for row in rows] == ["5", "4", "3", "1", "", "2"]
    asked = [{**row, "rating": ""} for row in rows]
    assert asked == _rows(study / "sheets" / "rater1.csv"), "the page's CSV is the sheet, cell for cell"

    out = tmp_path / "ratings.json"
    result = cli("rate", "import", tmp_path / "saved.csv", "--key", study / "key.json", "--out", out)
    assert result.code == 0, result.err
    assert "rater 1    5 of 6 rated" in result.out
    systems = json.loads(out.read_text("utf-8"))["systems"]
    assert sum(system["num_ratings"] for system in systems.values()) == 5

    outside = [
        event["params"]["request"]["url"]
        for event in browser.events
        if event["method"] == "Network.requestWillBeSent"
    ]
    assert {url.split(":")[0] for url in outside} <= {"file", "blob", "about"}
    complaints = [
        event for event in browser.events if event["method"] in ("Log.entryAdded", "Runtime.exceptionThrown")
    ]
    assert not complaints, complaints


def test_without_local_storage_a_saved_csv_goes_on(
    browser_with: Callable[..., Browser], study: Path, tmp_path: Path
) -> None:
    browser, page = browser_with(), study / "sheets" / "rater1.html"
    refuse = "Object.defineProperty(window, 'localStorage', {get() { throw new Error('refused'); }});"
    browser.call("Page.addScriptToEvaluateOnNewDocument", source=refuse)
    browser.open(page)
    notice = "document.getElementById('notice').hidden ? '' : document.getElementById('notice').textContent"
    assert "does not keep your ratings" in browser.run(notice)
    browser.click("#start")
    browser.press("5", "4")
    browser.click("#bar .save")
    saved = tmp_path / "saved.csv"
    saved.write_bytes(browser.download())

    browser.open(page)
    assert browser.run(COUNT) == "0 of 6 rated"
    node = browser.call("DOM.getDocument")["root"]["nodeId"]
    load = browser.call("DOM.querySelector", nodeId=node, selector="#load")["nodeId"]
    browser.call("DOM.setFileInputFiles", nodeId=load, files=[str(saved)])
    browser.until(f"{COUNT} === '2 of 6 rated'")
    assert browser.run(SHOWN) == "Sentence 3"


def _rows(path: Path) -> list[dict[str, str]]:
    import csv

    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))
