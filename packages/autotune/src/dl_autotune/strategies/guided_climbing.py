"""Hill climbing that is guided by an additive model of the parameter values."""

from __future__ import annotations

import math
import sys

import numpy as np
from numpy.typing import NDArray

from ..spaces import SearchSpace
from .hill_climbing import HillClimbing
from .prior import Prior
from .start import spread

_POOL = 300
"""Number of random points from which the start takes distant ones."""
_BELIEVED = 0.5
"""Share of steps in the order of the model, which cannot represent interactions."""
_MOST_BELIEVED = 0.9
"""The same share at most, if an earlier study predicts the values of this search."""
_DRAWN = 8
"""Number of random points from which the model chooses each starting point."""
_DRAWN_WITH_PRIOR = 64
_TESTED = 2
"""Number of points of earlier studies that are always evaluated. Further points follow only if one
of the first is better than all points of the space-filling start so far."""
_LEARNED = 6
"""Minimum number of values from which the agreement with earlier studies is computed."""
_PRIOR_VARIANCE = 4.0
"""Variance of the weight of the predictions from earlier studies, before it is learned."""
_RIDGE = 0.3
_VALUES = 64
"""Number of values of a parameter that the model distinguishes."""


class GuidedClimbing(HillClimbing):
    """Climbs from a space-filling start; half of the steps are in the order of a model.

    The model is a ridge regression of the logarithm of the time, with one coefficient for each
    value of each parameter: coarse, but useful after a few evaluations, and fast to fit.

    With a prior, the start has its points, too, and its predictions are one more column of the
    regression. The coefficient of this column is their weight, which is therefore learned from the
    values of this search: near 0 for predictions that say nothing, and negative for misleading
    ones.

    :param prior: knowledge from earlier studies.
    """

    def __init__(self, space: SearchSpace, *, seed: int = 0, prior: Prior | None = None) -> None:
        super().__init__(space, seed=seed)
        self._prior = prior
        pool = space.sample(_POOL, seed=self.random.randrange(2**31))
        scaled = space.features.scaled(space.positions(pool))
        start = [pool[at] for at in spread(scaled, self._starts)]
        if prior is not None:
            # The first batch of four compares both.
            known, half = prior.points, _TESTED
            start = [*known[:half], *start[:half], *known[half:], *start[half:]]
        self._filling, self._starts = start[::-1], len(start)

    def fresh(self, count: int) -> list[int]:
        """Return the rest of the start; later, random points that the model prefers."""
        found: list[int] = []
        while self._filling and len(found) < count:
            point = self._filling.pop()
            if self._is_doubtful(point):
                self._starts -= 1
            elif not self.was_proposed(point):
                found.append(point)
        if found:
            return found
        drawn = super().fresh((_DRAWN if self._prior is None else _DRAWN_WITH_PRIOR) * count)
        return (self._ordered(drawn) if self.ranked() else drawn)[:count]

    def _is_doubtful(self, point: int) -> bool:
        """Return True for a point of earlier studies whose better ones lead nowhere here."""
        if self._prior is None or point not in self._prior.points[_TESTED:]:
            return False
        tested = self._prior.points[:_TESTED]
        values = [self.values[each] or math.inf for each in tested if each in self.values]
        others = [v for each, v in self.values.items() if v and each not in self._prior.points]
        return bool(values and others) and min(values) > min(others)

    def _neighbours(self, count: int) -> list[int]:
        around = super()._neighbours(sys.maxsize)
        if self.ranked() and self.random.random() < self._believed():
            around = self._ordered(around)
        found, self._around = around[:count], around[count:][::-1]
        return found

    def _believed(self) -> float:
        """Return the share of steps in the order of the model: more if the prior is right."""
        if self._prior is None or len(self.values) < _LEARNED:
            return _BELIEVED
        agreement = _correlation(self._prior.predict(list(self.values)), self._logarithms())
        return max(_BELIEVED, min(_MOST_BELIEVED, 0.5 + 0.5 * agreement))

    def _ordered(self, points: list[int]) -> list[int]:
        """Return the points in the order of the model, the best first."""
        if not points:
            return []
        known, times = list(self.values), self._logarithms()
        given, asked = self._values_of(known), self._values_of(points)
        if self._prior is not None:
            predicted = self._prior.predict([*known, *points])
            predicted = (predicted - predicted[: len(known)].mean()) * _PRIOR_VARIANCE**0.5
            given = np.column_stack([given, predicted[: len(known)]])
            asked = np.column_stack([asked, predicted[len(known) :]])
        weights = np.linalg.solve(
            given @ given.T + _RIDGE * np.eye(len(known)), times - times.mean()
        )
        expected = asked @ (given.T @ weights)
        return [points[at] for at in np.argsort(expected, kind="stable")]

    def _logarithms(self) -> NDArray[np.float64]:
        """Return the logarithms of the reported times; a failed point counts as the worst one."""
        times = np.array([np.nan if v is None else v for v in self.values.values()], dtype=float)
        if np.nanmin(times) > 0:
            times = np.log(times)
        return np.where(np.isnan(times), np.nanmax(times), times)

    def _values_of(self, points: list[int]) -> NDArray[np.float64]:
        """Return the one-hot encoding of all parameters, concatenated; neighbouring values of a
        parameter with many values share a column.
        """
        places = self.space.positions(points).astype(np.int64)
        parts = []
        for at, parameter in enumerate(self.space.parameters):
            count = len(parameter.values)
            kept = min(count, _VALUES)
            parts.append((places[:, at, None] * kept // count) == np.arange(kept))
        return np.concatenate(parts, axis=1).astype(np.float64)


def _correlation(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    """Return Pearson's correlation; 0 if one side is constant."""
    a, b = a - a.mean(), b - b.mean()
    size = float(np.sqrt((a @ a) * (b @ b)))
    return float(a @ b) / size if size > 0 else 0.0
