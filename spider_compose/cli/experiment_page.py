"""The report of the experiments on one HTML page: findings, pictures, tables."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from spider_compose.experiments.cells import MODELS, model_title
from spider_compose.experiments.figures import Figure, Results
from spider_compose.experiments.findings import AGREES, DIFFERS, OPEN, Finding, told_verdicts
from spider_compose.experiments.paper_tables import BASELINES, CONTROL, FIRST, SECOND, experiment_title
from spider_compose.experiments.report import ExperimentReport
from spider_compose.experiments.reports import Report, number
from spider_compose.experiments.tables import Entry, Table, told_number
from spider_compose.page.document import document, facts, signature, text_of
from spider_compose.page.markup import Markup, element, join

_VERDICTS = {AGREES: "yes", DIFFERS: "no", OPEN: "open"}

_REFERENCES = (
    "Chen et al. 2024. Combinatorial Generalization Ability Evaluation Method of SQL-to-text Model. Computer "
    "Engineering 50(3). doi:10.19678/j.issn.1000-3428.0067251",
    "Noreen 1989. Computer-Intensive Methods for Testing Hypotheses (approximate randomization).",
    "Koehn 2004. Statistical Significance Tests for Machine Translation Evaluation. EMNLP (bootstrap).",
    "Holm 1979. A Simple Sequentially Rejective Multiple Test Procedure. Scandinavian Journal of Statistics "
    "6(2).",
)


def render_page(report: ExperimentReport) -> str:
    """The page."""
    results = report.results
    sections = [_findings(report.findings), _pictures(results)]
    sections += [_tables(heading, tables) for heading, tables in report.sections.items()]
    sections.append(_curves(results))
    return document(
        "SpiderCompose: experiments",
        element("a", "Skip to the findings", class_="skip", href="#findings"),
        element("header", _summary(report), class_="top"),
        element("main", *(join("\n", section) for section in sections if section), tabindex="-1"),
        element("footer", _sources(results)),
        styles=(text_of("charts.css"), text_of("experiment.css", __package__)),
        class_="charts experiments",
    )


def _summary(report: ExperimentReport) -> Markup:
    results = report.results
    seconds = [value for one in results.reports if (value := one.amount("cpu_seconds")) is not None]
    sizes = sorted({one.text("size") for one in results.reports} - {""})
    told = [
        ("Trainings", f"{len(results.reports):,}"),
        ("Models", ", ".join(map(model_title, results.models))),
        ("Size", " and ".join(sizes) or "not said"),
        ("Time", f"{sum(seconds) / 3600:.1f} CPU hours"),
        ("Findings of the paper", told_verdicts(report.findings)),
    ]
    return join(
        element("h1", "How much of a translation is composed"),
        element(
            "p",
            "Models that write English for SQL, tested on queries of three clauses and more after training "
            "on one and two: once with every clause of the test in training (exp. 1), once with none (exp. "
            "2). The difference is what a model makes of clauses it knows.",
            class_="lead",
        ),
        facts(*told),
    )


def _findings(findings: Sequence[Finding]) -> Markup:
    return element(
        "section",
        element("h2", "Findings of the paper, from our reports"),
        *(
            element(
                "article",
                element(
                    "h3",
                    finding.statement,
                    " ",
                    element("span", finding.verdict, class_=f"verdict {_VERDICTS[finding.verdict]}"),
                ),
                element("p", finding.reading, class_="meaning"),
                element("ul", *(element("li", line) for line in finding.evidence), class_="evidence"),
            )
            for finding in findings
        ),
        id="findings",
    )


@dataclass(frozen=True)
class _Series:
    """Bars of one colour: what they stand for, its class, and a figure per group."""

    name: str
    class_: str
    figures: Sequence[Figure]


def _pictures(results: Results) -> Markup:
    models = [*MODELS, *(model for model in results.models if model not in MODELS)]
    groups = [model_title(model) for model in models]

    def series(experiments: Sequence[str], metric: str) -> list[_Series]:
        return [
            _Series(
                experiment_title(experiment),
                f"s{place}",
                [results.figure(model, experiment, metric) for model in models],
            )
            for place, experiment in enumerate(experiments)
        ]

    panels = []
    for title, metric, experiments in (
        ("BLEU on SpiderCompose", "bleu", (FIRST, SECOND, CONTROL)),
        ("Exact match on SpiderCompose", "exact_match", (FIRST, SECOND, CONTROL)),
        ("BLEU on SpiderCompose and baseline splits", "bleu", BASELINES),
        ("Exact match on SpiderCompose and baseline splits", "exact_match", BASELINES),
    ):
        shown = series(experiments, metric)
        key = element("ul", *(element("li", one.name, class_=one.class_) for one in shown), class_="parts")
        panels.append(element("article", element("h3", title), key, _bars(groups, shown, title)))
    return element(
        "section",
        element("h2", "Scores"),
        element(
            "p",
            "In percent; higher is better. Lines: the range over seeds; of a single seed, the 95 % interval "
            "over test items. What has no report has no bar.",
            class_="meaning",
        ),
        element("div", *panels, class_="panels two"),
    )


# The pictures' own units; they are scaled to the width of their place.
_WIDTH, _HEIGHT, _LEFT, _BELOW, _ABOVE = 440, 220, 34, 24, 8


def _bars(groups: Sequence[str], series: Sequence[_Series], title: str) -> Markup:
    """Bars side by side per group, with their bounds."""
    figures = [figure for one in series for figure in one.figures]
    top = max((max(figure.mean or 0, *(figure.bounds or (0,))) for figure in figures), default=0)
    scale = _Scale(top)
    drawn = scale.lines()
    place = (_WIDTH - _LEFT) / len(groups)
    width = 0.8 * place / len(series)
    for group, name in enumerate(groups):
        start = _LEFT + place * group + 0.1 * place
        for order, one in enumerate(series):
            figure = one.figures[group]
            if figure.mean is None:
                continue
            x = start + order * width
            y = min(scale.y(figure.mean), scale.y(0) - 1)  # zero is a line, what is missing is none
            told = f"{name}, {one.name}: {_told(figure)}"
            drawn.append(
                element(
                    "rect",
                    element("title", told),
                    class_=one.class_,
                    x=f"{x:.2f}",
                    y=f"{y:.2f}",
                    width=f"{0.92 * width:.2f}",
                    height=f"{scale.y(0) - y:.2f}",
                )
            )
            if figure.bounds:
                middle = f"{x + 0.46 * width:.2f}"
                low, high = (f"{scale.y(bound):.2f}" for bound in figure.bounds)
                drawn.append(element("line", class_="bounds", x1=middle, x2=middle, y1=low, y2=high))
        drawn.append(
            element("text", name, class_="x", x=f"{_LEFT + place * (group + 0.5):.1f}", y=f"{_HEIGHT - 8}")
        )
    told = "; ".join(
        f"{name}: " + ", ".join(f"{one.name} {_told(one.figures[group])}" for one in series)
        for group, name in enumerate(groups)
    )
    return _svg(drawn, f"{title}. {told}")


def _told(figure: Figure) -> str:
    if figure.mean is None:
        return "no report"
    told = told_number(figure.mean, digits=1)
    if figure.bounds:
        low, high = (told_number(bound, digits=1) for bound in figure.bounds)
        told += f" ({low} to {high})"
    return told


def _curves(results: Results) -> Markup:
    """Validation BLEU and training loss by epoch, an experiment a picture."""
    panels = []
    for experiment in results.experiments:
        for name, title in (("validation_bleu", "validation BLEU"), ("train_loss", "training loss")):
            lines = [
                (report, points)
                for report in results.reports
                if report.identity.experiment == experiment and (points := _points(report, name))
            ]
            if lines:
                told = f"{experiment_title(experiment)}: {title}"
                panels.append(element("article", element("h3", told), _lines(lines, told)))
    if not panels:
        return Markup()
    key = element(
        "ul",
        *(
            element(
                "li",
                element(
                    "svg",
                    element("line", x1="0", x2="24", y1="5", y2="5", class_=f"curve {_line_class(model)}"),
                    viewBox="0 0 24 10",
                    aria_hidden="true",
                ),
                model_title(model),
            )
            for model in results.models
        ),
        class_="key-of-lines",
    )
    return element(
        "section",
        element("h2", "Curves"),
        element(
            "p",
            "By epoch; a line for each seed. The epoch with the best validation BLEU, marked by a dot, is "
            "the one that is tested. Validation BLEU is greedy and on a sample of other pairs.",
            class_="meaning",
        ),
        key,
        element("div", *panels, class_="panels two"),
    )


def _points(report: Report, name: str) -> list[tuple[float, float]]:
    curve = report.content.get("curve")
    found = []
    for entry in curve if isinstance(curve, list) else []:
        if isinstance(entry, Mapping):
            epoch, value = number(entry.get("epoch")), number(entry.get(name))
            if epoch is not None and value is not None:
                found.append((epoch, value))
    return found


def _lines(lines: Sequence[tuple[Report, Sequence[tuple[float, float]]]], title: str) -> Markup:
    epochs = max(1e-9, *(epoch for _, points in lines for epoch, _ in points))
    scale = _Scale(max(value for _, points in lines for _, value in points))
    drawn = scale.lines()

    def x(epoch: float) -> float:
        return _LEFT + (_WIDTH - _LEFT - 8) * epoch / max(epochs, 1)

    step = _nice_step(epochs, 6)
    for count in range(int(epochs / step + 1e-9) + 1):
        drawn.append(
            element("text", f"{count * step:g}", class_="x", x=f"{x(count * step):.1f}", y=f"{_HEIGHT - 8}")
        )
    for report, points in lines:
        model = report.identity.model
        path = " ".join(f"{x(epoch):.1f},{scale.y(value):.1f}" for epoch, value in points)
        told = f"{model_title(model)}, seed {report.identity.seed}"
        drawn.append(
            element("polyline", element("title", told), points=path, class_=f"curve {_line_class(model)}")
        )
        best = report.amount("best_epoch")
        for epoch, value in points:
            if epoch == best:
                drawn.append(
                    element(
                        "circle",
                        element("title", f"{told}: best epoch {epoch:g}, {value:.2f}"),
                        cx=f"{x(epoch):.1f}",
                        cy=f"{scale.y(value):.1f}",
                        r="3",
                        class_=f"best {_line_class(model)}",
                    )
                )
    ends = "; ".join(
        f"{model_title(report.identity.model)} seed {report.identity.seed} ends at {points[-1][1]:.1f}"
        for report, points in lines
    )
    return _svg(drawn, f"{title} by epoch. {ends}")


def _line_class(model: str) -> str:
    return f"m-{model}" if model in MODELS else "m-other"


class _Scale:
    """From zero to a round number at or above the highest value."""

    def __init__(self, top: float) -> None:
        top = top if top > 0 else 1  # nothing but zeros: percent or loss, an axis up to 1
        self.step = _nice_step(top, 4)
        self.top = self.step * math.ceil(top / self.step - 1e-9)

    def y(self, value: float) -> float:
        return _HEIGHT - _BELOW - (_HEIGHT - _BELOW - _ABOVE) * value / self.top

    def lines(self) -> list[Markup]:
        drawn = []
        for count in range(round(self.top / self.step) + 1):
            y = f"{self.y(count * self.step):.1f}"
            drawn.append(element("line", class_="grid", x1=f"{_LEFT}", x2=f"{_WIDTH}", y1=y, y2=y))
            drawn.append(element("text", f"{count * self.step:g}", class_="y", x=f"{_LEFT - 6}", y=y))
        return drawn


def _nice_step(top: float, parts: int) -> float:
    """The least of 1, 2, 2.5, 5 times a power of ten that reaches the top in so many steps."""
    rough = top / parts
    power = 10 ** math.floor(math.log10(rough))
    return next(step * power for step in (1, 2, 2.5, 5, 10) if step * power >= rough - 1e-12)


def _svg(drawn: Sequence[Markup], told: str) -> Markup:
    return element(
        "svg",
        *drawn,
        class_="histogram",
        viewBox=f"0 0 {_WIDTH} {_HEIGHT}",
        role="img",
        aria_label=told,
    )


def _tables(heading: str, tables: Sequence[Table]) -> Markup:
    return element("section", element("h2", heading), *map(_table, tables))


def _table(table: Table) -> Markup:
    def cell(entry: Entry, place: int) -> Markup:
        detail = element("small", entry.detail) if entry.detail else Markup()
        if place < table.heads:
            return element("th", entry.main, detail, scope="row")
        return element("td", entry.main, detail, class_="number")

    head = element(
        "tr",
        *(
            element("th", name, scope="col", class_=None if place < table.heads else "number")
            for place, name in enumerate(table.columns)
        ),
    )
    rows: list[Markup] = []
    before: Entry | None = None
    for row in table.rows:
        # A line above each new group; the name stands in every row for those who hear the table.
        opens = table.heads > 1 and before is not None and row[0] != before
        repeats = table.heads > 1 and row[0] == before
        classes = " ".join(name for name, there in (("opens", opens), ("repeats", repeats)) if there)
        rows.append(
            element("tr", *(cell(entry, place) for place, entry in enumerate(row)), class_=classes or None)
        )
        before = row[0]
    return element(
        "article",
        element("h3", table.title),
        element(
            "div",
            element("table", element("thead", head), element("tbody", *rows), class_="results"),
            class_="wide",
            tabindex="0",
            role="region",
            aria_label=table.title,
        ),
        *(element("p", note, class_="note") for note in table.notes),
        id=table.name,
    )


def _sources(results: Results) -> Markup:
    return join(
        element("h2", "Sources"),
        element("ul", *(element("li", reference) for reference in _REFERENCES), class_="references"),
        element("h2", "Signatures"),
        *(join("\n", signature(report.text("signature"), report.name)) for report in results.reports),
    )
