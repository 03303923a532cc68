"""Splits against the published tool: CPU seconds, peak memory, divergence, and growth with the rows.

    python benchmarks/splits.py [--shared FOLDER] [--rows N ...]

Every case runs in a process of its own, on one thread, so that its memory is its own; the bare interpreter
with the rows loaded is subtracted from neither. The folder holds Spider's training rows and the reference
splits; without it only the synthetic corpora are measured. Figures of the published tool are those in the
folder's README, measured once on one core; it is not run here.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parent.parent
SHARED = os.environ.get("SPIDER_COMPOSE_SHARED") or str(REPOSITORY.parent / "shared")
SYNTHETIC = [500, 1000, 2000, 4000, 7000, 20_000, 100_000]
GROWTH = [500, 1000, 2000, 4000, 7000]
THREADS = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}

# split, method, corpus -> CPU seconds and MB of the published tool
PUBLISHED_TOOL = {
    ("tmcd", "published", "ssp"): ("110", "64"),
    ("tmcd", "published", "7000"): ("216", "71"),
    ("template", "published", "ssp"): ("10.8", ""),
    ("template", "published", "7000"): ("15.7", ""),
}


def synthetic_rows(number: int, seed: int = 1) -> list[dict[str, str]]:
    """Queries in the grammar of Spider over invented databases, about 50 rows each as in Spider."""
    chance = random.Random(seed)
    rows = []
    for _ in range(number):
        database = chance.randrange(max(1, number // 50))
        tables = [f"table_{database}_{table}" for table in range(3)]
        columns = [f"column_{database}_{column}" for column in range(8)]
        table, other = chance.sample(tables, 2)
        column = columns[chance.randrange(8)]
        item = chance.choice(
            [column, "count(*)", f"avg({columns[0]})", f"{column} , {columns[1]}", f"max({column})"]
        )
        join = (
            f" as t1 join {other} as t2 on t1.{columns[2]} = t2.{columns[2]}" if chance.random() < 0.4 else ""
        )
        query = f"select {item} from {table}{join}"
        if chance.random() < 0.5:
            operator = chance.choice(["=", ">", "<", "!=", "like"])
            query += f" where {chance.choice(columns)} {operator} '{chance.choice('abcdefgh')}'"
        if chance.random() < 0.3:
            query += f" group by {column}" + (" having count(*) > 2" if chance.random() < 0.3 else "")
        if chance.random() < 0.3:
            query += f" order by {chance.choice(columns)} " + chance.choice(
                ["asc", "desc limit 1", "desc limit 3"]
            )
        if chance.random() < 0.1:
            query += f" {chance.choice(['union', 'except', 'intersect'])} select {column} from {other}"
        rows.append({"db_id": f"db_{database}", "query": query, "question": f"question {len(rows)}"})
    return rows


def corpus(name: str, shared: Path) -> list[dict[str, Any]]:
    """`synthetic-N`, `spider-N` (a sample of the training rows), `7000` or `ssp`."""
    kind, _, number = name.partition("-")
    if kind == "synthetic":
        return synthetic_rows(int(number))
    from pyarrow import parquet

    table = parquet.read_table(shared / "spider" / "train-00000-of-00001.parquet")
    rows: list[dict[str, Any]] = table.select(["db_id", "query", "question"]).to_pylist()
    if kind == "ssp":
        numbers = json.loads((shared / "splits" / "ssp_rows.json").read_text())["ssp_train_rows"]
        return [rows[row] for row in numbers]
    return random.Random(1).sample(rows, int(number)) if number else rows


def measure(split: str, method: str, name: str, shared: Path) -> dict[str, Any]:
    """One case in this process."""
    from spider_compose.splits import divergence_report, template_split, tmcd_split

    rows = corpus(name, shared)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()
    size = round(len(rows) * 0.75)
    parts = template_split(rows, size) if split == "template" else tmcd_split(rows, size, method=method)
    seconds = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    train, rest = ([rows[row] for row in part] for part in (parts.train, parts.rest))
    report = divergence_report(train, rest, clauses=False)
    return {
        "rows": f"{len(train)}/{len(rest)}",
        "seconds": seconds,
        "peak": peak / 1024,
        "more": (peak - before) / 1024,
        "divergence": report.compound_divergence,
        "unseen": report.unseen_atom_rows,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shared", type=Path, default=Path(SHARED), help="default: %(default)s")
    parser.add_argument(
        "--rows", type=int, nargs="*", default=SYNTHETIC, help="sizes of the synthetic corpora"
    )
    parser.add_argument("--case", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.case:
        print(json.dumps(measure(*arguments.case, arguments.shared)))
        return 0
    cases = [("tmcd", "max", f"synthetic-{rows}") for rows in arguments.rows]
    cases += [("tmcd", "published", f"synthetic-{rows}") for rows in arguments.rows]
    if (arguments.shared / "spider").is_dir():
        real = [
            (split, method, name)
            for split, method in [("template", "published"), ("tmcd", "published"), ("tmcd", "max")]
            for name in ("ssp", "7000")
        ]
        cases = real + [("tmcd", "max", f"spider-{rows}") for rows in GROWTH] + cases
    else:
        print(f"no folder {arguments.shared}: synthetic corpora only\n")
    print(
        f"{'split':<10}{'method':<11}{'corpus':<18}{'train/rest':>14}{'CPU s':>9}{'peak MB':>9}{'of it':>8}"
        f"{'D':>9}{'unseen':>8}{'tool s':>9}{'tool MB':>9}"
    )
    for case in cases:
        command = [sys.executable, __file__, "--shared", str(arguments.shared), "--case", *case]
        run = subprocess.run(
            command, check=True, capture_output=True, text=True, env={**os.environ, **THREADS}
        )
        found = json.loads(run.stdout)
        seconds, memory = PUBLISHED_TOOL.get(case, ("", ""))
        print(
            f"{case[0]:<10}{case[1]:<11}{case[2]:<18}{found['rows']:>14}{found['seconds']:>9.2f}"
            f"{found['peak']:>9.0f}{found['more']:>8.0f}{found['divergence']:>9.4f}{found['unseen']:>8}"
            f"{seconds:>9}{memory:>9}",
            flush=True,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
