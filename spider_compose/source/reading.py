"""How a corpus is read: what moves its rows besides its files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path

from spider_compose.errors import OptionError, choose
from spider_compose.source.rows import COLUMNS

OWN_SPLITS = ("question", "query")


@dataclass(frozen=True)
class Reading:
    """What an adapter is told.

    Attributes:
        schemas: a file or folder with schemas, in place of those beside the rows.
        dialect: SQL dialect of the corpus, and of a DDL script with its schemas.
        own_split: which of a corpus's own two splits makes its parts: "question" divides the questions,
            "query" keeps all questions of a query in one part. Only text2sql-data has both.
        held_out: names of the corpus's own parts that are held out; empty for its test part, else its
            development part, else the last of its folds.
        columns: our name of a column -> the corpus's, where they differ.
        database: the `db_id` of all rows of a corpus without such a column.

    Raises:
        OptionError: a value is not one of those named.
    """

    schemas: Path | None = None
    dialect: str = "sqlite"
    own_split: str = "question"
    held_out: tuple[str, ...] = ()
    columns: Mapping[str, str] = field(default_factory=dict)
    database: str | None = None

    def __post_init__(self) -> None:
        choose("own_split", self.own_split, OWN_SPLITS)
        if self.database is not None and not (isinstance(self.database, str) and self.database.strip()):
            raise OptionError(
                f"`database` must be a name, but got {self.database!r}. Leave it out, or name it."
            )

    def check_used(self, source: str, options: Sequence[str]) -> None:
        """Refuse what a source would pass over.

        Args:
            source: what it is, for the message.
            options: the attributes that it reads.

        Raises:
            OptionError: another one is not the default.
        """
        for own in fields(self):
            usual = own.default if own.default_factory is MISSING else own.default_factory()
            if own.name not in (*options, "dialect") and getattr(self, own.name) != usual:
                raise OptionError(
                    f"`{own.name}` does not go with {source}, only {', '.join(options)}. Leave it out."
                )

    def moved(self) -> str:
        """What is not the default, as text for the fingerprint; empty where all is."""
        chosen = {
            "own_split": "" if self.own_split == OWN_SPLITS[0] else self.own_split,
            "held_out": ",".join(self.held_out),
            "columns": ",".join(f"{ours}={theirs}" for ours, theirs in sorted(self.columns.items())),
            "database": self.database or "",
        }
        return "|".join(f"{name}:{value}" for name, value in chosen.items() if value)


def parse_columns(columns: str | Mapping[str, str] | None) -> dict[str, str]:
    """The names of columns, given as a mapping or as a text.

    >>> parse_columns("query=SQL,question=utterance")
    {'query': 'SQL', 'question': 'utterance'}

    Raises:
        OptionError: the text is not of this form, or names a column that there is none of.
    """
    if columns is None:
        return {}
    if isinstance(columns, str):
        pairs = [part.partition("=") for part in columns.split(",") if part.strip()]
        named = [(ours.strip(), theirs.strip()) for ours, _, theirs in pairs]
    else:
        named = list(columns.items()) if hasattr(columns, "items") else [("", "")]
    for ours, theirs in named:
        if not isinstance(theirs, str) or not theirs or not isinstance(ours, str) or not ours:
            raise OptionError(
                "`columns` must name columns as 'query=SQL,question=utterance' (ours=the file's), but got "
                f"{columns!r}."
            )
        choose("columns", ours, COLUMNS)
    found = {**{ours: ours for ours in COLUMNS}, **dict(named)}
    if len(dict(named)) < len(named) or found["query"] == found["question"]:
        raise OptionError(
            f"`columns` must name each column once, query and question by two names, but got {columns!r}."
        )
    return dict(named)


def parse_parts(names: str | None) -> tuple[str, ...]:
    """Names of a corpus's own parts between commas.

    >>> parse_parts("dev, test")
    ('dev', 'test')

    Raises:
        OptionError: it is no text.
    """
    if names is None:
        return ()
    if not isinstance(names, str):
        raise OptionError(f"`held_out` must be names of parts as 'dev,test', but got {names!r}.")
    return tuple(name.strip() for name in names.split(",") if name.strip())
