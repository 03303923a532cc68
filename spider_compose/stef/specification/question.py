"""A question -> its specification, by spaCy's words and named, ordered rules (pipeline step 2).

Each rule reads one kind of thing and adds it to the draft; `RULES` is their order, which matters where a
later rule looks at what an earlier one took (a number that is part of a date is no number). A rule's name
can be switched off. No schema: what is found are words, values and operators, never columns.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from spider_compose.stef.normalization import (
    AGGREGATE_WORDS,
    EMPTY_WORDS,
    SUPERLATIVES,
    fold_value,
    is_number,
    name_words,
    stem,
)
from spider_compose.stef.specification.items import (
    Aggregation,
    Definition,
    Filter,
    Grouping,
    Limit,
    Mark,
    Order,
    Projection,
    Span,
    Specification,
)

# spaCy reads some 10,000 words a second; a question longer than this is no question.
MAX_CHARACTERS = 5_000
# Its tokenizer takes signs off the end of a word one by one, each time looking through the rest.
MAX_WORD = 1_500


class Word(NamedTuple):
    """A word of the question with spaCy's lemma and tag."""

    text: str
    lower: str
    lemma: str
    tag: str
    start: int
    end: int


@dataclass
class Draft:
    """A specification in the making.

    Attributes:
        text: the question and the definitions after it.
        asked: the question alone, the start of `text`; most rules read only this.
        words: of the question alone.
        taken: characters that belong to a value, so that no later rule reads them again.
    """

    text: str
    asked: str
    words: list[Word]
    projections: list[Projection] = field(default_factory=list)
    aggregations: list[Aggregation] = field(default_factory=list)
    filters: list[Filter] = field(default_factory=list)
    grouping: list[Grouping] = field(default_factory=list)
    order: list[Order] = field(default_factory=list)
    limit: Limit | None = None
    set_operations: list[Mark] = field(default_factory=list)
    negations: list[Mark] = field(default_factory=list)
    distinct: list[Mark] = field(default_factory=list)
    percentages: list[Mark] = field(default_factory=list)
    definitions: list[Definition] = field(default_factory=list)
    taken: list[Span] = field(default_factory=list)

    def free(self, start: int, end: int) -> bool:
        """Whether no value has taken any of these characters."""
        return all(end <= span.start or start >= span.end for span in self.taken)

    def take(self, item: Filter) -> None:
        """Add a filter and keep its characters."""
        self.filters.append(item)
        self.taken.append(item.span)

    def near(self, position: int, before: int = 5, after: int = 0) -> frozenset[str]:
        """Stems of the content words around a word: what a value is said of."""
        low, high = max(0, position - before), min(len(self.words), position + after + 1)
        return frozenset(
            stem(w.lemma) for w in self.words[low:high] if w.tag[:1] in "NJV" and w.lower not in _VAGUE
        )

    def at(self, character: int) -> int:
        """Position of the word at or after a character."""
        return next((i for i, w in enumerate(self.words) if w.end > character), len(self.words))


Rule = Callable[[Draft], None]

_VAGUE = {
    "be",
    "is",
    "are",
    "was",
    "were",
    "do",
    "does",
    "have",
    "has",
    "had",
    "did",
    "list",
    "show",
    "find",
    "give",
}

_UNITS = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
    "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15,
    "sixteen": 16, "seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20, "thirty": 30,
    "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90,
}  # fmt: skip
_SCALES = {"hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000, "dozen": 12}
_TIMES = {"once": 1, "twice": 2}
_MONTHS = {
    name: number
    for number, names in enumerate(
        "january jan,february feb,march mar,april apr,may,june jun,july jul,august aug,september sep sept,"
        "october oct,november nov,december dec".split(","),
        start=1,
    )
    for name in names.split()
}
_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))


def number_word(words: Sequence[str]) -> tuple[int, int] | None:
    """(value, words used) of a number written out at the start of `words`.

    >>> number_word(["two", "hundred", "and", "five", "dogs"]), number_word(["dogs"])
    ((205, 4), None)
    """
    total = current = used = 0
    for place, word in enumerate(words):
        parts = word.split("-")
        if all(part in _UNITS for part in parts):
            current += sum(_UNITS[part] for part in parts)
        elif word in _SCALES and (current or place == 0):
            current = (current or 1) * _SCALES[word]
            if _SCALES[word] >= 1000:
                total, current = total + current, 0
        elif (
            word == "and"
            and used
            and place + 1 < len(words)
            and words[place + 1].split("-")[0] in _UNITS
            and words[place - 1] in _SCALES
        ):
            continue
        else:
            break
        used = place + 1
    return (total + current, used) if used else None


# -- the rules


def definitions(draft: Draft) -> None:
    """Statements of what a phrase means: "X refers to Y = 'v'", "A3 contains the data of region"."""
    for part in _statements(draft.text):
        text = part.of(draft.text)
        match = _DEFINES.search(text)
        if match is None and not _FORMULA.search(text):
            continue
        name = text[: match.start()].strip() if match else ""
        if match is None or (match["equals"] and _NAME.fullmatch(name) and name.lower() not in _RESULTS):
            phrase, place = "", 0  # "status = 'C'", "DIVIDE(SUM(a), COUNT(b))": all of it is the expression
        else:
            phrase, place = text[: match.start()], match.end()
        expression = text[place:]
        if phrase and (
            _IDENTIFIER.fullmatch(phrase.strip()) or " = " in phrase or _QUOTED.fullmatch(phrase.strip())
        ):
            phrase, expression, place = (
                expression,
                phrase,
                0,
            )  # "A3 contains the data of region": the name comes first
        start = part.start + place
        draft.definitions.append(_definition(phrase, expression, Span(start, start + len(expression))))
        draft.taken.append(part)


