"""The grammar the TMCD compounds of Spider are defined with (Shaw et al. 2021), and its parser.

Non-terminals and productions, with `|` between alternatives; quoted words are tokens:

    query   : query (union|intersect|except) query | select
    select  : 'select' ['distinct'] items 'from' source
            | select 'where' cond | select 'group by' keys | select 'having' cond
            | select 'order by' order | select 'limit' term
    items   : value | list                  list   : value ',' value | list ',' value
    value   : term | term (-|+|/|*) term | '(' query ')' | '(' value ')'
            | (sum|avg|max|min) '(' value ')' | 'count' '(' ['distinct'] value ')'
    source  : '(' query ')' | term | source 'join' term | source 'join' joined
    joined  : term 'on' join | term 'on' joins
    join    : term '=' term                 joins  : join 'and' join | joins 'and' join
    keys    : term | keys ',' term
    cond    : test | conds                  conds  : test (or|and|',') test | conds (or|and|',') test
    test    : value op value | value range  op     : like, not like, in, not in, =, !=, >, <, >=, <=
    range   : 'between' ['-'] value 'and' value
    order   : key | keylist                 keylist: key ',' key | keylist ',' key
    key     : value ['desc'|'asc'] | value (>|>=|<|<=) value
    term    : '*' | term 'as' term | term '.' term | any token that is no keyword

Unit productions are collapsed: a node never has a single non-terminal and nothing else. Lists nest to the
left, so long ones are read in loops; only parentheses recurse, and their depth is limited. `query` and `term`
are ambiguous in chains of three (`a union b except c`, `t1 . a as b`): such queries have no one tree, and the
published tool refuses them, so this parser does too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from spider_compose.errors import SpiderComposeError

MAX_DEPTH = 64
"""Deepest nesting of parentheses that is read; the deepest in Spider's training split is 3."""

NON_TERMINAL = "___"
"""What stands in a production for each of its non-terminals."""

_AGGREGATES = frozenset({"sum", "avg", "max", "min"})
_ARITHMETIC = frozenset("-+/*")
_COMPARISONS = frozenset({"=", "!=", ">", "<", ">=", "<=", "like", "in"})
_ORDER_COMPARISONS = frozenset({">", ">=", "<", "<="})
_SET_OPERATORS = frozenset({"union", "intersect", "except"})
_CONNECTIVES = frozenset({"or", "and", ","})
_DIRECTIONS = frozenset({"desc", "asc"})
_TERM_OPERATORS = frozenset({".", "as"})
# `group`, `order`, `by` and `having` alone are names (a column may be called so); `is`, `exists` and `none`
# never are.
_KEYWORDS = frozenset(
    "select distinct from where limit union intersect except join on and or as between like in not is exists "
    "none desc asc sum avg max min count ( ) , . = != > < >= <= - + / *".split()
)
_END = ""


class GrammarError(SpiderComposeError, ValueError):
    """A query is outside the grammar.

    Attributes:
        position: 0-based index of the token where reading stopped.
    """

    def __init__(self, message: str, position: int) -> None:
        super().__init__(message)
        self.position = position


class Node(NamedTuple):
    """A node of a parse tree: its production, `___` for each non-terminal, and one child per `___`."""

    production: str
    children: tuple[Node, ...] = ()


def parse(tokens: Sequence[str]) -> Node:
    """Parse the tokens of one query.

    Args:
        tokens: as `query_tokens` gives them; `group by` and the like are split at their spaces here.

    Raises:
        GrammarError: the query is outside the grammar, or nested deeper than `MAX_DEPTH`.
    """
    words: list[str] = []
    for token in tokens:
        if " " in token and token[0] not in "'\"`[":
            words.extend(token.split())
        else:
            words.append(token)
    return _Parser(words).parse()


