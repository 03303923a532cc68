"""The paper's tables 9 to 11, from reports, and what belongs beside them.

Tables 5 to 8, lengths of SQL and text, are those of `spider-compose stats`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from spider_compose.experiments.cells import MODELS, model_title
from spider_compose.experiments.figures import METRICS, Figure, Results, holm
from spider_compose.experiments.reports import number
from spider_compose.experiments.tables import Entry, Table, figure_entry, listed, p_entry

FIRST, SECOND, CONTROL = "compose", "compose_no_overlap", "compose_control"
"""Experiment 1, experiment 2, and what experiment 2 loses in pairs but not in clauses."""

BASELINES = (FIRST, "spider_template", "spider_tmcd", "spider")

TITLES = {
    FIRST: "exp. 1",
    SECOND: "exp. 2",
    CONTROL: "control",
    "spider_template": "template",
    "spider_tmcd": "TMCD",
    "spider": "Spider",
    "spider_length": "length",
    "spider_random": "random",
    "compose_paper": "exp. 1, paper's aligner",
}

RANGES = "\N{DAGGER}: one seed; else the mean over n seeds, with their range in round brackets."
HOW_TO_READ = (
    "Scores in percent, higher is better. \N{DAGGER}: one seed, with a 95 % interval over test items in "
    "square brackets; else the mean over n seeds, with their range in round brackets."
)


def experiment_title(experiment: str) -> str:
    """The experiment in the head of a column."""
    return TITLES.get(experiment, experiment)


def table_9(results: Results) -> Table:
    """Both experiments, their difference, and the control, per model and metric."""
    rows = []
    faults: list[str] = []
    models = _models(results, (FIRST, SECOND, CONTROL))
    for model in models:
        for metric, title in METRICS.items():
            drop = results.difference((model, FIRST), (model, SECOND), metric)
            kept = results.difference((model, CONTROL), (model, SECOND), metric)
            faults += [figure.fault for figure in (drop, kept) if figure.fault]
            first, second, control = (
                results.figure(model, experiment, metric) for experiment in (FIRST, SECOND, CONTROL)
            )
            rows.append(
                (
                    Entry(model_title(model)),
                    Entry(title),
                    figure_entry(first),
                    figure_entry(second),
                    figure_entry(drop, signed=True),
                    p_entry(drop),
                    figure_entry(control),
                    figure_entry(kept, signed=True),
                    p_entry(kept),
                )
            )
    columns = (
        "model", "metric", "exp. 1", "exp. 2", "exp. 1 \N{MINUS SIGN} exp. 2", "p",
        "control", "control \N{MINUS SIGN} exp. 2", "p",
    )  # fmt: skip
    return Table(
        "table_9",
        "Table 9: SpiderCompose with (exp. 1) and without (exp. 2) test clauses in training",
        columns,
        tuple(rows),
        (
            HOW_TO_READ,
            "Differences are over the seeds that both sides have. p: paired approximate randomization over "
            "test items, two-sided, not corrected for the number of tests; of several seeds the largest.",
            "The control drops as many training pairs as exp. 2, at random: control \N{MINUS SIGN} exp. 2 is "
            "the part of the difference that is not owed to fewer pairs, exp. 1 \N{MINUS SIGN} control the "
            "part that is.",
            *stopping_notes(results, (FIRST, SECOND, CONTROL)),
            *_told_human(results),
            *items_note(results, (FIRST, SECOND, CONTROL)),
            *missing_note(results, models, (FIRST, SECOND, CONTROL)),
            *(f"not compared: {fault}" for fault in dict.fromkeys(faults)),
        ),
        heads=2,
    )


def table_10(results: Results) -> Table:
    """SpiderCompose beside the baseline splits."""
    others = ("spider_length", "spider_random", "compose_paper")
    experiments = [*BASELINES, *(name for name in others if name in results.experiments)]
    models = _models(results, experiments)
    rows = [
        (
            Entry(model_title(model)),
            Entry(title),
            *(figure_entry(results.figure(model, experiment, metric)) for experiment in experiments),
        )
        for model in models
        for metric, title in METRICS.items()
    ]
    return Table(
        "table_10",
        "Table 10: the same models on SpiderCompose and on the baseline splits",
        ("model", "metric", *(experiment_title(experiment) for experiment in experiments)),
        tuple(rows),
        (
            HOW_TO_READ,
            "Each column has test items of its own, so that columns can be compared in kind, not item by "
            "item. Spider's public test part is its validation part; pairs of some of its training databases "
            "chose the epoch.",
            *_told_human(results),
            *items_note(results, experiments),
            *missing_note(results, models, experiments),
        ),
        heads=2,
    )


def table_11(results: Results) -> Table:
    """Both experiments by the number of clauses."""
    names = {*results.parts(FIRST, "by_num_clauses"), *results.parts(SECOND, "by_num_clauses")}
    models = _models(results, (FIRST, SECOND))
    rows = []
    for model in models:
        for name in sorted(names, key=lambda text: (len(text), text)):
            parts = {
                (experiment, metric): results.part(model, experiment, "by_num_clauses", name, metric)
                for metric in ("bleu", "exact_match")
                for experiment in (FIRST, SECOND)
            }
            items = {
                round(count)
                for experiment in (FIRST, SECOND)
                for count in results.part(
                    model, experiment, "by_num_clauses", name, "num_items"
                ).by_seed.values()
            }
            rows.append(
                (
                    Entry(model_title(model)),
                    Entry(name),
                    Entry(told_counts(items)),
                    *(
                        entry
                        for metric in ("bleu", "exact_match")
                        for entry in (
                            figure_entry(parts[FIRST, metric]),
                            figure_entry(parts[SECOND, metric]),
                            figure_entry(_minus(parts[FIRST, metric], parts[SECOND, metric]), signed=True),
                        )
                    ),
                )
            )
    minus = "1 \N{MINUS SIGN} 2"
    return Table(
        "table_11",
        "Table 11: by number of clauses",
        (
            "model", "clauses", "items",
            "BLEU, exp. 1", "exp. 2", minus, "exact match, exp. 1", "exp. 2", minus,
        ),
        tuple(rows),
        (
            HOW_TO_READ.replace(", with a 95 % interval over test items in square brackets", ""),
            "Parts with few items move a lot by chance.",
            *items_note(results, (FIRST, SECOND)),
            *missing_note(results, models, (FIRST, SECOND)),
        ),
        heads=2,
    )  # fmt: skip


def further_metrics(results: Results) -> Table:
    """What the paper does not have: more references, a kinder exact match, characters."""
    metrics = {
        "bleu_multi_reference": "BLEU, several references",
        "normalized_exact_match": "normalised exact match",
        "chrf": "chrF",
    }
    experiments = results.experiments
    rows = [
        (
            Entry(model_title(model)),
            Entry(title),
            *(figure_entry(results.figure(model, experiment, metric)) for experiment in experiments),
        )
        for model in results.models
        for metric, title in metrics.items()
    ]
    return Table(
        "further_metrics",
        "Several references, normalised exact match, chrF",
        ("model", "metric", *(experiment_title(experiment) for experiment in experiments)),
        tuple(rows),
        (
            HOW_TO_READ,
            "Several references: the questions of all test items of the same database and canonical SQL. "
            "Normalised: letter case, white space and punctuation do not count. chrF: characters, not words.",
            *items_note(results, experiments),
        ),
        heads=2,
    )


def significance_tables(results: Results) -> list[Table]:
    """Every two models against each other, per experiment."""
    tables = []
    for experiment in (FIRST, SECOND):
        models = [model for model in results.models if results.of(model, experiment)]
        pairs = [(one, other) for place, one in enumerate(models) for other in models[place + 1 :]]
        if not pairs:
            continue
        found = {
            (pair, metric): results.difference((pair[0], experiment), (pair[1], experiment), metric)
            for pair in pairs
            for metric in ("bleu", "exact_match")
        }
        kept = {
            metric: holm({pair: p for pair in pairs if (p := found[pair, metric].p_value) is not None})
            for metric in ("bleu", "exact_match")
        }
        rows = []
        for pair in pairs:
            entries = []
            for metric in ("bleu", "exact_match"):
                figure = found[pair, metric]
                entries += [figure_entry(figure, signed=True), p_entry(figure, pair in kept[metric])]
            rows.append((Entry(f"{model_title(pair[0])} \N{MINUS SIGN} {model_title(pair[1])}"), *entries))
        tests = {
            metric: sum(found[pair, metric].p_value is not None for pair in pairs)
            for metric in ("bleu", "exact_match")
        }
        faults = dict.fromkeys(figure.fault for figure in found.values() if figure.fault)
        tables.append(
            Table(
                f"significance_{experiment}",
                f"Models against each other, {experiment_title(experiment)}",
                ("difference", "BLEU", "p", "exact match", "p"),
                tuple(rows),
                (
                    "Over the seeds that both models have; p as in table 9. *: significant at 5 % when "
                    f"{_told_tests(tests)} are made at once (Holm).",
                    *items_note(results, (experiment,)),
                    *(f"not compared: {fault}" for fault in faults),
                ),
            )
        )
    return tables


def training_table(results: Results) -> Table:
    """What was trained: sizes, pairs, epochs, time."""
    rows = []
    for model in results.models:
        for experiment in results.experiments:
            reports = results.of(model, experiment)
            if not reports:
                continue
            first = next(iter(reports.values()))
            pairs = number(first.part("dataset").get("train_pairs"))
            rows.append(
                (
                    Entry(model_title(model)),
                    Entry(experiment_title(experiment)),
                    Entry(", ".join(str(seed) for seed in reports)),
                    Entry(_millions(first.amount("num_parameters"))),
                    Entry("" if pairs is None else f"{pairs:,.0f}"),
                    Entry(f"{first.num_items:,}"),
                    Entry(", ".join(_plain(report.amount("epochs")) for report in reports.values())),
                    Entry(", ".join(_plain(report.amount("best_epoch")) for report in reports.values())),
                    Entry(", ".join(report.text("stopped") for report in reports.values())),
                    Entry(", ".join(_minutes(report.amount("cpu_seconds")) for report in reports.values())),
                )
            )
    total = [seconds for report in results.reports if (seconds := report.amount("cpu_seconds")) is not None]
    return Table(
        "training",
        "What was trained",
        (
            "model", "experiment", "seeds", "parameters", "training pairs", "test items", "epochs", "best",
            "stopped", "CPU minutes",
        ),
        tuple(rows),
        (
            "Epochs, the best of them on validation, why training stopped and CPU minutes stand seed by "
            "seed. Stopped early: no better BLEU on validation for as many epochs as the settings wait.",
            f"{len(results.reports)} trainings, {sum(total) / 3600:.1f} CPU hours in all.",
        ),
        heads=2,
    )  # fmt: skip


def _models(results: Results, experiments: Iterable[str]) -> list[str]:
    """The paper's five, so that what is missing has a row, and others that took part."""
    there = {model for name in experiments for model in results.models if results.of(model, name)}
    return [*MODELS, *(model for model in results.models if model in there and model not in MODELS)]


