"""Lengths as a picture: small multiples, one per side and part (tables 5 and 6), or per side and config."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spider_compose.composition.statistics import bin_labels
from spider_compose.errors import MissingExtraError

if TYPE_CHECKING:
    from spider_compose.composition.statistics import LengthDistribution, LengthStatistics

# Okabe and Ito's blue and orange: told apart by colour-blind readers, and in print by lightness.
_COLOURS = {"sql": "#0072B2", "text": "#E69F00"}
_PARTS = {"train": "#0072B2", "validation": "#999999", "test": "#E69F00"}
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
    sides = {"sql": measured.sql_bins, "text": measured.text_bins}
    with _figure(2, len(measured.splits), path) as grid:
        for side, line in zip(sides, grid, strict=True):
            for (split, lengths), axes in zip(measured.splits.items(), line, strict=True):
                one: LengthDistribution = getattr(lengths.all, side)
                _bars(axes, [one], bin_labels(sides[side]), [_COLOURS[side]])
                _title(axes, f"{_NAMES[side]}, {split}", _told(one))
            line[0].set_ylabel("share of pairs (%)", color=_SOFT)


def draw_configs(measured: Mapping[str, LengthStatistics], path: Path) -> None:
    """Draw the shares of pairs per length bin, the parts of a config beside each other.

    Args:
        measured: by config.
        path: ends in .png or .svg.

    Raises:
        MissingExtraError: matplotlib is not installed.
        OSError: the file cannot be written.
    """
    with _figure(len(measured), 2, path) as grid:
        for (config, lengths), line in zip(measured.items(), grid, strict=True):
            for (side, bins), axes in zip(
                {"sql": lengths.sql_bins, "text": lengths.text_bins}.items(), line, strict=True
            ):
                parts = {split: getattr(one.all, side) for split, one in lengths.splits.items()}
                _bars(axes, list(parts.values()), bin_labels(bins), [_PARTS[split] for split in parts])
                medians = [f"{split} {one.median:g}" for split, one in parts.items() if one.count]
                _title(axes, f"{_NAMES[side]}, {config}", f"median: {', '.join(medians)}")
            line[0].set_ylabel("share of pairs (%)", color=_SOFT)
        splits = dict.fromkeys(split for lengths in measured.values() for split in lengths.splits)
        handles = [grid[0][0].bar(0, 0, color=_PARTS[split]) for split in splits]
        grid[0][0].figure.legend(
            handles, list(splits), loc="outside upper left", ncols=len(handles), frameon=False
        )


@contextmanager
def _figure(lines: int, columns: int, path: Path) -> Iterator[Any]:
    """Axes in lines and columns, to be drawn on; they are written at the end."""
    try:
        from matplotlib import rc_context
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError("a picture needs matplotlib: pip install 'spider-compose[plots]'") from error
    style = {
        "font.family": "sans-serif",
        "font.size": 10,
        "text.color": _INK,
        "svg.fonttype": "none",
        "svg.hashsalt": "spider-compose",  # the same ids, so the same bytes
    }
    with rc_context(style):
        figure = Figure(figsize=(max(3.1 * columns, 7.2) + 0.6, 2.5 * lines + 0.4))
        figure.set_layout_engine("constrained", h_pad=0.12, w_pad=0.08)
        yield figure.subplots(lines, columns, sharey="row", squeeze=False)
        figure.supxlabel("length in words and signs", fontsize=10, color=_SOFT)
        metadata: dict[str, Any] = {"Date": None} if path.suffix.lower() == ".svg" else {"Software": None}
        figure.savefig(path, dpi=160, metadata=metadata)


def _title(axes: Any, title: str, told: str) -> None:
    axes.set_title(title, loc="left", fontsize=10, fontweight="bold", pad=20)
    axes.text(0, 1.04, told, transform=axes.transAxes, fontsize=8, color=_SOFT)


def _told(lengths: LengthDistribution) -> str:
    told = f"{lengths.count:,} pairs"
    if lengths.count:
        told += f": median {lengths.median:g}, P90 {lengths.p90}, max {lengths.maximum}"
    return told


def _bars(
    axes: Any, parts: Sequence[LengthDistribution], labels: Sequence[str], colours: Sequence[str]
) -> None:
    """Bars of the parts side by side in each bin."""
    width = 0.85 / max(1, len(parts))
    for order, (one, colour) in enumerate(zip(parts, colours, strict=True)):
        shift = (order - (len(parts) - 1) / 2) * width
        shares = [100 * count / max(1, one.count) for count in one.bins]
        axes.bar([place + shift for place in range(len(labels))], shares, width=width, color=colour)
    axes.set_xticks(range(len(labels)), [label.replace("-", "\N{EN DASH}") for label in labels], fontsize=8)
    axes.grid(axis="y", color=_LINE, linewidth=0.7)
    axes.set_axisbelow(True)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.spines["bottom"].set_color(_SOFT)
    axes.tick_params(colors=_SOFT, length=0)
