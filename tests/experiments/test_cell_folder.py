"""The folder of a cell: whatever its files hold, `status` says how far the cell is."""

from __future__ import annotations

import resource
from pathlib import Path

import pytest

from spider_compose.experiments.cell_folder import CellFolder, Failure
from spider_compose.experiments.cells import Cell, Identity
from spider_compose.experiments.status import statuses

CELL = Cell(Identity("rgt", "compose", 1), {"epochs": 2})
DEEP = "[" * 100_000
READ_DEEP = '{"a": ' * 900 + "1" + "}" * 900  # as deep as JSON is read, and deeper than it can be told


@pytest.fixture
def folder(tmp_path: Path) -> CellFolder:
    found = CellFolder(tmp_path / "runs", CELL, "bundled")
    found.path.mkdir(parents=True)
    return found


@pytest.mark.parametrize(
    ("text", "failure"),
    [
        ('{"reason": "why", "tail": ["a", "b"]}', Failure("why", ("a", "b"))),
        ('{"reason": "why", "tail": 5}', Failure("why")),
        ('{"reason": "why", "tail": null}', Failure("why")),
        ('{"reason": "why", "tail": "ab"}', Failure("why")),
        ('{"reason": "why", "tail": [1, null]}', Failure("why", ("1", "None"))),
        ('{"reason": ["why"]}', Failure("failed.json does not say why")),
        ("{}", Failure("failed.json does not say why")),
        ("[1]", None),
        ("{", None),
        (DEEP, None),
    ],
    ids=lambda value: None if isinstance(value, Failure) else str(value)[:40],
)
def test_why_it_failed(folder: CellFolder, text: str, failure: Failure | None) -> None:
    (folder.path / "failed.json").write_text(text, encoding="utf-8")
    assert folder.failure() == failure
    (status,) = statuses([CELL], folder.path.parent, folder.path)
    assert status.state == ("waiting" if failure is None else "failed")


@pytest.mark.parametrize(
    "line", [DEEP, "{", "[1]", "5", "null", '{"epoch": "x"}', "\0", "{" + '"a":{' * 90_000]
)
def test_lines_that_are_none_are_passed_over(folder: CellFolder, line: str) -> None:
    (folder.path / "log.jsonl").write_text(f'{{"epoch": 1}}\n{line}\n{{"cpu_seconds": 3}}\n', "utf-8")
    progress = folder.progress()
    assert (progress.epoch, progress.cpu_seconds) == (1, 3)
    (folder.path / "checkpoints" / "1").mkdir(parents=True)
    (status,) = statuses([CELL], folder.path.parent, folder.path)
    assert (status.state, status.epoch) == ("stopped", 1)


def test_settings_too_deep_are_other_settings(folder: CellFolder) -> None:
    folder.prepare()
    (folder.path / "checkpoints" / "1").mkdir(parents=True)
    assert folder.asked_otherwise() == ""
    (folder.path / "cell.json").write_text(READ_DEEP, encoding="utf-8")
    assert "settings.epochs: not given before, 2 now" in folder.asked_otherwise()


@pytest.mark.parametrize("content", [b"", b"\xff", DEEP.encode(), b"[]", b'{"process": 7}'])
def test_a_holder_that_is_not_told(folder: CellFolder, content: bytes) -> None:
    lock = folder.lock()
    assert lock is not None
    (folder.path / "lock").write_bytes(content)
    told = "process 7" if b"7" in content else "process unknown"
    assert (folder.holder() or "").startswith(told)
    lock.free()
    assert folder.holder() is None


def test_a_lock_that_cannot_be_written_names_its_file(folder: CellFolder) -> None:
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, limits[1]))  # as on a full disk
    try:
        with pytest.raises(OSError) as raised:
            folder.lock()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert raised.value.filename == str(folder.path / "lock")
    lock = folder.lock()
    assert lock is not None, "it has let go"
    lock.free()
