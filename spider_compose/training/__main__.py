"""`python -m spider_compose.training --config FILE [--model NAME ...] --output FOLDER`."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from spider_compose.errors import OutputError, SpiderComposeError

BAD_INPUT, INTERRUPTED, STOPPED = 2, 130, 143
_GOES_ON = "The same command goes on from the last checkpoint"


def main(argv: Sequence[str] | None = None) -> int:
    """Train one model and return the exit code: 0 done, 2 bad input, 130 Ctrl-C, 143 stopped by SIGTERM.

    Args:
        argv: arguments after the program's name; None for those of the process.
    """
    parser = _parser()
    try:
        given = vars(parser.parse_args(argv))
    except SystemExit as exit_:
        return exit_.code if isinstance(exit_.code, int) else BAD_INPUT
    output, config, shown = (given.pop(name) for name in ("output", "config", "show"))
    try:
        from spider_compose.training.settings import read_settings

        settings = read_settings(config, **given)
        from spider_compose.training.run import run

        report = run(settings, output, say=_say)
        if (
            report is not None and os.environ.get("RANK", "0") == "0"
        ):  # of several processes the first one speaks
            _tell(report, Path(output) / "predictions.jsonl", shown)
    except SpiderComposeError as error:
        print(f"train: {error}", file=sys.stderr)
        return BAD_INPUT
    except OSError as error:  # a full disk, say
        place = f"{error.filename}: " if error.filename else ""
        print(f"train: {place}{error.strerror or error}. {_GOES_ON}.", file=sys.stderr)
        return BAD_INPUT
    except KeyboardInterrupt:
        print(f"train: interrupted. {_GOES_ON}.", file=sys.stderr)
        return INTERRUPTED
    if report is None:
        return STOPPED
    return 0


def _tell(report: Mapping[str, Any], predictions: Path, shown: int) -> None:
    """Print what a run came to.

    Raises:
        OutputError: a file of it was changed by hand.
    """
    try:
        _show(predictions, shown)
        metrics = report["metrics"]
        print(
            f"{report['model']} {report['experiment']} seed {report['seed']}: "
            f"{report['num_items']} test items, BLEU {metrics['bleu']['score']:.2f}, "
            f"exact match {metrics['exact_match']['score']:.2f} %\n{report['signature']}"
        )
    except (LookupError, TypeError, ValueError, RecursionError) as error:
        raise OutputError(
            f"{predictions.parent} holds a finished run, but its report.json or {predictions.name} was "
            "cut or changed by hand. Remove the one that was: the same command writes it anew."
        ) from error


def _say(line: str) -> None:
    print(line, flush=True)


def _show(predictions: Path, number: int) -> None:
    """Print test pairs with what the model said, spread over the whole split."""
    # Not splitlines: a text may hold a line separator of Unicode.
    lines = predictions.read_text(encoding="utf-8").split("\n")[:-1] if number > 0 else []
    for line in lines[:: max(1, len(lines) // max(1, number))][: max(0, number)]:
        row = json.loads(line)
        print(f"\nSQL        {row['query']}\nquestion   {row['question']}\nthe model  {row['prediction']}")
    if lines:
        print()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="train",
        description="Train a SQL-to-text model and measure it on the experiment's test split.",
        epilog="exit codes: 0 done, 2 bad input, 130 Ctrl-C, 143 SIGTERM: the same command goes on",
    )
    parser.add_argument("--output", required=True, help="folder of the run: checkpoints, model, report")
    parser.add_argument("--show", type=int, default=0, metavar="N", help="print N test pairs at the end")
    parser.add_argument("--config", help="YAML file of settings; options given here replace its own")
    text: dict[str, str] = {
        "model": "bilstm, abs, rel, treelstm, rgt, or a seq2seq model of the Hub",
        "size": "preset: small or paper",
        "experiment": "compose, compose_no_overlap, compose_control, spider_template, spider_tmcd, spider",
        "source": "bundled, a folder, or xlangai/spider",
        "mixed_precision": "no, bf16 or fp16",
    }
    numbers: dict[str, Any] = {
        "seed": int, "epochs": int, "patience": int, "batch_size": int, "gradient_accumulation": int,
        "learning_rate": float, "vocab_size": int, "validation_items": int, "num_beams": int,
        "processes": int,
    }  # fmt: skip
    for name, help_ in text.items():
        parser.add_argument(f"--{name.replace('_', '-')}", help=help_)
    for name, kind in numbers.items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=kind, metavar="N")
    parser.add_argument("--report-to", action="append", help="tensorboard or trackio; may be given twice")
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
