"""One tokenizer for all five models: a byte-level BPE for SQL and questions alike, and slots for rare words.

A word that is one piece is that piece in both. A word of the source that would be several pieces, such as a
name that training never held, is one *slot* there, the first of the row the first slot, and the same slot
in the question: to say it is to copy one piece, as with the extended ids of See et al. (2017), but within a
vocabulary of a fixed size. A word of the question alone is written piece by piece, so nothing is unknown.
docs/models.md has the figures of pieces alone and of words with extended ids.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
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

DEFAULT_VOCAB_SIZE = 2_500
NUM_SLOTS = 64
# Private characters: one says that no space stands before the next word, the others are the slots.
GLUE = "\ue000"
SLOTS = tuple(chr(0xE100 + number) for number in range(NUM_SLOTS))
DEFAULT_MAX_SOURCE_LENGTH = 512
# Positions among structural nodes are stored in one byte. Spider's largest tree has 60.
MAX_STRUCTURES = 256

PAD, BOS, EOS = "<pad>", "<s>", "</s>"

# 0 is padding in both.
TYPE_IDS = {name: position for position, name in enumerate((*STRUCTURE_TYPES, *LEAF_TYPES), 1)}
NUM_TYPES = len(TYPE_IDS) + 1
STRUCTURE_VOCAB_SIZE = len(STRUCTURE_LABELS) + 1

_CACHED_WORDS = 100_000
_CACHED_LENGTH = 64
_BYTE_LEVEL = decoders.ByteLevel()
_OWN_MARKS = {ord(mark): "\ufffd" for mark in (GLUE, *SLOTS)}
# Where a word follows a sign without a space, as in 'Ben': it is to have the same piece as after a space.
# Endings such as 's stay whole.
_GLUED = r"(?<=[^\s\p{L}\p{N}])(?<!\p{L}['\u2019])(?=[\p{L}\p{N}])"
# Surrogates, which JSON may hold one by one; they have no bytes.
_HALF_CHARACTER = re.compile("[\ud800-\udfff]")

Features = dict[str, Any]

# Not in the tokenizers: what they hold is the fingerprint of a dataset that they encode.
_known_words: WeakKeyDictionary[Any, dict[str, list[tuple[str, list[int]]]]] = WeakKeyDictionary()


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
            vocab_size: pieces in all, 3 special ones, 256 bytes and 64 slots included.
            max_source_length: as in the class.

        Raises:
            OptionError: `vocab_size` cannot hold the special pieces and all bytes, or a row lacks a text.
            ClauseError: a query does not parse.
        """
        least = 3 + 256 + NUM_SLOTS
        if vocab_size < least:
            raise OptionError(
                f"`vocab_size` must be at least {least} (3 special pieces, 256 bytes and {NUM_SLOTS} slots), "
                f"but got {vocab_size}."
            )
        max_source_length = _checked_length(max_source_length)
        tokenizer = Tokenizer(models.BPE())
        tokenizer.normalizer = normalizers.Replace(Regex(_GLUED), f"{GLUE} ")
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
        tokenizer.decoder = decoders.Sequence(
            [decoders.ByteLevel(), decoders.Replace(f"{GLUE} ", ""), decoders.Strip(" ", 1, 0)]
        )
        trainer = trainers.BpeTrainer(
            vocab_size=vocab_size - NUM_SLOTS,
            special_tokens=[PAD, BOS, EOS],
            initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
            show_progress=False,
        )
        tokenizer.train_from_iterator(_training_texts(pairs, schemas or {}, dialect), trainer)
        tokenizer.model = _with_slots(tokenizer)
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

    def pieces(self, word: str, slots: list[str] | None = None) -> list[int]:
        """Ids of one word's pieces, as the word stands after a space.

        Args:
            slots: the words that have a slot so far. A part of the word that is among them, or that is added
                to them because it would be several pieces, is its slot. Without it all are pieces.
        """
        ids: list[int] = []
        for unit, found in self._units(word):
            is_rare = len(found) > 1 and _is_word(unit)
            if slots is not None and is_rare and unit not in slots and len(slots) < NUM_SLOTS:
                slots.append(unit)
            ids += [self._slot_id(slots.index(unit))] if slots and unit in slots else found
        return ids

    def _units(self, text: str) -> list[tuple[str, list[int]]]:
        """The words and signs of a text, as the BPE cuts it at first, with the pieces of each."""
        known = _known_words.setdefault(self, {})
        found = known.get(text)
        if found is None:
            inner = self._tokenizer
            # `</s>` in a value or a question is a text like any other, and not the end mark.
            cut = inner.pre_tokenizer.pre_tokenize_str(
                inner.normalizer.normalize_str(text.translate(_OWN_MARKS))
            )
            added = self.added_tokens_encoder
            found = [
                (unit, [added[word]])
                if added and (word := _decoded(unit)) in added and word not in self.all_special_tokens
                else (unit, [token.id for token in inner.model.tokenize(unit)])
                for unit, _ in cut
            ]
            if len(known) < _CACHED_WORDS and len(text) < _CACHED_LENGTH:
                known[text] = found
        return found

    def _slot_id(self, number: int) -> int:
        slot: int = self._tokenizer.token_to_id(f" {SLOTS[number]}")
        return slot

    def _add_tokens(self, *args: Any, **kwargs: Any) -> int:
        _known_words.pop(self, None)
        added: int = super()._add_tokens(*args, **kwargs)
        return added

    def encode_question(self, question: str, slots: Sequence[str] = ()) -> list[int]:
        """Ids of a question, the target, with the end mark.

        Args:
            slots: `slots` of the source's features; their words are written as their slots.

        Raises:
            OptionError: `question` is no text.
        """
        ids: list[int] = []
        for unit, found in self._units(_text(question, "`question`")):
            ids += [self._slot_id(slots.index(unit))] if unit in slots else found
        return [*ids, self.eos_token_id]

    def decode_question(self, ids: Iterable[int], slots: Sequence[str] = ()) -> str:
        """The text of generated ids, up to the end mark; `decode` would leave slots as private characters.

        Args:
            slots: `slots` of the source's features. A slot that has no word there says nothing.
        """
        said = []
        for piece in map(int, ids):
            if piece == self.eos_token_id:
                break
            if piece not in (self.pad_token_id, self.bos_token_id):
                said.append(piece)
        text: str = self.decode(said)
        words = [self._tokenizer.decoder.decode([unit]) for unit in slots]
        table = {ord(mark): word for mark, word in zip_longest(SLOTS, words, fillvalue="")}
        return text.translate(table)

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
            last), and the relations `structure_relations` (int8) and `leaf_ancestors` (uint8). Beside them
            `slots`, the list of words that have a slot, which `encode_question` and `decode_question` take.

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
        features["labels"] = self.encode_question(question, features["slots"])
        return features

    def _sequence(self, tree: Tree) -> Features:
        ids: list[int] = []
        copyable: list[bool] = []
        slots: list[str] = []
        for word in canonical_words(tree):
            pieces = self.pieces(word.text, slots if word.copyable else None)
            ids += pieces
            copyable += [word.copyable] * len(pieces)
            if len(ids) > self.max_source_length:
                self._warn_of_cut(ids)
                break
        limit = self.max_source_length
        return {
            "input_ids": np.array(ids[:limit], np.int64),
            "copy_mask": np.array(copyable[:limit], np.int8),
            "slots": slots,
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
        slots: list[str] = []
        for node in tree.nodes:
            parent = places[node.parent] if node.parent >= 0 else -1
            if node.type in LEAF_TYPES:
                places.append(-1)
                kind = TYPE_IDS[node.type]
                for word in leaf_words(node):
                    found = self.pieces(word.text, slots if word.copyable else None)
                    leaves += [(piece, word.copyable, kind, parent) for piece in found]
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
            "slots": slots,
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


def _with_slots(tokenizer: Tokenizer) -> models.BPE:
    """The trained model with the slots as pieces that no text is cut into."""
    trained = json.loads(tokenizer.to_str())["model"]
    vocabulary: dict[str, int] = trained["vocab"]
    for slot in SLOTS:
        vocabulary[f" {slot}"] = len(vocabulary)
    return models.BPE(vocabulary, [tuple(merge) for merge in trained["merges"]])


def _is_word(unit: str) -> bool:
    """Whether a unit is a word or a number after a space; bytes are written as letters, so most are."""
    return len(unit) > 1 and unit[0] == "Ġ" and _decoded(unit)[:1].isalnum()


def _decoded(unit: str) -> str:
    text: str = _BYTE_LEVEL.decode([unit])
    return text.strip()


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
