"""BLEU and chrF: hand-computed values, and sacrebleu's own formula over any statistics."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("sacrebleu", reason="the extra `evaluation` is not installed")

from sacrebleu.metrics import BLEU, CHRF

from spider_compose.errors import MissingExtraError
from spider_compose.evaluation import bleu as bleu_module
from spider_compose.evaluation.bleu import bleu, bleu_statistics, corpus_bleu
from spider_compose.evaluation.chrf import chrf, chrf_statistics

WORDS = st.lists(st.sampled_from(["a", "b", "c", "the", "Name", "names", "?", "3.5", "it's"]), max_size=12)
TEXTS = WORDS.map(" ".join)


@pytest.mark.parametrize(
    ("predictions", "references", "expected"),
    [
        pytest.param(["a b c d e"], ["a b c d e"], 100, id="perfect"),
        # 5/6 words, 3/5 bigrams, 1/4 trigrams; no 4-gram of 3, which counts as half a match
        pytest.param(
            ["the cat sat on the mat"],
            ["the cat is on the mat"],
            100 * (5 / 6 * 3 / 5 * 1 / 4 * 0.5 / 3) ** 0.25,
            id="smoothed 4-grams",
        ),
        # the counts of both items are added up before the formula: 7/10, 5/8, 3/6, 2/4
        pytest.param(
            ["a b c d e"] * 2,
            ["a b c d e", "a b x y z"],
            100 * (0.7 * 0.625 * 0.5 * 0.5) ** 0.25,
            id="constant",
        ),
        pytest.param(["a b c d"], ["a b c d e f g h"], 100 * np.exp(1 - 8 / 4), id="too short"),
        pytest.param(["a b c"], ["a b c"], 0, id="no 4-gram at all"),
        pytest.param(["x y z w v"], ["a b c d e"], 0, id="nothing right"),
        pytest.param([""], ["a b c d e"], 0, id="empty"),
        pytest.param(["A B C D"], ["a b c d"], 0, id="case counts"),
        pytest.param(["a b c d?"], ["a b c d ?"], 100, id="13a splits the question mark"),
    ],
)
def test_bleu_by_hand(predictions: list[str], references: list[str], expected: float) -> None:
    assert corpus_bleu(predictions, references) == pytest.approx(expected)


def test_closest_reference_and_best_match_of_several() -> None:
    counts, signature = bleu_statistics(
        ["a b c d e", "x y z w"], [("a b c d", "x b c d e f g"), ("x y z w",)]
    )
    # 5 words against 4 (not 7); `e` is found in the second reference
    assert counts[0].tolist() == [5, 4, 5, 4, 3, 2, 5, 4, 3, 2]
    assert signature.startswith("nrefs:var|case:mixed|eff:no|tok:13a|smooth:exp|version:2.")


def test_chrf_by_hand() -> None:
    # Characters: ab against abc. 1-grams 2/2 and 2/3, 2-grams 1/1 and 1/2, 3-grams on one side only.
    precision, recall = 1.0, (2 / 3 + 1 / 2) / 2
    counts, signature = chrf_statistics(["ab"], [("abc",)])
    assert chrf(counts.sum(axis=0)) == pytest.approx(100 * 5 * precision * recall / (4 * precision + recall))
    assert signature.startswith("nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:2.")


@given(st.lists(st.tuples(TEXTS, TEXTS.filter(bool)), min_size=1, max_size=5))
def test_formulas_are_those_of_sacrebleu(pairs: list[tuple[str, str]]) -> None:
    predictions, references = map(list, zip(*pairs, strict=True))
    own = [(reference,) for reference in references]
    for metric, formula, count in ((BLEU(), bleu, bleu_statistics), (CHRF(), chrf, chrf_statistics)):
        counts, _ = count(predictions, own)
        expected = metric.corpus_score(predictions, [references]).score
        assert formula(counts.sum(axis=0)) == pytest.approx(expected, abs=1e-9)
        # over arrays as over one corpus
        each = [float(formula(row)) for row in counts]
        assert formula(counts).tolist() == pytest.approx(each, abs=1e-9)


def test_missing_sacrebleu_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(name: str) -> None:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    monkeypatch.setattr(bleu_module.importlib, "import_module", refuse)
    with pytest.raises(MissingExtraError, match=r"pip install 'spider-compose\[evaluation\]'"):
        corpus_bleu(["a"], ["a"])
