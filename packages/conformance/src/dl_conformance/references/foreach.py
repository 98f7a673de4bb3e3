"""Operations on lists of tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from dl_conformance.elementwise import as_dtype_of
from dl_conformance.reference import Array, Expected, reference


@reference("diopiForeachaddScalar")
def add_number(*, inputs: list[Array], other: Any) -> dict[str, Any]:
    return {"outs": [x + as_dtype_of(x, other) for x in inputs]}


@reference("diopiForeachmulScalar", "diopiForeachmulTensor")
def multiply(*, inputs: list[Array], other: Any) -> dict[str, Any]:
    return {"outs": [x * as_dtype_of(x, other) for x in inputs]}


@reference("diopiForeachnormScalar")
def norms(*, inputs: list[Array], ord: Any) -> dict[str, Any]:
    found = []
    for x in inputs:
        size = np.abs(x).reshape(-1)
        order = np.longdouble(ord)
        if np.isinf(order):
            value = np.max(size, initial=0)
        elif order == 0:
            value = np.sum(size != 0).astype(np.longdouble)
        else:
            value = np.sum(size**order) ** (1 / order)
        # The power multiplies the relative error by the order, and the root divides it again.
        found.append(Expected(value, x.size + 4, value))
    return {"outs": found}
