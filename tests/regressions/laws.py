"""Distributions of torch's random operators, and tests that a sample follows one.

The right distribution passes every test with a probability of at least 1 - FALSE_ALARM, and seeds
are fixed: a failure means a wrong operator.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from diopi_proto.tolerance.distribution import FALSE_ALARM, compare_distribution

Array = Any
Cdf = Callable[[Array], Array]

SIGMAS = 6.2
"""A normal number exceeds this distance from its mean with a probability of 5.6e-10."""


@dataclass(frozen=True)
class Law:
    """A continuous distribution.

    :ivar draw: ``draw(empty, generator)`` returns numbers of the shape and dtype of ``empty``.
    :ivar moments: mean and variance; None if they do not exist.
    :ivar kurtosis: the fourth central moment over the squared variance.
    :ivar above: strict lower bound of every number, in every dtype.
    :ivar floored: numbers below the smallest normal one of the dtype are raised to it.
    """

    draw: Callable[[torch.Tensor, torch.Generator], torch.Tensor]
    cdf: Cdf
    moments: tuple[float, float] | None = None
    kurtosis: float = 3.0
    above: float = -math.inf
    floored: bool = False


def normal_cdf(x: Array) -> Array:
    return 0.5 * torch.special.erfc(torch.from_numpy(-np.asarray(x) / math.sqrt(2))).numpy()


def exponential_cdf(x: Array) -> Array:
    return -np.expm1(-np.maximum(x, 0))


def log_normal_cdf(x: Array) -> Array:
    with np.errstate(divide="ignore"):
        return normal_cdf((np.log(np.maximum(x, 0)) - 0.5) / 0.25)


def gamma_cdf(shape: float) -> Cdf:
    def cdf(x: Array) -> Array:
        x = torch.from_numpy(np.maximum(x, 0))
        return torch.special.gammainc(torch.full_like(x, shape), x).numpy()

    return cdf


LAWS = {
    "normal_": Law(
        lambda x, g: x.normal_(0.5, 2.0, generator=g),
        lambda x: normal_cdf((x - 0.5) / 2),
        (0.5, 4.0),
    ),
    "normal of tensors": Law(
        lambda x, g: torch.normal(torch.full_like(x, -1), torch.full_like(x, 0.5), generator=g),
        lambda x: normal_cdf((x + 1) / 0.5),
        (-1.0, 0.25),
    ),
    "exponential_": Law(
        lambda x, g: x.exponential_(2.0, generator=g),
        lambda x: exponential_cdf(2 * x),
        (0.5, 0.25),
        9.0,
        above=0.0,
    ),
    "cauchy_": Law(
        lambda x, g: x.cauchy_(1.0, 3.0, generator=g),
        lambda x: 0.5 + np.arctan((x - 1.0) / 3.0) / math.pi,
    ),
    "log_normal_": Law(
        lambda x, g: x.log_normal_(0.5, 0.25, generator=g),
        log_normal_cdf,
        (math.exp(0.53125), math.expm1(0.0625) * math.exp(1.0625)),
        # Source: Johnson, Kotz, Balakrishnan, Continuous univariate distributions 1 (1994).
        math.exp(0.25) + 2 * math.exp(0.1875) + 3 * math.exp(0.125) - 3,
        above=0.0,
    ),
    "gamma": Law(
        lambda x, g: torch._standard_gamma(x.fill_(2.5), generator=g),
        gamma_cdf(2.5),
        (2.5, 2.5),
        3 + 6 / 2.5,
        above=0.0,
        floored=True,
    ),
    "gamma of a small shape": Law(
        lambda x, g: torch._standard_gamma(x.fill_(0.5), generator=g),
        gamma_cdf(0.5),
        (0.5, 0.5),
        15.0,
        above=0.0,
        floored=True,
    ),
    # Each of three equal parts is Beta(1, 2), with distribution function 1 - (1 - x)^2.
    "dirichlet": Law(
        lambda x, g: torch._sample_dirichlet(x.fill_(1).view(-1, 3), generator=g)[:, 0],
        lambda x: 1 - np.square(1 - np.clip(x, 0, 1)),
        (1 / 3, 1 / 18),
        2.4,
        above=0.0,
        floored=True,
    ),
}


def rounded(law: Law, dtype: torch.dtype) -> tuple[Cdf, Cdf]:
    """Return P(X <= x) and P(X < x) of the law's numbers rounded to nearest in the dtype."""
    floor = torch.finfo(dtype).tiny if law.floored else -math.inf

    def middle(x: Array, toward: float) -> Array:
        held = torch.from_numpy(np.asarray(x)).to(dtype)
        next_one = torch.nextafter(held, torch.full_like(held, toward))
        return (held.double() / 2 + next_one.double() / 2).numpy()

    def before(x: Array) -> Array:
        return law.cdf(np.where(np.asarray(x) <= floor, -math.inf, middle(x, -math.inf)))

    return lambda x: law.cdf(middle(x, math.inf)), before


