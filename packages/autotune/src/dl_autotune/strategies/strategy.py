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
"""Random draws for one point before the points that are left are counted out."""


@dataclass(frozen=True)
class Outcome:
    """Value of a point: less is better; None if it failed."""

    point: int
    value: float | None


class Strategy(ABC):
    """Proposes each point of a space at most once.

    A strategy sees numbers only, never a device. All its randomness comes of `seed`. Both methods
    return after bounded work, whatever the space and the answers are.
    """

    def __init__(self, space: SearchSpace, *, seed: int = 0) -> None:
        self.space = space
        self.random = random.Random(seed)
        self.values: dict[int, float | None] = {}
        """Reported values, by point."""
        self._proposed: set[int] = set()

    def ask(self, count: int = 1) -> list[int]:
        """Up to `count` points that were not proposed before. Fewer: that is all for now; none
        with no answer outstanding: the space is exhausted.
        """
        count = min(count, self.space.size - len(self._proposed))
        if count <= 0:
            return []
        points = list(dict.fromkeys(p for p in self.propose(count) if p not in self._proposed))
        points = points[:count]
        self._proposed.update(points)
        return points

    def tell(self, outcomes: Iterable[Outcome]) -> None:
        """Answers, in any order; also of points that were never asked for.

        :raises TuningError: an outcome is for no point of the space, or its value is not positive.
        """
        for outcome in outcomes:
            self._check(outcome)
            self._proposed.add(outcome.point)
            self.values[outcome.point] = outcome.value
            self.learn(outcome)

    def _check(self, outcome: Outcome) -> None:
        if not isinstance(outcome, Outcome):
            raise TuningError(
                f"[search] {outcome!r} is not an answer: give an Outcome(point, value)"
            )
        point, value = outcome.point, outcome.value
        whole = isinstance(point, Integral) and not isinstance(point, bool)
        if not whole or not 0 <= point < self.space.size:
            raise TuningError(
                f"[search] {outcome!r} is of no point of the space: give one that was asked for, an"
                f" integer of 0 to {self.space.size - 1}"
            )
        number = isinstance(value, Real) and not isinstance(value, bool)
        if value is not None and not (number and 0 < value < math.inf):
            raise TuningError(
                f"[search] the value of {outcome!r} is not a positive, finite number: give a"
                " smaller one for what is better, such as seconds, and None for a failure"
            )

    @abstractmethod
    def propose(self, count: int) -> Sequence[int]:
        """At least one new point, and up to `count`; at least as many are left. None only while
        there are answers to wait for.
        """

    def close(self) -> None:  # noqa: B027 - most hold nothing
        """Let go of what is held between proposals, such as a thread. Proposals may go on."""

    def learn(self, outcome: Outcome) -> None:  # noqa: B027 - many need no more than `values`
        """Take in one answer; it is in `values` already."""

    def was_proposed(self, point: int) -> bool:
        """Return True for a point that was proposed already."""
        return point in self._proposed

    def fresh(self, count: int) -> list[int]:
        """Random points that were not proposed, distinct."""
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
        """The valid points told so far, the best first."""
        valid = [(value, point) for point, value in self.values.items() if value is not None]
        return [point for _, point in sorted(valid)]

    def best(self) -> int | None:
        """The best point told so far."""
        return next(iter(self.ranked()), None)
