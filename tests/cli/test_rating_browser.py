"""The rating page in a real browser, without a screen, by keys and clicks."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow
Browser = Any  # of `browser_with`


SENTENCES = [
    "=cmd|\" '/c calc'!A0",
    "Größe, <b>bold</b>\nof ships; \u202ereversed",
    "",
    "-1 + 1",
    "name the piers",
    "x",
]


@pytest.fixture
def study(cli: Callable[..., Any], tmp_path: Path) -> Path:
    """A folder of sheets: two systems, three rows, six sentences that are hard to carry."""
    for system, said in (("one", SENTENCES[:3]), ("two", SENTENCES[3:])):
        rows = [
            {
                "id": str(row),
                "db_id": "harbour",
                "query": f"SELECT '</code>', {row}",
                "question": "q",
                "prediction": text,
            }
            for row, text in enumerate(said)
        ]
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (tmp_path / f"{system}.jsonl").write_text(text, encoding="utf-8")
    files = [tmp_path / "one.jsonl", tmp_path / "two.jsonl"]
    result = cli("rate", "export", *files, "--out", tmp_path / "study", "--raters", 1)
    assert result.code == 0, result.err
    return tmp_path / "study"


COUNT = "document.getElementById('count').value"
SHOWN = "document.querySelector('article:not([hidden]) h2 span')?.textContent"
RATED = "document.querySelector('#scale [aria-pressed=true] b')?.textContent"


def test_rate_reload_save_and_import(
    browser_with: Callable[..., Browser], study: Path, cli: Callable[..., Any], tmp_path: Path
) -> None:
    browser, page = browser_with(), study / "sheets" / "rater1.html"
    browser.open(page)
    browser.press("5")
    assert browser.run(COUNT) == "0 of 6 rated", "the guidelines come first"
    browser.press("Enter")
    assert [browser.run(COUNT), browser.run(SHOWN)] == ["0 of 6 rated", "Sentence 1"]
    browser.press("5", "4", "3")
    assert [browser.run(COUNT), browser.run(SHOWN)] == ["3 of 6 rated", "Sentence 4"]
    browser.press("ArrowLeft")
    assert [browser.run(SHOWN), browser.run(RATED)] == ["Sentence 3", "3"]
    browser.press("2")  # changed, and on to the next that is not rated
    assert browser.run(SHOWN) == "Sentence 4"
    browser.press("u")  # the change is taken back
    assert [browser.run(SHOWN), browser.run(RATED)] == ["Sentence 3", "3"]
    browser.press("n")
    assert browser.run(SHOWN) == "Sentence 4"
    browser.press("9", "x")  # not on the scale
    assert browser.run(COUNT) == "3 of 6 rated"

    browser.open(page)  # again: all is there
    assert [browser.run(COUNT), browser.run(SHOWN)] == ["3 of 6 rated", "Sentence 4"]
    browser.click("#scale [data-rating='1']")
    browser.press("ArrowRight")  # leaves one out
    browser.press("2")
    assert [browser.run(COUNT), browser.run(SHOWN)] == ["5 of 6 rated", "Sentence 5"]
    browser.press("ArrowRight", "ArrowRight")
    assert browser.run("document.getElementById('left').textContent").startswith("1 not rated yet")
    browser.click("#finish .save")
    saved = browser.download()

    order = [item["item"] for item in _rows(study / "sheets" / "rater1.csv")]
    (tmp_path / "saved.csv").write_bytes(saved)
    rows = _rows(tmp_path / "saved.csv")
    assert [row["item"] for row in rows] == order
    assert [row["rating"] for row in rows] == ["5", "4", "3", "1", "", "2"]
    asked = [{**row, "rating": ""} for row in rows]
    assert asked == _rows(study / "sheets" / "rater1.csv"), "the page's CSV is the sheet, cell for cell"

    out = tmp_path / "ratings.json"
    result = cli("rate", "import", tmp_path / "saved.csv", "--key", study / "key.json", "--out", out)
    assert result.code == 0, result.err
    assert "rater 1    5 of 6 rated" in result.out
    systems = json.loads(out.read_text("utf-8"))["systems"]
    assert sum(system["num_ratings"] for system in systems.values()) == 5

    outside = [
        event["params"]["request"]["url"]
        for event in browser.events
        if event["method"] == "Network.requestWillBeSent"
    ]
    assert {url.split(":")[0] for url in outside} <= {"file", "blob", "about"}
    complaints = [
        event for event in browser.events if event["method"] in ("Log.entryAdded", "Runtime.exceptionThrown")
    ]
    assert not complaints, complaints


def test_without_local_storage_a_saved_csv_goes_on(
    browser_with: Callable[..., Browser], study: Path, tmp_path: Path
) -> None:
    browser, page = browser_with(), study / "sheets" / "rater1.html"
    refuse = "Object.defineProperty(window, 'localStorage', {get() { throw new Error('refused'); }});"
    browser.call("Page.addScriptToEvaluateOnNewDocument", source=refuse)
    browser.open(page)
    notice = "document.getElementById('notice').hidden ? '' : document.getElementById('notice').textContent"
    assert "does not keep your ratings" in browser.run(notice)
    browser.click("#start")
    browser.press("5", "4")
    browser.click("#bar .save")
    saved = tmp_path / "saved.csv"
    saved.write_bytes(browser.download())

    browser.open(page)
    assert browser.run(COUNT) == "0 of 6 rated"
    node = browser.call("DOM.getDocument")["root"]["nodeId"]
    load = browser.call("DOM.querySelector", nodeId=node, selector="#load")["nodeId"]
    browser.call("DOM.setFileInputFiles", nodeId=load, files=[str(saved)])
    browser.until(f"{COUNT} === '2 of 6 rated'")
    assert browser.run(SHOWN) == "Sentence 3"


def _rows(path: Path) -> list[dict[str, str]]:
    import csv

    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))
