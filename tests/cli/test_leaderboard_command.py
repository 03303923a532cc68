"""`spider-compose leaderboard`: what it refuses, before anything is served."""

from __future__ import annotations

from pathlib import Path

import pytest

from spider_compose.cli import leaderboard, main


@pytest.fixture(autouse=True)
def with_extras(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the extra were installed: nothing here gets as far as Gradio."""
    monkeypatch.setattr(leaderboard, "find_spec", lambda name: object())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--reports", "nowhere"], "no folder with reports at nowhere"),
        (["--port", "0"], "`port` must be 1 to 65535, but got 0"),
        (["--port", "70000"], "`port` must be 1 to 65535, but got 70000"),
        (["--port", "x"], "invalid int value"),
        (["--benchmark", "spider"], "a benchmark is a dataset on the Hub, as owner/name, but got 'spider'"),
    ],
    ids=["folder", "zero", "high", "text", "benchmark"],
)
def test_refusals(
    arguments: list[str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    pytest.importorskip("numpy", reason="the extra `spaces` is not installed")
    monkeypatch.chdir(tmp_path)
    assert main(["leaderboard", *arguments]) == 2
    assert said in capsys.readouterr().err


def test_missing_extra(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(leaderboard, "find_spec", lambda name: None if name == "gradio" else object())
    assert main(["leaderboard"]) == 2
    said = capsys.readouterr().err
    assert "needs gradio, which is not installed: pip install 'spider-compose[spaces]'" in said


def test_what_is_left_out_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("numpy", reason="the extra `spaces` is not installed")
    (tmp_path / "cut.json").write_text("{")
    served = []
    monkeypatch.setattr(leaderboard, "_serve", lambda source, port, open_browser: served.append(port))
    assert main(["leaderboard", "--reports", str(tmp_path), "--port", "8123"]) == 0
    assert served == [8123]
    assert "left out: cut.json: cut.json is no report" in capsys.readouterr().err
