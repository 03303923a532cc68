"""The bundled corpus: every query runs, every question says what its query asks, and the mix is right."""

from __future__ import annotations

import json
import re
import sqlite3
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlglot
from sqlglot import exp

from spider_compose.source.bundled import FOLDER, database_scripts
from spider_compose.source.bundled.build_databases import build_databases, main, tables_json
from spider_compose.sql.clauses import CLAUSE_TYPES, split_clauses
from spider_compose.sql.schema import Schema

PARTS = ("train", "validation")
Row = dict[str, str]

# Values that a question says in other words: (db_id, literal) -> the words.
SAID_IN_WORDS = {
    ("bakery_supply", "yes"): "organic",
    ("chess_club", "yes"): "juniors",
    ("community_radio", "1"): "live, volunteer",
    ("community_radio", "0"): "not live",
    ("coral_surveys", "no"): "not protected",
    ("film_festival", "yes"): "followed by a discussion",
    ("street_market", "yes"): "electricity",
    ("wind_farms", "yes"): "offshore",
    ("wind_farms", "no"): "not offshore",
}


@pytest.fixture(scope="module")
def rows() -> dict[str, list[Row]]:
    return {part: json.loads((FOLDER / f"{part}.json").read_text(encoding="utf-8")) for part in PARTS}


@pytest.fixture(scope="module")
def all_rows(rows: dict[str, list[Row]]) -> list[Row]:
    return [row for part in PARTS for row in rows[part]]


@pytest.fixture(scope="module")
def connections(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, sqlite3.Connection]]:
    paths = build_databases(tmp_path_factory.mktemp("databases"))
    opened = {db_id: sqlite3.connect(path) for db_id, path in paths.items()}
    yield opened
    for connection in opened.values():
        connection.close()


@pytest.fixture(scope="module")
def schemas() -> dict[str, Schema]:
    entries = json.loads((FOLDER / "tables.json").read_text(encoding="utf-8"))
    return {entry["db_id"]: Schema.from_tables_json(entry) for entry in entries}


# --- databases -----------------------------------------------------------------------------------------


def test_build_gives_same_bytes(tmp_path: Path) -> None:
    first, second = build_databases(tmp_path / "a"), build_databases(tmp_path / "b")
    assert list(first) == list(second) == sorted(database_scripts())
    assert [path.read_bytes() for path in first.values()] == [path.read_bytes() for path in second.values()]


def test_build_again_replaces(tmp_path: Path) -> None:
    first = build_databases(tmp_path)
    before = {db_id: path.read_bytes() for db_id, path in first.items()}
    next(iter(first.values())).write_bytes(b"half-written")
    assert {db_id: path.read_bytes() for db_id, path in build_databases(tmp_path).items()} == before
    assert not list(tmp_path.rglob("*.part"))


def test_command_writes_spiders_layout(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        str(tmp_path / db_id / f"{db_id}.sqlite") for db_id in sorted(database_scripts())
    ]


def test_command_names_folder_it_cannot_write(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "taken").write_text("a file where the folder should be", encoding="utf-8")
    assert main([str(tmp_path / "taken")]) == 2
    assert "cannot write the database" in capsys.readouterr().err


def test_no_database_file_is_kept() -> None:
    assert not list(FOLDER.rglob("*.sqlite"))


def test_package_data_is_small() -> None:
    assert (
        sum(path.stat().st_size for path in FOLDER.rglob("*") if path.suffix in (".sql", ".json")) < 600_000
    )


def test_tables_json_is_regenerated() -> None:
    assert (FOLDER / "tables.json").read_text(encoding="utf-8") == tables_json()


