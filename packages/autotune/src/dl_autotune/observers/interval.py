"""Bootstrap intervals of a ratio of times."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .quantile import normal_quantile, t_quantile

_RESAMPLES = 2000
_TRIMMED = 0.2
"""Share of blocks that are trimmed at each end, because they may have been interrupted."""
_LEAST = 0.0005
"""Minimum distance of an interval from 1 for a claim; smaller distances print as 1.000."""


@dataclass(frozen=True)
class Interval:
    """Ratio of times, baseline divided by candidate; above 1, the candidate is faster.

    :ivar low: the lower end of the interval.
    :ivar high: the upper end.
    """

    ratio: float
    low: float
    high: float

    def widened(self, by: float) -> Interval:
        """Return the interval widened at both ends by a share, such as 0.01 for one percent."""
        return Interval(self.ratio, self.low / (1 + by), self.high * (1 + by))

    @property
    def faster(self) -> bool:
        """True if the whole interval is above 1, also as printed."""
        return self.low > 1 + _LEAST

    @property
    def slower(self) -> bool:
        """True if the whole interval is below 1, also as printed."""
        return self.high < 1 - _LEAST

    def __contains__(self, ratio: float) -> bool:
        return self.low <= ratio <= self.high

    def __str__(self) -> str:
        return f"{self.ratio:.3f} x [{self.low:.3f}, {self.high:.3f}]"


def centre(logarithms: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the trimmed mean over the last axis."""
    count = logarithms.shape[-1]
    cut = int(count * _TRIMMED)
    kept: NDArray[np.float64] = np.sort(logarithms, axis=-1)[..., cut : count - cut]
    mean: NDArray[np.float64] = kept.mean(axis=-1)
    return mean


def bootstrap(ratios: Sequence[float], *, confidence: float, seed: int) -> Interval:
    """Return the trimmed geometric mean of the ratios of paired blocks, with a percentile interval.

    Percentile intervals of few blocks are too narrow, so the interval is widened by the ratio of
    the quantiles of the t distribution and the normal distribution.

    :raises ValueError: there are fewer than two ratios, or one is not positive.
    """
    if len(ratios) < 2 or min(ratios) <= 0:
        raise ValueError(f"[bootstrap] two or more positive ratios are needed, not {ratios!r}")
    logarithms = np.log(np.asarray(ratios, dtype=np.float64))
    rng = np.random.default_rng(seed)
    drawn = logarithms[rng.integers(len(logarithms), size=(_RESAMPLES, len(logarithms)))]
    tail = (1 - confidence) / 2
    low, high = np.quantile(centre(drawn), [tail, 1 - tail])
    middle = float(centre(logarithms))
    kept = len(ratios) - 2 * int(len(ratios) * _TRIMMED)
    stretch = t_quantile(1 - tail, max(kept - 1, 1)) / normal_quantile(1 - tail)
    return Interval(
        math.exp(middle),
        math.exp(middle - stretch * (middle - low)),
        math.exp(middle + stretch * (high - middle)),
    )
