"""Splits by hand: templates, three parts, what is left out, and what is refused."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from spider_compose.errors import OptionError, SourceError
from spider_compose.splits import (
    Fractions,
    SplitRows,
    divergence_report,
    length_split,
    random_split,
    template_split,
    three_parts,
    tmcd_split,
)
from spider_compose.splits.template import take_templates, template_of
from spider_compose.splits.three_way import divide
from spider_compose.splits.tmcd import balance_atoms, lowest_first


def rows(*queries: str) -> list[dict[str, Any]]:
    return [{"db_id": "d", "query": query, "question": f"q {number}"} for number, query in enumerate(queries)]


@pytest.mark.parametrize(
    ("query", "template"),
    [
        pytest.param("SELECT a FROM t WHERE b > 3", "select a from t where b > ___", id="number"),
        pytest.param("select a from t where b > -3.5e2", "select a from t where b > ___", id="float"),
        pytest.param("select a from t where b = 'x y'", "select a from t where b = ___", id="single"),
        pytest.param('select a from t where b = "x"', "select a from t where b = ___", id="double"),
        pytest.param("select t1.a2 from t1", "select t1 . a2 from t1", id="names-stay"),
        pytest.param("select nan from t", "select ___ from t", id="what-float-accepts"),
        pytest.param(
            'select a from t where b = "it\'s" and c = 1',
            "select a from t where b = ___ and c = ___",
            id="apostrophe-inside",
        ),
    ],
)
def test_template_of(query: str, template: str) -> None:
    assert template_of(query) == template


def test_templates_are_taken_whole() -> None:
    corpus = rows(*(f"select c{column} from t limit {n}" for column in range(5) for n in range(1, 5)))
    split = template_split(corpus, 11)
    assert len(split.train) == 8  # two templates of four; the third would pass 11
    assert split.signature.startswith(
        "split:template|method:published|seed:1|rows:20|train_size:11|sqlparse:"
    )
    train, validation, test = take_templates(corpus, [8, 5], 1)
    assert (len(train), len(validation), len(test)) == (8, 4, 8)
    assert template_split(corpus, 11, seed=2).train != split.train


def test_first_overflow_ends_a_part() -> None:
    # A template that does not fit ends the part, though later ones would fit.
    corpus = rows("select a from t", *["select b from t"] * 5, "select c from t")
    splits = [template_split(corpus, 3, seed) for seed in range(20) if not _refused(corpus, seed)]
    assert {len(split.train) for split in splits} == {1, 2}


def _refused(corpus: list[dict[str, Any]], seed: int) -> bool:
    try:
        template_split(corpus, 3, seed)
    except OptionError:
        return True
    return False


def test_balance_by_hand() -> None:
    # Row 0 holds atom 0 alone; row 3 brings atom 9; row 1 is the first that can be spared.
    atoms = [[0], [1, 2], [1, 2], [9]]
    assert balance_atoms(atoms, [0, 1, 2], [3]) == ([0, 2, 3], [1])


def test_equal_rows_are_numbered_lowest_first() -> None:
    corpus = [
        {"db_id": "D", "query": "select a", "question": "Q"},
        {"db_id": "d", "query": "SELECT  a", "question": "q"},
    ]
    assert lowest_first(corpus, [1, 0]) == [0, 1]
    corpus[1]["question"] = "other"
    assert lowest_first(corpus, [1, 0]) == [1, 0]


def test_left_out_rows_are_named() -> None:
    corpus = rows(
        *(f"select {a} from {t}" for a in "ab" for t in "xy"), "select a from", "select b from y as z as q"
    )
    split = tmcd_split(corpus, 3, grammar="spider")
    assert [(entry.row, entry.reason) for entry in split.left_out] == [
        (4, "query outside the grammar"),
        (5, "query outside the grammar"),
    ]
    assert sorted(split.train + split.rest) == [0, 1, 2, 3]
    assert "|rows:4|" in split.signature and "|grammar:spider|" in split.signature


def test_sqlglot_is_in_the_signature() -> None:
    corpus = rows(*(f"select {a} from {t}, u" for a in "ab" for t in "xy"))
    assert "|grammar:sqlglot|dialect:duckdb|sqlglot:" in tmcd_split(corpus, 3, dialect="duckdb").signature


def test_max_raises_the_divergence() -> None:
    chance = random.Random(1)
    corpus = rows(
        *(
            f"select {chance.choice('abcd')} from {chance.choice('xyz')} where {chance.choice('abcd')} "
            f"{chance.choice('=<>')} {chance.choice('123')} order by {chance.choice('abcd')}"
            for _ in range(200)
        )
    )
    published = tmcd_split(corpus, 150)
    best = tmcd_split(corpus, 150, method="max")

    def measure(split: SplitRows) -> float:
        train, rest = ([corpus[number] for number in part] for part in (split.train, split.rest))
        report = divergence_report(train, rest, clauses=False)
        assert not report.unseen_atom_rows
        return report.compound_divergence

    assert measure(best) > measure(published) + 0.05


def test_length_ties_stay_in_order() -> None:
    corpus = rows("select a , b from t", "select a from t", "select b from t", "select c from t")
    assert length_split(corpus, 2) == SplitRows((1, 2), (0, 3), (), length_split(corpus, 2).signature)


def test_divide_alternates_along_length() -> None:
    corpus = rows(*(f"select {' , '.join('a' * width)} from t" for width in range(1, 7)))
    assert divide(corpus, range(6)) == ((0, 2, 4), (1, 3, 5))
    assert divide(corpus, range(6), 1 / 3) == ((0, 3), (1, 2, 4, 5))


def test_divide_keeps_queries_together() -> None:
    corpus = rows("select a from t", "SELECT a  FROM t", "select a , b from t")
    assert divide(corpus, [0, 1, 2]) == ((0, 1), (2,))
    with pytest.raises(SourceError, match="one query"):
        divide(corpus, [0, 1])


def test_three_parts_sizes_and_signature() -> None:
    corpus = rows(*(f"select {a} from {t} limit {n}" for a in "abcd" for t in "wxyz" for n in "12345"))
    for split in ("template", "tmcd", "length", "random"):
        parts = three_parts(corpus, split, Fractions(0.5, 0.25, 0.25))
        assert (len(parts.train), len(parts.validation), len(parts.test)) == (40, 20, 20), split
        assert parts.signature.startswith(f"split:{split}|")
        assert parts.signature.endswith("|fractions:0.5/0.25/0.25")


def test_fractions_are_of_the_rows_that_parse() -> None:
    good = [f"select {a} from {t} limit {n}" for a in "abcd" for t in "wxyz" for n in "12345"]
    parts = three_parts(rows(*good, *["select from"] * 4), "tmcd", Fractions(0.5, 0.25, 0.25))
    assert (len(parts.train), len(parts.validation), len(parts.test)) == (40, 20, 20)
    assert [entry.row for entry in parts.left_out] == [80, 81, 82, 83]


@pytest.mark.parametrize(
    ("shares", "message"),
    [
        pytest.param((0.8, 0.2, 0.2), "must add up to 1, but .* add up to 1.2", id="more"),
        pytest.param((0.5, 0.2, 0.2), "must add up to 1, but .* add up to 0.9", id="less"),
        pytest.param((1.0, 0.0, 0.0), "`train` must be a number between 0 and 1", id="all"),
        pytest.param(
            (0.9, 0.2, -0.1), "`test` must be a number between 0 and 1, but got -0.1", id="negative"
        ),
        pytest.param((0.5, "0.25", 0.25), "`validation` must be a number", id="text"),
        pytest.param((float("nan"), 0.5, 0.5), "`train` must be a number", id="nan"),
    ],
)
def test_fractions(shares: tuple[Any, Any, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        Fractions(*shares)


SPLITS: list[Any] = [
    pytest.param(lambda corpus, size: template_split(corpus, size), id="template"),
    pytest.param(lambda corpus, size: tmcd_split(corpus, size), id="tmcd"),
    pytest.param(lambda corpus, size: tmcd_split(corpus, size, method="max"), id="tmcd-max"),
    pytest.param(lambda corpus, size: length_split(corpus, size), id="length"),
    pytest.param(lambda corpus, size: random_split(corpus, size), id="random"),
]
GOOD = rows("select a from t", "select b from t", "select a from t", "select b from t", "select a from t")


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize(
    ("corpus", "size", "error", "message"),
    [
        pytest.param([], 1, SourceError, "empty", id="empty"),
        pytest.param(GOOD[:1], 1, SourceError, "at least 2 rows", id="one-row"),
        pytest.param([GOOD[0]] * 4, 2, SourceError, "all 4 rows have the same query", id="all-equal"),
        pytest.param([GOOD[0], {"query": None}], 1, SourceError, "row 1: expected text", id="no-query"),
        pytest.param(iter(GOOD), 2, SourceError, "give list", id="iterator"),
        pytest.param([GOOD[0], "select a"], 1, SourceError, "row 1: expected a dict", id="no-dict"),
        pytest.param(GOOD, 0, OptionError, "from 1 to 4 .* got 0", id="nothing"),
        pytest.param(GOOD, 5, OptionError, "from 1 to 4 .* got 5", id="everything"),
        pytest.param(GOOD, 2.5, OptionError, "integer", id="float"),
        pytest.param(GOOD, True, OptionError, "integer", id="bool"),
    ],
)
def test_bad_input(
    split: Callable[[Any, Any], SplitRows], corpus: Any, size: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        split(corpus, size)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        pytest.param(lambda: tmcd_split(GOOD, 3, method="most"), OptionError, "`method`", id="tmcd-method"),
        pytest.param(
            lambda: template_split(GOOD, 3, method="max"), OptionError, "`method`", id="template-method"
        ),
        pytest.param(lambda: tmcd_split(GOOD, 3, seed="1"), OptionError, "`seed`", id="seed"),  # type: ignore[arg-type]
        pytest.param(lambda: tmcd_split(GOOD, 1), OptionError, "1 rows cannot hold every atom", id="atoms"),
        pytest.param(lambda: three_parts(GOOD, "tcmd"), OptionError, "Did you mean 'tmcd'", id="split"),
        pytest.param(
            lambda: three_parts(GOOD, "random", (0.6, 0.2, 0.2)),  # type: ignore[arg-type]
            OptionError,
            "`fractions` must be",
            id="fractions",
        ),
        pytest.param(lambda: three_parts(GOOD, "random"), SourceError, "too few for three parts", id="small"),
        pytest.param(
            lambda: three_parts(GOOD, "template", Fractions(0.6, 0.2, 0.2)),
            SourceError,
            "at least 3 templates",
            id="templates",
        ),
        pytest.param(
            lambda: template_split([*GOOD[:1], *GOOD[:1], *GOOD[1:2], *GOOD[1:2]], 1),
            OptionError,
            "at most 1 rows cannot take the template",
            id="large-template",
        ),
        pytest.param(
            lambda: tmcd_split([*GOOD[:1], *rows("select a"), *rows("select b")], 1, grammar="spider"),
            SourceError,
            "reads 1; 2 rows are left out, the first: row 1",
            id="one-parses",
        ),
    ],
)
def test_bad_options(call: Callable[[], object], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()
