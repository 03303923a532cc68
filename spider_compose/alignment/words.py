"""Questions -> words with lemmas and tags, by spaCy."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from spider_compose.alignment.records import Word
from spider_compose.language import BATCH_SIZE, REPACKAGED, load_model, model_version

__all__ = ["BATCH_SIZE", "REPACKAGED", "load_model", "model_version", "read_words"]


def read_words(questions: Iterable[str], model: str = "en_core_web_sm") -> Iterator[tuple[Word, ...]]:
    """The words of each question, in order.

    Raises:
        MissingExtraError: spaCy or the model is not installed.
    """
    nlp = load_model(model)
    rest = iter(questions)
    while batch := list(islice(rest, BATCH_SIZE)):
        for doc in nlp.pipe(batch, batch_size=BATCH_SIZE):
            yield tuple(
                Word(token.text, token.lemma_.lower(), token.tag_, token.idx, token.idx + len(token.text))
                for token in doc
                if not token.is_space
            )
