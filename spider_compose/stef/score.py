"""The score: Phi with its band, states and reasons, one result per row, streamed (section "Score")."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice, tee
from pathlib import Path
from typing import Any

from spider_compose.errors import OptionError, choose
from spider_compose.language import BATCH_SIZE, load_model, model_version
from spider_compose.sql.clauses import sql_dialect
from spider_compose.stef.alignment import FILTER_POINTS, Finding, Pair
from spider_compose.stef.enrichment import Enrichment, compare_questions
from spider_compose.stef.judges.budget import Budget
from spider_compose.stef.judges.checks import CHECKS
from spider_compose.stef.judges.configuration import Shared, make_judge, read_document
from spider_compose.stef.judges.protocol import VERDICT_POINTS, Judge, Judgement, Request, judge_stream
from spider_compose.stef.judges.rules import FILTER_RULES, RulesJudge, Weights, default_weights
from spider_compose.stef.rules import ApplicationRules
from spider_compose.stef.signature import signature
from spider_compose.stef.specification.items import Span, Specification, plain
from spider_compose.stef.specification.question import MAX_CHARACTERS, MAX_WORD, RULES, read_question
from spider_compose.stef.specification.sql import SqlSpecification, UnscoredError, read_sql
from spider_compose.stef.tolerance import TOLERANCE_RULES

# Bands of Phi: name and least score.
BANDS = (("excellent", 90.0), ("good", 75.0), ("marginal", 50.0), ("poor", 0.0))

# Why a row has no score, with what to do about it.
UNSCORED = {
    "no_sql": "the row has no SQL",
    "not_a_query": "the SQL, or its first statement, is no query",
    "no_dialect_parses": "no dialect that was tried parses the SQL",
    "too_long": "the SQL is longer than any query",
    "too_deep": "the SQL nests deeper than it can be read",
    "no_question": "the row has no question",
    "question_too_long": "the question is longer than any question",
    "unknown_dialect": "the row's dialect is unknown",
    "bad_row": "a field of the row is no text",
    "no_verdict": "the judge gave no usable verdict",
    "internal_error": "a fault of ours; please report the message with the row",
}


@dataclass(frozen=True)
class Reason:
    """Why points were lost.

    Attributes:
        rule: the rule that found it.
        message: what is wrong, for people.
        points: how much of Phi it cost; all reasons of a result together with Phi make 100.
        question: [start, end) in the question (the enriched one where there is one).
        sql: [start, end) in the SQL.
    """

    rule: str
    message: str
    points: float
    question: Span
    sql: Span


@dataclass(frozen=True)
class Result:
    """The score of one row.

    Attributes:
        score: Phi, 0 to 100, higher is better; None if unscored.
        p_correct: calibrated probability that the query is right, 0 to 1; never part of the score.
        band: "excellent", "good", "marginal" or "poor".
        filter_status: one of `alignment.FILTER_POINTS`.
        verdict: one of `judges.VERDICT_POINTS`.
        confidence: gamma, 0 to 1.
        enrichment: what the enriched question made of the user's, or None without one.
        reasons: every lost point.
        unscored: None, or a key of `UNSCORED`.
        message: more on why the row is unscored.
        dialect: the dialect the SQL was read in.
        tolerances: what was forgiven.
        judge_reason: why, in one line, of a judge that reads.
        judge_conflict: what speaks against the verdict of a judge that reads; see `judges.cross_check`.
        score_without_judge: Phi by the rules alone, where another judge was asked; also of an unscored row.
    """

    score: float | None = None
    p_correct: float | None = None
    band: str | None = None
    filter_status: str | None = None
    verdict: str | None = None
    confidence: float | None = None
    enrichment: Enrichment | None = None
    reasons: tuple[Reason, ...] = ()
    unscored: str | None = None
    message: str = ""
    dialect: str | None = None
    tolerances: tuple[str, ...] = ()
    judge_reason: str = ""
    judge_conflict: str = ""
    score_without_judge: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        values = {name: plain(value) for name, value in vars(self).items() if name != "enrichment"}
        values["enrichment"] = self.enrichment.as_dict() if self.enrichment else None
        return values


@dataclass(frozen=True)
class Explained:
    """A result with all it stands on, for `stef explain`."""

    result: Result
    pair: Pair | None
    judgement: Judgement | None


@dataclass(frozen=True)
class Row:
    """One row to score."""

    question: str
    enriched_question: str | None
    sql: str
    dialect: str


class PassedOver(dict[str, Any]):
    """A row that has its score: it is read with its batch, as the first time, and gets an empty result."""


def phi(filter_points: int, verdict_points: int, benign_bonus: int, confidence: float) -> float:
    """Phi = B / 10 * 100 * Gamma, B = min(10, filter points + verdict points + bonus).

    >>> phi(5, 5, 0, 0.9), phi(4, 5, 1, 0.7), phi(3, 2, 0, 0.5)
    (100.0, 80.0, 25.0)
    """
    return min(10, filter_points + verdict_points + benign_bonus) * 10 * penalty(confidence)


def penalty(confidence: float) -> float:
    """Gamma of a confidence: 1.0 from 0.85 on, 0.8 from 0.65 on, else 0.5."""
    return 1.0 if confidence >= 0.85 else 0.8 if confidence >= 0.65 else 0.5


def band(score: float) -> str:
    """The band of a score.

    >>> [band(s) for s in (90, 75, 50, 49.9)]
    ['excellent', 'good', 'marginal', 'poor']
    """
    return next(name for name, least in BANDS if score >= least)


def rule_names() -> list[str]:
    """Every rule that `disabled_rules` can name."""
    questions = [name for name, _ in RULES]
    tolerances = [rule.__name__ for rule in TOLERANCE_RULES]
    return sorted({*questions, *tolerances, *(check.__name__ for check in CHECKS), *default_weights().rules})


@dataclass(frozen=True)
class Scorer:
    """Scores rows under one set of rules with one judge.

    Attributes:
        rules: the application's rules.
        judge: the name of a judge, a document that describes one, or the path of a JSON file with it (see
            `judges.configuration`), or any object with the members of `judges.Judge`.
        weights: of the judge "rules"; None for those of the package.
        spacy_model: the spaCy model that reads the questions.
    """

    rules: ApplicationRules = field(default_factory=ApplicationRules)
    judge: str | Path | Mapping[str, Any] | Judge = "rules"
    weights: Weights | None = None
    spacy_model: str = "en_core_web_sm"

    def __post_init__(self) -> None:
        for name in sorted(self.rules.disabled_rules):
            choose("disabled_rules", name, rule_names())
        if self.rules.dialect != "auto":
            sql_dialect(self.rules.dialect)
        if isinstance(self.judge, (str, Path, Mapping)):
            read_document(self.judge)
        elif not callable(getattr(self.judge, "judge", None)):
            raise OptionError(f"`judge` must be 'rules' or have a method `judge`, but got {self.judge!r}")
        elif self.weights is not None:
            raise OptionError("`weights` belong to a judge that is named; give them to the object itself")

    @cached_property
    def _judge(self) -> Judge:
        if not isinstance(self.judge, (str, Path, Mapping)):
            return self.judge
        shared = Shared(RulesJudge(self.weights or default_weights()), Budget())
        return make_judge(read_document(self.judge), shared)

    @property
    def signature(self) -> str:
        """Everything that moves these scores, in one line."""
        return signature(self.rules, self._judge, model_version(self.spacy_model))

    def score_rows(self, rows: Iterable[Mapping[str, Any]]) -> Iterator[Result]:
        """One result per row, in order, lazily; a row that cannot be scored gives a reason, no error."""
        return (explained.result for explained in self.explain_rows(rows))

    def score_batches(self, batches: Iterable[Sequence[Mapping[str, Any]]]) -> Iterator[Result]:
        """As `score_rows`, of rows that the caller has cut into batches of at most `BATCH_SIZE`.

        A caller that shares batches out among processes gets the results it would get alone.
        """
        return (explained.result for explained in self._explain(batches))

    def explain_rows(self, rows: Iterable[Mapping[str, Any]]) -> Iterator[Explained]:
        """As `score_rows`, with the specifications, the alignment and the judgement of each row.

        Rows are read in batches of one size, so that results do not depend on how the caller slices them.
        A judge that asks about many at once reads ahead of the results, within bounds.
        """
        rest = iter(rows)
        return self._explain(iter(lambda: list(islice(rest, BATCH_SIZE)), []))

    def _explain(self, batches: Iterable[Sequence[Mapping[str, Any]]]) -> Iterator[Explained]:
        read, given = tee(item for batch in batches for item in self._read_batch(batch))
        requests = (
            None
            if isinstance(item, Result)
            else Request(item[0].question, item[0].enriched_question, item[0].sql, item[1])
            for item in given
        )
        for item, judgement in zip(read, judge_stream(self._judge, requests), strict=True):
            if isinstance(item, Result) or judgement is None:
                yield Explained(item if isinstance(item, Result) else Result(), None, None)
            else:
                yield Explained(_result(item[1], item[2], judgement), item[1], judgement)

    def _read_batch(
        self, batch: Sequence[Mapping[str, Any]]
    ) -> list[Result | tuple[Row, Pair, Enrichment | None]]:
        """Both specifications of every row."""
        checked = [_row(row, self.rules.dialect) for row in batch]
        specs: dict[tuple[str, str], Specification] = {}
        # spaCy keeps every word it ever read, but for those of a memory zone.
        with load_model(self.spacy_model).memory_zone():
            docs = self._docs(row for row in checked if isinstance(row, Row))
            read = [
                Result()
                if isinstance(row, PassedOver)
                else found
                if isinstance(found, Result)
                else self._read_safely(found, docs, specs)
                for row, found in zip(batch, checked, strict=True)
            ]
            del docs
        return read

    def _docs(self, rows: Iterable[Row]) -> dict[str, Any]:
        """spaCy's words of every text of a batch, each once."""
        texts = dict.fromkeys(text for row in rows for text in _texts(row) if text)
        model = load_model(self.spacy_model)
        return dict(zip(texts, model.pipe(texts, batch_size=BATCH_SIZE), strict=True))

    def _read_safely(
        self, row: Row, docs: dict[str, Any], specs: dict[tuple[str, str], Specification]
    ) -> Result | tuple[Row, Pair, Enrichment | None]:
        """As `_read`; what goes wrong in one row is named and counted, and the batch goes on."""
        try:
            return self._read(row, docs, specs)
        except Exception as error:
            return Result(unscored="internal_error", message=f"{type(error).__name__}: {error}"[:300])

    def _read(
        self, row: Row, docs: dict[str, Any], specs: dict[tuple[str, str], Specification]
    ) -> Result | tuple[Row, Pair, Enrichment | None]:
        """Both specifications of a row, or the result that says why there are none."""
        asked, whole, definitions = _texts_and_rest(row)

        def spec(text: str, rest: str = "") -> Specification:
            if (text, rest) not in specs:
                specs[text, rest] = read_question(docs[text], rest, self.rules.disabled_rules)
            return specs[text, rest]

        question = spec(whole, definitions)
        enrichment = compare_questions(spec(asked), question) if row.enriched_question else None
        try:
            sql: SqlSpecification = read_sql(row.sql, row.dialect)
        except UnscoredError as error:
            return Result(enrichment=enrichment, unscored=error.reason, message=str(error))
        pair = Pair(question, sql, self.rules)
        _ = pair.filters, pair.tolerances  # aligned here, where a failure costs one row
        return row, pair, enrichment


