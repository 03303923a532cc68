"""What the Hub asks of a card's YAML header, from its documentation, checked before anything is sent.

The sources are `modelcard.md` and `datasetcard.md` of huggingface/hub-docs, and its pages "Licenses" and
"Spaces Configuration Reference". The Hub checks a card once more itself, when it is uploaded.
"""

from __future__ import annotations

import fnmatch
import math
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

_REPOSITORY = re.compile(r"[\w.-]+(/[\w.-]+)?")
_LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]+)*|code|multilingual")

LICENCES = frozenset(
    """apache-2.0 mit openrail bigscience-openrail-m creativeml-openrail-m bigscience-bloom-rail-1.0
    bigcode-openrail-m afl-3.0 artistic-2.0 bsl-1.0 bsd bsd-2-clause bsd-3-clause bsd-3-clause-clear c-uda cc
    cc0-1.0 cc-by-2.0 cc-by-2.5 cc-by-3.0 cc-by-4.0 cc-by-sa-3.0 cc-by-sa-4.0 cc-by-nc-2.0 cc-by-nc-3.0
    cc-by-nc-4.0 cc-by-nd-4.0 cc-by-nc-nd-3.0 cc-by-nc-nd-4.0 cc-by-nc-sa-2.0 cc-by-nc-sa-3.0 cc-by-nc-sa-4.0
    cdla-sharing-1.0 cdla-permissive-1.0 cdla-permissive-2.0 wtfpl ecl-2.0 epl-1.0 epl-2.0 etalab-2.0 eupl-1.1
    agpl-3.0 gfdl gpl gpl-2.0 gpl-3.0 lgpl lgpl-2.1 lgpl-3.0 isc lppl-1.3c ms-pl mpl-2.0 odc-by odbl
    openrail++ osl-3.0 postgresql ofl-1.1 ncsa unlicense zlib pddl lgpl-lr deepfloyd-if-license llama2 gemma
    unknown other""".split()
)
"""Identifiers of licences."""

TEXT_TASKS = frozenset(
    """fill-mask question-answering sentence-similarity summarization table-question-answering
    text-classification text-generation text-ranking text2text-generation token-classification translation
    zero-shot-classification feature-extraction table-to-text other""".split()
)
"""Tasks of text and tables, of the many that the Hub knows."""

SIZES = frozenset(
    """n<1K 1K<n<10K 10K<n<100K 100K<n<1M 1M<n<10M 10M<n<100M 100M<n<1B 1B<n<10B 10B<n<100B 100B<n<1T
    n>1T""".split()
)
"""Sizes of datasets, in rows."""

COLOURS = frozenset("red yellow green blue indigo purple pink gray".split())
"""Of the picture of a Space."""

_SDKS = frozenset("gradio docker static".split())
_SHORT_DESCRIPTION = 60


def card_problems(card: str, repo_type: str, paths: Collection[str]) -> list[str]:
    """What is wrong with a card, a sentence each; empty where it is right.

    Args:
        card: the text of README.md.
        repo_type: "dataset", "model" or "space".
        paths: of all files in the repository.
    """
    from huggingface_hub import DatasetCard, ModelCard, SpaceCard

    kinds = {"dataset": DatasetCard, "model": ModelCard, "space": SpaceCard}
    if not card.startswith("---\n"):
        return ["README.md does not begin with a YAML header between lines of ---"]
    try:
        loaded = kinds[repo_type](card)
        header: dict[str, Any] = loaded.data.to_dict()
    except Exception as error:  # whatever PyYAML and the card's classes raise
        return [f"README.md: the YAML header cannot be read: {' '.join(str(error).split())}"]
    rules = {"dataset": _dataset, "model": _model, "space": _space}
    found = [*_any(header), *rules[repo_type](header, paths)]
    if not loaded.text.strip():
        found.append("there is no text below the header")
    return [f"README.md: {problem}" for problem in found]


