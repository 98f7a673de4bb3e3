"""Selection by a mask."""

from __future__ import annotations

from typing import Any

import numpy as np

from dl_conformance.elementwise import as_dtype_of
from dl_conformance.reference import Array, reference


@reference("diopiWhere")
def where(*, condition: Array, input: Array, other: Array) -> dict[str, Any]:
    return {"out": np.where(condition != 0, input, other)}


@reference("diopiMaskedFill", "diopiMaskedFillScalar")
def masked_fill(*, input: Array, mask: Array, value: Any) -> dict[str, Any]:
    return {"out": np.where(mask != 0, as_dtype_of(input, value), input)}
