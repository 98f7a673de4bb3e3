"""Slices filled with a value."""

from __future__ import annotations

from typing import Any

import numpy as np

from dl_conformance.elementwise import as_dtype_of
from dl_conformance.reference import Array, reference


@reference("diopiIndexFill", "diopiIndexFillScalar")
def index_fill(*, input: Array, dim: int, index: Array, value: Any) -> dict[str, Any]:
    result = input.copy()
    np.moveaxis(result, dim, 0)[index] = as_dtype_of(input, value)
    return {"out": result}
