"""Our figures are those of the `sacrebleu` program on the same texts."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from spider_compose.evaluation import compare, score

MakeRows = Callable[..., list[dict[str, Any]]]

PROGRAM = shutil.which(
    "sacrebleu", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
)

pytestmark = pytest.mark.skipif(PROGRAM is None, reason="the program sacrebleu is not installed")


def run(folder: Path, references: list[list[str]], *systems: list[str], options: tuple[str, ...] = ()) -> Any:
    """What the program prints for these texts, one reference file per list."""
    files: list[list[str]] = [[], []]
    for kind, texts in ((0, references), (1, systems)):
        for number, lines in enumerate(texts):
            path = folder / f"{'reference' if kind == 0 else 'system'}{number}.txt"
            path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
            files[kind].append(str(path))
    assert PROGRAM is not None
    command = [PROGRAM, *files[0], "-i", *files[1], "-m", "bleu", "chrf", "-w", "6", "-f", "json", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def corpus() -> tuple[list[str], list[str], list[str]]:
    """References, the output of a good model and that of a poorer one."""
    rng = random.Random(6)
    words = (
        "what is the name of each student who lives in Paris 's 3.5 , older than 20 and sorted by age".split()
    )
    questions = [" ".join(rng.choices(words, k=rng.randint(5, 15))) + "?" for _ in range(60)]

    def spoilt(share: float) -> list[str]:
        return [
            " ".join(rng.choice(words) if rng.random() < share else word for word in question.split())
            for question in questions
        ]

    return questions, spoilt(0.1), spoilt(0.2)


def test_bleu_and_chrf(
    tmp_path: Path, make_rows: MakeRows, corpus: tuple[list[str], list[str], list[str]]
) -> None:
    questions, said, _ = corpus
    theirs = {metric["name"]: metric for metric in run(tmp_path, [questions], said)}
    ours = score(said, make_rows(questions))
    assert ours["bleu"]["score"] == pytest.approx(theirs["BLEU"]["score"], abs=1e-4)
    assert ours["bleu"]["signature"] == theirs["BLEU"]["signature"]
    assert ours["chrf"]["score"] == pytest.approx(theirs["chrF2"]["score"], abs=1e-4)
    assert ours["chrf"]["signature"] == theirs["chrF2"]["signature"]


def test_bleu_with_several_references(
    tmp_path: Path, make_rows: MakeRows, corpus: tuple[list[str], list[str], list[str]]
) -> None:
    """Items two by two have the same query; the program gets each other's question in a second file."""
    questions, said, _ = corpus
    rows = make_rows(questions, [f"SELECT a FROM t WHERE b = {at // 2}" for at in range(len(questions))])
    others = [questions[at ^ 1] for at in range(len(questions))]
    theirs = run(tmp_path, [questions, others], said)[0]
    ours = score(said, rows)["bleu_multi_reference"]
    assert ours["num_references"] == 2
    assert ours["score"] == pytest.approx(theirs["score"], abs=1e-4)
    assert ours["signature"] == theirs["signature"]


def test_interval_and_significance_are_near(
    tmp_path: Path, make_rows: MakeRows, corpus: tuple[list[str], list[str], list[str]]
) -> None:
    """Other draws, the same distributions: half widths and p-values agree up to chance."""
    questions, good, poor = corpus
    (theirs, _) = run(tmp_path, [questions], good, options=("--confidence", "--confidence-n", "2000"))
    ours = score(good, make_rows(questions), samples=2000)["bleu"]
    assert (ours["high"] - ours["low"]) / 2 == pytest.approx(theirs["confidence_var"], rel=0.15)
    assert (ours["high"] + ours["low"]) / 2 == pytest.approx(theirs["confidence_mean"], abs=0.6)
    poor = [text if at % 2 else good[at] for at, text in enumerate(poor)]
    paired = run(tmp_path, [questions], good, poor, options=("--paired-ar", "--paired-ar-n", "5000"))
    found = compare(*(score(said, make_rows(questions)) for said in (good, poor)), samples=5000)
    assert found["bleu"]["p_value"] == pytest.approx(paired[1]["BLEU"]["p_value"], abs=0.03)
