"""Judges from what a user writes: a name, or a JSON document that says everything.

    {"judge": "cascade", "threshold": 0.85,
     "then": {"judge": "hub", "base_url": "http://localhost:8000/v1", "model": "m", "calibration": "m.json"}}

Back ends are loaded only when they are asked for.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spider_compose.errors import OptionError, SpiderComposeError, choose

if TYPE_CHECKING:
    from spider_compose.stef.judges.budget import Budget
    from spider_compose.stef.judges.cache import AnswerCache
    from spider_compose.stef.judges.protocol import Judge
    from spider_compose.stef.judges.rules import RulesJudge

JUDGES = ("rules", "hub", "transformers", "vote", "cascade")


@dataclass(frozen=True)
class Shared:
    """What all judges of one configuration share.

    Attributes:
        rules: the judge that verdicts are held against.
        cache: of answers.
        budget: one for all.
        progress: called after each row.
    """

    rules: RulesJudge
    budget: Budget
    cache: AnswerCache | None = None
    progress: Callable[[Budget], None] | None = None


def read_document(source: str | Path | Mapping[str, Any]) -> dict[str, Any]:
    """A judge's document: of a name, of a JSON file, or as given.

    Raises:
        OptionError: it is no name of a judge and no file.
        SpiderComposeError: the file is no JSON object.
    """
    if isinstance(source, Mapping):
        return dict(source)
    if not str(source).endswith(".json"):
        return {"judge": choose("judge", str(source), JUDGES)}
    try:
        document = json.loads(Path(source).read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError) as error:
        raise SpiderComposeError(f"cannot read the judge {source}: {error}") from error
    if not isinstance(document, dict):
        raise SpiderComposeError(
            f"the judge {source}: expected a JSON object, but got {type(document).__name__}"
        )
    return document


def make_judge(document: Mapping[str, Any], shared: Shared) -> Judge:
    """The judge that a document describes.

    Raises:
        OptionError: an option is unknown, has a value outside its range, or is missing.
    """
    if not isinstance(document, Mapping):
        raise OptionError(f"a judge must be a JSON object, but got {type(document).__name__}")
    given = dict(document)
    name = choose("judge", str(given.pop("judge", "rules")), JUDGES)
    make = {"rules": _rules, "hub": _hub, "transformers": _local, "vote": _vote, "cascade": _cascade}[name]
    try:
        return make(given, shared)
    except RecursionError as error:
        raise OptionError("the judge is nested too deeply") from error


def _rules(given: dict[str, Any], shared: Shared) -> Judge:
    _check("rules", given, [])
    return shared.rules


def _hub(given: dict[str, Any], shared: Shared) -> Judge:
    from spider_compose.stef.judges.asking import Backoff
    from spider_compose.stef.judges.hub import HubJudge

    for name in given:
        if name.lower() in ("key", "api_key", "token"):
            raise OptionError(
                f"`{name}`: a key comes from the environment alone; name its variable with `key_variable`"
            )
    _check("hub", given, [f.name for f in fields(HubJudge) if f.name not in _SHARED | {"sample"}])
    if "backoff" in given:
        _check_types(Backoff, _object("backoff", given["backoff"]), "backoff.")
        given["backoff"] = Backoff(**given["backoff"])
    return _made(HubJudge, given, shared)


def _local(given: dict[str, Any], shared: Shared) -> Judge:
    from spider_compose.stef.judges.local import TransformersJudge

    _check("transformers", given, [f.name for f in fields(TransformersJudge) if f.name not in _SHARED])
    if not given.get("model"):
        raise OptionError("the judge 'transformers' needs `model`: a name on the Hub, or a folder")
    return _made(TransformersJudge, given, shared)


def _vote(given: dict[str, Any], shared: Shared) -> Judge:
    from spider_compose.stef.judges.hub import HubJudge
    from spider_compose.stef.judges.vote import VoteJudge

    _check("vote", given, ["judges", "of", "samples", "temperature"])
    _typed("samples", given.get("samples", 3), "int")
    _typed("temperature", given.get("temperature", 0.7), "float")
    if "judges" in given:
        if not isinstance(given["judges"], list):
            raise OptionError(f"`judges` must be a list, but got {type(given['judges']).__name__}")
        return VoteJudge(tuple(make_judge(each, shared) for each in given["judges"]))
    one = make_judge(given.get("of", {}), shared)
    if not isinstance(one, HubJudge):
        raise OptionError("the judge 'vote' needs `judges`, a list, or `of`, a judge 'hub' to sample from")
    return VoteJudge.of_samples(one, int(given.get("samples", 3)), float(given.get("temperature", 0.7)))


def _cascade(given: dict[str, Any], shared: Shared) -> Judge:
    from spider_compose.stef.judges.cascade import CascadeJudge

    _check("cascade", given, ["then", "threshold", "most"])
    if "then" not in given:
        raise OptionError("the judge 'cascade' needs `then`: the judge to ask where the rules are unsure")
    _typed("threshold", given.get("threshold", 0.85), "float")
    _typed("most", given.get("most"), "int | None")
    return CascadeJudge(**{**given, "then": make_judge(given["then"], shared)}, rules=shared.rules)


_SHARED = frozenset(("rules", "cache", "budget", "progress"))


def _made(kind: Any, given: dict[str, Any], shared: Shared) -> Judge:
    from spider_compose.stef.judges.calibration import Calibration
    from spider_compose.stef.judges.prompt import Prompt

    _check_types(kind, given)
    for name, read in (("prompt", Prompt.read), ("calibration", Calibration.read)):
        if given.get(name) is not None:
            _typed(name, given[name], "str")
            given[name] = read(given[name])
    try:
        judge: Judge = kind(
            **given, rules=shared.rules, cache=shared.cache, budget=shared.budget, progress=shared.progress
        )
    except TypeError as error:
        raise OptionError(f"an option of the judge has a value of a wrong type: {error}") from error
    return judge


# How a field of a judge is annotated -> what a document may hold there, and how that is called.
_KINDS: dict[str, tuple[tuple[type, ...], str]] = {
    "str": ((str,), "a text"),
    "int": ((int,), "a whole number"),
    "float": ((int, float), "a number"),
    "bool": ((bool,), "true or false"),
    "Mapping[str, Any]": ((Mapping,), "an object"),
}


def _typed(name: str, value: Any, annotation: str) -> None:
    """Check the type of one option; an annotation that is none of JSON's is left."""
    bare = annotation.removesuffix(" | None")
    if bare not in _KINDS or (value is None and bare != annotation):
        return
    kinds, called = _KINDS[bare]
    if not isinstance(value, kinds) or (isinstance(value, bool) and bare != "bool"):
        raise OptionError(
            f"`{name}` must be {called}, but got a value of a wrong type: {type(value).__name__}"
        )


def _check_types(kind: Any, given: Mapping[str, Any], within: str = "") -> None:
    annotations = {f.name: str(f.type) for f in fields(kind)}
    for name, value in given.items():
        _typed(within + choose("option", name, list(annotations)), value, annotations[name])


def _object(name: str, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise OptionError(f"`{name}` must be an object, but got {type(value).__name__}")
    return value


def _check(name: str, given: Mapping[str, Any], valid: list[str]) -> None:
    for option in given:
        choose(f"option of the judge {name}", option, valid)
