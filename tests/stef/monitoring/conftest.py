from __future__ import annotations

import json
import random
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyarrow", reason="needs the extra `monitor`")
pytest.importorskip("numpy", reason="needs the extra `monitor`")

import pyarrow as pa
import pyarrow.parquet as pq

from spider_compose.stef.alignment import FILTER_POINTS
from spider_compose.stef.judges.protocol import VERDICT_POINTS
from spider_compose.stef.monitoring.scored import FORMAT, SCHEMA
from spider_compose.stef.score import band, penalty, phi

FIRST = datetime(2026, 7, 1, tzinfo=timezone.utc)
RULES = ("literal_missing", "joins", "words_unmet", "select_star")


def _row(number: int, rng: random.Random, days: int, worse_from: int) -> dict[str, Any]:
    """A scored row whose parts agree; agent B makes more of its rows wrong from a day on."""
    time = FIRST + timedelta(days=rng.randrange(days), seconds=rng.randrange(86_400))
    agent = rng.choice("ABC")
    wrong = rng.random() < (0.8 if agent == "B" and (time - FIRST).days >= worse_from else 0.2)
    row: dict[str, Any] = {field.name: None for field in SCHEMA} | {
        "key": f"k{number:05d}",
        "time": time if rng.random() < 0.98 else None,
        "agent": agent,
        "database": rng.choice(("harbour", "orchard")),
        "question": f"How many ships weigh more than {number} tons?",
        "enriched_question": f"How many ships weigh more than {number} tons in all?",
        "sql": f"SELECT COUNT(*) FROM ship WHERE tons > {number}",
        **dict.fromkeys(("message", "judge_reason", "judge_conflict"), ""),
        **{name: [] for name in ("enrichment_lost", "reasons", "tolerances")},
        "signature": "judge:rules|version:test",
        "origin": f"log.jsonl:{number + 1}",
    }
    if rng.random() < 0.05:
        return row | {"unscored": rng.choice(("no_sql", "no_dialect_parses")), "message": "there is no SQL"}
    status = rng.choice(list(FILTER_POINTS)[2:] if wrong else list(FILTER_POINTS)[:2])
    verdict = rng.choice(list(VERDICT_POINTS)[2:] if wrong else list(VERDICT_POINTS)[:2])
    confidence = rng.choice((0.4, 0.7, 0.9))
    score = phi(FILTER_POINTS[status], VERDICT_POINTS[verdict], 0, confidence)
    assert score <= 100 * penalty(confidence)
    lost = 100 - score
    reasons = [
        {"rule": rng.choice(RULES), "message": "the query lacks it", "points": share * lost,
         "question_start": 9, "question_end": 14, "sql_start": 21, "sql_end": 25}
        for share in (0.75, 0.25) if lost
    ]  # fmt: skip
    quality = rng.choice((None, 1.0, 1.0, 0.5))
    return row | {
        "score": score,
        "p_correct": round(rng.random(), 6),
        "band": band(score),
        "filter_status": status,
        "verdict": verdict,
        "confidence": confidence,
        "sql_dialect": "sqlite",
        "enriched_question": None if quality is None else row["enriched_question"],
        "enrichment_quality": quality,
        "enrichment_lost": ["lost: number '7'"] if quality == 0.5 else [],
        "reasons": reasons,
    }


@pytest.fixture(scope="session")
def scored_rows() -> Callable[..., list[dict[str, Any]]]:
    """Scored rows as dicts, in the order of their time."""

    def make(
        count: int = 600, seed: int = 3, days: int = 40, worse_from: int = 30, **fixed: Any
    ) -> list[dict[str, Any]]:
        rng = random.Random(seed)
        rows = [_row(number, rng, days, worse_from) | fixed for number in range(count)]
        return sorted(rows, key=lambda row: (row["time"] is None, row["time"] or FIRST, row["key"]))

    return make


@pytest.fixture(scope="session")
def scored_table(scored_rows: Callable[..., list[dict[str, Any]]]) -> Callable[..., pa.Table]:
    """As `scored_rows`, as a table of `SCHEMA`."""

    def make(**options: Any) -> pa.Table:
        return pa.Table.from_pylist(scored_rows(**options), schema=SCHEMA)

    return make


@pytest.fixture(scope="session")
def write_scores() -> Callable[[Path, list[dict[str, Any]]], Path]:
    """Write rows as a scored folder, a part per day."""

    def write(folder: Path, rows: list[dict[str, Any]]) -> Path:
        by_day: dict[str, list[dict[str, Any]]] = {}
        for row in rows:
            day = "unknown" if row["time"] is None else row["time"].date().isoformat()
            by_day.setdefault(day, []).append(row)
        for day, own in by_day.items():
            place = folder / "scores" / f"day={day}"
            place.mkdir(parents=True)
            pq.write_table(pa.Table.from_pylist(own, schema=SCHEMA), place / "part-0.parquet")
        (folder / "stef.json").write_text(json.dumps({"format": FORMAT}), encoding="utf-8")
        return folder

    return write
