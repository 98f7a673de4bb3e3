"""Comparison of random results by their distribution, since they have no elementwise reference."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .formats import Array

FALSE_ALARM = 1e-9
"""Probability that a sample of the correct distribution is rejected."""


@dataclass(frozen=True)
class DistributionComparison:
    """Result of comparing a sample with a distribution.

    :ivar distance: largest distance between the sample's and the expected distribution function, in
        [0, 1]; nan if the sample is empty or contains a nan.
    :ivar allowed: limit of the distance for ``total`` elements.
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
    """Compute the Kolmogorov-Smirnov distance between ``sample`` (any shape, real) and ``cdf``.

    ``cdf(x)`` is P(X <= x), elementwise on sorted float64 values. A distribution with atoms, such
    as Bernoulli's, also needs ``cdf_left(x)``, P(X < x). The elements are assumed to be
    independent; independence and range need other checks. An empty sample is not ok.

    The limit is ``sqrt(log(2 / FALSE_ALARM) / (2 n))``. Source: Massart, The tight constant in the
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
