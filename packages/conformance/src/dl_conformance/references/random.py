"""Random integers, uniform and normal numbers from the stream of the contract."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from dl_conformance.philox import State, below, normals, units
from dl_conformance.reference import Array, Expected, OutputShape, reference

NORMAL = 10
"""Roundings: logarithm, root, product; angle, its sine or cosine, product; deviation, mean. The
logarithm and the sine are within one ulp, which is two roundings each."""
TURN = 2 * np.pi
SHORT_RANGE = 1 << 24
"""Largest number of integers that one word selects from; more take two words."""


@reference("diopiUniformInp")
def uniform(*, inout: OutputShape, generator: State, **bounds: float) -> dict[str, Any]:
    low, high = np.longdouble(bounds["from"]), np.longdouble(bounds["to"])
    value = low + units(generator, prod(inout), inout.dtype) * (high - low)
    return {"inout": value.reshape(inout)}


@reference("diopiRandomInp")
def random(*, inout: OutputShape, generator: State, **bounds: Any) -> dict[str, Any]:
    low, high = bounds["from"], bounds["to"]
    long = high - low > SHORT_RANGE
    drawn = [low + below(generator, at, high - low, long) for at in range(prod(inout))]
    return {"inout": np.array(drawn, np.int64).reshape(inout)}


def _normal(shape: OutputShape, state: State, mean: Any, std: Any) -> Expected:
    flat, radius = normals(state, prod(shape), shape.dtype)
    value = mean + std * flat.reshape(shape)
    # The error of the angle is relative to 2π.
    size = np.abs(mean) + np.abs(std) * radius.reshape(shape) * (1 + TURN)
    return Expected(value, NORMAL, size, op_class="reduction")


@reference("diopiNormalInp")
def normal_in_place(
    *, inout: OutputShape, mean: float, std: float, generator: State
) -> dict[str, Any]:
    return {"inout": _normal(inout, generator, np.longdouble(mean), np.longdouble(std))}


@reference("diopiNormal", "diopiNormalTensorScalar", "diopiNormalScalarTensor", "diopiNormalTensor")
def normal(*, out: OutputShape, mean: Any, std: Any, generator: State) -> dict[str, Any]:
    both: list[Array] = [np.asarray(x, np.longdouble) for x in (mean, std)]
    return {"out": _normal(out, generator, *both)}
