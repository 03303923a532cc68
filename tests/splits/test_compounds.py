"""Tokens, the two grammars, and compounds."""

from __future__ import annotations

import subprocess
import sys

import pytest

from spider_compose.errors import OptionError, SourceError
from spider_compose.splits.compounds import Chains, analyse
from spider_compose.splits.grammar import MAX_DEPTH, GrammarError, Node, parse
from spider_compose.splits.sqlglot_tree import tree_parser
from spider_compose.splits.text import query_tokens, question_words


@pytest.mark.parametrize(
    ("query", "tokens"),
    [
        pytest.param("SELECT  A\nFROM b ;", ["select", "a", "from", "b"], id="case-space-semicolon"),
        pytest.param("GROUP BY a ORDER  BY b", ["group by", "a", "order by", "b"], id="keyword-of-two-words"),
        pytest.param("a NOT IN (1)", ["a", "not", "in", "(", "1", ")"], id="not-in-is-two"),
        pytest.param("a NOT LIKE 'x'", ["a", "not like", "'x'"], id="not-like-is-one"),
        pytest.param("b = 'New  York'", ["b", "=", "'new york'"], id="value-is-one"),
        pytest.param('b = "x y"', ["b", "=", '"x y"'], id="double-quotes"),
        pytest.param("t1.name >= -3.5", ["t1", ".", "name", ">=", "-3.5"], id="dot-and-number"),
    ],
)
def test_query_tokens(query: str, tokens: list[str]) -> None:
    assert list(query_tokens(query)) == tokens


@pytest.mark.parametrize(
    "query",
    [
        "SELECT count(*) FROM t AS t1 WHERE a NOT IN (SELECT b FROM c) AND d = 'it''s ; x' ;",
        "SELECT a , avg(DISTINCT b) FROM c GROUP BY a HAVING count(*) >= 3 ORDER BY a DESC LIMIT 1",
        'SELECT a FROM b WHERE c BETWEEN 1 AND 2 OR d LIKE "%x%" UNION SELECT e FROM f',
    ],
)
def test_tokens_are_those_of_flatten(query: str) -> None:
    sqlparse = pytest.importorskip("sqlparse")
    text = " ".join(query.lower().split()).rstrip("; ")
    flat = [str(token) for token in sqlparse.parse(text)[0].flatten() if not token.is_whitespace]
    assert list(query_tokens(query)) == flat


def test_question_words() -> None:
    assert question_words("What's the city's name?") == [
        "What",
        "'",
        "s",
        "the",
        "city",
        "'",
        "s",
        "name",
        "?",
    ]


def show(node: Node) -> str:
    """A tree in one line: production[children]."""
    return node.production + (f"[{' | '.join(map(show, node.children))}]" if node.children else "")


@pytest.mark.parametrize(
    ("query", "tree"),
    [
        pytest.param("select a from b", "select ___ from ___[a | b]", id="units-collapse"),
        pytest.param(
            "select distinct a , b , c from t",
            "select distinct ___ from ___[___ , ___[___ , ___[a | b] | c] | t]",
            id="lists-nest-left",
        ),
        pytest.param(
            "select * from t where a = 1 or b > 2 and c < 3",
            "___ where ___[select ___ from ___[* | t] | ___ and ___[___ or ___[___ = ___[a | 1] |"
            " ___ > ___[b | 2]]"
            " | ___ < ___[c | 3]]]",
            id="conditions-have-no-precedence",
        ),
        pytest.param(
            "select t1.a from x as t1 join y as t2 on t1.b = t2.b and t1.c = t2.c",
            "select ___ from ___[___ . ___[t1 | a] | ___ join ___[___ as ___[x | t1] | ___ on"
            " ___[___ as ___[y | t2]"
            " | ___ and ___[___ = ___[___ . ___[t1 | b] | ___ . ___[t2 | b]]"
            " | ___ = ___[___ . ___[t1 | c] | ___ . ___[t2 | c]]]]]]",
            id="join-on-two",
        ),
        pytest.param(
            "select a from x join y join z",
            "select ___ from ___[a | ___ join ___[___ join ___[x | y] | z]]",
            id="join-without-on",
        ),
        pytest.param("select a - b from t", "select ___ from ___[___ - ___[a | b] | t]", id="arithmetic"),
        pytest.param(
            "select max(a) from t group by b , c having count(*) > 1 order by d desc , e limit 3",
            "___ limit ___[___ order by ___[___ having ___[___ group by ___[select ___ from"
            " ___[max ( ___ )[a] | t]"
            " | ___ , ___[b | c]] | ___ > ___[count ( ___ )[*] | 1]] | ___ , ___[___ desc[d] | e]] | 3]",
            id="every-clause",
        ),
        pytest.param(
            "select a from t where b between - 1 and 5",
            "___ where ___[select ___ from ___[a | t] | ___ ___[b | between - ___ and ___[1 | 5]]]",
            id="between",
        ),
        pytest.param(
            "select a from t where b not in (select c from d)",
            "___ where ___[select ___ from ___[a | t] | ___ not in ___[b | ( ___ )[select ___"
            " from ___[c | d]]]]",
            id="nested-query",
        ),
        pytest.param(
            "select a from (select b from c) union select d from e",
            "___ union ___[select ___ from ___[a | ( ___ )[select ___ from ___[b | c]]] | select"
            " ___ from ___[d | e]]",
            id="query-in-from",
        ),
        pytest.param(
            "select a from t where b = 'new york' order by c > 1",
            "___ order by ___[___ where ___[select ___ from ___[a | t] | ___ = ___[b | 'new york']]"
            " | ___ > ___[c | 1]]",
            id="value-with-space-and-order-comparison",
        ),
        pytest.param("select order from group", "select ___ from ___[order | group]", id="keywords-as-names"),
        pytest.param(
            "select a from t where b not like 'x'",
            "___ where ___[select ___ from ___[a | t] | ___ not like ___[b | 'x']]",
            id="not-like",
        ),
    ],
)
def test_grammar(query: str, tree: str) -> None:
    assert show(parse(query_tokens(query))) == tree


