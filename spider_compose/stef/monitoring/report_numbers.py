"""Numbers as text, written alike by the page and its script."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal

EN_DASH, _MINUS = "\N{EN DASH}", "\N{MINUS SIGN}"


def fixed(value: float | None, digits: int = 1) -> str:
    """A number as the script's `toFixed` writes it: halves go away from zero."""
    if value is None:
        return EN_DASH
    return str(Decimal(value).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP)).replace("-", _MINUS)


def percent(part: float, whole: float) -> str:
    """A share in percent."""
    return f"{fixed(100 * part / whole)} %" if whole else EN_DASH


def share(part: float, whole: float) -> float | None:
    """A part of a whole; None of nothing."""
    return part / whole if whole else None
