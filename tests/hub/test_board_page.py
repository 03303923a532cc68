"""The leaderboard as markup: figures as in the reports, names of anyone as text."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("numpy", reason="the extra `spaces` is not installed")

from spider_compose.experiments.paper_tables import FIRST, SECOND
from spider_compose.hub.board import DIFFERENCE, Board, Choice, LeftOut
from spider_compose.hub.board_page import (
    _Axis,
    order_title,
    render_board,
    render_head,
    render_left_out,
    style,
    submission,
)
from spider_compose.hub.board_reading import BoardSource

EVIL = '<img src=x onerror="hit()">${hit()}{{hit}}</td><script>hit()</script>\'&amp;'


class Read(HTMLParser):
    """Tags, attributes and text; a tag that is not closed fails."""

    def __init__(self, markup: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.open: list[str] = []
        self.text = ""
        self.rows: list[list[str]] = []
        self.feed(markup)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert not [name for name, _ in attrs if name.startswith("on")], attrs
        self.tags.append(tag)
        self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data
        if {"td", "th"} & set(self.open):
            self.rows[-1][-1] += f" {data}" if self.rows[-1][-1] else data


@pytest.fixture
def board(tmp_path: Path, make_report: Callable[..., dict[str, Any]]) -> Callable[..., Board]:
    def make(*contents: dict[str, Any]) -> Board:
        for place, content in enumerate(contents or (make_report(), make_report(SECOND, 20.0))):
            (tmp_path / f"{place}.json").write_text(json.dumps(content))
        return BoardSource(tmp_path).board()

    return make


def test_table(board: Callable[..., Board]) -> None:
    read = Read(render_board(board(), Choice()))
    assert read.rows[0] == ["rank", "model", "exp. 1", "exp. 2", "exp. 1 − exp. 2", "p"]
    rank, name, first, second, difference, p = read.rows[1]
    assert (rank, name) == ("1", "RGT the paper's five, small, 3.4 M parameters")
    assert (first, second) == ("31.25† [28.25, 34.25]", "20.00† [17.00, 23.00]")
    assert re.fullmatch(r"\+11\.25† \[\d.*\]", difference) and p == "< 0.001"
    assert "Test items: exp. 1: 20; exp. 2: 20." in read.text


def test_every_figure_is_from_a_report(
    board: Callable[..., Board], make_report: Callable[..., dict[str, Any]]
) -> None:
    for bleu in (12.34, 56.78):
        read = Read(render_board(board(make_report(bleu=bleu)), Choice()))
        assert read.rows[1][2] == f"{bleu:.2f}† [{bleu - 3:.2f}, {bleu + 3:.2f}]"
        assert read.rows[1][3:] == ["–", "–", "–"]
        assert f"{bleu:.1f}" in read.text


@pytest.mark.parametrize(
    ("choice", "heads"),
    [
        ({"metric": "chrf"}, ["exp. 1", "exp. 2", "exp. 1 − exp. 2"]),
        ({"metric": "exact_match"}, ["exp. 1", "exp. 2", "exp. 1 − exp. 2", "p"]),
        ({"configs": (FIRST,)}, ["exp. 1"]),
        ({"configs": ("spider_tmcd", SECOND, FIRST)}, ["exp. 1", "exp. 2", "exp. 1 − exp. 2", "p", "TMCD"]),
    ],
    ids=["untested", "tested", "one", "three"],
)
def test_columns(board: Callable[..., Board], choice: dict[str, Any], heads: list[str]) -> None:
    read = Read(render_board(board(), Choice(**choice)))
    assert read.rows[0][2:] == heads
    assert all(len(row) == len(heads) + 2 for row in read.rows)


def test_names_are_text(board: Callable[..., Board], make_report: Callable[..., dict[str, Any]]) -> None:
    evil = make_report(model=EVIL, size=EVIL, signature=EVIL)
    broken = make_report(SECOND, 20.0, EVIL, size=EVIL, items={"ids": [EVIL]})
    read = Read(render_board(board(evil, broken), Choice()))
    assert EVIL[:80] in read.text
    assert not {"img", "script"} & set(read.tags)
    read = Read(render_left_out([LeftOut(EVIL, EVIL)]))
    assert read.text.count(EVIL) == 2 and not {"img", "script"} & set(read.tags)


def test_a_long_name_is_cut(board: Callable[..., Board], make_report: Callable[..., dict[str, Any]]) -> None:
    read = Read(render_board(board(make_report(model="m" * 10_000)), Choice()))
    assert "m" * 80 + "…" in read.text and "m" * 81 not in read.text


def test_nothing_to_show(board: Callable[..., Board]) -> None:
    assert "No model has these scores" in render_board(board(), Choice(kinds=("causal",)))
    assert "Every report is on the board" in render_left_out(())


def test_head_counts(board: Callable[..., Board], make_report: Callable[..., dict[str, Any]]) -> None:
    made = board(make_report(), make_report(seed=2), make_report(model="abs"), {"format": 0})
    text = Read(render_head(made, "a/b")).text
    assert "2 models, 3 reports; 1 left out. With results on the Hub for a/b." in text


@pytest.mark.parametrize(
    ("low", "high", "labels"),
    [
        (0, 57.3, ["0", "20", "40", "60"]),
        (0, 100, ["0", "50", "100"]),
        (-1.2, 7.9, ["−5", "0", "5", "10"]),
        (0, 0, ["0", "0.5"]),
    ],
    ids=["scores", "full", "differences", "zero"],
)
def test_axis(low: float, high: float, labels: list[str]) -> None:
    axis = _Axis(low, high)
    read = Read(axis.labels())
    assert re.findall(r">([^<>]+)</span>", axis.labels()) == labels, read.text
    assert 0 <= axis.place(low) <= axis.place(high) <= 100


def test_bars_are_as_long_as_scores(board: Callable[..., Board]) -> None:
    markup = render_board(board(), Choice())
    widths = [float(width) for width in re.findall(r'<rect [^>]*width="([\d.]+)"', markup)]
    assert widths == pytest.approx([100 * 31.25 / 40, 100 * 20 / 40], abs=0.01), "the axis ends at 40"
    assert 'aria-label="exp. 1: 31.2, 28.2 to 34.2"' in markup


def test_submission_names_the_space() -> None:
    local = submission()
    assert "OWNER/LEADERBOARD" in local and "started without a benchmark" in local and "$" not in local
    there = submission("ann/board", "ann/spider-compose")
    assert "hf upload ann/board measured/report.json" in there
    assert "https://huggingface.co/spaces/ann/board" in there
    assert "--benchmark ann/spider-compose" in there and "started without" not in there


def test_commands_of_the_submission_parse(capsys: pytest.CaptureFixture[str]) -> None:
    from spider_compose.cli import _parser

    commands = re.findall(r"^ *spider-compose (evaluate .*)$", submission(), re.M)
    assert len(commands) == 2
    for command in commands:
        assert _parser().parse_args(command.split()).model == "OWNER/MODEL"


def test_orders_have_names() -> None:
    assert [order_title(one) for one in (FIRST, DIFFERENCE)] == [
        "exp. 1, best first",
        "least exp. 1 − exp. 2",
    ]


def test_classes_have_rules(board: Callable[..., Board]) -> None:
    """A class of the markup without a rule would be a slip of the pen."""
    used = set(" ".join(re.findall(r'class="([^"]+)"', render_board(board(), Choice()))).split())
    assert {name for name in used if name.startswith("board")} <= set(re.findall(r"\.([\w-]+)", style()))
