"""Importance of parameters and pairs of parameters: variance decomposition (fANOVA) of a forest.

A random forest is fitted to the logarithms of the measured ratios. Over all combinations of the
tried values, the share of a parameter is the variance of the mean at each of its values; the share
of a pair is the variance beyond the shares of both. Shares describe the forest, not the device.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..runners.database import StoredTrial
from ..spaces import Value

LEAST = 12
"""Minimum number of trials for a forest."""
_TREES = 60
_SAMPLES = 20000


@dataclass(frozen=True)
class Pair:
    """Joint importance of two parameters.

    :ivar share: share of the variance beyond the shares of each parameter alone, from 0 to 1.
    :ivar ratios: expected geometric mean of the ratio by the values of both parameters.
    """

    names: tuple[str, str]
    share: float
    ratios: NDArray[np.float64]


@dataclass(frozen=True)
class Importance:
    """Result of a forest.

    :ivar values: tried values by parameter, in order.
    :ivar alone: shares of the variance by parameter, 0 to 1, the largest first.
    :ivar pairs: pairs of parameters, the largest share first.
    :ivar explained: the share of the variance of left-out trials that the forest predicts; at most
        1, 0 or below if the forest has learned nothing.
    """

    values: dict[str, list[Value]]
    alone: dict[str, float]
    pairs: list[Pair]
    explained: float


def importance(trials: Sequence[StoredTrial], seed: int = 0) -> Importance | None:
    """Return the importance of parameters; None if timed trials are too few, or all equal."""
    from sklearn.ensemble import ExtraTreesRegressor

    timed = [trial for trial in trials if trial.ratio is not None]
    if len(timed) < LEAST:
        return None
    values = {
        name: sorted({trial.config[name] for trial in timed}, key=_order)
        for name in timed[0].config
    }
    values = {name: found for name, found in values.items() if len(found) > 1}
    known = np.array([[values[n].index(t.config[n]) for n in values] for t in timed], dtype=float)
    targets = np.log([trial.ratio or 1.0 for trial in timed])
    if not values or not targets.std() > 0:
        return None
    # Draw the parameter of each split: a greedy tree misses parameters that matter only together.
    forest = ExtraTreesRegressor(
        _TREES, max_features=1, bootstrap=True, oob_score=True, random_state=seed
    )
    forest.fit(known, targets)
    points = _combinations([len(found) for found in values.values()], seed)
    predicted: NDArray[np.float64] = forest.predict(points.astype(float))
    whole = float(predicted.var()) or 1.0
    names = list(values)
    alone = {name: _between(predicted, points[:, at]) / whole for at, name in enumerate(names)}
    pairs = []
    for first, second in itertools.combinations(range(len(names)), 2):
        columns, rows = len(values[names[first]]), len(values[names[second]])
        cells = points[:, first] * rows + points[:, second]
        own = alone[names[first]] + alone[names[second]]
        share = max(_between(predicted, cells) / whole - own, 0.0)
        means = _means(predicted, cells, columns * rows).reshape(columns, rows)
        pairs.append(Pair((names[first], names[second]), share, np.exp(means)))
    return Importance(
        values,
        dict(sorted(alone.items(), key=lambda each: -each[1])),
        sorted(pairs, key=lambda pair: -pair.share),
        float(forest.oob_score_),
    )


def _order(value: Value) -> tuple[bool, Value]:
    return isinstance(value, str), value


def _combinations(sizes: Sequence[int], seed: int) -> NDArray[np.int64]:
    """Return all combinations of positions, or a random sample of them."""
    if np.prod(sizes, dtype=float) <= _SAMPLES:
        return np.array(list(itertools.product(*map(range, sizes))), dtype=np.int64)
    rng = np.random.default_rng(seed)
    return np.stack([rng.integers(size, size=_SAMPLES) for size in sizes], axis=1)


def _means(
    values: NDArray[np.float64], cells: NDArray[np.int64], count: int
) -> NDArray[np.float64]:
    sums = np.bincount(cells, values, count)
    found: NDArray[np.float64] = sums / np.maximum(np.bincount(cells, minlength=count), 1)
    return found


def _between(values: NDArray[np.float64], cells: NDArray[np.int64]) -> float:
    """Return the variance of the cell means."""
    return float(_means(values, cells, int(cells.max()) + 1)[cells].var())
