"""How to use a model, on its card."""

from __future__ import annotations

import json

from spider_compose.experiments.cells import MODELS
from spider_compose.experiments.reports import Report
from spider_compose.experiments.tables import code

_EXAMPLE = "SELECT count(*) FROM singer WHERE age > 20"


def how_to_use(report: Report, repository: str | None = None) -> str:
    """The section of a card.

    Args:
        report: of the model's training.
        repository: owner/name on the Hub; None for a model in a folder.
    """
    if report.identity.model in MODELS:
        return _own(repository)
    return _pretrained(repository, str(report.part("training").get("source_prefix") or ""))


def _own(repository: str | None) -> str:
    place = f'"{repository}")' if repository else '"FOLDER")  # the `model` folder of a run'
    with_package = _code(
        f"""\
from spider_compose.models import Translator  # pip install 'spider-compose[models]'

translator = Translator.from_pretrained({place}
translator(["SELECT count(*) FROM singer", "WHERE age > 20"])"""
    )
    if repository is None:
        return with_package
    from_hub = _code(
        f"""\
from transformers import AutoModelForSeq2SeqLM  # pip install sqlglot 'transformers[torch]==5.24.*'

model = AutoModelForSeq2SeqLM.from_pretrained("{repository}", trust_remote_code=True)
model.translate("{_EXAMPLE}")"""
    )
    return (
        f"{from_hub}\n\n`trust_remote_code` runs the code in this repository. The package brings the same "
        f"code along, and takes a query clause by clause too:\n\n{with_package}"
    )


def _pretrained(repository: str | None, prefix: str) -> str:
    told = "As any sequence-to-sequence model of transformers: canonical SQL in, English out."
    if prefix:
        told += f" Before the SQL stands {code(prefix)}."
    if repository is None:
        return told
    example = _code(
        f"""\
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

model = AutoModelForSeq2SeqLM.from_pretrained("{repository}")
tokenizer = AutoTokenizer.from_pretrained("{repository}")
batch = tokenizer([{json.dumps(prefix + _EXAMPLE, ensure_ascii=False)}], return_tensors="pt")
tokenizer.batch_decode(model.generate(**batch), skip_special_tokens=True)"""
    )
    return f"{told}\n\n{example}"


def _code(text: str) -> str:
    return f"```py\n{text}\n```"
