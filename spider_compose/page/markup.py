"""HTML that cannot be left unescaped: text becomes markup only through `element`."""

from __future__ import annotations

import html
import re

# Characters that HTML does not allow, white space aside; shown by the sign for "unknown".
_FORBIDDEN = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f\ufdd0-\ufdef\ufffe\uffff]")

_VOID = {"meta", "link", "input", "br"}


class Markup(str):
    """HTML as it goes into the page."""

    __slots__ = ()


def escape(text: str) -> Markup:
    """Text as markup; what is markup stays as it is."""
    if isinstance(text, Markup):
        return text
    return Markup(html.escape(_FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text)))


def join(*children: str) -> Markup:
    """Children side by side."""
    return Markup("".join(map(escape, children)))


def element(name: str, /, *children: str, **attributes: str | bool | None) -> Markup:
    """An element.

    Args:
        children: text, which is escaped, or markup.
        attributes: `class_` is class, `data_id` is data-id; True is an attribute without a value, None and
            False leave it out.

    >>> print(element("p", "1 < 2 & ", element("b", "bold"), class_="a", hidden=True))
    <p class="a" hidden>1 &lt; 2 &amp; <b>bold</b></p>
    """
    opening = name
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        opening += " " + key.rstrip("_").replace("_", "-")
        if value is not True:
            opening += f'="{escape(str(value))}"'
    if name in _VOID:
        return Markup(f"<{opening}>")
    return Markup(f"<{opening}>{join(*children)}</{name}>")