def test_schemas_match_databases(
    schemas: dict[str, Schema], connections: dict[str, sqlite3.Connection]
) -> None:
    assert set(schemas) == set(connections)
    for db_id, schema in schemas.items():
        connection = connections[db_id]
        names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY rowid")
        assert [table.name for table in schema.tables] == [name for (name,) in names]
        assert 3 <= len(schema.tables) <= 5
        for table in schema.tables:
            info = connection.execute(f"PRAGMA table_info({table.name})").fetchall()
            assert [column.name for column in table.columns] == [name for _, name, *_ in info]
            assert any(column.is_primary_key for column in table.columns), (db_id, table.name)
            assert all(re.fullmatch(r"[a-z][a-z ]*", column.words) for column in table.columns)


def test_foreign_keys_hold(schemas: dict[str, Schema], connections: dict[str, sqlite3.Connection]) -> None:
    for db_id, schema in schemas.items():
        assert len(schema.foreign_keys) >= 3, db_id
        assert connections[db_id].execute("PRAGMA foreign_key_check").fetchall() == [], db_id


def test_column_types_are_spiders() -> None:
    entries = json.loads(tables_json())
    kinds = Counter(kind for entry in entries for kind in entry["column_types"])
    assert set(kinds) == {"text", "number", "time", "boolean"}


def test_readable_name_comes_from_comment(schemas: dict[str, Schema]) -> None:
    assert schemas["ferry_lines"].column_words("capacity") == {"passenger capacity"}
    assert schemas["tram_network"].table_words("line_stop") == "stop on a line"
    assert schemas["vineyards"].column_words("BottlePrice") == {"bottle price"}


# --- rows ----------------------------------------------------------------------------------------------


def test_counts(rows: dict[str, list[Row]], all_rows: list[Row]) -> None:
    train, validation = ({row["db_id"] for row in rows[part]} for part in PARTS)
    assert len(all_rows) >= 440
    assert 95 <= len(rows["validation"]) <= 130
    assert not train & validation
    assert train | validation == set(database_scripts())
    assert len(train | validation) >= 15
    assert len(validation) == 4


def test_rows_are_spiders(all_rows: list[Row]) -> None:
    for row in all_rows:
        assert list(row) == ["db_id", "query", "question"]
        assert row["query"] == " ".join(row["query"].split()), row
        assert re.fullmatch(r"[A-Z].*[.?]", row["question"]), row
        assert row["question"] == " ".join(row["question"].split()), row


def test_no_row_twice(all_rows: list[Row]) -> None:
    assert [key for key, n in Counter((r["query"], r["question"]) for r in all_rows).items() if n > 1] == []
    assert [key for key, n in Counter(r["question"] for r in all_rows).items() if n > 1] == []


@pytest.mark.parametrize("part", PARTS)
def test_two_phrasings(rows: dict[str, list[Row]], part: str) -> None:
    phrasings = Counter((row["db_id"], row["query"]) for row in rows[part])
    assert max(phrasings.values()) == 2
    assert 0.28 <= sum(n == 2 for n in phrasings.values()) / len(phrasings) <= 0.42


@pytest.mark.parametrize("part", PARTS)
def test_clause_mix(rows: dict[str, list[Row]], part: str) -> None:
    clauses = [split_clauses(row["query"]) for row in rows[part]]
    types = Counter(clause.type for found in clauses for clause in found)
    assert set(types) == set(CLAUSE_TYPES)
    assert min(types.values()) >= (15 if part == "train" else 4)
    numbers = Counter(len(found) for found in clauses)
    aim = {1: 0.25, 2: 0.45, 3: 0.22, 4: 0.08}
    assert set(numbers) == set(aim)
    for number, share in aim.items():
        assert numbers[number] / len(clauses) == pytest.approx(share, abs=0.04), number


def test_openings_vary(all_rows: list[Row]) -> None:
    openings = Counter(" ".join(row["question"].lower().split()[:3]) for row in all_rows)
    assert max(openings.values()) <= 0.06 * len(all_rows), openings.most_common(3)


