"""The five SQL-to-text models of the paper: BiLSTM, ABS, REL, TreeLSTM and RGT, with one decoder.

Importing this package registers them with transformers' Auto classes.
"""

from spider_compose.errors import MissingExtraError

try:
    import torch as _torch  # noqa: F401
    import transformers as _transformers  # noqa: F401
except ImportError as error:
    raise MissingExtraError(
        f"the models need {error.name}, which is not installed: pip install 'spider-compose[models]'"
    ) from error

from spider_compose.models.auto import MODELS, register
from spider_compose.models.outputs import SQLToTextEncoderOutput, SQLToTextOutput
from spider_compose.models.presets import PRESETS, preset
from spider_compose.models.remote_code import save_with_code
from spider_compose.models.sql_to_text import SQLToTextModel
from spider_compose.models.translation import Translator

__all__ = [
    "MODELS",
    "PRESETS",
    "SQLToTextEncoderOutput",
    "SQLToTextModel",
    "SQLToTextOutput",
    "Translator",
    "preset",
    "register",
    "save_with_code",
]

register()
