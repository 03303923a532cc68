"""The sample log: who is asked what and when, and what the agent makes of it.

Agent A is fair, C is good and explains its columns; B is fair until `WORSE_FROM`, when a new version of it
begins to drop conditions, to lose values while it enriches the question and to give up. Same seed, same rows.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta, timezone
from typing import Any

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect

from spider_compose.errors import OptionError
from spider_compose.stef.monitoring.sample.mistakes import cut_off, with_mistake
from spider_compose.stef.monitoring.sample.questions import Asked, Corpus, bundled, replace_word

FIRST_DAY, DAYS = date(2026, 7, 1), 62
WORSE_AGENT, WORSE_FROM = "B", date(2026, 8, 12)

# Questions come at seconds of their own, of which two months have no more.
MOST_ROWS = 1_000_000

_WEEKDAYS = (1.0, 1.05, 1.1, 1.0, 0.85, 0.3, 0.22)  # from Monday
_SHADOWED = 0.2  # of the questions go to all agents, as in a comparison of versions
_APOLOGIES = ("", "", "I could not find a table that answers this question.", "-- no answer")


@dataclass(frozen=True)
class Agent:
    """How an agent behaves; all rates are shares of its rows.

    Attributes:
        traffic: its share of the questions.
        wrong: queries with a mistake.
        favoured: the mistakes it makes before others.
        no_sql: rows without a query, or with an apology in its place.
        broken: queries that break off.
        enriched: rows with an enriched question.
        defined: enriched questions that say which column a phrase means.
        lost: enriched questions with another value than the user's, of those with a value; the query follows.
        dialect: it writes in.
    """

    name: str
    traffic: float
    wrong: float
    no_sql: float
    broken: float
    enriched: float
    defined: float
    lost: float
    dialect: str
    favoured: tuple[str, ...] = ()


_FAIR = Agent("B", 0.36, 0.18, 0.015, 0.013, 0.9, 0.6, 0.05, "postgres")
_WORSE = replace(
    _FAIR, wrong=0.65, no_sql=0.05, broken=0.03, lost=0.35, favoured=("dropped_filter", "wrong_direction")
)
AGENTS = (
    Agent("A", 0.38, 0.18, 0.007, 0.006, 0.85, 0.6, 0.05, "sqlite"),
    _FAIR,
    Agent("C", 0.26, 0.04, 0.005, 0.004, 0.95, 0.9, 0.02, "mysql"),
)


def sample_rows(rows: int = 3600, seed: int = 1) -> Iterator[dict[str, Any]]:
    """The rows of the log, by time.

    Args:
        rows: how many, 1 or more; they always spread over the two months.
        seed: of all that is drawn.

    Returns:
        Rows with `id`, `time`, `agent`, `database`, `question`, `enriched_question` (may be None), `sql`,
        `dialect`, and `planted`: what is wrong with the row, by name. No score looks at the last.

    Raises:
        OptionError: `rows` is less than 1, or more than `MOST_ROWS`.
    """
    if not 1 <= rows <= MOST_ROWS:
        raise OptionError(f"`rows` must be from 1 to {MOST_ROWS:,}, but got {rows:,}")
    rng, corpus = random.Random(seed), bundled()
    asked = sorted(_traffic(rows, rng), key=lambda one: (one[0], one[1].name))
    question: Asked | None = None
    former: datetime | None = None
    for number, (time, agent) in enumerate(asked, start=1):
        if question is None or time != former:
            question, former = corpus.ask(rng), time
        # Agents that are asked together are asked the same, and answer a little apart.
        at = time + timedelta(milliseconds=rng.randrange(1, 900))
        yield {
            "id": f"q{number:06d}",
            "time": at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "agent": agent.name,
            "database": question.database,
            **_answer(_on(agent, time.date()), question, corpus, rng),
        }


def _traffic(rows: int, rng: random.Random) -> list[tuple[datetime, Agent]]:
    """Who is asked when; those who are asked the same stand at one second."""
    days = [FIRST_DAY + timedelta(days=day) for day in range(DAYS)]
    weights = [_WEEKDAYS[day.weekday()] for day in days]
    shares = [agent.traffic for agent in AGENTS]
    asked: list[tuple[datetime, Agent]] = []
    seconds: set[datetime] = set()
    while len(asked) < rows:
        day = rng.choices(days, weights)[0]
        hour = min(23.99, max(0.0, rng.gauss(rng.choice((10.5, 15.0)), 2.0)))
        time = datetime(day.year, day.month, day.day, tzinfo=timezone.utc) + timedelta(
            seconds=int(hour * 3600)
        )
        if time in seconds:
            continue
        seconds.add(time)
        together = rng.random() < _SHADOWED and rows - len(asked) >= len(AGENTS)
        agents = AGENTS if together else rng.choices(AGENTS, shares)
        asked += [(time, agent) for agent in agents]
    return asked


def _on(agent: Agent, day: date) -> Agent:
    return _WORSE if agent.name == WORSE_AGENT and day >= WORSE_FROM else agent


def _answer(agent: Agent, asked: Asked, corpus: Corpus, rng: random.Random) -> dict[str, Any]:
    """What an agent makes of a question."""
    planted: list[str] = []
    enriched: str | None = None
    understood = asked
    if rng.random() < agent.enriched:
        enriched = asked.question
        if asked.values and rng.random() < agent.lost:
            value = rng.choice(asked.values)
            other = corpus.other_value(asked.database, value, rng)
            if other and other not in asked.question:
                understood = asked.with_value(value, other)
                enriched = replace_word(enriched, value, other)
                planted.append("lost_value")
        enriched += _definitions(asked, corpus) if rng.random() < agent.defined else ""
    tree, chance = understood.tree, rng.random()
    if chance < agent.no_sql:
        sql = rng.choice(_APOLOGIES)
        planted.append("no_sql")
    elif chance < agent.no_sql + agent.broken:
        sql = cut_off(_written(tree, agent.dialect), rng)
        planted.append("broken_sql")
    else:
        if rng.random() < agent.wrong:
            tree, mistake = with_mistake(tree, rng, agent.favoured)
            planted.append(mistake)
        sql = _written(tree, agent.dialect, pretty=rng.random() < 0.3)
    return {
        "question": asked.question,
        "enriched_question": enriched,
        "sql": sql,
        "dialect": agent.dialect,
        "planted": planted,
    }


def _written(tree: exp.Expr, dialect: str, pretty: bool = False) -> str:
    """The query as an agent writes it: no NULLS FIRST and no NULLIF where the corpus's dialect differs."""
    tree, known = tree.copy(), Dialect.get_or_raise(dialect)
    for division in tree.find_all(exp.Div):
        division.set("safe", known.SAFE_DIVISION)
        division.set("typed", known.TYPED_DIVISION)
    for ordered in tree.find_all(exp.Ordered):
        down = bool(ordered.args.get("desc"))
        ordered.set("nulls_first", down if dialect == "postgres" else not down)
    return tree.sql(dialect=dialect, pretty=pretty, copy=False)


def _definitions(asked: Asked, corpus: Corpus) -> str:
    """Which column a phrase means, as agents add it to a question."""
    return "".join(f" {said} refers to {name};" for said, name in corpus.readable(asked)).rstrip(";")
