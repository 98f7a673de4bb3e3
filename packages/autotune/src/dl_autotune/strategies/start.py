"""Space-filling start: points that are far from each other, among random ones."""

from __future__ import annotations

import numpy as np

from ..spaces.features import Features


def spread(scaled: Features, count: int) -> list[int]:
    """Return distant rows: the first, then repeatedly the one farthest from all chosen rows.

    :param scaled: candidates in random order, shape (candidates, dimensions), each from 0 to 1.
    """
    taken = [0]
    nearest = ((scaled - scaled[0]) ** 2).sum(axis=1)
    while len(taken) < min(count, len(scaled)):
        taken.append(int(nearest.argmax()))
        nearest = np.minimum(nearest, ((scaled - scaled[taken[-1]]) ** 2).sum(axis=1))
    return taken
