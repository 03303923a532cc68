"""The rgt model."""

from spider_compose.models.rgt.configuration_rgt import RgtConfig
from spider_compose.models.rgt.modeling_rgt import RgtForSQLToText

__all__ = ["RgtConfig", "RgtForSQLToText"]
