"""Model cards: one per model and experiment, every figure from the reports."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from string import Template
from typing import Any

from spider_compose.errors import MissingExtraError
from spider_compose.experiments.card_use import how_to_use
from spider_compose.experiments.cells import EXPERIMENTS, MODELS, card_name, model_title
from spider_compose.experiments.error_tables import error_kinds
from spider_compose.experiments.figures import Results
from spider_compose.experiments.paper_tables import FIRST, SECOND, experiment_title
from spider_compose.experiments.reports import Report, number, write_whole
from spider_compose.experiments.tables import (
    SINGLE,
    code,
    escaped,
    figure_entry,
    listed,
    p_entry,
    told_number,
)

_METRICS = {
    "bleu": ("bleu", "BLEU"),
    "bleu_multi_reference": ("bleu", "BLEU, several references"),
    "exact_match": ("exact_match", "exact match"),
    "normalized_exact_match": ("exact_match", "normalised exact match"),
    "chrf": ("chrf", "chrF"),
}
"""Metrics on the card: their type and name on the Hub."""

_DESCRIPTIONS = {
    "bilstm": "a bidirectional LSTM over canonical SQL",
    "abs": "a transformer with absolute positions over canonical SQL",
    "rel": "a transformer with relative positions over canonical SQL",
    "treelstm": "a child-sum TreeLSTM over the query's tree",
    "rgt": "a relation-aware graph transformer over the query's tree",
}

_PAPERS = {
    "bilstm": "Graves and Schmidhuber 2005",
    "abs": "Vaswani et al. 2017",
    "rel": "Shaw et al. 2018",
    "treelstm": "Tai et al. 2015",
    "rgt": "Ma et al. 2021",
}

_OWN_BAR = re.compile(r"(?<!\\)\|")  # that would open a cell

_SPIDER = "spider 1.0"
"""How the signature of a dataset names Spider as its source, but for case and hyphen."""


def write_cards(results: Results, folder: Path) -> list[Path]:
    """Write a card for every model and experiment that has a report.

    Raises:
        MissingExtraError: no YAML writer is installed.
        OSError: the folder cannot be written.
    """
    written = []
    for model in results.models:
        for experiment in results.experiments:
            if results.of(model, experiment):
                path = folder / card_name(model, experiment)
                write_whole(path, render_card(results, model, experiment).encode())
                written.append(path)
    return written


def render_card(
    results: Results,
    model: str,
    experiment: str,
    *,
    repository: str | None = None,
    dataset_repository: str | None = None,
) -> str:
    """The card of a model in an experiment, all its seeds together.

    Args:
        results: reports, of this model and others.
        model: of which model.
        experiment: and in which experiment.
        repository: owner/name on the Hub that the card is for; None for a card of a folder.
        dataset_repository: owner/name of the dataset on the Hub; None where it is not there.
    """
    template = resources.files(__package__).joinpath("model_card.md").read_text(encoding="utf-8")
    reports = list(results.of(model, experiment).values())
    return Template(template).substitute(
        header=_header(results, model, experiment, reports, dataset_repository),
        title=escaped(_title(model, experiment, reports)),
        introduction=_introduction(model, experiment, reports),
        use=how_to_use(reports[0], repository),
        scores=_scores(results, model, experiment, reports),
        scores_notes=_scores_notes(reports),
        by_num_clauses=_by_num_clauses(results, model, experiment),
        other_experiments=_other_experiments(results, model, experiment),
        errors=_errors(results, model, experiment),
        training=_training(reports),
        settings=_settings(reports),
        limits=_limits(model, experiment, reports),
        signatures="\n".join(
            f"seed {report.identity.seed}: {code(report.text('signature')).strip('`')}" for report in reports
        ),
        citation=_citation(model, reports),
    )


def _title(model: str, experiment: str, reports: Sequence[Report]) -> str:
    return f"{model_title(model)}, SQL to English, {_named(experiment, reports)}"


def _named(experiment: str, reports: Sequence[Report]) -> str:
    """The dataset of an experiment, in words."""
    on_compose = {
        FIRST: "SpiderCompose experiment 1",
        SECOND: "SpiderCompose experiment 2",
        "compose_control": "SpiderCompose control",
        "compose_paper": "SpiderCompose with the paper's aligner",
    }
    named = on_compose.get(experiment, f"{experiment_title(experiment)} split")
    return named if _of_spider(reports) else f"{named}, of another corpus"


def _header(
    results: Results, model: str, experiment: str, reports: Sequence[Report], dataset_repository: str | None
) -> str:
    try:
        import yaml
    except ImportError as error:
        raise MissingExtraError("model cards need PyYAML: pip install 'spider-compose[data]'") from error
    metrics = []
    for name, (kind, title) in _METRICS.items():
        mean = results.figure(model, experiment, name).mean
        if mean is not None:
            metrics.append({"type": kind, "name": title, "value": round(mean, 2)})
    dataset: dict[str, Any] = {
        "type": dataset_repository or "spider_compose",
        "name": _named(experiment, reports),
    }
    config = reports[0].part("dataset").get("config")
    if config and isinstance(config, str):  # a foreign report may say anything
        dataset["config"] = config
    dataset["split"] = _test_split(experiment)
    of_spider = _of_spider(reports)
    datasets = [dataset_repository] if dataset_repository else []
    datasets += ["xlangai/spider"] if of_spider else []
    header = {
        "language": ["en"],
        **({"license": "cc-by-sa-4.0"} if of_spider else {}),
        "library_name": "transformers",
        "pipeline_tag": "translation",
        "tags": ["sql-to-text", "compositional-generalization", "spider-compose", model.split("/")[-1]],
        **({"datasets": datasets} if datasets else {}),
        **({"base_model": model} if model not in MODELS else {}),
        "metrics": sorted({str(metric["type"]) for metric in metrics}),
        "model-index": [
            {
                "name": f"{model_title(model)} on {_named(experiment, reports)}",
                "results": [
                    {
                        "task": {"type": "translation", "name": "SQL-to-text"},
                        "dataset": dataset,
                        "metrics": metrics,
                    }
                ],
            }
        ],
    }
    return str(yaml.safe_dump(header, sort_keys=False, allow_unicode=True)).rstrip()


def _test_split(experiment: str) -> str:
    return "validation" if experiment == "spider" else "test"


def _of_spider(reports: Sequence[Report]) -> bool:
    signatures = (str(report.part("dataset").get("signature")) for report in reports)
    return all(_SPIDER in signature.lower().replace("-", " ") for signature in signatures)


def _introduction(model: str, experiment: str, reports: Sequence[Report]) -> str:
    described = _DESCRIPTIONS.get(model, "a pretrained sequence-to-sequence model")
    paper = f" ({_PAPERS[model]})" if model in _PAPERS else ""
    seeds = ", ".join(str(report.identity.seed) for report in reports)
    size = reports[0].text("size")
    return (
        f"Writes an English question for a SQL query. {escaped(model_title(model))} is {described}{paper}"
        + (", with an LSTM decoder that copies names and values from the query" if model in MODELS else "")
        + (f"; this is its {code(size)} size" if size else "")
        + f".\n\nTrained for {code(experiment)} ({EXPERIMENTS.get(experiment, 'an experiment of its own')}). "
        + _other_corpora(reports)
        + f"The card covers {_count(len(reports), 'training')} (seed {seeds})."
    )


def _other_corpora(reports: Sequence[Report]) -> str:
    """That the pairs are not those the experiment's name stands for, and whose they are."""
    if _of_spider(reports):
        return ""
    found = sorted({code(str(report.part("dataset").get("signature"))) for report in reports})
    return f"Its pairs are not made from Spider, but from another corpus: {listed(found)}. "


