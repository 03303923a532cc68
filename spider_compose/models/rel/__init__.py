"""The rel model."""

from spider_compose.models.rel.configuration_rel import RelConfig
from spider_compose.models.rel.modeling_rel import RelForSQLToText

__all__ = ["RelConfig", "RelForSQLToText"]