def test_sql_varies(all_rows: list[Row]) -> None:
    text = "\n".join(row["query"] for row in all_rows)
    wanted = ["NOT IN (SELECT", "IN (SELECT", "NOT EXISTS (", "> (SELECT", "DISTINCT", " BETWEEN ", " LIKE ",
              " OR ", " AND ", "count(*)", "COUNT(*)", "sum(", "min(", "HAVING", " AS T4 ", "LIMIT",
              "IS NULL", "IS NOT NULL", "!=", "<>", " * ", " / ", " - "]  # fmt: skip
    assert [piece for piece in wanted if piece not in text] == []
    joins = Counter(
        len(list(sqlglot.parse_one(row["query"], read="sqlite").find_all(exp.Join))) for row in all_rows
    )
    assert {0, 1, 2, 3} <= set(joins)


def test_every_query_returns_rows(all_rows: list[Row], connections: dict[str, sqlite3.Connection]) -> None:
    empty = []
    for row in all_rows:
        result = connections[row["db_id"]].execute(row["query"]).fetchall()
        if not any(value is not None for record in result for value in record):
            empty.append(row)
    assert empty == []


def weakened(query: str) -> Iterator[str]:
    """The query without one of its WHERE or HAVING, one operand of AND or OR, one side of a set operation."""
    tree = sqlglot.parse_one(query, read="sqlite")
    kinds = (exp.Where, exp.Having, exp.And, exp.Or, exp.SetOperation)
    for position in range(len(list(tree.find_all(*kinds)))):
        for side in ("this", "expression"):
            copy = tree.copy()
            node = list(copy.find_all(*kinds))[position]
            if isinstance(node, (exp.Where, exp.Having)):
                node.pop()
            elif node is copy:
                copy = node.args[side]
            else:
                node.replace(node.args[side].copy())
            yield copy.sql("sqlite")


def test_every_condition_matters(all_rows: list[Row], connections: dict[str, sqlite3.Connection]) -> None:
    """Dropping any condition changes the rows, else a wrong query would pass for the right one."""
    idle = []
    for db_id, query in {(row["db_id"], row["query"]): None for row in all_rows}:
        execute = connections[db_id].execute
        rows = set(execute(query))
        idle.extend((query, weaker) for weaker in weakened(query) if set(execute(weaker)) == rows)
    assert idle == []


def test_limit_cuts_between_different_values(
    all_rows: list[Row], connections: dict[str, sqlite3.Connection]
) -> None:
    """No ties among the rows that LIMIT keeps and the first it drops, so that the answer is one."""
    ties = []
    for row in all_rows:
        tree = sqlglot.parse_one(row["query"], read="sqlite")
        if not (isinstance(tree, exp.Select) and tree.args.get("limit")):
            continue
        number = int(tree.args["limit"].expression.this)
        tree.set("expressions", [key.this.copy() for key in tree.args["order"].expressions])
        tree.set("limit", None)
        keys = connections[row["db_id"]].execute(tree.sql("sqlite")).fetchall()
        if len(keys) <= number or len(set(keys[: number + 1])) <= number:
            ties.append(row)
    assert ties == []


def test_values_are_in_question(all_rows: list[Row]) -> None:
    """Every value of a WHERE or HAVING is in the question, or `SAID_IN_WORDS` lists how it is said."""
    unsaid, said = [], set()
    for row in all_rows:
        question = row["question"].lower()
        for literal in sqlglot.parse_one(row["query"], read="sqlite").find_all(exp.Literal):
            if literal.find_ancestor(exp.Where, exp.Having) is None:
                continue
            key = (row["db_id"], literal.this)
            value = literal.this.lower()
            if "%" in value:
                found = value.strip("% ") in question
            else:  # the whole value: "no" is not in "not", nor 5 in 1.5
                found = re.search(rf"(?<![\w.]){re.escape(value)}(?!\w|\.\d)", question) is not None
            if not found and key in SAID_IN_WORDS:
                said.add(key)
            elif not found:
                unsaid.append((literal.this, row))
    assert unsaid == []
    assert said == set(SAID_IN_WORDS), "SAID_IN_WORDS lists values that every question names"
