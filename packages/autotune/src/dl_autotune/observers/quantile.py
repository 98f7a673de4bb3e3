"""Quantiles of Student's t distribution, without scipy: its import costs a worker a second."""

from __future__ import annotations

import math
from statistics import NormalDist


def normal_quantile(probability: float) -> float:
    """Return the quantile of the standard normal distribution."""
    return NormalDist().inv_cdf(probability)


def t_quantile(probability: float, freedom: int) -> float:
    """Return the quantile of Student's t: exact for one and two degrees of freedom, else the
    Cornish-Fisher series of the normal quantile, which is off by less than 2 % from 3 on where 0.01
    < p < 0.99.

    :raises ValueError: `freedom` is not positive.
    """
    if freedom < 1:
        raise ValueError(f"[t_quantile] freedom={freedom} is not positive")
    if freedom == 1:
        return math.tan(math.pi * (probability - 0.5))
    if freedom == 2:
        centred = 2 * probability - 1
        return centred * math.sqrt(2 / (1 - centred * centred))
    z, n = normal_quantile(probability), freedom
    return (
        z
        + (z**3 + z) / (4 * n)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * n**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * n**3)
        + (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / (92160 * n**4)
    )
