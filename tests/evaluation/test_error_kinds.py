"""Each kind of error on hand-written pairs, and pairs that only look like one."""

from __future__ import annotations

import pytest

from spider_compose.errors import ClauseError
from spider_compose.evaluation.error_kinds import KINDS, find_errors, find_text_errors
from spider_compose.sql.schema import Column, Schema, Table

SCHEMA = Schema(
    "school",
    (
        Table(
            "student",
            "student",
            (
                Column("id", "id"),
                Column("name", "name"),
                Column("age", "age"),
                Column("city", "city"),
                Column("weight", "weight"),
                Column("birth_date", "birth date"),
            ),
        ),
        Table("pet", "pet", (Column("owner_id", "owner id"), Column("kind", "kind"))),
    ),
)

WHERE = "SELECT name FROM student WHERE city = 'Paris'"
ORDER = "SELECT name FROM student ORDER BY age"
LIMIT = "SELECT name FROM student ORDER BY age DESC LIMIT 3"
GROUP = "SELECT city, count(*) FROM student GROUP BY city HAVING count(*) > 2"
AVERAGE = "SELECT avg(weight) FROM student WHERE age > 20"
NOT_IN = "SELECT name FROM student WHERE id NOT IN (SELECT owner_id FROM pet)"
EXCEPT = "SELECT city FROM student EXCEPT SELECT city FROM student WHERE age > 30"

IN_PARIS = "What are the names of students in Paris?"
OLDEST = "What are the names of the 3 oldest students?"

# (query, reference, prediction, kinds)
FOUND = [
    # empty_output
    (WHERE, IN_PARIS, "", {"empty_output", "missing_clause"}),
    (WHERE, IN_PARIS, " ?! ", {"empty_output", "missing_clause"}),
    # cut_short
    (WHERE, "Names of students in Paris", "Names of students from Paris and the", {"cut_short"}),
    # repeated_words
    (WHERE, "Names of students in Paris", "Names names of students in Paris", {"repeated_words"}),
    (WHERE, "Names of students in Paris", "Names of students of students in Paris", {"repeated_words"}),
    (
        ORDER,
        "Names of students sorted by age",
        "names of students sorted by age and names of students sorted by age",
        {"repeated_words"},
    ),
    # missing_clause
    (WHERE, IN_PARIS, "What are the names of students?", {"missing_clause"}),
    (ORDER, "Give the students' names sorted by age.", "Give the students' names.", {"missing_clause"}),
    (
        GROUP,
        "How many students are in each city with over 2 of them?",
        "How many?",
        {"missing_clause", "lost_words"},
    ),
    (AVERAGE, "What is the average weight of students older than 20?", "Older than 20", {"missing_clause"}),
    ("WHERE T1.age > 20 ORDER BY T2.name", "over 20 sorted by name", "over 20", {"missing_clause"}),
    # extra_clause
    (WHERE, "What students' names are in Paris?", "Sort the names of Paris students", {"extra_clause"}),
    (WHERE, "Names of students in Paris", "Names of students in Paris for each one", {"extra_clause"}),
    # wrong_column
    (WHERE, IN_PARIS, "The weights of students in Paris?", {"wrong_column"}),
    (ORDER, "Give the students' names sorted by age.", "The students' names by weight.", {"wrong_column"}),
    # wrong_value
    (WHERE, IN_PARIS, "The names of students in Rome?", {"wrong_value"}),
    (WHERE, "Names of students of city Paris", "names of students of city 'rome'", {"wrong_value"}),
    (LIMIT, "Names of the 3 oldest students", "Names of the 5 oldest students", {"wrong_value"}),
    (LIMIT, "Names of the three oldest students", "Names of the five oldest students", {"wrong_value"}),
    (WHERE, "Names of students in Paris", "Names of 7 students in Paris", {"wrong_value"}),
    # wrong_aggregate
    (
        AVERAGE,
        "What is the average weight of students over age 20?",
        "What is the maximum weight of students over age 20?",
        {"wrong_aggregate"},
    ),
    (
        AVERAGE,
        "The average weight of students over age 20",
        "How many weights of students over age 20?",
        {"wrong_aggregate"},
    ),
    # wrong_direction
    (LIMIT, "Names of the 3 oldest students", "Names of the 3 youngest students", {"wrong_direction"}),
    (ORDER, "Names of students by ascending age", "Names of students by descending age", {"wrong_direction"}),
    # wrong_comparison
    (
        AVERAGE,
        "The average weight of students whose age is over 20",
        "The average weight of students whose age is under 20",
        {"wrong_comparison"},
    ),
    (
        "SELECT name FROM student WHERE age >= 20",
        "Names of students of age at least 20",
        "Names of students of age at most 20",
        {"wrong_comparison"},
    ),
    # wrong_negation
    (NOT_IN, "Names of students who do not own a pet", "Names of students who own a pet", {"wrong_negation"}),
    (WHERE, "Names of students in Paris", "Names of students who aren't in Paris", {"wrong_negation"}),
    (
        EXCEPT,
        "Cities of students without any student over 30",
        "Cities of students with any student over 30",
        {"wrong_negation"},
    ),
    # lost_words
    (
        "SELECT name, weight FROM student WHERE city = 'Paris'",
        "Names and weights of students in Paris",
        "Names of students in Paris",
        {"lost_words"},
    ),
    (
        AVERAGE,
        "The average weight of students over age 20",
        "The weight of those over age 20",
        {"lost_words"},
    ),
    (
        "SELECT DISTINCT name FROM student",
        "What are the different names of students?",
        "What are the names of students?",
        {"lost_words"},
    ),
    # several at once
    (
        LIMIT,
        "What are the names of the 3 oldest students?",
        "What are the weights weights of the 4 youngest students and the",
        {"cut_short", "repeated_words", "wrong_column", "wrong_value", "wrong_direction"},
    ),
]

