"""What must hold on any corpus, against references that follow the definitions word for word."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from spider_compose.errors import OptionError, SourceError
from spider_compose.splits import (
    Fractions,
    divergence_report,
    length_split,
    random_split,
    template_split,
    three_parts,
    tmcd_max,
    tmcd_split,
)
from spider_compose.splits.grammar import Node, parse
from spider_compose.splits.template import template_of
from spider_compose.splits.text import normalize_query, query_tokens
from spider_compose.splits.tmcd import balance_atoms

Rows = list[dict[str, Any]]

# No deadline: a busy machine is no failure.
CHECK = settings(deadline=None, max_examples=30)


@pytest.fixture(autouse=True, scope="module")
def fewer_rounds() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tmcd_max, "ROUNDS", 20)
        yield


def reference_compounds(query: str) -> Counter[str]:
    """Compounds as the definition says them: by recursion, as strings."""

    def put(parent: Node, place: int, text: str) -> str:
        before, *after = parent.production.split("___")
        for number, piece in enumerate(after):
            before += (text if number == place else "___") + piece
        return before

    def walk(node: Node) -> Counter[str]:
        found: Counter[str] = Counter()
        for place, child in enumerate(node.children):
            found[put(node, place, child.production)] += 1
            for inner, grandchild in enumerate(child.children):
                found[put(node, place, put(child, inner, grandchild.production))] += 1
            found += walk(child)
        return found

    return walk(parse(query_tokens(query)))


def reference_divergence(train: list[str], test: list[str]) -> float:
    """D between two lists of queries, straight from the formula."""
    p = sum((reference_compounds(query) for query in train), Counter())
    q = sum((reference_compounds(query) for query in test), Counter())
    shared = 0.0
    for compound in set(p) & set(q):
        shared += (p[compound] / sum(p.values())) ** 0.1 * (q[compound] / sum(q.values())) ** 0.9
    return 1 - shared


def atoms_of(rows: Rows, numbers: tuple[int, ...]) -> set[str]:
    return {token for number in numbers for token in query_tokens(rows[number]["query"])}


@st.composite
def queries(draw: st.DrawFn) -> str:
    """Queries of the grammar over few names, so that atoms and compounds repeat."""
    names = st.sampled_from(["a", "b", "c"])
    query = f"select {draw(st.sampled_from(['a', 'b', 'count(*)', 'a, b', 'avg(c)']))} from {draw(names)}"
    if draw(st.booleans()):
        query += (
            f" where {draw(names)} {draw(st.sampled_from(['=', '>', 'like']))} {draw(st.sampled_from('12'))}"
        )
    if draw(st.booleans()):
        query += f" order by {draw(names)} {draw(st.sampled_from(['asc', 'desc']))}"
    return query


def corpora(least: int = 4) -> st.SearchStrategy[Rows]:
    """Small corpora with at least two different queries."""

    def rows(texts: list[str]) -> Rows:
        return [{"db_id": "d", "query": text, "question": f"q {n}"} for n, text in enumerate(texts)]

    return (
        st.lists(queries(), min_size=least, max_size=24).filter(lambda texts: len(set(texts)) > 1).map(rows)
    )


def reference_balance(
    atoms: list[list[int]], train: list[int], rest: list[int]
) -> tuple[list[int], list[int]] | None:
    """The balance of the definition, each step from scratch."""
    train, rest = list(train), list(rest)
    while True:
        count = Counter(atom for row in train for atom in atoms[row])
        lacking = [row for row in rest if any(not count[atom] for atom in atoms[row])]
        if not lacking:
            return train, rest
        spare = [row for row in train if all(count[atom] != 1 for atom in atoms[row])]
        if not spare:
            return None
        train.remove(spare[0])
        rest.remove(lacking[0])
        train.append(lacking[0])
        rest.append(spare[0])


def reference_search(rows: Rows, train_size: int, seed: int) -> tuple[list[int], list[int]] | None:
    """The published search of the definition, with nothing kept between steps."""
    compounds = [reference_compounds(row["query"]) for row in rows]
    atoms = [list(dict.fromkeys(query_tokens(row["query"]))) for row in rows]
    order = list(range(len(rows)))
    random.seed(seed)
    random.shuffle(order)
    balanced = reference_balance(atoms, order[:train_size], order[train_size:])  # type: ignore[arg-type]
    if balanced is None:
        return None
    train, rest = balanced

    def scan(
        side: list[int], start: int, p: Counter[str], q: Counter[str], d: float, sign: int
    ) -> int | None:
        held = Counter(atom for row in train for atom in atoms[row])
        for place in [*range(start, len(side)), *range(min(start, len(side)))]:
            row = side[place]
            if sign > 0 and any(held[atom] <= 1 for atom in atoms[row]):
                continue
            s1, s2, k = sum(p.values()), sum(q.values()), len(compounds[row])
            top = (1 - d) * s1**0.1 * s2**0.9
            for compound in compounds[row]:
                top += (p[compound] - sign) ** 0.1 * (q[compound] + sign) ** 0.9
                top -= p[compound] ** 0.1 * q[compound] ** 0.9
            if 1 - top / ((s1 - sign * k) ** 0.1 * (s2 + sign * k) ** 0.9) > d + 1e-12:
                return place
        return None

    starts = [0, 0]
    for _ in range(10_000):
        p = sum((compounds[row] for row in train), Counter())
        q = sum((compounds[row] for row in rest), Counter())
        d = 1 - sum(p[c] ** 0.1 * q[c] ** 0.9 for c in p) / (sum(p.values()) ** 0.1 * sum(q.values()) ** 0.9)
        first = scan(train, starts[0], p, q, d, 1)
        if first is None:
            break
        p, q = p - compounds[train[first]], q + compounds[train[first]]
        second = scan(rest, starts[1], p, q, d, -1)
        if second is None:
            break
        train[first], rest[second] = rest[second], train[first]
        starts = [first + 1, second + 1]
    return train, rest


def texts(rows: Rows, numbers: Any) -> Counter[str]:
    return Counter(normalize_query(rows[number]["query"]) for number in numbers)


@CHECK
@given(corpora(), st.integers(1, 23), st.integers(0, 3))
def test_published_search_is_the_definition(rows: Rows, train_size: int, seed: int) -> None:
    assume(train_size < len(rows))
    expected = reference_search(rows, train_size, seed)
    if expected is None:
        with pytest.raises(OptionError, match="cannot hold every atom"):
            tmcd_split(rows, train_size, seed)
        return
    found = tmcd_split(rows, train_size, seed)
    assert texts(rows, found.train) == texts(rows, expected[0])
    assert texts(rows, found.rest) == texts(rows, expected[1])


@CHECK
@given(
    st.lists(st.sets(st.integers(0, 7), min_size=1, max_size=4).map(sorted), min_size=2, max_size=25),
    st.integers(1, 24),
)
def test_balance_is_the_definition(atoms: list[list[int]], size: int) -> None:
    assume(size < len(atoms))
    order = list(range(len(atoms)))
    expected = reference_balance(atoms, order[:size], order[size:])
    if expected is None:
        with pytest.raises(OptionError, match="take more"):
            balance_atoms(atoms, order[:size], order[size:])
    else:
        assert balance_atoms(atoms, order[:size], order[size:]) == expected


@CHECK
@given(corpora(), st.integers(1, 23), st.sampled_from(["published", "max"]))
def test_tmcd_parts(rows: Rows, train_size: int, method: str) -> None:
    assume(train_size < len(rows))
    try:
        split = tmcd_split(rows, train_size, method=method)
    except OptionError as error:
        assert "cannot hold every atom" in str(error)
        return
    assert sorted(split.train + split.rest) == list(range(len(rows)))
    assert len(split.train) == train_size
    assert atoms_of(rows, split.rest) <= atoms_of(rows, split.train)
    assert tmcd_split(rows, train_size, method=method) == split


@CHECK
@given(corpora(8), st.integers(1, 23))
def test_max_is_never_below_its_start(rows: Rows, train_size: int) -> None:
    assume(train_size < len(rows))
    atoms = [list(dict.fromkeys(query_tokens(row["query"]))) for row in rows]
    order = list(range(len(rows)))
    random.Random(1).shuffle(order)
    start = reference_balance(atoms, order[:train_size], order[train_size:])  # type: ignore[arg-type]
    assume(start is not None)
    found = tmcd_split(rows, train_size, method="max")

    def measure(train: Any, rest: Any) -> float:
        return reference_divergence([rows[n]["query"] for n in train], [rows[n]["query"] for n in rest])

    assert start is not None
    assert measure(found.train, found.rest) >= measure(*start) - 1e-9


@CHECK
@given(corpora(1), corpora(1))
def test_divergence_is_the_formula(train: Rows, test: Rows) -> None:
    report = divergence_report(train, test, clauses=False)
    expected = reference_divergence([row["query"] for row in train], [row["query"] for row in test])
    assert report.compound_divergence == pytest.approx(expected, abs=1e-12)
    assert report.unseen_atom_rows == sum(
        bool(set(query_tokens(row["query"])) - atoms_of(train, tuple(range(len(train))))) for row in test
    )
    shared = {template_of(row["query"]) for row in train} & {template_of(row["query"]) for row in test}
    assert report.shared_templates == len(shared)


@CHECK
@given(corpora())
def test_divergence_of_a_set_with_itself_is_zero(rows: Rows) -> None:
    assert divergence_report(rows, rows, clauses=False).compound_divergence == pytest.approx(0, abs=1e-12)


@CHECK
@given(corpora(), st.integers(1, 23), st.integers(0, 3))
def test_template_parts_share_no_template(rows: Rows, train_size: int, seed: int) -> None:
    assume(train_size < len(rows))
    try:
        split = template_split(rows, train_size, seed)
    except (OptionError, SourceError) as error:
        assert "template" in str(error)
        return
    assert sorted(split.train + split.rest) == list(range(len(rows)))
    assert 0 < len(split.train) <= train_size
    assert not {template_of(rows[n]["query"]) for n in split.train} & {
        template_of(rows[n]["query"]) for n in split.rest
    }
    assert template_split(rows, train_size, seed) == split


@CHECK
@given(corpora(), st.integers(1, 23))
def test_length_split_holds_out_the_longest(rows: Rows, train_size: int) -> None:
    assume(train_size < len(rows))
    split = length_split(rows, train_size)
    assert sorted(split.train + split.rest) == list(range(len(rows)))
    lengths = [len(query_tokens(row["query"])) for row in rows]
    assert max(lengths[n] for n in split.train) <= min(lengths[n] for n in split.rest)


@CHECK
@given(corpora(), st.integers(1, 23), st.integers(-5, 5))
def test_random_split_is_a_partition(rows: Rows, train_size: int, seed: int) -> None:
    assume(train_size < len(rows))
    split = random_split(rows, train_size, seed)
    assert sorted(split.train + split.rest) == list(range(len(rows)))
    assert len(split.train) == train_size
    assert random_split(rows, train_size, seed) == split


@CHECK
@given(
    corpora(8),
    st.sampled_from(["template", "tmcd", "length", "random"]),
    st.sampled_from([Fractions(), Fractions(0.5, 0.25, 0.25), Fractions(0.6, 0.1, 0.3)]),
)
def test_three_parts(rows: Rows, split: str, fractions: Fractions) -> None:
    try:
        parts = three_parts(rows, split, fractions)
    except (OptionError, SourceError) as error:
        assume(False)
        raise AssertionError from error
    assert sorted(parts.train + parts.validation + parts.test) == list(range(len(rows)))
    assert parts.train and parts.validation and parts.test
    if split in ("tmcd", "length"):
        assert not set(texts(rows, parts.validation)) & set(texts(rows, parts.test))
    if split == "tmcd":
        assert atoms_of(rows, parts.validation + parts.test) <= atoms_of(rows, parts.train)
    if split == "template":
        found = [
            {template_of(rows[n]["query"]) for n in part}
            for part in (parts.train, parts.validation, parts.test)
        ]
        assert len(set().union(*found)) == sum(map(len, found))
    assert three_parts(rows, split, fractions) == parts
