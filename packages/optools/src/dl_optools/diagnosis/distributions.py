"""Distributions of random operators: support, distribution function, collision entropy.

Every value ``x`` is transformed to a uniform number by the randomised probability integral
transform, ``u = P(X < x) + v P(X = x)`` with ``v`` uniform (Rosenblatt, Remarks on a multivariate
transformation, 1952; Brockwell, Universal residuals, 2007). So one set of tests serves all
distributions, discrete or continuous, including elements with different parameters.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol

import torch

from dl_optools.diagnosis.special import beta_ratio

Tensor = torch.Tensor
Parameter = float | Tensor
"""Parameter: one value for all elements, or a tensor of the shape of the draws."""

FLOATING_BITS = 4.0
"""Lower bound of the collision entropy of a continuous distribution in the coarsest dtype."""


class Distribution(Protocol):
    """Distribution of draws.

    :ivar text: its name with its parameters: ``Bernoulli(0.1)``.
    :ivar is_defined: no parameter is nan or infinite.
    :ivar varies: two draws can differ.
    """

    @property
    def text(self) -> str: ...

    @property
    def is_defined(self) -> bool: ...

    @property
    def varies(self) -> bool: ...

    def first(self, rows: int) -> Distribution:
        """Return the distribution of the first rows of the draws."""

    def outside(self, values: Tensor) -> str:
        """Describe values outside of the support; empty if there are none."""

    def uniforms(self, values: Tensor, noise: Tensor) -> Tensor:
        """Return numbers that are uniform over [0, 1] if the draws follow the distribution.

        :param noise: uniform numbers of the draws' shape.
        """

    def cells(self, values: Tensor) -> Tensor:
        """Return the probability of the interval that rounds to each draw in the draws' dtype."""

    def entropy(self, shape: torch.Size) -> Tensor:
        """Return the collision entropy of each draw in bits."""


@dataclass(frozen=True)
class ElementDistribution:
    """Distribution with independent elements; see :class:`Distribution`.

    :ivar name: ``Bernoulli``.
    :ivar parameters: arguments of the functions below, after the values.
    :ivar contains: returns True where a value can be drawn.
    :ivar support: description of the values that can be drawn.
    :ivar below: P(X < x) in float64.
    :ivar upto: P(X <= x) in float64.
    :ivar bits: collision entropy: two draws are equal with probability ``2 ** -bits``.
    """

    name: str
    parameters: tuple[Parameter, ...]
    contains: Callable[..., Tensor]
    support: str
    below: Callable[..., Tensor]
    upto: Callable[..., Tensor]
    bits: Callable[..., Parameter] = lambda *_: FLOATING_BITS

    @property
    def text(self) -> str:
        own = ["of each" if isinstance(x, Tensor) else f"{x:g}" for x in self.parameters]
        return f"{self.name}({', '.join(own)})"

    @property
    def is_defined(self) -> bool:
        return all(bool(torch.as_tensor(x).isfinite().all()) for x in self.parameters)

    @property
    def varies(self) -> bool:
        return bool((torch.as_tensor(self.bits(*self.parameters)) > 0).any())

    def first(self, rows: int) -> Distribution:
        parts = tuple(x[:rows] if isinstance(x, Tensor) else x for x in self.parameters)
        return replace(self, parameters=parts)

    def outside(self, values: Tensor) -> str:
        if not values.numel():
            return ""
        if values.is_floating_point() and not bool(values.isfinite().all()):
            return f"draws for {self.text} hold nan or inf"
        odd = ~self.contains(values.double(), *self.parameters)
        if not bool(odd.any()):
            return ""
        example = float(values[odd].flatten()[0])
        return (
            f"{int(odd.sum())} of {values.numel()} draws for {self.text} are not {self.support}; "
            f"the first one is {example:g}"
        )

    def uniforms(self, values: Tensor, noise: Tensor) -> Tensor:
        x = values.double()
        below = self.below(x, *self.parameters)
        return below + noise * (self.upto(x, *self.parameters) - below)

    def cells(self, values: Tensor) -> Tensor:
        x = values.double()
        step = x.abs() * torch.finfo(values.dtype).eps
        return self.upto(x + step, *self.parameters) - self.below(x - step, *self.parameters)

    def entropy(self, shape: torch.Size) -> Tensor:
        own = torch.as_tensor(self.bits(*self.parameters), dtype=torch.float64)
        return own.expand(shape)


