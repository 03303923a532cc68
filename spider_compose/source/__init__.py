"""Reads corpora of (SQL, question) pairs: Spider in every form it comes in, the bundled one, your own.

pyarrow and huggingface_hub are imported only when Parquet files or the Hub are read.
"""

from spider_compose.source.reader import read_source
from spider_compose.source.records import LeftOut, Source, SourcePair

__all__ = ["LeftOut", "Source", "SourcePair", "read_source"]