def _scores(results: Results, model: str, experiment: str, reports: Sequence[Report]) -> str:
    seeds = [report.identity.seed for report in reports]
    columns = ["metric", "mean", *(f"seed {seed}" for seed in seeds if len(seeds) > 1)]
    rows = []
    names = {**{name: title for name, (_, title) in _METRICS.items()}, "human": "human", "average": "average"}
    for name, title in names.items():
        figure = results.figure(model, experiment, name)
        if figure.mean is None:
            continue
        by_seed = [_plain(figure.by_seed.get(seed)) for seed in seeds if len(seeds) > 1]
        rows.append([title, str(figure_entry(figure)), *by_seed])
    return _markdown(columns, rows)


def _scores_notes(reports: Sequence[Report]) -> str:
    counts = sorted({report.num_items for report in reports})
    told = f"In percent, higher is better, on {' or '.join(f'{count:,}' for count in counts)} items. "
    if len(reports) == 1:
        told += f"{SINGLE}: one seed; in brackets the 95 % bootstrap interval over items."
    else:
        told += "In brackets the range over seeds."
    signatures = dict.fromkeys(str(report.metric("bleu").get("signature")) for report in reports)
    return f"{told} BLEU: {', '.join(map(code, signatures))}."


def _by_num_clauses(results: Results, model: str, experiment: str) -> str:
    rows = []
    for name in sorted(results.parts(experiment, "by_num_clauses"), key=lambda name: (len(name), name)):
        items, bleu, exact = (
            results.part(model, experiment, "by_num_clauses", name, metric)
            for metric in ("num_items", "bleu", "exact_match")
        )
        if bleu.mean is not None:
            rows.append(
                [escaped(name), _plain(items.mean, 0), str(figure_entry(bleu)), str(figure_entry(exact))]
            )
    return _markdown(["clauses", "items", "BLEU", "exact match"], rows) if rows else "Not measured."


