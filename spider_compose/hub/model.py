"""The repository of a model, from the folder of a run, or a saved model and its report.

    *.safetensors, config.json, generation_config.json    the model
    tokenizer*.json and the like                          its tokenizer
    *.py                                                  its code, for `trust_remote_code=True`
    README.md                                             the card, rendered from the report
    report.json                                           every figure of the card
    .eval_results/*.yaml                                  its scores, for the Hub's benchmarks

Optimizer, scheduler and random states of a checkpoint stay where they are.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from spider_compose.errors import HubError
from spider_compose.experiments.figures import Results
from spider_compose.experiments.model_cards import render_card
from spider_compose.experiments.reports import Report, in_order, read_report, read_reports

_FILES = (
    "*.safetensors", "*.safetensors.index.json", "config.json", "generation_config.json", "*.py",
    "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json", "vocab.json",
    "vocab.txt", "merges.txt", "spiece.model", "sentencepiece.bpe.model", "chat_template.jinja",
)  # fmt: skip
"""What `from_pretrained` reads."""

OWN_TYPE = "spider_compose_"
"""How `model_type` of the paper's models begins."""


@dataclass(frozen=True)
class ModelSource:
    """A model and what is known of it.

    Attributes:
        saved: folder of the model and its tokenizer.
        report: of its training.
        beside: further reports of the same model and seed, for the figures of other experiments.
    """

    saved: Path
    report: Report
    beside: tuple[Report, ...] = ()

    @property
    def needs_code(self) -> bool:
        """Whether it is one of the paper's models, saved without its code."""
        config = _json(self.saved / "config.json")
        return str(config.get("model_type", "")).startswith(OWN_TYPE) and "auto_map" not in config


def find_model(source: Path, report: Path | None = None, reports: Path | None = None) -> ModelSource:
    """Find a model and its report.

    Args:
        source: folder of a run, with `model/` and `report.json`, or of a saved model.
        report: its report, where it does not lie in the folder of the run.
        reports: folder of the reports of other experiments.

    Raises:
        HubError: there is no model, or no report.
        ReportError: a report cannot be read.
    """
    saved = source / "model" if (source / "model" / "config.json").is_file() else source
    if not (saved / "config.json").is_file():
        raise HubError(f"no model in {source}: expected a run's folder with model/, or one with config.json.")
    found = report or next(
        (path for path in (source / "report.json", saved / "report.json") if path.is_file()), None
    )
    if found is None:
        raise HubError(
            f"no report of the model in {source}: a card without scores is not published. Let the run end, "
            "or name the report (--report)."
        )
    own = read_report(found)
    beside = read_reports(reports) if reports else ()
    return ModelSource(
        saved,
        own,
        tuple(
            one
            for one in beside
            if (one.identity.model, one.identity.seed) == (own.identity.model, own.identity.seed)
            and one.identity.experiment != own.identity.experiment
        ),
    )


def write_model(
    source: ModelSource,
    folder: Path,
    repo_id: str,
    dataset_id: str | None = None,
    endpoint: str | None = None,
) -> list[str]:
    """Write the repository of a model.

    Args:
        source: the model; one of the paper's has been saved with its code.
        folder: where to; it is there and empty.
        repo_id: owner/name of the repository.
        dataset_id: owner/name of the dataset that it was trained and tested on, where that is on the Hub: its
            scores are then results of that benchmark.
        endpoint: address of the Hub, if it is not the usual one.

    Returns:
        The files of the saved model that are not published.
    """
    if source.needs_code:
        raise HubError(
            f"{source.saved} lacks the model's code: save it with `spider_compose.models.save_with_code`."
        )
    left = _copy(source.saved, folder)
    _write_search(folder / "generation_config.json", source.report)
    identity = source.report.identity
    results = Results(in_order((source.report, *source.beside)))
    card = render_card(
        results, identity.model, identity.experiment, repository=repo_id, dataset_repository=dataset_id
    )
    (folder / "README.md").write_text(card, encoding="utf-8", newline="\n")
    report = json.dumps(source.report.content, indent=1, ensure_ascii=False)
    (folder / "report.json").write_text(report + "\n", encoding="utf-8", newline="\n")
    if dataset_id:
        from huggingface_hub import constants

        from spider_compose.hub.eval_results import write_eval_results

        url = f"{(endpoint or constants.ENDPOINT).rstrip('/')}/{repo_id}/blob/main/report.json"
        told = {"source_url": url, "source_name": "report.json"}
        write_eval_results(folder, source.report.content, dataset_id, **told)
    return left


def _copy(saved: Path, folder: Path) -> list[str]:
    left = []
    for path in sorted(saved.iterdir()):
        if path.is_file() and any(fnmatchcase(path.name, pattern) for pattern in _FILES):
            shutil.copyfile(path, folder / path.name)
        elif path.name not in ("report.json", "README.md", "__pycache__"):
            left.append(path.name)
    return left


def _write_search(path: Path, report: Report) -> None:
    """Let the model search as it did when it was scored, whatever search it was saved with."""
    part = report.part("training") or report.part("generation")
    said = {name: part[name] for name in ("num_beams", "max_new_tokens") if type(part.get(name)) is int}
    if said and path.is_file():
        text = json.dumps({**_json(path), **said}, indent=2, sort_keys=True)
        path.write_text(text + "\n", encoding="utf-8", newline="\n")


def _json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise HubError(f"cannot read {path}: {error}.") from error
    if not isinstance(content, dict):
        raise HubError(f"{path} holds no settings of a model.")
    return content
