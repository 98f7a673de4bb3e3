"""Support for vendors with an adaptor file, whose operators compute in another dtype.

A float64 result that is computed in float32 has only float32 precision, and the adaptor refuses
values that float32 cannot represent. Inputs are therefore representable in both dtypes, and results
are compared in the less precise one. Integers are exact in both; a result that overflows the
smaller dtype is wrong.
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
    """Round the stored elements of an input to values that the vendor's operator can represent."""
    other = dtype if adaptor is None else adaptor.computed_in(operator.name, parameter, dtype)
    if other == dtype:
        return elements
    narrow = stored(exact(elements, dtype), other)
    return stored(exact(narrow, other), dtype).reshape(elements.shape)


def judged_in(
    adaptor: AdaptorFile | None, operator: Operator, parameter: str, elements: Array, dtype: str
) -> tuple[Array, str]:
    """Return the stored elements of a result and the dtype in which to compare them."""
    other = dtype if adaptor is None else adaptor.computed_in(operator.name, parameter, dtype)
    has_fewer = other in DIGITS and dtype in DIGITS and DIGITS[other] < DIGITS[dtype]
    if not has_fewer or dtype not in (*FLOATS, *COMPLEX):
        return elements, dtype
    with np.errstate(all="ignore"):
        return stored(exact(elements, dtype), other).reshape(elements.shape), other


def conversions(vendor: Vendor) -> dict[str, int]:
    """Count the adaptor's conversions since the last reset, by kind."""
    found: dict[str, int] = {}
    for one in vendor.conversions():
        found[str(one)] = found.get(str(one), 0) + one.times
    return found
