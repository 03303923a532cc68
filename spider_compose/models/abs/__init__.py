"""The abs model."""

from spider_compose.models.abs.configuration_abs import AbsConfig
from spider_compose.models.abs.modeling_abs import AbsForSQLToText

__all__ = ["AbsConfig", "AbsForSQLToText"]
