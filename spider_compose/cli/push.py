"""`spider-compose push dataset|model|metric|leaderboard`: publish on the Hugging Face Hub."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from spider_compose import __version__
from spider_compose.errors import HubError, MissingExtraError
from spider_compose.terminal import visible

if TYPE_CHECKING:
    from spider_compose.hub.model import ModelSource
    from spider_compose.hub.repository import RepositoryFile
    from spider_compose.hub.upload import Published

REPORTS = "trainers/reports"
FOLDERS = "hub"

_EPILOG = (
    "Needs pip install 'spider-compose[hub]', and `hf auth login` or HF_TOKEN. The folder is checked first: "
    "its card, required files, weights, no pickles, no keys. Only what the Hub does not have is sent; an "
    "upload that broke off is continued by the same command."
)


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "push",
        help="publish the dataset, a model, the metric or the leaderboard on the Hugging Face Hub",
        description="Write the folder of a repository, check it, and upload it to the Hugging Face Hub.",
        epilog=_EPILOG,
    )
    artefacts = parser.add_subparsers(title="artefacts", metavar="ARTEFACT", required=True)
    _add_dataset(artefacts)
    _add_model(artefacts)
    _add_metric(artefacts)
    _add_leaderboard(artefacts)


def _add_dataset(artefacts: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = _artefact(
        artefacts,
        "dataset",
        "a dataset that `build` or `split` has written",
        "Publish a built dataset: its Parquet files, its card, and the benchmark that its tests are.",
    )
    parser.add_argument(
        "source", metavar="SOURCE", help="a folder written by `spider-compose build` or `split`"
    )


def _add_model(artefacts: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = _artefact(
        artefacts,
        "model",
        "a trained model with its card and scores",
        "Publish a model: weights, tokenizer, code, and a card whose every figure is from its report.",
    )
    parser.add_argument("source", metavar="SOURCE", help="the folder of a run, or of a saved model")
    parser.add_argument(
        "--report", metavar="FILE", help="its report (default: report.json in the run's folder)"
    )
    parser.add_argument(
        "--reports",
        metavar="FOLDER",
        help="folder of reports: those of the same model and seed in other experiments go on the card too",
    )
    parser.add_argument(
        "--dataset",
        metavar="OWNER/NAME",
        help="the published dataset it was tested on; its scores then count as results of that benchmark",
    )


def _add_metric(artefacts: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    _artefact(
        artefacts,
        "metric",
        "the STEF score as a Space that evaluate.load reads",
        'Publish the STEF score: a Space with a demonstration, which evaluate.load("OWNER/NAME") reads.',
    )


def _add_leaderboard(artefacts: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = _artefact(
        artefacts,
        "leaderboard",
        "the leaderboard as a Space",
        "Publish the leaderboard: a Space with the reports of models.",
    )
    parser.add_argument(
        "source",
        nargs="?",
        default=REPORTS,
        metavar="SOURCE",
        help="folder of reports (default: %(default)s)",
    )


def _artefact(
    artefacts: argparse._SubParsersAction[argparse.ArgumentParser], name: str, told: str, description: str
) -> argparse.ArgumentParser:
    parser = artefacts.add_parser(name, help=told, description=description, epilog=_EPILOG)
    parser.add_argument("--repo", required=True, metavar="OWNER/NAME", help="the repository on the Hub")
    parser.add_argument(
        "--folder",
        metavar="DIR",
        help=f"where the repository's folder is written (default: {FOLDERS}/{name}/NAME)",
    )
    parser.add_argument("--force", action="store_true", help="replace DIR whatever is in it")
    parser.add_argument(
        "--dry-run", action="store_true", help="write and check the folder, and upload nothing"
    )
    parser.add_argument("--pr", action="store_true", help="propose the change as a pull request")
    parser.add_argument("--private", action="store_true", help="let a repository that is created be private")
    parser.add_argument(
        "--endpoint", metavar="URL", help="of the Hub (default: HF_ENDPOINT, or huggingface.co)"
    )
    parser.add_argument(
        "--tag",
        metavar="NAME",
        help=f"tag of the commit (default: v{__version__}, unless it marks another commit)",
    )
    parser.add_argument("--no-tag", action="store_true", help="set no tag")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=run, artefact=name)
    return parser


def run(arguments: argparse.Namespace) -> int:
    """Write, check, and upload."""
    try:
        import huggingface_hub  # noqa: F401
        import yaml  # noqa: F401
    except ImportError as error:
        raise MissingExtraError(
            f"publishing needs {error.name}, which is not installed: pip install 'spider-compose[hub]'"
        ) from error
    from spider_compose.hub.repository import ARTEFACTS, new_folder
    from spider_compose.hub.upload import Publication, publish
    from spider_compose.hub.validation import check_folder

    artefact = ARTEFACTS[arguments.artefact]
    name = arguments.repo.rpartition("/")[2]
    folder = Path(arguments.folder or Path(FOLDERS, artefact.name, name)).expanduser()
    tag = None if arguments.no_tag else arguments.tag or f"v{__version__}"
    publication = Publication(folder, arguments.repo, artefact, tag, move_on=arguments.tag is None)
    source = getattr(arguments, "source", None)
    with new_folder(
        folder,
        artefact,
        partial(_WRITERS[artefact.name], arguments),
        force=arguments.force,
        source=Path(source).expanduser() if source else None,
    ):
        files = check_folder(folder, artefact)
        if arguments.dry_run:
            _show_files(folder, files, arguments.json)
            return 0
        published = publish(
            publication,
            endpoint=arguments.endpoint,
            pull_request=arguments.pr,
            private=arguments.private,
            say=_say,
        )
    _show_published(published, arguments.json)
    return 0


def _write_dataset(arguments: argparse.Namespace, folder: Path) -> None:
    from spider_compose.hub.dataset import write_dataset

    write_dataset(Path(arguments.source).expanduser(), folder, arguments.repo)


def _write_model(arguments: argparse.Namespace, folder: Path) -> None:
    from tempfile import TemporaryDirectory

    from spider_compose.hub.model import find_model, write_model

    source = find_model(
        Path(arguments.source).expanduser(),
        Path(arguments.report) if arguments.report else None,
        Path(arguments.reports) if arguments.reports else None,
    )
    with TemporaryDirectory(prefix="spider-compose-push-") as with_code:
        if source.needs_code:
            source = _with_code(source, Path(with_code))
        left = write_model(source, folder, arguments.repo, arguments.dataset, arguments.endpoint)
    if left:
        _say(f"not published: {', '.join(left)}")


def _with_code(source: ModelSource, folder: Path) -> ModelSource:
    """One of the paper's models as it was saved in a checkpoint, saved again with its code."""
    from dataclasses import replace

    from transformers import AutoModelForSeq2SeqLM

    from spider_compose.models import save_with_code
    from spider_compose.tokenization.tokenizer import SQLTokenizer

    try:
        model = AutoModelForSeq2SeqLM.from_pretrained(
            source.saved, use_safetensors=True, local_files_only=True
        )
        tokenizer = SQLTokenizer.from_pretrained(source.saved, local_files_only=True)
    except (OSError, ValueError) as error:
        raise HubError(f"cannot load the model in {source.saved}: {' '.join(str(error).split())}") from error
    save_with_code(model, tokenizer, folder)
    return replace(source, saved=folder)


