"""Which words of a question can be said of which clause: the candidates of section 3.2.1.

A clause's SQL gives its *specific* words: names of tables and columns (in the schema's readable form),
values, and the English of its functions, comparisons and directions. Its type gives *general* words ("each",
"sorted"). Both aligners read the same evidence; all vocabulary and all weights are in this module.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from spider_compose.alignment.joins import comma_joins, join_conditions, listed_tables
from spider_compose.alignment.records import Word
from spider_compose.sql.clauses import SET_OPERATIONS, Clause, sql_dialect
from spider_compose.sql.schema import Schema, readable_name

# --- Vocabulary: the English of SQL ------------------------------------------------------------------

# Function or keyword in a clause -> words that say it.
FUNCTION_WORDS: Mapping[str, str] = {
    "COUNT": "count number many total",
    "SUM": "sum total overall combined",
    "AVG": "average mean avg",
    "MAX": "maximum max highest largest biggest greatest most latest oldest longest top best",
    "MIN": "minimum min lowest smallest least fewest earliest youngest shortest cheapest worst",
    "DISTINCT": "distinct different unique",
    "NOT": "not no never none without neither nor except other any n't nt",
    "LIKE": "contain substring include start begin end letter prefix suffix word string like",
    "BETWEEN": "between from to range",
    "OR": "or either",
    "AND": "and",
    ">": "more greater above over than after older later higher larger longer exceed exceeding bigger taller",
    "<": "less fewer below under than before younger earlier lower smaller shorter cheaper",
    ">=": "at least more or after above",
    "<=": "at most less or before below",
    "!=": "not other than except n't",
    "DESC": "descending decreasing reverse high highest large largest most latest recent oldest top biggest "
    "greatest longest best maximum common popular frequent heaviest tallest expensive last",
    "ASC": "ascending increasing alphabetical alphabetically lexicographic lexicographical low lowest small "
    "smallest least fewest earliest youngest shortest cheapest minimum lightest first worst",
    "LIMIT": "top first most least single",
}

# Clause type -> words that often open or belong to it, whatever it holds.
GENERAL_WORDS: Mapping[str, str] = {
    "SELECT": "what which who how many find list show give return tell display me name identify please "
    "report",
    "WHERE": "whose who that where with in have has had of is are was were when located named called",
    "GROUP BY": "each every per for by group grouped corresponding",
    "ORDER BY": "order ordered sort sorted by from ranked rank descending ascending alphabetical "
    "alphabetically most least top highest lowest",
    "INTERSECT": "both and also as well",
    "UNION": "or either and",
    "EXCEPT": "but not except without never no excluding n't",
}

# Words that open a new fragment: they belong with what follows.
OPENERS = frozenset(
    "who that which whose where when with for in by from to at on and or but having per than as whom "
    "not without after before between except also if while is are was were has have had do does did".split()
)

# Adjective or verb -> names of columns that it speaks of.
ATTRIBUTES: Mapping[str, str] = {
    "old": "age birth founded year date",
    "young": "age birth founded year date",
    "early": "date year time",
    "late": "date year time",
    "recent": "date year time",
    "tall": "height",
    "high": "height elevation altitude",
    "large": "area population size capacity",
    "big": "area population size capacity",
    "small": "area population size capacity",
    "long": "length duration",
    "short": "length duration height",
    "heavy": "weight",
    "expensive": "price cost",
    "cheap": "price cost",
    "rich": "worth money",
    "fast": "speed time",
    "populous": "population",
    "people": "population",
    "live": "city address state country residence",
    "bear": "birth",
    "die": "death",
    "earn": "earnings salary income",
}

# Codes that stand for words in many databases' values.
CODES: Mapping[str, str] = {"f": "female woman girl", "m": "male man boy", "l": "left", "r": "right"}

NUMBER_WORDS = {
    str(value): word
    for value, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve".split()
    )
}

ORDINALS = {
    str(value): word
    for value, word in enumerate(
        "first second third fourth fifth sixth seventh eighth ninth tenth".split(), 1
    )
}

_FUNCTION_TAGS = frozenset("CC DT EX IN MD PDT POS PRP PRP$ RP TO WDT WP WP$ WRB".split())
_FUNCTION_LEMMAS = frozenset("be have do".split())


def is_function_word(word: Word) -> bool:
    """Whether a word has a grammatical task only: determiner, preposition, pronoun, auxiliary, ..."""
    return word.tag in _FUNCTION_TAGS or word.lemma in _FUNCTION_LEMMAS


# --- Weights -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class EvidenceWeights:
    """What one matching word is worth, by kind of evidence.

    Attributes:
        value: a string or number of the clause.
        column: a column that the clause names.
        table: a table that the clause names.
        joined: a table that SELECT joins but takes no column of (where its columns say which table they are
            of), or a column of a join's condition.
        qualifier: the table of a column that the clause names (`T1` in `T1.age`), every table of the query
            for `count(*)`.
        function: the English of a function, comparison or direction.
        general: a word that often belongs to a clause of the type.
        near: share of its kind's weight that a word gets which is none of these but nearly one: derived from
            it ("Asian"), misspelled ("popuation"), or its adjective ("oldest" of `age`).
    """

    value: float = 4.0
    column: float = 2.0
    table: float = 1.0
    joined: float = 1.0
    qualifier: float = 0.0
    function: float = 1.5
    general: float = 0.6
    near: float = 0.0


KINDS = ("value", "column", "table", "joined", "qualifier", "function", "general")
SPECIFIC = ("value", "column", "table", "joined", "qualifier")


@dataclass(frozen=True)
class ClauseWords:
    """Candidate words of one clause by kind, as comparable forms (see `word_forms`)."""

    type: str
    words: Mapping[str, frozenset[str]] = field(default_factory=dict)


# --- Comparable forms ------------------------------------------------------------------------------------


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """Harman's S stemmer (1991): plurals and singulars of a word meet, nothing else is cut."""
    if len(word) > 3 and word.endswith("ies") and not word.endswith(("eies", "aies")):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("ches", "shes", "sses", "xes")):
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("us", "ss")):
        return word[:-1]
    return word