def _is_whole(x: Tensor) -> Tensor:
    return x == x.floor()


def bernoulli(p: Parameter) -> Distribution:
    """Return the Bernoulli distribution: ones with probability ``p``, else zeros."""
    return ElementDistribution(
        "Bernoulli",
        (p,),
        lambda x, p: ((x == 0) & (torch.as_tensor(p) < 1)) | ((x == 1) & (torch.as_tensor(p) > 0)),
        "0 or 1",
        lambda x, p: torch.where(x >= 1, 1 - torch.as_tensor(p, dtype=x.dtype), 0.0),
        lambda x, p: torch.where(x >= 1, 1.0, 1 - torch.as_tensor(p, dtype=x.dtype)),
        lambda p: -torch.log2(torch.as_tensor(p).double() ** 2 + (1 - torch.as_tensor(p)) ** 2),
    )


def integers(low: int, high: int) -> Distribution:
    """Return the uniform distribution of integers from ``low`` to ``high - 1``."""
    width = float(high - low)
    return ElementDistribution(
        "integers",
        (float(low), float(high)),
        lambda x, low, high: _is_whole(x) & (x >= low) & (x < max(high, low + 1)),
        f"whole numbers from {low} to {high - 1}",
        lambda x, low, _: ((x - low) / width).clamp(0, 1),
        lambda x, low, _: ((x - low + 1) / width).clamp(0, 1),
        lambda *_: math.log2(width),
    )


def uniform(low: float, high: float) -> Distribution:
    """Return the uniform distribution; narrow dtypes may round to its upper end."""

    def cdf(x: Tensor, low: float, high: float) -> Tensor:
        return ((x - low) / (high - low)).clamp(0, 1)

    if low == high:
        return constant("Uniform", low, (low, high))
    return ElementDistribution(
        "Uniform",
        (low, high),
        lambda x, low, high: (x >= low) & (x <= high),
        f"in [{low:g}, {high:g}]",
        cdf,
        cdf,
    )


def constant(name: str, value: float, parameters: tuple[float, ...]) -> Distribution:
    """Return a distribution with a single value."""
    return ElementDistribution(
        name,
        parameters,
        lambda x, *_: x == value,
        f"{value:g}",
        lambda x, *_: (x > value).to(x.dtype),
        lambda x, *_: (x >= value).to(x.dtype),
        lambda *_: 0.0,
    )


def normal(mean: Parameter, deviation: Parameter) -> Distribution:
    """Return the normal distribution; with a deviation of 0 all draws are the rounded mean."""

    def cdf(x: Tensor, mean: Parameter, deviation: Parameter, at_mean: float) -> Tensor:
        z = (x - mean) / torch.as_tensor(deviation, dtype=x.dtype)
        known: Tensor = torch.special.ndtr(z.nan_to_num(0.0, math.inf, -math.inf))
        return torch.where(torch.as_tensor(deviation) > 0, known, at_mean)

    def bits(_: Parameter, deviation: Parameter) -> Parameter:
        return torch.where(torch.as_tensor(deviation) > 0, FLOATING_BITS, 0.0)

    return ElementDistribution(
        "Normal",
        (mean, deviation),
        lambda x, *_: x == x,
        "numbers",
        lambda x, mean, deviation: cdf(x, mean, deviation, 0.0),
        lambda x, mean, deviation: cdf(x, mean, deviation, 1.0),
        bits,
    )


def log_normal(mean: float, deviation: float) -> Distribution:
    def cdf(x: Tensor, mean: float, deviation: float) -> Tensor:
        found: Tensor = torch.special.ndtr((x.clamp_min(0).log() - mean) / deviation)
        return found

    return ElementDistribution(
        "LogNormal", (mean, deviation), lambda x, *_: x >= 0, "at least 0", cdf, cdf
    )


def cauchy(median: float, scale: float) -> Distribution:
    def cdf(x: Tensor, median: float, scale: float) -> Tensor:
        return 0.5 + ((x - median) / scale).atan() / math.pi

    return ElementDistribution("Cauchy", (median, scale), lambda x, *_: x == x, "numbers", cdf, cdf)


def exponential(rate: float) -> Distribution:
    def cdf(x: Tensor, rate: float) -> Tensor:
        return -torch.expm1(-rate * x.clamp_min(0))

    return ElementDistribution("Exponential", (rate,), lambda x, _: x >= 0, "at least 0", cdf, cdf)