def _other_experiments(results: Results, model: str, experiment: str) -> str:
    rows = [
        [
            f"**{escaped(experiment_title(other))}**"
            if other == experiment
            else escaped(experiment_title(other)),
            EXPERIMENTS.get(other, "").split(": ", 1)[-1],
            str(figure_entry(results.figure(model, other, "bleu"))),
            str(figure_entry(results.figure(model, other, "exact_match"))),
        ]
        for other in results.experiments
        if results.of(model, other)
    ]
    table = _markdown(["experiment", "trained on", "BLEU", "exact match"], rows)
    drop = results.difference((model, FIRST), (model, SECOND), "bleu")
    if drop.mean is None:
        return table
    p = str(p_entry(drop))
    return (
        f"{table}\n\nExp. 1 minus exp. 2, what the model makes of clauses it has seen: "
        f"{figure_entry(drop, signed=True)} BLEU"
        + (f", p {p if p.startswith('<') else f'= {p}'}" if p else "")
        + "."
    )


def _errors(results: Results, model: str, experiment: str) -> str:
    found = error_kinds(results, model, experiment)
    if not found:
        return "Not analysed."
    rows = [
        [escaped(kind), str(figure_entry(figure, digits=1))] for kind, figure in found.items() if figure.mean
    ]
    return (
        "Percent of test items with an error of the kind, found by rules over words; an item may have "
        f"several.\n\n{_markdown(['error', 'items, %'], rows)}"
    )


def _training(reports: Sequence[Report]) -> str:
    columns = ["seed", "training pairs", "epochs", "best epoch", "stopped", "validation BLEU", "CPU minutes"]
    rows = []
    for report in reports:
        seconds = report.amount("cpu_seconds")
        rows.append(
            [
                str(report.identity.seed),
                _plain(number(report.part("dataset").get("train_pairs")), 0),
                _plain(report.amount("epochs"), 0),
                _plain(report.amount("best_epoch"), 0),
                escaped(report.text("stopped")),
                _plain(_best(report)),
                _plain(None if seconds is None else seconds / 60, 0),
            ]
        )
    parameters = reports[0].amount("num_parameters")
    told = "The epoch with the best BLEU on validation was kept."
    if parameters is not None:
        told = f"{parameters:,.0f} parameters. {told}"
    return f"{told}\n\n{_markdown(columns, rows)}"


def _best(report: Report) -> float | None:
    """Validation BLEU of the epoch that was kept."""
    curve = report.content.get("curve")
    for entry in curve if isinstance(curve, list) else []:
        if isinstance(entry, Mapping) and entry.get("epoch") == report.content.get("best_epoch"):
            return number(entry.get("validation_bleu"))
    return None


def _settings(reports: Sequence[Report]) -> str:
    """Settings of the training and of the model; the cell itself is on top of the card already."""
    said = {"model", "experiment", "seed", "source"}
    rows = [
        [code(name), code(json.dumps(value, ensure_ascii=False))]
        for part in ("training", "configuration")
        for name, value in reports[0].part(part).items()
        if name not in said and value not in (None, {}, [], "")
    ]
    return _markdown(["setting", "value"], rows) if rows else ""


def _limits(model: str, experiment: str, reports: Sequence[Report]) -> str:
    lines = []
    if experiment.startswith("compose"):
        lines.append(
            "Trained on queries and parts of queries of one and two clauses; tested on three and more."
        )
    if experiment in (FIRST, "compose_paper", "compose_control"):
        lines.append(
            "Some test questions stand word for word in training, with fewer clauses in their SQL: the test "
            "asks for composition, not for new sentences."
        )
    if experiment == SECOND:
        lines.append(
            "No training pair holds any clause of the test, so names and values there are new to it."
        )
    if experiment == "spider":
        lines.append("Spider has no public test part: scores are those of its validation part.")
    if len(reports) == 1:
        lines.append("One seed: how far the scores move with the seed is not known.")
    if any(report.text("size") == "small" for report in reports):
        lines.append("The `small` size is made for CPUs; the paper's models are larger.")
    lines += [
        "English alone. What it writes can be fluent and wrong: do not rely on it unread.",
        "BLEU and exact match compare with one wording; a right question in other words scores low.",
    ]
    return "\n".join(f"- {line}" for line in lines)


def _citation(model: str, reports: Sequence[Report]) -> str:
    told = ""
    if model in _PAPERS:
        told += f" The encoder follows {_PAPERS[model]}."
    if _of_spider(reports):
        told += (
            " The pairs are derived from Spider (Yu et al. 2018,\n"
            "[doi:10.18653/v1/D18-1425](https://doi.org/10.18653/v1/D18-1425)), CC BY-SA 4.0."
        )
    return told


def _plain(value: float | None, digits: int = 2) -> str:
    if value is None:
        return ""
    return f"{value:,.0f}" if digits == 0 else told_number(value, digits=digits)


def _count(count: int, name: str) -> str:
    return f"{count} {name}{'s' * (count != 1)}"


def _markdown(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table; the first column is a name, the others are figures."""
    lines = [list(columns), ["---", *["---:"] * (len(columns) - 1)], *rows]
    kept = [[_OWN_BAR.sub(r"\\|", cell) for cell in line] for line in lines]
    return "\n".join(f"| {' | '.join(line)} |" for line in kept)
