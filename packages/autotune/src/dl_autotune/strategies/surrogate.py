"""Surrogate strategy: models of the measured values choose the next points."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator

import numpy as np

from ..spaces import SearchSpace
from .hill_climbing import HillClimbing
from .models import Forest, Process, Values, chance_to_run, expected_improvement
from .start import spread
from .strategy import Outcome, Strategy

_START = 10
_START_POOL = 1000
_POOL = 1500
"""Number of random candidates that the models score, in addition to neighbours of the best."""
_BEST = 5
_LIKELY = 0.3
"""Minimum probability of a candidate to run, unless no candidate reaches it."""


class Surrogate(Strategy):
    """Chooses points by models of the logarithm of times, with alternating rules.

    No single rule for the next point is good on all spaces: smooth spaces and spaces with cliffs
    need different rules. So several rules alternate, and every other point is chosen by a hill
    climber, which uses no model: its restarts lead away from regions where all models are wrong.
    """

    def __init__(self, space: SearchSpace, *, seed: int = 0) -> None:
        super().__init__(space, seed=seed)
        pool = space.sample(_START_POOL, seed=self.random.randrange(2**31))
        scaled = space.features.scaled(space.positions(pool))
        self._start = [pool[i] for i in spread(scaled, _START)][::-1]
        self._process = Process()
        self._climber = HillClimbing(space, seed=self.random.randrange(2**31), partner=self)
        self._climbs: set[int] = set(self._start)
        """Points whose values the climber receives: the start, and its own."""
        self._turns: Iterator[Rule | None] = itertools.cycle(RULES)

    def propose(self, count: int) -> list[int]:
        """Return the rest of the start; later, points that the rules choose."""
        found: list[int] = []
        while self._start and len(found) < count:
            found.append(self._start.pop())
        found = [point for point in found if not self.was_proposed(point)]
        if found:
            return found
        if sum(value is not None for value in self.values.values()) < 3:
            return self.fresh(count)
        view: View | None = None
        for _ in range(count):
            rule = next(self._turns)
            if rule is None:
                climbs = self._climber.propose(1)
                self._climbs.update(climbs)
                found += climbs
            else:
                view = view or View(self)
                found.append(view.take(rule))
        return found

    def learn(self, outcome: Outcome) -> None:
        """Report the climber's own points to it."""
        if outcome.point in self._climbs:
            self._climber.tell([outcome])

    def candidates(self) -> list[int]:
        """Return candidates: random points, and the neighbours of the best."""
        found = dict.fromkeys(self.fresh(_POOL))
        for point in self.ranked()[:_BEST]:
            found.update(
                (p, None) for p in self.space.neighbours(point) if not self.was_proposed(p)
            )
        return list(found)


class View:
    """Predictions of the models for candidates, after all reported values."""

    def __init__(self, strategy: Surrogate) -> None:
        space, rng = strategy.space, strategy.random
        points = list(strategy.values)
        known, self.pool = space.positions(points), strategy.candidates()
        there = space.positions(self.pool)
        answers = [strategy.values[point] for point in points]
        valid = np.array([answer is not None for answer in answers])
        targets = _targets(answers)
        features, candidates = space.features.of(known), space.features.of(there)
        chances = chance_to_run(features, valid, candidates, rng.randrange(2**31))
        self._unlikely = chances < min(_LIKELY, float(chances.max()))
        self._taken = np.zeros(len(self.pool), dtype=bool)
        self.forest = Forest(features, targets, candidates, rng.randrange(2**31))
        self.smooth, self.unsure = strategy._process.predict(
            space.features.scaled(known), targets, space.features.scaled(there)
        )
        self.best = float(targets.min())
        tops = space.positions(strategy.ranked()[:_BEST])
        changes = (there[:, None, :] != tops[None, :, :]).sum(axis=2)
        self.around = changes.min(axis=1) <= 1
        self.draw: Callable[[int], int] = rng.randrange

    def take(self, rule: Rule) -> int:
        """Return the candidate that a rule ranks first, and exclude it from later calls."""
        scores = np.where(self._taken | self._unlikely, np.inf, rule(self))
        if not np.isfinite(scores).any():
            scores = np.where(self._taken, np.inf, self.forest.mean)
        chosen = int(scores.argmin())
        self._taken[chosen] = True
        return self.pool[chosen]


def _targets(answers: list[float | None]) -> Values:
    """Return standardized logarithms of times; failed points count as the worst one."""
    times = np.array([math.nan if a is None else a for a in answers], dtype=np.float64)
    if np.nanmin(times) > 0:
        times = np.log(times)
    times = np.where(np.isnan(times), np.nanmax(times), times)
    standard: Values = (times - times.mean()) / (times.std() + 1e-9)
    return standard


Rule = Callable[[View], Values]
"""Scores of candidates; the lowest is tried."""


def improve(view: View) -> Values:
    """Score by the expected improvement of the smooth model."""
    return -expected_improvement(view.smooth, view.unsure, view.best)


def gamble(view: View) -> Values:
    """Score by one random tree: a guess that fits the data."""
    tree: Values = view.forest.draws[view.draw(len(view.forest.draws))]
    return tree


def refine(view: View) -> Values:
    """Score by both models near the best points, with some credit for uncertainty."""
    mean = (view.smooth + view.forest.mean) / 2
    unsure = np.sqrt((view.unsure**2 + view.forest.spread**2) / 2)
    return np.where(view.around, mean - 0.5 * unsure, np.inf)


def gamble_nearby(view: View) -> Values:
    """Score by a gamble near the best points."""
    return np.where(view.around, gamble(view), np.inf)


RULES: tuple[Rule | None, ...] = (improve, None, refine, None, gamble, None, gamble_nearby, None)
"""The rules, which alternate; None stands for the hill climber."""
