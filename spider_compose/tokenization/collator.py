"""Rows of `SQLTokenizer` -> one batch of padded tensors, in the form a model reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from spider_compose.errors import OptionError, choose
from spider_compose.tokenization.tokenizer import FORMS, SQLTokenizer

# What a loss does not count.
IGNORED = -100

_LEAF_FIELDS = ("input_ids", "copy_mask", "leaf_types", "leaf_parents")
_STRUCTURE_FIELDS = ("structure_ids", "structure_types", "structure_parents", "structure_heights")
_TABLE_FIELDS = ("structure_spans", "structure_relations", "leaf_ancestors")


@dataclass
class SQLToTextCollator:
    """Pads rows on the right. A trainer needs `remove_unused_columns=False` beside it.

    Args:
        tokenizer: gives the padding id.
        form: "sequence" or "tree"; the model's `config.source_form`.

    Returns (when called on rows of `SQLTokenizer.encode_pair` or `encode_sql`):
        The rows' fields as tensors with a batch dimension, all integers widened to int64 but the relations,
        which stay in one byte; `attention_mask` of shape `(batch_size, length)` and, for trees,
        `structure_mask` of shape `(batch_size, num_structures)`; `labels` padded with -100, if the rows have
        them.
    """

    tokenizer: SQLTokenizer
    form: str = "sequence"

    def __post_init__(self) -> None:
        choose("form", self.form, FORMS)

    def __call__(self, rows: Sequence[Mapping[str, Any]]) -> dict[str, torch.Tensor]:
        """Pad rows to one batch."""
        if not rows:
            raise OptionError("expected at least one row, but got none.")
        fields = (
            ("input_ids", "copy_mask") if self.form == "sequence" else (*_LEAF_FIELDS, *_STRUCTURE_FIELDS)
        )
        tables = _TABLE_FIELDS if self.form == "tree" else ()
        labels = ("labels",) if "labels" in rows[0] else ()
        needed = (*fields, *tables, *labels)
        if missing := [name for name in needed if any(name not in row for row in rows)]:
            raise OptionError(
                f"rows of form {self.form!r} need {list(needed)}, but lack {missing}. "
                f"Make them with SQLTokenizer.encode_pair(..., form={self.form!r})."
            )
        padding = {"input_ids": self.tokenizer.pad_token_id}
        batch = {name: _pad([row[name] for row in rows], padding.get(name, 0)) for name in fields}
        batch["attention_mask"] = _mask([len(row["input_ids"]) for row in rows])
        if self.form == "tree":
            batch["structure_mask"] = _mask([len(row["structure_ids"]) for row in rows])
            batch["structure_spans"] = _pad([np.reshape(row["structure_spans"], (-1, 2)) for row in rows], 0)
            for name, size in (("structure_relations", "structure_ids"), ("leaf_ancestors", "input_ids")):
                batch[name] = _pad_squares([row[name] for row in rows], [len(row[size]) for row in rows])
        if "labels" in rows[0]:
            batch["labels"] = _pad([row["labels"] for row in rows], IGNORED)
        return batch


def _pad(rows: Sequence[Any], value: int) -> torch.Tensor:
    """One or two dimensions, padded in the first."""
    arrays = [np.asarray(row) for row in rows]
    longest = max(len(array) for array in arrays)
    padded = np.full((len(arrays), longest, *arrays[0].shape[1:]), value, dtype=np.int64)
    for row, array in zip(padded, arrays, strict=True):
        row[: len(array)] = array
    return torch.from_numpy(padded)


def _pad_squares(rows: Sequence[Any], sizes: Sequence[int]) -> torch.Tensor:
    """Square tables, flat or not; a byte each."""
    padded: npt.NDArray[np.uint8] = np.zeros((len(rows), max(sizes), max(sizes)), dtype=np.uint8)
    for table, row, size in zip(padded, rows, sizes, strict=True):
        table[:size, :size] = np.reshape(np.asarray(row, dtype=np.uint8), (size, size))
    return torch.from_numpy(padded)


def _mask(lengths: Sequence[int]) -> torch.Tensor:
    positions = np.arange(max(lengths))
    return torch.from_numpy((positions < np.array(lengths)[:, None]).astype(np.int64))