_DEFINES = re.compile(
    r"\s(?:refer\w*|means?|contains?|denotes?|represents?|stands?|indicates?|mapp?s|can be found in|"
    r"is calculated|calculated)"
    r"(?:\s+(?:to|for|that|by|as|the data of))*\s|\s(?P<equals>=)\s",
    re.I,
)
_FORMULA = re.compile(
    r"[<>=]|\b(?:DIVIDE|SUBTRACT|MULTIPLY|SUM|COUNT|AVG|MAX|MIN)\s*\(|\bis null\b|\b[Bb](?:etween|ETWEEN)\s*'"
)
_RESULTS = {
    "average",
    "percentage",
    "percent",
    "difference",
    "calculation",
    "ratio",
    "total",
    "rate",
    "result",
    "sum",
    "proportion",
}
_NAME = re.compile(r"[\w.]+")
_IDENTIFIER = re.compile(r"[A-Z]\d+|\w+_\w+|\w*[a-z][A-Z]\w*")
_QUOTED = re.compile(
    r"'((?:[^'\n]|''|(?<=\w)'(?=\w))*)'(?!\w)|\"([^\"\n]*)\"|“([^”\n]*)”|‘([^’\n]*)’|`([^`\n]*)`"
)


def _statements(text: str) -> Iterator[Span]:
    """The stretches between semicolons and sentence ends that may be statements of definition."""
    start = 0
    for match in re.finditer(r";|[?!](?=\s)|\.(?=\s+[A-Za-z'\"])|,(?=[^,;]{1,60}\srefers? to\s)|\Z", text):
        sign = match[0]
        if sign == "," and " refer" not in text[start : match.start()]:
            continue  # a list before the first "refers to" of its statement
        stretch = text[start : match.start()]
        # A question in its own right defines nothing, whatever signs it holds; nor does what comes first.
        if stretch.strip() and sign != "?" and start > 0:
            lead = len(stretch) - len(stretch.lstrip())
            yield Span(start + lead, match.start())
        start = match.end()


def _definition(phrase: str, expression: str, span: Span) -> Definition:
    bare = expression
    values: list[str] = []
    names: list[frozenset[str]] = []
    for match in _QUOTED.finditer(expression):
        value = next(g for g in match.groups() if g is not None)
        if match[0][0] == "`":  # an identifier with spaces: `Free Meal Count (K-12)`
            names.append(frozenset(name_words(value)))
        else:
            values.append(fold_value(value))
        bare = bare[: match.start()] + " " * len(match[0]) + bare[match.end() :]
    functions = tuple(f.upper() for f in _FUNCTION.findall(bare))
    words = frozenset(stem(w) for w in re.findall(r"\w+", phrase.lower()) if w not in EMPTY_WORDS)
    if not re.search(r"[<>=(]|between|like|\bin\b", bare, re.I):
        # "1 stands for yes" asks for no 1
        bare = bare if _IDENTIFIER.search(bare) else re.sub(r"\d", " ", bare)
    for match in re.finditer(r"(?<![\w.'-])-?\d+(?:[.,]\d+)*(?![\w'])", bare):
        # 100 makes a percentage of a ratio
        if not re.match(r"\s*%", bare[match.end() :]) and not re.fullmatch(r"100(\.0+)?", match[0]):
            values.append(fold_value(match[0].rstrip(".,")))
    names += _names(bare, bool(functions))
    return Definition(words, tuple(names), tuple(values), functions, span)


_FUNCTION = re.compile(r"\b(MAX|MIN|SUM|AVG|COUNT|DIVIDE|SUBTRACT|MULTIPLY)\s*\(", re.I)


def _names(bare: str, formula: bool) -> Iterator[frozenset[str]]:
    """The identifiers of an expression: words that look like one, are compared, or stand as an argument."""
    few = len(bare.split()) <= 2
    for match in re.finditer(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)?", bare):
        word, before, after = match[0], bare[: match.start()].rstrip(), bare[match.end() :].lstrip()
        if word.lower() in _WORDS_OF_FORMULAS or (after.startswith("(") and _CALLED.fullmatch(word)):
            continue
        compared = re.match(r"[<>=!]|is\b|like\b|in\b|between\b|not\b", after, re.I)
        argument = re.search(r"\w\s*\($", before) is not None
        if (
            "_" in word
            or "." in word
            or compared
            or argument
            or few
            or formula
            or _IDENTIFIER.fullmatch(word)
        ):
            yield frozenset(name_words(word.split(".")[-1]))


_CALLED = re.compile(
    r"MAX|MIN|SUM|AVG|COUNT|CAST|SUBSTR(?:ING)?|STRFTIME|YEAR|MONTH|DAY|ABS|SQRT|ROUND|total", re.I
)
_WORDS_OF_FORMULAS = set(
    "and or not where in between is null like divide subtract multiply sum count avg max min as the of "
    "to by for when then case else end cast real float percentage percent true false which that than "
    "from with a an if it are was be select distinct order desc asc limit all both means refers column "
    "columns table tables data information value values field no average total difference number".split()
)


def quoted_literals(draft: Draft) -> None:
    """Values in quotes must occur in the query."""
    for match in _QUOTED.finditer(draft.text):
        if not draft.free(*match.span()):
            continue
        value = next(g for g in match.groups() if g is not None)
        if not value.strip() or len(value) > 200:
            continue
        place = draft.at(match.start())
        kind = "number" if is_number(fold_value(value)) else "string"
        draft.take(Filter(draft.near(place - 1), "=", (fold_value(value),), kind, Span(*match.span())))


_HOW = (
    (r"(?:start|begin|commence)\w*\s+(?:with|by)|beginn\w+\s+with|began\s+with", "prefix"),
    (r"(?:end|finish|terminat)\w*\s+(?:with|in|on)", "suffix"),
    (r"(?:contain|includ)\w*", "contains"),
)
_PART = (
    r"(?:\s+(?:the|a|an|any|its|their|capital|uppercase|lowercase|either))*"
    r"(?P<part>\s+(?:letters?|words?|(?:sub)?strings?|characters?|digits?|phrases?|prefix|suffix|texts?|terms?|keywords?))?"
)


