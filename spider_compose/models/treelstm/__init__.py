"""The treelstm model."""

from spider_compose.models.treelstm.configuration_treelstm import TreeLSTMConfig
from spider_compose.models.treelstm.modeling_treelstm import TreeLSTMForSQLToText

__all__ = ["TreeLSTMConfig", "TreeLSTMForSQLToText"]
