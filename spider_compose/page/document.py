"""An HTML document that asks for nothing outside itself.

Its policy (`default-src 'none'`, style and script by their hashes) would run nothing that slipped through
`markup.element`, and load nothing.
"""

from __future__ import annotations

import base64
import hashlib
from importlib import resources

from spider_compose.page.markup import Markup, element


def document(
    title: str,
    *body: str,
    styles: tuple[str, ...] = (),
    script: str = "",
    class_: str | None = None,
) -> str:
    """The document.

    Args:
        body: children of its body.
        styles: style sheets after `page.css`, as text.
        script: JavaScript, or none.
        class_: of the body.
    """
    style = "".join((text_of("page.css"), *styles))
    policy = [
        "default-src 'none'",
        f"style-src {_hash(style)}",
        *([f"script-src {_hash(script)}"] if script else []),
        "base-uri 'none'",
        "form-action 'none'",
    ]
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content="; ".join(policy)),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", name="referrer", content="no-referrer"),
        element("title", title),
        element("style", Markup(style)),
    )
    scripts = [element("script", Markup(script))] if script else []
    page = element("html", head, element("body", *body, *scripts, class_=class_), lang="en")
    return f"<!doctype html>\n{page}\n"


def facts(*pairs: tuple[str, str]) -> Markup:
    """Names and values, as a list of definitions."""
    items = (
        element("div", element("dt", name), element("dd", value), class_="fact") for name, value in pairs
    )
    return element("dl", *items, class_="facts")


def signature(text: str, name: str = "Signature") -> Markup:
    """A signature, folded away, one setting a line."""
    return element(
        "details",
        element("summary", name),
        element("pre", text.replace("|", "\n")),
        class_="signature",
    )


def text_of(name: str, package: str = __package__) -> str:
    """A style sheet or script that lies beside the modules of `package`."""
    return resources.files(package).joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
