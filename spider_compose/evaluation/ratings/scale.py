"""What a rating means: one scale, written guidelines, and the percentage that the tables print.

The paper (section 5) gives a human score in percent beside BLEU and exact match, and the average of the
three; the wording of its scale is not known to us. Assumed here is the field's usual form: one rating from 1
to 5 of how well a sentence says what its SQL asks, correctness before fluency. A mean rating becomes a
percentage by its place on the scale, so that 1 is 0 % and 5 is 100 %.
"""

from __future__ import annotations

from dataclasses import dataclass

LOWEST, HIGHEST = 1, 5

LABELS: dict[int, tuple[str, str]] = {
    5: ("Right, reads well", "Says all that the SQL asks and nothing else, in good language."),
    4: ("Right, clumsy", "Says all that the SQL asks; the language stumbles, but there is no doubt."),
    3: ("Nearly right", "One detail is missing, wrong or in doubt: a column, a value, an order, a limit."),
    2: ("Partly right", "Several details are missing or wrong, but it is about the same thing."),
    1: ("Wrong", "Asks something else, cannot be understood, or says nothing."),
}


@dataclass(frozen=True)
class Example:
    """A sentence for `EXAMPLE_SQL`, and the rating that it deserves."""

    rating: int
    sentence: str
    why: str


EXAMPLE_SQL = "SELECT name FROM singer WHERE age > 30 ORDER BY age DESC"
EXAMPLES = (
    Example(5, "What are the names of singers older than 30, oldest first?", "all of it, well said"),
    Example(4, "name of singer whose age more than 30 order from old to young", "all of it, poor English"),
    Example(3, "Show the names of singers older than 30.", "the order is missing"),
    Example(2, "How many singers are younger than 30?", "counts, and compares the wrong way round"),
    Example(1, "Which stadium has the most concerts?", "another question"),
)

GUIDELINES = (
    "Read the SQL first and say to yourself what it asks. Then read the sentence and ask: would a person who "
    "has only the sentence want exactly this?",
    "Meaning comes first. Poor language costs one step (4 instead of 5), and more only where it leaves the "
    "meaning in doubt.",
    "The sentence need not use the words of the SQL. “Oldest first” says ORDER BY age DESC as well as "
    "“sorted by age in descending order” does.",
    "A name, a number or a value that differs from the SQL is a wrong detail. So is a condition, an order or "
    "a limit that the SQL does not have.",
    "The SQL may be part of a query, without its SELECT for instance. Then the sentence need only say that "
    "part, and need not be whole.",
    "Lower case, missing punctuation and spaces around punctuation do not count. No words at all is 1.",
    "Many sentences belong to the same SQL. Rate each by itself, not against the others.",
    "You may go back and change a rating. Work alone, speak about the sentences only when all raters have "
    "finished, and take breaks.",
)


def percent(mean: float) -> float:
    """A mean rating as a percentage: its place between the ends of the scale.

    >>> percent(1), percent(3), percent(5)
    (0.0, 50.0, 100.0)
    """
    return 100 * (mean - LOWEST) / (HIGHEST - LOWEST)


def average_of_metrics(bleu: float | None, human: float | None, exact_match: float | None) -> float | None:
    """The paper's average of its three metrics, all in percent: read as their arithmetic mean.

    Returns:
        The mean, or None where one of the three is not there: an average of two is not comparable.

    >>> average_of_metrics(30.0, 60.0, 12.0)
    34.0
    >>> average_of_metrics(30.0, None, 12.0)
    """
    if bleu is None or human is None or exact_match is None:
        return None
    return (bleu + human + exact_match) / 3


def guidelines_text() -> str:
    """Guidelines, scale and examples as plain text, for raters who work in a spreadsheet."""
    lines = ["How to rate", "", *(f"- {line}" for line in GUIDELINES), "", "Scale", ""]
    lines += [f"{rating}  {name}: {meaning}" for rating, (name, meaning) in LABELS.items()]
    lines += ["", f"Examples for {EXAMPLE_SQL}", ""]
    lines += [f"{example.rating}  {example.sentence} ({example.why})" for example in EXAMPLES]
    lines += [
        "",
        "In a spreadsheet: write 1, 2, 3, 4 or 5 into the column `rating`, leave it empty where you cannot "
        "say, change nothing else, and save as CSV. Rows may be sorted.",
    ]
    return "\n".join(lines) + "\n"
