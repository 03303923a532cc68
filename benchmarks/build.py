"""Time the build from a source to the Hub folder, stage by stage.

    python benchmarks/build.py [SOURCE]         default: the bundled corpus

Prints seconds, the share of the whole, rows per second and the peak of memory. The stages are those of
`spider_compose.composition.build`, run one after the other over all rows; for the whole process, imports
included, time `spider-compose build --source SOURCE --out DIR`.
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from spider_compose.alignment import ALIGNERS, align
from spider_compose.alignment.words import load_model, read_words
from spider_compose.composition.build import alignment_row, build, compose_row
from spider_compose.dataset.hub_folder import write_hub_folder
from spider_compose.source import read_source
from spider_compose.sql.clauses import split_clauses

Result = TypeVar("Result")


def main() -> None:
    source_name = sys.argv[1] if len(sys.argv) > 1 else "bundled"
    seconds: dict[str, float] = {}

    def stage(name: str, work: Callable[[], Result]) -> Result:
        start = time.perf_counter()
        result = work()
        seconds[name] = time.perf_counter() - start
        return result

    source = stage("read the source", lambda: read_source(source_name))
    pairs = [pair for part in source.pairs.values() for pair in part]
    distinct = list(dict.fromkeys(pair.query for pair in pairs))
    pieces = stage("cut into clauses", lambda: {query: split_clauses(query) for query in distinct})
    stage("load the spaCy model", load_model)
    words = stage("lemmas and tags", lambda: list(read_words(pair.question for pair in pairs)))
    for aligner in ALIGNERS:
        found = stage(
            f"align: {aligner}",
            lambda aligner=aligner: [  # type: ignore[misc]
                align(own, pieces[pair.query], source.schema(pair.db_id), aligner)
                for pair, own in zip(pairs, words, strict=True)
            ],
        )
    rows = [
        alignment_row(pair, pieces[pair.query], own, alignment)
        for pair, own, alignment in zip(pairs, words, found, strict=True)
    ]
    made = stage("recombine", lambda: [pair for row in rows for pair in compose_row(row)])
    whole = build(source)
    with tempfile.TemporaryDirectory() as folder:
        stage("write the Hub folder", lambda: write_hub_folder(whole, Path(folder) / "out"))

    total = sum(seconds.values())
    print(
        f"{source.name}: {len(pairs):,} source pairs, {len(distinct):,} distinct queries, {len(made):,} pairs"
    )
    for name, spent in seconds.items():
        print(f"  {name:24}{spent:8.2f} s {spent / total:6.0%} {len(pairs) / spent:12,.0f} rows/s")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"  {'together':24}{total:8.2f} s        peak memory {peak:,.0f} MB")


if __name__ == "__main__":
    main()
