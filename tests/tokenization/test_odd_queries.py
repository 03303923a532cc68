# ruff: noqa: E501 - a query reads best on one line
"""Queries unlike Spider's, in many dialects: both forms are made of each, and nothing is lost on the way."""

from __future__ import annotations

import pytest

pytest.importorskip("torch", reason="the extra `models` is not installed")
pytest.importorskip("transformers", reason="the extra `models` is not installed")

from spider_compose.tokenization.collator import SQLToTextCollator
from spider_compose.tokenization.tokenizer import SQLTokenizer

TOKENIZER = SQLTokenizer.train([{"query": "SELECT a FROM b", "question": "What is a?"}], vocab_size=360)

# (dialect, query, a word that must be among the leaves)
ODD = [
    ("postgres", "SELECT a::int, b::numeric(10, 2) FROM t WHERE c ILIKE 'x%'", "ilike"),
    ("postgres", "SELECT DISTINCT ON (a) a, b FROM t ORDER BY a, b DESC NULLS LAST", "distinct"),
    ("postgres", "SELECT a -> 'key' ->> 'inner' FROM t", "inner"),
    ("postgres", "SELECT array_agg(a ORDER BY b) FILTER (WHERE c > 1) FROM t", "agg"),
    ("postgres", "SELECT date_trunc('month', ts), count(*) FROM t GROUP BY 1", "month"),
    ("postgres", "SELECT * FROM generate_series(1, 10) AS g(n)", "10"),
    ("postgres", "SELECT a FROM t WHERE b = ANY(ARRAY[1, 2, 3])", "any"),
    ("postgres", "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 5) SELECT n FROM r", "all"),
    ("postgres", "SELECT a, rank() OVER (PARTITION BY b ORDER BY c DESC) FROM t", "rank"),
    ("postgres", "SELECT a FROM t LEFT JOIN LATERAL (SELECT b FROM u WHERE u.id = t.id LIMIT 1) AS x ON true", "left"),
    ("postgres", "SELECT a FROM t WHERE (a, b) IN (SELECT c, d FROM u)", "d"),
    ("postgres", "SELECT extract(year FROM ts) FROM t WHERE ts BETWEEN now() - interval '1 day' AND now()", "day"),
    ("postgres", "SELECT a FROM t TABLESAMPLE BERNOULLI (5)", "5"),
    ("postgres", "SELECT string_agg(name, ', ') FROM t GROUP BY ROLLUP (a, b)", "rollup"),
    ("postgres", "SELECT a FROM t FOR UPDATE", "a"),
    ("mysql", "SELECT `first name` FROM `my table` LIMIT 5, 10", "10"),
    ("mysql", "SELECT group_concat(DISTINCT a ORDER BY b SEPARATOR '; ') FROM t", ";"),
    ("mysql", "SELECT a FROM t WHERE b REGEXP '^x' AND c <=> NULL", "null"),
    ("mysql", "SELECT IF(a > 1, 'many', 'few') FROM t", "few"),
    ("mysql", "SELECT date_format(d, '%Y-%m') FROM t WHERE match(a) against ('word')", "word"),
    ("mysql", "SELECT a FROM t STRAIGHT_JOIN u ON t.id = u.id", "a"),
    ("mysql", "SELECT a FROM t NATURAL JOIN u", "natural"),
    ("tsql", "SELECT TOP 10 [Order Id] FROM [dbo].[Orders] ORDER BY [Order Id]", "10"),
    ("tsql", "SELECT a FROM t ORDER BY b OFFSET 10 ROWS FETCH NEXT 5 ROWS ONLY", "5"),
    ("tsql", "SELECT a FROM t CROSS APPLY (SELECT TOP 1 b FROM u WHERE u.id = t.id) AS x", "1"),
    ("tsql", "SELECT DATEADD(day, -7, GETDATE()), ISNULL(a, 0) FROM t", "-7"),
    ("tsql", "SELECT a FROM t WHERE b = N'Zürich'", "Zürich"),
    ("tsql", "SELECT CASE WHEN a IS NULL THEN 0 ELSE a END AS x FROM t WITH (NOLOCK)", "case"),
    ("oracle", "SELECT a FROM t WHERE ROWNUM <= 5", "5"),
    ("oracle", "SELECT NVL(a, 'none') FROM t, u WHERE t.id = u.id (+)", "none"),
    ("oracle", "SELECT a FROM t START WITH p IS NULL CONNECT BY PRIOR id = p", "connect"),
    ("oracle", "SELECT a FROM t MINUS SELECT b FROM u", "b"),
    ("oracle", "SELECT LISTAGG(a, ',') WITHIN GROUP (ORDER BY a) FROM t", ","),
    ("bigquery", "SELECT * EXCEPT (a) FROM `project.dataset.table`", "a"),
    ("bigquery", "SELECT a FROM t, UNNEST(t.items) AS item WHERE item.price > 3.5", "3.5"),
    ("bigquery", "SELECT ARRAY(SELECT x FROM UNNEST([1, 2]) AS x), STRUCT(1 AS a, 'b' AS c)", "struct"),
    ("bigquery", "SELECT a FROM t QUALIFY ROW_NUMBER() OVER (PARTITION BY b ORDER BY c) = 1", "qualify"),
    ("bigquery", "SELECT SAFE_DIVIDE(a, b), COUNTIF(c > 1) FROM t", "1"),
    ("bigquery", "SELECT a FROM t WHERE b IN UNNEST([1, 2, 3])", "3"),
    ("snowflake", "SELECT a:b:c::string FROM t", "c"),
    ("snowflake", "SELECT a FROM t, LATERAL FLATTEN(input => t.items) f", "explode"),
    ("snowflake", "SELECT IFF(a > 1, 2, 3) FROM t SAMPLE (10)", "10"),
    ("snowflake", "SELECT a FROM t QUALIFY rank() OVER (ORDER BY b) < 4", "4"),
    ("snowflake", "SELECT $1, $2 FROM VALUES (1, 'x'), (2, 'y')", "y"),
    ("duckdb", "FROM t SELECT a WHERE b > 2", "2"),
    ("duckdb", "SELECT list_transform([1, 2], x -> x + 1)", "1"),
    ("duckdb", "SELECT COLUMNS('a.*') FROM t", "columns"),
    ("duckdb", "PIVOT t ON a USING sum(b)", None),
    ("duckdb", "SELECT a FROM t ASOF JOIN u USING (id)", "asof"),
    ("duckdb", "SELECT a FROM t GROUP BY ALL ORDER BY ALL", "a"),
    ("spark", "SELECT a FROM t LATERAL VIEW explode(items) x AS item", "lateral"),
    ("spark", "SELECT a FROM t LEFT SEMI JOIN u ON t.id = u.id", "semi"),
    ("spark", "SELECT a FROM t LEFT ANTI JOIN u ON t.id = u.id", "anti"),
    ("spark", "SELECT transform(items, x -> x * 2) FROM t DISTRIBUTE BY a SORT BY b", "2"),
    ("hive", "SELECT a FROM t CLUSTER BY b", "b"),
    ("clickhouse", "SELECT a FROM t PREWHERE b > 1 WHERE c < 2 LIMIT 3 BY a", "3"),
    ("clickhouse", "SELECT uniqExact(a), quantile(0.9)(b) FROM t FINAL", "0.9"),
    ("clickhouse", "SELECT arrayMap(x -> x + 1, [1, 2]) FROM t ARRAY JOIN items", "1"),
    ("presto", "SELECT approx_distinct(a) FROM t WHERE regexp_like(b, 'x')", "x"),
    ("trino", "SELECT try_cast(a AS bigint), element_at(m, 'k') FROM t CROSS JOIN UNNEST(items) AS u (item)", "k"),
    ("redshift", "SELECT a, median(b) FROM t GROUP BY a ORDER BY 2 LIMIT 5", "5"),
    ("sqlite", "SELECT a FROM t WHERE b GLOB 'x*' AND c NOT NULL AND d IS NOT 3", "3"),
    ("sqlite", "VALUES (1, 2), (3, 4)", None),
    ("sqlite", "SELECT a FROM t WHERE b = \"it's\" AND c = 'a \"quoted\" word' AND d = X'ff'", "word"),
    ("sqlite", "SELECT -a, +b, ~c, a << 2, a & b, a | b, a % 2, a || b FROM t", "2"),
    ("sqlite", "SELECT count(*) FILTER (WHERE a > 1), total(b) OVER w FROM t WINDOW w AS (ORDER BY c)", "total"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("dialect", "query", "word"), ODD, ids=[f"{case[0]}-{number}" for number, case in enumerate(ODD)]
)
def test_odd_query(dialect: str, query: str, word: str | None) -> None:
    from spider_compose.errors import ClauseError
    from spider_compose.sql.canonical import canonical_words
    from spider_compose.sql.tree import build_tree

    if word is None:  # a statement that starts like no query: refused, not read as another one
        with pytest.raises(ClauseError, match="expected one query"):
            build_tree(query, None, dialect)
        return
    tree = build_tree(query, None, dialect)
    below = tree.children()
    leaves = " ".join(node.label for node, own in zip(tree.nodes, below, strict=True) if not own)
    assert word in leaves.replace("'", " ").split() or word in leaves, leaves
    assert "?" not in leaves.split(), leaves
    assert all(piece.text for piece in canonical_words(tree))
    for form in ("sequence", "tree"):
        batch = SQLToTextCollator(TOKENIZER, form)([TOKENIZER.encode_sql(query, dialect=dialect, form=form)])
        assert batch["input_ids"].shape[0] == 1