def score_rows(
    rows: Iterable[Mapping[str, Any]],
    rules: ApplicationRules | Mapping[str, Any] | str | Path | None = None,
    judge: str | Path | Mapping[str, Any] | Judge = "rules",
) -> Iterator[Result]:
    """Score rows with `question`, `enriched_question` (may be absent), `sql` and `dialect` (may be absent).

    Args:
        rows: dicts, read lazily.
        rules: the application's rules: rules, a dict, the path of a JSON file, or None.
        judge: as in `Scorer`.

    Returns:
        One result per row, in order.

    Raises:
        RulesError: the rules break their schema.
        OptionError: the judge or a dialect of the rules is unknown.
    """
    return Scorer(ApplicationRules.read(rules), judge).score_rows(rows)


def _given(value: Any) -> Any:
    """A field's value; the NaN that tables have for a missing text is None."""
    return None if isinstance(value, float) and math.isnan(value) else value


_HALVES = re.compile("[\ud800-\udfff]")


def _row(row: Any, dialect: str) -> Row | Result:
    """A checked row, or the result that says what is wrong with it."""
    if not isinstance(row, Mapping):
        return Result(unscored="bad_row", message=f"expected a dict, but got {type(row).__name__}")
    fields = {name: _given(row.get(name)) for name in ("question", "enriched_question", "sql", "dialect")}
    for name, value in fields.items():
        if not isinstance(value, (str, type(None))):
            message = f"`{name}` must be a text, but got {type(value).__name__}"
            return Result(unscored="bad_row", message=message)
    # Halves of UTF-16 pairs are no characters; one sign stands for each, so that spans stay right.
    question, enriched, sql = (
        _HALVES.sub("\ufffd", fields[name] or "") for name in ("question", "enriched_question", "sql")
    )
    enriched = enriched if enriched.strip() else ""
    if not (question.strip() or enriched):
        return Result(unscored="no_question", message="expected a question, but got none")
    longest = max(len(question), len(enriched))
    if longest > MAX_CHARACTERS:
        return Result(
            unscored="question_too_long",
            message=f"expected at most {MAX_CHARACTERS:,} characters, but got {longest:,}",
        )
    word = max((len(word) for text in (question, enriched) for word in text.split()), default=0)
    if word > MAX_WORD:
        message = f"expected words of at most {MAX_WORD:,} characters, but got one of {word:,}"
        return Result(unscored="question_too_long", message=message)
    name = (fields["dialect"] or "").strip().lower() or dialect
    if name != "auto":
        try:
            sql_dialect(name)
        except OptionError as error:
            return Result(unscored="unknown_dialect", message=str(error))
    return Row((question.strip() and question) or enriched, enriched or None, sql, name)


