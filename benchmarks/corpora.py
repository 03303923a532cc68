"""The corpora that the paper names, built with the defaults: the tables of docs/corpora.md.

    python benchmarks/corpora.py build [NAME ...]        # rows, parts, faults, seconds, memory of each
    python benchmarks/corpora.py build wikisql --rows 10000  # of the first rows alone
    python benchmarks/corpora.py splits geography atis   # divergence of the splits of all questions
    python benchmarks/corpora.py build scholar --show 20 # and pairs to read by eye, on standard error

Data: `corpora/` in the folder named by SPIDER_COMPOSE_SHARED (default: `shared` beside the repository), the
files of text2sql-data (Finegan-Dollak et al. 2018). Every corpus is built in a process of its own, on one
core, so that its memory is its own; seconds are those of the processor.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from spider_compose.alignment.quality import quality_report
from spider_compose.composition.build import Build, build
from spider_compose.dataset.configs import CONFIGS
from spider_compose.dataset.tables import SplitOptions, Tables
from spider_compose.language import load_model
from spider_compose.source import Source, read_source
from spider_compose.splits import divergence_report

SHARED = Path(os.environ.get("SPIDER_COMPOSE_SHARED", Path(__file__).resolve().parents[2] / "shared"))
NAMES = ("geography", "atis", "scholar", "advising", "academic", "imdb", "yelp", "restaurants", "wikisql")
SEED = 3  # of the pairs that are shown
SPLITS = (
    ("random", "spider_random", "published"),
    ("template", "spider_template", "published"),
    ("TMCD `published`", "spider_tmcd", "published"),
    ("TMCD `max`", "spider_tmcd", "max"),
    ("length", "spider_length", "published"),
)
HEADER = (
    "corpus", "questions", "left out", "held out", "train: 1 / 2 clauses", "validation: 3 / 4", "test: 3 / 4",
    "full sets = question", "ends in a function word", "of these, as the question does",
    "all words, fewer clauses", "seconds: read / build", "build: ms per row", "MB",
)  # fmt: skip


def corpus(name: str, rows: int | None = None) -> Source:
    """One corpus; with `rows`, the first of each part, in their proportion."""
    path = SHARED / "corpora" / f"{name}.json"
    source = read_source(path if path.is_file() else path.with_suffix(".json.bz2"))
    if rows is None:
        return source
    share = rows / sum(map(len, source.pairs.values()))
    pairs = {part: found[: round(share * len(found))] for part, found in source.pairs.items()}
    counts = {part: len(found) for part, found in pairs.items()}
    return replace(source, pairs=pairs, row_counts=counts, left_out=())


def report(name: str, rows: int | None, shown: int) -> None:
    """Build one corpus and print its line of the table."""
    load_model()
    start = time.process_time()
    source = corpus(name, rows)
    read = time.process_time()
    made = build(source)
    seconds = time.process_time() - read
    quality = quality_report(made)
    left_out = Counter(row.reason for row in made.left_out)
    count = sum(source.row_counts.values())
    cells = [
        name,
        f"{count:,}",
        ", ".join(f"{number:,} {reason}" for reason, number in left_out.items()) or "0",
        f"{source.row_counts['validation']:,}",
        *(
            clauses(made, split, sizes)
            for split, sizes in zip(made.counts, ((1, 2), (3, 4), (3, 4)), strict=True)
        ),
        f"{quality.full_set_equals_question:.2%}",
        f"{quality.ends_in_function_word:.2%}",
        f"{quality.of_which_as_the_question_does:.2%}",
        f"{quality.subset_equals_question:.1%}",
        f"{read - start:.1f} / {seconds:.1f}",
        f"{1000 * seconds / count:.2f}",
        f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f}",
    ]
    print(line(cells), flush=True)
    show(made, shown)


def clauses(made: Build, split: str, sizes: tuple[int, int]) -> str:
    return " / ".join(f"{made.counts[split].by_clauses.get(size, 0):,}" for size in sizes)


def line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def build_all(names: Sequence[str], options: Sequence[str]) -> None:
    print(line(HEADER) + "\n" + line(["---"] * len(HEADER)), flush=True)
    for name in names:
        subprocess.run([sys.executable, __file__, "build", name, "--alone", *options], check=True)


def splits(name: str) -> None:
    """Divergence of every split of all questions of a corpus from its training part."""
    source = corpus(name)
    for told, config, method in SPLITS:
        options = SplitOptions(method=method, split_source="all")
        rows = Tables(source, splits=options).table(CONFIGS[config]).rows
        sizes = " / ".join(f"{len(part):,}" for part in rows.values())
        found = [divergence_report(rows["train"], rows[part]) for part in ("validation", "test")]
        shown = [
            f"{one.compound_divergence:.3f} | {one.unseen_atom_rows:,} of {one.test_rows:,} | "
            f"{one.shared_templates:,} of {one.test_templates:,}"
            for one in found
        ]
        print(line([f"{name}, {told}", sizes, *shown]), flush=True)


def show(made: Build, count: int) -> None:
    """Print pairs of two clauses and more with the fragment of each clause."""
    rows = [row for part in made.alignments.values() for row in part if len(row["clause_types"]) > 1]
    for number, row in enumerate(random.Random(SEED).sample(rows, min(count, len(rows))), start=1):
        print(f"{number}. {row['question']}\n   {row['query']}", file=sys.stderr)
        for kind, text in zip(row["clause_types"], row["fragments"], strict=True):
            print(f"   {kind.ljust(9)} {text}", file=sys.stderr)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("task", nargs="?", choices=("build", "splits"), default="build")
    parser.add_argument("names", nargs="*", metavar="NAME", default=NAMES, help=f"of {', '.join(NAMES)}")
    parser.add_argument("--rows", type=int, help="build: as many rows alone")
    parser.add_argument("--show", type=int, default=0, metavar="N", help="build: print N pairs, too")
    parser.add_argument("--alone", action="store_true", help=argparse.SUPPRESS)  # build: in this process
    given = parser.parse_intermixed_args()
    if not (SHARED / "corpora").is_dir():
        print(f"skipped: no {SHARED / 'corpora'}; SPIDER_COMPOSE_SHARED names the folder that holds it")
        return None
    if given.task == "build" and not given.alone:
        rows = ["--rows", str(given.rows)] if given.rows else []
        return build_all(given.names, [*rows, "--show", str(given.show)])
    for name in given.names:
        if given.task == "build":
            report(name, given.rows, given.show)
        else:
            splits(name)
    return None


if __name__ == "__main__":
    main()
