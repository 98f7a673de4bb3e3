"""Hill climbing that is guided by an additive model of the parameter values."""

from __future__ import annotations

import sys

import numpy as np
from numpy.typing import NDArray

from ..spaces import SearchSpace
from .hill_climbing import HillClimbing
from .start import spread

_POOL = 300
"""Number of random points from which the start takes distant ones."""
_BELIEVED = 0.5
"""Share of steps in the order of the model, which cannot represent interactions."""
_DRAWN = 8
"""Number of random points from which the model chooses each starting point."""
_RIDGE = 0.3
_VALUES = 64
"""Number of values of a parameter that the model distinguishes."""


class GuidedClimbing(HillClimbing):
    """Climbs from a space-filling start; half of the steps are in the order of a model.

    The model is a ridge regression of the logarithm of the time, with one coefficient for each
    value of each parameter: coarse, but useful after a few evaluations, and fast to fit.
    """

    def __init__(self, space: SearchSpace, *, seed: int = 0) -> None:
        super().__init__(space, seed=seed)
        pool = space.sample(_POOL, seed=self.random.randrange(2**31))
        scaled = space.features.scaled(space.positions(pool))
        self._filling = [pool[at] for at in spread(scaled, self._starts)][::-1]

    def fresh(self, count: int) -> list[int]:
        """Return the rest of the start; later, random points that the model prefers."""
        found: list[int] = []
        while self._filling and len(found) < count:
            point = self._filling.pop()
            if not self.was_proposed(point):
                found.append(point)
        if found:
            return found
        drawn = super().fresh(_DRAWN * count)
        return (self._ordered(drawn) if self.ranked() else drawn)[:count]

    def _neighbours(self, count: int) -> list[int]:
        around = super()._neighbours(sys.maxsize)
        if self.ranked() and self.random.random() < _BELIEVED:
            around = self._ordered(around)
        found, self._around = around[:count], around[count:][::-1]
        return found

    def _ordered(self, points: list[int]) -> list[int]:
        """Return the points in the order of the model, the best first."""
        if not points:
            return []
        known = list(self.values)
        times = np.array([np.nan if v is None else v for v in self.values.values()], dtype=float)
        if np.nanmin(times) > 0:
            times = np.log(times)
        # A failed point counts as the worst one.
        times = np.where(np.isnan(times), np.nanmax(times), times)
        given, asked = self._values_of(known), self._values_of(points)
        weights = np.linalg.solve(
            given @ given.T + _RIDGE * np.eye(len(known)), times - times.mean()
        )
        expected = asked @ (given.T @ weights)
        return [points[at] for at in np.argsort(expected, kind="stable")]

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
