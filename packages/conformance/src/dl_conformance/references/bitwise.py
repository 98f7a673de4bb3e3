"""Operations on bits."""

from __future__ import annotations

from typing import Any

import numpy as np

from dl_conformance.elementwise import as_dtype_of, unary
from dl_conformance.reference import Array, reference


@reference("diopiBitwiseAnd", "diopiBitwiseAndScalar")
def bitwise_and(*, input: Array, other: Any) -> dict[str, Any]:
    return {"out": input & as_dtype_of(input, other)}


@reference("diopiBitwiseOr", "diopiBitwiseOrScalar")
def bitwise_or(*, input: Array, other: Any) -> dict[str, Any]:
    return {"out": input | as_dtype_of(input, other)}


unary({"BitwiseNot": np.invert})
