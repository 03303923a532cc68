"""A row without the comments of its query: comments change no result, so they must change no verdict.

A model is asked about a row with comments twice, with and without them. Where only the comments make the
query good, they have spoken to the judge, in whatever words: a defence that needs no list.
"""

from __future__ import annotations

from dataclasses import replace

from spider_compose.stef.judges.protocol import Request
from spider_compose.stef.judges.quoting import without_comments
from spider_compose.stef.specification.sql import NOWHERE


def bare_request(request: Request) -> Request | None:
    """The row with a query without comments and without text around it; None where it has neither."""
    sql = request.pair.sql
    query = without_comments(request.sql, sql.dialect, sql.part)
    if query is None:
        return None
    return replace(request, sql=query, pair=replace(request.pair, sql=replace(sql, part=NOWHERE)))
