"""Judges at scale, against a scripted server: every figure of docs/judges.md that is no agreement.

    python benchmarks/judges.py throughput [--rows 10000] [--concurrency 32] [--latency 0.5]
    python benchmarks/judges.py kill       the same run, killed half-way and started again

`throughput` compares the time of a whole `stef score` with the ideal: rows * latency / concurrency. `kill`
shows that no row is lost, that no stored answer is asked for again, and how many requests were in work.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from pathlib import Path

ANSWER = json.dumps({"reason": "scripted", "verdict": "probably_correct", "confidence": 0.9})


def write_rows(path: Path, count: int) -> None:
    """Rows that are all different."""
    with path.open("w", encoding="utf-8") as out:
        for n in range(count):
            question = f"How many singers from 'France' are older than {n}?"
            sql = f"SELECT COUNT(*) FROM singer WHERE country = 'France' AND age > {n}"
            out.write(json.dumps({"question": question, "sql": sql}) + "\n")


async def serve(latency: float) -> None:
    """Answer every request after `latency` seconds; GET tells which rows were asked and answered."""
    asked: Counter[int] = Counter()
    answered: Counter[int] = Counter()
    most = at_once = 0

    async def connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal most, at_once
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                if head.startswith(b"GET"):
                    body = json.dumps({"asked": asked, "answered": answered, "most": most}).encode()
                else:
                    length = int(re.search(rb"(?i)content-length: (\d+)", head)[1])
                    text = json.loads(await reader.readexactly(length))["messages"][1]["content"]
                    row = int(re.search(r"older than (\d+)", text)[1])
                    asked[row] += 1
                    at_once += 1
                    most = max(most, at_once)
                    await asyncio.sleep(latency)
                    at_once -= 1
                    usage = {"prompt_tokens": len(text) // 4, "completion_tokens": 20, "total_tokens": 0}
                    message = {"role": "assistant", "content": ANSWER}
                    choice = {"index": 0, "finish_reason": "stop", "message": message}
                    reply = {"id": "x", "created": 0, "model": "m", "choices": [choice], "usage": usage}
                    body = json.dumps(reply).encode()
                    answered[row] += 1
                writer.write(
                    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
                    % len(body)
                )
                writer.write(body)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(connection, "127.0.0.1", 0, backlog=256)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


class Run:
    """A scripted server in a process of its own, and `stef score` on it."""

    def __init__(self, options: argparse.Namespace, folder: Path) -> None:
        self.options, self.folder = options, folder
        write_rows(folder / "rows.jsonl", options.rows)
        command = [sys.executable, __file__, "serve", "--latency", str(options.latency)]
        self.server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.server.stdout is not None
        self.address = f"http://127.0.0.1:{self.server.stdout.readline().strip()}"

    def start(self) -> subprocess.Popen[bytes]:
        """Score all rows."""
        options = {
            "dialect": "sqlite",
            "judge": "hub",
            "judge-url": f"{self.address}/v1",
            "judge-model": "m",
            "judge-cache": str(self.folder / "answers.sqlite"),
            "concurrency": str(self.options.concurrency),
            "output": str(self.folder / "scores.jsonl"),
            "summary": str(self.folder / "summary.json"),
        }
        command = [sys.executable, "-m", "spider_compose.stef", "score", str(self.folder / "rows.jsonl")]
        command += [part for name, value in options.items() for part in (f"--{name}", value)]
        return subprocess.Popen(command, env={**os.environ, "HF_HUB_OFFLINE": "0"}, stderr=subprocess.DEVNULL)

    def counts(self) -> dict[str, dict[str, int]]:
        """What the server has been asked."""
        with urllib.request.urlopen(self.address) as reply:
            return json.load(reply)

    def check(self) -> None:
        """Every row is there, in order, with its verdict."""
        lines = (self.folder / "scores.jsonl").read_text("utf-8").splitlines()
        results = [json.loads(line) for line in lines]
        assert [r["row"] for r in results] == list(range(self.options.rows)), "rows are lost or out of order"
        assert all(r["judge_reason"] == "scripted" for r in results), "rows are without a verdict"

    def close(self) -> None:
        """End the server."""
        self.server.kill()


def throughput(options: argparse.Namespace, folder: Path) -> None:
    run = Run(options, folder)
    try:
        start = time.monotonic()
        assert run.start().wait() == 0
        seconds, ideal = time.monotonic() - start, options.rows * options.latency / options.concurrency
        run.check()
        counts = run.counts()
        print(
            f"{options.rows:,} rows, {options.concurrency} at a time, {options.latency} s each: "
            f"{seconds:.1f} s, ideal {ideal:.1f} s, {seconds / ideal:.2f} times that; "
            f"at most {counts['most']} at once, asked twice: {sum(n > 1 for n in counts['asked'].values())}"
        )
    finally:
        run.close()


def kill(options: argparse.Namespace, folder: Path) -> None:
    import sqlite3

    run = Run(options, folder)
    try:
        process = run.start()
        while sum(run.counts()["answered"].values()) < options.rows // 2:
            assert process.poll() is None, "the run ended too early"
            time.sleep(0.2)
        process.send_signal(signal.SIGKILL)
        process.wait()
        time.sleep(2 * options.latency)  # what was in work comes to its end
        before = run.counts()["asked"]
        stored = (
            sqlite3.connect(folder / "answers.sqlite").execute("SELECT COUNT(*) FROM answers").fetchone()[0]
        )
        assert not (folder / "scores.jsonl").exists()
        assert run.start().wait() == 0
        run.check()
        after = run.counts()["asked"]
        again = sum(count > 1 for count in after.values())
        print(
            f"{options.rows:,} rows, killed after {len(before):,} requests with {stored:,} answers stored: "
            f"no row lost, {again} asked twice, all in work at the kill (at most {options.concurrency})"
        )
        assert again == len(before) - stored <= options.concurrency
    finally:
        run.close()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", nargs="?", choices=["throughput", "kill", "serve", "all"], default="all")
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--concurrency", type=int, default=32)
    parser.add_argument("--latency", type=float, default=0.5)
    options = parser.parse_args()
    if options.what == "serve":
        asyncio.run(serve(options.latency))
        return
    for part in (throughput, kill):
        if options.what in (part.__name__, "all"):
            with tempfile.TemporaryDirectory() as folder:
                part(options, Path(folder))


if __name__ == "__main__":
    main()
