"""From a source to the rows of SpiderCompose (sections 3 and 4): clauses, alignment, recombination, parts.

training    subsets of 1 and 2 clauses, from both parts of the source
validation  subsets of 3 clauses and more, from the source's training part
test        subsets of 3 clauses and more, from the source's validation part
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import metadata
from itertools import islice
from pathlib import Path
from typing import Any

import spider_compose
from spider_compose.alignment import ALIGNERS, Alignment, Word, all_alignments, clause_words
from spider_compose.alignment.evidence import ClauseWords
from spider_compose.alignment.words import read_words
from spider_compose.composition.processes import in_order
from spider_compose.composition.recombination import recombine
from spider_compose.errors import AlignmentError, ClauseError, SourceError, SpiderComposeError, choose
from spider_compose.language import BATCH_SIZE, load_model, model_version
from spider_compose.source.records import LeftOut, Source, SourcePair
from spider_compose.sql.aliases import resolve_aliases
from spider_compose.sql.clauses import Clause, join_clauses, split_clauses, sql_dialect

DEDUPLICATE = ("none", "train", "all")
SPLITS = ("train", "validation", "test")
MAX_TRAINING_CLAUSES = 2

# Pairs of the published SpiderCompose, for comparison (Chen et al. 2024).
PAPER_COUNTS = {"train": 25_709, "validation": 1_584, "test": 200}

# The code that decides the rows; its bytes are in the signature.
_PIPELINE = ("language.py", "sql/**/*.py", "source/**/*.py", "alignment/**/*.py", "composition/**/*.py")


@dataclass(frozen=True)
class BuildOptions:
    """Everything that moves the rows, besides the source.

    Attributes:
        aligner: a name in `spider_compose.alignment.ALIGNERS`.
        dialect: SQL dialect of the source's queries, any that sqlglot knows.
        deduplicate: drop pairs whose query and text an earlier pair of the same part has: in "train" only
            (nearest to the published counts), in "all" parts, or in "none".
        resolve_aliases: name tables in clauses that stand without their FROM: `WHERE singer.age > 20` instead
            of `WHERE T1.age > 20`.
        strict: stop at the first row that cannot be used, instead of leaving it out and counting it.
        spacy_model: an English spaCy pipeline with a tagger and a lemmatizer.

    Raises:
        OptionError: a value is not one of those named.
    """

    aligner: str = "segment"
    dialect: str = "sqlite"
    deduplicate: str = "train"
    resolve_aliases: bool = True
    strict: bool = False
    spacy_model: str = "en_core_web_sm"

    def __post_init__(self) -> None:
        choose("aligner", self.aligner, ALIGNERS)
        choose("deduplicate", self.deduplicate, DEDUPLICATE)
        sql_dialect(self.dialect)


@dataclass(frozen=True)
class SplitCounts:
    """What became of one part's pairs.

    Attributes:
        pairs: pairs in the part.
        before_deduplication: pairs before exact duplicates were dropped.
        by_clauses: pairs by number of clauses.
        without_words: recombinations left out because their clauses have no words.
    """

    pairs: int
    before_deduplication: int
    by_clauses: Mapping[int, int]
    without_words: int


@dataclass(frozen=True)
class Build:
    """The rows of one build.

    Attributes:
        alignments: by part of the source, one row per usable pair of it.
        pairs: by part of the dataset ("train", "validation", "test").
        left_out: rows of the source that could not be used, those of reading included.
        counts: per part of the dataset.
        signature: everything that moves the rows, in one line.
    """

    source: Source
    options: BuildOptions
    alignments: Mapping[str, list[dict[str, Any]]]
    pairs: Mapping[str, list[dict[str, Any]]]
    left_out: tuple[LeftOut, ...]
    counts: Mapping[str, SplitCounts]
    signature: str


@dataclass(frozen=True)
class AnalysedPair:
    """A source pair as every build starts from it.

    Attributes:
        clauses: of its query.
        words: of its question.
        alignments: what each aligner finds, by name; nothing where the question has no words.
    """

    pair: SourcePair
    clauses: tuple[Clause, ...]
    words: tuple[Word, ...]
    alignments: Mapping[str, Alignment]


@dataclass(frozen=True)
class Analysis:
    """A source, read and aligned by all aligners; builds that differ in their aligner share it.

    Attributes:
        pairs: the usable pairs by part of the source.
        left_out: rows of the source that could not be used so far, those of reading included.
    """

    pairs: Mapping[str, list[AnalysedPair]]
    left_out: tuple[LeftOut, ...]


def analyse(
    source: Source, options: BuildOptions = BuildOptions(), progress: bool = False, workers: int = 1
) -> Analysis:
    """Cut the queries into clauses, read the words of the questions and align them.

    Args:
        options: its `dialect`, `spacy_model` and `strict` count.
        progress: show progress bars where standard error is a terminal.
        workers: processes that share the work, where the system can fork; they move no row.

    Raises:
        SourceError: `options.strict`, and a query cannot be cut.
        MissingExtraError: spaCy or its model is not installed.
    """
    left_out = list(source.left_out)
    analysed = {}
    for part, pairs in source.pairs.items():
        usable: list[tuple[SourcePair, tuple[Clause, ...]]] = []
        for pair in pairs:
            try:
                usable.append((pair, split_clauses(pair.query, options.dialect)))
            except ClauseError as error:
                _leave_out(pair, "the query cannot be cut into clauses", error, options, left_out)
        read = _read_and_align(usable, source, options, workers)
        analysed[part] = [
            AnalysedPair(pair, clauses, words, found)
            for (pair, clauses), (words, found) in zip(
                usable, _with_progress(read, len(usable), f"aligning {part}", progress), strict=True
            )
        ]
    return Analysis(analysed, tuple(left_out))


_Read = tuple[tuple[Word, ...], dict[str, Alignment]]


def _read_and_align(
    usable: Sequence[tuple[SourcePair, tuple[Clause, ...]]],
    source: Source,
    options: BuildOptions,
    workers: int,
) -> Iterator[_Read]:
    """Words and alignments of each pair, in order, batch by batch."""

    def read_batch(start: int) -> list[_Read]:
        batch = usable[start : start + BATCH_SIZE]
        known: dict[tuple[str, str], tuple[ClauseWords, ...]] = {}
        made: list[_Read] = []
        questions = [pair.question for pair, _ in batch]
        for (pair, clauses), words in zip(batch, read_words(questions, options.spacy_model), strict=True):
            key = (pair.db_id, pair.query)
            if key not in known:
                known[key] = clause_words(clauses, source.schema(pair.db_id), options.dialect)
            made.append((words, all_alignments(words, known[key]) if words else {}))
        return made

    starts = range(0, len(usable), BATCH_SIZE)
    for batch in in_order(read_batch, starts, workers, lambda: load_model(options.spacy_model)):
        yield from batch


def build(
    source: Source,
    options: BuildOptions = BuildOptions(),
    progress: bool = False,
    analysis: Analysis | None = None,
    workers: int = 1,
) -> Build:
    """Build SpiderCompose from a source.

    Args:
        progress: show progress bars where standard error is a terminal.
        analysis: of this source by options with the same dialect and spaCy model, where it is there already.
        workers: processes that share the work (see `analyse`).

    Raises:
        SourceError: no row of the source can be used, or `options.strict` and one cannot.
        MissingExtraError: spaCy or its model is not installed.
    """
    analysis = analysis or analyse(source, options, progress, workers)
    left_out = list(analysis.left_out)
    alignments = {
        part: _align_part(analysis.pairs[part], source.extra, options, left_out) for part in analysis.pairs
    }
    if not any(alignments.values()):
        first = f" The first: {left_out[0].detail}" if left_out else ""
        raise SourceError(
            f"no row of the source {source.name!r} can be used ({len(left_out)} left out).{first}"
        )
    composed: dict[str, list[dict[str, Any]]] = {split: [] for split in SPLITS}
    without_words: Counter[str] = Counter()
    for part, rows in alignments.items():
        for row in rows:
            for pair in compose_row(row, options):
                split = split_of(part, pair["num_clauses"])
                if pair["question"].strip():
                    composed[split].append(pair)
                else:
                    without_words[split] += 1
    pairs: dict[str, list[dict[str, Any]]] = {}
    counts: dict[str, SplitCounts] = {}
    for split, rows in composed.items():
        drop = options.deduplicate in ("all", split)
        pairs[split] = list(_first_of_equals(rows)) if drop else rows
        by_clauses = Counter(pair["num_clauses"] for pair in pairs[split])
        counts[split] = SplitCounts(
            len(pairs[split]), len(rows), dict(sorted(by_clauses.items())), without_words[split]
        )
    return Build(source, options, alignments, pairs, tuple(left_out), counts, signature(source, options))


def split_of(source_split: str, num_clauses: int) -> str:
    """The part of the dataset that a recombination belongs to (section 4)."""
    if num_clauses <= MAX_TRAINING_CLAUSES:
        return "train"
    return "validation" if source_split == "train" else "test"


def alignment_row(
    pair: SourcePair,
    clauses: Sequence[Clause],
    words: Sequence[Word],
    found: Alignment,
    extra: Sequence[str] = (),
) -> dict[str, Any]:
    """One row of the `alignment` configuration: a source pair with its clauses, words, tags and fragments.

    Args:
        extra: columns that pairs of its source have beside the three.
    """
    made = recombine(pair.question, words, clauses, found.clause_token_ids, found.joining_ids)
    singles = islice(made, len(clauses))  # the subsets of one clause come first
    return {
        "source_split": pair.split,
        "source_row": pair.row,
        "db_id": pair.db_id,
        "question": pair.question,
        "query": pair.query,
        "tokens": [word.text for word in words],
        "token_spans": [[word.start, word.end] for word in words],
        "tags": list(found.tags),
        "clause_types": [clause.type for clause in clauses],
        "clause_sql": [clause.sql for clause in clauses],
        "clause_token_ids": [list(ids) for ids in found.clause_token_ids],
        "joining_ids": list(found.joining_ids),
        "fragments": [made.text for made in singles],
        "alignment_confidence": found.confidence,
        **_extra_values(pair, extra),
    }


def source_pair_row(pair: SourcePair, clauses: Sequence[Clause], extra: Sequence[str] = ()) -> dict[str, Any]:
    """A source pair as it stands, with the columns of a recombined one; it has not been aligned.

    Args:
        extra: columns that pairs of its source have beside the three.
    """
    subset = list(range(len(clauses)))
    return {
        "id": pair_id(pair.split, pair.row, subset),
        "db_id": pair.db_id,
        "query": pair.query,
        "question": pair.question,
        "clause_types": [clause.type for clause in clauses],
        "num_clauses": len(clauses),
        "source_split": pair.split,
        "source_row": pair.row,
        "clause_subset": subset,
        "alignment_confidence": None,
        **_extra_values(pair, extra),
    }


def _extra_values(pair: SourcePair, extra: Sequence[str]) -> dict[str, Any]:
    found = {name: getattr(pair, name) for name in extra}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in found.items()}


def pair_id(source_split: str, source_row: int, subset: Sequence[int]) -> str:
    """Name of a pair: where it comes from and which clauses it has, as in "train-17-02"."""
    return f"{source_split}-{source_row}-{''.join(map(str, subset))}"


def compose_row(row: Mapping[str, Any], options: BuildOptions | None = None) -> Iterator[dict[str, Any]]:
    """The recombined pairs of one `alignment` row, by size of their clause subset (section 3.3).

    Args:
        options: its `resolve_aliases` and `dialect` count; the defaults where none are given.
    """
    options = options or BuildOptions()
    clauses = [
        Clause(kind, sql, 0, 0) for kind, sql in zip(row["clause_types"], row["clause_sql"], strict=True)
    ]
    words = [
        Word(text, "", "", start, end)
        for text, (start, end) in zip(row["tokens"], row["token_spans"], strict=True)
    ]
    resolved = resolve_aliases(clauses, options.dialect) if options.resolve_aliases else clauses
    for made in recombine(row["question"], words, clauses, row["clause_token_ids"], row["joining_ids"]):
        # Where the first clause is, with its FROM, aliases mean something; where it isn't, tables are named.
        alone = made.subset[0] > 0
        yield {
            "id": pair_id(row["source_split"], row["source_row"], made.subset),
            "db_id": row["db_id"],
            "query": join_clauses([resolved[clause] for clause in made.subset]) if alone else made.query,
            "question": made.text,
            "clause_types": [clauses[clause].type for clause in made.subset],
            "num_clauses": len(made.subset),
            "source_split": row["source_split"],
            "source_row": row["source_row"],
            "clause_subset": list(made.subset),
            "alignment_confidence": row["alignment_confidence"],
        }


def signature(source: Source, options: BuildOptions) -> str:
    """Everything that moves the rows, in one line, as sacrebleu prints it; spaCy is not loaded for it.

    Raises:
        MissingExtraError: the spaCy model is not installed.
    """
    model, version = model_version(options.spacy_model)
    fields = {
        "source": source.release or source.name,
        "fingerprint": source.fingerprint[:16],
        "revision": source.revision,
        "aligner": options.aligner,
        "dialect": options.dialect,
        "dedup": options.deduplicate,
        "aliases": "resolved" if options.resolve_aliases else None,
        "code": code_hash()[:12],
        "sqlglot": metadata.version("sqlglot"),
        "spacy": metadata.version("spacy"),
        model: version,
        "version": spider_compose.__version__,
    }
    return "|".join(f"{name}:{value}" for name, value in fields.items() if value is not None)


@lru_cache(maxsize=1)
def code_hash() -> str:
    """SHA-256 of the source code that decides the rows."""
    root = Path(spider_compose.__file__).parent
    digest = hashlib.sha256()
    for pattern in _PIPELINE:
        for file in sorted(root.glob(pattern)):
            digest.update(file.relative_to(root).as_posix().encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()


def _align_part(
    pairs: Sequence[AnalysedPair], extra: Sequence[str], options: BuildOptions, left_out: list[LeftOut]
) -> list[dict[str, Any]]:
    rows = []
    for one in pairs:
        if one.alignments:
            found = one.alignments[options.aligner]
            rows.append(alignment_row(one.pair, one.clauses, one.words, found, extra))
        else:
            error = AlignmentError("expected a question with words, but got none")
            _leave_out(one.pair, "the question cannot be aligned", error, options, left_out)
    return rows


def _leave_out(
    pair: SourcePair, reason: str, error: SpiderComposeError, options: BuildOptions, left_out: list[LeftOut]
) -> None:
    detail = f"{pair.split} row {pair.row} ({pair.db_id}): {error}"
    if options.strict:
        raise SourceError(detail) from error
    left_out.append(LeftOut(pair.split, pair.row, reason, detail))


def _first_of_equals(pairs: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    seen: set[tuple[str, str]] = set()
    for pair in pairs:
        key = (pair["query"], pair["question"])
        if key not in seen:
            seen.add(key)
            yield pair


def _with_progress(results: Iterator[_Read], total: int, task: str, progress: bool) -> Iterator[_Read]:
    if not progress:
        return results
    from tqdm import tqdm

    return iter(tqdm(results, desc=task, total=total, unit=" pairs", disable=None))