def _texts_and_rest(row: Row) -> tuple[str, str, str]:
    """(user's question, question to align, definitions after it).

    An enriched question that only adds to the user's is read as that question and definitions, which have no
    grammar for spaCy to read.
    """
    asked, enriched = row.question, row.enriched_question
    if not enriched:
        return asked, asked, ""
    start = asked.rstrip()
    if start and enriched.startswith(start):
        return start, start, enriched[len(start) :]
    return asked, enriched, ""


def _texts(row: Row) -> tuple[str, str]:
    asked, whole, _ = _texts_and_rest(row)
    return asked, whole


def _result(pair: Pair, enrichment: Enrichment | None, judgement: Judgement) -> Result:
    if judgement.verdict not in VERDICT_POINTS:
        message = judgement.reason or f"expected one of {list(VERDICT_POINTS)}, but got {judgement.verdict!r}"
        return Result(
            enrichment=enrichment,
            unscored="no_verdict",
            message=message,
            dialect=pair.sql.dialect,
            score_without_judge=_without_judge(pair, judgement),
        )
    filters, verdict = pair.filters, judgement.verdict
    score = _phi(pair, judgement)
    return Result(
        score=score,
        p_correct=None if judgement.p_correct is None else round(judgement.p_correct, 6),
        band=band(score),
        filter_status=filters.status,
        verdict=verdict,
        confidence=round(judgement.confidence, 6),
        enrichment=enrichment,
        reasons=_reasons(pair, judgement, score),
        dialect=pair.sql.dialect,
        tolerances=tuple(f"{t.rule}: {t.message}" for t in pair.tolerances),
        judge_reason=judgement.reason,
        judge_conflict=judgement.conflict,
        score_without_judge=_without_judge(pair, judgement),
    )


