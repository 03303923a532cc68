"""Tables 9 to 11, the error analysis, and their forms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from spider_compose.cli.experiment_page import render_page
from spider_compose.experiments.error_tables import error_tables
from spider_compose.experiments.figures import Figure, Results
from spider_compose.experiments.paper_tables import (
    further_metrics,
    significance_tables,
    table_9,
    table_10,
    table_11,
    training_table,
)
from spider_compose.experiments.report import ExperimentReport
from spider_compose.experiments.tables import (
    Entry,
    Table,
    figure_entry,
    p_entry,
    render_markdown,
    render_text,
    told_number,
)

pytest.importorskip("numpy")

Make = Callable[..., Results]
Report = Callable[..., dict[str, Any]]


def rows(table: Table) -> dict[tuple[str, ...], list[str]]:
    return {
        tuple(entry.main for entry in row[: table.heads]): [str(entry) for entry in row[table.heads :]]
        for row in table.rows
    }


@pytest.fixture(scope="module")
def found(results: Make, report: Report) -> Results:
    return results(
        report("rgt", "compose", 1, 50, 10.0),
        report("rgt", "compose", 2, 54, 14.0),
        report("rgt", "compose_no_overlap", 1, 30, 0.0),
        report("rgt", "compose_no_overlap", 2, 32, 0.0),
        report("rgt", "compose_control", 1, 45, 8.0),
        report("abs", "compose", 1, 40, 5.0),
        report("abs", "spider_tmcd", 1, 20, 0.0),
        report("google-t5/t5-small", "compose", 1, 66, 20.0),
        ratings={"systems": {"abs-compose-seed1": {"percent": 60.0}}, "alpha": 0.71, "raters": 3},
    )


def test_table_9(found: Results) -> None:
    table = table_9(found)
    by_name = rows(table)
    first, second, drop, _, control, kept, _ = by_name["RGT", "BLEU"]
    assert first == "52.00 (50.00 to 54.00; n=2)"
    assert second == "31.00 (30.00 to 32.00; n=2)"
    assert drop == "+21.00 (20.00 to 22.00; n=2)"
    assert control == "45.00† [42.00, 48.00]"
    assert kept.startswith("+15.00† [")
    assert by_name["ABS", "BLEU"] == ["40.00† [37.00, 43.00]", "", "", "", "", "", ""]
    assert by_name["ABS", "human"][0] == "60.00†"
    assert by_name["ABS", "average"][0] == "35.00†"
    assert by_name["RGT", "average"] == [""] * 7
    assert by_name["BiLSTM", "BLEU"] == [""] * 7, "a model without a report has its empty row"
    assert ("google-t5/t5-small", "BLEU") in by_name
    notes = " ".join(table.notes)
    assert "3 raters" in notes
    assert "alpha 0.71" in notes
    assert "exp. 1: 40" in notes
    assert "No report yet: exp. 1: BiLSTM, REL and TreeLSTM; exp. 2: BiLSTM, ABS, REL" in notes


def test_without_ratings_it_is_said(results: Make, report: Report) -> None:
    assert any("Nobody has rated" in note for note in table_9(results(report("rgt", "compose", 1, 5))).notes)


def test_items_of_other_numbers_are_seen(results: Make, report: Report) -> None:
    table = table_9(results(report("rgt", "compose", 1, 50), report("abs", "compose", 1, 50, num_items=39)))
    assert "Test items: exp. 1: 39 and 40." in table.notes


def test_ratings_of_no_report_are_named(results: Make, report: Report) -> None:
    """Ratings that reach no table are not lost without a word."""
    cells = [report("rgt", "compose", 1, 50), report("abs", "compose", 1, 50)]
    systems = {name: {"percent": 60.0} for name in ("rgt-compose-seed1", "rgt-compose-seed2", "other")}
    for make in (table_9, table_10):
        notes = make(results(*cells, ratings={"systems": systems, "alpha": 0.5, "raters": 1})).notes
        assert any(note.startswith("Human: 1 rater, ") for note in notes)
        assert "Rated, but without a report here: rgt-compose-seed2 and other." in notes
        notes = make(results(*cells, ratings={"systems": {"x": {}}, "alpha": 0.5, "raters": 2})).notes
        assert not any("Human: " in note for note in notes)
        assert any(note.startswith("No report is of a rated system") for note in notes)
        assert "Rated, but without a report here: x." in notes
    matched = {"systems": {"rgt-compose-seed1": {"percent": 60.0}}, "alpha": None, "raters": 2}
    assert not any("Rated, but" in note for note in table_9(results(*cells, ratings=matched)).notes)


def test_how_trainings_stopped(results: Make, report: Report) -> None:
    def ended(model: str, experiment: str, seed: int, epochs: float, best: float, stopped: str) -> Any:
        return report(model, experiment, seed, 50, epochs=epochs, best_epoch=best, stopped=stopped)

    found = results(
        ended("rgt", "compose", 1, 30.0, 30.0, "epochs"),
        ended("rgt", "compose", 2, 30.0, 27.0, "epochs"),
        ended("abs", "compose_control", 1, 26.0, 22.0, "early"),
        ended("bilstm", "compose_no_overlap", 1, 17.0, 13.0, "early"),
        ended("rel", "compose", 1, 12.0, 12.0, "epochs"),
        ended("treelstm", "spider", 1, 9.0, 5.0, "early"),  # of another table
        ended("treelstm", "compose", 1, None, 5.0, "early"),  # type: ignore[arg-type]
    )
    report_ = ExperimentReport(found)
    for note in (
        "Cut off while still improving, the last epoch (in brackets) the best: REL exp. 1 (12) and RGT "
        "exp. 1 seed 1 (30).",
        "Cut off before they would have stopped, after the best epoch in brackets: RGT exp. 1 seed 2 (27 of "
        "30).",
        "Stopped early, the earliest first, after the epochs in brackets: BiLSTM exp. 2 (17) and ABS control "
        "(26).",
    ):
        assert note in table_9(found).notes
        assert note in report_.text() and note in report_.markdown() and note in render_page(report_)
    assert not any("earliest" in note for note in table_9(results(report("x", "spider", 1, 5))).notes)


def test_table_10(found: Results, results: Make, report: Report) -> None:
    table = table_10(found)
    assert table.columns == ("model", "metric", "exp. 1", "template", "TMCD", "Spider")
    assert rows(table)["ABS", "BLEU"] == ["40.00† [37.00, 43.00]", "", "20.00† [17.00, 23.00]", ""]
    further = table_10(results(report("rgt", "spider_random", 1, 50)))
    assert further.columns[-1] == "random"


def test_table_11(found: Results) -> None:
    by_name = rows(table_11(found))
    assert by_name["RGT", "3"][:4] == [
        "30",
        "52.00 (50.00 to 54.00; n=2)",
        "31.50 (30.50 to 32.50; n=2)",
        "+20.50 (19.50 to 21.50; n=2)",
    ]
    assert by_name["ABS", "4"] == ["10", "35.00†", "", "", "0.00†", "", ""]


def test_each_model_has_its_own_number_of_items(results: Make, report: Report) -> None:
    """Reports may be made on different test sets; no row says how many items another model had."""

    def measured(model: str, experiment: str, items: int) -> dict[str, Any]:
        content = report(model, experiment, 1, 50, num_items=items + 10)
        for division in ("by_num_clauses", "by_clause_pattern"):
            first = next(iter(content["metrics"][division]))
            content["metrics"][division][first]["num_items"] = items
        return content

    found = results(
        measured("bilstm", "compose", 190),
        measured("abs", "compose", 30),
        measured("rgt", "compose", 30),
        measured("rgt", "compose_no_overlap", 29),
    )
    table = table_11(found)
    by_name = rows(table)
    assert [by_name[model, "3"][0] for model in ("BiLSTM", "ABS", "RGT", "REL")] == [
        "190", "30", "29 and 30", "",
    ]  # fmt: skip
    assert "Test items: exp. 1: 40 and 200; exp. 2: 39." in table.notes
    tables = {table.name: table for table in error_tables(found)}
    assert rows(tables["patterns_compose"])["SELECT + WHERE + ORDER BY",][0] == "30 and 190"


def test_error_tables(found: Results) -> None:
    tables = {table.name: table for table in error_tables(found)}
    kinds = rows(tables["errors_compose"])
    assert tables["errors_compose"].columns == ("error", "ABS", "RGT", "google-t5/t5-small")
    assert kinds["a clause is missing",] == ["20.0†", "20.0 (20.0 to 20.0; n=2)", "20.0†"]
    assert kinds["wrong column",] == ["", "", ""], "what was not looked for is empty, not zero"
    assert kinds["right",][0] == "7.5†"
    assert kinds["wrong, of no kind",][0] == "50.0†"
    missing = rows(tables["missing_compose"])
    assert missing == {("WHERE",): ["25.0†", "25.0 (25.0 to 25.0; n=2)", "25.0†"]}
    by_number = tables["errors_by_num_clauses_compose"]
    assert by_number.columns == ("clauses", "outputs", "a clause is missing", "lost words")
    assert rows(by_number) == {("3",): ["120", "10.0", "0.0"], ("4",): ["40", "50.0", "40.0"]}
    assert rows(tables["patterns_compose"])["SELECT + WHERE + ORDER BY",][:2] == ["30", "40.0†"]
    assert "errors_compose_no_overlap" in tables


def test_significance(found: Results) -> None:
    first, *_ = significance_tables(found)
    assert [row[0].main for row in first.rows] == [
        "ABS − RGT",
        "ABS − google-t5/t5-small",
        "RGT − google-t5/t5-small",
    ]
    assert first.rows[1][1].main == "−26.00†"
    assert first.rows[1][2].main.endswith("*")


def test_a_test_that_is_not_possible_is_named(results: Make, report: Report) -> None:
    found = results(report("rgt", "compose", 1, 50), report("abs", "compose", 1, 40, items={"ids": []}))
    (table,) = significance_tables(found)
    assert any(note.startswith("not compared: abs-compose and rgt-compose, seed 1") for note in table.notes)
    assert table.rows[0][2] == Entry()
    assert "all 0 tests" in table.notes[0]


def test_holm_is_told_with_the_tests_it_used(results: Make, report: Report) -> None:
    """What was not compared is no test."""
    broken = report("rel", "compose", 1, 40, items=None)
    found = [report("rgt", "compose", 1, 50), report("abs", "compose", 1, 40)]
    assert "when all 1 tests of the column" in significance_tables(results(*found, broken))[0].notes[0]
    third = report("rel", "compose", 1, 40)
    assert "when all 3 tests of the column" in significance_tables(results(*found, third))[0].notes[0]
    del third["metrics"]["exact_match"]
    told = significance_tables(results(*found, third))[0].notes[0]
    assert "when all tests of a column (3 of BLEU, 1 of exact match) are made" in told


def test_training(found: Results) -> None:
    table = training_table(found)
    assert rows(table)["RGT", "exp. 1"] == [
        "1, 2", "3.4 M", "25,442", "40", "12, 12", "7, 7", "early, early", "30, 30",
    ]  # fmt: skip
    assert "8 trainings, 4.0 CPU hours in all." in table.notes


def test_further_metrics(found: Results) -> None:
    assert rows(further_metrics(found))["ABS", "chrF"][0] == "60.00† [58.00, 62.00]"


TABLE = Table(
    "t",
    "A title | with a bar",
    ("model", "metric", "x"),
    (
        (Entry("A"), Entry("m"), Entry("1.00", "[0.5, 2]")),
        (Entry("A"), Entry("n"), Entry()),
        (Entry("B"), Entry("n"), Entry("−10.00")),
    ),
    ("a <note>",),
    heads=2,
)


def test_text() -> None:
    assert render_text(TABLE).splitlines() == [
        "A title | with a bar",
        "",
        "model  metric              x",
        "A      m       1.00 [0.5, 2]",
        "       n",
        "B      n              −10.00",
        "",
        "a <note>",
    ]


def test_markdown() -> None:
    assert render_markdown(TABLE).splitlines() == [
        "### A title \\| with a bar",
        "",
        "| model | metric | x |",
        "| --- | --- | ---: |",
        "| A | m | 1.00 [0.5, 2] |",
        "|  | n |  |",
        "| B | n | −10.00 |",
        "",
        "- a \\<note>",
    ]


@pytest.mark.parametrize(
    ("value", "signed", "told"),
    [(1, False, "1.00"), (1, True, "+1.00"), (-1, True, "−1.00"), (-0.001, True, "0.00"), (0, True, "0.00")],
)
def test_told_number(value: float, signed: bool, told: str) -> None:
    assert told_number(value, signed) == told


def test_entries() -> None:
    assert figure_entry(Figure()) == Entry()
    assert figure_entry(Figure({1: 2.0})) == Entry("2.00†")
    assert p_entry(Figure({1: 2.0})) == Entry()
    assert p_entry(Figure({1: 2.0}, {}, {1: 0.0004})).main == "< 0.001"
    assert p_entry(Figure({1: 2.0}, {}, {1: 0.0314}), starred=True).main == "0.031*"
