"""Findings: each verdict moves with the reports, and one report that is missing leaves it open."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from spider_compose.experiments.figures import Results
from spider_compose.experiments.findings import (
    AGREES,
    DIFFERS,
    OPEN,
    findings,
    render_markdown,
    render_text,
    told_verdicts,
)

pytest.importorskip("numpy")

Make = Callable[..., Results]
Contents = list[dict[str, Any]]

LARGE_DROP, NEAR_ZERO, BETTER, BEST, FEWER_PAIRS = range(5)


def verdicts(results: Results) -> list[str]:
    return [finding.verdict for finding in findings(results)]


def test_all_agree_where_the_paper_is_right(results: Make, as_in_the_paper: Contents) -> None:
    found = findings(results(*as_in_the_paper))
    assert [finding.verdict for finding in found] == [AGREES] * 5
    assert [finding.ours for finding in found] == [False] * 4 + [True]
    assert told_verdicts(found) == "4 agree"
    assert found[LARGE_DROP].evidence[0].startswith("BiLSTM: exp. 1 60.0†, exp. 2 30.0†, drop 30.0† (p = 0.0")


@pytest.mark.parametrize(
    ("cell", "metric", "score", "differs"),
    [
        ("treelstm-compose_no_overlap", "bleu", 45.5, {LARGE_DROP, BEST}),  # a drop of 4.5
        ("bilstm-compose_no_overlap", "exact_match", 1.1, {NEAR_ZERO}),
        ("abs-compose", "bleu", 46, {BETTER}),  # gains 14, RGT 15
        ("rel-compose_no_overlap", "bleu", 40.5, {BEST}),
        ("rgt-compose_control", "bleu", 39, {FEWER_PAIRS}),
    ],
)
def test_a_report_moves_its_verdict(
    results: Make, as_in_the_paper: Contents, cell: str, metric: str, score: float, differs: set[int]
) -> None:
    contents = copy.deepcopy(as_in_the_paper)
    (one,) = [content for content in contents if f"{content['model']}-{content['experiment']}" == cell]
    one["metrics"][metric]["score"] = score
    found = verdicts(results(*contents))
    assert {place for place, verdict in enumerate(found) if verdict == DIFFERS} == differs
    assert set(found) <= {AGREES, DIFFERS}


@pytest.mark.parametrize(
    ("missing", "open_"),
    [
        ("treelstm-compose", {LARGE_DROP}),
        ("treelstm-compose_no_overlap", {LARGE_DROP, NEAR_ZERO, BEST, FEWER_PAIRS}),
        ("rgt-compose_no_overlap", set(range(5))),
        ("rgt-compose_control", {FEWER_PAIRS}),
    ],
)
def test_a_missing_report_leaves_it_open(
    results: Make, as_in_the_paper: Contents, missing: str, open_: set[int]
) -> None:
    contents = [one for one in as_in_the_paper if f"{one['model']}-{one['experiment']}" != missing]
    found = findings(results(*contents))
    assert {place for place, one in enumerate(found) if one.verdict == OPEN} == open_
    assert any("no report" in line for line in found[min(open_)].evidence)


def test_a_counter_example_decides_though_others_are_missing(
    results: Make, report: Callable[..., dict[str, Any]]
) -> None:
    found = results(report("rgt", "compose", 1, 40), report("rgt", "compose_no_overlap", 1, 39, 30.0))
    assert verdicts(found) == [DIFFERS, DIFFERS, OPEN, OPEN, OPEN]


def test_a_drop_by_chance_is_none(results: Make, as_in_the_paper: Contents) -> None:
    contents = copy.deepcopy(as_in_the_paper)
    for one in contents:
        one["items"] = contents[0]["items"]  # scores differ, items do not
    assert verdicts(results(*contents))[LARGE_DROP] == DIFFERS


def test_what_fewer_pairs_cost_is_told(results: Make, as_in_the_paper: Contents) -> None:
    """The finding speaks of a part of the drop; the other part has its own test."""
    finding = findings(results(*as_in_the_paper))[FEWER_PAIRS]
    assert "fewer training pairs alone" in finding.statement
    for line, fewer, drop in zip(finding.evidence, (5, 4, 4, 4, 3), (30, 30, 30, 25, 15), strict=True):
        assert f"exp. 1 minus control {fewer}.0† (p = " in line
        assert line.endswith(f"of a drop of {drop}.0")


def test_the_numbers_of_a_line_belong_together(
    results: Make, as_in_the_paper: Contents, report: Callable[..., dict[str, Any]]
) -> None:
    """A seed that only one side has moves neither the other side nor the difference."""
    before = findings(results(*as_in_the_paper))
    after = findings(results(*as_in_the_paper, report("bilstm", "compose", 2, 20.0)))
    for place in (LARGE_DROP, BETTER, FEWER_PAIRS):
        assert after[place].evidence == before[place].evidence


def test_no_report_at_all_of_the_five(results: Make, report: Callable[..., dict[str, Any]]) -> None:
    assert set(verdicts(results(report("google-t5/t5-small", "compose", 1, 60)))) == {OPEN}


def test_forms(results: Make, as_in_the_paper: Contents) -> None:
    found = findings(results(*as_in_the_paper))
    assert "Without overlap RGT is the best.  AGREES\n" in render_text(found)
    assert "- **Without overlap RGT is the best.** agrees." in render_markdown(found)
    assert found[0].to_dict()["verdict"] == "agrees"
