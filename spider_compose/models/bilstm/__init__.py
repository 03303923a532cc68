"""The bilstm model."""

from spider_compose.models.bilstm.configuration_bilstm import BiLSTMConfig
from spider_compose.models.bilstm.modeling_bilstm import BiLSTMForSQLToText

__all__ = ["BiLSTMConfig", "BiLSTMForSQLToText"]
