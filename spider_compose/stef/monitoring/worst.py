"""Which queries a person should look at: the worst of each agent, by database and week, and unscored ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from spider_compose.stef.monitoring.aggregate import Codes, group_rows
from spider_compose.stef.monitoring.scored import IDENTITY
from spider_compose.stef.score import BANDS

# Excellent queries are nobody's worst.
_FINE = BANDS[0][1]
# How many of an agent, of each of its databases, of each of its weeks; whatever is filtered, some are there.
_OF_AGENT, _OF_DATABASE, _OF_WEEK = 80, 8, 12
_OF_REASON = 4
_ALIKE = 3
_UNKNOWN = 2.0  # in the place of a missing `p_correct`: after all others

# What a chosen query says. Longer texts are cut: a page is for reading.
COLUMNS = (
    "key", "time", "agent", "database", "question", "enriched_question", "sql", "score", "p_correct", "band",
    "filter_status", "verdict", "confidence", "unscored", "message", "enrichment_lost", "reasons",
    "tolerances", "judge_reason", "judge_conflict", "signature", "origin",
)  # fmt: skip
_LONGEST = {"question": 1500, "enriched_question": 1500, "sql": 3000, "message": 300, "judge_reason": 500}
_MOST_REASONS = 12


def choose_worst(table: pa.Table, most: int) -> Codes:
    """The rows to show, worst first; rows of one text may be among them more than once.

    Args:
        table: the columns time, agent, database, score and p_correct.
        most: at least this many rows where there are as many; about thrice at most.
    """
    score = np.asarray(table["score"].to_numpy(), dtype=np.float64)
    p_correct = np.nan_to_num(np.asarray(table["p_correct"].to_numpy(), dtype=np.float64), nan=_UNKNOWN)
    newest = -table["time"].cast(pa.int64()).fill_null(0).to_numpy()
    # NaN compares as not below: unscored rows are left out.
    order = np.lexsort((newest, p_correct, score))
    order = _varied(table, order[score[order] < _FINE], p_correct)
    chosen = np.zeros(table.num_rows, dtype=np.bool_)
    for by, every, count in (
        (("agent",), None, _OF_AGENT),
        (("agent", "database"), None, _OF_DATABASE),
        (("agent",), "week", _OF_WEEK),
    ):
        codes = group_rows(table, by, every).codes[order]
        chosen[order[_places(codes) < count]] = True
    kept = order[chosen[order]]
    turn = _places(group_rows(table, ("agent",)).codes[kept])
    fair = np.sort(np.argsort(turn, kind="stable")[: 3 * most])  # agents in turn, then worst first again
    return np.asarray(kept[fair], dtype=np.int64)


def _varied(table: pa.Table, order: Codes, p_correct: NDArray[np.float64]) -> Codes:
    """A question asked every hour must not fill the list: at most `_ALIKE` rows of one `p_correct`.

    Rows with one text have one `p_correct`; to compare the texts themselves they would have to be read.
    """
    places = group_rows(table, ("agent", "database")).codes[order]
    found, alike = np.unique(p_correct[order], return_inverse=True)
    few = _places(places * max(1, len(found)) + alike) < _ALIKE
    return np.asarray(order[few | (p_correct[order] == _UNKNOWN)], dtype=np.int64)


def choose_unscored(table: pa.Table) -> Codes:
    """Some rows of each agent and reason without a score, the newest first.

    Args:
        table: the columns time, agent and unscored.
    """
    rows = np.flatnonzero(pc.is_valid(table["unscored"]).to_numpy())[::-1]
    codes = group_rows(table.select(["agent", "unscored"]), ("agent", "unscored")).codes[rows]
    return np.asarray(rows[_places(codes) < _OF_REASON], dtype=np.int64)


def identities(table: pa.Table, rows: Codes) -> list[tuple[str, ...]]:
    """What tells these rows from all others."""
    columns = [table[name].take(pa.array(rows)).to_pylist() for name in IDENTITY]
    return list(zip(*columns, strict=True))


def read_chosen(table: pa.Table, wanted: Iterable[tuple[str, ...]]) -> dict[tuple[str, ...], dict[str, Any]]:
    """The rows of a table that are wanted, in full.

    Args:
        table: `COLUMNS`.
        wanted: identities; those of other tables don't matter.
    """
    known = set(wanted)
    keys = pa.array(sorted({identity[IDENTITY.index("key")] for identity in known}), pa.string())
    found = table.filter(pc.is_in(table["key"], value_set=keys)).select(list(COLUMNS))
    rows = {tuple(row[name] for name in IDENTITY): row for row in found.to_pylist()}
    return {identity: _shortened(row) for identity, row in rows.items() if identity in known}


def distinct(rows: Sequence[dict[str, Any]], most: int) -> list[dict[str, Any]]:
    """Each question and query of an agent once, in order; at most so many, agents in turn."""
    seen: set[tuple[Any, ...]] = set()
    turns: dict[str, int] = {}
    kept: list[tuple[int, int, dict[str, Any]]] = []
    for place, row in enumerate(rows):
        text = (row["agent"], row["database"], row["question"], row["sql"])
        if text in seen:
            continue
        seen.add(text)
        turns[row["agent"]] = turns.get(row["agent"], 0) + 1
        kept.append((turns[row["agent"]], place, row))
    fair = sorted(kept, key=lambda item: item[:2])[:most]
    return [row for _, _, row in sorted(fair, key=lambda item: item[1])]


def _places(codes: Codes) -> NDArray[np.int64]:
    """The how-manieth of its code each place is, from 0."""
    order = np.argsort(codes, kind="stable")
    ordered = codes[order]
    first = np.searchsorted(ordered, ordered, side="left")
    places = np.empty(len(codes), dtype=np.int64)
    places[order] = np.arange(len(codes)) - first
    return places


def _shortened(row: dict[str, Any]) -> dict[str, Any]:
    """A row with long texts cut, and the places of its reasons with them."""
    row = dict(row)
    for name, longest in _LONGEST.items():
        if row[name] is not None and len(row[name]) > longest:
            row[name] = row[name][: longest - 1] + "\N{HORIZONTAL ELLIPSIS}"
    read = row["enriched_question"] or row["question"]
    reasons = sorted(row["reasons"] or [], key=lambda reason: -reason["points"])[:_MOST_REASONS]
    row["reasons"] = [
        {
            **reason,
            **{name: max(0, min(reason[name], len(read))) for name in ("question_start", "question_end")},
            **{name: max(0, min(reason[name], len(row["sql"]))) for name in ("sql_start", "sql_end")},
        }
        for reason in reasons
    ]
    row["time"] = None if row["time"] is None else row["time"].isoformat().replace("+00:00", "Z")
    return row
