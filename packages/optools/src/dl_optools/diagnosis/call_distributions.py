"""Distributions of random operators' calls, and selection of the results that are drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch

from dl_optools.diagnosis.choices import Categories
from dl_optools.diagnosis.distributions import (
    Distribution,
    bernoulli,
    beta,
    binomial,
    cauchy,
    expand_parameter,
    exponential,
    gamma,
    geometric,
    integers,
    log_normal,
    normal,
    poisson,
    uniform,
)
from dl_optools.diagnosis.masked import DROPOUTS, RRELU, keep_probability, slopes
from dl_optools.diagnosis.permutations import Permutation

LEAST_SHAPE = 0.1
"""Smallest shape of a Dirichlet distribution: below it gamma numbers often underflow together."""

Bound = Mapping[str, Any]
Tensor = torch.Tensor


@dataclass(frozen=True)
class Drawing:
    """Distribution of a random operator.

    :ivar distribution: function of the arguments by name, with defaults, and of the draws.
    :ivar parameters: names of the arguments that may be tensors with a parameter for each draw.
    :ivar filled: names of the tensors of which only the shape matters.
    """

    distribution: Callable[[Bound, Tensor], Distribution | None]
    parameters: tuple[str, ...] = ()
    filled: tuple[str, ...] = ("self",)


def _of_each(name: str, bound: Bound, drawn: Tensor, default: float) -> Any:
    value = bound.get(name)
    return expand_parameter(default if value is None else value, drawn.shape)


def _bernoulli(bound: Bound, drawn: Tensor) -> Distribution:
    source = bound["self"] if bound.get("p") is None else bound["p"]
    return bernoulli(expand_parameter(source, drawn.shape))


def _slope(bound: Bound, drawn: Tensor) -> Distribution | None:
    lower, upper = float(bound["lower"]), float(bound["upper"])
    # After an in-place write the sign shows the input's sign only if slopes are positive.
    return uniform(lower, upper) if 0 < lower <= upper else None


def _normal(bound: Bound, drawn: Tensor) -> Distribution:
    return normal(_of_each("mean", bound, drawn, 0.0), _of_each("std", bound, drawn, 1.0))


def _randint(bound: Bound, drawn: Tensor) -> Distribution | None:
    low, high = int(bound.get("low") or 0), int(bound["high"])
    return integers(low, high) if high > low else None


def _random(bound: Bound, drawn: Tensor) -> Distribution | None:
    """Without an upper bound: all integers that the dtype can represent (torch.Tensor.random_)."""
    low, high = int(bound.get("from") or 0), bound.get("to")
    if high is not None:
        return integers(low, int(high)) if int(high) > low else None
    if "from" in bound:
        return None
    if drawn.dtype is torch.bool:
        return integers(0, 2)
    if drawn.is_floating_point():
        return integers(0, int(2 / torch.finfo(drawn.dtype).eps) + 1)
    return integers(0, torch.iinfo(drawn.dtype).max + 1)


def _multinomial(bound: Bound, drawn: Tensor) -> Distribution | None:
    weights = bound["self"]
    rows = weights.detach().cpu().reshape(-1, weights.shape[-1])
    if not rows.numel() or not bool((rows.double().sum(1) > 0).all()):
        return None
    return Categories(rows, bool(bound["replacement"]))


def _is_coarse(drawn: Tensor) -> bool:
    """Return True if many draws of shapes below 1 become the dtype's smallest number."""
    return torch.finfo(drawn.dtype).bits <= 16


def _gamma(bound: Bound, drawn: Tensor) -> Distribution | None:
    return None if _is_coarse(drawn) else gamma(expand_parameter(bound["self"], drawn.shape))


def _dirichlet(bound: Bound, drawn: Tensor) -> Distribution | None:
    """First component of every vector (Devroye, Non-Uniform Random Variate Generation, XI.4)."""
    alpha = expand_parameter(bound["self"], bound["self"].shape)
    if _is_coarse(drawn) or not isinstance(alpha, Tensor) or alpha.size(-1) < 2:
        return None
    if float(alpha.min()) < LEAST_SHAPE:
        return None
    first = alpha[..., 0]
    return beta(first, alpha.sum(-1) - first)


DRAWINGS: dict[str, Drawing] = {
    "_fused_dropout": Drawing(
        lambda bound, _: bernoulli(keep_probability("_fused_dropout", bound))
    ),
    "_sample_dirichlet": Drawing(_dirichlet, ("self",), ()),
    "_standard_gamma": Drawing(_gamma, ("self",), ()),
    "bernoulli": Drawing(_bernoulli, ("p",)),
    "binomial": Drawing(
        lambda bound, drawn: binomial(
            expand_parameter(bound["count"], drawn.shape),
            expand_parameter(bound["prob"], drawn.shape),
        ),
        ("count", "prob"),
        (),
    ),
    "cauchy": Drawing(lambda bound, _: cauchy(float(bound["median"]), float(bound["sigma"]))),
    "exponential": Drawing(lambda bound, _: exponential(float(bound["lambd"]))),
    "geometric": Drawing(lambda bound, _: geometric(float(bound["p"]))),
    "log_normal": Drawing(lambda bound, _: log_normal(float(bound["mean"]), float(bound["std"]))),
    "multinomial": Drawing(_multinomial, ("self",), ()),
    "native_dropout": Drawing(
        lambda bound, _: bernoulli(keep_probability("native_dropout", bound)), (), ("input",)
    ),
    "normal": Drawing(_normal, ("mean", "std")),
    "poisson": Drawing(
        lambda bound, drawn: poisson(expand_parameter(bound["self"], drawn.shape)), ("self",), ()
    ),
    "rand": Drawing(lambda *_: uniform(0, 1)),
    "rand_like": Drawing(lambda *_: uniform(0, 1)),
    "randint": Drawing(_randint),
    "randint_like": Drawing(_randint),
    "randn": Drawing(lambda *_: normal(0, 1)),
    "randn_like": Drawing(lambda *_: normal(0, 1)),
    "randperm": Drawing(lambda bound, _: Permutation(int(bound["n"]))),
    "random": Drawing(_random),
    "rrelu_with_noise": Drawing(_slope, ("self",), ("noise",)),
    "rrelu_with_noise_functional": Drawing(_slope, ("self",), ("noise",)),
    "uniform": Drawing(lambda bound, _: uniform(float(bound["from"]), float(bound["to"]))),
}
"""Distributions by the overloads' base names: ``normal`` of ``aten.normal_.default``."""


def drawing_of(name: str, bound: Bound) -> Drawing | None:
    """Return the distribution of an operator's draws; None if it is unknown."""
    if name == "bernoulli" and bound.get("p") is None:
        return Drawing(_bernoulli, ("self",), ())
    return DRAWINGS.get(name)


def distribution_of(name: str, bound: Bound, drawn: Tensor) -> Distribution | None:
    """Return the distribution of a call's draws; None if it or a finite parameter is unknown."""
    drawing = drawing_of(name, bound)
    distribution = None if drawing is None else drawing.distribution(bound, drawn)
    return distribution if distribution is not None and distribution.is_defined else None


def find_draws(name: str, bound: Bound, result: Any) -> Tensor | None:
    """Return the tensor that holds a call's draws; None if there is none."""
    if name in RRELU:
        return slopes(bound, result)
    values = result[1] if name in DROPOUTS else result
    if not isinstance(values, Tensor):
        values = bound.get("self")
    if not isinstance(values, Tensor):
        return None
    return values[..., 0] if name == "_sample_dirichlet" else values
