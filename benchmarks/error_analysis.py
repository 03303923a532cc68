"""How far to trust the error detectors: false alarms on human paraphrases, recall on planted faults.

    python benchmarks/error_analysis.py                  # validation: 20 databases
    python benchmarks/error_analysis.py --part train     # 140 databases

False alarms: two questions of Spider with the same database and canonical query, one in the place of the
prediction, each way round. Some alarms are right: Spider's questions have faults of their own.

Recall: a fault of one kind is planted in the reference itself, wherever the text allows it: the words of one
clause cut out (as the aligner finds them), a column's words replaced by another column's or dropped, a value
by another of the same query's database, "highest" by "lowest", and so on.

Data: the folder named by SPIDER_COMPOSE_SHARED (default: `shared` beside the repository) with `spider/`.
"""

from __future__ import annotations

import argparse
import os
import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from spider_compose.composition.build import BuildOptions, build
from spider_compose.evaluation.error_kinds import KINDS, find_errors
from spider_compose.source import read_source
from spider_compose.source.records import Source
from spider_compose.sql.canonical import canonical_text
from spider_compose.sql.schema import Schema

SHARED = Path(os.environ.get("SPIDER_COMPOSE_SHARED", Path(__file__).resolve().parents[2] / "shared"))

SWAPS: Mapping[str, Sequence[tuple[str, str]]] = {
    "wrong_aggregate": [
        ("average", "maximum"),
        ("maximum", "average"),
        ("minimum", "maximum"),
        ("how many", "what is the average"),
        ("number of", "average"),
        ("total", "average"),
    ],
    "wrong_direction": [
        ("highest", "lowest"),
        ("lowest", "highest"),
        ("ascending", "descending"),
        ("descending", "ascending"),
        ("oldest", "youngest"),
        ("youngest", "oldest"),
        ("largest", "smallest"),
        ("the most", "the fewest"),
        ("decreasing", "increasing"),
        ("alphabetical order", "descending order"),
    ],
    "wrong_comparison": [
        ("more than", "less than"),
        ("less than", "more than"),
        ("at least", "at most"),
        ("at most", "at least"),
        ("older than", "younger than"),
        ("younger than", "older than"),
        ("higher than", "lower than"),
        ("above", "below"),
        ("before", "after"),
        ("after", "before"),
        ("over", "under"),
    ],
    "wrong_negation": [
        ("do not", "do"),
        ("does not", "does"),
        ("did not", "did"),
        ("is not", "is"),
        ("are not", "are"),
        ("n't", ""),
        ("without", "with"),
        ("have no", "have"),
        ("who are", "who are not"),
        ("that are", "that are not"),
        ("who have", "who do not have"),
    ],
}


def replaced(text: str, old: str, new: str) -> str | None:
    """The text with the first whole-word occurrence exchanged, or None."""
    changed, times = re.subn(
        rf"(?<!\w){re.escape(old)}(?!\w)", lambda _: new, text, count=1, flags=re.IGNORECASE
    )
    return changed if times and changed != text else None


def swapped(kind: str) -> Callable[[str, str, Schema, random.Random], Iterator[str]]:
    def plant(question: str, query: str, schema: Schema, rng: random.Random) -> Iterator[str]:
        for old, new in SWAPS[kind]:
            if (changed := replaced(question, old, new)) is not None:
                yield changed
                return

    return plant


def column_words(query: str, schema: Schema) -> list[str]:
    used = {word.lower() for word in re.findall(r"\w+", query)}
    return sorted(
        {column.words for table in schema.tables for column in table.columns if column.name.lower() in used}
    )


def other_column(question: str, query: str, schema: Schema, rng: random.Random) -> Iterator[str]:
    used = column_words(query, schema)
    others = sorted({column.words for table in schema.tables for column in table.columns} - set(used))
    for words in used:
        for said in (words, words + "s"):
            if others and (changed := replaced(question, said, rng.choice(others))) is not None:
                yield changed
                return


def no_column(question: str, query: str, schema: Schema, rng: random.Random) -> Iterator[str]:
    for words in column_words(query, schema):
        for said in (words, words + "s"):
            if (changed := replaced(question, said, "")) is not None:
                yield changed
                return


def other_value(question: str, query: str, schema: Schema, rng: random.Random) -> Iterator[str]:
    for value in re.findall(r"['\"]([^'\"%]+)['\"]|\b(\d+(?:\.\d+)?)\b", query):
        text = value[0] or value[1]
        new = "Kentwood" if value[0] else str(int(float(text)) + 3)
        if (changed := replaced(question, text, new)) is not None:
            yield changed
            return


