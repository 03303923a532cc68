"""Scoring a log in one process, in several and on Ray: rows a second, memory, whether scores are the same.

    python benchmarks/monitoring.py --rows 10000
    python benchmarks/monitoring.py --rows 100000 --ways 1 2 ray --folder /tmp/scale --report scale.json

The log is that of `stef sample-log`. Each way is the command a user runs; its memory is that of all its
processes, pages they share counted once (PSS), taken every half second. Ray gives its workers a niceness of
15: on a busy machine set RAY_worker_niceness=0, or they hardly run. Run with OMP_NUM_THREADS=1.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path

from spider_compose.stef.monitoring.scored import SCHEMA, read_scores

EVERY = 0.5


@dataclass(frozen=True)
class Run:
    """What one way took.

    Attributes:
        way: "1", "2" or another number of processes, or "ray".
        rows: scored.
        seconds: of the whole command, its start included.
        cpu_seconds: of all its processes.
        peak_mb: most memory at a time.
        quarters_mb: most memory in each quarter of the time.
    """

    way: str
    rows: int
    seconds: float
    cpu_seconds: float
    peak_mb: float
    quarters_mb: tuple[float, ...]

    def line(self, first: Run) -> str:
        """A row of the table."""
        speed = self.rows / self.seconds
        times = speed / (first.rows / first.seconds)
        quarters = " ".join(f"{mb:,.0f}" for mb in self.quarters_mb)
        return (
            f"| {self.way} | {self.seconds:,.1f} | {speed:,.0f} | {times:.2f} | {self.cpu_seconds:,.0f} "
            f"| {self.peak_mb:,.0f} | {quarters} |"
        )


def tree(root: int) -> list[int]:
    """A process and all below it."""
    below: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(stat.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        below.setdefault(parent, []).append(int(stat.parent.name))
    found = [root]
    for process in found:
        found += below.get(process, [])
    return found


def memory(processes: Sequence[int]) -> float:
    """Their memory in MB, what they share counted once."""
    total = 0
    for process in processes:
        try:
            lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
        except OSError:
            continue
        total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total / 1024


def cpu_seconds(processes: Sequence[int], seen: dict[int, float]) -> None:
    """Bring the CPU seconds of each process up to date; those that have ended keep their last."""
    for process in processes:
        try:
            fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        seen[process] = (int(fields[11]) + int(fields[12])) / 100


def run(way: str, log: Path, out: Path, rows: int) -> Run:
    """Score the log one way."""
    shutil.rmtree(out, ignore_errors=True)
    extra = ["--ray"] if way == "ray" else ["--workers", way]
    command = [sys.executable, "-m", "spider_compose.stef", "score", str(log), "--out", str(out), *extra]
    took: list[float] = []
    cpu: dict[int, float] = {}
    start = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    while process.poll() is None:
        processes = tree(process.pid)
        took.append(memory(processes))
        cpu_seconds(processes, cpu)
        time.sleep(EVERY)
    seconds = time.monotonic() - start
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
    cuts = [len(took) * place // 4 for place in range(5)]
    quarters = tuple(max(took[a:b], default=0.0) for a, b in pairwise(cuts))
    return Run(way, rows, seconds, sum(cpu.values()), max(took), quarters)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--rows", type=int, default=10_000)
    options.add_argument("--ways", nargs="+", default=["1", "2"], help="numbers of processes, or ray")
    options.add_argument("--folder", type=Path, help="keep log and scores there")
    options.add_argument("--report", type=Path, help="write the figures there as JSON")
    given = options.parse_args()
    folder = given.folder or Path(tempfile.mkdtemp(prefix="stef-scale-"))
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / "log.jsonl"
    sample = [sys.executable, "-m", "spider_compose.stef", "sample-log", str(log), "--rows", str(given.rows)]
    subprocess.run(sample, check=True, stdout=subprocess.DEVNULL)
    runs = []
    print("| processes | seconds | rows/s | times | CPU s | peak MB | MB by quarter of the time |")
    print("|---|---|---|---|---|---|---|", flush=True)
    for way in given.ways:
        runs.append(run(way, log, folder / f"scores-{way}", given.rows))
        print(runs[-1].line(runs[0]), flush=True)
    tables = [read_scores(folder / f"scores-{way}").cast(SCHEMA).combine_chunks() for way in given.ways]
    same = all(table.num_rows == given.rows and table.equals(tables[0]) for table in tables)
    print(f"{given.rows:,} rows; the scores are {'the same' if same else 'NOT the same'} in every column")
    if given.report:
        document = {"same": same, "runs": [asdict(each) for each in runs]}
        given.report.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    if not given.folder:
        shutil.rmtree(folder)
    if not same:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
