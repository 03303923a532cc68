"""Atoms and compounds of a corpus (Keysers et al. 2020; Shaw et al. 2021, section 4), as integers.

An atom is a distinct token of a query. A compound is a chain of two or three nodes of its parse tree,
parent-child or grandparent-parent-child, written as one string: the child's production stands in the place of
the `___` that is the child's position in its parent. Compounds count with their multiplicity.

The trees come from the published grammar of Spider (`grammar.py`) or, for corpora that grammar does not read,
from sqlglot (`sqlglot_tree.py`). Compounds of the two are different strings: figures compare only within one
grammar.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from spider_compose.errors import SourceError, choose
from spider_compose.source.records import LeftOut
from spider_compose.splits.grammar import NON_TERMINAL, GrammarError, Node, parse
from spider_compose.splits.parts import Row, queries_of
from spider_compose.splits.text import normalize_query, query_tokens

_Parser = Callable[[str, Sequence[str]], Node]  # of a query's normal form and its tokens

GRAMMARS = ("auto", "spider", "sqlglot")

AUTO_SHARE = 0.95
"""`auto` takes the grammar of Spider where it reads at least this share of the rows, else sqlglot."""


@dataclass(frozen=True)
class Features:
    """Atoms and compounds of one distinct query.

    Attributes:
        atoms: ids of its distinct tokens, in the order they come.
        compounds: ids of its distinct compounds, in the order they come.
        counts: how often each of `compounds` occurs.
    """

    atoms: tuple[int, ...]
    compounds: tuple[int, ...]
    counts: tuple[int, ...]


@dataclass(frozen=True)
class Analysis:
    """A corpus in atoms and compounds.

    Attributes:
        grammar: "spider" or "sqlglot", the one used.
        total: rows given.
        rows: 0-based numbers of the rows that parse.
        query_ids: for each of `rows`, the index of its query in `features`.
        features: one entry per distinct query (in normal form).
        atoms: names by atom id.
        compounds: names by compound id.
        left_out: rows that do not parse, with the parser's message.
    """

    grammar: str
    total: int
    rows: tuple[int, ...]
    query_ids: tuple[int, ...]
    features: tuple[Features, ...]
    atoms: tuple[str, ...]
    compounds: tuple[str, ...]
    left_out: tuple[LeftOut, ...]


def analyse(rows: Sequence[Row], grammar: str = "auto", dialect: str = "sqlite") -> Analysis:
    """Read every query of a corpus into atoms and compounds; each distinct query is parsed once.

    Args:
        rows: with text in `query`.
        grammar: "spider", "sqlglot", or "auto" (see `AUTO_SHARE`).
        dialect: of sqlglot; the grammar of Spider knows none.

    Raises:
        SourceError: the corpus is empty, a row has no query, or none parses.
        OptionError: `grammar` or `dialect` is unknown.
    """
    choose("grammar", grammar, GRAMMARS)
    queries = queries_of(rows)
    if grammar == "sqlglot":
        return _analyse(queries, "sqlglot", _sqlglot_parser(dialect))
    analysis = _analyse(queries, "spider", lambda text, tokens: parse(tokens))
    if grammar == "auto" and len(analysis.rows) < AUTO_SHARE * len(rows):
        analysis = _analyse(queries, "sqlglot", _sqlglot_parser(dialect))
    if not analysis.rows:
        raise SourceError(
            f"the {analysis.grammar} grammar reads none of the {len(rows)} rows; the first: "
            f"{analysis.left_out[0].detail}"
        )
    return analysis


def _sqlglot_parser(dialect: str) -> _Parser:
    from spider_compose.splits.sqlglot_tree import tree_parser

    parser = tree_parser(dialect)
    return lambda text, tokens: parser(text)


def _analyse(queries: Sequence[str], grammar: str, parser: _Parser) -> Analysis:
    chains = Chains()
    atom_ids: dict[str, int] = {}
    features: list[Features] = []
    known: dict[str, int | str] = {}  # query in normal form -> index in `features`, or why it does not parse
    rows: list[int] = []
    query_ids: list[int] = []
    left_out: list[LeftOut] = []
    for number, query in enumerate(queries):
        text = normalize_query(query)
        entry = known.get(text)
        if entry is None:
            tokens = query_tokens(query)
            try:
                compounds = chains.count(parser(text, tokens))
                if not compounds:
                    raise GrammarError("the parse tree has no compound", 0)
            except GrammarError as error:
                entry = known[text] = str(error)
            else:
                atoms = tuple(atom_ids.setdefault(token, len(atom_ids)) for token in dict.fromkeys(tokens))
                entry = known[text] = len(features)
                features.append(Features(atoms, tuple(compounds), tuple(compounds.values())))
        if isinstance(entry, str):
            left_out.append(LeftOut("rows", number, "query outside the grammar", f"row {number}: {entry}"))
        else:
            rows.append(number)
            query_ids.append(entry)
    return Analysis(
        grammar,
        len(queries),
        tuple(rows),
        tuple(query_ids),
        tuple(features),
        tuple(atom_ids),
        tuple(chains.names),
        tuple(left_out),
    )


class Chains:
    """Compounds of parse trees, numbered in first-seen order.

    Different chains may spell the same string and are then the same compound; the strings are built once per
    different chain, and looked up by the productions in it.
    """

    def __init__(self) -> None:
        self.names: dict[str, int] = {}
        self._pairs: dict[tuple[str, int, str], int] = {}
        self._triples: dict[tuple[str, int, str, int, str], int] = {}

    def count(self, tree: Node) -> Counter[int]:
        """How often each compound occurs in `tree`."""
        found: list[int] = []
        pending = [tree]
        pairs, triples = self._pairs, self._triples
        while pending:
            top, children = pending.pop()
            for place, (middle, grandchildren) in enumerate(children):
                if (chain := pairs.get((top, place, middle))) is None:
                    chain = pairs[top, place, middle] = self._number(insert(top, place, middle))
                found.append(chain)
                for inner, (bottom, _) in enumerate(grandchildren):
                    if (chain := triples.get((top, place, middle, inner, bottom))) is None:
                        name = insert(top, place, insert(middle, inner, bottom))
                        chain = triples[top, place, middle, inner, bottom] = self._number(name)
                    found.append(chain)
            pending.extend(child for child in children if child.children)
        return Counter(found)

    def _number(self, name: str) -> int:
        return self.names.setdefault(name, len(self.names))


def insert(production: str, place: int, child: str) -> str:
    """Put `child` in the place of the `place`-th (0-based) `___` of `production`.

    >>> insert("___ where ___", 1, "___ = ___")
    '___ where ___ = ___'
    """
    pieces = production.split(NON_TERMINAL)
    return NON_TERMINAL.join(pieces[: place + 1]) + child + NON_TERMINAL.join(pieces[place + 1 :])