def patterns(draft: Draft) -> None:
    """Where in a text a value must stand: "starts with 'A'", "ending in -son", "contains the word love"."""
    quoted = r"(?P<value>'[^'\n]+'|\"[^\"\n]+\"|“[^”\n]+”|‘[^’\n]+’)"
    found: list[tuple[re.Match[str], str]] = []
    for how, where in _HOW:
        for match in re.finditer(rf"\b(?:{how}){_PART}\s+(?:{quoted}|(?P<bare>-?\w+)\b)", draft.asked, re.I):
            bare = match["bare"]
            letter = bare is not None and len(bare) == 1 and bare.isupper() and bare.isalpha()
            if bare is None:
                allowed = where != "contains" or match["part"] is not None or "includ" not in match[0].lower()
            elif where == "contains":
                allowed = match["part"] is not None and bare not in _ASKED_AFTER
            else:
                named = bare[0].isupper() and not bare.isdigit() and where == "prefix"
                allowed = letter or match["part"] is not None or bare[0] == "-" or named
            if allowed:
                found.append((match, where))
    for match in re.finditer(
        rf"\b(?:ha(?:s|ve|ving)|with){_PART}\s+{quoted}\s+(?:somewhere\s+|anywhere\s+)?in\s+(?:its|their|the|his|her)\b",
        draft.asked,
        re.I,
    ):
        found.append((match, "contains"))
    for match in re.finditer(
        rf"\b(?P<end>first|initial|last|final)\s+(?:letter|character)\s+(?:\w+\s+){{0,4}}?(?:is|=|as|being)\s+(?:an?\s+)?"
        rf"(?:{quoted}|(?P<bare>[A-Z])\b)",
        draft.asked,
    ):
        found.append((match, "prefix" if match["end"] in ("first", "initial") else "suffix"))
    for match, where in found:
        groups = match.groupdict()
        name = "value" if groups["value"] else "bare"
        if not draft.free(*match.span(name)):
            continue
        place = draft.at(match.start())
        value = fold_value(match[name].strip("'\"“”‘’-"))
        draft.filters.append(
            Filter(draft.near(place - 1), "like", (value,), "string", Span(*match.span()), pattern=where)
        )
        draft.taken.append(Span(*match.span(name)))


_ASKED_AFTER = {"of", "and", "in", "that", "for", "with", "is", "are"}


def dates(draft: Draft) -> None:
    """Full dates and months with a year, folded to ISO: "October 8, 2019" -> 2019-10-08."""
    patterns = (
        (r"\b(?P<y>\d{4})[-/](?P<m>\d{1,2})[-/](?P<d>\d{1,2})\b", None),
        (rf"\b(?P<M>{_MONTH})\.?\s+(?P<d>\d{{1,2}})(?:st|nd|rd|th)?,?\s+(?P<y>\d{{4}})\b", None),
        (rf"\b(?P<d>\d{{1,2}})(?:st|nd|rd|th)?(?:\s+of)?\s+(?P<M>{_MONTH})\.?,?\s+(?P<y>\d{{4}})\b", None),
        (rf"\b(?P<M>{_MONTH})\.?,?(?:\s+of)?(?:\s+the\s+year)?\s+(?P<y>\d{{4}})\b", None),
        (r"\b(?P<m>\d{1,2})/(?P<d>\d{1,2})/(?P<y>\d{4})\b", None),
    )
    for pattern, _ in patterns:
        for match in re.finditer(pattern, draft.asked, re.I):
            if not draft.free(*match.span()):
                continue
            parts = match.groupdict()
            month = _MONTHS[parts["M"].lower()] if parts.get("M") else int(parts["m"])
            value = f"{parts['y']}-{month:02d}" + (f"-{int(parts['d']):02d}" if parts.get("d") else "")
            place = draft.at(match.start())
            draft.take(
                Filter(
                    draft.near(place - 1), _date_operator(draft, place), (value,), "date", Span(*match.span())
                )
            )


def _date_operator(draft: Draft, place: int) -> str:
    before = {w.lower for w in draft.words[max(0, place - 2) : place]}
    return next(
        (
            op
            for word, op in (("after", ">"), ("since", ">="), ("before", "<"), ("until", "<="))
            if word in before
        ),
        "=",
    )


def relative_dates(draft: Draft) -> None:
    """Dates that depend on the day of asking stay symbolic: "last 30 days" -> "last 30 day"."""
    pattern = (
        r"\b(?:(?:in|over|during|for|within)\s+)?(?:the\s+)?(?P<which>last|past|previous|next|this|current)\s+"
        r"(?:(?P<n>\d+)\s+)?(?P<unit>day|week|month|quarter|year)s?\b"
        r"|\b(?P<word>today|yesterday|tomorrow|year to date|ytd)\b"
        r"|\b(?P<ago>\d+)\s+(?P<agounit>day|week|month|year)s?\s+ago\b"
    )
    for match in re.finditer(pattern, draft.asked, re.I):
        if not draft.free(*match.span()):
            continue
        parts = {k: v for k, v in match.groupdict().items() if v}
        # "the last year" of a list, "this year" of a table: without a number it may be an ordinary
        # superlative.
        strong = bool(parts.get("n") or parts.get("ago") or parts.get("word"))
        value = " ".join(v.lower() for v in parts.values())
        draft.take(Filter(frozenset({"date"}), "", (value,), "relative", Span(*match.span()), strong=strong))


_COMPARISONS: tuple[tuple[str, str], ...] = (
    (r"no\s+(?:less|fewer|lower|smaller|shorter|younger|lighter|earlier|slower|cheaper)\s+than|"
     r"not\s+(?:less|fewer|lower)\s+than|at\s+least|minimum\s+of|"
     r"or\s+(?:more|above|higher)\s+than", ">="),
    (r"no\s+(?:more|greater|higher|larger|bigger|longer|older|taller|heavier|later)\s+than|not\s+(?:more|greater|higher)\s+than|at\s+most|maximum\s+of|up\s+to|"
     r"not\s+exceed(?:ing)?", "<="),
    (r"(?:more|greater|higher|larger|bigger|longer|older|taller|heavier|later|better|faster)\s+than(?:\s+or\s+equal\s+to)?|"
     r"over|above|exceed(?:s|ed|ing)?|beyond|after|larger\s+in\s+\w+\s+than", ">"),
    (r"(?:less|fewer|lower|smaller|shorter|younger|lighter|earlier|slower|cheaper)\s+than(?:\s+or\s+equal\s+to)?|"
     r"under|below|before", "<"),
    (r"since|from", ">="),
)  # fmt: skip
_CURRENCY = r"(?:(?:USD|EUR|GBP|CHF|JPY|INR|CAD|AUD|US(?=\$))\s?)?[$€£¥]?"
_NUMBER = rf"(?P<number>{_CURRENCY}-?\d+(?:,\d{{3}})*(?:\.\d+)?)"