def _phi(pair: Pair, judgement: Judgement) -> float:
    points = VERDICT_POINTS[judgement.verdict or "incorrect"]
    return round(phi(pair.filters.points, points, pair.filters.bonus, judgement.confidence), 4)


def _without_judge(pair: Pair, judgement: Judgement) -> float | None:
    """Phi by the rules alone, where another judge was asked."""
    without = judgement.without
    return None if without is None or without.verdict is None else _phi(pair, without)


def _reasons(pair: Pair, judgement: Judgement, score: float) -> tuple[Reason, ...]:
    """Every point short of 100, with the rule that took it.

    Filter points go to the filter findings alike; verdict points and what the confidence takes go to the
    judge's findings by their shares, or to how seldom such questions are answered rightly where it found
    nothing.
    """
    filters = pair.filters
    held = [f for f in (*filters.missing, *filters.extras) if f.rule in FILTER_RULES] or [
        Finding("extra_filter", "a condition nobody asked for, benign by the rules", m.question, m.sql)
        for m in filters.benign
    ]
    whole = min(10, filters.points + VERDICT_POINTS[judgement.verdict or "incorrect"] + filters.bonus) * 10
    lost_filter = min(100.0 - whole, (FILTER_POINTS["fully_applied"] - filters.points - filters.bonus) * 10.0)
    lost_verdict, lost_confidence = 100.0 - whole - lost_filter, whole - score
    shares = [(finding, share) for finding, share in judgement.findings if share > 0]
    reasons = [
        Reason(f.rule, f.message, round(lost_filter / len(held), 4), f.question, f.sql)
        for f in held
        if lost_filter > 0
    ]
    lost = lost_verdict + lost_confidence
    if lost > 0 and not shares:
        base = Finding(
            "base_rate",
            "nothing is held against it, but such questions are often answered wrongly",
            pair.question.whole,
            pair.sql.whole,
        )
        shares = [(base, 1.0)]
    total = sum(share for _, share in shares)
    if lost > 0:
        reasons += [
            Reason(f.rule, f.message, round(lost * s / total, 4), f.question, f.sql) for f, s in shares
        ]
    return tuple(sorted(reasons, key=lambda r: -r.points))


