"""Change detection: a self-starting CUSUM of permutation scores, with a known rate of false alarms.

Each window of time is held against all that came before it. Had nothing changed, the window's values would
be a random draw from both together; where their mean stands among all such draws, as a normal score, is the
window's z. Such scores are standard normal and independent whatever the values are spread like and whatever
the level is (Hawkins 1987 for normal values), so that no reference level has to be known or guessed. Two
CUSUMs (Page 1954) add them up, one for worse and one for better, and how seldom these reach a limit by chance
is known (Siegmund 1985).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import NamedTuple

SHIFT = 0.5
"""The CUSUM's allowance, in standard errors of a window: it is quickest for changes of twice that."""

# A window's score, squared, counts at most so much in the dispersion: one day must not blind the chart.
_MOST_SQUARED = 16.0

# Sums more skewed than this are no gamma: the number of losses is tested in their place.
_MOST_SKEWED = 1.0

# Values of 0 and 100 alone step so coarsely that a curve fits them only where they are many.
_LATTICE = 0.05

# Past windows to learn the dispersion from.
_MOST_PAST = 90

DIRECTIONS = ("worse", "better")


class Moments(NamedTuple):
    """Number and power sums of losses (100 less the value), which is all a window has to tell.

    Losses, for most are 0: sums of 100s would lose the digits that matter.
    """

    n: float = 0  # counts are whole
    lost: float = 0  # how many lost anything
    s1: float = 0.0
    s2: float = 0.0
    s3: float = 0.0

    def plus(self, other: Moments) -> Moments:
        """Both together."""
        return Moments(*(one + two for one, two in zip(self, other, strict=True)))

    def less(self, other: Moments) -> Moments:
        """Without `other`."""
        return Moments(*(one - two for one, two in zip(self, other, strict=True)))

    @property
    def mean(self) -> float:
        """Mean value in points; NaN of none."""
        return 100.0 - self.s1 / self.n if self.n else math.nan


NOTHING = Moments()


def permutation_score(window: Moments, before: Moments) -> float:
    """Where the window's mean stands among the means of random draws from both together, as a normal score.

    Its first three moments over all draws are known exactly; a shifted gamma distribution that has them
    (Pearson's type III, as for permutation tests: Mielke and Berry 2007) is turned into a normal score by the
    cube root (Wilson and Hilferty 1931). Where losses are so rare that no curve fits, their number alone is
    tested, exactly. Which it is hangs on both together, never on how they are divided.

    Returns:
        Negative where the window is worse; 0 where all values are the same.
    """
    whole = window.plus(before)
    n, size = window.n, whole.n
    mean = whole.s1 / size
    second = whole.s2 / size - mean**2
    if second < 1e-9 or n == size:
        return 0.0
    third = whole.s3 / size - 3 * mean * whole.s2 / size + 2 * mean**3
    variance = n * (size - n) / (size - 1) * second
    # Of two values none is skewed: `size - 2 * n` is 0.
    skew = n * (size - n) * (size - 2 * n) / ((size - 1) * max(size - 2, 1)) * third / variance**1.5
    binary = whole.s1 == 100.0 * whole.lost
    if abs(skew) > (_LATTICE if binary else _MOST_SKEWED):
        return _count_score(window, whole)
    score = (window.s1 - n * mean) / math.sqrt(variance)
    if abs(skew) > 1e-4:
        root = math.copysign(abs(skew * score / 2 + 1) ** (1 / 3), skew * score / 2 + 1)
        score = 6 / skew * (root - 1) + skew / 6
    return -score


def _count_score(window: Moments, whole: Moments) -> float:
    """The same for the number of losses alone, by the hypergeometric distribution.

    The middle of the step where the window stands is taken (mid-p), which errs to the safe side.
    """
    least = int(max(0, window.n - (whole.n - whole.lost)))
    most = int(min(window.n, whole.lost))
    total = _log_choose(whole.n, window.n)

    def probability(count: float) -> float:
        others = _log_choose(whole.n - whole.lost, window.n - count)
        return math.exp(_log_choose(whole.lost, count) + others - total)

    half = probability(window.lost) / 2
    # The smaller tail is summed, where the sum keeps its digits.
    if window.lost * whole.n > window.n * whole.lost:
        upper = half + math.fsum(probability(count) for count in range(int(window.lost) + 1, most + 1))
        return NormalDist().inv_cdf(min(max(upper, 1e-300), 0.999999))
    lower = half + math.fsum(probability(count) for count in range(least, int(window.lost)))
    return -NormalDist().inv_cdf(min(max(lower, 1e-300), 0.999999))


