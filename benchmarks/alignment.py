"""Aligners against human annotations: score, cross-validate and ablate; and the quality of all pairs.

    python benchmarks/alignment.py score                 # both aligners on the annotated questions
    python benchmarks/alignment.py cross-validate        # tune on half of the databases, score the other half
    python benchmarks/alignment.py ablate                # what each kind of evidence is worth
    python benchmarks/alignment.py reliability           # does alignment_confidence order and predict?
    python benchmarks/alignment.py quality               # faults that need no annotation, on all pairs

Data: the folder named by SPIDER_COMPOSE_SHARED (default: `shared` beside the repository) with `spider/`
(Parquet and tables.json) and `gold/` (clause_alignment.jsonl and its scorer score_alignment.py; Spider-SS,
Gan et al. 2022).
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from pathlib import Path
from statistics import mean
from types import ModuleType
from typing import Any

from spider_compose.alignment import ALIGNERS, Alignment, Word
from spider_compose.alignment.confidence import between, sign
from spider_compose.alignment.evidence import ClauseWords, EvidenceWeights, clause_words
from spider_compose.alignment.lattice import SegmentationCosts
from spider_compose.alignment.segmentation import segment
from spider_compose.alignment.words import read_words
from spider_compose.source import read_source
from spider_compose.sql.clauses import split_clauses

SHARED = Path(os.environ.get("SPIDER_COMPOSE_SHARED", Path(__file__).resolve().parents[2] / "shared"))
FIGURES = ("FINAL", "SELECT", "OTHER", "exact", "start1", "F3+", "empty", "whole")


@dataclass(frozen=True)
class Row:
    """One annotated question, ready to be aligned."""

    gold: Mapping[str, Any]
    words: tuple[Word, ...]
    types: tuple[str, ...]
    candidates: tuple[ClauseWords, ...]


@lru_cache(maxsize=1)
def scorer() -> ModuleType:
    spec = importlib.util.spec_from_file_location("score_alignment", SHARED / "gold" / "score_alignment.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@lru_cache(maxsize=1)
def annotated() -> tuple[Row, ...]:
    source = read_source(SHARED / "spider")
    pairs = {pair.row: pair for pair in source.pairs["validation"]}
    lines = (SHARED / "gold" / "clause_alignment.jsonl").read_text(encoding="utf-8").splitlines()
    gold = [json.loads(line) for line in lines]
    # All questions of the split, in order: spaCy's batches are then those of a build.
    words = dict(zip(pairs, read_words(pair.question for pair in pairs.values()), strict=True))
    rows = []
    for line in gold:
        pair = pairs[line["source_id"]]
        clauses = split_clauses(pair.query)
        candidates = clause_words(clauses, source.schema(pair.db_id))
        rows.append(Row(line, words[pair.row], tuple(clause.type for clause in clauses), candidates))
    return tuple(rows)


Aligner = Callable[[Sequence[Word], Sequence[ClauseWords]], Alignment]


def score(aligner: Aligner, rows: Iterable[Row]) -> dict[str, float]:
    """The scorer's figures, in %."""
    rows = list(rows)
    predictions = {row.gold["source_id"]: prediction(row, aligner(row.words, row.candidates)) for row in rows}
    return scorer().score([row.gold for row in rows], predictions)


def first_cut(words: Sequence[Word], candidates: Sequence[ClauseWords]) -> Alignment:
    """What any aligner must beat: SELECT up to the first wh-word or preposition but "of", the rest behind."""
    opening = {"IN", "TO", "WDT", "WP", "WP$", "WRB"}
    places = range(2, len(words))  # "What", "In what" open the question itself
    cut = next(
        (i for i in places if words[i].tag in opening and words[i].text.lower() != "of"), len(words) - 1
    )
    front, back, whole = tuple(range(cut)), tuple(range(cut, len(words))), tuple(range(len(words)))
    ids = [front, *[back] * (len(candidates) - 1)] if len(candidates) > 1 else [whole]
    return Alignment((), tuple(ids))


