"""The STEF score as an `evaluate` module; the arithmetic is in `spider_compose.stef`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import datasets
import evaluate

_CITATION = """\
@misc{arif2026stef,
    title = {Agent-Agnostic Evaluation of SQL Accuracy in Production Text-to-SQL Systems},
    author = {Arif and Singh},
    year = {2026},
    eprint = {2604.28049},
    archivePrefix = {arXiv}
}
"""

_DESCRIPTION = """\
Scores SQL that an agent wrote for a question, without a schema, a reference query, a database or a language
model. Phi runs from 0 to 100, higher is better; beside it stands p_correct, a calibrated probability that
the query is right.
"""

_KWARGS_DESCRIPTION = """
Args:
    predictions: list of SQL queries, as the agent wrote them. None or "" is no SQL: unscored.
    questions: list of the users' questions, one per query.
    enriched_questions: list of the agent's enriched questions; None, or None in places, where there is none.
    dialects: list of SQL dialects, one per query; None for the dialect of `rules`.
    rules: the application's rules (R_app): a dict, the path of a JSON file, or None.
    judge: "rules", or an object with the members of `spider_compose.stef.Judge`.
    details: whether to return every row's result, with its reasons.
Returns:
    stef: mean Phi of the scored rows, 0 to 100; None without a scored row.
    stef_unscored_as_0: mean Phi of all rows, an unscored row counting 0.
    p_correct: mean probability that a scored query is right, 0 to 1.
    coverage: scored rows over all rows, 0 to 1; None without rows.
    scores: Phi of each row, None where unscored.
    p_corrects: p_correct of each row, None where unscored.
    unscored: number of unscored rows by reason.
    bands: number of rows in each band.
    signature: everything that moves the scores.
    results: with `details`, one dict per row.
Examples:
    >>> stef = evaluate.load("stef")
    >>> result = stef.compute(
    ...     predictions=["SELECT COUNT(*) FROM singer WHERE country = 'France'"],
    ...     questions=["How many singers are from France?"],
    ... )
    >>> result["scores"], result["coverage"]
    ([100.0], 1.0)
"""

_INPUTS = ("predictions", "questions", "enriched_questions", "dialects")


@evaluate.utils.file_utils.add_start_docstrings(_DESCRIPTION, _KWARGS_DESCRIPTION)
class Stef(evaluate.Metric):
    """STEF: semantic text-to-SQL evaluation without a reference."""

    def _info(self) -> evaluate.MetricInfo:
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_KWARGS_DESCRIPTION,
            features=datasets.Features({name: datasets.Value("string") for name in _INPUTS}),
            reference_urls=["https://arxiv.org/abs/2604.28049"],
        )

    def add(
        self,
        *,
        prediction: str | None = None,
        question: str | None = None,
        enriched_question: str | None = None,
        dialect: str | None = None,
        questions: str | None = None,
        enriched_questions: str | None = None,
        dialects: str | None = None,
    ) -> None:
        """Add one row; the plural names are those `evaluate` gives to the inputs."""
        super().add(
            prediction=prediction or "",
            questions=question or questions or "",
            enriched_questions=enriched_question or enriched_questions or "",
            dialects=dialect or dialects or "",
        )

    def add_batch(
        self,
        *,
        predictions: Sequence[str | None] = (),
        questions: Sequence[str | None] | None = None,
        enriched_questions: Sequence[str | None] | None = None,
        dialects: Sequence[str | None] | None = None,
    ) -> None:
        """Add rows.

        Raises:
            ValueError: the lists differ in length, or there are no questions.
        """
        given = {
            "predictions": predictions,
            "questions": questions,
            "enriched_questions": enriched_questions,
            "dialects": dialects,
        }
        if questions is None:
            raise ValueError("`questions` are needed: one question for each of `predictions`")
        # Arrow strings hold no None: "" is read as "there is none".
        columns = {
            name: [
                "" if text is None else text
                for text in ([""] * len(predictions) if column is None else column)
            ]
            for name, column in given.items()
        }
        lengths = {name: len(column) for name, column in columns.items()}
        if len(set(lengths.values())) > 1:
            raise ValueError(f"expected lists of one length, but got {lengths}")
        if len(predictions):
            super().add_batch(**columns)

    def compute(
        self,
        *,
        predictions: Sequence[str | None] | None = None,
        references: None = None,
        questions: Sequence[str | None] | None = None,
        enriched_questions: Sequence[str | None] | None = None,
        dialects: Sequence[str | None] | None = None,
        rules: Any = None,
        judge: Any = "rules",
        details: bool = False,
    ) -> dict[str, Any] | None:
        """Score the rows given here, or those added before.

        Raises:
            ValueError: lists of different lengths, references, or rules that break their schema.
        """
        if references is not None:
            raise ValueError("STEF takes no `references`: it scores `predictions` against `questions`")
        _scorer(rules, judge)  # a fault in them is told before any row is kept
        if predictions is not None:
            self.add_batch(
                predictions=predictions,
                questions=questions,
                enriched_questions=enriched_questions,
                dialects=dialects,
            )
        if self.writer is None and self.num_process == 1:
            return self._compute([], [], [], [], rules, judge, details)
        return super().compute(rules=rules, judge=judge, details=details)

    def _compute(
        self,
        predictions: Sequence[str],
        questions: Sequence[str],
        enriched_questions: Sequence[str],
        dialects: Sequence[str],
        rules: Any = None,
        judge: Any = "rules",
        details: bool = False,
    ) -> dict[str, Any]:
        from spider_compose.stef import Summary

        scorer = _scorer(rules, judge)
        rows = (
            {"question": q, "enriched_question": e or None, "sql": s, "dialect": d or None}
            for s, q, e, d in zip(predictions, questions, enriched_questions, dialects, strict=True)
        )
        summary, scores, chances, results = Summary(), [], [], []
        for result in scorer.score_rows(rows):
            summary.add(result)
            scores.append(result.score)
            chances.append(result.p_correct)
            if details:
                results.append(result.as_dict())
        counted = summary.as_dict()
        output = {
            "stef": counted["score"],
            "stef_unscored_as_0": counted["score_unscored_as_0"],
            "p_correct": counted["p_correct"],
            "coverage": counted["coverage"],
            "scores": scores,
            "p_corrects": chances,
            "unscored": counted["unscored"],
            "bands": counted["bands"],
            "signature": scorer.signature,
        }
        return output | ({"results": results} if details else {})


def _scorer(rules: Any, judge: Any) -> Any:
    from spider_compose.stef import ApplicationRules, Scorer

    return Scorer(ApplicationRules.read(rules), judge)