def _log_choose(n: float, k: float) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def run_length(limit: float) -> float:
    """Mean number of windows until a CUSUM of independent standard normal scores passes the limit.

    Siegmund (1985), equation 2.57; within 2 % of the exact figure from 100 windows on.
    """
    wide = 2 * SHIFT * (limit + 1.166)
    return (math.exp(wide) - wide - 1) / (2 * SHIFT**2)


def limit_for(windows: float) -> float:
    """The limit that one CUSUM passes by chance once in so many windows.

    >>> round(limit_for(930), 2)
    4.99
    """
    low, high = 0.0, 60.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if run_length(middle) < windows else (low, middle)
    return high


class Step(NamedTuple):
    """A window of an excursion: its name, what was known before it, and its score."""

    name: str
    before: Moments
    score: float


@dataclass
class Excursion:
    """A CUSUM above 0.

    Attributes:
        height: its value.
        steps: its windows, from the one in which it left 0.
        scores: how many scores stood before them.
    """

    height: float = 0.0
    steps: list[Step] = field(default_factory=list)
    scores: int = 0

    @property
    def likeliest(self) -> Step:
        """The window that began the change: from there on, scores are farthest out for their number."""
        farthest, total, best = -1.0, 0.0, self.steps[-1]
        for number, step in enumerate(reversed(self.steps), start=1):
            total += step.score
            if total**2 / number >= farthest:
                farthest, best = total**2 / number, step
        return best


@dataclass(frozen=True)
class Change:
    """A limit was passed.

    Attributes:
        direction: "worse" or "better".
        since: the first window of the change, as far as the chart can tell.
        before: what stood before it.
        after: what stood from it on.
        height: of the CUSUM.
    """

    direction: str
    since: str
    before: Moments
    after: Moments
    height: float

    @property
    def size(self) -> float:
        """How much the mean moved, in points; negative for worse."""
        return self.after.mean - self.before.mean


@dataclass
class Chart:
    """One measure of one stream over time. After a change it starts anew, with the windows that follow.

    Attributes:
        seen: everything since the start.
        windows: windows since the start.
        scores: z of every tested window since the start, the last `_MOST_PAST`.
        worse: the CUSUM for worse.
        better: that for better.
    """

    seen: Moments = NOTHING
    windows: int = 0
    scores: list[float] = field(default_factory=list)
    worse: Excursion = field(default_factory=Excursion)
    better: Excursion = field(default_factory=Excursion)

    def restart(self) -> None:
        """Forget everything."""
        vars(self).update(vars(Chart()))

    def add(
        self, name: str, window: Moments, limit: float, learn: int = 0, smallest: float = 0.0
    ) -> Change | None:
        """Take in the next window.

        Args:
            name: of the window, to date a change by.
            window: its values; at least one.
            limit: what a CUSUM must pass.
            learn: windows to take in before any is tested.
            smallest: a change must be of so many points.

        Returns:
            The change that was found, or None.
        """
        change = None
        if self.windows >= max(learn, 1):
            score = permutation_score(window, self.seen)
            change = self._test(name, window, score, limit, smallest)
        self.seen = self.seen.plus(window)
        self.windows += 1
        if change:
            self.restart()
        return change

    def _test(self, name: str, window: Moments, score: float, limit: float, smallest: float) -> Change | None:
        found = None
        for direction, sign in (("worse", -1), ("better", 1)):
            side: Excursion = getattr(self, direction)
            # Windows under suspicion must not excuse themselves.
            usual = self.scores[: side.scores] if side.steps else self.scores
            step = sign * _beside_usual(score, usual) - SHIFT
            if not side.steps:
                side.scores = len(self.scores)
            side.steps.append(Step(name, self.seen, score))
            side.height += step
            if side.height <= 0:
                setattr(self, direction, Excursion())
                continue
            begun = side.likeliest
            after = self.seen.less(begun.before).plus(window)
            change = Change(direction, begun.name, begun.before, after, side.height)
            if side.height > limit and sign * change.size >= smallest:
                found = change
        self.scores.append(score)
        self._drop_old_scores()
        return found

    def _drop_old_scores(self) -> None:
        gone = max(0, len(self.scores) - _MOST_PAST)
        del self.scores[:gone]
        for side in (self.worse, self.better):
            side.scores = max(0, side.scores - gone)


def _beside_usual(score: float, usual: list[float]) -> float:
    """A score divided by how much more the windows have varied than questions alone make them vary.

    Days differ by what is asked on them, and such differences are no change. A spread that few windows tell
    is itself uncertain: Student's distribution, as a normal score (Wallace 1959).
    """
    windows = len(usual)
    spread = sum(min(each**2, _MOST_SQUARED) for each in usual) / max(windows, 1)
    if spread <= 1:
        return score
    return math.copysign(math.sqrt(windows * math.log1p(score**2 / spread / windows)), score)
