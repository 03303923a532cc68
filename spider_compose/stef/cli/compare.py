"""`stef compare A B`: two agents, versions or times held against each other, and a gate for CI.

A difference is B less A: negative, B is worse. Exit code 1 where the gate fails, 2 on bad input.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spider_compose.errors import OptionError
from spider_compose.terminal import visible

if TYPE_CHECKING:
    from spider_compose.stef.monitoring.compare import Comparison, Gate
    from spider_compose.stef.monitoring.rule_changes import RuleChange


def register(commands: Any) -> None:
    """Add the command."""
    command = commands.add_parser(
        "compare", help="hold two agents, versions or times against each other", description=__doc__
    )
    command.add_argument("a", metavar="A", help="a scored folder or file")
    command.add_argument("b", metavar="B", nargs="?", help="the one held against it (default: A again)")
    command.add_argument(
        "--agents", nargs="+", metavar="NAME", help="the agent of A and that of B, or one of both"
    )
    command.add_argument(
        "--split", metavar="TIME", help="A is what came before this time, B what came from then on"
    )
    command.add_argument("--databases", nargs="+", metavar="NAME", help="only rows of these databases")
    command.add_argument("--since", metavar="TIME", help="only rows from this time on")
    command.add_argument("--until", metavar="TIME", help="only rows before this time")
    command.add_argument("--signature", help="only rows scored under this signature, or the part of one")
    command.add_argument(
        "--mixed", action="store_true", help="compare scores of different signatures as well"
    )
    design = command.add_mutually_exclusive_group()
    for name, text in (
        ("paired", "compare on the shared questions"),
        ("separate", "compare all traffic of both (default: paired where half of the questions are shared)"),
    ):
        design.add_argument(f"--{name}", dest="design", action="store_const", const=name, help=text)
    _add_gate(command)
    command.add_argument("--samples", type=int, default=2000, help="resamples (default: 2000)")
    command.add_argument("--seed", type=int, default=1, help="of the resamples (default: 1)")
    command.add_argument(
        "--examples", type=int, default=3, help="changed questions to show, each way (default: 3)"
    )
    command.add_argument("--format", choices=("text", "json"), default="text", help="on stdout")
    command.add_argument("--output", metavar="PATH", help="write the JSON there as well")
    command.set_defaults(run=run, design="auto")


def _add_gate(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--fail-if-worse-than", type=float, metavar="N", help="exit with 1 if B is more than N points worse"
    )
    command.add_argument(
        "--gate",
        choices=("shown", "estimate", "ruled-out"),
        default="shown",
        help="fail where it is worse than N and no chance (shown, the default), where it is worse than N, "
        "or unless the interval rules out that it is",
    )
    command.add_argument(
        "--measure",
        default="score_unscored_as_0",
        help="what the gate looks at: score, score_unscored_as_0 (the default: refusing does not pay), "
        "coverage, enrichment_quality or p_correct",
    )


@dataclass(frozen=True)
class Side:
    """Where the rows of A or B are."""

    source: str
    agents: tuple[str, ...] | None
    databases: tuple[str, ...] | None
    since: str | None
    until: str | None

    def read(self, found: Any, columns: tuple[str, ...], signature: str | None, mixed: bool) -> Any:
        """Those columns of its rows, always in one order; `found` is its source, as it was once found."""
        from spider_compose.stef.monitoring.scored import of_one_signature, read_scores

        table = read_scores(
            found, [*columns, "signature"], self.agents, self.databases, self.since, self.until
        )
        return of_one_signature(table, signature, mixed)

    def __str__(self) -> str:
        parts = [self.source, *(f"agent {name}" for name in self.agents or ())]
        parts += [f"database {name}" for name in self.databases or ()]
        parts += [f"from {self.since}"] if self.since else []
        parts += [f"before {self.until}"] if self.until else []
        return ", ".join(parts)


def sides(options: argparse.Namespace) -> tuple[Side, Side]:
    """A and B as the options say.

    Raises:
        OptionError: A and B would be the same rows, or there are more than two agents.
    """
    agents = options.agents or []
    if len(agents) > 2:
        raise OptionError(f"`--agents` takes the agent of A and that of B, but got {len(agents)}: {agents}")
    if not (options.b or options.split or len(set(agents)) == 2):
        raise OptionError("nothing to compare A with: give B, or two `--agents`, or `--split TIME`")
    databases = tuple(options.databases) if options.databases else None
    first, last = ((name,) for name in (agents[0], agents[-1])) if agents else (None, None)
    a = Side(options.a, first, databases, options.since, options.until)
    b = replace(a, source=options.b or options.a, agents=last)
    if options.split:
        a, b = replace(a, until=options.split), replace(b, since=options.split)
    return a, b


def run(options: argparse.Namespace) -> int:
    """Compare, and decide."""
    from spider_compose.stef.cli.score import check_outputs
    from spider_compose.stef.monitoring.compare import COLUMNS, REASON_COLUMNS, compare, gate
    from spider_compose.stef.monitoring.scored import snapshot

    if options.examples < 0:
        raise OptionError(f"`--examples` must be at least 0, but got {options.examples}")
    given = sides(options)
    for side in given:
        check_outputs(options, side.source, "output")
    found_at = [(side, snapshot(side.source)) for side in given]
    chosen = options.signature, options.mixed
    a, b = (side.read(found, COLUMNS, *chosen) for side, found in found_at)
    signatures = _signatures(a, b, options.mixed)
    of_a, of_b = (side.read(found, REASON_COLUMNS, *chosen)["reasons"] for side, found in found_at)
    found = compare(a, b, options.design, options.samples, options.seed, (of_a, of_b), options.examples)
    decided = None
    if options.fail_if_worse_than is not None:
        decided = gate(found, options.measure, options.fail_if_worse_than, options.gate)
    document = {
        "a": {"source": str(given[0]), "rows": a.num_rows},
        "b": {"source": str(given[1]), "rows": b.num_rows},
        **found.as_dict(),
        "gate": decided and decided.as_dict(),
        "scored_under": signatures,
    }
    text = json.dumps(document, indent=2)
    if options.output:
        Path(options.output).write_text(text + "\n", encoding="utf-8")
    print(text if options.format == "json" else "\n".join(_text(document, found, decided)))
    return 0 if decided is None or decided.passed else 1


def _signatures(a: Any, b: Any, mixed: bool) -> list[str]:
    """The signatures of the scores; A and B must have the same.

    Raises:
        OptionError: they were scored under different ones.
    """
    of_a, of_b = ({name for name in table["signature"].unique().to_pylist() if name} for table in (a, b))
    if of_a != of_b and of_a and of_b and not mixed:
        raise OptionError(
            "A and B were scored under different signatures, which do not compare; score them alike, choose "
            f"one with `--signature`, or insist with `--mixed`:\n  A: {sorted(of_a)}\n  B: {sorted(of_b)}"
        )
    return sorted(of_a | of_b)


# --- for people --------------------------------------------------------------------------------------------


def _text(document: dict[str, Any], found: Comparison, decided: Gate | None) -> Iterator[str]:
    for name in "ab":
        side = document[name]
        yield f"{name.upper()}  {visible(side['source'], 500)}: {side['rows']:,} rows"
    left_out = "left out" if found.design == "paired" else "counted as well"
    matched = "questions" if found.matched_by == "question" else "keys (the files hold no questions)"
    yield (
        f"{found.design}: {found.shared:,} shared {matched}; "
        f"{found.only_a:,} of A alone and {found.only_b:,} of B alone, {left_out}"
    )
    yield ""
    yield f"{'points':<22}{'A':>8}{'B':>8}{'B - A':>8}   {'95 % interval':<18}{'p':>7}  finds"
    for name, measure in found.measures.items():
        if measure.a is None and measure.b is None:
            continue
        row = f"{name:<22}{_number(measure.a)}{_number(measure.b)}{_number(measure.difference, '+')}"
        if measure.low is not None and measure.high is not None:
            interval = f"[{measure.low:+.2f}, {measure.high:+.2f}]"
            row += f"   {interval:<18}{measure.p_value:>7.4f}{_number(measure.detectable)}"
        yield row
    yield "finds: the least difference that a sample like this shows with 80 % probability"
    yield from _rules(found.rules)
    if found.questions:
        yield ""
        yield "questions that changed most, by their score (unscored as 0)"
        for question in found.questions:
            where = f" [{visible(question.database, 500)}]" if question.database else ""
            yield f"  {question.a:6.2f} -> {question.b:6.2f}  {visible(question.question, 90)}{where}"
    if decided:
        yield ""
        yield f"gate {'passed' if decided.passed else 'FAILED'}: {decided.measure}: {decided.why}"
        yield from _too_small(found, decided)
    scored_under = "; ".join(visible(one, 500) for one in document["scored_under"])
    yield f"{found.signature}, scores: {scored_under or 'unknown'}"


def _rules(rules: tuple[RuleChange, ...], most: int = 8) -> Iterator[str]:
    changed = [rule for rule in rules if abs(rule.change) >= 0.005]
    if not changed:
        return
    yield ""
    yield "points lost a query, by rule; p holds for all rules together"
    for name, part in (
        ("worse", [rule for rule in changed if rule.change > 0]),
        ("better", [rule for rule in changed if rule.change < 0]),
    ):
        for rule in part[:most]:
            interval = f"[{rule.low:+.2f}, {rule.high:+.2f}]"
            yield (
                f"  {name:<7}{visible(rule.rule, 32):<33}{rule.a:6.2f} -> {rule.b:6.2f}  "
                f"{rule.change:+6.2f}  {interval:<16} p {rule.p_value:.4f}"
            )
        if rest := part[most:]:
            yield f"  {name:<7}and {len(rest)} more, {sum(rule.change for rule in rest):+.2f} together"


def _too_small(found: Comparison, decided: Gate) -> Iterator[str]:
    detectable = found.measures[decided.measure].detectable
    if detectable and decided.worse_than < detectable and decided.questions_needed:
        yield (
            f"  mind: this sample finds differences of {detectable:.2f} points; to find "
            f"{decided.worse_than:g} it takes about {decided.questions_needed:,} questions a side"
        )


def _number(value: float | None, sign: str = "") -> str:
    return f"{'-':>8}" if value is None else f"{value:>{sign}8.2f}"