def word_forms(word: Word) -> frozenset[str]:
    """The forms under which a word of the question can meet a candidate."""
    text = word.text.lower()
    forms = {text, stem(text), word.lemma, stem(word.lemma)}
    return frozenset(forms | {digit for digit, name in NUMBER_WORDS.items() if name == text})


def _forms(text: str) -> frozenset[str]:
    return frozenset(form for part in text.lower().split() for form in (part, stem(part)))


_VALUE_PART = re.compile(r"\w+(?:\.\d+)?")


def _value_forms(value: str) -> frozenset[str]:
    parts = _VALUE_PART.findall(value.lower())
    forms = {form for part in parts for form in (part, stem(part))}
    for part in parts:
        forms |= {names[part] for names in (NUMBER_WORDS, ORDINALS) if part in names}
        forms |= set(CODES.get(part, "").split())
    return frozenset(forms)


_FUNCTIONS = {name: frozenset(words.split()) for name, words in FUNCTION_WORDS.items()}
_ATTRIBUTES = {name: frozenset(words.split()) for name, words in ATTRIBUTES.items()}
_GENERAL = {name: frozenset(words.split()) for name, words in GENERAL_WORDS.items()}

# --- From SQL to candidates ------------------------------------------------------------------------------

_OPERATORS = {"GT": ">", "LT": "<", "GTE": ">=", "LTE": "<=", "NEQ": "!="}
_KEYWORDS = {"DISTINCT", "NOT", "LIKE", "BETWEEN", "OR", "AND", "DESC", "ASC", "LIMIT"}
_VALUE_BEFORE = {"EQ", "NEQ", "GT", "LT", "GTE", "LTE", "LIKE", "IN", "L_PAREN", "COMMA", "BETWEEN", "AND"}


def clause_words(
    clauses: Sequence[Clause], schema: Schema, dialect: str = "sqlite"
) -> tuple[ClauseWords, ...]:
    """Candidate words of each clause of one query.

    Args:
        clauses: all clauses of the query, for its table aliases.
        schema: an empty schema will do; names are then split at `_` and case changes.
        dialect: as for `split_clauses`.
    """
    engine = sql_dialect(dialect)
    tokens = [engine.tokenize(clause.sql) for clause in clauses]
    aliases = {alias: table for own in tokens for alias, table in _aliases(own)}
    listed = listed_tables(token for own in tokens for token in own)
    names = _SchemaNames.of(schema)
    found: list[ClauseWords] = []
    for clause, own in zip(clauses, tokens, strict=True):
        words: dict[str, set[str]] = {kind: set() for kind in KINDS}
        by_comma = comma_joins(own, listed)
        conditions = [on or comma for on, comma in zip(join_conditions(own), by_comma, strict=True)]
        qualifiers = _qualifiers(own, conditions, aliases)
        for position, token in enumerate(own):
            before = own[position - 1].token_type.name if position else ""
            kind, forms = _candidate(token, before, aliases, names)
            if (
                kind == "table"
                and clause.type == "SELECT"
                and qualifiers
                and token.text.lower() not in qualifiers
            ):
                kind = "joined"
            if kind == "column" and conditions[position]:
                if clause.type == "WHERE" and by_comma[position]:
                    continue  # nobody says how tables are joined
                kind = "joined"
            if before == "LIMIT" and token.text == "1":
                continue  # "the one with the most": nobody says LIMIT 1 as a number
            words[kind] |= forms
        for table in qualifiers:
            words["qualifier"] |= names.tables.get(table, frozenset())
        if found and _counts_rows(own):
            words["qualifier"] |= found[0].words["table"] | found[0].words["joined"]
        if clause.type == "ORDER BY" and "DESC" not in {token.token_type.name for token in own}:
            words["function"] |= _FUNCTIONS["ASC"]
        words["general"] |= _GENERAL[clause.type]
        if clause.type in SET_OPERATIONS:
            words["general"] |= _GENERAL["WHERE"]
        found.append(ClauseWords(clause.type, {kind: frozenset(forms) for kind, forms in words.items()}))
    return tuple(found)


