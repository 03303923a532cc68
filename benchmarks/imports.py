"""Times of what a person waits for before anything happens: the best of several fresh processes.

    python benchmarks/imports.py [--runs N]

The start of the bare interpreter, printed first, is part of every other time.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time

CASES = [
    # what, arguments of python, seconds it may take
    ("python (bare)", ["-c", "pass"], None),
    ("import spider_compose", ["-c", "import spider_compose"], 0.1),
    ("import spider_compose.sql.clauses", ["-c", "import spider_compose.sql.clauses"], 0.5),
    ("spider-compose --help", ["-c", "from spider_compose.cli import main; main(['--help'])"], 0.4),
]


def best_seconds(arguments: list[str], runs: int) -> float:
    """The fastest of `runs` fresh processes, in seconds."""
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=7, help="fresh processes per case (default: %(default)s)")
    runs = parser.parse_args().runs
    late = 0
    for what, arguments, limit in CASES:
        seconds = best_seconds(arguments, runs)
        verdict = "" if limit is None else f"of {limit:.1f}"
        if limit is not None and seconds > limit:
            verdict += "  TOO LONG"
            late += 1
        print(f"{what:36} {seconds:6.3f} s  {verdict}")
    return 1 if late else 0


if __name__ == "__main__":
    sys.exit(main())