def ranges(draft: Draft) -> None:
    """Between X and Y, from X to Y: two values, both needed."""
    number = rf"{_CURRENCY}(-?\d+(?:,\d{{3}})*(?:\.\d+)?)"
    for pattern in (
        rf"\bbetween\s+(?:the\s+)?(?:years?\s+)?{number}\s+(?:and|to)\s+{number}",
        rf"\bfrom\s+(?:years?\s+)?{number}\s+to\s+{number}",
    ):
        for match in re.finditer(pattern, draft.asked, re.I):
            if draft.free(*match.span()):
                values = (fold_value(match[1].rstrip(",")), fold_value(match[2].rstrip(",")))
                draft.take(
                    Filter(
                        draft.near(draft.at(match.start())), "between", values, "number", Span(*match.span())
                    )
                )


def comparisons(draft: Draft) -> None:
    """A number with a comparison before it ("more than 5", "at least two") or after it ("5 or more")."""
    for pattern, operator in _COMPARISONS:
        for match in re.finditer(
            rf"\b(?:{pattern})\s+(?:the\s+)?(?:age\s+of\s+|year\s+|a\s+|an\s+)?", draft.asked, re.I
        ):
            number = _number_at(draft, match.end())
            if number is None or not draft.free(match.start(), number[1].end):
                continue
            value, span = number
            sign = operator + "=" if operator in "<>" and "equal" in match[0].lower() else operator
            place = draft.at(match.start())
            after = draft.at(span.end)
            words = draft.near(place, 4) | draft.near(after + 1, 1)
            negated = any(w.lower in ("not", "n't", "never") for w in draft.words[max(0, place - 5) : place])
            draft.take(Filter(words, sign, (value,), "number", Span(match.start(), span.end), negated))
    for match in re.finditer(
        rf"{_NUMBER}\s+(?:or|and)\s+(?P<how>more|above|over|higher|older|later|less|fewer|below|under|younger|earlier)\b",
        draft.asked,
        re.I,
    ):
        if draft.free(*match.span()):
            sign = (
                ">="
                if match["how"].lower() in ("more", "above", "over", "higher", "older", "later")
                else "<="
            )
            draft.take(
                Filter(
                    draft.near(draft.at(match.start()), 4, 3),
                    sign,
                    (fold_value(_plain_number(match["number"])),),
                    "number",
                    Span(*match.span()),
                )
            )


def _plain_number(text: str) -> str:
    """A number without the currency before it."""
    return text[next(i for i, c in enumerate(text) if c.isdigit() or c == "-") :]


def _number_at(draft: Draft, character: int) -> tuple[str, Span] | None:
    """A number in digits or words that starts at this character."""
    match = re.compile(_NUMBER + r"(?P<scale>\s*(?:k|million|billion|thousand)\b)?(?![\w])", re.I).match(
        draft.text, character
    )
    if match:
        value = fold_value(_plain_number(match["number"]).rstrip(","))
        scale = (match["scale"] or "").strip().lower()
        if scale and is_number(value):
            factor = 1000 if scale == "k" else _SCALES[scale]
            value = fold_value(str(round(float(value) * factor, 6)).removesuffix(".0"))
        return value, Span(match.start(), match.end())
    place = draft.at(character)
    found = number_word([w.lower for w in draft.words[place : place + 6]])
    if found and place < len(draft.words) and draft.words[place].start == character:
        return str(found[0]), Span(character, draft.words[place + found[1] - 1].end)
    if place < len(draft.words) and draft.words[place].lower in _TIMES:
        return str(_TIMES[draft.words[place].lower]), Span(character, draft.words[place].end)
    return None


def top_k(draft: Draft) -> None:
    """The top 3, the 3 most populated, the five oldest: a limit, and an order by the superlative."""
    number = rf"(?P<k>\d+|{'|'.join(_UNITS)})"
    best = "|".join(w for w in SUPERLATIVES if w not in ("maximum", "max", "minimum", "min", "recent"))
    for pattern in (
        rf"\b(?P<sup>top|first|last|best|bottom|lowest|highest|largest|most|least|fewest)[\s-]+{number}(?![\w%-])(?!\s*(?:quarter|year|month|day)s?\b)",
        rf"\b{number}\s+(?:\w+\s+)?(?P<sup>{best}|\w+est)\b",
        # "which three stores have the most visitors"
        rf"\b(?:which|what|the|are|list|find|show|name|give)\s+{number}\s+\w+s\b"
        rf"[^.?!;]{{0,80}}?\b(?<!at )(?P<sup>{best})\b",
    ):
        for match in re.finditer(pattern, draft.asked, re.I):
            if not draft.free(*match.span("k")) or draft.limit is not None:
                continue
            count = int(match["k"]) if match["k"].isdigit() else _UNITS[match["k"].lower()]
            if not 0 < count <= 1000 or match["sup"].lower() in (
                "interest",
                "rest",
                "test",
                "request",
                "guest",
                "west",
            ):
                continue
            span = Span(*match.span())
            draft.limit = Limit(count, span)
            draft.taken.append(Span(*match.span("k")))


def numbers(draft: Draft) -> None:
    """All other numbers; small ones written out only where they count something."""
    for match in re.finditer(
        rf"(?<![\w.,-]){_CURRENCY}-?\d+(?:,\d{{3}})*(?:\.\d+)?(?:st|nd|rd|th)?(?!\w)(?!\.\w)", draft.asked
    ):
        if not draft.free(*match.span()):
            continue
        ordinal = match[0][-2:] in ("st", "nd", "rd", "th")
        value = fold_value(
            _plain_number(match[0])
            .rstrip(",")
            .removesuffix("st")
            .removesuffix("nd")
            .removesuffix("rd")
            .removesuffix("th")
        )
        place = draft.at(match.start())
        # a leading zero belongs to a code: kept as written
        draft.take(
            Filter(
                draft.near(place - 1) | draft.near(place + 1, 0, 1),
                "=",
                (value,),
                "number",
                Span(*match.span()),
                strong=not ordinal,
            )
        )
    place = 0
    while place < len(draft.words):
        found = number_word([w.lower for w in draft.words[place : place + 6]])
        if not found:
            place += 1
            continue
        span = Span(draft.words[place].start, draft.words[place + found[1] - 1].end)
        # "one" is mostly a pronoun, "zero" mostly a negation
        if found[0] > 1 and draft.free(*span):
            draft.take(
                Filter(
                    draft.near(place + found[1], 0, 1),
                    "=",
                    (str(found[0]),),
                    "number",
                    span,
                    strong=found[0] > 2,
                )
            )
        place += found[1]


