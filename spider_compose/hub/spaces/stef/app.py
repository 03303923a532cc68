"""The demonstration of the STEF score: one question and one query in, the score with its reasons out."""

from __future__ import annotations

import os
from typing import Any

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")  # read when Gradio is imported

import gradio as gr

from spider_compose.hub.demonstration import DIALECTS, EXAMPLES, explain, style

HEAD = """<div class="stef-head"><h1>STEF: score a query without its database</h1>
<p>A text-to-SQL agent wrote a query for a question. STEF reads both into the same terms, aligns them, and
scores what it finds: no schema, no reference query, no language model (Arif and Singh 2026).</p></div>"""

LOOK: dict[str, Any] = {
    "css": style(),
    "theme": gr.themes.Default(font=["system-ui", "sans-serif"], font_mono=["ui-monospace", "monospace"]),
    "footer_links": ["api"],
}
"""What `launch` is told; fonts are the reader's own, so that none is fetched."""


def build() -> gr.Blocks:
    """The app."""

    def show(question: str, enriched_question: str, sql: str, dialect: str) -> tuple[str, dict[str, Any]]:
        """Explain the score of one query.

        Args:
            question: the user's question.
            enriched_question: what an agent made of it, or nothing.
            sql: the query.
            dialect: of the query, by sqlglot's names, or auto.
        """
        shown = explain(question, enriched_question, sql, dialect)
        return shown.markup, shown.details

    start = [*EXAMPLES[1], DIALECTS[0]]
    with gr.Blocks(title="STEF", analytics_enabled=False) as app:
        gr.HTML(HEAD, apply_default_css=False, js_on_load=None)
        with gr.Row():
            with gr.Column():
                question = gr.Textbox(start[0], label="Question", lines=2)
                enriched = gr.Textbox(start[1], label="Enriched question, if the agent made one", lines=2)
                sql = gr.Textbox(start[2], label="Query", lines=5)
                with gr.Row():
                    dialect = gr.Dropdown(list(DIALECTS), value=start[3], label="Dialect")
                    button = gr.Button("Explain", variant="primary")
            with gr.Column():
                first, details = show(*start)  # reads the language model, before the first question
                explanation = gr.HTML(first, apply_default_css=False, js_on_load=None)
                with gr.Accordion("As JSON", open=False):
                    values = gr.JSON(details, show_label=False)
        asked, told = [question, enriched, sql, dialect], [explanation, values]
        button.click(show, asked, told, api_name="explain")
        gr.Examples(
            [list(one) for one in EXAMPLES],
            [question, enriched, sql],
            told,
            lambda question, enriched, sql: show(question, enriched, sql, DIALECTS[0]),
            run_on_click=True,
            cache_examples=False,
            label="Examples",
        )
    return app


if __name__ == "__main__":
    build().queue(max_size=32).launch(**LOOK)
