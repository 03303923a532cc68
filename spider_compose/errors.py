"""One family of errors: what was expected, what came, where, and what to do.

Every error that bad input can cause is a `SpiderComposeError`; the command line prints its message
without a traceback and exits with 2.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class SpiderComposeError(Exception):
    """Base of all errors raised on bad input."""


class OptionError(SpiderComposeError, ValueError):
    """An option has a value outside its range."""


class SourceError(SpiderComposeError):
    """A source corpus is missing, cut short or has the wrong columns."""


class ClauseError(SpiderComposeError, ValueError):
    """A query cannot be cut into clauses.

    Attributes:
        position: 0-based character in the query where reading stopped, or None.
    """

    def __init__(self, message: str, position: int | None = None) -> None:
        super().__init__(message)
        self.position = position


class AlignmentError(SpiderComposeError, ValueError):
    """A question cannot be aligned with its clauses."""


class EvaluationError(SpiderComposeError, ValueError):
    """Predictions and rows, or two results, cannot be compared."""


class OutputError(SpiderComposeError):
    """An output folder cannot be written, or holds a half-written build."""


class ReportError(SpiderComposeError):
    """The report of an experiment is missing, cut short or lacks what it must say."""


class HubError(SpiderComposeError):
    """The folder of a repository cannot be published, or the Hub refuses it."""


class RatingError(SpiderComposeError, ValueError):
    """A rating sheet, or the key to it, cannot be read as it came back."""


class MissingExtraError(SpiderComposeError, ImportError):
    """An optional dependency is not installed."""


def choose(name: str, value: str, valid: Iterable[str]) -> str:
    """Return `value` if it is one of `valid`, else raise with the nearest valid name.

    Raises:
        OptionError: `value` is not among `valid`.
    """
    options = list(valid)
    if value in options:
        return value
    raise OptionError(f"`{name}` must be one of {options}, but got {value!r}.{_nearest(value, options)}")


def missing_column(place: str, column: str, there: Iterable[str], option: str) -> OptionError:
    """The error for rows without a column; its name may be a default that the user never gave.

    Args:
        place: what was read.
        column: the one that is not there.
        there: the columns there are.
        option: the one that names another column.
    """
    found = list(there)
    return OptionError(
        f"{place}: expected a column {column!r}, but its columns are {found}. Name the one that holds it: "
        f"add `{option} NAME` to the command.{_nearest(column, found)}"
    )


def _nearest(value: str, valid: list[str]) -> str:
    near = get_close_matches(str(value), valid, n=1)
    return f" Did you mean {near[0]!r}?" if near else ""
