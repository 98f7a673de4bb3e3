"""Interface of a strategy: it proposes points of a space and receives their values."""

from __future__ import annotations

import math
import random
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from numbers import Integral, Real

import numpy as np

from ..errors import TuningError
from ..spaces import SearchSpace

_TRIES = 20
"""Number of random draws per point after which the remaining points are enumerated."""


@dataclass(frozen=True)
class Outcome:
    """Value of a point: less is better; None if it failed."""

    point: int
    value: float | None


class Strategy(ABC):
    """Proposes each point of a space at most once.

    A strategy sees only numbers, never a device. All its randomness comes from `seed`. `ask` and
    `tell` return after bounded work, whatever the space and the values are.
    """

    def __init__(self, space: SearchSpace, *, seed: int = 0) -> None:
        self.space = space
        self.random = random.Random(seed)
        self.values: dict[int, float | None] = {}
        """Reported values, by point."""
        self._proposed: set[int] = set()
        self._first: list[int] = []

    def begin_with(self, points: Sequence[int]) -> None:
        """Propose points before the strategy's own, such as the best ones of an earlier study."""
        self._first = list(points)[::-1]

    def ask(self, count: int = 1) -> list[int]:
        """Return up to `count` points that were not proposed before. Fewer points mean that no more
        are available now; none, while no value is outstanding, means that the space is exhausted.
        """
        count = min(count, self.space.size - len(self._proposed))
        if count <= 0:
            return []
        points: list[int] = []
        while self._first and len(points) < count:
            point = self._first.pop()
            if point not in self._proposed:
                points.append(point)
        if not points:
            points = list(dict.fromkeys(p for p in self.propose(count) if p not in self._proposed))
        points = points[:count]
        self._proposed.update(points)
        return points

    def tell(self, outcomes: Iterable[Outcome]) -> None:
        """Receive values in any order, also of points that were not proposed.

        :raises TuningError: a point is outside the space, or a value is not positive.
        """
        for outcome in outcomes:
            self._check(outcome)
            self._proposed.add(outcome.point)
            self.values[outcome.point] = outcome.value
            self.learn(outcome)

    def _check(self, outcome: Outcome) -> None:
        if not isinstance(outcome, Outcome):
            raise TuningError(
                f"[search] {outcome!r} is not an Outcome: give an Outcome(point, value)"
            )
        point, value = outcome.point, outcome.value
        whole = isinstance(point, Integral) and not isinstance(point, bool)
        if not whole or not 0 <= point < self.space.size:
            raise TuningError(
                f"[search] {outcome!r} is outside the space: the point must be an integer from 0 "
                f"to"
                f" {self.space.size - 1}"
            )
        number = isinstance(value, Real) and not isinstance(value, bool)
        if value is not None and not (number and 0 < value < math.inf):
            raise TuningError(
                f"[search] the value of {outcome!r} is not a positive, finite number: give a"
                " "
                "value that is smaller for better points, such as seconds, or None for a failure"
            )

    @abstractmethod
    def propose(self, count: int) -> Sequence[int]:
        """Return from one to `count` new points; at least `count` are left. An empty result is
        allowed only while values are outstanding.
        """

    def close(self) -> None:  # noqa: B027 - most hold nothing
        """Release resources between proposals, such as a thread. More proposals may follow."""

    def learn(self, outcome: Outcome) -> None:  # noqa: B027 - many need no more than `values`
        """Process one outcome, which is already in `values`."""

    def was_proposed(self, point: int) -> bool:
        """Return True for a point that was proposed already."""
        return point in self._proposed

    def fresh(self, count: int) -> list[int]:
        """Return distinct random points that were not proposed."""
        found: dict[int, None] = {}
        for _ in range(count * _TRIES):
            if len(found) == count:
                return list(found)
            point = self.random.randrange(self.space.size)
            if point not in self._proposed:
                found[point] = None
        # Few points are left, so the set is not larger than the space.
        left = np.ones(self.space.size, dtype=bool)
        left[list(self._proposed)] = False
        left[list(found)] = False
        rest = np.flatnonzero(left).tolist()
        return [*found, *self.random.sample(rest, min(count - len(found), len(rest)))]

    def ranked(self) -> list[int]:
        """Return the valid reported points, the best first."""
        valid = [(value, point) for point, value in self.values.items() if value is not None]
        return [point for _, point in sorted(valid)]

    def best(self) -> int | None:
        """Return the best reported point."""
        return next(iter(self.ranked()), None)
