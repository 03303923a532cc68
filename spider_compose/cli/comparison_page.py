"""Configs compared on one HTML page: a picture beside every number, and what each number means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from spider_compose.cli.comparison import SIDES, Figure, Measured, figures, not_compared_lines
from spider_compose.composition.statistics import LengthDistribution, bin_labels
from spider_compose.page.document import document, facts, signature, text_of
from spider_compose.page.markup import Markup, element, escape, join

_EN_DASH = "\N{EN DASH}"


@dataclass(frozen=True)
class _Measure:
    """A figure of `comparison.figures`: its name, what it means, and where it comes from."""

    name: str
    meaning: str
    source: str


_MEASURES = (
    _Measure(
        "Compound divergence",
        join(
            "How differently the two parts put queries together. Compounds are chains of two or three nodes "
            "of a parse tree, p and q their shares in training and held-out part: D = 1 − Σ p",
            element("sup", "0.1"),
            " q",
            element("sup", "0.9"),
            ". 0: the same compounds as often; 1: none in common.",
        ),
        "Keysers et al. 2020; Shaw et al. 2021, section 4",
    ),
    _Measure(
        "Rows with an unseen atom",
        "Held-out rows with a token that no training row has. A model cannot know such a word, so a split "
        "that asks for composition alone has none.",
        "Shaw et al. 2021, section 4",
    ),
    _Measure(
        "Templates seen in training",
        "A template is a query with its numbers and quoted values blanked out. Held-out templates that "
        "training has too can be answered by filling in values.",
        "Finegan-Dollak et al. 2018, section 4",
    ),
    _Measure(
        "Clauses seen in training",
        "Distinct held-out clauses that training has too, by canonical text: letter case, spacing and "
        "aliases of tables do not count, values do.",
        "Chen et al. 2024, section 5, experiment 2",
    ),
    _Measure(
        "Rows made of seen clauses",
        "Held-out rows all of whose clauses training has. What is new in them is the composition alone.",
        "Chen et al. 2024, section 5",
    ),
    _Measure(
        "Rows outside the grammar",
        "Training / held-out rows that are no whole query of the grammar: recombined pairs without SELECT, "
        "such as “WHERE age > 3”, have no parse tree. Compound divergence leaves them out; all other figures "
        "count them.",
        "the grammars: Shaw et al. 2021; sqlglot",
    ),
)

_REFERENCES = (
    "Chen et al. 2024. Combinatorial Generalization Ability Evaluation Method of SQL-to-text Model. Computer "
    "Engineering 50(3). doi:10.19678/j.issn.1000-3428.0067251",
    "Finegan-Dollak et al. 2018. Improving Text-to-SQL Evaluation Methodology. ACL. doi:10.18653/v1/P18-1033",
    "Keysers et al. 2020. Measuring Compositional Generalization: A Comprehensive Method on Realistic Data. "
    "ICLR.",
    "Shaw et al. 2021. Compositional Generalization and Natural Language Variation: Can a Semantic Parsing "
    "Approach Handle Both? ACL. doi:10.18653/v1/2021.acl-long.75",
)


def render_page(title: str, measured: Sequence[Measured], without: Mapping[str, str] | None = None) -> str:
    """The page.

    Args:
        title: what the configs come from.
        without: why a config is not among them.
    """
    notes = [f"not made: {name}: {reason}" for name, reason in (without or {}).items()]
    sections = [_sizes(measured)]
    if any(config.reports for config in measured):
        sections.append(_comparison(measured))
    sections += [_lengths(measured, side, name) for side, name in SIDES]
    return document(
        f"SpiderCompose: splits of {title}",
        element("a", "Skip to the figures", class_="skip", href="#figures"),
        element("header", _summary(title, measured, [*notes, *not_compared_lines(measured)]), class_="top"),
        element("main", *(join("\n", section) for section in sections), id="figures", tabindex="-1"),
        element("footer", _sources(measured)),
        styles=(text_of("charts.css"),),
        class_="charts",
    )


def _summary(title: str, measured: Sequence[Measured], notes: Sequence[str]) -> Markup:
    grammars = dict.fromkeys(config.grammar for config in measured if config.reports)
    named = {"spider": "Spider's", "sqlglot": "sqlglot's"}
    told = [("Source", title), ("Configs", f"{len(measured)}")]
    if grammars:
        told.append(("Grammar of the compounds", " and ".join(named.get(name, name) for name in grammars)))
    return join(
        element("h1", "How far training and test are apart"),
        element(
            "p",
            "A test asks for generalisation only as far as it differs from training: what the held-out rows "
            "of each config have in common with its training rows, and how long both are.",
            class_="lead",
        ),
        facts(*told),
        *(element("p", note, class_="note") for note in notes),
    )


def _sizes(measured: Sequence[Measured]) -> Markup:
    splits = list(dict.fromkeys(split for config in measured for split in config.sizes))
    head = element("tr", *(element("th", name, scope="col") for name in ("Config", *splits, "What it is")))
    lines = [
        element(
            "tr",
            element("th", config.name, scope="row"),
            *(element("td", _count(config.sizes.get(split)), class_="number") for split in splits),
            element("td", *_with_code(config.description), class_="what"),
        )
        for config in measured
    ]
    table = element("table", element("thead", head), element("tbody", *lines), class_="sizes")
    return element("section", element("h2", "Rows"), element("div", table, class_="wide"))


def _with_code(text: str) -> list[Markup]:
    """Text with what stands between backticks as code."""
    return [
        element("code", piece) if place % 2 else escape(piece) for place, piece in enumerate(text.split("`"))
    ]


def _count(number: int | None) -> str:
    return _EN_DASH if number is None else f"{number:,}"


def _comparison(measured: Sequence[Measured]) -> Markup:
    compared = [
        (config.name, split, figures(report))
        for config in measured
        for split, report in config.reports.items()
    ]
    panels = [
        _panel(measure, [(config, split, found[place]) for config, split, found in compared])
        for place, measure in enumerate(_MEASURES)
    ]
    return element(
        "section",
        element("h2", "Training against the held-out part"),
        element("div", *panels, class_="panels"),
    )


def _panel(measure: _Measure, lines: Sequence[tuple[str, str, Figure]]) -> Markup:
    rows = [
        element(
            "tr",
            element("th", config, " ", element("span", split, class_="part"), scope="row"),
            element("td", _bar(figure.share), class_="picture"),
            element("td", figure.told, class_="number"),
        )
        for config, split, figure in lines
    ]
    return element(
        "article",
        element("h3", measure.name),
        element("p", measure.meaning, " ", element("cite", measure.source), class_="meaning"),
        element("table", element("tbody", *rows), class_="bars"),
    )


def _bar(share: float | None) -> Markup:
    """A bar from 0 to 1; the number stands beside it, so it is no picture of its own to a reader aloud."""
    width = 0.0 if share is None else 100 * share
    return element(
        "svg",
        element("rect", class_="track", width="100", height="10"),
        element("rect", class_="bar", width=f"{width:.2f}", height="10"),
        viewBox="0 0 100 10",
        preserveAspectRatio="none",
        aria_hidden="true",
    )


def _lengths(measured: Sequence[Measured], side: str, name: str) -> Markup:
    splits = list(dict.fromkeys(split for config in measured for split in config.sizes))
    key = element("ul", *(element("li", split, class_=f"part-{split}") for split in splits), class_="parts")
    distributions = {
        config.name: {split: getattr(one.all, side) for split, one in config.lengths.splits.items()}
        for config in measured
    }
    labels = bin_labels(getattr(measured[0].lengths, f"{side}_bins")) if measured else []
    top = max(
        (
            _share(one, place)
            for found in distributions.values()
            for one in found.values()
            for place in range(len(labels))
        ),
        default=0.0,
    )
    panels = [_histogram(config, found, labels, top) for config, found in distributions.items()]
    return element(
        "section",
        element("h2", f"Length of {name}"),
        element(
            "p",
            "In words and signs, ",
            element("code", "count(*)"),
            " being 4. Share of the rows of each part by length; the vertical scale is the same everywhere. ",
            element("cite", "Chen et al. 2024, tables 5 to 8"),
            class_="meaning",
        ),
        key,
        element("div", *panels, class_="panels"),
    )


def _histogram(
    config: str, parts: Mapping[str, LengthDistribution], labels: Sequence[str], top: float
) -> Markup:
    head = element(
        "tr", *(element("th", name, scope="col") for name in ("", "rows", "mean", "median", "P90", "max"))
    )
    lines = [
        element(
            "tr",
            element("th", split, scope="row", class_=f"part-{split}"),
            *(element("td", value, class_="number") for value in _numbers(one)),
        )
        for split, one in parts.items()
    ]
    return element(
        "article",
        element("h3", config),
        _bars(parts, labels, top),
        element("table", element("thead", head), element("tbody", *lines), class_="numbers"),
    )


def _numbers(one: LengthDistribution) -> list[str]:
    return [
        f"{one.count:,}",
        *(_EN_DASH if value is None else f"{value:.1f}" for value in (one.mean, one.median)),
        *(_EN_DASH if value is None else f"{value}" for value in (one.p90, one.maximum)),
    ]


# The picture's own units; it is scaled to the width of its place.
_WIDTH, _HEIGHT, _LEFT, _BELOW, _ABOVE = 340, 170, 42, 20, 8


def _bars(parts: Mapping[str, LengthDistribution], labels: Sequence[str], top: float) -> Markup:
    """Bars side by side per bin, with lines for every quarter of the highest share there is anywhere."""
    height = _HEIGHT - _ABOVE - _BELOW
    place = (_WIDTH - _LEFT) / len(labels)
    step = next(step for step in (0.05, 0.1, 0.2, 0.25) if top <= 4 * step or step == 0.25)
    scale = height / max(top, step)
    drawn: list[Markup] = []
    for number in range(int(top / step + 1e-9) + 1):
        y = f"{_HEIGHT - _BELOW - number * step * scale:.1f}"
        drawn.append(element("line", class_="grid", x1=f"{_LEFT}", x2=f"{_WIDTH}", y1=y, y2=y))
        drawn.append(element("text", f"{100 * number * step:.0f} %", class_="y", x=f"{_LEFT - 5}", y=y))
    for bin_, label in enumerate(labels):
        start = _LEFT + place * bin_
        width = 0.8 * place / max(1, len(parts))
        for order, (split, one) in enumerate(parts.items()):
            share = _share(one, bin_)
            tall = share * scale
            told = f"{split}, {label}: {100 * share:.1f} % ({one.bins[bin_]:,} rows)"
            drawn.append(
                element(
                    "rect",
                    element("title", told),
                    class_=f"part-{split}",
                    x=f"{start + 0.1 * place + order * width:.2f}",
                    y=f"{_HEIGHT - _BELOW - tall:.2f}",
                    width=f"{width:.2f}",
                    height=f"{tall:.2f}",
                )
            )
        text = label.replace("-", _EN_DASH)
        drawn.append(element("text", text, class_="x", x=f"{start + place / 2:.1f}", y=f"{_HEIGHT - 6}"))
    told = "; ".join(
        f"{split} median {_EN_DASH if one.median is None else f'{one.median:g}'}"
        for split, one in parts.items()
    )
    return element(
        "svg",
        *drawn,
        class_="histogram",
        viewBox=f"0 0 {_WIDTH} {_HEIGHT}",
        role="img",
        aria_label=f"Lengths: {told}",
    )


def _share(one: LengthDistribution, place: int) -> float:
    return one.bins[place] / one.count if one.count else 0.0


def _sources(measured: Sequence[Measured]) -> Markup:
    return join(
        element("h2", "Sources"),
        element("ul", *(element("li", reference) for reference in _REFERENCES), class_="references"),
        element("h2", "Signatures"),
        *(join("\n", signature(config.signature, config.name)) for config in measured),
    )