@pytest.mark.parametrize(
    ("query", "message"),
    [
        pytest.param("", "expected 'select' after token 0", id="empty"),
        pytest.param("where a > 1", "expected 'select', but got 'where' at token 0", id="no-select"),
        pytest.param("select a", "expected 'from' after token 2", id="cut-short"),
        pytest.param("select a from t where", "a name or a value after", id="no-condition"),
        pytest.param("select a from t where b", "expected a comparison", id="no-comparison"),
        pytest.param("select a from t where b not = 1", "expected a comparison", id="not-equal"),
        pytest.param("select a from t where b is null", "expected a comparison", id="is-null"),
        pytest.param(
            "select count(a) - b from t", "expected 'from', but got '-'", id="arithmetic-takes-terms"
        ),
        pytest.param("select a from t x", "expected the end of the query, but got 'x' at token 4", id="rest"),
        pytest.param(
            "select a from t join u on a = b or c = d", "the end of the query, but got 'or'", id="or-in-on"
        ),
        pytest.param(
            "select a from t union select a from u except select a from v",
            "more than one reading",
            id="two-unions",
        ),
        pytest.param("select t.a as b from t", "more than one reading", id="dot-and-as"),
        pytest.param("select count(a from t", "expected ')'", id="open-bracket"),
        pytest.param(
            "select " + "(" * 5000 + "a" + ")" * 5000 + " from t", f"deeper than {MAX_DEPTH}", id="hostile"
        ),
        pytest.param(
            "select a from t where b in " + "(select a from t where b in " * 3000,
            f"deeper than {MAX_DEPTH}",
            id="deep",
        ),
    ],
)
def test_grammar_refuses(query: str, message: str) -> None:
    with pytest.raises(GrammarError, match=message.replace("(", r"\(").replace(")", r"\)")):
        parse(query_tokens(query))


def test_long_lists_do_not_recurse() -> None:
    names = " , ".join(f"c{number}" for number in range(5000))
    tests = " and ".join(f"c{number} = {number}" for number in range(5000))
    tree = parse(query_tokens(f"select {names} from t where {tests}"))
    assert sum(Chains().count(tree).values()) > 30_000


def test_depth_is_of_open_brackets_only() -> None:
    parse(query_tokens(f"select {' , '.join(['count(a)'] * (2 * MAX_DEPTH))} from t"))


def test_chains_by_hand() -> None:
    chains = Chains()
    counts = chains.count(parse(query_tokens("select a , a from t where a = 1")))
    names = list(chains.names)
    assert {names[chain]: count for chain, count in counts.items()} == {
        "select ___ from ___ where ___": 1,
        "___ where ___ = ___": 1,
        "select ___ , ___ from ___ where ___": 1,
        "select ___ from t where ___": 1,
        "___ where a = ___": 1,
        "___ where ___ = 1": 1,
        "select ___ , ___ from ___": 1,
        "select ___ from t": 1,
        "select a , ___ from ___": 1,
        "select ___ , a from ___": 1,
        "a , ___": 1,
        "___ , a": 1,
        "a = ___": 1,
        "___ = 1": 1,
    }


def test_chains_count_multiplicity() -> None:
    chains = Chains()
    counts = chains.count(parse(query_tokens("select a from t where b = 1 and b = 1 and b = 1")))
    assert counts[chains.names["b = ___"]] == 3


