"""The five models under transformers' Auto classes."""

from __future__ import annotations

from transformers import AutoConfig, AutoModelForSeq2SeqLM, AutoTokenizer

from spider_compose.models.abs import AbsConfig, AbsForSQLToText
from spider_compose.models.bilstm import BiLSTMConfig, BiLSTMForSQLToText
from spider_compose.models.configuration import SQLToTextConfig
from spider_compose.models.rel import RelConfig, RelForSQLToText
from spider_compose.models.rgt import RgtConfig, RgtForSQLToText
from spider_compose.models.sql_to_text import SQLToTextModel
from spider_compose.models.treelstm import TreeLSTMConfig, TreeLSTMForSQLToText
from spider_compose.tokenization.tokenizer import SQLTokenizer

# By the paper's names, in its order.
MODELS: dict[str, tuple[type[SQLToTextConfig], type[SQLToTextModel]]] = {
    "bilstm": (BiLSTMConfig, BiLSTMForSQLToText),
    "abs": (AbsConfig, AbsForSQLToText),
    "rel": (RelConfig, RelForSQLToText),
    "treelstm": (TreeLSTMConfig, TreeLSTMForSQLToText),
    "rgt": (RgtConfig, RgtForSQLToText),
}


def register() -> None:
    """Make AutoConfig, AutoModelForSeq2SeqLM and AutoTokenizer know the five."""
    for config, model in MODELS.values():
        AutoConfig.register(config.model_type, config, exist_ok=True)
        AutoModelForSeq2SeqLM.register(config, model, exist_ok=True)
        AutoTokenizer.register(config, fast_tokenizer_class=SQLTokenizer, exist_ok=True)
