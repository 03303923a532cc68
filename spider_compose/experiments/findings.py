"""What the paper found, and whether our reports say the same.

Every verdict and every number is worked out from reports. Where the paper's words leave open what was meant
(a large drop, near zero), the threshold is ours and is printed with the finding.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from spider_compose.experiments.cells import MODELS, model_title
from spider_compose.experiments.figures import Figure, Results
from spider_compose.experiments.paper_tables import CONTROL, FIRST, SECOND
from spider_compose.experiments.tables import SINGLE, told_number

AGREES, DIFFERS, OPEN = "agrees", "does not agree", "not enough data"

LARGE_DROP = 5.0
"""BLEU points from which on a drop counts as large."""

NEAR_ZERO = 1.0
"""Exact match, in percent, up to which it counts as near zero: 2 of 200 items."""


@dataclass(frozen=True)
class Finding:
    """A statement, and what our reports say of it.

    Attributes:
        statement: of the paper, or a check of ours.
        reading: how it was put to the test.
        verdict: `AGREES`, `DIFFERS` or `OPEN`.
        evidence: the numbers, one line each.
        ours: whether it is our own check.
    """

    statement: str
    reading: str
    verdict: str
    evidence: tuple[str, ...]
    ours: bool = False

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def findings(results: Results) -> list[Finding]:
    """All findings, in the paper's order; the last is a check of ours."""
    return [
        _large_drop(results),
        _near_zero(results),
        _generalise_better(results),
        _rgt_best_without_overlap(results),
        _not_fewer_pairs(results),
    ]


def _large_drop(results: Results) -> Finding:
    drops = {model: results.difference((model, FIRST), (model, SECOND), "bleu") for model in MODELS}
    return Finding(
        "Without overlap the scores of all models drop by much.",
        f"BLEU of exp. 1 minus exp. 2 is at least {LARGE_DROP:g} points and significant (p < 0.05 with every "
        "seed), for each of the five.",
        _verdict(drops, lambda figure: _at_least(figure, LARGE_DROP) and figure.significant()),
        tuple(
            f"{model_title(model)}: {_two(results, model, 'bleu', drop)}, drop {_told(drop)}{_p(drop)}"
            for model, drop in drops.items()
        ),
    )


def _near_zero(results: Results) -> Finding:
    exact = {model: results.figure(model, SECOND, "exact_match") for model in MODELS}
    return Finding(
        "Without overlap exact match is near zero.",
        f"Exact match of exp. 2 is at most {NEAR_ZERO:g} %, for each of the five.",
        _verdict(exact, lambda figure: figure.mean is not None and figure.mean <= NEAR_ZERO),
        tuple(f"{model_title(model)}: {_two(results, model, 'exact_match')}" for model in exact),
    )


def _generalise_better(results: Results) -> Finding:
    compared = ("abs", "bilstm", "rel")
    drops = {
        model: results.difference((model, FIRST), (model, SECOND), "bleu") for model in (*compared, "rgt")
    }
    own = drops["rgt"].mean
    return Finding(
        "ABS, BiLSTM and REL generalise better than RGT.",
        "Read as: what a model gains from having seen the clauses, BLEU of exp. 1 minus exp. 2, is larger "
        "for each of the three than for RGT.",
        OPEN
        if own is None
        else _verdict({model: drops[model] for model in compared}, lambda figure: _above(figure, own)),
        tuple(
            f"{model_title(model)}: {_two(results, model, 'bleu', drop)}, gain {_told(drop)}"
            + ("" if model == "rgt" else _against_rgt(results, model, FIRST))
            for model, drop in drops.items()
        ),
    )


def _rgt_best_without_overlap(results: Results) -> Finding:
    scores = {model: results.figure(model, SECOND, "bleu") for model in MODELS}
    rgt = scores.pop("rgt")
    own = rgt.mean
    return Finding(
        "Without overlap RGT is the best.",
        "BLEU of exp. 2 is higher for RGT than for each of the other four.",
        OPEN
        if own is None
        else _verdict(scores, lambda figure: figure.mean is not None and figure.mean < own),
        (
            f"RGT: {_told(rgt)}",
            *(
                f"{model_title(model)}: {_told(figure)}{_against_rgt(results, model, SECOND)}"
                for model, figure in scores.items()
            ),
        ),
    )