def _counts_rows(tokens: Sequence[Any]) -> bool:
    texts = [token.text.lower() for token in tokens]
    return any(texts[at : at + 3] == ["count", "(", "*"] for at in range(len(texts)))


def _candidate(
    token: object, before: str, aliases: Mapping[str, str], names: _SchemaNames
) -> tuple[str, frozenset[str]]:
    """(kind, forms) of one SQL token; a token that says nothing gives no forms."""
    kind, text = token.token_type.name, token.text  # type: ignore[attr-defined]
    if kind in ("STRING", "NUMBER", "NATIONAL_STRING"):
        return "value", _value_forms(text)
    if kind in _OPERATORS:
        return "function", _FUNCTIONS[_OPERATORS[kind]]
    if kind in _KEYWORDS:
        return "function", _FUNCTIONS[kind]
    if kind == "IDENTIFIER" and text.lower() not in names.all and before in _VALUE_BEFORE:
        return "value", _value_forms(text)  # Spider quotes strings with double quotes too
    if not text.isidentifier() and kind not in ("VAR", "IDENTIFIER"):
        return "general", frozenset()
    if text.upper() in _FUNCTIONS and text.lower() not in names.all:
        return "function", _FUNCTIONS[text.upper()]
    if text.lower() in aliases or (kind not in ("VAR", "IDENTIFIER") and text.lower() not in names.all):
        return "general", frozenset()
    if text.lower() in names.tables and before != "DOT":
        return "table", names.tables[text.lower()]
    return "column", names.columns.get(text.lower()) or _forms(readable_name(text))


def _aliases(tokens: Sequence[Any]) -> Iterable[tuple[str, str]]:
    """Aliases of tables, each with its table (or what stands before `AS`)."""
    for table, before, token in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if before.token_type.name == "ALIAS":
            yield token.text.lower(), table.text.lower()


def _qualifiers(
    tokens: Sequence[Any], conditions: Sequence[bool], aliases: Mapping[str, str]
) -> frozenset[str]:
    """Tables whose columns are named with them (`T1.age`) in a clause, conditions of joins left out."""
    names = [
        token.text.lower()
        for token, after, joins in zip(tokens, tokens[1:], conditions, strict=False)
        if after.token_type.name == "DOT" and not joins
    ]
    return frozenset(aliases.get(name, name) for name in names)


@dataclass(frozen=True)
class _SchemaNames:
    """Forms of a schema's names, by lower-cased identifier."""

    tables: Mapping[str, frozenset[str]]
    columns: Mapping[str, frozenset[str]]
    all: frozenset[str]

    @staticmethod
    @lru_cache(maxsize=4096)
    def of(schema: Schema) -> _SchemaNames:
        tables = {
            table.name.lower(): _forms(table.words) | _forms(readable_name(table.name))
            for table in schema.tables
        }
        columns: dict[str, frozenset[str]] = {}
        for table in schema.tables:
            for column in table.columns:
                own = _forms(column.words) | _forms(readable_name(column.name))
                own |= tables.get(_TABLE_COLUMN.sub("", column.name.lower()), frozenset())
                columns[column.name.lower()] = columns.get(column.name.lower(), frozenset()) | own
        return _SchemaNames(tables, columns, frozenset(tables) | frozenset(columns))


# PAPERID, authorname: a table's key or name, written without a sign between the two words.
_TABLE_COLUMN = re.compile(r"(id|name)$")

# --- Evidence matrix -------------------------------------------------------------------------------------


