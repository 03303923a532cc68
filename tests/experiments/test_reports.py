"""Reading reports: what is not one is refused with what is wrong."""

from __future__ import annotations

import errno
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from spider_compose.errors import ReportError
from spider_compose.experiments.reports import number, read_report, read_reports, report_paths, write_whole


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("{", "it is no JSON"),
        ("[]", "a JSON object was expected"),
        ({"format": 2}, "expected a report of format 1, got 2"),
        ({"seed": "1"}, "`seed` must be int, but got '1'"),
        ({"seed": True}, "`seed` must be int, but got True"),
        ({"metrics": None}, "`metrics` must be dict, but got None"),
        ({"model": 1}, "`model` must be str, but got 1"),
        *(
            ({"items": {name: [0, wrong]}}, rf"items, {name}, entry 2: expected 0 or 1, but got {wrong!r}")
            for name in ("exact", "normalized")
            for wrong in (5, -1, 0.5, "1", True, None)
        ),
        *(
            ({"items": {"bleu": [wrong]}}, "items, bleu, entry 1: expected 10 counts")
            for wrong in (
                None,
                7,
                [],
                [1] * 9,
                [1] * 11,
                [1] * 9 + ["1"],
                [-1] + [1] * 9,
                [0.5] + [1] * 9,
                [9, 9, 8, 7, 6, 6, 8, 7, 6, 5],
                [10**30] + [1] * 9,
            )
        ),
    ],
)
def test_what_is_no_report(
    report: Callable[..., dict[str, Any]], tmp_path: Path, content: Any, says: str
) -> None:
    path = tmp_path / "r.json"
    text = content if isinstance(content, str) else json.dumps(report("rgt", "compose", 1, 50) | content)
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ReportError, match=says) as raised:
        read_report(path)
    assert str(path) in str(raised.value)


def test_missing(tmp_path: Path) -> None:
    with pytest.raises(ReportError, match="No such file"):
        read_report(tmp_path / "r.json")
    with pytest.raises(ReportError, match="no folder with reports"):
        read_reports(tmp_path / "r")


def test_order_and_twice(report: Callable[..., dict[str, Any]], tmp_path: Path) -> None:
    cells = [("rgt", "compose", 2), ("rgt", "compose", 1), ("bilstm", "spider", 1), ("bilstm", "compose", 1)]
    for place, cell in enumerate(cells):
        (tmp_path / f"{place}.json").write_text(json.dumps(report(*cell, 50)), encoding="utf-8")
    names = ["bilstm-compose-seed1", "bilstm-spider-seed1", "rgt-compose-seed1", "rgt-compose-seed2"]
    assert [one.name for one in read_reports(tmp_path)] == names
    (tmp_path / "again.json").write_text(json.dumps(report("rgt", "compose", 2, 50)), encoding="utf-8")
    with pytest.raises(ReportError, match="are reports of the same cell"):
        read_reports(tmp_path)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("org/model", "compose", 1), ("org_model", "compose", 1)),
        (("org/model", "compose", 1), ("org_model", "compose", 2)),  # other files, but one card
        (("org/a model", "compose", 1), ("org/a/model", "compose", 1)),
        (("m", "a-compose", 1), ("m-a", "compose", 1)),
    ],
)
def test_two_models_of_one_name(
    report: Callable[..., dict[str, Any]], tmp_path: Path, one: Any, other: Any
) -> None:
    """What is told apart by the name of a cell, ratings and cards, would be that of another model."""
    for place, cell in enumerate((one, other)):
        (tmp_path / f"{place}.json").write_text(json.dumps(report(*cell, 50)), encoding="utf-8")
    with pytest.raises(ReportError, match=r"0\.json and .*1\.json are reports of two models.*\.md would be"):
        read_reports(tmp_path)


def test_folders_with_a_report_each(report: Callable[..., dict[str, Any]], tmp_path: Path) -> None:
    """As runs and `evaluate` write them, beside those of `experiment run`."""
    for place, cell in (("a b", ("rgt", "compose", 2)), ("c", ("rgt", "compose", 3))):
        (tmp_path / place).mkdir()
        (tmp_path / place / "report.json").write_text(json.dumps(report(*cell, 50)), encoding="utf-8")
    (tmp_path / "d.json").write_text(json.dumps(report("rgt", "compose", 1, 50)), encoding="utf-8")
    (tmp_path / "c" / "other.json").write_text("{}", encoding="utf-8")
    assert sorted(report_paths(tmp_path)) == ["a b.json", "c.json", "d.json"]
    assert [one.identity.seed for one in read_reports(tmp_path)] == [1, 2, 3]
    (tmp_path / "c.json").write_text(json.dumps(report("rgt", "compose", 4, 50)), encoding="utf-8")
    assert sorted(report_paths(tmp_path)) == ["a b.json", "c.json", "d.json", "folder-c.json"]
    assert [one.identity.seed for one in read_reports(tmp_path)] == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1, 1.0),
        (0.5, 0.5),
        (True, None),
        ("1", None),
        (None, None),
        (float("nan"), None),
        (float("inf"), None),
    ],
)
def test_number(value: Any, expected: float | None) -> None:
    assert number(value) == expected


def test_a_file_is_written_whole_or_not(tmp_path: Path) -> None:
    path = tmp_path / "a" / "f"
    write_whole(path, b"one")
    write_whole(path, b"two")
    assert path.read_bytes() == b"two"
    path.with_name("g").mkdir()
    with pytest.raises(OSError):
        write_whole(path.with_name("g"), b"three")
    assert sorted(one.name for one in path.parent.iterdir()) == ["f", "g"]


@pytest.mark.parametrize("failing", ["mkdir", "write_bytes"])
def test_a_failed_write_names_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str) -> None:
    """The system names none once a file is open."""

    def fail(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, failing, fail)
    with pytest.raises(OSError, match="No space left") as raised:
        write_whole(tmp_path / "f", b"one")
    assert (raised.value.errno, raised.value.filename) == (errno.ENOSPC, str(tmp_path / "f"))
