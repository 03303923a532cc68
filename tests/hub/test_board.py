"""The leaderboard as values: entrants, figures, order, filters, and what is left out."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("numpy", reason="the extra `spaces` is not installed")

from spider_compose.errors import OptionError
from spider_compose.experiments.cells import Identity
from spider_compose.experiments.paper_tables import FIRST, SECOND
from spider_compose.experiments.reports import Report
from spider_compose.hub.board import (
    CAUSAL,
    DIFFERENCE,
    NAME,
    NOT_SAID,
    OWN,
    SEQ2SEQ,
    Board,
    Choice,
    Entry,
    HubResult,
    make_board,
    standings,
)

Make = Callable[..., dict[str, Any]]


@pytest.fixture
def entry(make_report: Make) -> Callable[..., Entry]:
    def make(where: str = "a.json", *arguments: Any, **changes: Any) -> Entry:
        content = make_report(*arguments, **changes)
        identity = Identity(content["model"], content["experiment"], content["seed"])
        return Entry(where, Report(content, identity))

    return make


def shown(board: Board, **choice: Any) -> list[tuple[int | None, str, str]]:
    return [(one.rank, one.entrant.title, one.entrant.size) for one in standings(board, Choice(**choice))]


@pytest.fixture
def board(entry: Callable[..., Entry]) -> Board:
    return make_board(
        [
            entry("1", FIRST, 30.0),
            entry("2", SECOND, 20.0),
            entry("3", FIRST, 40.0, "abs"),
            entry("4", SECOND, 35.0, "abs"),
            entry("5", FIRST, 45.0, size="paper"),
            entry("6", FIRST, 25.0, "google-t5/t5-small", size=None),
            entry("7", "spider_tmcd", 50.0, "bilstm"),
            entry("8", FIRST, 10.0, "a/llm", kind="evaluation", model_kind=CAUSAL, size=None),
        ]
    )


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ({}, [(1, "RGT", "paper"), (2, "ABS", "small"), (3, "RGT", "small"),
              (4, "google-t5/t5-small", NOT_SAID), (5, "a/llm", NOT_SAID)]),
        ({"order": SECOND}, [(1, "ABS", "small"), (2, "RGT", "small"), (None, "RGT", "paper"),
                             (None, "a/llm", NOT_SAID), (None, "google-t5/t5-small", NOT_SAID)]),
        ({"order": DIFFERENCE, "kinds": (OWN,)}, [(1, "ABS", "small"), (2, "RGT", "small"),
                                                  (None, "RGT", "paper")]),
        ({"order": NAME, "sizes": ("small",)}, [(None, "ABS", "small"), (None, "RGT", "small")]),
        ({"kinds": (SEQ2SEQ, CAUSAL)}, [(1, "google-t5/t5-small", NOT_SAID), (2, "a/llm", NOT_SAID)]),
        ({"configs": ("spider_tmcd",), "order": "spider_tmcd"}, [(1, "BiLSTM", "small")]),
        ({"kinds": (NOT_SAID,)}, []),
    ],
    ids=["exp1", "exp2", "difference", "name", "kinds", "config", "nobody"],
)  # fmt: skip
def test_order_and_filters(board: Board, choice: dict[str, Any], expected: list[Any]) -> None:
    assert shown(board, **choice) == expected


def test_equal_scores_share_a_rank(entry: Callable[..., Entry]) -> None:
    board = make_board([entry(str(n), FIRST, bleu, m) for n, (m, bleu) in enumerate(
        [("rgt", 30.0), ("abs", 30.0), ("rel", 20.0)])])  # fmt: skip
    assert [(rank, name) for rank, name, _ in shown(board)] == [(1, "ABS"), (1, "RGT"), (3, "REL")]


def test_difference_has_its_test(board: Board) -> None:
    row = next(one for one in standings(board, Choice()) if one.entrant.name == "rgt" and one.rank == 3)
    assert row.difference.mean == pytest.approx(10.0)
    low, high = row.difference.bounds or (0, 0)
    assert low > 0 and high >= low, "every item of exp. 1 has more words in common"
    assert row.difference.p_value is not None and row.difference.p_value < 0.01
    assert not any(one.difference.by_seed for one in standings(board, Choice(configs=(FIRST,))))


def test_a_model_as_it_is_has_no_difference(entry: Callable[..., Entry]) -> None:
    """It answers the same test twice: nothing was taken out of its training."""
    as_it_is = {"kind": "evaluation", "model_kind": CAUSAL}
    [row] = standings(
        make_board([entry("1", FIRST, **as_it_is), entry("2", SECOND, 20.0, **as_it_is)]), Choice()
    )
    assert {config: figure.mean for config, figure in row.figures.items()} == {FIRST: 31.25, SECOND: 20.0}
    assert row.difference.mean is None
    trained = [
        entry(config, config, bleu, **as_it_is, trained={"experiment": config, "signature": "s"})
        for config, bleu in ((FIRST, 30.0), (SECOND, 20.0))
    ]
    assert standings(make_board(trained), Choice())[0].difference.mean == pytest.approx(10.0)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"dataset": {"split_pairs": 200}}, "20 of the 200 rows"),
        ({"dataset": {"split": "validation"}}, "is the test split, but the report is of validation"),
        ({"trained": {"experiment": SECOND}}, "trained for compose_no_overlap, but tested on compose"),
        ({"metrics": {"bleu": {"score": 1e9}}}, "BLEU-4 is 1e+09, not 0 to 100"),
        ({"metrics": {"bleu": {"score": 30}, "chrf": {"score": -1}}}, "chrF is -1, not 0 to 100"),
        ({"metrics": {}}, "lacks the score of BLEU-4"),
        ({"metrics": {"bleu": {"score": float("nan")}}}, "lacks the score of BLEU-4"),
        ({"metrics": {"bleu": [1, 2]}}, "lacks the score of BLEU-4"),
        (
            {"seed": 1, "model": "abs"},
            "a second report of the same model, size, experiment and seed, after 1",
        ),
        ({"dataset": {"signature": "bundled"}}, "other test data (bundled)"),
    ],
    ids=["limit", "split", "trained", "high", "low", "empty", "nan", "list", "twice", "data"],
)
def test_what_is_left_out(entry: Callable[..., Entry], changes: dict[str, Any], reason: str) -> None:
    good = [entry("1", model="abs"), entry("2", model="rel")]
    board = make_board([*good, entry("3", **changes)])
    assert [one.title for one in board.entrants] == ["ABS", "REL"]
    assert [one.where for one in board.left_out] == ["3"]
    assert reason in board.left_out[0].reason


ODD: list[Any] = [None, True, -1, 1e308, float("nan"), 10**400, "x", [], [[1]], {}, {"a": [1]}]
PLACES = [
    ["dataset"], ["dataset", "signature"], ["dataset", "split"], ["dataset", "split_pairs"], ["trained"],
    ["model_kind"], ["size"], ["num_parameters"], ["kind"], ["metrics", "bleu"], ["metrics", "bleu", "low"],
    ["metrics", "chrf"], ["metrics", "bleu", "signature"], ["items"], ["items", "ids"], ["items", "bleu"],
    ["items", "exact"], ["items", "bleu", 0], ["items", "ids", 0],
]  # fmt: skip


@pytest.mark.parametrize("path", PLACES, ids=lambda path: ".".join(map(str, path)))
def test_a_report_of_a_hand_costs_itself_alone(entry: Callable[..., Entry], path: list[Any]) -> None:
    """Whatever stands in a place of a report, the others are shown, and it is shown or named."""
    pytest.importorskip("yaml", reason="the extra `hub` is not installed")
    from spider_compose.hub.board_page import render_board, render_left_out

    good = entry("good", model="abs")
    for value in ODD:
        odd, second = entry("odd"), entry("second", SECOND, 20.0)
        place: Any = odd.report.content
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = value
        board = make_board([good, entry("more", model="rel"), odd, second])
        for one in board.entrants:
            one.results.samples = 10
        shown = f"{render_board(board, Choice())}{render_left_out(board.left_out)}"
        assert "ABS" in shown and "REL" in shown, value
        assert {one.where for one in board.left_out} <= {"odd"}
        shown.encode()


def test_seeds_are_one_entrant(entry: Callable[..., Entry]) -> None:
    [row] = standings(make_board([entry(str(s), FIRST, 20.0 + s, seed=s) for s in (1, 2, 3)]), Choice())
    assert row.figures[FIRST].mean == 22.0 and row.figures[FIRST].bounds == (21.0, 23.0)


def test_results_without_reports(entry: Callable[..., Entry]) -> None:
    results = [HubResult("a/model", FIRST, 28.5), HubResult("b/t5", "spider_tmcd", 12.0)]
    board = make_board([entry("b/t5", FIRST, 30.0, "b/t5")], results)
    assert shown(board) == [(1, "b/t5", "small"), (2, "a/model", NOT_SAID)]
    first = standings(board, Choice(configs=(FIRST, "spider_tmcd")))[0]
    assert first.figures["spider_tmcd"].mean == 12.0, "a score of the Hub beside a report of the same model"
    assert board.configs == [FIRST, SECOND, "spider_tmcd"]
    assert shown(board, metric="chrf") == [(1, "b/t5", "small")], "the Hub has BLEU alone"


def test_statistics_that_fit_nothing_cost_the_test_alone(entry: Callable[..., Entry]) -> None:
    broken = entry("2", SECOND, 20.0, items={"ids": ["x"], "bleu": [["a"]], "exact": [None]})
    [row] = standings(make_board([entry("1"), broken]), Choice())
    assert row.difference.mean == pytest.approx(11.25) and row.difference.bounds is None
    assert row.difference.fault


def test_unknown_metric() -> None:
    with pytest.raises(OptionError, match=r"Did you mean 'bleu'"):
        Choice("bleuh")


def test_committed_reports_stand_on_the_board() -> None:
    """Every report that ships with the repository is shown, or told to be left out."""
    folder = Path(__file__).resolve().parents[2] / "trainers" / "reports"
    if not any(folder.glob("*.json")):
        pytest.skip("no reports in this checkout")
    from spider_compose.hub.board_reading import BoardSource

    board = BoardSource(folder).board()
    assert sum(len(one.results.reports) for one in board.entrants) + len(board.left_out) == len(
        list(folder.glob("*.json"))
    )
    assert not board.left_out, board.left_out
    scores = {json.loads(path.read_text())["metrics"]["bleu"]["score"] for path in folder.glob("*.json")}
    means = {score for one in board.entrants for r in one.results.reports if (score := r.score("bleu"))}
    assert means == scores