def _write_metric(arguments: argparse.Namespace, folder: Path) -> None:
    from spider_compose.hub.metric import write_metric

    write_metric(folder, arguments.repo)


def _write_leaderboard(arguments: argparse.Namespace, folder: Path) -> None:
    from spider_compose.hub.leaderboard import write_leaderboard

    write_leaderboard(Path(arguments.source).expanduser(), folder)


_WRITERS: dict[str, Callable[[argparse.Namespace, Path], None]] = {
    "dataset": _write_dataset,
    "model": _write_model,
    "metric": _write_metric,
    "leaderboard": _write_leaderboard,
}


def _show_files(folder: Path, files: tuple[RepositoryFile, ...], as_json: bool) -> None:
    if as_json:
        sizes = {file.path: file.size for file in files}
        print(json.dumps({"folder": str(folder), "files": sizes}, indent=1, ensure_ascii=False))
        return
    for file in files:
        print(f"{file.size:>13,}  {visible(file.path)}")
    print(f"{sum(file.size for file in files):>13,}  {visible(str(folder))}: nothing was uploaded")


def _show_published(published: Published, as_json: bool) -> None:
    if as_json:
        from dataclasses import asdict

        print(json.dumps(asdict(published), indent=1, ensure_ascii=False))
        return
    changes = [f"+ {path}" for path in published.changed] + [f"- {path}" for path in published.removed]
    for line in changes or ["nothing has changed"]:
        print(visible(line))
    for note in published.notes:
        print(visible(f"note: {note}"))
    tag = f", tag {published.tag}" if published.tag else ""
    print(visible(f"{published.pull_request or published.url} at {published.commit[:8]}{tag}"))


def _say(line: str) -> None:
    print(visible(line), file=sys.stderr, flush=True)
