"""Running sums."""

from __future__ import annotations

from typing import Any

import numpy as np

from dl_conformance.reference import Array, Expected, reference


@reference("diopiCumsum")
def cumsum(*, input: Array, dim: int) -> dict[str, Any]:
    wide = input if input.dtype.kind in "fc" else input.astype(np.int64)
    value = np.cumsum(wide, axis=dim).reshape(input.shape)
    if input.dtype.kind not in "fc":
        return {"out": value.astype(input.dtype)}
    size = np.cumsum(np.abs(input), axis=dim).reshape(input.shape)
    return {"out": Expected(value, input.shape[dim] if input.ndim else 1, size)}
