"""Template split (Finegan-Dollak et al. 2018, section 4): no query pattern is in two parts.

A template is a query with its numbers and quoted values blanked out; table and column names stay.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

from spider_compose.errors import OptionError, SourceError, choose
from spider_compose.splits.parts import (
    Row,
    SplitRows,
    check_seed,
    check_train_size,
    make_signature,
    queries_to_split,
)
from spider_compose.splits.text import query_tokens, sqlparse_version

METHODS = ("published",)
PLACEHOLDER = "___"

_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")


def template_of(query: str) -> str:
    """The template of a query: numeric tokens, then every span between quotes, become a placeholder.

    >>> template_of("SELECT name FROM t WHERE age > 3 AND city = 'New York'")
    'select name from t where age > ___ and city = ___'
    """
    return template_of_tokens(query_tokens(query))


def template_of_tokens(tokens: Sequence[str]) -> str:
    """The template of a query whose tokens are known."""
    return _QUOTED.sub(PLACEHOLDER, " ".join(PLACEHOLDER if _is_number(token) else token for token in tokens))


def template_split(
    rows: Sequence[Row], train_size: int, seed: int = 1, method: str = "published"
) -> SplitRows:
    """Split a corpus so that no template is in both parts.

    Templates in first-seen order are shuffled, then taken whole into `train` until the next would pass
    `train_size`; from then on all go to `rest`. So `train` may be smaller than `train_size`.

    Args:
        rows: with text in `query`.
        train_size: the most rows `train` may have, 1 to `len(rows)` - 1.
        seed: of `random.seed`, for the order of the templates.
        method: "published", the tool of Shaw et al. 2021.

    Raises:
        SourceError: the corpus is empty, has one row, or all its rows have one template.
        OptionError: `train_size` or `method` is out of range, or the first template alone is larger than
            `train_size`.
    """
    choose("method", method, METHODS)
    train, rest = take_templates(rows, [train_size], seed)
    return SplitRows(
        train=tuple(train),
        rest=tuple(sorted(rest)),
        signature=make_signature(
            split="template",
            method=method,
            seed=seed,
            rows=len(rows),
            train_size=train_size,
            sqlparse=sqlparse_version(),
        ),
    )


def take_templates(rows: Sequence[Row], caps: Sequence[int], seed: int) -> list[list[int]]:
    """Fill one part per cap with whole shuffled templates, and one more with what is left.

    A part ends before the first template that would pass its cap; that template opens the next part.

    Returns:
        len(caps) + 1 lists of row numbers.

    Raises:
        SourceError: as in `template_split`.
        OptionError: a cap is out of range, or a part stays empty because a single template is larger than its
            cap.
    """
    check_seed(seed)
    queries = queries_to_split(rows)
    for cap in caps:
        check_train_size(cap, len(rows))
    groups = template_groups(queries)
    if len(groups) <= len(caps):
        raise SourceError(
            f"expected at least {len(caps) + 1} templates, one per part, but the {len(rows)} rows have "
            f"{len(groups)}"
        )
    order = list(groups)
    random.Random(seed).shuffle(order)
    parts: list[list[int]] = [[]]
    for template in order:
        group = groups[template]
        # What does not fit opens the next part; nothing later is fitted in, as in the published tool.
        while len(parts) <= len(caps) and len(parts[-1]) + len(group) > caps[len(parts) - 1]:
            if not parts[-1]:
                raise OptionError(
                    f"a part of at most {caps[len(parts) - 1]} rows cannot take the template {template!r}, "
                    f"which has {len(group)} rows; take larger parts or another seed"
                )
            parts.append([])
        parts[-1].extend(group)
    if len(parts) <= len(caps):
        raise OptionError(
            f"the templates of {len(rows)} rows fill {len(parts)} of {len(caps) + 1} parts; take another seed"
        )
    return parts


def template_groups(queries: Sequence[str]) -> dict[str, list[int]]:
    """Row numbers by template, templates in first-seen order."""
    known: dict[str, str] = {}
    groups: dict[str, list[int]] = {}
    for number, query in enumerate(queries):
        template = known.get(query)
        if template is None:
            template = known[query] = template_of(query)
        groups.setdefault(template, []).append(number)
    return groups


def _is_number(token: str) -> bool:
    try:
        float(token)
    except ValueError:
        return False
    return True