def evidence(
    words: Sequence[Word], candidates: Sequence[ClauseWords], weights: EvidenceWeights = EvidenceWeights()
) -> list[list[float]]:
    """How strongly each word speaks for each clause.

    A word that meets several kinds counts with the strongest; a word that several clauses have as a specific
    candidate says less about each: its weight is divided by their number.

    Returns:
        A matrix of shape (number of clauses, number of words), entries >= 0.
    """
    forms = [word_forms(word) for word in words]
    matrix = [[0.0] * len(words) for _ in candidates]
    used = [kind for kind in KINDS if getattr(weights, kind)]
    named = [kind for kind in SPECIFIC if getattr(weights, kind)]
    for position, own in enumerate(forms):
        kinds = [next((kind for kind in used if own & c.words[kind]), None) for c in candidates]
        sharing = sum(kind in SPECIFIC for kind in kinds)
        for row, kind in zip(matrix, kinds, strict=True):
            if kind is not None:
                row[position] = getattr(weights, kind) / (sharing if kind in SPECIFIC else 1)
        if weights.near and not sharing and not is_function_word(words[position]):
            _add_near(matrix, position, words[position], candidates, named, weights)
    for row, candidate in zip(matrix, candidates, strict=True):
        _drop_lone_function_words(row, words, forms, candidate, weights)
    return matrix


def _add_near(
    matrix: list[list[float]],
    position: int,
    word: Word,
    candidates: Sequence[ClauseWords],
    kinds: Sequence[str],
    weights: EvidenceWeights,
) -> None:
    attributes = _ATTRIBUTES.get(word.lemma, frozenset())
    found = [
        "column"
        if attributes & c.words["column"]
        else next((k for k in kinds if nearly(word, c.words[k])), None)
        for c in candidates
    ]
    sharing = sum(kind is not None for kind in found)
    for row, kind in zip(matrix, found, strict=True):
        if kind is not None:
            row[position] = max(row[position], weights.near * getattr(weights, kind) / sharing)


def nearly(word: Word, candidates: frozenset[str]) -> bool:
    """Whether a word is derived from a candidate or misspells one."""
    text = word.text.lower()
    return any(
        other[:1] == text[:1] and (_derived(text, other) or _misspelled(text, other)) for other in candidates
    )


_ENDINGS = re.compile(r"(ian|ese|ish|an|y|e|a)$")


@lru_cache(maxsize=65536)
def _derived(first: str, second: str) -> bool:
    """Whether one word stems from the other: "Asia" and "Asian", "Italy" and "Italian"."""
    short, long = sorted((first, second), key=len)
    if len(short) < 4 or not (short + long).isalpha():
        return False
    if long.startswith(short) and len(long) - len(short) <= 3:
        return True
    root = _ENDINGS.sub("", short)
    return len(root) > 3 and root == _ENDINGS.sub("", long)


@lru_cache(maxsize=65536)
def _misspelled(first: str, second: str) -> bool:
    """Whether two words of at least seven letters differ in one letter, or two neighbours are swapped."""
    short, long = sorted((first, second), key=len)
    if len(short) < 7 or len(long) - len(short) > 1:
        return False
    at = next((i for i, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    if len(short) < len(long):
        return short[at:] == long[at + 1 :]
    swapped = short[at : at + 2] == long[at : at + 2][::-1] and short[at + 2 :] == long[at + 2 :]
    return swapped or short[at + 1 :] == long[at + 1 :]


def _drop_lone_function_words(
    row: list[float],
    words: Sequence[Word],
    forms: Sequence[frozenset[str]],
    candidate: ClauseWords,
    weights: EvidenceWeights,
) -> None:
    """A function word, as "of" in the value 'A Love of a Lifetime', speaks only in a run of its words."""
    general = candidate.words["general"] | candidate.words["function"]
    start = 0
    for position in range(len(words) + 1):
        if position < len(words) and forms[position] & candidate.words["value"]:
            continue
        if all(is_function_word(word) for word in words[start:position]):
            for at in range(start, position):
                row[at] = weights.general if forms[at] & general else 0.0
        start = position + 1
    named = frozenset().union(*(candidate.words[kind] for kind in ("column", "table", "joined")))
    for position, word in enumerate(words):
        if (
            is_function_word(word)
            and forms[position] & named
            and not forms[position] & candidate.words["value"]
        ):
            near = (
                forms[at] & named
                for at in (position - 1, position + 1)
                if 0 <= at < len(words) and not is_function_word(words[at])
            )
            if not any(near):
                row[position] = weights.general if forms[position] & general else 0.0
