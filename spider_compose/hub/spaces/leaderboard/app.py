"""The leaderboard of SpiderCompose, on the Hub or on this machine.

It shows the reports in `reports/`, and where the variable SPIDER_COMPOSE_BENCHMARK names a dataset on the Hub
(in the Space's settings), the results of models for that benchmark as well.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")  # read when Gradio is imported

import gradio as gr

from spider_compose.experiments.paper_tables import FIRST, SECOND, experiment_title
from spider_compose.hub.board import DIFFERENCE, KINDS, METRICS, NAME, Board, Choice
from spider_compose.hub.board_page import (
    order_title,
    render_board,
    render_head,
    render_left_out,
    style,
    submission,
)
from spider_compose.hub.board_reading import BoardSource

LOOK: dict[str, Any] = {
    "css": style(),
    "theme": gr.themes.Default(font=["system-ui", "sans-serif"], font_mono=["ui-monospace", "monospace"]),
    "footer_links": ["api"],
}
"""What `launch` is told; fonts are the reader's own, so that none is fetched."""


def build(source: BoardSource, repository: str | None = None) -> gr.Blocks:
    """The app.

    Args:
        source: of the board.
        repository: owner/name of the Space; None where it runs locally.
    """

    def show(
        metric: str, configs: list[str], kinds: list[str], sizes: list[str], order: str
    ) -> tuple[str, dict[str, Any]]:
        """The standings.

        Args:
            metric: bleu, bleu_multi_reference, exact_match, normalized_exact_match or chrf.
            configs: of the dataset; experiments 1 and 2 where empty.
            kinds: of models; all where empty.
            sizes: of models; all where empty.
            order: a config, "difference" or "model".
        """
        choice = Choice(metric, tuple(configs), tuple(kinds), tuple(sizes), order)
        orders = _orders(choice)
        if order not in orders:
            choice = Choice(metric, choice.configs, choice.kinds, choice.sizes, orders[0])
        named = [(order_title(one), one) for one in orders]
        return render_board(source.board(), choice), gr.update(choices=named, value=choice.order)

    def open_page() -> tuple[Any, ...]:
        """What is there when a page is opened: reports may have come."""
        board = source.board()
        return (
            render_head(board, source.benchmark),
            gr.update(choices=_named_configs(board)),
            gr.update(choices=[(KINDS[kind], kind) for kind in board.kinds]),
            gr.update(choices=board.sizes),
            render_board(board, Choice()),
            gr.update(label=f"Left out ({len(board.left_out):,})"),
            render_left_out(board.left_out),
        )

    first, board = Choice(), source.board()
    with gr.Blocks(title="SpiderCompose leaderboard", analytics_enabled=False) as app:
        head = _html(render_head(board, source.benchmark))
        with gr.Tabs():
            with gr.Tab("Standings"):
                with gr.Row():
                    metric = gr.Dropdown(
                        [(told, name) for name, told in METRICS.items()], value="bleu", label="Metric"
                    )
                    configs = gr.Dropdown(
                        _named_configs(board), value=[FIRST, SECOND], multiselect=True, label="Configs"
                    )
                    kinds = gr.Dropdown(
                        [(KINDS[kind], kind) for kind in board.kinds],
                        value=[],
                        multiselect=True,
                        label="Kinds of models (none: all)",
                    )
                    sizes = gr.Dropdown(board.sizes, value=[], multiselect=True, label="Sizes (none: all)")
                    order = gr.Dropdown(
                        [(order_title(one), one) for one in _orders(first)], value=first.order, label="Order"
                    )
                table = _html(render_board(board, first))
            with gr.Tab("Put a model on it"):
                gr.Markdown(submission(repository, source.benchmark))
            with gr.Tab(f"Left out ({len(board.left_out):,})") as tab:
                left_out = _html(render_left_out(board.left_out))
        filters = [metric, configs, kinds, sizes, order]
        gr.on(
            [one.input for one in filters],
            show,
            filters,
            [table, order],
            api_name="standings",
            show_progress="hidden",
        )
        app.load(
            open_page,
            None,
            [head, configs, kinds, sizes, table, tab, left_out],
            api_visibility="private",
            show_progress="hidden",
        )
    return app


def _orders(choice: Choice) -> list[str]:
    return [*choice.configs, *([DIFFERENCE] if choice.both else []), NAME]


def _named_configs(board: Board) -> list[tuple[str, str]]:
    return [(experiment_title(config), config) for config in board.configs]


def _html(value: str) -> gr.HTML:
    # The markup is put in as it is: no template of Gradio's is made of it, and none of its scripts runs.
    return gr.HTML(value, apply_default_css=False, js_on_load=None)


if __name__ == "__main__":
    reports = Path(__file__).parent / "reports"
    build(
        BoardSource(reports, os.environ.get("SPIDER_COMPOSE_BENCHMARK") or None), os.environ.get("SPACE_ID")
    ).launch(**LOOK)
