"""Queries as the published split tools see them: one normal form, and its tokens (atoms).

The tokens are those of `sqlparse`, which the published template and TMCD splits are defined with: `group by`
and `order by` are one token each, a value with its quotes is one token, `t1.name` is three. No other
tokenizer gives the same atoms, so `sqlparse` is a dependency although `sqlglot` reads all SQL elsewhere. Its
releases 0.3.1, 0.4.4 and 0.6.1 agree on Spider; 0.4.1 differs on `not in`. It is imported when the first
query is read.
"""

from __future__ import annotations

import re
from functools import lru_cache

from spider_compose.errors import MissingExtraError

_WORD = re.compile(r"\w+|[^\w\s]")


def normalize_query(query: str) -> str:
    """Lower-case `query` and collapse its white space, that inside quoted values included."""
    return " ".join(query.lower().split())


def query_tokens(query: str) -> tuple[str, ...]:
    """Tokens of a query: normal form without trailing `;`, `sqlparse` tokens without white space.

    >>> query_tokens("SELECT name FROM  t  GROUP BY a HAVING b = 'New  York' ;")
    ('select', 'name', 'from', 't', 'group by', 'a', 'having', 'b', '=', "'new york'")
    """
    try:
        # The lexer `flatten()` reads from: the grouping that `sqlparse.parse` does first would cost five
        # times as much.
        from sqlparse.lexer import tokenize
    except ImportError as error:
        raise MissingExtraError(
            "splits need the tokens of sqlparse. Install it with: pip install 'spider-compose[data]'"
        ) from error
    text = normalize_query(query).rstrip("; ")
    return tuple(value for _, value in tokenize(text) if not value.isspace())


def question_words(question: str) -> list[str]:
    """Words and punctuation marks of a text, each a word of its own."""
    return _WORD.findall(question)


@lru_cache(maxsize=1)
def sqlparse_version() -> str:
    """Version of the installed `sqlparse`; it moves tokens, so it stands in every signature."""
    import sqlparse

    return str(sqlparse.__version__)