def bare_literals(draft: Draft) -> None:
    """Names without quotes ("in North America"): values that may be spelt otherwise in the data."""
    run: list[Word] = []
    for place, word in enumerate([*draft.words, Word(".", ".", ".", ".", len(draft.text), len(draft.text))]):
        capital = word.text[:1].isupper() and place > 0 and draft.words[place - 1].text not in ".?!:;"
        if capital and draft.free(word.start, word.end) and word.lower not in ("i", "id", "ids"):
            run.append(word)
            continue
        if run and (
            word.lower in ("of", "the", "and", "'s", "&", "-", "'")
            and place + 1 < len(draft.words)
            and draft.words[place + 1].text[:1].isupper()
            and word.lower not in ("and",)
        ):
            run.append(word)
            continue
        if (
            len(run) == 1
            and word.text == "."
            and word.start == run[-1].end
            and _HONORIFIC.match(run[0].lower + ". x")
        ):
            continue  # "Dr. Novak"
        if run:
            span = Span(run[0].start, run[-1].end)
            value = _HONORIFIC.sub("", fold_value(span.of(draft.text)))
            if len(value) > 1 or run[0].tag.startswith("NNP"):
                draft.take(
                    Filter(
                        draft.near(draft.at(span.start) - 1, 4), "", (value,), "string", span, strong=False
                    )
                )
        run = []


_HONORIFIC = re.compile(r"^(?:dr|mr|mrs|ms|prof|professor|sir|doctor|miss)\b\.?\s*(?=\w)")

_NEGATIONS = {
    "not",
    "no",
    "never",
    "without",
    "n't",
    "nor",
    "neither",
    "except",
    "excluding",
    "none",
    "nobody",
    "cannot",
    "unable",
    "n’t",
}


def negations(draft: Draft) -> None:
    """Not, never, without, other than: something is excluded ("not only", "no more than" exclude nothing)."""
    for place, word in enumerate(draft.words):
        following = draft.words[place + 1].lower if place + 1 < len(draft.words) else ""
        if word.lower in _NEGATIONS and following not in ("only", "more", "less", "fewer", "matter", "."):
            if word.lower == "no" and following in ("", "?"):
                continue
            if _each_once(draft, place) or _present(draft, place):
                continue
            if draft.free(word.start, word.end) or word.lower not in ("no", "not"):
                draft.negations.append(Mark(word.lower, Span(word.start, word.end)))
        elif word.lower == "other" and following == "than":
            draft.negations.append(Mark("other than", Span(word.start, draft.words[place + 1].end)))
    for match in re.finditer(
        r"\b(?:non-\w+|do(?:es)? ?nt|did ?nt|is ?nt|are ?nt|outside (?:of )?|excludes?|lacks?|lacking|"
        r"different from)\b|(?<!not )(?<!no )(?<!n't )(?<!without )\b(?:missing|empty|blank|null)\b",
        draft.asked,
        re.I,
    ):
        if draft.free(*match.span()) and not _TWICE.match(match[0].removeprefix("non").lstrip("-")):
            draft.negations.append(Mark("not", Span(*match.span())))


_TWICE = re.compile(r"(?:any\s+)?(?:duplicat|repeat|repetit|redundan|doubl)\w*", re.I)


def _each_once(draft: Draft, place: int) -> bool:
    """Whether a negation only wants each thing once: "without duplicates", "no repeated names"."""
    return _TWICE.match(draft.asked[draft.words[place].end :].lstrip()) is not None


def _present(draft: Draft, place: int) -> bool:
    """Whether a negation denies an absence, so that something is there: "not null", "isn't empty"."""
    following = {w.lower for w in draft.words[place + 1 : place + 4]}
    return bool(following & {"null", "empty", "missing", "blank", "unknown", "lacking", "unassigned"})


def superlatives(draft: Draft) -> None:
    """The highest, oldest, most, fewest: an extreme to pick."""
    for place, word in enumerate(draft.words):
        if not draft.free(word.start, word.end):
            continue
        previous = draft.words[place - 1].lower if place else ""
        known = word.lower in SUPERLATIVES and word.lower not in (
            "first",
            "last",
            "top",
            "max",
            "min",
            "maximum",
            "minimum",
            "recent",
            "most",
            "least",
        )
        regular = word.tag in ("JJS", "RBS") and word.lower not in ("most", "least")
        following = draft.words[place + 1] if place + 1 < len(draft.words) else None
        amount = (
            word.lower in ("most", "least")
            and previous != "at"
            and not (following is not None and following.lower == "of")
        )
        if not (known or regular or amount) or (previous == "at" and word.lower in ("least", "most", "best")):
            continue
        direction = SUPERLATIVES.get(word.lower, "desc" if word.lower.endswith("est") else None)
        if (
            following is not None
            and word.lower in ("most", "least")
            and following.lower in ("recent", "recently")
        ):
            direction = "desc" if word.lower == "most" else "asc"
        words = draft.near(place + 1, 0, 3)
        draft.order.append(
            Order(words | {stem(word.lemma)}, direction, Span(word.start, word.end), superlative=True)
        )
    top = draft.limit and re.search(r"\b(top|bottom)\b", draft.limit.span.of(draft.text), re.I)
    if draft.limit and top and not draft.order:
        start = draft.limit.span.start + top.start()
        by = re.compile(r"[^.?!;]*?\b(?:by|in terms of|based on|according to|with)\b").match(
            draft.asked, start
        )
        words = draft.near(draft.at(by.end()), 0, 3) if by else frozenset()
        direction = "desc" if top[0].lower() == "top" else "asc"
        draft.order.append(Order(words, direction, Span(start, start + len(top[0])), superlative=True))


