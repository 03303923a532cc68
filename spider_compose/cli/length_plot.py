"""Tables 5 and 6 as a picture: small multiples, one per side and part."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from spider_compose.composition.statistics import bin_labels
from spider_compose.errors import MissingExtraError

if TYPE_CHECKING:
    from spider_compose.composition.statistics import LengthDistribution, LengthStatistics

# Okabe and Ito's blue and orange: told apart by colour-blind readers, and in print by lightness.
_COLOURS = {"sql": "#0072B2", "text": "#E69F00"}
_NAMES = {"sql": "SQL", "text": "Text"}
_INK, _SOFT, _LINE = "#222222", "#666666", "#dddddd"


def draw(measured: LengthStatistics, path: Path) -> None:
    """Draw the shares of pairs per length bin.

    Args:
        path: ends in .png or .svg.

    Raises:
        MissingExtraError: matplotlib is not installed.
        OSError: the file cannot be written.
    """
    try:
        from matplotlib import rc_context
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError("a picture needs matplotlib: pip install 'spider-compose[plots]'") from error
    sides = {"sql": measured.sql_bins, "text": measured.text_bins}
    style = {
        "font.family": "sans-serif",
        "font.size": 10,
        "text.color": _INK,
        "svg.fonttype": "none",
        "svg.hashsalt": "spider-compose",  # the same ids, so the same bytes
    }
    with rc_context(style):
        figure = Figure(figsize=(3.1 * len(measured.splits) + 0.6, 5.4))
        figure.set_layout_engine("constrained", h_pad=0.12, w_pad=0.08)
        grid = figure.subplots(2, len(measured.splits), sharey="row", squeeze=False)
        for side, line in zip(sides, grid, strict=True):
            for (split, lengths), axes in zip(measured.splits.items(), line, strict=True):
                _bars(axes, getattr(lengths.all, side), bin_labels(sides[side]), _COLOURS[side])
                axes.set_title(f"{_NAMES[side]}, {split}", loc="left", fontsize=10, fontweight="bold", pad=20)
            line[0].set_ylabel("share of pairs (%)", color=_SOFT)
        figure.supxlabel("length in words and signs", fontsize=10, color=_SOFT)
        metadata: dict[str, Any] = {"Date": None} if path.suffix.lower() == ".svg" else {"Software": None}
        figure.savefig(path, dpi=160, metadata=metadata)


def _bars(axes: Any, lengths: LengthDistribution, labels: list[str], colour: str) -> None:
    places = range(len(labels))
    shares = [100 * count / max(1, lengths.count) for count in lengths.bins]
    axes.bar(places, shares, width=0.85, color=colour)
    axes.set_xticks(places, [label.replace("-", "\N{EN DASH}") for label in labels], fontsize=8)
    axes.grid(axis="y", color=_LINE, linewidth=0.7)
    axes.set_axisbelow(True)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.spines["bottom"].set_color(_SOFT)
    axes.tick_params(colors=_SOFT, length=0)
    told = f"{lengths.count:,} pairs"
    if lengths.count:
        told += f": median {lengths.median:g}, P90 {lengths.p90}, max {lengths.maximum}"
    axes.text(0, 1.04, told, transform=axes.transAxes, fontsize=8, color=_SOFT)