class _Parser:
    """Recursive descent; one method per non-terminal, each starting at `self.position`."""

    def __init__(self, words: list[str]) -> None:
        self.words = [*words, _END]
        self.position = 0
        self.depth = 0

    def parse(self) -> Node:
        node = self.query()
        if self.words[self.position] != _END:
            raise self.error("the end of the query")
        return node

    def error(self, expected: str) -> GrammarError:
        found = self.words[self.position]
        around = " ".join(self.words[max(0, self.position - 4) : self.position + 4]).strip()
        where = f"token {self.position}: {around!r}"
        return GrammarError(
            f"expected {expected}, but got {found!r} at {where}"
            if found
            else f"expected {expected} after {where}",
            self.position,
        )

    def expect(self, word: str) -> None:
        if self.words[self.position] != word:
            raise self.error(repr(word))
        self.position += 1

    def accept(self, word: str) -> bool:
        if self.words[self.position] == word:
            self.position += 1
            return True
        return False

    def take(self, words: frozenset[str]) -> str:
        """The next token if it is one of `words`, else an empty string."""
        word = self.words[self.position]
        if word in words:
            self.position += 1
            return word
        return ""

    def open(self) -> None:
        self.expect("(")
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise GrammarError(f"parentheses nested deeper than {MAX_DEPTH} levels", self.position)

    def close(self) -> None:
        self.expect(")")
        self.depth -= 1

    def query(self) -> Node:
        node = self.select()
        if operator := self.take(_SET_OPERATORS):
            node = Node(f"___ {operator} ___", (node, self.select()))
        if self.words[self.position] in _SET_OPERATORS:
            raise self.error("no second set operator (a chain of them has more than one reading)")
        return node

    def select(self) -> Node:
        self.expect("select")
        head = "select distinct ___ from ___" if self.accept("distinct") else "select ___ from ___"
        items = self.items()
        self.expect("from")
        node = Node(head, (items, self.source()))
        while True:
            word = self.words[self.position]
            if word == "where" or word == "having":
                self.position += 1
                node = Node(f"___ {word} ___", (node, self.condition()))
            elif word == "group":
                self.position += 1
                self.expect("by")
                node = Node("___ group by ___", (node, self.keys()))
            elif word == "order":
                self.position += 1
                self.expect("by")
                node = Node("___ order by ___", (node, self.order()))
            elif word == "limit":
                self.position += 1
                node = Node("___ limit ___", (node, self.term()))
            else:
                return node

    def items(self) -> Node:
        node = self.value()
        while self.accept(","):
            node = Node("___ , ___", (node, self.value()))
        return node

    def value(self) -> Node:
        word = self.words[self.position]
        if word == "(":
            self.open()
            if self.words[self.position] == "select":
                node = self.query()
            else:
                node = self.value()
            self.close()
            return Node("( ___ )", (node,))
        if word in _AGGREGATES:
            self.position += 1
            self.open()
            node = self.value()
            self.close()
            return Node(f"{word} ( ___ )", (node,))
        if word == "count":
            self.position += 1
            self.open()
            head = "count ( distinct ___ )" if self.accept("distinct") else "count ( ___ )"
            node = self.value()
            self.close()
            return Node(head, (node,))
        node = self.term()
        if operator := self.take(_ARITHMETIC):
            return Node(f"___ {operator} ___", (node, self.term()))
        return node

    def source(self) -> Node:
        if self.words[self.position] == "(":
            self.open()
            node = Node("( ___ )", (self.query(),))
            self.close()
        else:
            node = self.term()
        while self.accept("join"):
            right = self.term()
            if self.accept("on"):
                right = Node("___ on ___", (right, self.joins()))
            node = Node("___ join ___", (node, right))
        return node

    def joins(self) -> Node:
        node = self.join()
        while self.accept("and"):
            node = Node("___ and ___", (node, self.join()))
        return node

    def join(self) -> Node:
        left = self.term()
        self.expect("=")
        return Node("___ = ___", (left, self.term()))

    def keys(self) -> Node:
        node = self.term()
        while self.accept(","):
            node = Node("___ , ___", (node, self.term()))
        return node

    def condition(self) -> Node:
        node = self.test()
        while word := self.take(_CONNECTIVES):
            node = Node(f"___ {word} ___", (node, self.test()))
        return node

    def test(self) -> Node:
        left = self.value()
        if self.accept("between"):
            head = "between - ___ and ___" if self.accept("-") else "between ___ and ___"
            low = self.value()
            self.expect("and")
            return Node("___ ___", (left, Node(head, (low, self.value()))))
        negated = "not " if self.accept("not") else ""
        operator = self.take(_COMPARISONS)
        if not operator or (negated and operator not in ("like", "in")):
            raise self.error("a comparison")
        return Node(f"___ {negated}{operator} ___", (left, self.value()))

    def order(self) -> Node:
        node = self.key()
        while self.accept(","):
            node = Node("___ , ___", (node, self.key()))
        return node

    def key(self) -> Node:
        node = self.value()
        if operator := self.take(_ORDER_COMPARISONS):
            return Node(f"___ {operator} ___", (node, self.value()))
        if direction := self.take(_DIRECTIONS):
            return Node(f"___ {direction}", (node,))
        return node

    def term(self) -> Node:
        node = self.name()
        if operator := self.take(_TERM_OPERATORS):
            node = Node(f"___ {operator} ___", (node, self.name()))
            if self.words[self.position] in _TERM_OPERATORS:
                raise self.error(
                    "no second `.` or `as` in a term (a chain of them has more than one reading)"
                )
        return node

    def name(self) -> Node:
        word = self.words[self.position]
        if word == "*" or (word and word not in _KEYWORDS):
            self.position += 1
            return Node(word)
        raise self.error("a name or a value")