@dataclass
class Summary:
    """Mean scores and coverage of a stream of results.

    Attributes:
        rows: all rows.
        reasons: unscored rows by reason.
        conflicts: rows with a verdict in conflict; see `judges.cross_check`.
    """

    rows: int = 0
    scored: int = 0
    total: float = 0.0
    total_p: float = 0.0
    with_p: int = 0
    conflicts: int = 0
    reasons: dict[str, int] = field(default_factory=dict)
    bands: dict[str, int] = field(default_factory=dict)

    def add(self, result: Result) -> None:
        """Count one result."""
        self.rows += 1
        if result.score is None:
            self.reasons[result.unscored or "?"] = self.reasons.get(result.unscored or "?", 0) + 1
            return
        self.scored += 1
        self.conflicts += bool(result.judge_conflict)
        self.total += result.score
        self.bands[result.band or "?"] = self.bands.get(result.band or "?", 0) + 1
        if result.p_correct is not None:
            self.total_p += result.p_correct
            self.with_p += 1

    def as_dict(self) -> dict[str, Any]:
        """Means over the scored rows, and over all with the unscored as 0; None without rows."""
        return {
            "score": round(self.total / self.scored, 4) if self.scored else None,
            "score_unscored_as_0": round(self.total / self.rows, 4) if self.rows else None,
            "p_correct": round(self.total_p / self.with_p, 6) if self.with_p else None,
            "coverage": round(self.scored / self.rows, 6) if self.rows else None,
            "rows": self.rows,
            "scored": self.scored,
            "unscored": dict(sorted(self.reasons.items())),
            "bands": {name: self.bands.get(name, 0) for name, _ in BANDS},
            "judge_conflicts": self.conflicts,
        }
