"""The card (README.md) of a Hub folder, written from the build's own numbers."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from spider_compose.composition.build import PAPER_COUNTS
from spider_compose.dataset.configs import SPLITS, ConfigSpec
from spider_compose.dataset.features import columns, yaml_features
from spider_compose.dataset.tables import why_empty

if TYPE_CHECKING:
    from spider_compose.composition.build import Build
    from spider_compose.dataset.hub_folder import SplitFile
    from spider_compose.dataset.tables import ConfigTable
    from spider_compose.source.records import Source

SPIDER_NAME = "spider-1.0"
"""`Source.name` of the release whose pairs the paper counts."""

EXAMPLES_PER_SPLIT = 2

# Size categories as the Hub names them, by the first size that is too large for each.
_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))

_PAPER = """\
The method is that of Chen et al. 2024, *Combinatorial Generalization Ability Evaluation Method of
SQL-to-text Model*, Computer Engineering 50(3), 326-335,
[doi:10.19678/j.issn.1000-3428.0067251](https://doi.org/10.19678/j.issn.1000-3428.0067251); "the paper"
below. Experiment 1 there trains on all training pairs, experiment 2 on those without a clause of the test
set. Built by the Python package SpiderCompose, whose version is in the signatures. Please cite the paper and
the source."""

_INTRODUCTION = """\
Pairs of SQL and English text for measuring how well SQL-to-text models generalise to compositions that they
have not seen. Every clause of a query is paired with the words of the question that say it; every non-empty
subset of the clauses, with its words, is one pair. Training has pairs of one and two clauses; validation and
test have three and more."""

_STEPS = """\
1. Each query is cut at its top-level keywords into clauses (SELECT with FROM and joins, WHERE, GROUP BY with
   HAVING, ORDER BY with LIMIT; INTERSECT, UNION and EXCEPT with the whole query that follows).
2. Each word of the question is tagged with the clauses that it speaks for, and the tags are turned into
   intervals of words.
3. Every non-empty subset of the clauses gives one pair. Words that clauses share appear once, in the order of
   the question, cut from its own characters; all clauses together give the question back.
4. Pairs of one and two clauses are training; those of three and more are validation where they come from the
   source's training part, test where they come from its validation part."""

_OPTIONS = """\
What is done to a pair once its words and clauses are chosen, with examples from Spider:

| what | without | with |
| --- | --- | --- |
| `resolve_aliases` (on in `compose`, off in `compose_paper`): clauses without their FROM name tables | \
`WHERE T2.year > 2014` | `WHERE concert.year > 2014` |
| a text that begins its sentence keeps the sentence's final mark (aligner `segment`) | \
What are the names of singers | What are the names of singers? |
| words that only join two clauses (`joining_ids`) are left out where one is missing (`segment`) | \
and after 1955 | after 1955 |
| superlatives go with ORDER BY alone, where GROUP BY shares its words (`segment`) | \
that has the most concerts? | \
that has concerts? |
| two clauses said as a pair share their lead (`segment`) | drivers the Chinese Grand Prix? | \
drivers who participated in the Chinese Grand Prix? |

A self join keeps its aliases, as does a nested query its own: their tables would not be told apart."""

_SPLITS = """\
The paper names template and TMCD splits without sizes of parts. Here the source's training part is split in
three, by default 75 / 12.5 / 12.5 % (the signature has what was used):

- template (Finegan-Dollak et al. 2018): templates in shuffled order are taken whole into training until the
  next would pass its share, then into validation, then test; no template is in two parts.
- TMCD (Shaw et al. 2021): the held-out part is divided by distinct query, alternating along SQL length, so
  that validation and test are alike and share no query; every atom of both is in training.
- length: the longest SQL is held out and divided like TMCD. random: by row.
- `compose_no_overlap`: training pairs with any clause of the test split are left out. Clauses are the same
  when their text is, with aliases resolved, case of words and white space folded, values kept; options
  compare more strictly or without values."""

_LIMITS = """\
- The alignment is automatic. A fragment may lack a word or hold one too many; config `alignment` has the tags
  and intervals behind every pair.
- Fragments are pieces of a question, not rewritten: on their own they need not be full sentences.
- Pairs without a SELECT clause are pieces of SQL; they do not run on a database.
- A question may stand word for word in training with fewer clauses in its SQL, where language has no words
  of its own for the clause left out ("with the most singers" says GROUP BY and ORDER BY). On Spider 127 of
  the 200 test questions of `compose` do; of `compose_no_overlap` none.
- Pairs from one source row share words. Splits follow the number of clauses, so the same words and databases
  stand in training and validation; that is what the task asks for, and no measure of unseen databases.
- The questions are English."""


def render_card(
    tables: Sequence[ConfigTable],
    files: Mapping[str, Sequence[SplitFile]],
    source: Source,
    build: Build | None = None,
) -> str:
    """Render the dataset card.

    Args:
        tables: the configs in the folder; the first is the default, and its first rows are shown.
        files: the Parquet files by config.
        source: what the rows were made from.
        build: the build behind the first config, whose counts and way of building are shown.
    """
    import yaml

    configs = [table.spec for table in tables]

    header = yaml.safe_dump(
        _metadata(source, files, configs), sort_keys=False, allow_unicode=True, width=1000
    )
    sections = [
        ("SpiderCompose", f"{_INTRODUCTION}\n\n{_PAPER}"),
        ("Use", _use(configs, files)),
        *([("Counts", _counts(build, tables[0]))] if build else []),
        ("How it was built", (f"{_STEPS}\n\n" if build else "") + _made_from(source, tables)),
        *([("Texts and aliases", _OPTIONS)] if build else []),
        *([("The splits", _SPLITS)] if any(_is_split(spec) for spec in configs) else []),
        ("Columns", _columns(configs, source.extra)),
        ("Examples", _examples(tables[0])),
        ("Known limits", _LIMITS),
        ("Licence and attribution", _licence(source)),
    ]
    body = "\n\n".join(
        f"{'##' if index else '#'} {title}\n\n{text}" for index, (title, text) in enumerate(sections)
    )
    return f"---\n{header}---\n\n{body}\n"


def _is_split(spec: ConfigSpec) -> bool:
    return spec.recipe not in ("compose", "alignment", "source")


def _metadata(
    source: Source, files: Mapping[str, Sequence[SplitFile]], configs: Sequence[ConfigSpec]
) -> dict[str, Any]:
    spider = source.name == SPIDER_NAME
    return {
        "pretty_name": "SpiderCompose",
        "language": ["en"],
        "license": _licence_id(source.license),
        "task_categories": ["text-generation"],
        "tags": [
            "sql-to-text",
            "text-to-sql",
            "compositional-generalization",
            "code",
            *(["spider"] if spider else []),
        ],
        **({"source_datasets": ["xlangai/spider"]} if spider else {}),
        "size_categories": [_size_category(sum(file.num_rows for file in files[configs[0].name]))],
        "configs": [
            {
                "config_name": spec.name,
                **({"default": True} if spec is configs[0] else {}),
                "data_files": [{"split": file.split, "path": file.path} for file in files[spec.name]],
            }
            for spec in configs
        ],
        "dataset_info": [_dataset_info(spec, source.extra, files[spec.name]) for spec in configs],
    }


def _dataset_info(spec: ConfigSpec, extra: Sequence[str], files: Sequence[SplitFile]) -> dict[str, Any]:
    return {
        "config_name": spec.name,
        "features": yaml_features(spec.kind, spec.extra(extra)),
        "splits": [
            {"name": file.split, "num_bytes": file.num_bytes, "num_examples": file.num_rows} for file in files
        ],
        "download_size": sum(file.file_bytes for file in files),
        "dataset_size": sum(file.num_bytes for file in files),
    }


def _use(configs: Sequence[ConfigSpec], files: Mapping[str, Sequence[SplitFile]]) -> str:
    rows = []
    for spec in configs:
        sizes = {file.split: f"{file.num_rows:,}" for file in files[spec.name]}
        rows.append([f"`{spec.name}`", spec.description, *(sizes.get(split, "") for split in SPLITS)])
    return (
        "```python\nfrom datasets import load_dataset\n\n"
        f'pairs = load_dataset("path/to/this/folder")  # config {configs[0].name}\n'
        f'alignment = load_dataset("path/to/this/folder", "alignment")\n```\n\n'
        + _table(["config", "rows", *SPLITS], rows)
    )


def _counts(build: Build, pairs: ConfigTable) -> str:
    sizes = sorted({size for counts in build.counts.values() for size in counts.by_clauses})
    paper = build.source.name == SPIDER_NAME
    header = ["split", "pairs", "before deduplication", *(["paper"] if paper else [])]
    rows = [
        [
            split,
            f"{counts.pairs:,}",
            f"{counts.before_deduplication:,}",
            *([f"{PAPER_COUNTS[split]:,}"] if paper else []),
            *(f"{counts.by_clauses.get(size, 0):,}" for size in sizes),
        ]
        for split, counts in build.counts.items()
    ]
    notes = [
        f"Exact (SQL, text) duplicates were dropped in: {build.options.deduplicate}.",
        f"Left out because their clauses have no words: "
        f"{sum(counts.without_words for counts in build.counts.values()):,} pairs.",
    ]
    if build.left_out:
        counted = sorted(Counter(row.reason for row in build.left_out).items())
        reasons = "; ".join(f"{count:,}: {reason}" for reason, count in counted)
        notes.append(
            f"Source rows left out: {len(build.left_out):,} ({reasons}); `signature.json` names each."
        )
    else:
        notes.append("No source row was left out.")
    notes += [
        f"Split `{split}` has no rows, so it has no file: {why_empty(pairs.spec, split, build.source)}."
        for split, counts in build.counts.items()
        if not counts.pairs
    ]
    if paper:
        notes.append("Column `paper` holds the published counts.")
    return _table([*header, *(_clauses(size) for size in sizes)], rows) + "\n\n" + "\n".join(notes)


def _clauses(size: int) -> str:
    return f"{size} clause{'s' if size > 1 else ''}"


def _made_from(source: Source, tables: Sequence[ConfigTable]) -> str:
    lines = [f"Source: {source.release or source.name}."]
    lines += [f"Note: {note}." for note in source.notes]
    signatures: dict[str, list[str]] = {}
    for table in tables:
        signatures.setdefault(table.signature, []).append(table.spec.name)
    lines.append("Signatures, with everything that moves a row:\n\n```")
    lines += [f"{', '.join(names)}:\n    {signature}" for signature, names in signatures.items()]
    return "\n".join([*lines, "```"])


def _columns(configs: Sequence[ConfigSpec], extra: Sequence[str]) -> str:
    names: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for spec in configs:
        names.setdefault((spec.kind, spec.extra(extra)), []).append(f"`{spec.name}`")
    sections = []
    for kind, of_kind in names.items():
        rows = [[f"`{column.name}`", _type_name(column.type), column.meaning] for column in columns(*kind)]
        sections.append(f"{', '.join(of_kind)}:\n\n" + _table(["column", "type", "meaning"], rows))
    return "\n\n".join(sections)


def _type_name(type_: Any) -> str:
    return f"list of {_type_name(type_[0])}" if isinstance(type_, list) else str(type_)


def _examples(table: ConfigTable) -> str:
    shown = [
        f"`{split}`\n\n```json\n{json.dumps(row, ensure_ascii=False, indent=2)}\n```"
        for split, rows in table.rows.items()
        for row in rows[:EXAMPLES_PER_SPLIT]
    ]
    return "\n\n".join(shown)


def _licence(source: Source) -> str:
    text = (
        f"The rows are derived from their source and inherit its licence, {source.license}."
        if source.license
        else "The rows are derived from their source, whose licence is not known: state it before sharing."
    )
    if source.attribution:
        text += f"\n\n{source.attribution}"
    return text + "\n\nThe code that made them is under Apache-2.0."


def _licence_id(name: str | None) -> str:
    """A licence as the Hub writes it: "CC BY-SA 4.0" -> "cc-by-sa-4.0"."""
    return name.lower().replace(" ", "-") if name else "unknown"


def _size_category(rows: int) -> str:
    return next((name for limit, name in _SIZES if rows < limit), "n>1M")


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)
