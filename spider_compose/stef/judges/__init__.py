"""Judges: the semantic verdict on a pair of specifications (pipeline step 5)."""

from spider_compose.stef.judges.protocol import VERDICT_POINTS, Judge, Judgement, Request

__all__ = ["VERDICT_POINTS", "Judge", "Judgement", "Request"]
