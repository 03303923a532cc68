"""What is wrong with one generated question, against its query and its reference (section 5.2).

Every detector compares prediction with reference, and asks the query what the words are about: a clause, a
column or a value counts only if the reference says it in words that the query explains. What the reference
leaves unsaid is not judged. The words of a clause are those of the aligners (`alignment.evidence`).

Detectors are rules over words, no reading of the text; an item can have several kinds, or none. How far to
trust each was measured on Spider's training part, 140 databases (validation, 20 databases, gives the same
within a few points; `benchmarks/error_analysis.py` measures anew). *False alarms*: how often it fires on a
human paraphrase, another question of the same query. *Recall*: how often it finds a fault of its kind planted
in a reference.

    kind              false alarms   recall   mistaken for it, or not seen
    empty_output           0 %       100 %    nothing: no word is no word
    cut_short              0.2 %      31 %    a text cut at random mostly ends on a word that can be the last
    repeated_words         0.5 %      99 %    two long enumerations that are worded alike
    missing_clause         3.0 %      84 %    clauses that the rest implies; a clause whose words another says
                                              (SELECT 74 %, the others 86 to 99 %)
    extra_clause           1.9 %      99 %    "every student" for "the students" reads as grouping
    wrong_column           0.7 %      81 %    a column named by a word that the schema does not have
    wrong_value            1.4 %      99 %    "more than one" for "two or more", "US" for "United States"
    wrong_aggregate        0.1 %      71 %    queries that have both aggregates
    wrong_direction        0.3 %      72 %    "oldest" for ascending dates; words that the lists lack
    wrong_comparison       0.1 %      81 %    questions with both comparisons
    wrong_negation         0.3 %      95 %    "foreign" for "not French"; one negation of two
    lost_words            14 %        66 %    paraphrases: "the students" for "the students' names"

Clauses that the reference does not say in words of the query are not judged: most GROUP BY (75 %), for they
group by what SELECT names and add no word, and a fifth of SELECT; nearly all others are.

All but `lost_words` are rare enough on good text for a share to be read as it stands; a share of `lost_words`
is an upper bound. Some alarms are right: a few of Spider's questions do repeat words or break off.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType

from spider_compose.alignment.evidence import FUNCTION_WORDS, GENERAL_WORDS, ClauseWords, clause_words, stem
from spider_compose.evaluation.said_words import WEAK_WORDS, SaidWords, read_text, word_forms
from spider_compose.sql.clauses import Clause, split_clauses, sql_dialect
from spider_compose.sql.schema import Schema, readable_name

RULES = 1
"""Version of the detectors; it changes when a rule or a word list does."""

KINDS: Mapping[str, str] = MappingProxyType(
    {
        "empty_output": "no word at all",
        "cut_short": "ends on a word that no question ends on",
        "repeated_words": "the same words twice in a row, or five words in their order twice",
        "missing_clause": "no word of a clause that the reference says, and nothing in its place",
        "extra_clause": "words of sorting or grouping that neither the query nor the reference has",
        "wrong_column": "a column is not said, and another column of the database is",
        "wrong_value": "a word of a value is not said, or a number is that neither query nor reference has",
        "wrong_aggregate": "another aggregate than the reference's",
        "wrong_direction": "the opposite order: lowest for highest, ascending for descending",
        "wrong_comparison": "the opposite comparison: less for more, before for after",
        "wrong_negation": "a negation lost or added",
        "lost_words": "words for a column, table or function are lost in a clause that is said",
    }
)
"""Kinds of errors and what they mean, in the order of reports."""


@dataclass(frozen=True)
class FoundErrors:
    """What the detectors found in one prediction.

    Attributes:
        kinds: names in `KINDS`, in its order.
        clause_types: of the query's clauses.
        judged: per clause whether the reference says it, so that the prediction can miss it.
        missing: per clause whether the prediction misses it.
    """

    kinds: tuple[str, ...]
    clause_types: tuple[str, ...] = ()
    judged: tuple[bool, ...] = ()
    missing: tuple[bool, ...] = ()


def find_errors(
    prediction: str, question: str, query: str, schema: Schema | None = None, dialect: str = "sqlite"
) -> FoundErrors:
    """Look for every kind of error in one prediction.

    Args:
        question: the reference.
        query: SQL, or clauses of it without their SELECT, as recombination makes them.
        schema: without one no `wrong_column` is found; it then counts as `missing_clause` or `lost_words`.

    Raises:
        ClauseError: the query cannot be cut into clauses.
        OptionError: sqlglot does not know the dialect.
    """
    asked = _read_query(query, schema or Schema(""), dialect)
    said, reference = read_text(prediction), read_text(question)
    kinds = set(_text_errors(said, reference))
    columns = _other_columns(said, reference, asked, schema) if schema else False
    values = set(_other_values(said, reference, asked, schema))
    judged, missing = [], []
    for clause in asked.clauses:
        wanted = next((words for words in clause.distinctive if reference.says(words)), frozenset[str]())
        is_said = said.says(wanted or clause.distinctive[0], loosely=True)
        lost_column = any(reference.lost(clause.columns, said, loosely=True))
        lost_value = any(reference.lost(clause.values, said))
        replaced = (lost_column and columns) or (lost_value and bool(values))
        judged.append(bool(wanted))
        missing.append(judged[-1] and not is_said and not replaced)
        if lost_column and columns:
            kinds.add("wrong_column")
        if lost_value and (is_said or values):
            kinds.add("wrong_value")
        if is_said and _lost_words(clause, said, reference, lost_column and not columns):
            kinds.add("lost_words")
    if any(missing):
        kinds.add("missing_clause")
    if any(word[0].isdigit() for word in values):
        kinds.add("wrong_value")
    if said.texts:
        kinds.update(_wrong_functions(said, reference, asked))
        kinds.update(_extra_clauses(said, reference, asked, schema))
    types = tuple(clause.type for clause in asked.clauses)
    return FoundErrors(_in_order(kinds), types, tuple(judged), tuple(missing))


def find_text_errors(prediction: str, question: str) -> FoundErrors:
    """Look for the kinds of errors that need no query: `empty_output`, `cut_short` and `repeated_words`."""
    return FoundErrors(_in_order(set(_text_errors(read_text(prediction), read_text(question)))))


def _in_order(kinds: set[str]) -> tuple[str, ...]:
    return tuple(kind for kind in KINDS if kind in kinds)


# --- Text alone -------------------------------------------------------------------------------------------

# Determiners, conjunctions and relative words; a preposition can end a question ("live in?").
_NEVER_LAST = frozenset("the a an and or of with whose every than that which their its as between".split())

_LONGEST_REPEAT = 4  # words twice in a row
_RECURRING = 5  # words in their order twice anywhere: four recur in good English ("the name of the")


def _text_errors(said: SaidWords, reference: SaidWords) -> Iterator[str]:
    if not said.texts:
        yield "empty_output"
        return
    if said.texts[-1] in _NEVER_LAST and reference.texts[-1:] != said.texts[-1:]:
        yield "cut_short"
    if set(_repeats(said.texts)) - set(_repeats(reference.texts)):
        yield "repeated_words"


def _repeats(texts: Sequence[str]) -> Iterator[tuple[str, ...]]:
    for size in range(1, _LONGEST_REPEAT + 1):
        for at in range(len(texts) - 2 * size + 1):
            if texts[at : at + size] == texts[at + size : at + 2 * size]:
                yield tuple(texts[at : at + size])
    seen = set()
    for at in range(len(texts) - _RECURRING + 1):
        run = tuple(texts[at : at + _RECURRING])
        if run in seen:
            yield run
        seen.add(run)


# --- What the query asks for ------------------------------------------------------------------------------

_FUNCTIONS = {name: frozenset(words.split()) for name, words in FUNCTION_WORDS.items()}
_AGGREGATES = ("COUNT", "SUM", "AVG", "MAX", "MIN")

# Words of a clause's keyword. SELECT and WHERE have none that other clauses don't have.
_KEYWORDS = {
    kind: frozenset(GENERAL_WORDS[kind].split()) - WEAK_WORDS
    for kind in ("GROUP BY", "ORDER BY", "INTERSECT", "UNION", "EXCEPT")
}

_ALIAS = re.compile(r"\b[Tt]\d+\s*\.\s*")


@dataclass(frozen=True)
class _ClauseEvidence:
    """Words of one clause, weak ones left out.

    Attributes:
        distinctive: those that no other clause has; first without SELECT's tables, which are said of the
            whole query, and the counting words of other clauses, then with them, for references that say
            nothing else of the clause.
        functions: names of the aggregates in it, and DISTINCT.
    """

    type: str
    distinctive: tuple[frozenset[str], frozenset[str]]
    columns: frozenset[str]
    tables: frozenset[str]
    values: frozenset[str]
    functions: tuple[str, ...]


@dataclass(frozen=True)
class _QueryEvidence:
    """Clauses of a query, all its words, and the types of its SQL tokens."""

    clauses: tuple[_ClauseEvidence, ...]
    words: frozenset[str]
    tokens: frozenset[str]


@lru_cache(maxsize=1 << 14)
def _read_query(query: str, schema: Schema, dialect: str) -> _QueryEvidence:
    clauses = _cut(query, dialect)
    engine = sql_dialect(dialect)
    tokens = [engine.tokenize(clause.sql) for clause in clauses]
    read = clause_words(clauses, schema, dialect)
    specific = [_specific(words) for words in read]
    found = []
    for at, (clause, words) in enumerate(zip(clauses, read, strict=True)):
        # What is grouped by is mostly selected too, and then said once: for SELECT.
        grouped = "GROUP BY" if clause.type == "SELECT" else None
        others = frozenset[str]().union(
            *(
                said
                for place, (other, said) in enumerate(zip(clauses, specific, strict=True))
                if place != at and other.type != grouped
            )
        )
        texts = {token.text.upper() for token in tokens[at]}
        own = _said_of(words, "value", "column", "table", "function") | _KEYWORDS.get(
            clause.type, frozenset()
        )
        weak = _said_of(words, "table") if clause.type == "SELECT" else _FUNCTIONS["COUNT"]
        found.append(
            _ClauseEvidence(
                clause.type,
                (own - weak - others, own - others),
                _said_of(words, "column"),
                _said_of(words, "table"),
                _said_of(words, "value"),
                tuple(name for name in (*_AGGREGATES, "DISTINCT") if name in texts),
            )
        )
    literals = (
        form
        for own in tokens
        for token in own
        if token.token_type.name in ("STRING", "NUMBER")
        for form in word_forms(token.text.lower())
    )
    return _QueryEvidence(
        tuple(found),
        frozenset[str]().union(*specific, literals),
        frozenset(token.token_type.name for own in tokens for token in own),
    )


def _cut(query: str, dialect: str) -> tuple[Clause, ...]:
    """The clauses of a query or of a piece of one without its SELECT."""
    if re.match(r"\s*(SELECT|WITH|FROM|\()", query, re.IGNORECASE):
        return split_clauses(query, dialect)
    # Aliases of tables that the piece does not name would read as columns.
    return split_clauses("SELECT * FROM t " + _ALIAS.sub("", query), dialect)[1:]


def _specific(words: ClauseWords) -> frozenset[str]:
    return _said_of(words, "value", "column", "table", "joined", "function")


def _said_of(words: ClauseWords, *kinds: str) -> frozenset[str]:
    """Candidates of these kinds without weak words, in all forms."""
    candidates = frozenset[str]().union(*(words.words[kind] for kind in kinds))
    strong = candidates - WEAK_WORDS or candidates
    return frozenset(form for word in strong for form in word_forms(word))


# --- Something in place of something else ----------------------------------------------------------------


@lru_cache(maxsize=4096)
def _schema_words(schema: Schema, columns_only: bool) -> frozenset[str]:
    names = [column for table in schema.tables for column in table.columns]
    texts = [text for column in names for text in (column.words, readable_name(column.name))]
    if not columns_only:
        texts += [text for table in schema.tables for text in (table.words, readable_name(table.name))]
    return frozenset(form for text in texts for word in text.split() for form in word_forms(word))


_VOCABULARY = frozenset(
    form for words in _FUNCTIONS.values() for word in words for form in (word, stem(word))
)


def _other_columns(said: SaidWords, reference: SaidWords, asked: _QueryEvidence, schema: Schema) -> bool:
    """Whether a column of the database is said that neither the query nor the reference has."""
    others = _schema_words(schema, True) - asked.words - reference.forms - _VOCABULARY - WEAK_WORDS
    known = asked.words | reference.forms
    return any(word_forms(text) & others and not word_forms(text) & known for text in said.texts)


def _other_values(
    said: SaidWords, reference: SaidWords, asked: _QueryEvidence, schema: Schema | None
) -> Iterator[str]:
    """Words that read as a value and are neither the query's nor the reference's, nor names."""
    known = asked.words | reference.forms | _VOCABULARY | frozenset().union(*_KEYWORDS.values())
    names = _schema_words(schema, False) if schema else frozenset()
    for word in said.marked:
        forms = word_forms(word)
        is_number = any(form[0].isdigit() for form in forms)
        if not forms & known and (is_number or not forms & names):
            yield next((form for form in sorted(forms) if form[0].isdigit()), word)


# --- Functions, directions, comparisons, negations --------------------------------------------------------

_NEGATION = frozenset(
    "not no never none without neither nor except n't cannot excluding exclude lack lacks".split()
) | {"other than"}
_DIRECTIONS = (_FUNCTIONS["DESC"], _FUNCTIONS["ASC"])
_COMPARISONS = (
    (_FUNCTIONS[">"] | {"at least"}) - _FUNCTIONS["<"] - WEAK_WORDS,
    (_FUNCTIONS["<"] | {"at most"}) - _FUNCTIONS[">"] - WEAK_WORDS,
)


def _swapped(said: SaidWords, reference: SaidWords, own: frozenset[str], other: frozenset[str]) -> bool:
    """Whether the reference has words of one side alone, and the prediction of the other side alone."""
    return bool(
        reference.plain & own and not reference.plain & other and said.plain & other and not said.plain & own
    )


def _swapped_either_way(said: SaidWords, reference: SaidWords, sides: tuple[frozenset[str], ...]) -> bool:
    one, other = sides
    return _swapped(said, reference, one, other) or _swapped(said, reference, other, one)


def _aggregate_words(name: str, asked: _QueryEvidence) -> frozenset[str]:
    """Words of this aggregate alone."""
    others = frozenset[str]().union(*(_FUNCTIONS[other] for other in _AGGREGATES if other != name))
    return _FUNCTIONS[name] - others


def _wrong_functions(said: SaidWords, reference: SaidWords, asked: _QueryEvidence) -> Iterator[str]:
    aggregates = {name for clause in asked.clauses for name in clause.functions} - {"DISTINCT"}
    columns = frozenset[str]().union(*(clause.columns for clause in asked.clauses))
    for name in sorted(aggregates):
        own = _aggregate_words(name, asked)
        others = [
            _aggregate_words(other, asked) - columns for other in _AGGREGATES if other not in aggregates
        ]
        if any(_swapped(said, reference, own, other) for other in others):
            yield "wrong_aggregate"
    if "ORDER_BY" in asked.tokens and _swapped_either_way(said, reference, _DIRECTIONS):
        yield "wrong_direction"
    if asked.tokens & {"GT", "GTE", "LT", "LTE"} and _swapped_either_way(said, reference, _COMPARISONS):
        yield "wrong_comparison"
    negates = bool(asked.tokens & {"NOT", "NEQ", "EXCEPT"})
    if bool(reference.plain & _NEGATION) == negates != bool(said.plain & _NEGATION):
        yield "wrong_negation"


def _lost_words(clause: _ClauseEvidence, said: SaidWords, reference: SaidWords, lost_column: bool) -> bool:
    if lost_column or any(reference.lost(clause.tables, said, loosely=True)):
        return True
    for name in clause.functions:
        # "Number" and "many" are said of a counting SELECT; elsewhere "more than two" counts as well.
        if name == "COUNT" and clause.type != "SELECT":
            continue
        aggregates = frozenset[str]().union(*(_FUNCTIONS[other] for other in _AGGREGATES))
        if reference.plain & _FUNCTIONS[name] and not said.plain & (aggregates | _FUNCTIONS[name]):
            return True
    return False


_SORTING = frozenset(
    "order ordered sort sorted ascending descending alphabetical alphabetically lexicographic "
    "lexicographical lexicographically".split()
)
_GROUPING = frozenset("each every per grouped".split())


def _extra_clauses(
    said: SaidWords, reference: SaidWords, asked: _QueryEvidence, schema: Schema | None
) -> Iterator[str]:
    names = asked.words | (_schema_words(schema, False) if schema else frozenset())
    for token, words in (("ORDER_BY", _SORTING), ("GROUP_BY", _GROUPING)):
        if token not in asked.tokens and said.plain & (words - names) and not reference.plain & words:
            yield "extra_clause"
