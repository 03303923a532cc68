"""`spider-compose evaluate MODEL`: a model's questions for a split, scored."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spider_compose.cli.options import SOURCE_HELP, add_source_flags
from spider_compose.errors import MissingExtraError, OptionError, OutputError
from spider_compose.terminal import visible

if TYPE_CHECKING:
    from spider_compose.inference.settings import EvaluationSettings

INTERRUPTED = 130

FOLDER = "evaluations"

_NEEDED = ("torch", "transformers", "datasets", "sacrebleu")
_METRICS = {
    "bleu": "BLEU-4",
    "bleu_multi_reference": "BLEU-4, several references",
    "exact_match": "exact match",
    "normalized_exact_match": "exact match, normalised",
    "chrf": "chrF",
}
_SETTINGS = (
    "config", "split", "source", "limit", "batch_size", "num_beams", "max_new_tokens", "source_prefix",
    "chat", "sql", "device", "dtype", "gguf_file",
)  # fmt: skip
_SOURCE = ("revision", "schemas", "dialect", "format", "own_split", "held_out", "columns", "database")


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "evaluate",
        help="measure any SQL-to-text model or language model on a split",
        description="Let a model write the questions of a split and score them: BLEU-4, exact match and chrF "
        "with intervals, by number and pattern of clauses, and errors by kind. MODEL is one of the five, any "
        "seq2seq model (T5, BART) or any causal language model: a folder, or a repository on the Hub. Killed "
        "at any moment, the same command goes on with the rows that are left.",
        epilog="Needs pip install 'spider-compose[data,models,evaluation]'. Weights are read from "
        "safetensors, never from pickles, and a model's own code is never run.",
    )
    parser.add_argument("model", metavar="MODEL", help="a folder, or owner/name on the Hub")
    parser.add_argument("--source", default=argparse.SUPPRESS, help=f"{SOURCE_HELP} (default: bundled)")
    _add(parser, "--config", metavar="NAME", help="of the dataset (default: compose)")
    _add(parser, "--split", metavar="NAME", help="train, validation or test (default: test)")
    parser.add_argument(
        "--out",
        metavar="FILE",
        help="the report; predictions.jsonl lies beside it (default: "
        f"{FOLDER}/MODEL-CONFIG-SPLIT/report.json)",
    )
    parser.add_argument("--json", action="store_true", help="print the report, not its summary")
    parser.add_argument(
        "--benchmark",
        metavar="OWNER/NAME",
        help="write .eval_results beside the report too: the score as a result of this benchmark on the Hub, "
        "for the model's repository",
    )
    _add(parser, "--limit", type=int, metavar="N", help="score N rows alone, drawn with a fixed seed")
    _add_model_flags(parser.add_argument_group("model"))
    _add_generation_flags(parser.add_argument_group("generation"))
    add_source_flags(parser)
    parser.set_defaults(run=run)


def _add_model_flags(group: argparse._ArgumentGroup) -> None:
    _add(group, "--model-revision", metavar="REF", help="of the model on the Hub: commit, branch or tag")
    _add(group, "--gguf-file", metavar="NAME", help="a GGUF file in the folder or repository")
    _add(group, "--device", metavar="NAME", help="cpu, cuda:0, mps ... (default: the first accelerator)")
    _add(group, "--dtype", metavar="NAME", help="float32, bfloat16 or float16 (default: float32)")
    _add(group, "--source-prefix", metavar="TEXT", help="text before the SQL, for seq2seq models")
    _add(
        group,
        "--prompt",
        metavar="FILE",
        help="what causal models are asked: a text with {query}, and {db_id} or {schema} where wanted "
        "(default: the prompt of the benchmark)",
    )
    _add(
        group,
        "--chat",
        action=argparse.BooleanOptionalAction,
        help="put the prompt into the model's chat template (default: where it has one)",
    )
    _add(
        group,
        "--sql",
        metavar="FORM",
        help="what models of the Hub read: canonical SQL, or as written (default: canonical for seq2seq, "
        "written for causal models)",
    )


def _add_generation_flags(group: argparse._ArgumentGroup) -> None:
    _add(group, "--batch-size", type=int, metavar="N", help="rows at a time (default: 32)")
    _add(group, "--num-beams", type=int, metavar="N", help="(default: 4; causal models 1)")
    _add(group, "--max-new-tokens", type=int, metavar="N", help="length of an output (default: 100)")


def _add(parser: argparse._ActionsContainer, flag: str, **options: Any) -> None:
    """A flag that leaves nothing in the namespace where it is not given: each default stands once."""
    parser.add_argument(flag, default=argparse.SUPPRESS, **options)


def run(arguments: argparse.Namespace) -> int:
    """Evaluate, and print the scores."""
    _check_extras()
    from spider_compose.hub.eval_results import check_benchmark, write_eval_results
    from spider_compose.inference.run import evaluate

    settings = settings_of(arguments)
    if arguments.benchmark:
        check_benchmark(arguments.benchmark, settings.config, settings.split, settings.limit)
        if "source" not in arguments:  # the bundled rows are no result of a dataset that others publish
            raise OptionError("--benchmark needs --source: what that dataset was built from.")
    if not sys.stderr.isatty():  # in a log file a bar is one long line
        import_module("transformers").utils.logging.disable_progress_bar()
    out = Path(arguments.out) if arguments.out else _default_out(settings)
    try:
        report = evaluate(settings, out, say=_say, progress=_Progress())
    except KeyboardInterrupt:
        _say("interrupted; the same command goes on with the rows that are left")
        return INTERRUPTED
    results = write_eval_results(out.parent, report, arguments.benchmark) if arguments.benchmark else None
    if arguments.json:
        json.dump(report, sys.stdout, indent=1)
        print()
    else:
        print(_summary_of(report, out))
        print(f"\n{visible(str(out))}")
    if results:
        _say(str(results))
    return 0


def settings_of(arguments: argparse.Namespace) -> EvaluationSettings:
    """The settings that the arguments name.

    Raises:
        OptionError: a value outside its range.
    """
    from spider_compose.evaluation.prompt import Prompt
    from spider_compose.inference.settings import EvaluationSettings

    given: dict[str, Any] = {name: getattr(arguments, name) for name in _SETTINGS if name in arguments}
    given["source_options"] = {name: getattr(arguments, name) for name in _SOURCE if name in arguments}
    if "model_revision" in arguments:
        given["revision"] = arguments.model_revision
    if "prompt" in arguments:
        given["prompt"] = Prompt.read(arguments.prompt)
    return EvaluationSettings(arguments.model, **given)


def _summary_of(report: Mapping[str, Any], out: Path) -> str:
    try:
        return summary(report)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise OutputError(
            f"{out} is of this evaluation, but was changed by hand. Remove it, and evaluate again."
        ) from error


def summary(report: Mapping[str, Any]) -> str:
    """The scores of a report as text."""
    metrics = report["metrics"]
    width = max(map(len, (*_METRICS.values(), *metrics["by_clause_pattern"]))) + 2
    lines = [
        f"{visible(report['model'])}, {report['dataset']['config']} {report['dataset']['split']}, "
        f"{report['num_items']:,} items, in percent with 95 % intervals",
        "",
        *(
            f"{title:<{width}}{metrics[name]['score']:6.2f}  {metrics[name]['low']:6.2f} to "
            f"{metrics[name]['high']:.2f}"
            for name, title in _METRICS.items()
        ),
        "",
        f"{'clauses':<{width}}{'items':>6}  {'BLEU-4':>6}  exact match",
        *(
            f"{pattern:<{width}}{part['num_items']:6,}  {part['bleu']:6.2f}  {part['exact_match']:6.2f}"
            for pattern, part in metrics["by_clause_pattern"].items()
        ),
        *(
            f"\n{found['items']:,} rows: {reason} (the first: {visible(found['ids'][0])})"
            for reason, found in report["problems"].items()
        ),
        "",
        visible(report["signature"]),
    ]
    return "\n".join(lines)


def _check_extras() -> None:
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        raise MissingExtraError(
            f"evaluating a model needs {missing[0]}, which is not installed: "
            "pip install 'spider-compose[data,models,evaluation]' (Python 3.11 or newer)"
        )


def _default_out(settings: EvaluationSettings) -> Path:
    model = Path(settings.model)
    if model.is_dir():
        parts = model.resolve().parts
        named = parts[:-1] if parts[-1] == "model" else parts  # so a run calls it: that tells no two apart
        name = "-".join(named[-2:])
    else:
        name = settings.model
    name = re.sub(r"[^A-Za-z0-9._-]+", "_", settings.gguf_file or name).strip("._-")
    return Path(FOLDER) / f"{name}-{settings.config}-{settings.split}" / "report.json"


def _say(line: str) -> None:
    print(visible(line), file=sys.stderr, flush=True)


class _Progress:
    """A bar on a terminal; elsewhere a line for each tenth."""

    def __init__(self) -> None:
        self._tenth = 0
        self._bar: Any = None

    def __call__(self, done: int, total: int) -> None:
        if sys.stderr.isatty():
            self._draw(done, total)
        elif done * 10 // total > self._tenth:
            self._tenth = done * 10 // total
            _say(f"{done:,} of {total:,} rows")

    def _draw(self, done: int, total: int) -> None:
        if self._bar is None:
            from tqdm import tqdm

            self._bar = tqdm(total=total, unit=" rows", file=sys.stderr)
        self._bar.update(done - self._bar.n)
        if done == total:
            self._bar.close()
