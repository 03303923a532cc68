"""What other corpora have, Spider not: comma joins, long aliases, placeholders, dialects, no schemas."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from spider_compose.alignment import ALIGNERS
from spider_compose.composition.build import BuildOptions, build
from spider_compose.source import read_source

CASES = {
    "comma-join": (
        "sqlite",
        "SELECT BOATalias0.NAME FROM BOAT AS BOATalias0 , PORT AS PORTalias0 "
        "WHERE BOATalias0.PORT_ID = PORTalias0.ID "
        'AND PORTalias0.CITY = "cork" ORDER BY BOATalias0.AGE DESC',
        "which boats lie in cork , the oldest first ?",
        'WHERE BOAT.PORT_ID = PORT.ID AND PORT.CITY = "cork" ORDER BY BOAT.AGE DESC',
    ),
    "self-join": (
        "sqlite",
        "SELECT BOATalias0.NAME FROM BOAT AS BOATalias0 , BOAT AS BOATalias1 "
        "WHERE BOATalias0.AGE > BOATalias1.AGE "
        "ORDER BY BOATalias0.NAME",
        "boats older than another , by name",
        "WHERE BOATalias0.AGE > BOATalias1.AGE ORDER BY BOATalias0.NAME",
    ),
    "placeholders": (
        "sqlite",
        'SELECT name FROM boat WHERE city = "city_name0" AND length > length0 GROUP BY name',
        "boats in city_name0 longer than length0 for each name",
        'WHERE city = "city_name0" AND length > length0 GROUP BY name',
    ),
    "nested-from": (
        "sqlite",
        "SELECT MAX( DERIVED_TABLEalias0.N ) FROM ( SELECT COUNT( * ) AS N FROM BOAT AS BOATalias0 GROUP BY "
        "BOATalias0.PORT ) AS DERIVED_TABLEalias0 WHERE DERIVED_TABLEalias0.N > 3 LIMIT 2",
        "the most boats of a port with more than 3 , the top 2",
        "WHERE DERIVED_TABLEalias0.N > 3 LIMIT 2",
    ),
    "mysql": (
        "mysql",
        "SELECT `full name` FROM `boat` WHERE `age` > 20 ORDER BY `age` LIMIT 5, 10",
        "full names of boats older than 20 by age",
        "WHERE `age` > 20 ORDER BY `age` LIMIT 5, 10",
    ),
    "postgres": (
        "postgres",
        "SELECT name FROM boat WHERE name ILIKE '%star%' AND built::date > '2001-01-01' GROUP BY name",
        "boats with star in the name built after 2001 for each name",
        "WHERE name ILIKE '%star%' AND built::date > '2001-01-01' GROUP BY name",
    ),
    "bigquery": (
        "bigquery",
        "SELECT b.name FROM `fleet.boats` AS b WHERE SAFE_CAST(b.age AS INT64) > 20 ORDER BY b.name",
        "names of boats older than 20 by name",
        "WHERE SAFE_CAST(`fleet.boats`.age AS INT64) > 20 ORDER BY `fleet.boats`.name",
    ),
}


@pytest.mark.parametrize("aligner", ALIGNERS)
@pytest.mark.parametrize(("dialect", "query", "question", "without_select"), CASES.values(), ids=CASES)
def test_clauses_fragments_and_tables(
    tmp_path: Path, dialect: str, query: str, question: str, without_select: str, aligner: str
) -> None:
    row = {"db_id": "harbour", "query": query, "question": question}
    (tmp_path / "train.json").write_text(json.dumps([row]), encoding="utf-8")
    built = build(read_source(tmp_path, dialect=dialect), BuildOptions(aligner=aligner, dialect=dialect))
    assert built.left_out == ()
    (full,) = built.pairs["validation"]
    assert (full["query"], full["question"], full["num_clauses"]) == (query, question, 3)
    if aligner == "segment":
        assert all(built.alignments["train"][0]["fragments"]), "every clause is said by some words"
        (rest,) = (pair for pair in built.pairs["train"] if pair["clause_subset"] == [1, 2])
        assert rest["query"] == without_select
