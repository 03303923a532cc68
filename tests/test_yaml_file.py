"""YAML as people write it: every slip is one error that names file and place, or is read as it was meant."""

from __future__ import annotations

from pathlib import Path

import pytest

from spider_compose.errors import OptionError
from spider_compose.experiments.grid import read_grid
from spider_compose.training.settings import read_settings
from spider_compose.yaml_file import LARGEST, read_yaml_mapping

MANY = "[" + ", ".join("x" * 20) + "]"
BOMB = f"a: &a {MANY}\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 20)}]\n"
    for before, name in zip("abcde", "bcdef", strict=True)
)

REFUSED = [
    pytest.param("- a\n", "must hold settings as names and values, but holds", id="list"),
    pytest.param("0\n", "but holds 0", id="zero"),
    pytest.param("no\n", "but holds False", id="no alone"),
    pytest.param(
        "epochs: 3\nepochs: 5\n", "line 2, column 1: 'epochs' is given twice, first in line 1", id="twice"
    ),
    pytest.param("a: {b: 1, b: 2}\n", "'b' is given twice", id="twice, inside"),
    pytest.param("a:\n\tb: 1\n", "line 2, column 1: .*'.t'", id="tab"),
    pytest.param("a: 1\n---\nb: 2\n", "another document", id="two documents"),
    pytest.param("a: 2024-01-01\n", r"`a` .* but holds datetime.date\(2024", id="date"),
    pytest.param("a: 2024-13-45\n", "month must be in 1..12", id="no date"),
    pytest.param("a: {b: [2024-01-01]}\n", "`a` .*in quotes", id="date, inside"),
    pytest.param("a: !!binary aGVsbG8=\n", "`a` .*b'hello'", id="bytes"),
    pytest.param("a: !!set {b}\n", "`a` .*{'b'}", id="set"),
    pytest.param("a: .nan\n", "`a` .*nan", id="nan"),
    pytest.param("a: {1: 2}\n", "the name 1, which is no text", id="number as a name"),
    pytest.param("a: {no: 2}\n", "the name False, which is no text", id="no as a name"),
    pytest.param("? [a]\n: 1\n", "unhashable key", id="list as a name"),
    pytest.param("a: &a {b: *a}\n", "`a` .*more than 50 deep", id="holds itself"),
    pytest.param("a: &a [*a, *a]\n", "`a` .*(more than 50 deep|values)", id="holds itself twice"),
    pytest.param("a: " + "{a: " * 2000 + "1" + "}" * 2000, "too deep", id="deep"),
    pytest.param(BOMB, "more than 100,000 values", id="aliases of aliases"),
    pytest.param("a: !!python/object/apply:os.system [ls]\n", "could not determine a constructor", id="tag"),
    pytest.param("a: b\0c\n", "unacceptable character", id="zero byte"),
    pytest.param("a: [\n", "line 2, column 1", id="open"),
    pytest.param("#" * (LARGEST + 1), "more than 1,000,000 bytes", id="large"),
]


@pytest.mark.parametrize(("text", "says"), REFUSED)
def test_refused(text: str, says: str, tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(OptionError, match=says) as raised:
        read_yaml_mapping(path, "settings")
    assert str(path) in str(raised.value) and len(str(raised.value)) < 400
    assert "\n" not in str(raised.value)


def test_what_cannot_be_read(tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_bytes(b"\xff\xfea")
    for asked, says in [
        (path, "no text in UTF-8"),
        (tmp_path, "cannot read .*: Is a directory"),
        (tmp_path / "absent.yaml", r"cannot read .*absent\.yaml: No such file"),
        ("a\0b", "no file's name"),
    ]:
        with pytest.raises(OptionError, match=says):
            read_yaml_mapping(asked, "settings")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("", {}, id="empty"),
        pytest.param("# nothing\n", {}, id="comment"),
        pytest.param("\ufeffa: b\n", {"a": "b"}, id="byte order mark"),
        pytest.param("a: 1e-4\nb: 1E4\nc: -2e+3\n", {"a": 1e-4, "b": 1e4, "c": -2e3}, id="exponents"),
        pytest.param("a: 1e\nb: e4\nc: 1e4x\n", {"a": "1e", "b": "e4", "c": "1e4x"}, id="no exponents"),
        pytest.param("a: &a {x: 1}\nb: {<<: *a, x: 2}\n", {"a": {"x": 1}, "b": {"x": 2}}, id="merge"),
        pytest.param("a: &a [1]\nb: *a\n", {"a": [1], "b": [1]}, id="alias"),
    ],
)
def test_read(text: str, expected: dict[str, object], tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(text, encoding="utf-8")
    assert read_yaml_mapping(path, "settings") == expected


def test_settings_and_grids_are_read_so(tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text("learning_rate: 1e-4\nmixed_precision: no\nreport_to: no\n", encoding="utf-8")
    settings = read_settings(path)
    assert (settings.learning_rate, settings.mixed_precision, settings.report_to) == (1e-4, "no", ())
    path.write_text("cells: []\ncells: []\n", encoding="utf-8")
    with pytest.raises(OptionError, match="'cells' is given twice"):
        read_grid(path)