def check_law(name: str, law: Law, sample: torch.Tensor) -> None:
    """Check support, distribution function and moments."""
    values = sample.double().numpy()
    if law.above > -math.inf:
        assert (values > law.above).all(), f"{name} leaves its support"
    result = compare_distribution(values, *rounded(law, sample.dtype))
    assert result.ok, result.report(f"{name} {sample.dtype}")
    if law.moments is not None:
        # Rounding to half precision adds at most this fraction to the variance.
        mean, variance = law.moments
        slack = float(torch.finfo(sample.dtype).eps) ** 2 * (mean**2 / variance + 1)
        check_moments(name, values, mean, variance, law.kurtosis, slack)


def check_moments(
    name: str, values: Array, mean: float, variance: float, kurtosis: float, slack: float = 0.0
) -> None:
    assert np.isfinite(values).all(), name
    error = abs(values.mean() - mean) / math.sqrt(variance / values.size)
    assert error < SIGMAS, f"{name}: mean {values.mean()}, want {mean}"
    error = abs(values.var() / variance - 1)
    allowed = SIGMAS * math.sqrt((kurtosis - 1) / values.size) + slack
    assert error < allowed, f"{name}: variance {values.var()}, want {variance}"


def check_neighbours(name: str, values: Array) -> None:
    """Check that elements up to eight apart, two steps of the stream, are not correlated.

    Uses ranks, so that no moment has to exist; ties are broken at random.
    """
    size = values.size
    order = np.lexsort((np.random.default_rng(0).random(size), values))
    ranks = np.empty(size)
    ranks[order] = np.arange(size) / (size - 1) - 0.5
    for lag in range(1, 9):
        correlation = 12 * float(np.mean(ranks[:-lag] * ranks[lag:]))
        assert abs(correlation) < SIGMAS / math.sqrt(size - lag), f"{name}, lag {lag}"


def check_counts(name: str, counts: Array, chances: Array) -> None:
    """Chi square test of independent draws in cells of the given probabilities.

    With k degrees of freedom it exceeds k + 2 √(k x) + 2 x with a probability below e^-x. Source:
    Laurent and Massart, Adaptive estimation of a quadratic functional (Annals of Statistics 2000).
    """
    counts, chances = np.asarray(counts, np.float64), np.asarray(chances, np.float64)
    total = counts.sum()
    assert abs(chances.sum() - 1) < 1e-9, name
    assert (counts[chances == 0] == 0).all(), f"{name}: draws in cells of probability 0"
    want = total * chances[chances > 0]
    assert want.min() >= 20, f"{name}: too few draws for the test"
    square = float(np.sum((counts[chances > 0] - want) ** 2 / want))
    freedom, x = want.size - 1, math.log(1 / FALSE_ALARM)
    allowed = freedom + 2 * math.sqrt(freedom * x) + 2 * x
    assert square <= allowed, f"{name}: chi square {square:.0f}, allowed {allowed:.0f}"
