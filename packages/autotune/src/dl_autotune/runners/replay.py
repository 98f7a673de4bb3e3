"""Replay of a recorded space, to compare strategies quickly and without a device."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..spaces.recorded import Recording
from ..strategies import Budget, Outcome, Strategy, search


def replay(recording: Recording, strategy: Strategy, evaluations: int, batch: int) -> list[int]:
    """Yield the points that a strategy evaluates, including failed ones."""

    def evaluate(points: Sequence[int]) -> list[Outcome]:
        times = recording.milliseconds[list(points)].tolist()
        return [
            Outcome(point, None if math.isnan(time) else time)
            for point, time in zip(points, times, strict=True)
        ]

    found = search(strategy, evaluate, Budget(evaluations=evaluations), batch=batch)
    return [outcome.point for outcome in found]


def fractions(recording: Recording, points: Sequence[int], after: Sequence[int]) -> list[float]:
    """Return the best recorded time divided by the best time found, after each number of
    evaluations; 0 before the first valid evaluation.
    """
    found = []
    for count in after:
        times = [t for t in recording.milliseconds[list(points[:count])].tolist() if t == t]
        found.append(recording.best / min(times) if times else 0.0)
    return found
