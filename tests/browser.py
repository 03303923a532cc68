"""A headless Chromium for tests of pages.

It speaks the DevTools protocol over two pipes (`--remote-debugging-pipe`), so that nothing else has to be
installed.
"""

from __future__ import annotations

import itertools
import json
import os
import select
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
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