def _not_fewer_pairs(results: Results) -> Finding:
    kept = {model: results.difference((model, CONTROL), (model, SECOND), "bleu") for model in MODELS}
    lines = []
    for model, figure in kept.items():
        control = _side(results, model, CONTROL, "bleu", figure)
        line = f"{model_title(model)}: control {_told(control)}, "
        line += f"control minus exp. 2 {_told(figure)}{_p(figure)}"
        fewer = results.difference((model, FIRST), (model, CONTROL), "bleu")
        if fewer.mean is not None:
            line += f", exp. 1 minus control {_told(fewer)}{_p(fewer)}"
        drop = results.difference((model, FIRST), (model, SECOND), "bleu").of_seeds(fewer.by_seed)
        if figure.mean is not None and drop.mean is not None:
            line += f", of a drop of {told_number(drop.mean, digits=1)}"
        lines.append(line)
    return Finding(
        "A check of ours: the drop is not owed to fewer training pairs alone.",
        "BLEU of the control, which has lost as many pairs at random, minus exp. 2 is above zero and "
        "significant (p < 0.05 with every seed), for each of the five. Exp. 1 minus the control is the part "
        "of the drop that fewer pairs alone account for.",
        _verdict(kept, lambda figure: _above(figure, 0.0) and figure.significant()),
        tuple(lines),
        ours=True,
    )


def _verdict(figures: dict[str, Figure], holds: Callable[[Figure], bool]) -> str:
    """One counter-example decides; to agree, all must be there."""
    there = [figure for figure in figures.values() if figure.mean is not None and not figure.fault]
    if not all(map(holds, there)):
        return DIFFERS
    return AGREES if len(there) == len(figures) else OPEN


def _at_least(figure: Figure, value: float) -> bool:
    return figure.mean is not None and figure.mean >= value


def _above(figure: Figure, value: float) -> bool:
    return figure.mean is not None and figure.mean > value


def _two(results: Results, model: str, metric: str, difference: Figure | None = None) -> str:
    first, second = (
        _told(_side(results, model, experiment, metric, difference)) for experiment in (FIRST, SECOND)
    )
    return f"exp. 1 {first}, exp. 2 {second}"


def _side(results: Results, model: str, experiment: str, metric: str, difference: Figure | None) -> Figure:
    """What stands beside a difference is over its seeds, so that the numbers of a line belong together."""
    figure = results.figure(model, experiment, metric)
    return figure.of_seeds(difference.by_seed) if difference is not None and difference.by_seed else figure


def _told(figure: Figure) -> str:
    if figure.mean is None:
        return "no report"
    return told_number(figure.mean, digits=1) + (SINGLE if figure.single else "")


def _p(figure: Figure) -> str:
    if figure.p_value is None:
        return ""
    return " (p < 0.001)" if figure.p_value < 0.001 else f" (p = {figure.p_value:.3f})"


def _against_rgt(results: Results, model: str, experiment: str) -> str:
    """How a model and RGT differ, with its p-value: a ranking by chance is none."""
    figure = results.difference((model, experiment), ("rgt", experiment), "bleu")
    if figure.mean is None:
        return ""
    which = "exp. 1" if experiment == FIRST else "exp. 2"
    return f"; minus RGT in {which}: {told_number(figure.mean, signed=True, digits=1)}{_p(figure)}"


def render_text(found: Sequence[Finding]) -> str:
    """All findings as text."""
    return "\n\n".join(
        "\n".join([f"{one.statement}  {one.verdict.upper()}", f"  {one.reading}", *_indented(one.evidence)])
        for one in found
    )


def render_markdown(found: Sequence[Finding]) -> str:
    """All findings as Markdown."""
    return "\n".join(
        "\n".join([f"- **{one.statement}** {one.verdict}. {one.reading}", *_bullets(one.evidence)])
        for one in found
    )


def told_verdicts(found: Sequence[Finding]) -> str:
    """How many of the paper's findings hold here, in a few words."""
    words = {AGREES: "agree", DIFFERS: "do not", OPEN: "open"}
    verdicts = [one.verdict for one in found if not one.ours]
    return ", ".join(
        f"{verdicts.count(verdict)} {word}" for verdict, word in words.items() if verdict in verdicts
    )


def _indented(lines: Sequence[str]) -> list[str]:
    return [f"    {line}" for line in lines]


def _bullets(lines: Sequence[str]) -> list[str]:
    return [f"  - {line}" for line in lines]
