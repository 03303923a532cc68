"""Model cards: valid for the Hub, and every figure on them is one of the reports."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from spider_compose.experiments.cells import card_name
from spider_compose.experiments.figures import Results
from spider_compose.experiments.model_cards import render_card, write_cards

pytest.importorskip("numpy")

Make = Callable[..., Results]
Contents = list[dict[str, Any]]


@pytest.fixture
def contents(as_in_the_paper: Contents, report: Callable[..., dict[str, Any]]) -> Contents:
    """All five models, RGT with two seeds of experiment 1."""
    return [*copy.deepcopy(as_in_the_paper), report("rgt", "compose", 2, 57.0, 12.0)]


def test_golden(golden: Callable[[str, object], None], results: Make, contents: Contents) -> None:
    golden("experiments/rgt-compose.md", render_card(results(*contents), "rgt", "compose"))


def test_a_card_per_model_and_experiment(results: Make, contents: Contents, tmp_path: Path) -> None:
    written = write_cards(results(*contents), tmp_path / "cards")
    assert len(written) == len(set(written)) == 15
    assert sorted(one.name for one in (tmp_path / "cards").iterdir()) == sorted(one.name for one in written)
    assert card_name("google-t5/t5-small", "compose") == "google-t5_t5-small-compose.md"


def leaves(content: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Paths of all numbers."""
    if isinstance(content, dict):
        for key, value in content.items():
            yield from leaves(value, (*path, key))
    elif isinstance(content, int | float) and not isinstance(content, bool):
        yield path


# Figures of a report that are on its card; what the others feed (curves, tests) is told by its own test.
SHOWN = [
    ("seed",),
    ("num_items",),
    ("num_parameters",),
    ("epochs",),
    ("best_epoch",),
    ("cpu_seconds",),
    ("dataset", "train_pairs"),
    ("configuration", "hidden_size"),
    ("training", "epochs"),
    ("training", "learning_rate"),
    ("metrics", "bleu", "score"),
    ("metrics", "bleu", "low"),
    ("metrics", "bleu", "high"),
    ("metrics", "bleu_multi_reference", "score"),
    ("metrics", "exact_match", "score"),
    ("metrics", "normalized_exact_match", "score"),
    ("metrics", "chrf", "score"),
    ("metrics", "by_num_clauses", "3", "num_items"),
    ("metrics", "by_num_clauses", "3", "bleu"),
    ("metrics", "by_num_clauses", "3", "exact_match"),
    ("error_analysis", "kinds", "missing_clause", "share"),
]


@pytest.mark.parametrize("path", SHOWN, ids="-".join)
def test_a_changed_report_changes_its_card(results: Make, contents: Contents, path: tuple[str, ...]) -> None:
    changed = copy.deepcopy(contents)
    (one,) = [one for one in changed if (one["model"], one["experiment"]) == ("abs", "compose")]
    assert path in set(leaves(one))
    before = render_card(results(*contents), "abs", "compose")
    holder = one
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] += 7919
    after = render_card(results(*changed), "abs", "compose")
    assert after != before
    assert set(numbers(after)) - set(numbers(before)), "a new figure stands there"


def numbers(text: str) -> list[str]:
    return re.findall(r"\d[\d,.]*", text)


def test_another_experiment_changes_the_card_too(results: Make, contents: Contents) -> None:
    changed = copy.deepcopy(contents)
    for one in changed:
        if (one["model"], one["experiment"]) == ("abs", "compose_no_overlap"):
            one["metrics"]["bleu"]["score"] = 11.11
    card = render_card(results(*changed), "abs", "compose")
    assert "| exp. 2 | without the training pairs that hold a clause of the test | 11.11† [" in card
    assert "what the model makes of clauses it has seen: +50.89† [" in card


def test_what_is_not_there_is_not_claimed(results: Make, report: Callable[..., dict[str, Any]]) -> None:
    bare = {
        "dataset": {},
        "curve": [],
        "error_analysis": {},
        "configuration": {},
        "training": {},
        "items": {},
    }
    content = report("google-t5/t5-small", "spider", 1, 50) | bare
    content["metrics"] = {"bleu": {"score": 50.0}}
    card = render_card(results(content), "google-t5/t5-small", "spider")
    header = yaml.safe_load(card.split("---\n")[1])
    assert header["base_model"] == "google-t5/t5-small"
    assert "license" not in header
    assert "datasets" not in header
    assert header["model-index"][0]["results"][0]["dataset"]["split"] == "validation"
    assert "Not measured." in card
    assert "Not analysed." in card
    assert "exact match |" not in card.split("## Training")[0].split("### The same")[0]


def test_another_corpus_is_not_called_spider(results: Make, report: Callable[..., dict[str, Any]]) -> None:
    signature = "bundled (274 rows)/compose@12ab"
    card = render_card(
        results(report("rgt", "compose", 1, 30.0, dataset={"signature": signature})), "rgt", "compose"
    )
    assert "SpiderCompose experiment 1, of another corpus" in card.partition("\n# ")[2].partition("\n")[0]
    assert f"not made from Spider, but from another corpus: `{signature}`." in card
    assert "xlangai/spider" not in card and "license:" not in card


def test_the_header_is_valid_for_the_hub(results: Make, contents: Contents, tmp_path: Path) -> None:
    hub = pytest.importorskip("huggingface_hub")
    for path in write_cards(results(*contents), tmp_path):
        card = hub.ModelCard.load(path)
        data = card.data.to_dict()
        assert data["license"] == "cc-by-sa-4.0"
        assert data["datasets"] == ["xlangai/spider"]
        assert card.data.model_name
        # What the Hub's library reads from it and writes again is the same.
        assert hub.ModelCardData(**yaml.safe_load(str(card.data))).to_dict() == data
        assert hub.repocard.metadata_load(path) == yaml.safe_load(path.read_text("utf-8").split("---\n")[1])
    values = {
        (one.metric_type, one.metric_name): one.metric_value
        for one in hub.ModelCard.load(tmp_path / "rgt-compose.md").data.eval_results
    }
    assert values == {
        ("bleu", "BLEU"): 56.0,
        ("bleu", "BLEU, several references"): 57.0,
        ("exact_match", "exact match"): 11.0,
        ("exact_match", "normalised exact match"): 12.0,
        ("chrf", "chrF"): 76.0,
    }
