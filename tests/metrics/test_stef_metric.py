"""The `evaluate` module: loaded by path and by name in another folder, its inputs, its card."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

evaluate = pytest.importorskip("evaluate")
pytest.importorskip("spacy")

REPOSITORY = Path(__file__).resolve().parents[2]
MODULE = REPOSITORY / "metrics" / "stef"
RIGHT = ("How many singers are from 'France'?", "SELECT COUNT(*) FROM singer WHERE country = 'France'")
WRONG = ("List the names of all songs.", "SELECT * FROM song")


@pytest.fixture
def stef() -> Any:
    return evaluate.load(str(MODULE))


def test_compute(stef: Any) -> None:
    result = stef.compute(predictions=[RIGHT[1], WRONG[1], None], questions=[RIGHT[0], WRONG[0], "q"])
    assert result["scores"][0] == 100.0 > result["scores"][1] and result["scores"][2] is None
    assert result["coverage"] == pytest.approx(2 / 3, abs=1e-6)
    assert result["stef"] == pytest.approx(sum(result["scores"][:2]) / 2)
    assert result["stef_unscored_as_0"] == pytest.approx(sum(result["scores"][:2]) / 3, abs=1e-3)
    assert result["unscored"] == {"no_sql": 1}
    assert result["signature"].startswith("stef:")


def test_add_batch_and_add_agree_with_compute(stef: Any) -> None:
    stef.add_batch(predictions=[RIGHT[1]], questions=[RIGHT[0]], enriched_questions=[None])
    stef.add(prediction=WRONG[1], question=WRONG[0])
    added = stef.compute(rules={"dialect": "sqlite"}, details=True)
    whole = stef.compute(
        predictions=[RIGHT[1], WRONG[1]], questions=[RIGHT[0], WRONG[0]], dialects=["sqlite", None],
        rules={"dialect": "sqlite"}, details=True,
    )  # fmt: skip
    assert added == whole
    assert added["results"][1]["reasons"]


def test_arrays(stef: Any) -> None:
    numpy = pytest.importorskip("numpy")
    questions, queries = (numpy.array(column) for column in zip(RIGHT, WRONG, strict=True))
    assert stef.compute(predictions=queries, questions=questions)["coverage"] == 1.0


def test_empty_input(stef: Any) -> None:
    result = stef.compute(predictions=[], questions=[])
    assert (result["scores"], result["stef"], result["coverage"]) == ([], None, None)


WRONG_CALLS = [
    ({"predictions": ["a", "b"], "questions": ["q"]}, "one length"),
    ({"predictions": ["a"], "questions": ["q"], "enriched_questions": []}, "one length"),
    ({"predictions": ["a"]}, "questions"),
    ({"predictions": ["a"], "questions": ["q"], "references": ["r"]}, "no `references`"),
    ({"predictions": ["a"], "questions": ["q"], "rules": {"lamda_min": 1}}, "Did you mean 'lambda_min'"),
    ({"predictions": ["a"], "questions": ["q"], "judge": "rulez"}, "Did you mean 'rules'"),
]


@pytest.mark.parametrize(("arguments", "says"), WRONG_CALLS, ids=[s for _, s in WRONG_CALLS])
def test_wrong_calls(stef: Any, arguments: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=re.escape(says)):
        stef.compute(**arguments)
    # a refused call leaves nothing behind
    assert stef.compute(predictions=[RIGHT[1]], questions=[RIGHT[0]])["scores"] == [100.0]


ELSEWHERE = """
import evaluate

stef = evaluate.load("stef")
result = stef.compute(
    predictions=["SELECT COUNT(*) FROM singer WHERE country = 'France'"],
    questions=["How many singers are from 'France'?"],
)
assert result["scores"] == [100.0], result
"""

DISTRIBUTED = """
import sys, evaluate
process = int(sys.argv[1])
stef = evaluate.load("stef", num_process=2, process_id=process, experiment_id="two", cache_dir=sys.argv[2])
stef.add_batch(predictions=["SELECT COUNT(*) FROM dog"], questions=["How many dogs are there?"])
result = stef.compute()
assert (result is None) == (process == 1)
if result:
    assert result["scores"] == [100.0, 100.0], result
"""


def offline(folder: Path) -> dict[str, str]:
    return {**os.environ, "HF_HOME": str(folder / "hf"), "HF_HUB_OFFLINE": "1", "PYTHONPATH": str(REPOSITORY)}


def test_load_by_name_in_another_folder_offline(tmp_path: Path) -> None:
    """One documented step, then the name: nothing of this repository is in the folder."""
    environment = offline(tmp_path)
    install = [sys.executable, "-m", "spider_compose.stef", "install-metric"]
    subprocess.run(install, check=True, env=environment, cwd=tmp_path, capture_output=True)
    subprocess.run([sys.executable, "-c", ELSEWHERE], check=True, env=environment, cwd=tmp_path)


def test_distributed(tmp_path: Path) -> None:
    environment = offline(tmp_path)
    install = [sys.executable, "-m", "spider_compose.stef", "install-metric"]
    subprocess.run(install, check=True, env=environment, cwd=tmp_path, capture_output=True)
    command = [sys.executable, "-c", DISTRIBUTED]
    both = [
        subprocess.Popen([*command, str(n), str(tmp_path / "cache")], env=environment, cwd=tmp_path)
        for n in (0, 1)
    ]
    assert [process.wait(timeout=300) for process in both] == [0, 0]


def test_card_example_runs() -> None:
    """The card's Python example, as another project would use it, prints what the card says."""
    card = (MODULE / "README.md").read_text("utf-8")
    code = re.search(r"```python\n(.*?)```", card, re.S)
    printed = re.search(r"```text\n(.*?)```", card, re.S)
    assert code is not None and printed is not None
    source = code[1].replace('evaluate.load("stef")', f"evaluate.load({str(MODULE)!r})")
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    command = [sys.executable, "-c", source]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    assert done.stdout.strip() == printed[1].strip()
