"""`stef report` over very many scored rows: time and peak memory of a process of its own.

    stef sample-log log.jsonl && stef score log.jsonl --out scored
    python benchmarks/many_scores.py scored many --rows 1000000

The rows are those of a scored folder, again and again under other keys and at other times of their day.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from spider_compose.stef.monitoring.scored import SCHEMA, parts

LIMIT_SECONDS, LIMIT_MB = 60, 2000
DAY = 86_400_000_000  # microseconds


def write_many(source: Path, target: Path, rows: int) -> int:
    """A folder of so many rows, a part per day; how many there are."""
    days = {path.parent.name: pq.read_table(path, partitioning=None) for path in parts(source)}
    total, written = sum(table.num_rows for table in days.values()), 0
    rng = np.random.default_rng(1)
    for place, (name, table) in enumerate(days.items()):
        count = rows - written if place == len(days) - 1 else round(rows * table.num_rows / total)
        many = table.take(pa.array(np.arange(count) % table.num_rows))
        keys = [
            hashlib.md5(f"{name} {number}".encode(), usedforsecurity=False).hexdigest()
            for number in range(count)
        ]
        many = many.set_column(0, SCHEMA.field("key"), pa.array(keys))
        if name != "day=unknown":
            first = int(np.datetime64(name.removeprefix("day="), "us").astype(int))
            times = pa.array(first + rng.integers(0, DAY, count)).cast(SCHEMA.field("time").type)
            many = many.set_column(1, SCHEMA.field("time"), times)
        folder = target / "scores" / name
        folder.mkdir(parents=True)
        pq.write_table(many.cast(SCHEMA), folder / "part-0.parquet")
        written += count
    (target / "stef.json").write_text((source / "stef.json").read_text("utf-8"), encoding="utf-8")
    return written


def measure(command: list[str]) -> tuple[float, float, float]:
    """Seconds of the clock and of CPU, and the peak in MB."""
    start = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    assert status == 0, command
    return time.monotonic() - start, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("source", type=Path, help="a scored folder")
    parser.add_argument("target", type=Path, help="where the many rows go, unless they are there")
    parser.add_argument("--rows", type=int, default=1_000_000)
    options = parser.parse_args()
    if not options.target.exists():
        # In a process of its own: what a child's parent holds when it starts counts as the child's peak.
        with ProcessPoolExecutor(1) as pool:
            rows = pool.submit(write_many, options.source, options.target, options.rows).result()
        print(f"{rows:,} rows written to {options.target}")
    with tempfile.TemporaryDirectory() as out:
        page, document = Path(out, "report.html"), Path(out, "report.json")
        command = [sys.executable, "-m", "spider_compose.stef", "report", str(options.target)]
        clock, cpu, peak = measure([*command, "--html", str(page), "--json", str(document)])
        found = json.loads(document.read_text("utf-8"))["total"]["rows"]
        print(
            f"report over {found:,} rows: {clock:.1f} s (limit {LIMIT_SECONDS}), {cpu:.1f} CPU s, "
            f"{peak:,.0f} MB (limit {LIMIT_MB:,}); page {page.stat().st_size / 1e6:.2f} MB; "
            f"load {os.getloadavg()[0]:.1f}"
        )


if __name__ == "__main__":
    main()
