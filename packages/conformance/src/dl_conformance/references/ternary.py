"""Fused products, quotients and interpolation."""

from __future__ import annotations

from typing import Any

import numpy as np

from dl_conformance.elementwise import as_dtype_of
from dl_conformance.reference import Array, Expected, reference


def _two_terms(value: Array, *terms: Any) -> dict[str, Any]:
    if value.dtype.kind not in "fc":
        return {"out": value}
    magnitude = sum(np.abs(x) for x in terms)
    size = np.asarray(np.broadcast_to(magnitude, value.shape))
    return {"out": Expected(value, length=2, magnitude=size, op_class="reduction")}


@reference("diopiAddcmul")
def addcmul(*, input: Array, tensor1: Array, tensor2: Array, value: Any) -> dict[str, Any]:
    product = as_dtype_of(input, value) * tensor1 * tensor2
    return _two_terms(input + product, input, product)


@reference("diopiAddcdiv")
def addcdiv(*, input: Array, tensor1: Array, tensor2: Array, value: Any) -> dict[str, Any]:
    quotient = as_dtype_of(input, value) * tensor1 / tensor2
    return _two_terms(input + quotient, input, quotient)


@reference("diopiLerpTensor", "diopiLerpScalar")
def lerp(*, input: Array, end: Array, weight: Any) -> dict[str, Any]:
    share = as_dtype_of(input, weight)
    return _two_terms(input + share * (end - input), input, end, share * input, share * end)