def order(draft: Draft) -> None:
    """Sorted by, in descending order, from oldest to youngest: a list to sort."""
    pattern = (
        r"\b(?:sort(?:ed|ing)?|order(?:ed|ing)?|rank(?:ed|ing)?|arranged?)\b(?:[^.;?]{0,40}?\b(?:by|in|from|according)\b)?"
        r"|\bin\s+(?:an?\s+|the\s+)?(?:\w+\s+){0,2}?(?P<dir>ascending|descending|alphabetical|alphabetic|lexicographical|increasing|decreasing|reverse|chronological)\b(?:\s+\w+)?\s+order"
        r"|\b(?P<word>alphabetically|chronologically)\b|\b(?P<alone>ascending|descending)\b"
        r"|\bfrom\s+(?:the\s+)?(?P<from>\w+(?:est)?)\s+to\s+(?:the\s+)?(?P<to>\w+est|most|least|high|low|old|new)\b"
    )
    for match in re.finditer(pattern, draft.asked, re.I):
        if not draft.free(*match.span()):
            continue
        tail = draft.text[match.start() : match.end() + 60].lower()
        if match[0].lower().startswith(("order", "rank")) and not re.search(
            r"\bby\b|\bin\b|\bfrom\b|according", match[0].lower()
        ):
            continue  # an order placed, a rank held
        direction: str | None = None
        if re.search(
            r"descend|decreas|reverse|latest to|newest to|"
            r"(?:from|highest|largest|most)\s+(?:the\s+)?\w*(?:\s\w+)?\s*to\s+(?:the\s+)?"
            r"(?:low|least|small|few|short|cheap|old)",
            tail,
        ):
            direction = "desc"
        elif re.search(
            r"ascend|alphabet|lexico|increas|chronolog|(?:low|small|few|short|cheap|least)\w*\s+to\b", tail
        ):
            direction = "asc"
        start = draft.at(match.end())
        words = draft.near(start, 0, 5)
        draft.order.append(Order(words, direction, Span(*match.span())))
        return


def aggregates(draft: Draft) -> None:
    """How many, number of, total, average, maximum: functions of a column."""
    words = draft.words
    for place, word in enumerate(words):
        following = words[place + 1].lower if place + 1 < len(words) else ""
        previous = words[place - 1].lower if place else ""
        function, end = None, word.end
        if word.lower == "how" and following == "many":
            function, end = "COUNT", words[place + 1].end
        elif word.lower in ("number", "numbers", "count", "amount") and following == "of":
            function = "COUNT" if word.lower != "amount" else None
        elif word.lower == "count" and previous in ("", "please", ".", "?", ",", ";", "and"):
            function = "COUNT"  # "Count the loans of each branch"
        elif word.lower == "altogether" and re.search(r"\bhow\s+much\b", draft.asked[: word.start], re.I):
            function = "SUM"
        elif word.lower in AGGREGATE_WORDS and word.lower != "count" and draft.free(word.start, word.end):
            function = AGGREGATE_WORDS[word.lower]
            if (
                word.lower == "mean"
                and word.tag.startswith("V")
                and previous not in ("the", "a", "and", "their")
            ):
                function = None
            if function == "SUM" and following == "number":
                function = "COUNT" if place + 2 < len(words) and words[place + 2].lower == "of" else None
        if function:
            first = place + 1 + (following in ("many", "of", "number")) + (following == "number")
            draft.aggregations.append(Aggregation(function, _phrase(draft, first), Span(word.start, end)))


_NO_THING = {"of", "all", "amount", "number", "value"}


def _phrase(draft: Draft, place: int) -> frozenset[str]:
    """Stems of the noun phrase that starts at a word: "the yearly income | of employees"."""
    words: list[str] = []
    for word in draft.words[place : place + 6]:
        if not words and (word.tag in ("DT", "PRP$", "PDT") or word.lower in _NO_THING):
            continue
        if (word.tag[:1] not in "NJ" and word.tag not in ("VBG", "VBN", "CD")) or word.lower in _VAGUE:
            break
        words.append(stem(word.lemma))
    return frozenset(words)


def percentages(draft: Draft) -> None:
    """Percentage, proportion, ratio, rate of change: a division."""
    for match in re.finditer(r"\b(?:percentages?|percent|proportions?|ratios?|DIVIDE)\b", draft.text, re.I):
        draft.percentages.append(Mark(match[0].lower(), Span(*match.span())))
        return


def grouping(draft: Draft) -> None:
    """Each, every, per, for all: one row per key."""
    words = draft.words
    for place, word in enumerate(words):
        following = words[place + 1] if place + 1 < len(words) else None
        if (
            word.lower in ("each", "every", "per", "respective")
            and following is not None
            and following.lower not in ("?", ".")
        ):
            ahead = [w for w in words[place + 1 : place + 4] if w.tag[:1] in "NJ"]
            keys = frozenset(stem(w.lemma) for w in ahead[:2])
            draft.grouping.append(Grouping(keys, Span(word.start, following.end)))
        elif (
            word.lower == "by"
            and following is not None
            and _aggregated_before(draft, word)
            and words[place - 1].tag.startswith("N")
            and following.tag.startswith("N")
            and not following.text[:1].isupper()
            and draft.free(word.start, following.end)
            and not draft.order
        ):
            draft.grouping.append(
                Grouping(frozenset({stem(following.lemma)}), Span(word.start, following.end))
            )


def _aggregated_before(draft: Draft, word: Word) -> bool:
    return any(0 < word.start - a.span.end < 40 for a in draft.aggregations)


def distinct(draft: Draft) -> None:
    """Different, distinct, unique: no row twice."""
    for place, word in enumerate(draft.words):
        if word.lower in ("distinct", "different", "unique", "distinctive", "differing") and draft.free(
            word.start, word.end
        ):
            following = draft.words[place + 1].lower if place + 1 < len(draft.words) else ""
            if following not in ("from", "than"):
                draft.distinct.append(Mark(word.lower, Span(word.start, word.end)))
    for match in re.finditer(
        r"\b(?:without|no|avoid\w*|remov\w+|exclud\w+|eliminat\w+)\s+(?:any\s+)?(?:duplicat|repeat|repetit)\w*"
        r"|\bdeduplicated?\b|\b(?:each|every)\s+(?:\w+\s+){0,3}?(?:only|just|exactly)\s+once\b"
        r"|\b(?:only|just)\s+once\s+each\b|\bnon-?(?:duplicat|repeat)\w+",
        draft.asked,
        re.I,
    ):
        draft.distinct.append(Mark("once", Span(*match.span())))


