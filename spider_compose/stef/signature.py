"""Everything that moves a score, in one line: two scores compare only where their signatures are equal."""

from __future__ import annotations

from importlib import metadata

from spider_compose.stef.judges.protocol import Judge
from spider_compose.stef.rules import ApplicationRules


def signature(rules: ApplicationRules, judge: Judge, spacy_model: tuple[str, str]) -> str:
    """The signature of scores, in the manner of sacrebleu.

    Args:
        spacy_model: name and version of the model's package.
    """
    parts = {
        "stef": _version("spider-compose"),
        "judge": judge.signature,
        "rules": rules.digest,
        "dialect": rules.dialect,
        "lambda": str(rules.lambda_min),
        "spacy": f"{spacy_model[0]}-{spacy_model[1]}",
        "sqlglot": _version("sqlglot"),
    }
    return "|".join(f"{name}:{value}" for name, value in parts.items())


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        if package == "spider-compose":
            from spider_compose import __version__

            return __version__
        return "none"