def _minus(first: Figure, second: Figure) -> Figure:
    return Figure(
        {
            seed: value - second.by_seed[seed]
            for seed, value in first.by_seed.items()
            if seed in second.by_seed
        }
    )


def _told_human(results: Results) -> list[str]:
    if results.ratings is None:
        return ["Nobody has rated these outputs: the human score, and with it the average, is empty."]
    strangers = results.rated_without_report
    lost = [f"Rated, but without a report here: {listed(strangers)}."] if strangers else []
    if len(strangers) == len(results.ratings["systems"]):
        return ["No report is of a rated system: the human score, and with it the average, is empty.", *lost]
    alpha, raters = results.ratings.get("alpha"), results.ratings.get("raters")
    told = f"Human: {raters} rater{'s' * (raters != 1)}, mean rating as percent of the scale"
    if number(alpha) is not None:
        told += f"; Krippendorff's alpha {alpha:.2f}"
    return [f"{told}. Average: of BLEU, human and exact match, where all three are there.", *lost]


def stopping_notes(results: Results, experiments: Iterable[str]) -> list[str]:
    """Which trainings the number of epochs cut off, and which stopped by themselves, the earliest first.

    What was cut off may have gone on to improve; what stopped early may have stopped too soon.
    """
    improving, cut_off, early = [], [], []
    for experiment in experiments:
        for report in results.reports:
            epochs, best = report.amount("epochs"), report.amount("best_epoch")
            if report.identity.experiment != experiment or epochs is None or best is None:
                continue
            told = f"{model_title(report.identity.model)} {experiment_title(experiment)}"
            if len(results.of(report.identity.model, experiment)) > 1:
                told += f" seed {report.identity.seed}"
            if report.text("stopped") == "early":
                early.append((epochs, f"{told} ({_plain(epochs)})"))
            elif report.text("stopped") == "epochs" and best < epochs:
                cut_off.append(f"{told} ({_plain(best)} of {_plain(epochs)})")
            elif report.text("stopped") == "epochs":
                improving.append(f"{told} ({_plain(epochs)})")
    early.sort(key=lambda one: one[0])
    notes = (
        ("Cut off while still improving, the last epoch (in brackets) the best", improving),
        ("Cut off before they would have stopped, after the best epoch in brackets", cut_off),
        ("Stopped early, the earliest first, after the epochs in brackets", [told for _, told in early]),
    )
    return [f"{what}: {listed(which)}." for what, which in notes if which]


