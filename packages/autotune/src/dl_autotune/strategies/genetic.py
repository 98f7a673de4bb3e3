"""Genetic algorithm: children of good configurations, with mutations."""

from __future__ import annotations

import numpy as np

from .strategy import Strategy

_POPULATION = 20
_TOURNAMENT = 3
_TRIES = 30
"""Number of invalid or known children after which a random point is taken."""


class Genetic(Strategy):
    """Steady-state evolution: uniform crossover of two tournament winners, and mutation."""

    def propose(self, count: int) -> list[int]:
        """Return children, or random points until there is a population."""
        missing = _POPULATION - len(self._proposed)
        if missing > 0:
            return self.fresh(min(count, missing))
        parents = sorted(
            (value, point) for point, value in self.values.items() if value is not None
        )[:_POPULATION]
        if len(parents) < 2:
            return self.fresh(count)
        rows = self.space.positions([point for _, point in parents])
        return list(dict.fromkeys(self._child(rows) for _ in range(count)))

    def _child(self, rows: np.ndarray[tuple[int, ...], np.dtype[np.int32]]) -> int:
        children = []
        for _ in range(_TRIES):
            # Rows are sorted by value, so the lowest index wins a tournament.
            a, b = (min(self.random.choices(range(len(rows)), k=_TOURNAMENT)) for _ in range(2))
            take = np.array([self.random.random() < 0.5 for _ in self.space.parameters])
            child = np.where(take, rows[a], rows[b])
            for at, parameter in enumerate(self.space.parameters):
                if self.random.random() < 1.0 / len(self.space.parameters):
                    child[at] = self.random.randrange(len(parameter.values))
            children.append(child)
        for point in self.space.points(np.array(children)).tolist():
            if point >= 0 and not self.was_proposed(point):
                return int(point)
        return self.fresh(1)[0]
