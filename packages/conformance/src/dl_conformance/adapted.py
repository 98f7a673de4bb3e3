"""Vendors with an adaptor file: their operators compute in another dtype than their tensors have.

A float64 that is computed in float32 cannot have more digits, and what has no float32 the adaptor
refuses: inputs are numbers of both dtypes, and results are judged in the one that has fewer digits.
Integers are exact in each; a result that does not fit the smaller one is wrong.
"""

from __future__ import annotations

import numpy as np

from diopi_proto import Vendor
from diopi_proto.adaptor import AdaptorFile
from diopi_proto.schema import Operator

from .inputs import COMPLEX, FLOATS, Array, exact, stored

DIGITS = {
    "bfloat16": 8,
    "float16": 11,
    "float32": 24,
    "float64": 53,
    "complex64": 24,
    "complex128": 53,
}


def representable(
    adaptor: AdaptorFile | None, operator: Operator, parameter: str, elements: Array, dtype: str
) -> Array:
    """Stored elements of an input, as what the vendor's operator will get."""
    other = dtype if adaptor is None else adaptor.computed_in(operator.name, parameter, dtype)
    if other == dtype:
        return elements
    narrow = stored(exact(elements, dtype), other)
    return stored(exact(narrow, other), dtype).reshape(elements.shape)


def judged_in(
    adaptor: AdaptorFile | None, operator: Operator, parameter: str, elements: Array, dtype: str
) -> tuple[Array, str]:
    """Stored elements of a result, and their dtype, as they are to be judged."""
    other = dtype if adaptor is None else adaptor.computed_in(operator.name, parameter, dtype)
    has_fewer = other in DIGITS and dtype in DIGITS and DIGITS[other] < DIGITS[dtype]
    if not has_fewer or dtype not in (*FLOATS, *COMPLEX):
        return elements, dtype
    with np.errstate(all="ignore"):
        return stored(exact(elements, dtype), other).reshape(elements.shape), other


def conversions(vendor: Vendor) -> dict[str, int]:
    """What was converted since it was last reset, and how often."""
    found: dict[str, int] = {}
    for one in vendor.conversions():
        found[str(one)] = found.get(str(one), 0) + one.times
    return found