def geometric(p: float) -> Distribution:
    """Return the distribution of the number of trials up to the first success."""
    return ElementDistribution(
        "Geometric",
        (p,),
        lambda x, _: _is_whole(x) & (x >= 1),
        "whole numbers from 1",
        lambda x, p: -torch.expm1((x - 1).clamp_min(0) * math.log1p(-p)) if p < 1 else 0 * x,
        lambda x, p: -torch.expm1(x.clamp_min(0) * math.log1p(-p)) if p < 1 else 0 * x + 1,
        lambda p: -math.log2(p / (2 - p)),
    )


def poisson(rate: Parameter) -> Distribution:
    def upto(x: Tensor, rate: Parameter) -> Tensor:
        wide = torch.as_tensor(rate, dtype=x.dtype).expand(x.shape)
        return torch.where(x >= 0, torch.special.gammaincc(x.clamp_min(0) + 1, wide), 0.0)

    return ElementDistribution(
        "Poisson",
        (rate,),
        lambda x, _: _is_whole(x) & (x >= 0),
        "whole numbers from 0",
        lambda x, rate: upto(x - 1, rate),
        upto,
        # Two Poisson numbers are equal with probability exp(-2 r) I0(2 r) (Skellam, 1946).
        lambda rate: -torch.log2(torch.special.i0e(2 * torch.as_tensor(rate).double())),
    )


def binomial(count: Parameter, p: Parameter) -> Distribution:
    """Return the distribution of the successes in ``count`` trials (DLMF 8.17.5)."""

    def upto(x: Tensor, count: Parameter, p: Parameter) -> Tensor:
        n, chance = (torch.as_tensor(y, dtype=x.dtype).expand(x.shape) for y in (count, p))
        k = x.clamp_min(0).minimum(n)
        inside = beta_ratio((n - k).clamp_min(1), k + 1, 1 - chance)
        return torch.where(x < 0, 0.0, torch.where(x >= n, 1.0, inside))

    def bits(count: Parameter, p: Parameter) -> Parameter:
        wide = torch.as_tensor(p).double()
        one = -torch.log2(wide**2 + (1 - wide) ** 2)
        return torch.where(torch.as_tensor(count) > 0, one, 0.0)

    return ElementDistribution(
        "Binomial",
        (count, p),
        lambda x, n, _: _is_whole(x) & (x >= 0) & (x <= n),
        "whole numbers from 0 to the number of trials",
        lambda x, n, p: upto(x - 1, n, p),
        upto,
        bits,
    )


_TINY = torch.finfo(torch.float32).tiny
"""Draws below this number become it, or 0: they form one atom."""


def gamma(shape: Parameter) -> Distribution:
    """Return the gamma distribution with scale 1 (DLMF 8.2.4)."""

    def upto(x: Tensor, shape: Parameter) -> Tensor:
        own = torch.as_tensor(shape, dtype=x.dtype).expand(x.shape)
        found: Tensor = torch.special.gammainc(own, x.clamp_min(_TINY))
        return found

    def below(x: Tensor, shape: Parameter) -> Tensor:
        return torch.where(x > _TINY, upto(x, shape), 0.0)

    return ElementDistribution("Gamma", (shape,), lambda x, _: x >= 0, "at least 0", below, upto)


def beta(a: Parameter, b: Parameter) -> Distribution:
    """Return the beta distribution (DLMF 8.17); float32 cannot distinguish draws close to 1."""
    half = 2.0**-25

    def cdf(x: Tensor, a: Parameter, b: Parameter) -> Tensor:
        first, second = (torch.as_tensor(y, dtype=x.dtype).expand(x.shape) for y in (a, b))
        return beta_ratio(first, second, x.clamp(0, 1))

    return ElementDistribution(
        "Beta",
        (a, b),
        lambda x, *_: (x >= 0) & (x <= 1),
        "in [0, 1]",
        lambda x, a, b: torch.where(x > _TINY, cdf(x * (1 - half), a, b), 0.0),
        lambda x, a, b: cdf(x.clamp_min(_TINY) * (1 + half), a, b),
    )


def expand_parameter(value: Any, shape: torch.Size) -> Parameter:
    """Return a parameter, given as a scalar or a tensor that is broadcast to the draws."""
    if not isinstance(value, Tensor):
        return float(value)
    host = value.detach().cpu().double()
    return float(host) if host.dim() == 0 else host.expand(shape)
