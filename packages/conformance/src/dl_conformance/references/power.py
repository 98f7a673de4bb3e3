"""Powers, roots, reciprocals."""

from __future__ import annotations

from typing import Any

import numpy as np

from dl_conformance.elementwise import as_float, unary
from dl_conformance.reference import Array, reference

unary(
    {
        "Sqrt": lambda x: np.sqrt(as_float(x)),
        "Rsqrt": lambda x: 1 / np.sqrt(as_float(x)),
        "Reciprocal": lambda x: 1 / as_float(x),
    }
)


def _power(base: Any, exponent: Any) -> dict[str, Any]:
    wide = base if isinstance(base, np.ndarray) else exponent
    base, exponent = np.asarray(base, wide.dtype), np.asarray(exponent)
    if wide.dtype.kind in "fc":
        return {"out": np.power(base, exponent.astype(wide.dtype))}
    base, exponent = np.broadcast_arrays(base, exponent)
    result = np.ones(base.shape, wide.dtype)
    for at in range(int(exponent.max(initial=0))):
        result = np.where(at < exponent, result * base, result).astype(wide.dtype)
    return {"out": result}


@reference("diopiPow", "diopiPowTensor", "diopiPowScalar")
def power(*, input: Any, exponent: Any) -> dict[str, Any]:
    return _power(input, exponent)


@reference("diopiPowInp", "diopiPowInpTensor")
def power_in_place(*, input: Array, exponent: Any) -> dict[str, Any]:
    return {"input": _power(input, exponent)["out"]}