def _told_tests(tests: Mapping[str, int]) -> str:
    """`all 10 tests of the column`; what could not be compared was no test."""
    if len(set(tests.values())) == 1:
        return f"all {next(iter(tests.values()))} tests of the column"
    told = (f"{count} of {METRICS[metric]}" for metric, count in tests.items())
    return f"all tests of a column ({', '.join(told)})"


def told_counts(counts: Iterable[int]) -> str:
    """`40`, or `39 and 40` where reports do not agree; nothing where there are none."""
    told = [f"{count:,}" for count in sorted(counts)]
    return listed(told) if told else ""


def items_note(results: Results, experiments: Iterable[str]) -> list[str]:
    """How many test items there are, per experiment; a note of its own where reports do not agree."""
    told = []
    for experiment in experiments:
        counts = {report.num_items for report in results.reports if report.identity.experiment == experiment}
        if counts:
            told.append(f"{experiment_title(experiment)}: {told_counts(counts)}")
    return [f"Test items: {'; '.join(told)}."] if told else []


def missing_note(results: Results, models: Iterable[str], experiments: Iterable[str]) -> list[str]:
    """Cells without a report, by experiment."""
    told = []
    models = list(models)
    for experiment in experiments:
        lacking = [model_title(model) for model in models if not results.of(model, experiment)]
        if lacking:
            told.append(f"{experiment_title(experiment)}: {listed(lacking)}")
    return [f"No report yet: {'; '.join(told)}."] if told else []


def _plain(value: float | None) -> str:
    return "?" if value is None else f"{round(value, 1):g}"


def _minutes(seconds: float | None) -> str:
    return "?" if seconds is None else f"{seconds / 60:.0f}"


def _millions(parameters: float | None) -> str:
    return "" if parameters is None else f"{parameters / 1e6:.1f} M"