@pytest.mark.parametrize(
    ("query", "tree"),
    [
        pytest.param("select a from b", "select ___ from_ ___[a | b]", id="wrappers-collapse"),
        pytest.param(
            "select t1.a from b as t1 where c = 'x y' or d in (1, 2) group by 1 limit 3",
            "___ limit ___[___ group ___[___ where ___[select ___ from_ ___[column ___ table ___[a | t1]"
            " | table ___ alias ___[b | t1]] | or ___ ___[eq ___ ___[c | 'x y'] | in ___ ___[d |"
            " ___ , ___[1 | 2]]]]"
            " | 1] | 3]",
            id="a-level-per-clause",
        ),
        pytest.param(
            "select a from b union select c from d order by a desc",
            "___ order ___[union distinct ___ ___[select ___ from_ ___[a | b] | select ___ from_ ___[c | d]]"
            " | ordered desc ___[a]]",
            id="flags",
        ),
    ],
)
def test_sqlglot_tree(query: str, tree: str) -> None:
    assert show(tree_parser("sqlite")(query)) == tree


@pytest.mark.parametrize(
    ("query", "message"),
    [
        pytest.param("select from from from", "sqlglot", id="no-parse"),
        pytest.param("select 'a", "sqlglot", id="open-quote"),
        pytest.param("drop table t", "expected one query", id="statement"),
        pytest.param("select 1; select 2", "expected one query", id="two"),
        pytest.param("select " + "(" * 5000 + "1" + ")" * 5000, "deeper", id="hostile"),
        pytest.param("select " + "not " * 20_000 + "1", "deeply", id="hostile-prefix"),
    ],
)
def test_sqlglot_tree_refuses(query: str, message: str) -> None:
    with pytest.raises(GrammarError, match=message):
        tree_parser("sqlite")(query)


def test_sqlglot_reads_long_conditions() -> None:
    query = "select a from t where " + " and ".join(f"c{number} = {number}" for number in range(3000))
    assert sum(Chains().count(tree_parser("sqlite")(query)).values()) > 10_000


def rows(*queries: str) -> list[dict[str, str]]:
    return [{"db_id": "d", "query": query, "question": "q"} for query in queries]


CASES = ["select a from t", "select case when a = 1 then 2 end from t"]


@pytest.mark.parametrize(
    ("queries", "grammar", "used", "left_out"),
    [
        pytest.param(CASES * 5, "spider", "spider", [1, 3, 5, 7, 9], id="spider"),
        pytest.param(CASES * 5, "sqlglot", "sqlglot", [], id="sqlglot"),
        pytest.param(CASES * 5, "auto", "sqlglot", [], id="auto-takes-sqlglot"),
        pytest.param([CASES[0]] * 38 + CASES, "auto", "spider", [39], id="auto-takes-spider"),
        pytest.param(
            [CASES[1], "select case a when 1 then 2 end from t"], "auto", "sqlglot", [], id="none-of-spider"
        ),
    ],
)
def test_analyse_grammar(queries: list[str], grammar: str, used: str, left_out: list[int]) -> None:
    analysis = analyse(rows(*queries), grammar)
    assert analysis.grammar == used
    assert [entry.row for entry in analysis.left_out] == left_out
    assert all(f"row {entry.row}: " in entry.detail for entry in analysis.left_out)
    assert sorted([*analysis.rows, *left_out]) == list(range(len(queries)))


def test_analyse_reads_each_query_once() -> None:
    analysis = analyse(rows("SELECT a FROM t", "select  a from t ;", "select b from t"))
    assert len(analysis.features) == 3  # the `;` makes another normal form
    assert analysis.features[0] == analysis.features[1]


@pytest.mark.parametrize(
    ("corpus", "grammar", "error", "message"),
    [
        pytest.param([], "auto", SourceError, "empty", id="empty"),
        pytest.param(
            [{"query": ""}], "auto", SourceError, "row 0: expected text in column 'query'", id="no-text"
        ),
        pytest.param([{"sql": "x"}], "auto", SourceError, "row 0: .* None", id="no-column"),
        pytest.param(
            rows("nonsense"), "auto", SourceError, "reads none of the 1 rows; the first: row 0", id="none"
        ),
        pytest.param(rows("select a from t"), "spidr", OptionError, "Did you mean 'spider'", id="grammar"),
    ],
)
def test_analyse_errors(
    corpus: list[dict[str, str]], grammar: str, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        analyse(corpus, grammar)


def test_unknown_dialect() -> None:
    with pytest.raises(OptionError, match="dialect"):
        analyse(rows("select a from t"), "sqlglot", "sqlit")


def test_import_is_light() -> None:
    code = (
        "import sys; import spider_compose.splits as s; s.tmcd_split; s.template_split; s.remove_overlap; "
        "s.divergence_report; print([m for m in ('numpy', 'sqlparse', 'sqlglot', 'pyarrow')"
        " if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
