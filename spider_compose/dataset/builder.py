"""The builder behind `load_dataset("spider_compose", ...)`.

The build runs once per builder, when rows are first asked for, and its result is written to the cache of
`datasets` under a key that holds everything that moves a row: the content of the source (not its path), the
signature of the pipeline with all its options and versions, and the package's code. A second load computes
the key, finds the rows and reads them; it loads no language model.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from os import PathLike
from typing import TYPE_CHECKING, Any

import datasets

from spider_compose.composition.build import BuildOptions
from spider_compose.dataset.cache_key import cache_key
from spider_compose.dataset.configs import CONFIGS, DEFAULT_CONFIG, ConfigSpec
from spider_compose.dataset.features import arrow_schema, features
from spider_compose.dataset.registration import NAME
from spider_compose.dataset.tables import ConfigTable, SplitOptions, Tables, why_empty
from spider_compose.errors import OptionError, SourceError, choose

if TYPE_CHECKING:
    import pyarrow

    from spider_compose.source.records import LeftOut, Source

_logger = logging.getLogger(__name__)

ROWS_VERSION = "1.0.0"
"""Version of the columns; part of the cache path. What the rows say is versioned by the signature."""

_ROWS_PER_TABLE = 5000


@dataclass
class SpiderComposeConfig(datasets.BuilderConfig):
    """Options of a load; the keyword arguments of `load_dataset("spider_compose", CONFIG, ...)`.

    Attributes:
        source: "bundled" (our own corpus), a folder with Spider's release, the Hub's Parquet files, a corpus
            of text2sql-data, WikiSQL, BIRD or a corpus of your own, or "xlangai/spider" on the Hub. See
            `spider_compose.source.read_source`.
        revision: commit, branch or tag, for a source on the Hub alone.
        schemas: file with schemas, in place of the one beside the source: in the format of Spider's
            tables.json, or a CSV of text2sql-data, a SQLite file or a DDL script of one database.
        format: "spider", "text2sql", "wikisql", "bird" or "columns", where files are not recognised.
        own_split: of text2sql-data, whether its "question" or its "query" split makes the parts.
        held_out: the corpus's own parts that become the validation part, such as "dev,test"; None for its
            test part, else its development part, else its last fold.
        columns: what a corpus of your own calls the columns, as "query=SQL,question=utterance".
        database: the database of all rows of a corpus that has no column db_id.
        aligner: what assigns words to clauses; None takes the config's own. The configs of whole pairs
            (`spider`, `spider_template` ...) have nothing to align and ignore it.
        deduplicate: where exact (SQL, text) duplicates are dropped: "train", "all" or "none". Configs that
            recombine nothing ignore it.
        dialect: SQL dialect of the source, a name known to sqlglot.
        resolve_aliases: name tables in clauses that stand without their FROM: `WHERE singer.age > 20`
            instead of `WHERE T1.age > 20`.
        strict: stop at the first row that cannot be used instead of leaving it out and counting it.
        spacy_model: spaCy model that gives the lemmas.
        seed: of the splits `spider_template`, `spider_tmcd` and `spider_random`.
        fractions: shares of train, validation and test in `spider_template`, `spider_tmcd`, `spider_length`
            and `spider_random`, as "75/12.5/12.5".
        method: of `spider_tmcd`, "published" or "max".
        split_source: the part of the source that those four split, "train" or "all".
        overlap: what makes two clauses the same in `compose_no_overlap`: "canonical", "strict" or
            "value_blind".
    """

    source: str | PathLike[str] = "bundled"
    revision: str | None = None
    schemas: str | PathLike[str] | None = None
    format: str | None = None
    own_split: str = "question"
    held_out: str | None = None
    columns: str | Mapping[str, str] | None = None
    database: str | None = None
    aligner: str | None = None
    deduplicate: str = BuildOptions.deduplicate
    dialect: str = BuildOptions.dialect
    resolve_aliases: bool | None = None
    strict: bool = BuildOptions.strict
    spacy_model: str = BuildOptions.spacy_model
    seed: int = SplitOptions.seed
    fractions: str = SplitOptions.fractions
    method: str = SplitOptions.method
    split_source: str = SplitOptions.split_source
    overlap: str = SplitOptions.overlap

    # The source read for the cache key is the one that is built: its files may change in between.
    _source: Source | None = field(default=None, init=False, repr=False, compare=False)
    _fingerprint: str | None = field(default=None, init=False, repr=False, compare=False)

    def given(self) -> dict[str, Any]:
        """The build options, without those left to the config."""
        chosen = {field.name: getattr(self, field.name) for field in fields(BuildOptions)}
        return {name: value for name, value in chosen.items() if value is not None}

    def split_options(self) -> SplitOptions:
        """The options of the splits.

        Raises:
            OptionError: a value outside its range.
        """
        return SplitOptions(**{field.name: getattr(self, field.name) for field in fields(SplitOptions)})

    def read_source(self) -> Source:
        """Read the source, once; a pickled copy reads it again.

        Raises:
            SourceError: it is missing, cut short or has the wrong columns, or has changed in between.
        """
        from spider_compose.source import read_source

        if self._source is None:
            source = read_source(
                self.source,
                revision=self.revision,
                dialect=self.dialect,
                strict=self.strict,
                schemas=self.schemas,
                format=self.format,
                own_split=self.own_split,
                held_out=self.held_out,
                columns=self.columns,
                database=self.database,
            )
            if self._fingerprint not in (None, source.fingerprint):
                raise SourceError(
                    f"source {self.source!r} has changed since this builder was made. Make a new builder."
                )
            self._source, self._fingerprint = source, source.fingerprint
        return self._source

    def create_config_id(
        self, config_kwargs: dict[str, Any], custom_features: datasets.Features | None = None
    ) -> str:
        """The name of the cache folder: the config and a hash over everything that moves its rows."""
        features = custom_features.to_dict() if custom_features is not None else None
        key = cache_key(CONFIGS[self.name], self.read_source(), self.given(), self.split_options(), features)
        return f"{self.name}-{key}"

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_source": None}


class SpiderCompose(datasets.ArrowBasedBuilder):
    """Builds SpiderCompose from a source of (SQL, question) pairs."""

    VERSION = ROWS_VERSION
    BUILDER_CONFIG_CLASS = SpiderComposeConfig
    BUILDER_CONFIGS = [  # noqa: RUF012 (the name is that of datasets)
        SpiderComposeConfig(name=spec.name, version=ROWS_VERSION, description=spec.description)
        for spec in CONFIGS.values()
    ]
    DEFAULT_CONFIG_NAME = DEFAULT_CONFIG
    config: SpiderComposeConfig

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Check the names of config and options, then set up as `datasets.DatasetBuilder` does.

        Raises:
            OptionError: there is no such config or option, or a value is outside its range.
        """
        _check_arguments(kwargs)
        # datasets copies a config only if it is given an option; without one all builders would share one
        # config, and with it the source that the first of them read.
        kwargs.setdefault("source", SpiderComposeConfig.source)
        super().__init__(*args, **kwargs)
        self._table: ConfigTable | None = None

    def __getstate__(self) -> dict[str, Any]:
        # Another process builds anew (or reads the cache) rather than receiving all rows.
        return {**super().__getstate__(), "_table": None}

    def _info(self) -> datasets.DatasetInfo:
        made = features(self._spec.kind, self._extra)
        return datasets.DatasetInfo(description=self._spec.description, features=made)

    def _split_generators(self, dl_manager: Any) -> list[datasets.SplitGenerator]:
        # datasets cannot read back a split without rows. Naming the splits alone must not cost a build.
        return [
            datasets.SplitGenerator(name=split, gen_kwargs={"split": split})
            for split in self._spec.splits
            if self._table is None or self._rows(split)
        ]

    def _download_and_prepare(self, *args: Any, **kwargs: Any) -> None:
        # Build before anything is written: an error on bad input reaches the user as it is, not inside a
        # DatasetGenerationError.
        empty = [split for split in self._spec.splits if not self._rows(split)]
        if len(empty) == len(self._spec.splits):
            raise SourceError(f"{self.config.source!r} gives no rows for config {self.config.name!r}.")
        for split in empty:
            reason = why_empty(self._spec, split, self.config.read_source())
            _logger.warning(
                "config %s: split %s has no rows and is left out: %s", self.config.name, split, reason
            )
        super()._download_and_prepare(*args, **kwargs)

    def _generate_tables(self, split: str) -> Iterator[tuple[Any, pyarrow.Table]]:
        import pyarrow as pa

        rows = self._rows(split)
        schema = arrow_schema(self._spec.kind, self._extra)
        for start in range(0, len(rows), _ROWS_PER_TABLE):
            yield start, pa.Table.from_pylist(rows[start : start + _ROWS_PER_TABLE], schema=schema)

    def _rows(self, split: str) -> list[dict[str, Any]]:
        return self._made().rows.get(split, [])

    @property
    def _spec(self) -> ConfigSpec:
        return CONFIGS[self.config.name]

    @property
    def _extra(self) -> tuple[str, ...]:
        return self._spec.extra(self.config.read_source().extra)

    def _made(self) -> ConfigTable:
        if self._table is None:
            tables = Tables(
                self.config.read_source(),
                self.config.given(),
                self.config.split_options(),
                progress=not datasets.are_progress_bars_disabled(),
            )
            self._table = tables.table(self._spec)
            _report(self._table.left_out)
        return self._table


def _check_arguments(arguments: dict[str, Any]) -> None:
    for name in ("data_files", "data_dir"):
        if arguments.get(name) is not None:
            raise OptionError(
                f"`{name}` is not an option of {NAME!r}, but got {arguments[name]!r}. Name a corpus by "
                f'source=..., or load a built folder by its path: load_dataset("./{NAME}").'
            )
    if arguments.get("config_name") is not None:
        choose("config", arguments["config_name"], CONFIGS)
    own = {field.name for field in fields(SpiderComposeConfig) if field.init} - {
        field.name for field in fields(datasets.BuilderConfig)
    }
    of_datasets = inspect.signature(datasets.DatasetBuilder.__init__).parameters
    for name in arguments:
        if name not in of_datasets:
            choose("option", name, sorted(own))


def _report(left_out: Iterable[LeftOut]) -> None:
    by_reason: dict[str, list[LeftOut]] = {}
    for row in left_out:
        by_reason.setdefault(row.reason, []).append(row)
    for reason, rows in sorted(by_reason.items()):
        _logger.warning("source rows left out: %d, %s. The first: %s", len(rows), reason, rows[0].detail)