def _any(header: Mapping[str, Any]) -> Iterator[str]:
    licences = _list(header.get("license"))
    for licence in licences:
        if not _one_of(licence, LICENCES):
            yield f"`license` must be an identifier that the Hub knows, but is {licence!r}"
    if "other" in licences and not header.get("license_name"):
        yield "`license: other` needs a `license_name`"
    for language in _list(header.get("language")):
        if not isinstance(language, str) or not _LANGUAGE.fullmatch(language):
            yield f"`language` must be an ISO 639 code, but is {language!r}"
    for tag in _list(header.get("tags")):
        if not isinstance(tag, str) or not tag:
            yield f"each of `tags` must be a text, but one is {tag!r}"
    for name in ("datasets", "models", "base_model", "source_datasets"):
        for repository in _list(header.get(name)):
            if not isinstance(repository, str) or not _REPOSITORY.fullmatch(repository):
                yield f"`{name}` must name repositories, owner/name, but has {repository!r}"


def _dataset(header: Mapping[str, Any], paths: Collection[str]) -> Iterator[str]:
    if not header.get("license"):
        yield "`license` is missing"
    for size in _list(header.get("size_categories")):
        if not _one_of(size, SIZES):
            yield f"`size_categories` must be one of {sorted(SIZES)}, but is {size!r}"
    for task in _list(header.get("task_categories")):
        if not _one_of(task, TEXT_TASKS):
            yield f"`task_categories` must be tasks of the Hub, but one is {task!r}"
    configs = _mappings(header.get("configs"))
    if not configs:
        yield "`configs` is missing: nothing says which files are which split"
    if len(configs) != len(_list(header.get("configs"))):
        yield "each of `configs` must be a mapping, with `config_name` and `data_files`"
    names = [str(config.get("config_name")) for config in configs]
    if len(set(names)) != len(names):
        yield f"`configs` names a config twice: {names}"
    if sum(bool(config.get("default")) for config in configs) > 1:
        yield "`configs` has more than one default"
    for config in configs:
        entries = _list(config.get("data_files"))
        if not entries:
            yield f"config {config.get('config_name')!r} names no `data_files`"
        for entry in entries:
            for pattern in _list(entry.get("path") if isinstance(entry, Mapping) else entry) or [None]:
                if not fnmatch.filter(paths, str(pattern)):
                    yield f"config {config.get('config_name')!r} names {pattern}, which is not there"


def _model(header: Mapping[str, Any], paths: Collection[str]) -> Iterator[str]:
    task = header.get("pipeline_tag")
    if task is not None and not _one_of(task, TEXT_TASKS):
        yield f"`pipeline_tag` must be a task of the Hub, but is {task!r}"
    if not isinstance(header.get("library_name"), str):
        yield "`library_name` is missing: the Hub would not say how to load the model"
    for entry in _mappings(header.get("model-index")):
        for result in _mappings(entry.get("results")):
            for metric in _mappings(result.get("metrics")):
                value = metric.get("value")
                if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
                    yield f"`model-index`: the value of {metric.get('type')!r} is {value!r}, not a number"


def _space(header: Mapping[str, Any], paths: Collection[str]) -> Iterator[str]:
    for name in ("title", "emoji"):
        if not isinstance(header.get(name), str) or not header[name].strip():
            yield f"`{name}` is missing"
    if isinstance(header.get("emoji"), str) and re.search(r"[\x20-\x7e]", header["emoji"]):
        yield f"`emoji` must be emoji alone, but is {header['emoji']!r}"
    for name in ("colorFrom", "colorTo"):
        if not _one_of(header.get(name), COLOURS):
            yield f"`{name}` must be one of {sorted(COLOURS)}, but is {header.get(name)!r}"
    if not _one_of(header.get("sdk"), _SDKS):
        yield f"`sdk` must be one of {sorted(_SDKS)}, but is {header.get('sdk')!r}"
    version = header.get("sdk_version")
    if header.get("sdk") == "gradio" and not re.fullmatch(r"\d+\.\d+(\.\d+)?", str(version)):
        yield f"`sdk_version` must be a release of Gradio, as a text, but is {version!r}"
    if not _one_of(app := header.get("app_file", "app.py"), paths):
        yield f"`app_file` names {app}, which is not there"
    if len(str(header.get("short_description", ""))) > _SHORT_DESCRIPTION:
        yield f"`short_description` has more than {_SHORT_DESCRIPTION} characters"


def _one_of(value: Any, known: Collection[str]) -> bool:
    return isinstance(value, str) and value in known


def _mappings(value: Any) -> list[Mapping[str, Any]]:
    return [entry for entry in _list(value) if isinstance(entry, Mapping)]


def _list(value: Any) -> list[Any]:
    if value is None:
        return []
    return list(value) if isinstance(value, list | tuple) else [value]
