"""Variables of text2sql-data, filled into SQL and sentences: `city_name0` -> `"boston"`."""

from __future__ import annotations

import re
from collections.abc import Mapping

# A quoted text with the marks of LIKE and doubled quotes in it, or a name.
_QUOTED_OR_NAME = re.compile(
    r"""(?P<quote>["'])(?P<text>(?:(?!(?P=quote)).|(?P=quote){2})*)(?P=quote)|\w+""", re.DOTALL
)
_NAME = re.compile(r"\w+")
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)")


def fill_sentence(text: str, values: Mapping[str, str]) -> str:
    """A sentence with its variables' values.

    >>> fill_sentence("flights to city_name0 .", {"city_name0": "boston"})
    'flights to boston .'
    """
    return _NAME.sub(lambda name: values.get(name[0], name[0]), text)


def fill_query(query: str, values: Mapping[str, str]) -> str:
    """A query with its variables' values: quotes in them are doubled, texts outside of quotes get some.

    >>> fill_query('SELECT a FROM t WHERE b = "name0" AND c > year0', {"name0": 'x "y" z', "year0": "2001"})
    'SELECT a FROM t WHERE b = "x ""y"" z" AND c > 2001'
    """

    def filled(found: re.Match[str]) -> str:
        quote = found["quote"]
        if quote:
            quoted = {name: value.replace(quote, quote * 2) for name, value in values.items()}
            return quote + fill_sentence(found["text"], quoted) + quote
        value = values.get(found[0])
        return found[0] if value is None else number_or_text(value)

    return _QUOTED_OR_NAME.sub(filled, query)


def number_or_text(value: str, quote: str = '"') -> str:
    """A value as SQL: a number as it stands, a text in quotes.

    >>> print(number_or_text("4.5"), number_or_text("4,884"))
    4.5 "4,884"
    """
    return value if _NUMBER.fullmatch(value) else quote + value.replace(quote, quote * 2) + quote
