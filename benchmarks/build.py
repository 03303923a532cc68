"""Time the build from a source to the Hub folder, stage by stage.

    python benchmarks/build.py [SOURCE]         default: the bundled corpus

Prints CPU seconds, the share of the whole, source pairs per second and the peak of memory. The stages are
those of `spider_compose.composition.build`, one after the other over all rows; aligning is both aligners, as
in every build. For the whole process, time `spider-compose build --source SOURCE --out DIR`.
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from spider_compose.alignment.words import read_words
from spider_compose.composition.build import analyse, build
from spider_compose.dataset.configs import CONFIGS, DEFAULT_CONFIG
from spider_compose.dataset.hub_folder import write_hub_folder
from spider_compose.dataset.tables import Tables
from spider_compose.language import load_model
from spider_compose.source import read_source
from spider_compose.sql.clauses import split_clauses

Result = TypeVar("Result")


def main() -> None:
    source_name = sys.argv[1] if len(sys.argv) > 1 else "bundled"
    seconds: dict[str, float] = {}

    def stage(name: str, work: Callable[[], Result]) -> Result:
        start = time.process_time()
        result = work()
        seconds[name] = time.process_time() - start
        return result

    source = stage("read the source", lambda: read_source(source_name))
    pairs = [pair for part in source.pairs.values() for pair in part]
    queries = list(dict.fromkeys(pair.query for pair in pairs))
    stage("cut into clauses", lambda: [split_clauses(query) for query in queries])
    stage("load the spaCy model", load_model)
    tables = Tables(source)
    spec = CONFIGS[DEFAULT_CONFIG]
    stage("lemmas and tags", lambda: list(read_words(pair.question for pair in pairs)))
    analysis = stage("the same, and align", lambda: analyse(source))
    made = stage("recombine", lambda: build(source, spec.build_options(), analysis=analysis))
    tables = Tables(source)
    for name in ("spider_template", "spider_tmcd"):
        stage(f"config {name}", lambda name=name: tables.table(CONFIGS[name]))  # type: ignore[misc]
    with tempfile.TemporaryDirectory() as folder:
        stage("write the Hub folder", lambda: write_hub_folder(made, Path(folder) / "out"))

    total = sum(seconds.values())
    count = sum(counts.pairs for counts in made.counts.values())
    print(f"{source.name}: {len(pairs):,} source pairs of {len(queries):,} queries, {count:,} pairs made")
    for name, spent in seconds.items():
        print(f"  {name:24}{spent:8.2f} s {spent / total:6.0%} {len(pairs) / spent:12,.0f} rows/s")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"  {'together':24}{total:8.2f} s        peak memory {peak:,.0f} MB")


if __name__ == "__main__":
    main()