def more_words(question: str, query: str, schema: Schema, rng: random.Random) -> Iterator[str]:
    if "order" not in query.lower():
        yield question.rstrip(" ?.") + " sorted by " + rng.choice(schema.tables[0].columns).words
    elif "group" not in query.lower():
        yield question.rstrip(" ?.") + " for each " + rng.choice(schema.tables).words


def twice(question: str, query: str, schema: Schema, rng: random.Random) -> Iterator[str]:
    words = question.split()
    at, size = rng.randrange(len(words)), rng.randint(1, 4)
    yield " ".join([*words[: at + size], *words[at:]])


def cut(question: str, query: str, schema: Schema, rng: random.Random) -> Iterator[str]:
    words = question.split()
    if len(words) > 4:
        yield " ".join(words[: rng.randint(2, len(words) - 2)])


PLANTS: Mapping[str, Callable[[str, str, Schema, random.Random], Iterator[str]]] = {
    "cut_short": cut,
    "repeated_words": twice,
    "extra_clause": more_words,
    "wrong_column": other_column,
    "wrong_value": other_value,
    **{kind: swapped(kind) for kind in SWAPS},
    "lost_words": no_column,
}


def without_a_clause(source: Source, part: str) -> Iterator[tuple[str, Mapping[str, Any], str]]:
    """Questions of all clauses but one, with the row of all, and the type of the missing clause."""
    rows: dict[int, dict[tuple[int, ...], Mapping[str, Any]]] = defaultdict(dict)
    built = build(source, BuildOptions(deduplicate="none"))
    for pairs in built.pairs.values():
        for pair in pairs:
            if pair["source_split"] == part:
                rows[pair["source_row"]][tuple(pair["clause_subset"])] = pair
    for subsets in rows.values():
        whole = max(subsets, key=len)
        for subset in subsets:
            if len(subset) == len(whole) - 1:
                (lost,) = set(whole) - set(subset)
                row, said = subsets[whole], subsets[subset]["question"]
                if said != row["question"]:  # some words were the clause's own
                    yield said, row, row["clause_types"][whole.index(lost)]


def false_alarms(rows: Sequence[Any], schemas: Mapping[str, Schema]) -> tuple[Counter[str], int]:
    groups: dict[tuple[str, str], list[Any]] = defaultdict(list)
    for row in rows:
        groups[row.db_id, canonical_text(row.query, schemas[row.db_id])].append(row)
    alarms: Counter[str] = Counter()
    pairs = 0
    for group in groups.values():
        for one, other in pairwise(group):
            if one.question == other.question:
                continue
            for said, wanted in ((one, other), (other, one)):
                pairs += 1
                found = find_errors(said.question, wanted.question, wanted.query, schemas[wanted.db_id])
                alarms.update(found.kinds)
    return alarms, pairs


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--part", choices=("train", "validation"), default="validation")
    part = parser.parse_args().part
    source = read_source(str(SHARED / "spider"))
    rows, schemas = source.pairs[part], source.schemas
    alarms, pairs = false_alarms(rows, schemas)
    recall: dict[str, Counter[str]] = {kind: Counter() for kind in KINDS}
    rng = random.Random(1)
    for kind, plant in PLANTS.items():
        for row in rows:
            for said in plant(row.question, row.query, schemas[row.db_id], rng):
                found = find_errors(said, row.question, row.query, schemas[row.db_id])
                recall[kind].update(planted=1, found=kind in found.kinds)
    by_type: dict[str, Counter[str]] = defaultdict(Counter)
    for said, row, lost in without_a_clause(source, part):
        found = find_errors(said, row["question"], row["query"], schemas[row["db_id"]])
        types = {kind for kind, missing in zip(found.clause_types, found.missing, strict=True) if missing}
        recall["missing_clause"].update(planted=1, found=lost in types)
        by_type[lost].update(planted=1, found=lost in types)
    print(f"{part}: {pairs} paraphrases")
    print(f"{'kind':18}{'false alarms %':>15}{'planted':>9}{'recall %':>10}")
    for kind in KINDS:
        planted, found_ = recall[kind]["planted"], recall[kind]["found"]
        share = f"{100 * found_ / planted:.1f}" if planted else "-"
        print(f"{kind:18}{100 * alarms[kind] / pairs:>15.1f}{planted:>9}{share:>10}")
    for kind, counts in sorted(by_type.items()):
        print(f"  missing {kind:10} {counts['found']} of {counts['planted']}")


if __name__ == "__main__":
    main()
