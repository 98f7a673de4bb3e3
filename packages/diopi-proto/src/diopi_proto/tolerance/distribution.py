"""Random results: judged by their distribution, since no element has a reference."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .formats import Array

FALSE_ALARM = 1e-9
"""Probability that a sample of the right distribution is called wrong."""


@dataclass(frozen=True)
class DistributionComparison:
    """:ivar distance: largest distance between sample's and wanted distribution function, 0..1;
    nan if the sample is empty or holds a nan.
    :ivar allowed: what it may be for ``total`` elements.
    """

    ok: bool
    total: int
    distance: float
    allowed: float

    def report(self, name: str) -> str:
        verdict = "follow" if self.ok else "do not follow"
        return (
            f"{name}: {self.total} elements {verdict} the distribution\n"
            f"  distance {self.distance:.2e}, allowed {self.allowed:.2e}"
        )


def compare_distribution(
    sample: ArrayLike,
    cdf: Callable[[Array], Array],
    cdf_left: Callable[[Array], Array] | None = None,
) -> DistributionComparison:
    """Kolmogorov-Smirnov distance between ``sample`` (any shape, real) and ``cdf``.

    ``cdf(x)`` is P(X <= x), elementwise on sorted float64 values. A distribution with atoms, as
    Bernoulli's, also needs ``cdf_left(x)``, P(X < x). Elements are taken as independent; that they
    are, and that they lie in range, is for other checks. An empty sample is not ok.

    Allowed is ``sqrt(log(2 / FALSE_ALARM) / (2 n))``. Source: Massart, The tight constant in the
    Dvoretzky-Kiefer-Wolfowitz inequality, Annals of Probability 18 (1990).
    """
    values = np.asarray(sample).astype(np.float64).ravel()
    total = values.size
    if total == 0 or np.any(np.isnan(values)):
        return DistributionComparison(ok=False, total=total, distance=math.nan, allowed=math.nan)
    distinct, counts = np.unique(values, return_counts=True)
    upto = np.cumsum(counts) / total
    before = np.concatenate(([0.0], upto[:-1]))
    left = cdf(distinct) if cdf_left is None else cdf_left(distinct)
    distance = max(
        float(np.max(np.abs(upto - cdf(distinct)))), float(np.max(np.abs(before - left)))
    )
    allowed = math.sqrt(math.log(2 / FALSE_ALARM) / (2 * total))
    return DistributionComparison(distance <= allowed, total, distance, allowed)
