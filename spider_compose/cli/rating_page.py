"""A rater's sheet as one HTML page that asks for nothing outside itself.

Without its script the page shows the guidelines and all sentences; the script shows one sentence at a time,
after the guidelines, and takes the ratings. Texts are untrusted: `markup.element` escapes them.
"""

from __future__ import annotations

from spider_compose.evaluation.ratings.scale import EXAMPLE_SQL, EXAMPLES, GUIDELINES, LABELS
from spider_compose.evaluation.ratings.study import Item, Study, Text
from spider_compose.page.document import document, text_of
from spider_compose.page.markup import Markup, element, join


def render_sheet(study: Study, rater: int) -> str:
    """The page of one rater, 1 and up."""
    items = study.key.order(rater)
    sheet = study.key.sheet(rater)
    return document(
        f"Rating sheet {sheet}",
        element("header", _heading(), _guidelines(), class_="top"),
        _progress(),
        element(
            "main",
            *(_item(item, study.texts[item.code], place) for place, item in enumerate(items, start=1)),
            _finish(),
            id="items",
            data_sheet=sheet,
        ),
        _scale(),
        styles=(text_of("rating.css", __package__),),
        script=text_of("rating.js", __package__),
        class_="rating",
    )


def _heading() -> Markup:
    return join(
        element("h1", "Does the sentence say what the SQL asks?"),
        element("p", id="notice", role="status", hidden=True),
        element(
            "noscript",
            element(
                "p",
                "This page needs JavaScript to take ratings. Without it, write them into the CSV sheet.",
                class_="notice",
            ),
        ),
    )


def _guidelines() -> Markup:
    scale = (
        element(
            "tr", element("th", str(rating), scope="row"), element("td", element("b", name), " ", meaning)
        )
        for rating, (name, meaning) in LABELS.items()
    )
    examples = (
        element(
            "tr",
            element("th", str(example.rating), scope="row"),
            element("td", example.sentence, " ", element("span", example.why, class_="why")),
        )
        for example in EXAMPLES
    )
    keys = [("1", "–", "5", " rate"), ("←", " ", "→", " go"), ("N", " next not rated"), ("U", " undo")]
    return element(
        "details",
        element("summary", "How to rate"),
        element("ul", *(element("li", line) for line in GUIDELINES)),
        element("table", *scale, class_="meanings"),
        element("p", "Examples for ", element("code", EXAMPLE_SQL)),
        element("table", *examples, class_="meanings"),
        element("p", *(_keys(*key) for key in keys), class_="keys"),
        _start(),
        id="guidelines",
        open=True,
    )


def _start() -> Markup:
    load = element(
        "label",
        "or continue from a saved CSV: ",
        element("input", type="file", id="load", accept=".csv,text/csv"),
        class_="key",
    )
    start = element("button", "Start rating", type="button", id="start", class_="primary")
    return element("p", start, load, id="begin", hidden=True)


def _keys(*parts: str) -> Markup:
    marked = (element("kbd", part) if len(part.strip()) == 1 and part != "–" else part for part in parts)
    return element("span", *marked)


def _progress() -> Markup:
    buttons = [
        element("button", "← Back", type="button", id="back"),
        element("button", "Next →", type="button", id="next"),
        element("button", "Undo", type="button", id="undo"),
        element("button", "Save CSV", type="button", class_="save"),
    ]
    return element(
        "nav",
        element("progress", id="progress", value="0", aria_label="Rated"),
        element("p", element("output", id="count"), element("span", id="kept"), class_="status"),
        element("p", *buttons, class_="buttons"),
        id="bar",
        aria_label="Progress",
        hidden=True,
    )


def _item(item: Item, text: Text, place: int) -> Markup:
    name = f"item-{item.code}"
    return element(
        "article",
        element(
            "h2",
            element("span", f"Sentence {place}", id=name),
            element("span", text.db_id, class_="db", title="database"),
        ),
        element("pre", element("code", text.query), class_="query"),
        element("p", text.sentence, class_="sentence", dir="auto"),
        data_item=item.code,
        tabindex="-1",
        aria_labelledby=name,
    )


def _finish() -> Markup:
    return element(
        "section",
        element("h2", "End of the sheet", id="end"),
        element("p", id="left"),
        element("p", element("button", "Save CSV", type="button", class_="save primary")),
        element("p", "Send the saved file to the person who gave you this page.", class_="key"),
        id="finish",
        tabindex="-1",
        aria_labelledby="end",
        hidden=True,
    )


def _scale() -> Markup:
    buttons = (
        element(
            "button",
            element("b", str(rating)),
            element("span", name),
            element("small", meaning),
            type="button",
            data_rating=str(rating),
            aria_pressed="false",
        )
        for rating, (name, meaning) in sorted(LABELS.items())
    )
    return element("div", *buttons, id="scale", role="group", aria_label="Rating", hidden=True)
