"""One tokenizer for all five models: a byte-level BPE of 4,000 pieces for SQL and questions alike.

Names, numbers and values of a query are cut into the same pieces as the words of its question, so copying a
piece of the source is choosing that piece of the vocabulary: every model can copy, and a word that training
never held survives piece by piece. docs/models.md has the figures of the alternative, words with extended
ids.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import PreTrainedTokenizerFast

from spider_compose.errors import ClauseError, OptionError, choose
from spider_compose.sql.canonical import canonical_words, leaf_words
from spider_compose.sql.schema import Schema
from spider_compose.sql.tree import LEAF_TYPES, STRUCTURE_LABELS, STRUCTURE_TYPES, Node, Tree, build_tree
from spider_compose.tokenization.relations import (
    NUM_DATABASE_RELATIONS,
    database_relations,
    depth_relations,
    lowest_common_ancestors,
)

logger = logging.getLogger(__name__)

# The two forms of a source: canonical SQL for BiLSTM, ABS and REL; the tree for TreeLSTM and RGT.
FORMS = ("sequence", "tree")

DEFAULT_VOCAB_SIZE = 4_000
DEFAULT_MAX_SOURCE_LENGTH = 512
# Positions among structural nodes are stored in one byte. Spider's largest tree has 60.
MAX_STRUCTURES = 256

PAD, BOS, EOS = "<pad>", "<s>", "</s>"

# 0 is padding in both.
TYPE_IDS = {name: position for position, name in enumerate((*STRUCTURE_TYPES, *LEAF_TYPES), 1)}
NUM_TYPES = len(TYPE_IDS) + 1
STRUCTURE_VOCAB_SIZE = len(STRUCTURE_LABELS) + 1

_CACHED_WORDS = 100_000
# Surrogates, which JSON may hold one by one; they have no bytes.
_HALF_CHARACTER = re.compile("[\ud800-\udfff]")

Features = dict[str, npt.NDArray[Any]]

# Not in the tokenizers: what they hold is the fingerprint of a dataset that they encode.
_known_words: WeakKeyDictionary[Any, dict[str, list[int]]] = WeakKeyDictionary()


class SQLTokenizer(PreTrainedTokenizerFast):
    """Turns questions into pieces, as any fast tokenizer does, and SQL into a model's source features.

    Args:
        max_source_length: pieces of a sequence, or of a tree's leaves; longer sources are cut, with a
            warning.
        structure_labels: labels of structural nodes, in the order of their ids; saved with the tokenizer, so
            that models stay readable when labels are added.
    """

    model_input_names = ["input_ids", "attention_mask"]  # noqa: RUF012 - transformers' own form

    # No `__init__`: transformers rebuilds the tokenizers of classes that have one from vocabulary and merges
    # alone, and loses how the text is cut. Settings live in `init_kwargs`, where saving and loading find
    # them.

    @property
    def max_source_length(self) -> int:
        """Pieces of a source at most.

        Raises:
            OptionError: it was set to less than 1.
        """
        return _checked_length(self.init_kwargs.get("max_source_length", DEFAULT_MAX_SOURCE_LENGTH))

    @property
    def structure_ids(self) -> dict[str, int]:
        """Ids of the labels of structural nodes, from 1; 0 is padding."""
        labels = self.init_kwargs.get("structure_labels", STRUCTURE_LABELS)
        return {label: position for position, label in enumerate(labels, 1)}

    @classmethod
    def train(
        cls,
        pairs: Iterable[Mapping[str, Any]],
        schemas: Mapping[str, Schema] | None = None,
        *,
        dialect: str = "sqlite",
        vocab_size: int = DEFAULT_VOCAB_SIZE,
        max_source_length: int = DEFAULT_MAX_SOURCE_LENGTH,
    ) -> SQLTokenizer:
        """Learn the pieces from the pairs of a training split, and from nothing else.

        Args:
            pairs: rows with `query`, `question` and, for the schema's readable names, `db_id`.
            vocab_size: pieces in all, 3 special ones and 256 bytes included.
            max_source_length: as in the class.

        Raises:
            OptionError: `vocab_size` cannot hold the special pieces and all bytes, or a row lacks a text.
            ClauseError: a query does not parse.
        """
        if vocab_size < 256 + 3:
            raise OptionError(
                f"`vocab_size` must be at least 259 (3 special pieces and 256 bytes), but got {vocab_size}."
            )
        max_source_length = _checked_length(max_source_length)
        tokenizer = Tokenizer(models.BPE())
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
        tokenizer.decoder = decoders.Sequence([decoders.ByteLevel(), decoders.Strip(" ", 1, 0)])
        trainer = trainers.BpeTrainer(
            vocab_size=vocab_size,
            special_tokens=[PAD, BOS, EOS],
            initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
            show_progress=False,
        )
        tokenizer.train_from_iterator(_training_texts(pairs, schemas or {}, dialect), trainer)
        tokenizer.post_processor = processors.TemplateProcessing(
            single=f"$A {EOS}", special_tokens=[(EOS, tokenizer.token_to_id(EOS))]
        )
        return cls(
            tokenizer_object=tokenizer,
            pad_token=PAD,
            bos_token=BOS,
            eos_token=EOS,
            clean_up_tokenization_spaces=False,
            max_source_length=max_source_length,
            structure_labels=list(STRUCTURE_LABELS),
            split_special_tokens=True,  # as `_encode` does
        )

    def pieces(self, word: str) -> list[int]:
        """Ids of one word's pieces, as the word stands after a space; a known word is looked up."""
        known = _known_words.setdefault(self, {})
        found = known.get(word)
        if found is None:
            found = self._encode(word)
            if len(known) < _CACHED_WORDS:
                known[word] = found
        return found

    def _encode(self, text: str) -> list[int]:
        # `</s>` in a value or a question is a text like any other, and not the end mark.
        self._tokenizer.encode_special_tokens = True
        ids: list[int] = self._tokenizer.encode(text, add_special_tokens=False).ids
        return ids

    def _add_tokens(self, *args: Any, **kwargs: Any) -> int:
        _known_words.pop(self, None)
        added: int = super()._add_tokens(*args, **kwargs)
        return added

    def encode_question(self, question: str) -> list[int]:
        """Ids of a question, the target, with the end mark.

        Raises:
            OptionError: `question` is no text.
        """
        return [*self._encode(_text(question, "`question`")), self.eos_token_id]

    def encode_sql(
        self, sql: str, schema: Schema | None = None, *, dialect: str = "sqlite", form: str = "sequence"
    ) -> Features:
        """A query, or clauses of one, as a model's source features.

        Args:
            form: "sequence" or "tree"; a model's `config.source_form` says which it reads.

        Returns:
            Arrays by the names of the models' arguments, without a batch dimension. Both forms have
            `input_ids` (the pieces, of a tree those of its leaves) and `copy_mask` (1 where a piece may be
            copied). A tree has `leaf_types`, `leaf_parents`, `structure_ids`, `structure_types`,
            `structure_parents`, `structure_heights`, `structure_spans` (first leaf and the one after the
            last), and the relations `structure_relations` (int8) and `leaf_ancestors` (uint8).

        Raises:
            ClauseError: the text is empty, too long or too deep, is not one query, or does not parse.
            OptionError: `form`, `dialect` or `schema` is not what it must be.
        """
        choose("form", form, FORMS)
        tree = build_tree(_text(sql, "`sql`"), schema, dialect)
        return self._sequence(tree) if form == "sequence" else self._tree(tree, schema)

    def encode_pair(
        self,
        query: str,
        question: str,
        schema: Schema | None = None,
        *,
        dialect: str = "sqlite",
        form: str = "sequence",
    ) -> dict[str, Any]:
        """Features of a query with its question as `labels`: one row for the collator."""
        features: dict[str, Any] = dict(self.encode_sql(query, schema, dialect=dialect, form=form))
        features["labels"] = self.encode_question(question)
        return features

    def _sequence(self, tree: Tree) -> Features:
        ids: list[int] = []
        copyable: list[bool] = []
        for word in canonical_words(tree):
            pieces = self.pieces(word.text)
            ids += pieces
            copyable += [word.copyable] * len(pieces)
            if len(ids) > self.max_source_length:
                self._warn_of_cut(ids)
                break
        limit = self.max_source_length
        return {
            "input_ids": np.array(ids[:limit], np.int64),
            "copy_mask": np.array(copyable[:limit], np.int8),
        }

    def _warn_of_cut(self, ids: Sequence[int]) -> None:
        logger.warning(
            "a source was cut to %d pieces or %d structural nodes; it starts with %r",
            self.max_source_length,
            MAX_STRUCTURES,
            self.decode(ids[:12]),
        )

    def _tree(self, tree: Tree, schema: Schema | None) -> Features:
        places: list[int] = []  # position of each node among the structures, or -1
        structures: list[Node] = []
        parents: list[int] = []
        depths: list[int] = []
        first_leaves: list[int] = []
        leaves: list[tuple[int, bool, int, int]] = []  # piece, copyable, type, parent
        for node in tree.nodes:
            parent = places[node.parent] if node.parent >= 0 else -1
            if node.type in LEAF_TYPES:
                places.append(-1)
                kind = TYPE_IDS[node.type]
                for word in leaf_words(node):
                    leaves += [(piece, word.copyable, kind, parent) for piece in self.pieces(word.text)]
            elif len(structures) < MAX_STRUCTURES:
                places.append(len(structures))
                structures.append(node)
                parents.append(parent)
                depths.append(depths[parent] + 1 if parent >= 0 else 0)
                first_leaves.append(len(leaves))
            else:
                break
            if len(leaves) > self.max_source_length:
                break
        if len(places) < len(tree.nodes) or len(leaves) > self.max_source_length:
            self._warn_of_cut([piece for piece, *_ in leaves])
            leaves = leaves[: self.max_source_length]
        pieces, copyable, types, leaf_parents = (np.array(column) for column in zip(*leaves, strict=True))
        ends, last_leaves, heights = _extents(parents, leaf_parents.tolist(), len(leaves))
        spans = np.array([first_leaves, last_leaves]).T
        labels = self.structure_ids
        relations = depth_relations(np.array(depths), np.array(ends)) * np.int8(NUM_DATABASE_RELATIONS)
        return {
            "input_ids": pieces,
            "copy_mask": copyable.astype(np.int8),
            "leaf_types": types.astype(np.int8),
            "leaf_parents": leaf_parents.astype(np.int16),
            "structure_ids": np.array([labels[node.label] for node in structures], np.int16),
            "structure_types": np.array([TYPE_IDS[node.type] for node in structures], np.int8),
            "structure_parents": np.array(parents, np.int16),
            "structure_heights": np.array(heights, np.int16),
            "structure_spans": spans.astype(np.int16),
            "structure_relations": relations + database_relations(structures, schema),
            "leaf_ancestors": lowest_common_ancestors(spans, len(leaves)),
        }