def set_operations(draft: Draft) -> None:
    """Both ... and ..., but not: two sets to compare."""
    for match in re.finditer(
        r"\bboth\b(?P<between>[^.?;]{3,60}?)\band\b|\bbut\s+(?:do(?:es)?\s+|did\s+|is\s+|are\s+)?not\b",
        draft.asked,
        re.I,
    ):
        draft.set_operations.append(Mark("both" if match["between"] else "but not", Span(*match.span())))


_ASKS = set(
    "what which who whose whom show list find give return tell display state name identify provide "
    "please mention calculate compute get report retrieve select output print include where when "
    "specify indicate write describe also along together count enumerate determine".split()
)
_ENDS = set(
    "along together of for in with that who whose where which from by on at to have has had do does "
    "did when during after before as between among under over than if ? . ; sorted ordered order "
    "having whom per each every across within without using named called".split()
)
_SKIPS = set(
    "the a an me us all any are is was were be there please distinct different unique corresponding "
    "respective his her their its both also list out down some every each 's and i want to know many "
    "how total average maximum minimum number can you respectively various that those these possible "
    "existing following current".split()
)


def projections(draft: Draft) -> None:
    """The things to return: the noun phrases after a word that asks, up to the first preposition or verb.

    "What are the name, country and age of ..." asks for three. The list is cut at commas and `and`; a later
    "also list ..." or "along with ..." adds to it.
    """
    words = [w for w in draft.words if draft.free(w.start, w.end) or w.text[:1].islower()]
    place, found = 0, 0
    while place < len(words):
        word = words[place]
        opens = word.lower in _ASKS and not (
            word.lower
            in ("which", "who", "whose", "where", "when", "that", "also", "state", "name", "count", "mention")
            and place
            and words[place - 1].text not in ".?!;:,"
            and not (words[place - 1].lower == "and" and word.lower in ("which", "who", "what"))
        )
        opens = opens or (
            word.lower in ("along", "together")
            and place + 1 < len(words)
            and words[place + 1].lower == "with"
        )
        opens = opens or (
            word.lower == "how"
            and place + 1 < len(words)
            and words[place + 1].lower in ("many", "much", "old", "long")
        )
        if not opens:
            place += 1
            continue
        place = _phrases(draft, words, place + 1, first=word.lower)
        found += 1
    _drop_introduction(draft)
    if not draft.projections and words:
        # "Average age of students": a question without its asking word
        _phrases(draft, words, 0, first="")


def _drop_introduction(draft: Draft) -> None:
    """Where a later sentence lists, the first only introduces: "Which owner has most dogs? List the name"."""
    cut = re.search(
        r"[?.!]\s+(?:please\s+)?(?:list|give|show|return|name|state|provide|identify|indicate|find|display|tell|mention)\b",
        draft.asked,
        re.I,
    )
    first = draft.asked.split(None, 1)[0].lower() if draft.asked.split() else ""
    later = [p for p in draft.projections if cut and p.span.start > cut.start()]
    if not cut or not later or draft.asked.lower().startswith("how many"):
        return
    if first in ("which", "who", "whose"):
        draft.projections = later
    elif first in ("what", "when", "where", "how"):
        before = [replace(p, optional=True) for p in draft.projections if p not in later]
        draft.projections = before + later


def _phrases(draft: Draft, words: Sequence[Word], place: int, first: str) -> int:
    """Read noun phrases from `place` on; the place after them."""
    phrase: list[Word] = []
    if first in ("along", "together"):
        place += 1

    def close() -> None:
        nouns = [
            w for w in phrase if w.tag[:1] in "NJCF" or w.lower in AGGREGATE_WORDS or w.tag in ("VBG", "VBN")
        ]
        if nouns:
            stems = frozenset(stem(w.lemma) for w in nouns) - {"many", "number", "much"}
            function = next((AGGREGATE_WORDS[w.lower] for w in phrase if w.lower in AGGREGATE_WORDS), None)
            counted = any(w.lower in ("many", "number", "numbers") for w in phrase)
            functions: tuple[str, ...] = ("COUNT",) if counted else (function,) if function else ()
            if any(stems <= p.words and functions == p.functions for p in draft.projections):
                phrase.clear()
                return
            draft.projections.append(Projection(stems, Span(phrase[0].start, phrase[-1].end), functions))
        phrase.clear()

    while place < len(words):
        word = words[place]
        if word.lower in (",", "and", "&", "/", "or") or (
            word.lower == "as" and place + 2 < len(words) and words[place + 1].lower == "well"
        ):
            close()
            if word.lower == "as":
                place += 2
        elif (
            word.lower == "of"
            and phrase
            and phrase[-1].lower
            in (
                "number",
                "numbers",
                "amount",
                "list",
                "kind",
                "kinds",
                "type",
                "types",
                "date",
                "percentage",
                "count",
                "sum",
                "average",
                "total",
                "pair",
                "pairs",
                "combination",
                "combinations",
            )
        ):
            phrase.append(word)
        elif (word.lower in ("what", "which", "whose", "how") and not phrase) or (
            word.lower in ("each", "every") and not phrase and not draft.projections
        ):
            pass
        elif (
            word.lower in _ENDS
            or (
                word.tag[:2] in ("VB", "MD")
                and phrase
                and word.lower not in _SKIPS
                and word.tag not in ("VBG", "VBN")
            )
            or (word.lower in ("is", "are", "was", "were", "do", "does", "did") and phrase)
        ):
            break
        elif word.lower not in _SKIPS or word.lower in AGGREGATE_WORDS or word.lower in ("many", "number"):
            phrase.append(word)
        place += 1
    close()
    # A list goes on after its "of": "the name of the song and the age of the singer"
    return _continued(draft, words, place)


def _continued(draft: Draft, words: Sequence[Word], place: int) -> int:
    """After "... of the song" look for ", and the <noun> of ..." in the same sentence."""
    for ahead in range(place, min(len(words) - 3, place + 7)):
        if words[ahead].text in ".?!;" or words[ahead].lower in (
            "that",
            "who",
            "which",
            "with",
            "whose",
            "where",
        ):
            break
        if words[ahead].lower in (",", "and"):
            article = words[ahead + 1].lower in ("the", "their", "its", "his", "her", "and")
            noun = words[ahead + 1 + article : ahead + 4 + article]
            stop = next((i for i, w in enumerate(noun) if w.lower == "of"), None)
            if stop and all(w.tag[:1] in "NJ" or w.lower in ("the", "number") for w in noun[:stop]):
                return _phrases(draft, words, ahead + 1, first="and")
    return place