def prediction(row: Row, found: Alignment) -> dict[str, Any]:
    return {
        "source_id": row.gold["source_id"],
        "tokens": [word.text for word in row.words],
        "clauses": [
            {"type": kind, "token_ids": list(ids)}
            for kind, ids in zip(row.types, found.clause_token_ids, strict=True)
        ],
    }


def segmenter(costs: SegmentationCosts) -> Aligner:
    return lambda words, candidates: segment(words, candidates, costs)


def show(name: str, figures: Mapping[str, float]) -> None:
    print(name.ljust(34) + "".join(f"{figure} {figures[figure]:5.1f}  " for figure in FIGURES), flush=True)


# --- Tuning -------------------------------------------------------------------------------------------------

STEPS = (-1.0, -0.5, 0.5, 1.0)


def tuned(rows: Sequence[Row], costs: SegmentationCosts, rounds: int = 2) -> SegmentationCosts:
    """Coordinate search: one number after the other, in steps of a half, as long as FINAL rises."""
    best = score(segmenter(costs), rows)["FINAL"]
    for _ in range(rounds):
        before = best
        for name in sorted(field.name for field in fields(SegmentationCosts) if field.name != "evidence"):
            for changed in (replace(costs, **{name: getattr(costs, name) + step}) for step in STEPS):
                found = score(segmenter(changed), rows)["FINAL"]
                if found > best + 0.02 and getattr(changed, name) >= 0:
                    best, costs = found, changed
        if best == before:
            break
    return costs


def halves(rows: Sequence[Row]) -> tuple[list[Row], list[Row]]:
    """The databases in alphabetical order, every other one in each half."""
    databases = sorted({row.gold["db_id"] for row in rows})
    first = set(databases[::2])
    return [row for row in rows if row.gold["db_id"] in first], [
        row for row in rows if row.gold["db_id"] not in first
    ]


def cross_validate(start: SegmentationCosts) -> None:
    first, second = halves(annotated())
    for name, tune, test in (("A", first, second), ("B", second, first)):
        costs = tuned(tune, start)
        moved = {
            f.name: getattr(costs, f.name)
            for f in fields(costs)
            if getattr(costs, f.name) != getattr(start, f.name)
        }
        print(f"tuned on half {name}: {moved}")
        show("  on the tuned half", score(segmenter(costs), tune))
        show("  on the other half", score(segmenter(costs), test))
        show("  as released, on the other half", score(segmenter(SegmentationCosts()), test))


# --- Ablation ----------------------------------------------------------------------------------------------

FLAT = SegmentationCosts(
    relative=2.0, past_relative=0.0, participle=2.0, preposition=2.0, verb=2.0, conjunction=2.0,
    coordination=2.0, elsewhere=2.0,
)  # fmt: skip


def ablations() -> dict[str, SegmentationCosts]:
    whole = SegmentationCosts()

    def without(**weights: float) -> SegmentationCosts:
        return replace(whole, evidence=replace(whole.evidence, **weights))

    never = 1000.0
    return {
        "all": whole,
        "flat switch costs": FLAT,
        "no general words": without(general=0.0),
        "no values": without(value=0.0),
        "no columns": without(column=0.0),
        "no tables": without(table=0.0, joined=0.0, qualifier=0.0),
        "no functions": without(function=0.0),
        "no near matches": without(near=0.0),
        "no markers": replace(whole, marker=0.0),
        "no asking words": replace(whole, asking=0.0),
        "no evidence at all": replace(
            whole, evidence=EvidenceWeights(**{f.name: 0.0 for f in fields(EvidenceWeights)}), marker=0.0
        ),
        "no sharing": replace(
            whole, together=never, group_with_select=never, other_with_select=never, other_together=never,
            modifier=never,
        ),
    }  # fmt: skip


# --- Reliability -------------------------------------------------------------------------------------------