def _training_texts(
    pairs: Iterable[Mapping[str, Any]], schemas: Mapping[str, Schema], dialect: str
) -> Iterator[str]:
    for row, pair in enumerate(pairs):
        query, question = (_text(pair.get(name), f"row {row}: `{name}`") for name in ("query", "question"))
        try:
            tree = build_tree(query, schemas.get(pair.get("db_id", "")), dialect)
        except ClauseError as error:
            raise ClauseError(f"row {row}: {error}", error.position) from None
        yield " ".join(word.text for word in canonical_words(tree))
        yield question


def _checked_length(max_source_length: int) -> int:
    if max_source_length < 1:
        raise OptionError(f"`max_source_length` must be at least 1, but got {max_source_length}.")
    return int(max_source_length)


def _text(value: Any, name: str) -> str:
    """The value, if it is a text that has bytes.

    Raises:
        OptionError: it is none.
    """
    if not isinstance(value, str):
        raise OptionError(f"{name} must be a text, but got {value!r:.80}.")
    if half := _HALF_CHARACTER.search(value):
        raise OptionError(f"{name} must be Unicode text, but has {half[0]!r} at character {half.start()}.")
    return value


def _extents(
    parents: Sequence[int], leaf_parents: Sequence[int], num_leaves: int
) -> tuple[list[int], list[int], list[int]]:
    """Of each structural node: the end of its structural descendants, of its leaves, and its height.

    A leaf has height 0. Nodes are in preorder, so that walking back sees children before their parents.
    """
    ends = list(range(1, len(parents) + 1))
    last_leaves = [0] * len(parents)
    for leaf, parent in enumerate(leaf_parents, 1):
        last_leaves[parent] = leaf
    heights = [1] * len(parents)
    for position in range(len(parents) - 1, 0, -1):
        parent = parents[position]
        ends[parent] = max(ends[parent], ends[position])
        last_leaves[parent] = max(last_leaves[parent], last_leaves[position])
        heights[parent] = max(heights[parent], heights[position] + 1)
    return ends, last_leaves, heights
