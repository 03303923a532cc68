"""`spider-compose inspect --quality`: counts of faults in the texts, the aligners side by side."""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from spider_compose.cli.options import build_options_of, source_of
from spider_compose.errors import OptionError

if TYPE_CHECKING:
    from spider_compose.alignment.quality import QualityReport
    from spider_compose.cli.built_folder import BuiltFolder

_PAIR_COLUMNS = ["question", "num_clauses", "source_split", "source_row"]

_FILTERS = (
    "split",
    "row",
    "db_id",
    "text",
    "clauses",
    "num_clauses",
    "min_confidence",
    "max_confidence",
    "least_sure",
    "limit",
    "html",
)


@dataclass(frozen=True)
class _Rows:
    """What a report is made of."""

    alignments: dict[str, list[dict[str, Any]]]
    pairs: dict[str, list[dict[str, Any]]]


def run(arguments: argparse.Namespace, folder: BuiltFolder | None) -> int:
    """Count the faults of all pairs and print the reports.

    Args:
        folder: of a built folder its own aligner is reported, on the pairs that it holds; a source is built
            once per aligner, with all its duplicates.

    Raises:
        OptionError: flags that choose pairs.
    """
    from spider_compose.alignment.quality import quality_table

    given = [f"--{name.replace('_', '-')}" for name in _FILTERS if getattr(arguments, name)]
    if given:
        raise OptionError(f"--quality counts the faults of all pairs: leave {', '.join(given)} out.")
    reports, signatures = _of_folder(folder) if folder else _of_source(arguments)
    if arguments.json:
        quality = {name: report.to_json() for name, report in reports.items()}
        print(json.dumps({"signature": signatures, "quality": quality}, indent=2))
    else:
        lines = [line.rstrip() for line in quality_table(reports).splitlines()]
        print("\n".join([*lines, "", *(f"signature  {signature}" for signature in signatures)]))
    return 0


def _of_folder(folder: BuiltFolder) -> tuple[dict[str, QualityReport], list[str]]:
    from spider_compose.alignment.quality import quality_report

    report = quality_report(_Rows(folder.alignments(), folder.pairs(_PAIR_COLUMNS)))
    return {folder.options.aligner: report}, [folder.signature]


def _of_source(arguments: argparse.Namespace) -> tuple[dict[str, QualityReport], list[str]]:
    from spider_compose.alignment import ALIGNERS
    from spider_compose.alignment.quality import quality_report
    from spider_compose.composition.build import build

    options = replace(build_options_of(arguments), deduplicate="none")
    names = arguments.compare or ([options.aligner] if "aligner" in arguments else list(ALIGNERS))
    chosen = [replace(options, aligner=name) for name in names]
    source = source_of(arguments)
    reports, signatures = {}, []
    for one in chosen:
        built = build(source, one, progress=True)
        reports[one.aligner] = quality_report(built)
        signatures.append(built.signature)
    return reports, signatures