def row_f1(row: Row, found: Alignment) -> float | None:
    """Mean clause F1 of one question as in FINAL, or None where the scorer leaves it out."""
    module, gold = scorer(), row.gold
    got = module.clause_types_per_gold_token(prediction(row, found), gold["tokens"])
    core, allowed, shareable = gold["core"], gold["allowed"], set(gold["shareable"])
    spoken = [j for j, t in enumerate(gold["tokens"]) if not module.PUNCT.match(t) and "?" not in core[j]]
    if len(row.types) < 2 or gold["segments"] < 2 or len({frozenset(core[j]) for j in spoken}) < 2:
        return None
    scores = []
    for kind in row.types:
        right = sum(kind in got[j] and kind in core[j] for j in spoken)
        missed = sum(kind in core[j] and kind not in got[j] for j in spoken)
        wrong = sum(
            kind in got[j] and kind not in core[j] and kind not in allowed[j]
            and not (kind != "SELECT" and j in shareable and "SELECT" in got[j])
            for j in spoken
        )  # fmt: skip
        if right + missed:
            scores.append(module.f1(right, wrong, missed))
    return mean(scores)


Point = tuple[float, float]  # sign or confidence, F1


def signs(name: str, rows: Iterable[Row]) -> list[Point]:
    """The uncalibrated confidence and the F1 of each question that the scorer counts."""
    points = []
    for row in rows:
        found = {one: aligner(row.words, row.candidates) for one, aligner in ALIGNERS.items()}
        (other,) = (one for key, one in found.items() if key != name)
        truth = row_f1(row, found[name])
        if truth is not None:
            points.append((sign(found[name], other, found["segment"].confidence or 0.0), truth))
    return points


def isotonic(points: Iterable[Point]) -> list[list[float]]:
    """Pool adjacent violators: blocks of [lowest sign, highest sign, mean F1, questions], rising."""
    blocks: list[list[float]] = []
    for x, y in sorted(points):
        blocks.append([x, x, y, 1])
        while len(blocks) > 1 and blocks[-2][2] >= blocks[-1][2]:
            _, high, mean_, count = blocks.pop()
            last = blocks[-1]
            last[2] = (last[2] * last[3] + mean_ * count) / (last[3] + count)
            last[1], last[3] = high, last[3] + count
    return blocks


def calibration(points: Iterable[Point]) -> tuple[Point, ...]:
    """Few points of a rising map: the middles of isotonic blocks of at least 12 questions, and two ends."""
    middles = [((low + high) / 2, height) for low, high, height, count in isotonic(points) if count >= 12]
    return ((-0.2, 0.4), *((round(x, 2), round(y, 2)) for x, y in middles), (1.0, 1.0))


def reliability() -> None:
    """Mean confidence, calibrated on the other half of the databases, and mean F1, by tenths."""
    for name in ALIGNERS:
        first, second = (signs(name, half) for half in halves(annotated()))
        crossed = [
            (between(calibration(fit), x), y)
            for fit, test in ((first, second), (second, first))
            for x, y in test
        ]
        crossed.sort(key=lambda point: point[0])
        print(f"{name}: calibration on all {calibration(first + second)}")
        print("  cross-validated: tenth, mean confidence, mean F1")
        for tenth in range(10):
            part = crossed[tenth * len(crossed) // 10 : (tenth + 1) * len(crossed) // 10]
            print(f"  {tenth + 1:2}  {mean(x for x, _ in part):.3f}  {mean(y for _, y in part):.3f}")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("mode", choices=("score", "cross-validate", "ablate", "reliability", "quality"))
    parser.add_argument(
        "--flat-start", action="store_true", help="cross-validate: tune from flat switch costs"
    )
    args = parser.parse_args(arguments)
    if args.mode == "score":
        for name, aligner in {"first cut": first_cut, **ALIGNERS}.items():
            show(name, score(aligner, annotated()))
    elif args.mode == "cross-validate":
        cross_validate(FLAT if args.flat_start else SegmentationCosts())
    elif args.mode == "ablate":
        for name, costs in ablations().items():
            show(name, score(segmenter(costs), annotated()))
    elif args.mode == "reliability":
        reliability()
    else:
        quality()


def quality() -> None:
    from spider_compose.alignment.quality import quality_report, quality_table
    from spider_compose.composition.build import BuildOptions, build

    source = read_source(SHARED / "spider")
    builds = {name: build(source, BuildOptions(aligner=name, deduplicate="none")) for name in ALIGNERS}
    print(quality_table({name: quality_report(built) for name, built in builds.items()}))


if __name__ == "__main__":
    sys.exit(main())
