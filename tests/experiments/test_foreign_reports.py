"""Reports of other programs, or changed by hand: each is refused or shown, and nothing of it is run."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from spider_compose.cli import main
from spider_compose.cli.experiment_page import render_page
from spider_compose.errors import ReportError, SpiderComposeError
from spider_compose.experiments.cells import Cell, Identity, card_name
from spider_compose.experiments.figures import Results
from spider_compose.experiments.model_cards import render_card, write_cards
from spider_compose.experiments.report import ExperimentReport
from spider_compose.experiments.reports import read_report
from spider_compose.experiments.status import statuses

Make = Callable[..., dict[str, Any]]

SCRIPT = "<script>alert(1)</script> | `code` \u202e *x*\n# title\n```\n</pre>"
VALUES = [None, SCRIPT, -1, 10**400, {SCRIPT: {SCRIPT: 1}}, [1, 2]]


def paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Places of a report; of a list the first."""
    inner = (
        value.items() if isinstance(value, dict) else enumerate(value[:1]) if isinstance(value, list) else ()
    )
    for name, below in inner:
        yield (*path, name)
        yield from paths(below, (*path, name))


def put(report: dict[str, Any], path: tuple[Any, ...], value: Any) -> dict[str, Any]:
    changed: Any = copy.deepcopy(report)
    place = changed
    for name in path[:-1]:
        place = place[name]
    place[path[-1]] = value
    return changed  # type: ignore[no-any-return]


def shown(file: Path, beside: Path) -> list[str]:
    """All that is made of a report: text, Markdown, page, cards."""
    results = Results([read_report(file), read_report(beside)], samples=2)
    report = ExperimentReport(results)
    cards = [
        render_card(results, model, experiment)
        for model in results.models
        for experiment in results.experiments
        if results.of(model, experiment)
    ]
    assert report.text()
    return [report.markdown(), render_page(report), *cards]


@pytest.mark.parametrize(
    "part",
    ["model", "experiment", "size", "dataset", "num_parameters", "configuration", "training", "epochs",
     "best_epoch", "stopped", "cpu_seconds", "curve", "metrics", "items", "error_analysis", "num_items",
     "signature"],
)  # fmt: skip
def test_shown_or_refused(report: Make, tmp_path: Path, part: str) -> None:
    good = report("bilstm", "compose", 1, 50.0) | {
        "error_analysis": {**report("rgt", "compose", 1, 5)["error_analysis"]}
    }
    beside = tmp_path / "beside.json"
    beside.write_text(json.dumps(report("bilstm", "compose_no_overlap", 1, 20.0)), encoding="utf-8")
    file = tmp_path / "foreign.json"
    tried = [(part,), *paths(good[part], (part,))][:14]
    for path in tried:
        for value in VALUES:
            file.write_text(json.dumps(put(good, path, value)), encoding="utf-8")
            try:
                found = shown(file, beside)
            except SpiderComposeError:
                continue
            for text in found:
                if text.startswith("---\n"):  # a card: its header is data, and must be read as such
                    header, _, text = text[4:].partition("\n---\n")
                    assert isinstance(yaml.safe_load(header), dict)
                for line in text.replace("\\<", "&lt;").split("\n"):
                    outside = "".join(line.split("`")[::2]) if not line.startswith("seed ") else ""
                    assert "<script>alert" not in outside, (path, value, line[:200])


def test_no_items(report: Make, tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    path.write_text(json.dumps(report("rgt", "compose", 1, 50) | {"num_items": 0}), encoding="utf-8")
    with pytest.raises(ReportError, match="`num_items` must be 1 to"):
        read_report(path)


def test_names_lead_to_no_other_folder(report: Make, results: Callable[..., Results], tmp_path: Path) -> None:
    """The experiment of a foreign report is as untrusted as its model."""
    for model, experiment in (("../../a/b", "compose"), ("rgt", "../../x"), ("rgt", "/etc/x"), ("..", "..")):
        assert "/" not in card_name(model, experiment) and not card_name(model, experiment).startswith(".")
        folder = tmp_path / "a" / "cards"
        written = write_cards(results(report(model, experiment, 1, 50)), folder)
        assert [path.parent for path in written] == [folder]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a"]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("{", "no JSON"),
        ({"format": 9}, "format 1, got 9"),
        ({"seed": 2}, "is the report of rgt-compose-seed2"),
    ],
)
def test_status_names_a_broken_copy(report: Make, tmp_path: Path, content: Any, says: str) -> None:
    """One broken report must not hide how far the others are."""
    text = content if isinstance(content, str) else json.dumps(report("rgt", "compose", 1, 50) | content)
    (tmp_path / "rgt-compose-seed1.json").write_text(text, encoding="utf-8")
    (tmp_path / "abs-compose-seed1.json").write_text(
        json.dumps(report("abs", "compose", 1, 5)), encoding="utf-8"
    )
    cells = [Cell(Identity(model, "compose", 1)) for model in ("rgt", "abs")]
    broken, good = statuses(cells, tmp_path / "runs", tmp_path)
    assert broken.state == "waiting" and says in broken.note
    assert good.state == "done"


def test_one_error_names_the_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "x.json").write_text("[" * 100_000, encoding="utf-8")
    assert main(["experiment", "report", "--reports", str(tmp_path)]) == 2
    told = capsys.readouterr().err
    assert "x.json" in told and "Traceback" not in told


def test_a_name_is_no_link(report: Make, results: Callable[..., Results]) -> None:
    card = render_card(results(report("[a](https://b)", "compose", 1, 50)), "[a](https://b)", "compose")
    text = card.split("\n---\n", 1)[1].split("## Signatures")[0]
    assert "[a]\\(https://b)" in text and "[a](https://b)" not in text
    prefix = {"training": {"source_prefix": "`x`\n# title"}}
    found = report("t5", "compose", 1, 50) | prefix
    assert "\n# title" not in render_card(results(found), "t5", "compose")