# States that tables keep as a flag, a status or a date, read as such whatever spaCy takes them for.
_STATES = frozenset(
    "active inactive open closed paid unpaid cancelled canceled completed complete incomplete "
    "finished pending approved rejected verified unverified deleted archived published unpublished "
    "enabled disabled available unavailable overdue expired valid invalid married unmarried divorced "
    "retired shipped delivered returned refunded failed successful public private premium urgent male "
    "female sold unsold blocked suspended banned registered subscribed discontinued vacant occupied "
    "booked reserved remote hidden visible locked featured resolved unresolved confirmed unconfirmed "
    "processed admitted discharged insured graduated certified employed unemployed accredited "
    "licensed terminated assigned unassigned".split()
)
# Adjectives that say how much, which or how to show, and no state.
_NO_STATES = frozenset(
    "many much few several various different distinct unique same other total average maximum minimum "
    "max min mean full first second third fourth fifth last next previous following corresponding "
    "respective specific certain given particular individual overall common alphabetical alphabetic "
    "lexicographical chronological ascending descending reverse increasing decreasing able possible "
    "own such each every whole entire existing current recent new old top popular big large great "
    "high low long short small good bad late early young tall heavy cheap expensive rich poor fast "
    "slow strong weak major minor main general detailed complete middle single double multiple "
    "additional related associated involved listed named called mentioned recorded based made done "
    "shown known interested least most more less fewer only daily weekly monthly yearly annual net "
    "gross final initial exact actual serial mobile correct relevant similar equal combined "
    "cumulative grand consecutive unknown missing null empty blank duplicate duplicated repeated half "
    "typical standard sorted ordered ranked worth due likely important sure right left wrong able "
    "nice simple short-term so-called".split()
)


_DEGREES = {"highest", "lowest", "best", "worst", "most", "least", "more", "less", "better", "top", "well"}


def states(draft: Draft) -> None:
    """Adjectives that say which of the things are meant: "active users", "orders that are cancelled"."""
    words = draft.words
    taken = [
        *(d.span for d in draft.distinct),
        *(o.span for o in draft.order),
        *(p.span for p in draft.percentages),
    ]
    end = Word(".", ".", ".", ".", len(draft.asked), len(draft.asked))
    for place, word in enumerate(words):
        following = words[place + 1] if place + 1 < len(words) else end
        previous = words[place - 1] if place else None
        state = word.lower in _STATES
        if (
            word.lower in _NO_STATES
            or not (word.text.isalpha() and word.text[0].islower())
            or not draft.free(word.start, word.end)
        ):
            continue
        if any(word.start < span.end and word.end > span.start for span in taken):
            continue
        attribute = following.tag[:2] == "NN" and (word.tag == "JJ" or (state and word.tag[:1] in "JVRN"))
        # "lowest paid", "how active": no state, but how much of it
        attribute = attribute and not (
            previous is not None
            and (previous.lower in ("how", "by", "and", "or", ",") or previous.lower in _DEGREES)
        )
        predicate = (
            (word.tag == "JJ" or state)
            and previous is not None
            and previous.lower
            in ("is", "are", "was", "were", "not", "n't", "been", "currently", "being", "marked", "still")
            and (
                following.tag in (".", ",", "CC", ":")
                or following.lower in ("and", "or", "?", "in", "with", "of")
            )
        )
        if not attribute and not predicate:
            continue
        before = {w.lower for w in words[max(0, place - 3) : place]}
        if previous is not None and (
            (attribute and previous.lower == "without") or (previous.lower == "been" and "never" in before)
        ):
            continue  # "without active orders", "never been sold": the negation says it, of rows elsewhere
        negated = bool(before & {"not", "n't", "never", "no", "non", "isn't", "aren't"}) and "no" not in {
            w.lower for w in words[max(0, place - 1) : place] if attribute
        }
        span, words_of = Span(word.start, word.end), frozenset({stem(word.lower)})
        draft.filters.append(Filter(words_of, "", (word.lower,), "state", span, negated, strong=state))


RULES: tuple[tuple[str, Rule], ...] = tuple(
    (rule.__name__, rule)
    for rule in (
        definitions, patterns, quoted_literals, dates, relative_dates, ranges, comparisons, top_k, numbers,
        bare_literals, negations, superlatives, order, aggregates, percentages, grouping, distinct,
        set_operations, projections, states,
    )
)  # fmt: skip


def read_question(doc: Any, definitions: str = "", disabled: Collection[str] = ()) -> Specification:
    """The specification of one question from spaCy's words of it.

    Args:
        doc: a spaCy `Doc` with tags and lemmas (see `spider_compose.language.load_model`).
        definitions: text that an enriched question adds after it, read by its signs alone.
        disabled: names of rules to leave out.
    """
    words = [
        Word(t.text, t.lower_, t.lemma_.lower(), t.tag_, t.idx, t.idx + len(t.text))
        for t in doc
        if not t.is_space
    ]
    draft = Draft(doc.text + definitions, doc.text, words)
    for name, rule in RULES:
        if name not in disabled:
            rule(draft)
    return _finish(draft)


def _finish(draft: Draft) -> Specification:
    stems: dict[str, Span] = {}
    for word in draft.words:
        if word.lower not in EMPTY_WORDS and word.text.strip("?.,;!'\"()"):
            span = Span(word.start, word.end)
            for part in (*name_words(word.text), stem(word.lemma)):
                stems.setdefault(part, span)
    for match in re.finditer(r"\w+", draft.text[len(draft.asked) :]):
        if match[0].lower() not in EMPTY_WORDS:
            span = Span(match.start() + len(draft.asked), match.end() + len(draft.asked))
            for part in name_words(match[0]):
                stems.setdefault(part, span)
    return Specification(
        text=draft.text,
        projections=tuple(draft.projections),
        aggregations=tuple(draft.aggregations),
        filters=tuple(sorted(draft.filters, key=lambda f: f.span)),
        grouping=tuple(draft.grouping),
        order=tuple(draft.order),
        limit=draft.limit,
        set_operations=tuple(draft.set_operations),
        negations=tuple(draft.negations),
        distinct=tuple(draft.distinct),
        percentages=tuple(draft.percentages),
        definitions=tuple(draft.definitions),
        words=stems,
    )
