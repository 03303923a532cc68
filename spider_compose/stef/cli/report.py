"""`stef report DIR`: what a scored log says of its agents, as JSON and as a page."""

from __future__ import annotations

import argparse
import json
import sys
from importlib import import_module
from typing import Any

from spider_compose.terminal import visible


def register(commands: Any) -> None:
    """Add the command."""
    command = commands.add_parser(
        "report",
        help="report on scored queries, as JSON and as a page",
        description="Per agent mean, P50, P90, coverage with reasons, shares and what points were lost for; "
        "the worst queries with what is held against them; the score by day. A table goes to stderr, JSON to "
        "stdout unless a file is named.",
    )
    command.add_argument(
        "source", metavar="DIR", help="written by `stef score LOG --out DIR`; or one file of scores"
    )
    command.add_argument("--html", metavar="PATH", help="write the page there: one file, nothing to load")
    command.add_argument("--json", metavar="PATH", help="write the JSON there")
    command.add_argument("--title", default="Text-to-SQL agents", help="heading of the page")
    command.add_argument("--agent", action="append", metavar="NAME", help="only this agent; may be repeated")
    command.add_argument(
        "--database", action="append", metavar="NAME", help="only this database; may be repeated"
    )
    command.add_argument("--since", metavar="TIME", help="only rows from this time on, as 2026-08-12")
    command.add_argument("--until", metavar="TIME", help="only rows before this time")
    chosen = command.add_mutually_exclusive_group()
    chosen.add_argument(
        "--signature", metavar="TEXT", help="only scores of this signature, or of the one with this part"
    )
    chosen.add_argument("--mixed", action="store_true", help="take scores of several signatures together")
    command.add_argument("--worst", type=int, default=250, help="how many queries to show (default: 250)")
    command.add_argument(
        "--track",
        choices=("mlflow", "trackio"),
        help="log the figures by agent and day to this tracker as well",
    )
    command.add_argument(
        "--project", default="stef", help="project or experiment of `--track` (default: stef)"
    )
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write the report."""
    from spider_compose.stef.cli.score import check_outputs, output

    check_outputs(options, options.source, "html", "json")
    import_module("spider_compose.stef.monitoring.scored")  # first: it names a missing extra
    from spider_compose.stef.monitoring.report import build_report

    report = build_report(
        options.source,
        agents=options.agent,
        databases=options.database,
        since=options.since,
        until=options.until,
        signature=options.signature,
        mixed=options.mixed,
        worst=options.worst,
    )
    if options.html:
        from spider_compose.stef.monitoring.report_page import render_report

        page = render_report(report, options.title)
        with output(options.html) as out:
            out.write(page)
    if options.json or not options.html:
        with output(options.json) as out:
            print(json.dumps(report.as_dict(), indent=1, ensure_ascii=options.json is None), file=out)
    if options.track:
        from spider_compose.stef.monitoring.tracking import track

        track(report, options.track, options.project)
    print(paper_table(report.agents), file=sys.stderr)
    for text in report.signatures:
        print(visible(text, 500), file=sys.stderr)
    return 0


def paper_table(agents: Any) -> str:
    """The paper's table: mean, P50, P90 and coverage by agent."""

    def told(value: float | None, factor: float = 1.0) -> str:
        return "-" if value is None else f"{factor * value:.1f}"

    heads = ("agent", "queries", "mean", "P50", "P90", "coverage %", "mean, unscored as 0", "enrichment")
    lines = [
        (
            visible(one["agent"], 80) or "(no agent)",
            f"{one['rows']:,}",
            *(told(one[name]) for name in ("mean", "p50", "p90")),
            told(one["coverage"], 100.0),
            told(one["mean_unscored_as_0"]),
            "-" if one["enrichment_quality"] is None else f"{one['enrichment_quality']:.3f}",
        )
        for one in agents
    ]
    widths = [max(len(line[place]) for line in (heads, *lines)) for place in range(len(heads))]
    return "\n".join(
        "  ".join(
            text.ljust(width) if place == 0 else text.rjust(width)
            for place, (text, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in (heads, *lines)
    )
