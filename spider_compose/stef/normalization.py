"""Words and values in comparable form (pipeline step 3): stems of names, folded literals, functions.

No schema says which column a word means, so a name meets a word when their stems are equal or one is an
abbreviation of the other.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+|[^\W\d_A-Za-z]+")

# Plurals the suffix rules below get wrong.
_IRREGULAR = {
    "people": "person", "persons": "person", "children": "child", "men": "man", "women": "woman",
    "series": "series", "species": "species", "countries": "country", "cities": "city", "bus": "bus",
    "status": "status", "address": "address", "addresses": "address", "class": "class", "classes": "class",
    "gas": "gas", "is": "is", "has": "has", "this": "this", "movies": "movie", "data": "data",
    "born": "birth", "dob": "birth",
}  # fmt: skip

# Names that say nothing about which column is meant.
EMPTY_WORDS = frozenset("the a an of in for to by and or is t with on at from".split())

# Short forms no rule finds (no common first letters), and words that SQL names use for others.
_SYNONYMS = {
    frozenset(pair.split("/"))
    for pair in (
        "no/number num/number nr/number nbr/number qty/quantity amt/amount dob/birth yr/year pct/percent "
        "percentage/percent ratio/rate lat/latitude lng/longitude lon/longitude colour/color sex/gender "
        "tel/phone cell/phone telephone/phone mobile/phone email/mail zip/postcode zip/postal zipcode/zip "
        "identifier/id code/id title/name called/name last/family last/surname cost/price salary/pay "
        "desc/description txt/text addr/address dept/department emp/employee cust/customer prod/product "
        "cat/category org/organization max/maximum min/minimum avg/average mean/average tall/height "
        "high/height heavy/weight old/age young/age old/birth young/birth long/length speak/language "
        "spoken/language live/residence nation/country nation/nationality citizen/nationality "
        "locate/location place/location when/date date/day date/time year/date month/date expensive/price "
        "expensive/cost cheap/price cheap/cost earn/salary earn/income earn/wage earn/pay income/salary "
        "wage/salary weigh/weight heavy/weigh buy/purchase person/population inhabitant/population "
        "resident/population citizen/population late/date recent/date new/date early/date"
    ).split()
}


@lru_cache(maxsize=8192)
def stem(word: str) -> str:
    """A word's comparable form: lower case, without accents and plural endings.

    >>> [stem(w) for w in ("Cities", "singers", "boxes", "address", "is")]
    ['city', 'singer', 'box', 'address', 'is']
    """
    word = unicodedata.normalize("NFKD", word).lower()
    word = "".join(c for c in word if not unicodedata.combining(c))
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("ses", "xes", "zes", "ches", "shes")):
        return word[:-2] if not word.endswith(("ases", "uses")) else word[:-1]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


@lru_cache(maxsize=8192)
def name_words(name: str) -> tuple[str, ...]:
    """The stems of an identifier, cut at underscores, case changes and digits.

    >>> name_words("Song_release_year"), name_words("fastestLapTime")
    (('song', 'release', 'year'), ('fastest', 'lap', 'time'))
    """
    return tuple(stem(part) for part in _PARTS.findall(name))


def synonyms(word: str) -> tuple[str, ...]:
    """The words that a stem meets though no rule finds them, sorted."""
    return tuple(sorted(_SYNONYMS_OF.get(word, ())))


_SYNONYMS_OF: dict[str, set[str]] = {}
for _pair in _SYNONYMS:
    for _word in _pair:
        _SYNONYMS_OF.setdefault(_word, set()).update(_pair - {_word})


@lru_cache(maxsize=8192)
def meets(one: str, other: str) -> bool:
    """Whether two stems may name the same thing: equal, a known pair, an abbreviation, one inside the other.

    >>> meets("qty", "quantity"), meets("dept", "department"), meets("birthdate", "date"), meets("cat", "car")
    (True, True, True, False)
    """
    if one == other or other in _SYNONYMS_OF.get(one, ()):
        return True
    short, long = (one, other) if len(one) <= len(other) else (other, one)
    size = len(short)
    if size < 3:
        return False
    if short[0] != long[0]:
        alike = size >= 4 and long.endswith(short)  # "birthdate", "date"
    else:
        alike = (
            long.startswith(short)
            # "national", "nationality"; "million", "millions"
            or (size >= 4 and size * 4 >= len(long) * 3 and long[:4] == short[:4] and not short.isdigit())
            or (size >= 4 and long.endswith(short))
            or _is_abbreviation(short, long)
        )
    return alike and not opposed(one, other)


# Words of a state and of its opposite; those that a prefix turns round need no entry.
_OPPOSITES = {
    frozenset(pair.split("/"))
    for pair in (
        "open/closed open/close paid/outstanding paid/overdue male/female man/woman married/single "
        "public/private dead/alive deceased/alive new/used enabled/disabled approved/rejected "
        "accepted/rejected passed/failed domestic/international domestic/foreign sold/unsold empty/full "
        "on/off hidden/visible free/paid available/sold active/suspended active/closed active/retired "
        "buy/sell indoor/outdoor internal/external"
    ).split()
}
TURNS = ("in", "un", "non", "dis", "im", "ir", "il", "not")


@lru_cache(maxsize=8192)
def opposed(one: str, other: str) -> bool:
    """Whether two words say opposite states.

    >>> opposed("active", "inactive"), opposed("unpaid", "paid"), opposed("open", "active")
    (True, True, False)
    """
    if frozenset((one, other)) in _OPPOSITES:
        return True
    short, long = sorted((one, other), key=len)
    return len(short) >= 4 and any(
        long in (turn + short, f"{turn}-{short}", f"{turn} {short}") for turn in TURNS
    )


@lru_cache(maxsize=8192)
def _ends(word: str) -> str:
    """The last two consonants after the first letter: an abbreviation ends with one of them."""
    return re.sub(r"[aeiouy]", "", word[1:])[-2:]


def _is_abbreviation(short: str, long: str) -> bool:
    """Whether `short` drops vowels (and double letters) of `long`: "mgr" of "manager", "cnt" of "count"."""
    if short.isdigit() or not _VOWELS.isdisjoint(short[1:]) or short[-1] not in _ends(long):
        return False
    rest = iter(long[1:])
    return all(c in rest for c in short[1:])


_VOWELS = frozenset("aeiou")


@lru_cache(maxsize=8192)
def fold_value(text: str) -> str:
    """A literal in comparable form: case and white space folded, numbers without grouping or trailing zeros.

    >>> [fold_value(v) for v in (" New  York", "1,000", "5.50", "%North%", "São Paulo")]
    ['new york', '1000', '5.5', 'north', 'sao paulo']
    """
    value = unicodedata.normalize("NFKD", text)
    value = "".join(c for c in value if not unicodedata.combining(c)).replace("’", "'").replace("‘", "'")
    value = re.sub(r"\s+", " ", value).strip().strip("%").strip().lower()
    if re.fullmatch(r"-?\d{1,3}(,\d{3})+(\.\d+)?", value):
        value = value.replace(",", "")
    if re.fullmatch(r"-?\d*\.\d+", value):
        value = value.rstrip("0").rstrip(".") or "0"
        value = "0" + value if value.startswith(".") else value
    return value


def is_number(value: str) -> bool:
    """Whether a folded value is a plain number."""
    return re.fullmatch(r"-?\d+(\.\d+)?", value) is not None


def values_meet(one: str, other: str) -> bool:
    """Whether two folded values may be the same: equal, or one spelt inside the other at word ends, as stems.

    >>> values_meet("european", "europe"), values_meet("female", "f"), values_meet("10", "100")
    (True, False, False)
    """
    if one == other:
        return True
    if not one or not other:
        return False
    if is_number(one) or is_number(other):
        digits = (re.findall(r"\d+", one), re.findall(r"\d+", other))
        return (len(one) >= 4 and one in digits[1]) or (len(other) >= 4 and other in digits[0])
    first, second = " ".join(map(stem, one.split())), " ".join(map(stem, other.split()))
    if first == second:
        return True
    short, long = sorted((first, second), key=len)
    if re.search(r"\d", short):
        return len(short) >= 4 and long.startswith(short)  # a date with a time; a code must be whole
    return (
        len(short) >= 4 and long.startswith(short[: max(4, len(short) - 1)]) and len(long) - len(short) <= 4
    )


# Words of a question -> aggregate function (section on normalisation).
AGGREGATE_WORDS = {
    "total": "SUM", "sum": "SUM", "combined": "SUM", "average": "AVG", "mean": "AVG", "avg": "AVG",
    "maximum": "MAX", "max": "MAX", "minimum": "MIN", "min": "MIN", "count": "COUNT",
}  # fmt: skip

# Superlatives that are no plain -est form of a degree word, and which end they pick. None: depends on the
# column (the oldest person has the highest age or the earliest birth).
SUPERLATIVES: dict[str, str | None] = {
    "most": "desc", "highest": "desc", "largest": "desc", "biggest": "desc", "greatest": "desc",
    "latest": "desc",
    "newest": "desc", "longest": "desc", "tallest": "desc", "heaviest": "desc", "best": None, "top": "desc",
    "maximum": "desc", "max": "desc", "richest": "desc", "strongest": "desc", "last": "desc",
    "recent": "desc",
    "least": "asc", "fewest": "asc", "lowest": "asc", "smallest": "asc", "earliest": "asc", "soonest": "asc",
    "shortest": "asc",
    "cheapest": "asc", "lightest": "asc", "minimum": "asc", "min": "asc", "poorest": "asc", "rarest": "asc",
    "youngest": None, "oldest": None, "fastest": None, "slowest": None, "worst": None, "first": "asc",
}  # fmt: skip

# What a column is of, by the stems of its name, where an extreme word means another end for each.
_DATED = frozenset(
    "birth date year founded built since established created create hired hire start started release "
    "released opened opening opens joined published debut founding construction timestamp day dob".split()
)
_AGED = frozenset("age".split())
_TIMED = frozenset("time second minute hour duration lap millisecond elapsed ms sec".split())
_RANKED = frozenset("rank ranking position standing placement place grid".split())
_ENDS: dict[str, dict[frozenset[str], str]] = {
    "oldest": {_AGED: "desc", _DATED: "asc"},
    "youngest": {_AGED: "asc", _DATED: "desc"},
    "newest": {_AGED: "asc", _DATED: "desc"},
    "eldest": {_AGED: "desc", _DATED: "asc"},
    "latest": {_AGED: "asc", _DATED: "desc"},
    "earliest": {_AGED: "desc", _DATED: "asc"},
    "fastest": {_TIMED: "asc", frozenset(("speed", "velocity", "mph", "kmh", "pace")): "desc"},
    "quickest": {_TIMED: "asc", frozenset(("speed", "velocity", "mph", "kmh")): "desc"},
    "slowest": {_TIMED: "desc", frozenset(("speed", "velocity", "mph", "kmh", "pace")): "asc"},
    "best": {_RANKED: "asc", frozenset("score rating point grade star gpa mark".split()): "desc"},
    "worst": {_RANKED: "desc", frozenset("score rating point grade star gpa mark".split()): "asc"},
}


def extreme(word: str, default: str | None, column: frozenset[str]) -> str | None:
    """Which end of a column an extreme word picks: "asc", "desc", or None where that is open.

    Args:
        default: the end the word picks of columns that are none of those it depends on.
        column: stems of the column's name.

    >>> extreme("oldest", None, frozenset({"age"})), extreme("oldest", None, frozenset({"birth", "date"}))
    ('desc', 'asc')
    """
    for kind, end in _ENDS.get(word, {}).items():
        if column & kind:
            return end
    return None if column & _RANKED else default
