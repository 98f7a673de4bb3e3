"""Knowledge from earlier studies of a kernel: good points, and predictions for all points."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real

import numpy as np

from ..spaces import Config, SearchSpace
from ..spaces.parameter import Parameter
from .models import Trees, Values

POINTS = 4
"""Number of points of earlier studies with which a search starts."""
LEAST = 6
"""Minimum number of timed trials of a study; the predictions of fewer would be arbitrary."""
_TOP = 16
"""Number of the best trials of a study from which its points are taken."""
_APART = 2
"""Number of parameters in which the points of a study differ, if enough of its best do."""


@dataclass(frozen=True)
class Known:
    """Trials of an earlier study in a space.

    :ivar points: distinct points of the space.
    :ivar slowness: standardized logarithms of their times; failed points count as the slowest.
    :ivar failed: True for each point that failed.
    :ivar outside: number of trials whose configurations the space does not have.
    """

    points: tuple[int, ...]
    slowness: Values
    failed: tuple[bool, ...]
    outside: int

    @classmethod
    def of(
        cls,
        space: SearchSpace,
        trials: Sequence[tuple[Config, float | None]],
        default: Config | None = None,
    ) -> Known | None:
        """Map trials into a space; None if too few of them are timed and in the space.

        :param trials: configurations with their speed relative to a common baseline; None if the
            trial failed.
        :param default: values for parameters that the trials do not have.
        """
        found: dict[int, float | None] = {}
        outside = 0
        for config, speed in trials:
            point = translate(space, config, default or {})
            if point is None:
                outside += 1
            # The fastest of several trials counts that are mapped to one point.
            elif speed is None or not 0 < speed < math.inf:
                found.setdefault(point, None)
            else:
                found[point] = max(found.get(point) or 0.0, speed)
        timed = [-math.log(speed) for speed in found.values() if speed]
        if len(timed) < LEAST:
            return None
        slowness = np.array([-math.log(s) if s else max(timed) for s in found.values()])
        standard = (slowness - slowness.mean()) / (slowness.std() + 1e-9)
        return cls(tuple(found), standard, tuple(not s for s in found.values()), outside)

    def best(self) -> list[int]:
        """Return the fastest points, the best first."""
        ranked = [i for i in np.argsort(self.slowness, kind="stable") if not self.failed[i]]
        return [self.points[i] for i in ranked[:_TOP]]


class Prior:
    """Knowledge from earlier studies, which may be wrong: a search has to learn its weight.

    :param studies: earlier studies, the most similar one first.
    :ivar points: their best points, which alternate.
    """

    def __init__(self, space: SearchSpace, studies: Sequence[Known], seed: int = 0) -> None:
        self._space = space
        self.studies = tuple(studies)
        self.points = _alternate([_unlike(space, each.best()) for each in self.studies])[:POINTS]
        known = [point for each in self.studies for point in each.points]
        values = np.concatenate([each.slowness for each in self.studies])
        self._trees = Trees(space.features.of(space.positions(known)), values, seed)
        self._predicted: dict[int, float] = {}

    def predict(self, points: Sequence[int]) -> Values:
        """Return the expected slowness of points, in standard deviations of the earlier studies."""
        new = [point for point in points if point not in self._predicted]
        if new:
            features = self._space.features.of(self._space.positions(new))
            means = self._trees.predict(features).mean(axis=0)
            self._predicted.update(zip(new, means.tolist(), strict=True))
        return np.array([self._predicted[point] for point in points])


def translate(space: SearchSpace, config: Config, default: Config) -> int | None:
    """Return the point that corresponds to a configuration of another space; None without one.

    Parameters that the other space lacks have the values of the default, and numbers become the
    nearest values. At least half of the parameters must be in the configuration.
    """
    if 2 * sum(name in config for name in space.names) < len(space.names):
        return None
    values = {}
    for parameter in space.parameters:
        given = config.get(parameter.name, default.get(parameter.name))
        found = _nearest(parameter, given)
        if found is None:
            return None
        values[parameter.name] = parameter.values[found]
    return space.point(values)


def _nearest(parameter: Parameter, given: object) -> int | None:
    """Return the index of a parameter's value, or of the nearest one if both are numbers."""
    if given in parameter.values:
        return parameter.values.index(given)
    if not parameter.numeric or not isinstance(given, Real):
        return None
    try:
        number = float(given)
    except OverflowError:
        return None
    if not math.isfinite(number) or (parameter.logarithmic and number <= 0):
        return None

    def away(index: int) -> float:
        value = float(parameter.values[index])
        return abs(math.log(value / number)) if parameter.logarithmic else abs(value - number)

    return min(range(len(parameter.values)), key=away)


def _unlike(space: SearchSpace, points: Sequence[int]) -> list[int]:
    """Return points of a ranking: first those that differ in several parameters, then others."""
    rows = space.positions(list(points))
    taken: list[int] = []
    for apart in (_APART, 1):
        for at in range(len(points)):
            if at not in taken and all((rows[at] != rows[i]).sum() >= apart for i in taken):
                taken.append(at)
        if len(taken) >= POINTS:
            break
    return [points[at] for at in taken[:POINTS]]


def _alternate(rankings: Sequence[Sequence[int]]) -> list[int]:
    """Return the distinct points of several rankings: the first of each, then the second."""
    longest = max(map(len, rankings), default=0)
    return list(dict.fromkeys(r[at] for at in range(longest) for r in rankings if at < len(r)))
