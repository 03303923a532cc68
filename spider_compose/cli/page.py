"""Any number of pairs in one HTML page that asks for nothing outside itself.

Texts of a corpus are untrusted: `markup.element` escapes them, and the document's policy would run nothing
that slipped through. Without its script the page shows everything; the script adds the filters.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from spider_compose.cli.segments import Segment, clauses_of_words, intervals, segments, sql_parts
from spider_compose.cli.selection import Row, Selection, confidence
from spider_compose.page.document import document, facts, signature, text_of
from spider_compose.page.markup import Markup, element, escape, join
from spider_compose.sql.clauses import CLAUSE_TYPES


def render_page(selection: Selection, counts: Mapping[str, int] | None = None) -> str:
    """The page.

    Args:
        counts: pairs per part of the built dataset, where there is one.
    """
    pairs = [_pair(selection, rows) for rows in selection.alignments]
    return document(
        f"SpiderCompose: {selection.title}",
        element("a", "Skip to the pairs", class_="skip", href="#pairs"),
        element("header", _summary(selection, counts), _legend(selection), class_="top"),
        _filters(selection),
        element("main", *(join("\n", pair) for pair in pairs), id="pairs", tabindex="-1"),
        element("p", "No pair passes the filters.", id="none", hidden=True),
        script=text_of("page.js", __package__),
        class_="compared" if len(selection.aligners) > 1 else None,
    )


def _summary(selection: Selection, counts: Mapping[str, int] | None) -> Markup:
    firsts = [rows[0] for rows in selection.alignments]
    shown = f"{len(firsts):,}"
    if len(firsts) < selection.total:
        shown += f" of {selection.total:,}"
    if len(firsts) < selection.matching < selection.total:
        shown += f" ({selection.matching:,} pass the filters)"
    recombined = sum(2 ** len(row["clause_types"]) - 1 for row in firsts)
    told = [
        ("Source", selection.title),
        ("Aligner" + "s" * (len(selection.aligners) > 1), " and ".join(selection.aligners)),
        ("Source pairs shown", shown),
        ("Their recombinations", f"{recombined:,}"),
        ("Databases", f"{len({row['db_id'] for row in firsts}):,}"),
        ("Clauses per query", _tally(f"{len(row['clause_types'])}" for row in firsts)),
    ]
    if len(selection.aligners) > 1:
        differing = sum(_differ(rows) for rows in selection.alignments)
        told.append(("Aligned differently", f"{differing:,} of {len(firsts):,}"))
    if counts:
        told.append(("Dataset", ", ".join(f"{split} {count:,}" for split, count in counts.items())))
    return join(
        element("h1", "Which words say which clause"),
        element(
            "p",
            "Each question is cut into the words that speak for each clause of its query; every set of "
            "clauses, with its words, is one pair of SpiderCompose.",
            class_="lead",
        ),
        facts(*told),
        *(element("p", note, class_="note") for note in selection.notes),
        signature(selection.signature),
    )


def _tally(values: Iterable[str]) -> str:
    return ", ".join(f"{value}: {count:,}" for value, count in sorted(Counter(values).items()))


def _legend(selection: Selection) -> Markup:
    there = {kind for rows in selection.alignments for kind in rows[0]["clause_types"]}
    kinds = [element("li", kind, class_=f"chip {_class(kind)}") for kind in CLAUSE_TYPES if kind in there]
    shared = element("li", "said for two clauses", class_="chip shared a-select b-where")
    key = (
        "Below a question, its words: what each was tagged for, and a line for the clause it went to; "
        "a word that joins two of them (and) is in a fragment only between words of both."
    )
    return join(
        element("ul", *kinds, shared, class_="legend", aria_label="Colours"), element("p", key, class_="key")
    )


def _filters(selection: Selection) -> Markup:
    firsts = [rows[0] for rows in selection.alignments]
    fields = [
        _field(
            "Text",
            element("input", type="search", id="text", placeholder="any words", autocomplete="off"),
        ),
        _field("Database", _choice("db", Counter(row["db_id"] for row in firsts))),
        _field("Clauses", _choice("pattern", Counter(_pattern(row) for row in firsts))),
        _field("Number", _choice("number", Counter(str(len(row["clause_types"])) for row in firsts))),
    ]
    if any(confidence(rows) is not None for rows in selection.alignments):
        box = element("input", type="number", id="confidence", min="0", max="1", step="0.05", placeholder="1")
        fields.append(_field("Confidence up to", box))
    if len(selection.aligners) > 1:
        fields.append(
            element(
                "label",
                element("input", type="checkbox", id="differs"),
                " aligned differently",
                class_="check",
            )
        )
    buttons = (
        element("button", "Unfold all", type="button", id="unfold"),
        element("button", "Clear", type="reset", id="clear"),
    )
    hint = join(
        *(
            element("kbd", "/"),
            " filter  ",
            element("kbd", "j"),
            " ",
            element("kbd", "k"),
            " next, previous pair",
        )
    )
    return element(
        "form",
        *fields,
        element("span", *buttons, class_="buttons"),
        element("p", element("output", id="count"), element("span", hint, class_="hint"), class_="status"),
        id="filters",
        role="search",
        hidden=True,
    )


def _field(name: str, control: Markup) -> Markup:
    return element("label", element("span", name), control)


def _choice(name: str, values: Counter[str]) -> Markup:
    options = (
        element("option", f"{value} ({count:,})", value=value) for value, count in sorted(values.items())
    )
    return element("select", element("option", "all", value=""), *options, id=name)


def _pattern(row: Row) -> str:
    return " + ".join(row["clause_types"])


def _pair(selection: Selection, rows: Sequence[Row]) -> Markup:
    first = rows[0]
    name = f"{first['source_split']}-{first['source_row']}"
    found = confidence(rows)
    heading = element(
        "h2",
        element("a", f"{first['source_split']} {first['source_row']}", href=f"#{name}"),
        element("span", first["db_id"], class_="db"),
        _sure(first) if len(rows) == 1 else "",
    )
    views = [
        element(
            "section",
            _aligner_heading(row, aligner) if len(rows) > 1 else "",
            _alignment(row),
            _recombined(row, pairs),
        )
        for row, aligner, pairs in zip(rows, selection.aligners, selection.pairs(rows), strict=True)
    ]
    return element(
        "article",
        heading,
        element("div", *views, class_="views"),
        id=name,
        tabindex="-1",
        data_db=first["db_id"],
        data_pattern=_pattern(first),
        data_number=str(len(first["clause_types"])),
        data_confidence=None if found is None else f"{found:.4f}",
        data_differs=_differ(rows),
    )


def _differ(rows: Sequence[Row]) -> bool:
    return any(row["clause_token_ids"] != rows[0]["clause_token_ids"] for row in rows[1:])


def _aligner_heading(row: Row, aligner: str) -> Markup:
    return element("h3", aligner, " ", _sure(row))


def _sure(row: Row) -> Markup:
    found = confidence([row])
    return escape("") if found is None else element("span", f"confidence {found:.2f}", class_="sure")


def _alignment(row: Row) -> Markup:
    types: list[str] = row["clause_types"]
    return join(
        element("p", *(_segment(segment, types) for segment in segments(row)), class_="question", dir="auto"),
        _words(row),
        _clauses(row),
    )


def _segment(segment: Segment, types: Sequence[str]) -> Markup:
    if not segment.clauses:
        return escape(segment.text)
    kinds = [types[clause] for clause in segment.clauses]
    names = " + ".join(kinds)
    label = "all" if len(kinds) == len(types) > 2 else names
    # The style sheet draws the label from the attribute, so that the text stays the question's own; a lone
    # question mark needs none.
    return element(
        "mark",
        segment.text,
        class_=_classes(kinds),
        data_label=label if any(map(str.isalnum, segment.text)) else None,
        title=names if len(kinds) > 1 else None,
    )


def _words(row: Row) -> Markup:
    types: list[str] = row["clause_types"]
    items = []
    for position, clauses in enumerate(clauses_of_words(row)):
        tag = row["tags"][position]
        below: list[Markup] = []
        if tag >= 0:
            below.append(element("i", types[tag], class_=_class(types[tag])))
        if position in row["joining_ids"]:
            below.append(element("i", "joins", class_="joins"))
        items.append(
            element(
                "li",
                element("span", row["tokens"][position]),
                element("span", *below),
                class_=_classes([types[clause] for clause in clauses]),
            )
        )
    return element("ol", *items, class_="words", aria_label="Words and the clause each was tagged for")


def _clauses(row: Row) -> Markup:
    lines = []
    for clause, kind in enumerate(row["clause_types"]):
        lines.append(
            element(
                "tr",
                element("th", element("span", kind, class_=f"chip {_class(kind)}"), scope="row"),
                element("td", element("code", row["clause_sql"][clause]), class_=f"sql {_class(kind)}"),
                element("td", row["fragments"][clause] or _no_words(), class_="fragment"),
                element("td", intervals(row["clause_token_ids"][clause]), class_="interval"),
            )
        )
    head = element(
        "tr", *(element("th", name, scope="col") for name in ("Clause", "SQL", "Its words", "Interval"))
    )
    return element("table", element("thead", head), element("tbody", *lines), class_="clauses")


def _recombined(row: Row, pairs: Sequence[Mapping[str, Any]]) -> Markup:
    items = [
        element(
            "li",
            element("code", *_sql(parts)),
            element("p", pair["question"] or _no_words(), dir="auto"),
        )
        for pair, parts in zip(pairs, sql_parts(row, pairs), strict=True)
    ]
    name = f"{len(pairs)} recombined pair{'s' * (len(pairs) != 1)}"
    return element("details", element("summary", name), element("ol", *items, class_="recombined"))


def _sql(parts: Iterable[tuple[str, str]]) -> list[Markup]:
    spans: list[Markup] = []
    for kind, sql in parts:
        spans += [escape(" ")] if spans else []
        spans.append(element("span", sql, class_=_class(kind)))
    return spans


def _no_words() -> Markup:
    return element("em", "no words")


def _class(kind: str) -> str:
    return f"a-{kind.lower().replace(' ', '-')}"


def _classes(kinds: Sequence[str]) -> str:
    """Colour of the first clause, a line in that of the second, a mark where words are shared."""
    classes = [_class(kind) for kind in kinds[:1]]
    if len(kinds) > 1:
        classes += ["b" + _class(kinds[1])[1:], "shared"]
    return " ".join(classes)