PARAPHRASES = [
    (WHERE, IN_PARIS, "Show each name of every Paris student.", {"extra_clause"}),  # a known false alarm
    (WHERE, IN_PARIS, "Paris students: list their names.", set()),
    (WHERE, IN_PARIS, "which student names live in paris", set()),
    (ORDER, "Give the students' names sorted by age.", "Name the students from youngest to oldest.", set()),
    (LIMIT, OLDEST, "Which three students have the top ages? Names!", set()),
    (
        GROUP,
        "For each city with more than 2 students, how many are there?",
        "What is the number of students per city, where over two live?",
        set(),
    ),
    (
        AVERAGE,
        "What is the average weight of students older than 20?",
        "Find the mean weight of all students with age above 20.",
        set(),
    ),
    (NOT_IN, "Names of students who do not own a pet", "Which students have no pet? Names please.", set()),
    (WHERE, "Which names names do students in Paris have?", "What names names have students in Paris", set()),
    # both directions, one way and the other
    (ORDER, "Names of students from youngest by age", "Names by age: youngest before oldest students", set()),
    # a negation that is none of the query's
    (
        "SELECT name FROM student WHERE age BETWEEN 20 AND 30",
        "Names of students no younger than age 20 and up to 30",
        "Names of students from age 20 to 30",
        set(),
    ),
    # the reference does not say the clause: it cannot be missed
    (WHERE, "Who is it?", "Who?", set()),
    # "LIMIT 1" is no number that anybody must say, and may say
    (LIMIT.replace("3", "1"), "Name of the oldest student", "Name of the top 1 student by age", set()),
]


@pytest.mark.parametrize(("query", "reference", "prediction", "kinds"), FOUND)
def test_errors_are_found(query: str, reference: str, prediction: str, kinds: set[str]) -> None:
    assert set(find_errors(prediction, reference, query, SCHEMA).kinds) == kinds


@pytest.mark.parametrize(("query", "reference", "prediction", "kinds"), PARAPHRASES)
def test_paraphrases_are_let_pass(query: str, reference: str, prediction: str, kinds: set[str]) -> None:
    assert set(find_errors(prediction, reference, query, SCHEMA).kinds) == kinds


def test_every_kind_has_a_pair() -> None:
    assert set().union(*(case[3] for case in FOUND)) == set(KINDS)


def test_reference_has_no_errors() -> None:
    for query, reference, _, _ in [*FOUND, *PARAPHRASES]:
        assert find_errors(reference, reference, query, SCHEMA).kinds == (), reference


def test_which_clause_is_missing() -> None:
    query = "SELECT name FROM student WHERE city = 'Paris' ORDER BY age"
    found = find_errors("Names sorted by age", "Names of those in Paris sorted by age", query, SCHEMA)
    assert found.clause_types == ("SELECT", "WHERE", "ORDER BY")
    assert found.judged == (True, True, True)
    assert found.missing == (False, True, False)


def test_clause_that_shares_its_words_is_not_judged() -> None:
    """SELECT and WHERE have `city` alone in common: nothing says which of them "city" speaks of."""
    found = find_errors("students", "the city", "SELECT city FROM t WHERE city = 'city'", SCHEMA)
    assert found.judged == (False, False)
    assert found.missing == (False, False)


def test_what_is_grouped_by_is_said_for_select() -> None:
    query = "SELECT city FROM student GROUP BY city ORDER BY count(*) DESC LIMIT 1"
    found = find_errors("the most students", "the city of the most students", query, SCHEMA)
    assert found.clause_types == ("SELECT", "GROUP BY", "ORDER BY")
    assert found.judged == (True, False, True)
    assert found.missing == (True, False, False)


def test_without_a_schema_another_column_is_no_column() -> None:
    case = ("The weights of students in Paris?", "What are the names of students in Paris?", WHERE)
    assert find_errors(*case, SCHEMA).kinds == ("wrong_column",)
    assert find_errors(*case).kinds == ("lost_words",)


def test_kinds_come_in_order() -> None:
    found = find_errors("the weights weights of 4 and", "names of students in Paris", WHERE, SCHEMA).kinds
    assert list(found) == [kind for kind in KINDS if kind in found]
    assert len(found) > 2


def test_piece_of_a_query_without_its_select() -> None:
    found = find_errors("sorted by age", "older than 20 sorted by name", "WHERE T1.age > 20 ORDER BY T2.name")
    assert found.clause_types == ("WHERE", "ORDER BY")
    found = find_errors("x", "t 1", "WHERE T1.age > 20")
    assert found.judged == (False,), "an alias is no word of a clause"


def test_query_that_cannot_be_cut() -> None:
    with pytest.raises(ClauseError):
        find_errors("a", "a", "SELECT (")
    assert find_text_errors("pets pets", "a").kinds == ("repeated_words",)
